// Convolutions of quantized images: products of rows of pixels, gathered some at a time, by filters.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/image/geometry.hpp"
#include "dense/movement.hpp"
#include "dense/product/packed_factor.hpp"
#include "dense/quantize/channel_sums.hpp"
#include "dense/quantize/pixel_rows.hpp"
#include "dense/quantize/product_parts.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "dense/quantize/scales.hpp"
#include "memory/tickets.hpp"
#include "tenure/counters.hpp"
#include "tenure/quantize.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Bytes of the rows of pixels that are gathered at a time, in the second cache.
constexpr std::int64_t kChunkBytes = std::int64_t{1} << 17;
constexpr std::int64_t kLeastChunkRows = 64;

tnr_conv2d_attributes windows_of(const tnr_quantized_conv2d_attributes& attributes) noexcept {
  tnr_conv2d_attributes windows = {};
  std::copy_n(attributes.strides, 2, windows.strides);
  std::copy_n(attributes.padding, 4, windows.padding);
  std::copy_n(attributes.dilations, 2, windows.dilations);
  windows.groups = attributes.groups;
  return windows;
}

class QuantizedConv2d {
 public:
  QuantizedConv2d(const QuantizedFactor& a, const QuantizedFactor& weight,
                  const tnr_quantized_conv2d_attributes& attributes, const tnr_view_mut& out)
      : a_(a),
        weight_(weight),
        views_(attributes),
        activation_(attributes),
        windows_(windows_of(attributes)),
        out_(out) {
    check_view_mut(out, "out");
    check_view(a.values, "a");
    check_view(weight.values, "weight");
    g_ = convolution_geometry(a.values, weight.values, windows_, out.view, "out");
    if (g_.channels == 0) g_.kernel[kHeight] = g_.kernel[kWidth] = 0;
    check_operands();
    pin();
    check_scales(*a.scales, "a_scale");
    check_scales(*weight.scales, "weight_scales");
    if (views_.scale != nullptr) check_scales(*views_.scale, "attributes->out_scale");
  }

  void run(const Context& context) {
    if (is_empty(out_.view)) return;
    const bool are_channels = are_channel_sums(a_.values, weight_.values);
    const tnr_view_mut out = result_of(are_channels);
    const Epilogue epilogue(activation_, views_.bias, TNR_DTYPE_F32, TNR_DTYPE_F32);
    chunk_rows_ = g_.out[kHeight] * g_.out[kWidth];
    if (are_channels) {
      gather_scales(context);
      convolve_channels(context, {a_, weight_, windows_, scaling_of(0, nullptr), epilogue}, out);
    } else {
      const tnr_view a = image_of(context);
      g_.a = image_steps(a);
      g_.result = image_steps(out.view);
      const PixelRows pixels(g_, zero_byte());
      chunk_rows_ =
          std::min(chunk_rows_,
                   std::max(kLeastChunkRows, kChunkBytes / std::max<std::int64_t>(g_.depth(), 1)));
      gather_scales(context);
      gather_filters(context);
      gather_zeros(context);
      multiply(context, pixels, a, epilogue, out.view);
    }
    if (own_out_) leave(context);
  }

  [[nodiscard]] std::uint64_t read_bytes() const noexcept {
    return element_bytes(a_.values) + element_bytes(weight_.values) +
           (views_.bias == nullptr ? 0 : element_bytes(*views_.bias));
  }

 private:
  // ---- checks ----

  void check_operands() const {
    (void)quantized_byte(a_.values.dtype, "a");
    (void)quantized_byte(weight_.values.dtype, "weight");
    check_scale_views(*a_.scales, "a_scale", a_.zeros, "a_zero", a_.values.dtype);
    check_one(*a_.scales, "a_scale");
    check_scale_views(*weight_.scales, "weight_scales", weight_.zeros, "weight_zeros",
                      weight_.values.dtype);
    const std::int64_t filters[] = {weight_.values.shape[0], 1, 1, 1};
    check_broadcast(*weight_.scales, "weight_scales", 4, filters);
    views_.check(out_.view, filters[0], "the filters of weight");
    if (g_.depth() > kMostExactDepth) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "weight has filters of %" PRId64 " elements but they must have %" PRId64
           " at most, where sums are exact",
           g_.depth(), kMostExactDepth);
    }
  }

  void pin() {
    const OperandPins add(pins_, out_);
    add(&a_.values, "a");
    add(a_.scales, "a_scale");
    add(a_.zeros, "a_zero");
    add(&weight_.values, "weight");
    add(weight_.scales, "weight_scales");
    add(weight_.zeros, "weight_zeros");
    add(views_);
  }

  // ---- what all chunks read ----

  // Whether channels are adjacent, and the pixels of each image follow each other.
  static bool has_channels_last(const tnr_view& view) noexcept {
    const std::int64_t channels = view.shape[1];
    return (channels == 1 || view.strides[1] == 1) &&
           (view.shape[3] == 1 || view.strides[3] == channels) &&
           (view.shape[2] == 1 || view.strides[2] == channels * view.shape[3]);
  }
  // The image with adjacent channels: bytes are copied in less time than they are gathered in.
  tnr_view image_of(const Context& context) {
    if (has_channels_last(a_.values)) return with_all_strides(a_.values);
    own_a_.emplace(a_.values.dtype, 4, a_.values.shape);
    own_a_->put_channels_last();
    own_a_->take(context, a_.values);
    return own_a_->view();
  }
  tnr_view_mut result_of(bool is_f32) {
    const tnr_dtype dtype = is_f32 ? tnr_dtype{TNR_DTYPE_F32} : out_.view.dtype;
    if (dtype == out_.view.dtype && has_channels_last(out_.view)) {
      return {with_all_strides(out_.view)};
    }
    own_out_.emplace(dtype, 4, out_.view.shape);
    own_out_->put_channels_last();
    return own_out_->out();
  }
  // Axes of one element have any strides.
  static tnr_view with_all_strides(tnr_view view) noexcept {
    const std::int64_t channels = view.shape[1];
    view.strides[1] = 1;
    view.strides[3] = channels;
    view.strides[2] = channels * view.shape[3];
    return view;
  }
  void leave(const Context& context) const {
    const tnr_view& from = own_out_->view();
    ElementwiseCall copy(out_);
    copy.add(from, "");
    if (from.dtype != out_.view.dtype && views_.scale != nullptr) {
      copy.add(*views_.scale, "");
      const Element zero = {};
      views_.zero == nullptr ? copy.add(zero, out_.view.dtype) : copy.add(*views_.zero, "");
      copy.run(
          context,
          Operation(
              kernels::quantizing_kernels().quantize[0][quantized_byte(out_.view.dtype, "out")]));
    } else {
      copy.run(context, from.dtype == out_.view.dtype
                            ? copy_operation(from.dtype)
                            : cast_operation(from.dtype, out_.view.dtype));
    }
  }

  [[nodiscard]] Byte zero_byte() const noexcept {
    return a_.zeros == nullptr ? Byte{0} : *static_cast<const Byte*>(a_.zeros->data);
  }
  [[nodiscard]] std::int32_t zero() const noexcept {
    const Byte byte = zero_byte();
    return a_.values.dtype == TNR_DTYPE_I8 ? static_cast<std::int8_t>(byte) : byte;
  }

  // The filters of each group as the columns of a matrix, with depths in the order of the pixels'.
  void gather_filters(const Context& context) {
    const std::int64_t depth = g_.depth();
    const std::int64_t shape[] = {g_.groups, depth, g_.filters};
    filters_.emplace(weight_.values.dtype, 3, shape);
    if (depth == 0) return;
    static constexpr std::uint32_t kOrder[] = {2, 3, 1};
    for (std::int64_t group = 0; group < g_.groups; ++group) {
      tnr_view from = weight_.values;
      tnr_view_mut to = filters_->out();
      from.data = static_cast<const Byte*>(from.data) + group * g_.weight_group;
      to.view.data = filters_of(group);
      from.rank = to.view.rank = 4;
      std::int64_t stride = depth * g_.filters;
      for (std::uint32_t axis = 0; axis < 3; ++axis) {
        const std::uint32_t source = kOrder[axis];
        from.shape[axis] = to.view.shape[axis] = weight_.values.shape[source];
        from.strides[axis] = weight_.values.strides[source];
        stride /= from.shape[axis];
        to.view.strides[axis] = stride;
      }
      from.shape[3] = to.view.shape[3] = g_.filters;
      from.strides[3] = weight_.values.strides[0];
      to.view.strides[3] = 1;
      ElementwiseCall copy(to);
      copy.add(from, "");
      copy.run(context, copy_operation(from.dtype));
    }
    if (g_.filters == 1) return;
    for (std::int64_t group = 0; group < g_.groups; ++group) {
      const std::size_t bytes = static_cast<std::size_t>(depth * g_.filters);
      const tnr_view matrix =
          make_view(filters_of(group), bytes, 0, weight_.values.dtype, 2, shape + 1, nullptr);
      packed_.push_back(
          std::make_unique<PackedFactor>(context, matrix, FactorUse{.a_dtype = a_.values.dtype}));
    }
  }
  [[nodiscard]] Byte* filters_of(std::int64_t group) const noexcept {
    return filters_->data<Byte>() + group * g_.depth() * g_.filters;
  }

  // The numbers that multiply the sums: of each row of a chunk, and of each filter.
  void gather_scales(const Context& context) {
    const std::int64_t shape[] = {weight_.values.shape[0], 1, 1, 1};
    float scale;
    std::memcpy(&scale, a_.scales->data, sizeof scale);
    fill_rows(row_scales_, TNR_DTYPE_F32, scale);
    column_scales_.emplace(TNR_DTYPE_F32, 4, shape).take(context, *weight_.scales);
  }
  // The numbers that correct the sums.
  void gather_zeros(const Context& context) {
    const std::int64_t shape[] = {weight_.values.shape[0], 1, 1, 1};
    if (weight_.zeros != nullptr) {
      column_zeros_.emplace(TNR_DTYPE_I32, 4, shape).take(context, *weight_.zeros);
    }
    if (zero() == 0) return;
    fill_rows(row_zeros_, TNR_DTYPE_I32, zero());
    column_sums_.emplace(TNR_DTYPE_I32, 4, shape);
    add_up_filters();
  }

  template <class T>
  void fill_rows(Vector& rows, tnr_dtype dtype, T value) const {
    const std::int64_t shape[] = {chunk_rows_};
    rows.emplace(dtype, 1, shape);
    std::fill_n(rows->data<T>(), chunk_rows_, value);
  }

  void add_up_filters() const noexcept {
    auto* const sums = column_sums_->data<std::int32_t>();
    std::fill_n(sums, weight_.values.shape[0], 0);
    const bool is_signed = weight_.values.dtype == TNR_DTYPE_I8;
    for (std::int64_t group = 0; group < g_.groups; ++group) {
      const Byte* row = filters_of(group);
      for (std::int64_t k = 0; k < g_.depth(); ++k, row += g_.filters) {
        add_bytes(row, g_.filters, is_signed, sums + group * g_.filters);
      }
    }
  }

  // ---- chunks ----

  [[nodiscard]] BlockedMatmul product_of(const ProductTypes& types, const Epilogue& epilogue,
                                         const SumsStore* store, const PixelRows& pixels,
                                         std::int64_t group, std::int64_t rows,
                                         const kernels::SumScaling& scaling) const noexcept {
    const std::int64_t width = types.b.bytes;
    const BlockedMatmul::Geometry geometry = {
        rows,
        g_.filters,
        g_.depth(),
        {pixels.step(), width},
        {g_.filters * width, width},
        {g_.groups * g_.filters * types.out_bytes, types.out_bytes},
        packed_.empty() ? nullptr : packed_[static_cast<std::size_t>(group)]->panels(),
        group * g_.filters};
    return {types, geometry, scalars_, epilogue, store, &scaling};
  }

  void multiply(const Context& context, const PixelRows& pixels, const tnr_view& a,
                const Epilogue& epilogue, const tnr_view& out) {
    ProductTypes types =
        product_types(factor_type(a_.values.dtype), factor_type(weight_.values.dtype));
    types.out_bytes = static_cast<std::int64_t>(element_size(out.dtype));
    const tnr_scalar given = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
    scalars_.alpha = scalars_.one = to_element(given, TNR_DTYPE_I32, "one");
    const QuantizedStore store(views_, out);

    const std::int64_t chunks = parts_of(pixels.per_image(), chunk_rows_);
    const std::int64_t last_rows = pixels.per_image() - (chunks - 1) * chunk_rows_;
    std::int64_t shared_bytes = 0;
    std::int64_t sums_bytes = 0;
    std::int64_t thread_bytes = 0;
    const kernels::SumScaling any = scaling_of(0, nullptr);
    for (const std::int64_t rows : {chunk_rows_, last_rows}) {
      const BlockedMatmul product =
          product_of(types, epilogue, store.sums_store(), pixels, 0, rows, any);
      shared_bytes = std::max(shared_bytes, whole_lines(product.shared_bytes()));
      sums_bytes = std::max(sums_bytes, whole_lines(product.sums_bytes()));
      thread_bytes = std::max(thread_bytes, whole_lines(product.thread_bytes()));
    }
    const std::int64_t gathered_bytes = whole_lines(pixels.bytes(chunk_rows_));
    const std::int64_t row_sums_bytes =
        column_zeros_ ? whole_lines(chunk_rows_ * std::int64_t{sizeof(std::int32_t)}) : 0;

    const std::int64_t tickets_count =
        product_or_most(product_or_most(g_.images, g_.groups), chunks);
    const std::int64_t threads = std::min<std::int64_t>(context.thread_count(), tickets_count);
    const Scratch memory(threads, shared_bytes + sums_bytes + gathered_bytes + row_sums_bytes);
    const ThreadBuffers thread_buffers(threads, thread_bytes);
    Tickets tickets(tickets_count);
    const auto run_chunk = [&](std::int64_t thread, std::int64_t ticket) noexcept {
      Byte* const shared =
          memory.data() + thread * (shared_bytes + sums_bytes + gathered_bytes + row_sums_bytes);
      Byte* const gathered = shared + shared_bytes + sums_bytes;
      const std::int64_t chunk = ticket % chunks;
      const std::int64_t group = ticket / chunks % g_.groups;
      const PixelRows::Part part = {ticket / chunks / g_.groups, group, chunk * chunk_rows_,
                                    chunk + 1 == chunks ? last_rows : chunk_rows_};
      const Byte* const rows = pixels.gather(static_cast<const Byte*>(a.data), part, gathered);
      std::int32_t* row_sums = nullptr;
      if (column_zeros_) {
        row_sums = reinterpret_cast<std::int32_t*>(gathered + gathered_bytes);
        pixels.add_up(rows, part.count, a.dtype == TNR_DTYPE_I8, row_sums);
        const std::int32_t zeros = static_cast<std::int32_t>(g_.depth()) * zero();
        std::for_each_n(row_sums, part.count, [=](std::int32_t& sum) { sum -= zeros; });
      }
      const kernels::SumScaling scaling = scaling_of(group * g_.filters, row_sums);
      const BlockedMatmul product =
          product_of(types, epilogue, store.sums_store(), pixels, group, part.count, scaling);
      Byte* const to = static_cast<Byte*>(const_cast<void*>(out.data)) +
                       part.image * g_.result.image +
                       (part.first * g_.groups + group) * g_.filters * types.out_bytes;
      product.run(kDefaultContext, {shared, shared + shared_bytes, thread_buffers, thread}, rows,
                  filters_of(group), to);
    };
    for_each_slice(
        context, threads,
        [&](std::int64_t thread) noexcept {
          for (std::int64_t ticket = tickets.take(); ticket >= 0; ticket = tickets.take())
            run_chunk(thread, ticket);
        },
        Wake::kAtOnce);
  }

  [[nodiscard]] kernels::SumScaling scaling_of(std::int64_t filter,
                                               const std::int32_t* row_sums) const noexcept {
    const auto behind = [&]<class T>(const T* numbers) {
      return numbers == nullptr ? nullptr : numbers + filter;
    };
    return {data_of<float>(row_scales_),
            behind(data_of<float>(column_scales_)),
            data_of<std::int32_t>(row_zeros_),
            behind(data_of<std::int32_t>(column_sums_)),
            row_sums,
            behind(data_of<std::int32_t>(column_zeros_))};
  }

  const QuantizedFactor& a_;
  const QuantizedFactor& weight_;
  const ResultViews views_;
  const Activation activation_;
  const tnr_conv2d_attributes windows_;
  const tnr_view_mut& out_;
  WindowGeometry g_;
  Pins pins_;
  BlockedMatmul::Scalars scalars_ = {};
  std::int64_t chunk_rows_ = 0;
  std::optional<Dense> own_a_;    // with adjacent channels
  std::optional<Dense> own_out_;  // with adjacent channels
  std::optional<Dense> filters_;
  std::vector<std::unique_ptr<PackedFactor>> packed_;  // of each group; empty: single filters
  Vector row_scales_;
  Vector column_scales_;
  Vector row_zeros_;
  Vector column_sums_;
  Vector column_zeros_;
};

}  // namespace

void quantized_conv2d(const Context& context, const QuantizedFactor& a,
                      const QuantizedFactor& weight,
                      const tnr_quantized_conv2d_attributes& attributes, const tnr_view_mut& out) {
  QuantizedConv2d convolution(a, weight, attributes, out);
  convolution.run(context);
  count_call(TNR_OPERATION_QUANTIZED_CONV2D, is_empty(out.view) ? 0 : convolution.read_bytes(),
             is_empty(out.view) ? 0 : element_bytes(out.view));
}

}  // namespace tenure
