// Convolutions of images that oneDNN takes as they lie.
#include <algorithm>
#include <optional>

#include "memory/scratch.hpp"
#include "memory/traffic.hpp"
#include "onednn/library.hpp"

namespace tenure::onednn {
namespace {

using engines::ImageOrder;
using Image = Convolution::Image;

// The orders of the operands as oneDNN gets them; nothing where it does not take them.
struct Orders {
  ImageOrder images;
  ImageOrder weight;
};
std::optional<Orders> orders_of(const Convolution& c) noexcept {
  if (!engines::is_bounded_by(kMostElements, c)) return std::nullopt;
  const auto order_of = [](const auto& lies_in) -> std::optional<ImageOrder> {
    for (const ImageOrder order : {ImageOrder::kChannelsLast, ImageOrder::kChannelsFirst}) {
      if (lies_in(order)) return order;
    }
    return std::nullopt;
  };
  const auto images = order_of([&c](ImageOrder order) {
    return engines::a_lies_in(order, c) && engines::result_lies_in(order, c);
  });
  const auto weight =
      order_of([&c](ImageOrder order) { return engines::weight_lies_in(order, c); });
  if (!images || !weight) return std::nullopt;
  return Orders{*images, *weight};
}

// ---- what pays ----

// Pixels of the result from which on the engine `auto` gives images to oneDNN that are channels
// last. Measured as products are: own kernels take 1.0 (1x1) to 1.2 (3x3) of its time, and
// reordering the weights for oneDNN takes the time of 300 pixels. For images in the other order,
// own kernels take 0.65 to 0.9 (3x3).
constexpr std::int64_t kWorthPixels = 512;

bool pays(const Convolution& c, ImageOrder order) noexcept {
  return order == ImageOrder::kChannelsLast && c.images * c.out[0] * c.out[1] >= kWorthPixels;
}

// ---- compiled ----

Layout image_layout(ImageOrder order, std::int64_t images, std::int64_t channels,
                    const std::int64_t (&extents)[2]) {
  const Image dense = engines::dense_steps(order, channels, extents);
  const std::int64_t shape[] = {images, channels, extents[0], extents[1]};
  const std::int64_t steps[] = {dense.image_step, dense.channel_step, dense.place_steps[0],
                                dense.place_steps[1]};
  return strided_layout(dnnl_f32, shape, steps);
}

// In the order that oneDNN chooses, or in that of the caller's weights.
constexpr std::size_t kWeightAxes = 5;
struct WeightShape {
  dnnl_dims_t extents;
  std::int64_t steps[kWeightAxes];
  std::size_t rank;
};
WeightShape weight_shape(const Convolution& c, ImageOrder order) {
  const Image dense = engines::dense_steps(order, c.channels, c.kernel);
  if (c.groups == 1) {
    return {{c.filters, c.channels, c.kernel[0], c.kernel[1]},
            {dense.image_step, dense.channel_step, dense.place_steps[0], dense.place_steps[1]},
            4};
  }
  return {{c.groups, c.filters, c.channels, c.kernel[0], c.kernel[1]},
          {c.filters * dense.image_step, dense.image_step, dense.channel_step, dense.place_steps[0],
           dense.place_steps[1]},
          5};
}

Compiled compile(const Convolution& c, const Orders& orders, dnnl_engine_t engine) {
  const Layout a = image_layout(orders.images, c.images, c.groups * c.channels, c.in);
  const Layout out = image_layout(orders.images, c.images, c.groups * c.filters, c.out);
  const WeightShape shape = weight_shape(c, orders.weight);
  const Layout given_weight =
      strided_layout(dnnl_f32, {shape.extents, shape.rank}, {shape.steps, shape.rank});
  if (a.get() == nullptr || out.get() == nullptr || given_weight.get() == nullptr) return {};
  Layout any_weight;
  require_success(
      dnnl_memory_desc_create_with_tag(any_weight.to_make(), static_cast<int>(shape.rank),
                                       shape.extents, dnnl_f32, dnnl_format_tag_any),
      "dnnl_memory_desc_create_with_tag");
  Layout bias;
  if (c.has_bias) {
    const std::int64_t extents[] = {c.groups * c.filters};
    const std::int64_t steps[] = {1};
    bias = strided_layout(dnnl_f32, extents, steps);
  }

  dnnl_dims_t strides;
  dnnl_dims_t dilations;
  dnnl_dims_t before;
  dnnl_dims_t after;
  for (unsigned axis = 0; axis < 2; ++axis) {
    strides[axis] = c.strides[axis];
    dilations[axis] = c.dilations[axis] - 1;
    before[axis] = c.padding[axis];
    // The padding ends where the last window ends.
    const std::int64_t reach =
        (c.out[axis] - 1) * c.strides[axis] + (c.kernel[axis] - 1) * c.dilations[axis] + 1;
    after[axis] = std::max<std::int64_t>(reach - c.in[axis] - c.padding[axis], 0);
  }
  const Attributes attributes = strict_attributes();
  Description description;
  const dnnl_status_t status = dnnl_convolution_forward_primitive_desc_create(
      description.to_make(), engine, dnnl_forward_inference, dnnl_convolution_direct, a.get(),
      any_weight.get(), bias.get(), out.get(), strides, dilations, before, after, attributes.get());
  if (!is_possible(status, "dnnl_convolution_forward_primitive_desc_create") ||
      Primitive::is_reference(description)) {
    return {};
  }
  constexpr int kArguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS};
  Compiled compiled = {
      Primitive(description, std::span<const int>(kArguments, c.has_bias ? 4 : 3), engine),
      Primitive(), 0};
  const_dnnl_memory_desc_t const wanted_weight =
      dnnl_primitive_desc_query_md(description.get(), dnnl_query_exec_arg_md, DNNL_ARG_WEIGHTS);
  if (dnnl_memory_desc_equal(wanted_weight, given_weight.get()) != 0) return compiled;

  Description reorder;
  if (!is_possible(dnnl_reorder_primitive_desc_create(reorder.to_make(), given_weight.get(), engine,
                                                      wanted_weight, engine, attributes.get()),
                   "dnnl_reorder_primitive_desc_create")) {
    return {};
  }
  constexpr int kReordered[] = {DNNL_ARG_FROM, DNNL_ARG_TO};
  compiled.reorder = Primitive(reorder, kReordered, engine);
  compiled.weight_bytes = static_cast<std::size_t>(
      whole_lines(static_cast<std::int64_t>(dnnl_memory_desc_get_size(wanted_weight))));
  return compiled;
}

Key key_of(const Convolution& c, const Orders& orders) noexcept {
  Key key;
  key.add(-1);  // no product has this batch count
  key.add(static_cast<std::int64_t>(orders.images));
  key.add(static_cast<std::int64_t>(orders.weight));
  for (const std::int64_t extent : {c.images, c.groups, c.channels, c.filters}) key.add(extent);
  for (const auto& extents : {c.in, c.kernel, c.out, c.strides, c.padding, c.dilations}) {
    key.add({extents, 2});
  }
  key.add(c.has_bias ? 1 : 0);
  return key;
}

}  // namespace

bool run(const EngineChoice& call, const Convolution& c, const ConvolutionMemory& memory) {
  if (call.engine == TNR_ENGINE_AUTO && version() == nullptr) return false;
  const std::optional<Orders> orders = orders_of(c);
  if (!orders || (call.engine == TNR_ENGINE_AUTO && !pays(c, orders->images))) return false;
  Entry entry(call.thread_count);
  const Compiled& compiled = entry.compiled(
      key_of(c, *orders), [&](dnnl_engine_t engine) { return compile(c, *orders, engine); });
  if (!compiled.product.is_there()) return false;
  const std::size_t scratch_bytes =
      std::max(compiled.product.scratch_bytes(), compiled.reorder.scratch_bytes());
  const Scratch scratch(compiled.weight_bytes + scratch_bytes);
  // oneDNN reads these operands, and writes only the result.
  void* weight = const_cast<void*>(memory.weight);
  void* const rest = scratch.data() + compiled.weight_bytes;
  if (compiled.reorder.is_there()) {
    void* const reordered[] = {weight, scratch.data()};
    compiled.reorder.run(entry.stream(), reordered, rest);
    weight = scratch.data();
  }
  void* const addresses[] = {const_cast<void*>(memory.a), weight, memory.out,
                             const_cast<void*>(memory.bias)};
  compiled.product.run(entry.stream(), {addresses, c.has_bias ? std::size_t{4} : std::size_t{3}},
                       rest);
  return true;
}

}  // namespace tenure::onednn
