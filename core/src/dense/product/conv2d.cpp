// Convolutions of images: products of dense matrices, of which the left one's rows are the pixels
// of the result and are packed from the image where they lie.
#include <algorithm>
#include <cinttypes>

#include "cpu/dispatch.hpp"
#include "cpu/gemm.hpp"
#include "dense/operands.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/product_blocks.hpp"
#include "dense/scalar.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "memory/tickets.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Depths that packing takes at once, of f32; of f64 half of them.
constexpr std::int64_t kTileDepth = 16;
// The longest panel of any instruction set.
constexpr std::int64_t kMaxPanelRows = 16;

constexpr unsigned kHeight = 0;
constexpr unsigned kWidth = 1;

// Steps in bytes of a view's axes.
struct Steps {
  std::int64_t image;  // of a weight: filter
  std::int64_t channel;
  std::int64_t place[2];  // down and right
};
Steps steps_of(const tnr_view& view) noexcept {
  return {step_of(view, 0), step_of(view, 1), {step_of(view, 2), step_of(view, 3)}};
}

// ---- operands ----

struct Geometry {
  std::int64_t images;
  std::int64_t groups;
  std::int64_t channels;  // of a group
  std::int64_t filters;   // of a group
  std::int64_t in[2];     // height and width
  std::int64_t kernel[2];
  std::int64_t out[2];
  std::int64_t strides[2];
  std::int64_t padding[2];  // above and left
  std::int64_t dilations[2];
  Steps a;
  Steps weight;
  Steps result;

  [[nodiscard]] std::int64_t depth() const noexcept { return kernel[0] * kernel[1] * channels; }
};

void require_rank(const tnr_view& view, const char* name, std::uint32_t rank) {
  if (view.rank != rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be %" PRIu32, name,
         view.rank, rank);
  }
}

void require_extent(const tnr_view& view, const char* name, std::uint32_t axis,
                    std::int64_t expected, const char* whose) {
  if (view.shape[axis] != expected) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64 ", %s; its shape is %s", name,
         axis, view.shape[axis], expected, whose, shape_text(view.rank, view.shape).text);
  }
}

std::int64_t at_least(std::int64_t value, std::int64_t least, const char* field, unsigned index) {
  if (value < least) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->%s[%u] is %" PRId64 " but must be %" PRId64 " at least", field, index, value,
         least);
  }
  return value;
}

// Places that a kernel takes along one axis of the padded input.
std::int64_t place_count(const Geometry& g, unsigned axis, std::int64_t padding_after) {
  static constexpr const char* kNames[] = {"height", "width"};
  std::int64_t padded;
  std::int64_t reach;
  if (__builtin_add_overflow(g.in[axis], g.padding[axis], &padded) ||
      __builtin_add_overflow(padded, padding_after, &padded)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the padded %s of a exceeds 2^63 - 1", kNames[axis]);
  }
  if (__builtin_mul_overflow(g.kernel[axis] - 1, g.dilations[axis], &reach) ||
      __builtin_add_overflow(reach, 1, &reach) || reach > padded) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "weight's %s of %" PRId64 ", dilated by %" PRId64 ", exceeds the %" PRId64
         " of a with its padding",
         kNames[axis], g.kernel[axis], g.dilations[axis], padded);
  }
  return (padded - reach) / g.strides[axis] + 1;
}

Geometry geometry_of(const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
                     const tnr_conv2d_attributes& attributes, const tnr_view& out) {
  require_rank(a, "a", 4);
  require_rank(weight, "weight", 4);
  require_rank(out, "out", 4);
  Geometry g = {};
  g.images = a.shape[0];
  g.groups = attributes.groups == 0 ? 1 : attributes.groups;
  if (g.groups < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->groups is %" PRId64 " but must be 1 at least",
         g.groups);
  }
  if (a.shape[1] % g.groups != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a.shape[1] is %" PRId64 ", which %" PRId64 " groups do not divide", a.shape[1], g.groups);
  }
  if (weight.shape[0] % g.groups != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "weight.shape[0] is %" PRId64 ", which %" PRId64 " groups do not divide", weight.shape[0],
         g.groups);
  }
  g.channels = a.shape[1] / g.groups;
  g.filters = weight.shape[0] / g.groups;
  require_extent(weight, "weight", 1, g.channels, "the channels of a by groups");
  for (unsigned axis = 0; axis < 2; ++axis) {
    g.in[axis] = a.shape[2 + axis];
    g.kernel[axis] = weight.shape[2 + axis];
    if (g.kernel[axis] == 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "weight.shape[%u] is 0 but must be 1 at least", 2 + axis);
    }
    const std::int64_t stride = attributes.strides[axis];
    const std::int64_t dilation = attributes.dilations[axis];
    g.strides[axis] = stride == 0 ? 1 : at_least(stride, 0, "strides", axis);
    g.dilations[axis] = dilation == 0 ? 1 : at_least(dilation, 0, "dilations", axis);
    const std::int64_t* const around = attributes.padding + std::ptrdiff_t{2} * axis;
    g.padding[axis] = at_least(around[0], 0, "padding", 2 * axis);
    const std::int64_t after = at_least(around[1], 0, "padding", 2 * axis + 1);
    g.out[axis] = place_count(g, axis, after);
  }
  require_extent(out, "out", 0, g.images, "the images of a");
  require_extent(out, "out", 1, weight.shape[0], "the filters of weight");
  require_extent(out, "out", 2, g.out[kHeight], "the rows at which weight fits into a");
  require_extent(out, "out", 3, g.out[kWidth], "the columns at which weight fits into a");
  if (bias != nullptr) {
    require_rank(*bias, "bias", 1);
    require_extent(*bias, "bias", 0, weight.shape[0], "the filters of weight");
  }
  // Sums of nothing need no kernel, whose extents may have any product where it has no element.
  if (g.channels == 0) g.kernel[kHeight] = g.kernel[kWidth] = 1;
  g.a = steps_of(a);
  g.weight = steps_of(weight);
  g.result = steps_of(out);
  return g;
}

// ---- the product ----

// The result's pixels are rows, its filters columns. The depth is cut into blocks of channels; in
// one, the kernel's rows come first, then its columns, then the channels.
class Conv2d {
 public:
  // All that is referred to outlives this. `one` is of the dtype.
  Conv2d(const kernels::Gemm& gemm, const kernels::FactorPacking& packing, const Geometry& geometry,
         const Element& one, std::int64_t width_bytes) noexcept
      : gemm_(gemm), packing_(packing), g_(geometry), one_(one), width_bytes_(width_bytes) {
    // A range is pixels of the result that are one step apart.
    range_ = g_.out[kWidth];
    pixel_step_ = g_.result.place[kWidth];
    const auto joins = [&](std::int64_t extent, std::int64_t step) {
      if (range_ == 1) pixel_step_ = step;
      if (extent != 1 && step != range_ * pixel_step_) return false;
      range_ *= extent;
      return true;
    };
    if (joins(g_.out[kHeight], g_.result.place[kHeight])) joins(g_.images, g_.result.image);
    range_count_ = g_.images * g_.out[kHeight] * g_.out[kWidth] / range_;

    block_channels_ = channels_of_block();
    // A row of the kernel is adjacent elements of the image.
    joins_columns_ = block_channels_ == g_.channels && g_.a.channel == width_bytes_ &&
                     g_.a.place[kWidth] == g_.channels * width_bytes_ && g_.dilations[kWidth] == 1;
    // So are all of a filter.
    joins_filter_ = places() > 1 && g_.weight.place[kWidth] == width_bytes_ &&
                    g_.weight.place[kHeight] == g_.kernel[kWidth] * width_bytes_ &&
                    g_.weight.channel == places() * width_bytes_;
  }

  // The most depths of a block.
  [[nodiscard]] std::int64_t block_depth() const noexcept { return block_channels_ * places(); }
  // Bytes of a depth of the packed weights.
  [[nodiscard]] std::int64_t weight_depth_bytes() const noexcept {
    const std::int64_t columns = std::min(g_.filters, block_columns());
    return parts_of(columns, gemm_.panel_columns) * gemm_.panel_columns * width_bytes_;
  }
  // Of zeros, behind which the thread's part of the left factor lies.
  [[nodiscard]] std::int64_t zero_bytes() const noexcept {
    return whole_lines(block_channels_ * g_.kernel[kWidth] * width_bytes_);
  }
  [[nodiscard]] std::int64_t thread_bytes() const noexcept {
    const std::int64_t lanes = std::max(block_rows(), joins_filter_ ? gemm_.panel_columns : 0);
    return zero_bytes() + lanes * block_depth() * width_bytes_ + packing_.slack_bytes;
  }
  [[nodiscard]] std::int64_t thread_count(const Context& context) const noexcept {
    std::int64_t work = range_ * range_count_;
    if (__builtin_mul_overflow(work, g_.filters, &work) ||
        __builtin_mul_overflow(work, g_.depth(), &work)) {
      work = INT64_MAX;
    }
    return work < kWorthSharingWork ? 1 : context.thread_count();
  }

  // Throws nothing: all memory is there.
  void run(const Context& context, const ThreadBuffers& buffers, Byte* packed_weight, const Byte* a,
           const Byte* weight, const Epilogue& epilogue, Byte* out) const noexcept {
    for (std::int64_t thread = 0; thread < thread_count(context); ++thread) {
      std::fill_n(buffers.of(thread), zero_bytes(), Byte{0});
    }
    for (std::int64_t group = 0; group < g_.groups; ++group) {
      const Byte* const from = a + group * g_.channels * g_.a.channel;
      for (std::int64_t j = 0; j < g_.filters; j += block_columns()) {
        const std::int64_t filter = group * g_.filters + j;
        const std::int64_t columns = std::min(block_columns(), g_.filters - j);
        std::int64_t channel = 0;
        do {  // once where there is no channel
          const Channels block = {channel, std::min(block_channels_, g_.channels - channel)};
          pack_weight(context, buffers, weight + filter * g_.weight.image, columns, block,
                      packed_weight);
          multiply_block(context, buffers, from, packed_weight, out + filter * g_.result.channel,
                         columns, block, epilogue, filter);
          channel += block_channels_;
        } while (channel < g_.channels);
      }
    }
  }

 private:
  struct Channels {
    std::int64_t first;
    std::int64_t count;
  };

  [[nodiscard]] std::int64_t places() const noexcept { return g_.kernel[0] * g_.kernel[1]; }

  void pack_weight(const Context& context, const ThreadBuffers& buffers, const Byte* weight,
                   std::int64_t columns, const Channels& block, Byte* packed) const noexcept {
    const std::int64_t depth = block.count * places();
    const std::int64_t panels = parts_of(columns, gemm_.panel_columns);
    const std::int64_t threads =
        std::min({thread_count(context), panels,
                  slice_count_of(context, columns * depth * width_bytes_ * 2)});
    Tickets tickets(panels);
    for_each_slice(context, threads, [&](std::int64_t thread) noexcept {
      for (std::int64_t panel = tickets.take(); panel >= 0; panel = tickets.take()) {
        const std::int64_t first = panel * gemm_.panel_columns;
        const kernels::Factor filters = {
            weight + first * g_.weight.image + block.first * g_.weight.channel, g_.weight.image,
            width_bytes_, std::min(gemm_.panel_columns, columns - first), depth};
        Byte* const to = packed + first * depth * width_bytes_;
        if (joins_filter_) {
          pack_filters(filters, block.count, buffers.of(thread) + zero_bytes(), to);
        } else {
          pack_places(filters, block.count, to);
        }
      }
    });
  }

  // One place of the kernel after the other.
  void pack_places(const kernels::Factor& filters, std::int64_t channels, Byte* to) const noexcept {
    kernels::Factor place = filters;
    place.depth = channels;
    place.depth_step = g_.weight.channel;
    for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
      for (std::int64_t j = 0; j < g_.kernel[kWidth]; ++j) {
        place.data = filters.data + i * g_.weight.place[kHeight] + j * g_.weight.place[kWidth];
        packing_.columns(place, to);
        to += channels * gemm_.panel_columns * width_bytes_;
      }
    }
  }

  // Filters whose elements are adjacent are packed as they lie, by channels and then places, and
  // then brought in order.
  void pack_filters(const kernels::Factor& filters, std::int64_t channels, Byte* as_they_lie,
                    Byte* to) const noexcept {
    packing_.columns(filters, as_they_lie);
    const std::int64_t bytes = gemm_.panel_columns * width_bytes_;
    for (std::int64_t place = 0; place < places(); ++place) {
      for (std::int64_t channel = 0; channel < channels; ++channel, to += bytes) {
        std::copy_n(as_they_lie + (channel * places() + place) * bytes, bytes, to);
      }
    }
  }

  [[nodiscard]] std::int64_t channels_of_block() const noexcept {
    std::int64_t most = std::max<std::int64_t>(kBlockDepth / places(), 1);
    if (g_.channels <= most) return g_.channels;
    // Blocks are alike, and of channels that are packed by whole tiles.
    if (most > kTileDepth) most -= most % kTileDepth;
    const std::int64_t channels = parts_of(g_.channels, parts_of(g_.channels, most));
    return most < kTileDepth ? channels : parts_of(channels, kTileDepth) * kTileDepth;
  }

  [[nodiscard]] std::int64_t block_columns() const noexcept {
    const std::int64_t columns = kBlockColumns * kBlockDepth / std::max(block_depth(), kBlockDepth);
    return std::max<std::int64_t>(columns / gemm_.panel_columns, 1) * gemm_.panel_columns;
  }
  [[nodiscard]] std::int64_t block_rows() const noexcept {
    const std::int64_t rows = kBlockRows * kBlockDepth / std::max(block_depth(), kBlockDepth);
    const std::int64_t panels =
        std::clamp<std::int64_t>(rows / gemm_.panel_rows, 1, parts_of(range_, gemm_.panel_rows));
    return panels * gemm_.panel_rows;
  }

  // All pixels, by a packed block of the weights. Threads take parts of ranges.
  void multiply_block(const Context& context, const ThreadBuffers& buffers, const Byte* a,
                      const Byte* packed_weight, Byte* out, std::int64_t columns,
                      const Channels& block, const Epilogue& epilogue,
                      std::int64_t filter) const noexcept {
    const std::int64_t threads = thread_count(context);
    const std::int64_t panels = parts_of(range_, gemm_.panel_rows);
    const std::int64_t parts =
        std::min(panels, std::max(parts_of(range_, block_rows()), parts_of(threads, range_count_)));
    Tickets tickets(range_count_ * parts);
    for_each_slice(
        context, std::min(threads, range_count_ * parts),
        [&](std::int64_t thread) noexcept {
          Byte* const zeros = buffers.of(thread);
          Byte* const packed = zeros + zero_bytes();
          for (std::int64_t ticket = tickets.take(); ticket >= 0; ticket = tickets.take()) {
            const std::int64_t part = ticket % parts;
            const std::int64_t first = slice_begin(panels, parts, part) * gemm_.panel_rows;
            const std::int64_t rows =
                std::min(range_, slice_begin(panels, parts, part + 1) * gemm_.panel_rows) - first;
            const std::int64_t pixel = ticket / parts * range_;
            pack_pixels(a + block.first * g_.a.channel, pixel + first, rows, block.count, zeros,
                        packed);
            kernels::DenseProduct product = {};
            product.a = packed;
            product.b = packed_weight;
            product.depth = block.count * places();
            product.out = out + range_offset(pixel) + first * pixel_step_;
            product.row_step = pixel_step_;
            product.column_step = g_.result.channel;
            product.rows = rows;
            product.columns = columns;
            product.alpha = one_.bytes;
            product.beta = block.first == 0 ? nullptr : one_.bytes;
            gemm_.multiply(product);
            if (block.first + block.count == g_.channels && !epilogue.is_nothing()) {
              epilogue.run(gemm_,
                           {product.out, product.row_step, product.column_step, rows, columns,
                            nullptr, width_bytes_, false},
                           filter);
            }
          }
        },
        Wake::kAtOnce);
  }

  [[nodiscard]] std::int64_t range_offset(std::int64_t pixel) const noexcept {
    const std::int64_t row = pixel / g_.out[kWidth];
    return row / g_.out[kHeight] * g_.result.image +
           row % g_.out[kHeight] * g_.result.place[kHeight] +
           pixel % g_.out[kWidth] * g_.result.place[kWidth];
  }

  // Where the kernel's first element lies at a pixel of the result.
  struct Window {
    const Byte* image;
    std::int64_t top;  // of the input; in its padding below 0
    std::int64_t left;
  };
  [[nodiscard]] Window window_of(const Byte* a, std::int64_t pixel) const noexcept {
    const std::int64_t row = pixel / g_.out[kWidth];
    return {a + row / g_.out[kHeight] * g_.a.image,
            row % g_.out[kHeight] * g_.strides[kHeight] - g_.padding[kHeight],
            pixel % g_.out[kWidth] * g_.strides[kWidth] - g_.padding[kWidth]};
  }

  void pack_pixels(const Byte* a, std::int64_t pixel, std::int64_t count, std::int64_t channels,
                   const Byte* zeros, Byte* packed) const noexcept {
    for (const std::int64_t end = pixel + count; pixel < end; pixel += gemm_.panel_rows) {
      Window windows[kMaxPanelRows];
      bool is_inside = joins_columns_;  // are all columns of all windows
      for (std::int64_t i = 0; i < gemm_.panel_rows; ++i) {
        windows[i] = window_of(a, std::min(pixel + i, end - 1));
        is_inside = is_inside && windows[i].left >= 0 &&
                    windows[i].left <= g_.in[kWidth] - g_.kernel[kWidth];
      }
      const std::int64_t columns = is_inside ? 1 : g_.kernel[kWidth];
      const std::int64_t depth = channels * (is_inside ? g_.kernel[kWidth] : 1);
      for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          const Byte* rows[kMaxPanelRows];
          find_rows(windows, i * g_.dilations[kHeight], j * g_.dilations[kWidth], rows);
          packing_.scattered({rows, g_.a.channel, depth, zeros}, packed);
          packed += depth * gemm_.panel_rows * width_bytes_;
        }
      }
    }
  }

  // Where the windows' elements lie, so many places down and to the right; nullptr in the padding.
  void find_rows(const Window* windows, std::int64_t down, std::int64_t right,
                 const Byte** rows) const noexcept {
    for (std::int64_t i = 0; i < gemm_.panel_rows; ++i) {
      const std::int64_t y = windows[i].top + down;
      const std::int64_t x = windows[i].left + right;
      const bool is_inside = y >= 0 && y < g_.in[kHeight] && x >= 0 && x < g_.in[kWidth];
      rows[i] =
          is_inside ? windows[i].image + y * g_.a.place[kHeight] + x * g_.a.place[kWidth] : nullptr;
    }
  }

  const kernels::Gemm& gemm_;
  const kernels::FactorPacking& packing_;
  const Geometry& g_;
  const Element& one_;
  std::int64_t width_bytes_;
  std::int64_t range_;
  std::int64_t range_count_;
  std::int64_t pixel_step_;
  std::int64_t block_channels_;
  bool joins_columns_;
  bool joins_filter_;
};

}  // namespace

void conv2d(const Context& context, const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
            const tnr_conv2d_attributes& attributes, const tnr_view_mut& out) {
  check_view_mut(out, "out");
  check_view(a, "a");
  check_view(weight, "weight");
  if (bias != nullptr) check_view(*bias, "bias");
  const Geometry geometry = geometry_of(a, weight, bias, attributes, out.view);
  const unsigned type = type_index(a.dtype);
  if (type > static_cast<unsigned>(kernels::Type::kF32)) refuse_dtype("conv2d", a.dtype);
  require_dtype(weight, "weight", a.dtype, "a.dtype is");
  if (bias != nullptr) require_dtype(*bias, "bias", a.dtype, "a.dtype is");
  require_dtype(out.view, "out", a.dtype, "a.dtype is");
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  pins.add(weight, "weight");
  if (bias != nullptr) pins.add(*bias, "bias");
  require_alias(out.view, a, "a", SameView::kRefused);
  require_alias(out.view, weight, "weight", SameView::kRefused);
  if (bias != nullptr) require_alias(out.view, *bias, "bias", SameView::kRefused);

  const auto width_bytes = static_cast<std::int64_t>(element_size(a.dtype));
  const Epilogue epilogue(attributes.activation, bias, a.dtype, a.dtype);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_CONV2D, 0, 0);
  const tnr_scalar number = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
  const Element one = to_element(number, a.dtype, "one");
  const Conv2d conv(kernels::gemm_kernels()[type], kernels::factor_packing_kernels()[type],
                    geometry, one, width_bytes);
  // First, as it refuses kernels of so many places, of a view that repeats, that bytes overflow: a
  // panel of the pixels is no more than a panel of these.
  const Scratch packed_weight(conv.block_depth(), conv.weight_depth_bytes());
  const ThreadBuffers buffers(conv.thread_count(context), conv.thread_bytes());
  touch_fresh_pages(context, writable(out), dense_count(out.view) * width_bytes);
  conv.run(context, buffers, packed_weight.data(), static_cast<const Byte*>(a.data),
           static_cast<const Byte*>(weight.data), epilogue, writable(out));
  count_call(
      TNR_OPERATION_CONV2D,
      element_bytes(a) + element_bytes(weight) + (bias == nullptr ? 0 : element_bytes(*bias)),
      element_bytes(out.view));
}

}  // namespace tenure
