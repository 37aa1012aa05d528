// The gradient of the filters of a convolution.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "cpu/dispatch.hpp"
#include "cpu/gemm.hpp"
#include "dense/activation.hpp"
#include "dense/checks.hpp"
#include "dense/filters/channels_last_filters.hpp"
#include "dense/filters/depthwise_filters.hpp"
#include "dense/filters/filter_product.hpp"
#include "dense/image/wide_images.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "memory/tickets.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_call.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/ops.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

void require_no_epilogue(const tnr_conv2d_attributes& attributes) {
  static constexpr const char* kNames[] = {"activation", "flags", "low", "high"};
  const bool is_given[] = {attributes.activation != 0, attributes.flags != 0, attributes.low != 0,
                           attributes.high != 0};
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (!is_given[i]) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->%s is given but must be 0: a gradient of filters has no epilogue", kNames[i]);
  }
}

// The dtype of the sums.
tnr_dtype checked_filters(const tnr_view& a, const tnr_view& g,
                          const tnr_conv2d_attributes& attributes, const tnr_view& out) {
  (void)filters_geometry(a, g, attributes, out);
  require_no_epilogue(attributes);
  const tnr_dtype computed = is_narrow(a.dtype) ? TNR_DTYPE_F32 : a.dtype;
  (void)require_image_type("conv2d_filters", computed);
  require_dtype(g, "g", a.dtype, "a.dtype is");
  require_dtype(out, "out", a.dtype, "a.dtype is");
  return computed;
}

// Whether the elements of a filter are one step apart, in row-major order.
bool is_row(const tnr_view& filters) noexcept {
  std::int64_t step = 0;
  std::int64_t count = 1;
  for (std::uint32_t axis = 4; axis-- > 1;) {
    if (filters.shape[axis] == 1) continue;
    if (count == 1) step = filters.strides[axis];
    if (filters.strides[axis] != step * count) return false;
    count *= filters.shape[axis];
  }
  return true;
}

// By kernels of one place at every pixel both factors are alike, and the fewer channels are filters.
bool swaps(const WindowGeometry& g) noexcept {
  if (g.places() != 1 || g.filters <= g.channels) return false;
  return std::ranges::all_of(std::array{kHeight, kWidth}, [&](unsigned axis) {
    return g.strides[axis] == 1 && g.padding[axis] == 0 && g.in[axis] == g.out[axis];
  });
}

void swap_factors(WindowGeometry& g) noexcept {
  std::swap(g.a, g.result);
  std::swap(g.channels, g.filters);
  std::swap(g.weight.image, g.weight.channel);
}

// Row-major memory for the elements of a view in another dtype.
class RowMajorCopy {
 public:
  RowMajorCopy(const tnr_view& of, tnr_dtype dtype)
      : memory_(std::max<std::int64_t>(element_count(of), 1),
                static_cast<std::int64_t>(element_size(dtype))),
        out_{} {
    tnr_view& view = out_.view;
    view.base = view.data = memory_.data();
    view.size_bytes = memory_.size_bytes();
    view.dtype = dtype;
    view.rank = of.rank;
    view.device = of.device;
    std::copy_n(of.shape, of.rank, view.shape);
    std::int64_t stride = 1;
    for (std::uint32_t axis = 4; axis-- > 0;) {
      view.strides[axis] = stride;
      stride *= view.shape[axis];
    }
  }
  [[nodiscard]] const tnr_view_mut& out() const noexcept { return out_; }

 private:
  Scratch memory_;
  tnr_view_mut out_;
};

}  // namespace

void check_conv2d_filters(const tnr_view& a, const tnr_view& g,
                          const tnr_conv2d_attributes& attributes, const tnr_view& out) {
  (void)checked_filters(a, g, attributes, out);
}

void conv2d_filters(const Context& context, const tnr_view& a, const tnr_view& g,
                    const tnr_conv2d_attributes& attributes, const tnr_view_mut& out) {
  const DeviceQueue* const queue = queue_on_device(context, out.view, "out");
  const tnr_device device = device_of(queue);
  check_view_mut(out, "out", device);
  check_view(a, "a", device);
  check_view(g, "g", device);
  const tnr_dtype computed = checked_filters(a, g, attributes, out.view);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  pins.add(g, "g");
  require_alias(out.view, a, "a", SameView::kRefused);
  require_alias(out.view, g, "g", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_CONV2D_FILTERS, 0, 0);
  if (queue != nullptr) [[unlikely]] {
    queue->enqueue(DeviceConv2dFilters{a, g, attributes, out, pins});
    return count_call(TNR_OPERATION_CONV2D_FILTERS, element_bytes(a) + element_bytes(g),
                      element_bytes(out.view));
  }

  std::optional<RowMajorCopy> copy;
  if (computed != a.dtype || !is_row(out.view)) copy.emplace(out.view, computed);
  const tnr_view_mut& to = copy ? copy->out() : out;
  std::optional<WideCopy> wide_a;
  std::optional<WideCopy> wide_g;
  if (computed != a.dtype) {
    const std::int64_t images = wide_image_count(a, g);
    wide_a.emplace(a, images);
    wide_g.emplace(g, images);
  }
  const tnr_view& from = wide_a ? wide_a->view() : a;
  const tnr_view& gradients = wide_g ? wide_g->view() : g;
  WindowGeometry geometry = filters_geometry(from, gradients, attributes, to.view);
  const unsigned type = type_index(computed);
  const auto width_bytes = static_cast<std::int64_t>(element_size(computed));
  const bool is_swapped = swaps(geometry);
  if (is_swapped) swap_factors(geometry);
  const tnr_scalar number = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
  const Element one = to_element(number, computed, "one");
  const kernels::Gemm& gemm = kernels::gemm_kernels()[type];
  const kernels::FactorPacking& packing = kernels::factor_packing_kernels()[type];
  const bool is_depthwise = DepthwiseFilters::takes(geometry, width_bytes);
  const bool is_last = !is_depthwise && ChannelsLastFilters::takes(gemm, geometry, width_bytes);
  // All memory is allocated before the first element is written. The last images may be fewer, and
  // their blocks longer.
  std::int64_t shared_bytes = 0;
  std::int64_t threads = 1;
  std::int64_t thread_bytes = 0;
  const auto require = [&](const WindowGeometry& of) noexcept {
    if (is_depthwise) {
      const DepthwiseFilters depthwise(of, type, width_bytes);
      threads = std::max(threads, depthwise.thread_count(context));
      thread_bytes = std::max(thread_bytes, depthwise.thread_bytes());
    } else if (is_last) {
      const ChannelsLastFilters last(context, gemm, packing, of, one, width_bytes);
      threads = std::max(threads, last.thread_count());
      thread_bytes = std::max(thread_bytes, last.thread_bytes());
    } else {
      const FilterProduct product(gemm, packing, of, one, width_bytes);
      threads = std::max(threads, product.thread_count(context));
      thread_bytes = std::max(thread_bytes, product.thread_bytes(context));
      shared_bytes = std::max(shared_bytes, product.shared_bytes(context));
    }
  };
  require(geometry);
  if (wide_a && geometry.images > 0 && a.shape[0] % geometry.images != 0) {
    WindowGeometry rest = geometry;
    rest.images = a.shape[0] % geometry.images;
    require(rest);
  }
  const Scratch shared(shared_bytes, 1);
  const ThreadBuffers buffers(threads, thread_bytes);
  touch_fresh_pages(context, writable(to), dense_count(to.view) * width_bytes);

  const auto run = [&](FilterProduct::Sums sums) noexcept {
    const auto* const images = static_cast<const Byte*>(from.data);
    const auto* const of_result = static_cast<const Byte*>(gradients.data);
    if (is_depthwise) {
      const DepthwiseFilters of(geometry, type, width_bytes);
      return of.run(context, buffers, images, of_result, writable(to), sums);
    }
    const Byte* const left = is_swapped ? of_result : images;
    const Byte* const right = is_swapped ? images : of_result;
    if (is_last) {
      const ChannelsLastFilters of(context, gemm, packing, geometry, one, width_bytes);
      return of.run(context, buffers, left, right, writable(to), sums);
    }
    const FilterProduct of(gemm, packing, geometry, one, width_bytes);
    of.run(context, buffers, shared.data(), left, right, writable(to), sums);
  };
  if (!wide_a) {
    run(FilterProduct::Sums::kNew);
  } else {
    auto sums = FilterProduct::Sums::kNew;
    std::int64_t first = 0;
    do {  // once where there is no image
      geometry.images = std::min(from.shape[0], a.shape[0] - first);
      load_images(context, a, first, geometry.images, *wide_a);
      load_images(context, g, first, geometry.images, *wide_g);
      run(sums);
      sums = FilterProduct::Sums::kContinued;
      first += geometry.images;
    } while (first < a.shape[0]);
  }
  if (copy) convert(context, to.view, out);
  count_call(TNR_OPERATION_CONV2D_FILTERS, element_bytes(a) + element_bytes(g),
             element_bytes(out.view));
}

}  // namespace tenure
