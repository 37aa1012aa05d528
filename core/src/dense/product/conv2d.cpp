// Convolutions of images: products of dense matrices, of which one's rows or columns are the pixels
// of the result and are packed from the image where they lie.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/gemm.hpp"
#include "dense/image/channel_windows.hpp"
#include "dense/image/convolution.hpp"
#include "dense/image/wide_images.hpp"
#include "dense/operands.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/padded_rows.hpp"
#include "dense/product/product_blocks.hpp"
#include "dense/scalar.hpp"
#include "engine/onednn.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "memory/tickets.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/engine.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Depths that packing takes at once, of f32; of f64 half of them.
constexpr std::int64_t kTileDepth = 16;
// The longest panels of any instruction set.
constexpr std::int64_t kMaxPanelRows = 16;
constexpr std::int64_t kMaxPanelPixels = 32;
// Packed weights that stay in the second cache while every panel of pixels meets all of them.
constexpr std::int64_t kNearWeightBytes = std::int64_t{1} << 18;
// Few pixels of rows of two panels and more are at the image's edges: reading them is better also
// with weights that fill that cache. Measured: 256 channels of 14 x 14 in 0.87 of the time,
// but of 7 x 7 in 1.2 times (Zen 3).
constexpr std::int64_t kReadWeightBytes = std::int64_t{1} << 19;
// Panels of pixels, as lanes, that are packed at a time where all weights stay there: of so few the
// first cache has what was packed, and the second one the image's rows. Measured: by 8 panels
// kernels of 1x1 take 1.1 times as long.
constexpr std::int64_t kNearBlockPanels = 2;
// Pixels are lanes where at most a part in so many of their vectors would be empty: of 7 x 7 pixels
// an eighth, and those are better rows.
constexpr std::int64_t kMostEmptyLanes = 16;
// Parts of a panel of pixels that are read where they lie: the addresses of 7 x 7 places take 6
// KiB.
constexpr std::int64_t kMostReadParts = 49;

// ---- the product ----

// The result's pixels are rows, its filters columns; or the other way round where adjacent pixels
// of the result are adjacent elements, as the lanes of a tile's vectors are. The depth is cut into
// blocks of channels; in one, the kernel's rows come first, then its columns, then the channels.
class Conv2d {
 public:
  // All that is referred to outlives this. `one` is of the dtype.
  Conv2d(const kernels::Gemm& gemm, const kernels::FactorPacking& packing,
         const WindowGeometry& geometry, const Element& one, std::int64_t width_bytes) noexcept
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
    filters_are_rows_ = false;
    reads_padded_ = may_read_pixels() && block_channels_ == g_.channels && g_.channels > 0 &&
                    PaddedRows::takes(g_, width_bytes_);
    // Rows that no panel of a single channel's pixels fits into are packed in more time than their
    // products take. Measured: up to twice as long of 8 and 28 columns, and of 62 less.
    const bool is_narrow_channel =
        reads_padded_ && g_.channels == 1 && g_.out[kWidth] < 2 * gemm_.panel_columns;
    filters_are_rows_ = !is_narrow_channel && takes_filters_as_rows();
    reads_padded_ = reads_padded_ && !filters_are_rows_;
    // A row of the kernel is adjacent elements of the image.
    joins_columns_ = block_channels_ == g_.channels && g_.a.channel == width_bytes_ &&
                     g_.a.place[kWidth] == g_.channels * width_bytes_ && g_.dilations[kWidth] == 1;
    // Pixels of a range are one step apart in the image, as they are in the result.
    joins_pixels_ =
        places() == 1 && g_.strides[kHeight] == 1 && g_.strides[kWidth] == 1 &&
        g_.in[kHeight] == g_.out[kHeight] && g_.in[kWidth] == g_.out[kWidth] &&
        range_ == g_.out[kHeight] * g_.out[kWidth] &&
        (g_.out[kHeight] == 1 || g_.a.place[kHeight] == g_.in[kWidth] * g_.a.place[kWidth]);
    // Elements of a pixel are adjacent, and few panels of weights meet them: packing, which writes
    // each of them once for every place of the kernel, would take long beside the products.
    reads_pixels_ = !filters_are_rows_ && g_.a.channel == width_bytes_ && may_read_pixels();
    // So are all of a filter.
    joins_filter_ = places() > 1 && g_.weight.place[kWidth] == width_bytes_ &&
                    g_.weight.place[kHeight] == g_.kernel[kWidth] * width_bytes_ &&
                    g_.weight.channel == places() * width_bytes_;
  }

  // The most depths of a block.
  [[nodiscard]] std::int64_t block_depth() const noexcept { return block_channels_ * places(); }
  // Bytes of a depth of the packed weights.
  [[nodiscard]] std::int64_t weight_depth_bytes() const noexcept {
    const std::int64_t filters = std::min(g_.filters, block_filters());
    return parts_of(filters, panel_filters()) * panel_filters() * width_bytes_;
  }
  // Bytes of zeros, behind which the thread's part of the left factor lies.
  [[nodiscard]] std::int64_t zero_bytes() const noexcept {
    return whole_lines(block_channels_ * g_.kernel[kWidth] * width_bytes_);
  }
  [[nodiscard]] std::int64_t thread_bytes() const noexcept {
    const bool packs = !reads_pixels_ && !reads_padded_;
    const std::int64_t lanes =
        std::max(packs ? block_pixels() : 0, packs_aside() ? panel_filters() : 0);
    return zero_bytes() + packing_.slack_bytes +
           std::max(lanes * block_depth() * width_bytes_,
                    reads_padded_ ? PaddedRows::size_bytes() : 0);
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
      for (std::int64_t j = 0; j < g_.filters; j += block_filters()) {
        const std::int64_t filter = group * g_.filters + j;
        const std::int64_t filters = std::min(block_filters(), g_.filters - j);
        std::int64_t channel = 0;
        do {  // once where there is no channel
          const Channels block = {channel, std::min(block_channels_, g_.channels - channel)};
          pack_weight(context, buffers, weight + group * g_.weight_group + j * g_.weight.image,
                      filters, block, packed_weight);
          multiply_block(context, buffers, from, packed_weight, out + filter * g_.result.channel,
                         filters, block, epilogue, filter);
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

  [[nodiscard]] std::int64_t places() const noexcept { return g_.places(); }

  // Packing pixels for the lanes of vectors is copying, and so is putting the sums of vectors; of
  // broadcast pixels both are transpositions.
  [[nodiscard]] bool takes_filters_as_rows() const noexcept {
    const std::int64_t lanes = gemm_.panel_columns / 2;
    return packing_.scattered_columns != nullptr && pixel_step_ == width_bytes_ &&
           g_.result.channel != width_bytes_ && g_.a.channel != width_bytes_ &&
           parts_of(range_, lanes) * lanes <= range_ + range_ / kMostEmptyLanes;
  }
  [[nodiscard]] bool may_read_pixels() const noexcept {
    const bool is_wide = g_.out[kWidth] >= 2 * gemm_.panel_rows;
    return gemm_.multiply_scattered != nullptr && places() <= kMostReadParts &&
           weight_depth_bytes() * block_depth() <= (is_wide ? kReadWeightBytes : kNearWeightBytes);
  }
  [[nodiscard]] std::int64_t panel_filters() const noexcept {
    return filters_are_rows_ ? gemm_.panel_rows : gemm_.panel_columns;
  }
  [[nodiscard]] std::int64_t panel_pixels() const noexcept {
    return filters_are_rows_ ? gemm_.panel_columns : gemm_.panel_rows;
  }
  // Whether panels of weights are packed in a thread's own memory first. Packing of rows writes
  // beyond its panel, where another thread's may lie.
  [[nodiscard]] bool packs_aside() const noexcept { return joins_filter_ || filters_are_rows_; }

  void pack_weight(const Context& context, const ThreadBuffers& buffers, const Byte* weight,
                   std::int64_t filters, const Channels& block, Byte* packed) const noexcept {
    const std::int64_t depth = block.count * places();
    const std::int64_t panels = parts_of(filters, panel_filters());
    const std::int64_t threads =
        std::min({thread_count(context), panels,
                  slice_count_of(context, filters * depth * width_bytes_ * 2)});
    Tickets tickets(panels);
    for_each_slice(context, threads, [&](std::int64_t thread) noexcept {
      for (std::int64_t panel = tickets.take(); panel >= 0; panel = tickets.take()) {
        const std::int64_t first = panel * panel_filters();
        const kernels::Factor factor = {
            weight + first * g_.weight.image + block.first * g_.weight.channel, g_.weight.image,
            width_bytes_, std::min(panel_filters(), filters - first), depth};
        Byte* const to = packed + first * depth * width_bytes_;
        Byte* const aside = buffers.of(thread) + zero_bytes();
        if (joins_filter_) {
          pack_filters(factor, block.count, aside, to);
        } else if (packs_aside()) {
          pack_places(factor, block.count, aside);
          std::copy_n(aside, panel_filters() * depth * width_bytes_, to);
        } else {
          pack_places(factor, block.count, to);
        }
      }
    });
  }

  void pack_panel(const kernels::Factor& filters, Byte* to) const noexcept {
    return filters_are_rows_ ? packing_.rows(filters, to) : packing_.columns(filters, to);
  }

  // One place of the kernel after the other.
  void pack_places(const kernels::Factor& filters, std::int64_t channels, Byte* to) const noexcept {
    kernels::Factor place = filters;
    place.depth = channels;
    place.depth_step = g_.weight.channel;
    for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
      for (std::int64_t j = 0; j < g_.kernel[kWidth]; ++j) {
        place.data = filters.data + i * g_.weight.place[kHeight] + j * g_.weight.place[kWidth];
        pack_panel(place, to);
        to += channels * panel_filters() * width_bytes_;
      }
    }
  }

  // Filters whose elements are adjacent are packed as they lie, by channels and then places, and
  // then brought in order.
  void pack_filters(const kernels::Factor& filters, std::int64_t channels, Byte* as_they_lie,
                    Byte* to) const noexcept {
    pack_panel(filters, as_they_lie);
    const std::int64_t bytes = panel_filters() * width_bytes_;
    for (std::int64_t place = 0; place < places(); ++place) {
      for (std::int64_t channel = 0; channel < channels; ++channel, to += bytes) {
        copy_words(as_they_lie + (channel * places() + place) * bytes, bytes, to);
      }
    }
  }
  // A panel's depth, of 24 to 256 bytes: a call of the C library would take longer than the copy.
  static void copy_words(const Byte* from, std::int64_t bytes, Byte* to) noexcept {
    for (std::int64_t at = 0; at < bytes; at += std::int64_t{sizeof(std::uint64_t)}) {
      std::memcpy(to + at, from + at, sizeof(std::uint64_t));
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

  [[nodiscard]] std::int64_t block_filters() const noexcept {
    const std::int64_t filters = kBlockColumns * kBlockDepth / std::max(block_depth(), kBlockDepth);
    return std::max<std::int64_t>(filters / panel_filters(), 1) * panel_filters();
  }
  [[nodiscard]] std::int64_t block_pixels() const noexcept {
    // Weights that are near meet a panel of pixels all at once, wherever its others are.
    const bool is_near =
        filters_are_rows_ && weight_depth_bytes() * block_depth() <= kNearWeightBytes;
    const std::int64_t pixels =
        is_near ? kNearBlockPanels * panel_pixels()
                : kBlockRows * kBlockDepth / std::max(block_depth(), kBlockDepth);
    const std::int64_t panels =
        std::clamp<std::int64_t>(pixels / panel_pixels(), 1, parts_of(range_, panel_pixels()));
    return panels * panel_pixels();
  }

  // All pixels, by a packed block of the weights. Threads take parts of ranges.
  void multiply_block(const Context& context, const ThreadBuffers& buffers, const Byte* a,
                      const Byte* packed_weight, Byte* out, std::int64_t filters,
                      const Channels& block, const Epilogue& epilogue,
                      std::int64_t filter) const noexcept {
    const std::int64_t threads = thread_count(context);
    const std::int64_t panels = parts_of(range_, panel_pixels());
    std::int64_t parts =
        std::max(parts_of(range_, block_pixels()), parts_of(threads, range_count_));
    // As many for each thread: of 13 parts one would take 7, while the other waits.
    if (range_count_ % threads != 0) parts = parts_of(parts, threads) * threads;
    parts = std::min(panels, parts);
    Tickets tickets(range_count_ * parts);
    for_each_slice(
        context, std::min(threads, range_count_ * parts),
        [&](std::int64_t thread) noexcept {
          Byte* const zeros = buffers.of(thread);
          Byte* const packed = zeros + zero_bytes();
          for (std::int64_t ticket = tickets.take(); ticket >= 0; ticket = tickets.take()) {
            const std::int64_t part = ticket % parts;
            const std::int64_t first = slice_begin(panels, parts, part) * panel_pixels();
            const std::int64_t pixels =
                std::min(range_, slice_begin(panels, parts, part + 1) * panel_pixels()) - first;
            const std::int64_t pixel = ticket / parts * range_;
            const Byte* const from = a + block.first * g_.a.channel;
            Byte* const to = out + range_offset(pixel) + first * pixel_step_;
            kernels::DenseProduct product = {};
            product.depth = block.count * places();
            product.b_panel_step = product.depth * gemm_.panel_columns * width_bytes_;
            product.alpha = one_.bytes;
            product.beta = block.first == 0 ? nullptr : one_.bytes;
            if (reads_padded_) {
              lay_pixels_as_rows(packed_weight, to, pixels, filters, product);
              multiply_padded(from, pixel + first, packed, product);
            } else if (reads_pixels_) {
              lay_pixels_as_rows(packed_weight, to, pixels, filters, product);
              multiply_pixels(from, pixel + first, block.count, zeros, product);
            } else {
              pack_pixels(from, pixel + first, pixels, block.count, zeros, packed);
              if (filters_are_rows_) {
                multiply_filters(packed_weight, packed, to, pixels, filters, product);
              } else {
                lay_pixels_as_rows(packed_weight, to, pixels, filters, product);
                product.a = packed;
                gemm_.multiply(product);
              }
            }
            if (block.first + block.count == g_.channels && !epilogue.is_nothing()) {
              epilogue.run(gemm_,
                           {to, pixel_step_, g_.result.channel, pixels, filters, nullptr,
                            width_bytes_, nullptr, nullptr},
                           filter);
            }
          }
        },
        Wake::kAtOnce);
  }

  void lay_pixels_as_rows(const Byte* packed_weight, Byte* out, std::int64_t pixels,
                          std::int64_t filters, kernels::DenseProduct& product) const noexcept {
    product.b = packed_weight;
    product.out = out;
    product.row_step = pixel_step_;
    product.column_step = g_.result.channel;
    product.rows = pixels;
    product.columns = filters;
  }

  // Filters as rows: some of them stay in the second cache while every panel of pixels meets them.
  void multiply_filters(const Byte* packed_weight, const Byte* packed_pixels, Byte* out,
                        std::int64_t pixels, std::int64_t filters,
                        kernels::DenseProduct& product) const noexcept {
    const std::int64_t filter_bytes = product.depth * width_bytes_;
    const std::int64_t panel_bytes = gemm_.panel_rows * std::max<std::int64_t>(filter_bytes, 1);
    const std::int64_t near =
        std::max<std::int64_t>(kNearWeightBytes / panel_bytes, 1) * gemm_.panel_rows;
    product.b = packed_pixels;
    product.row_step = g_.result.channel;
    product.column_step = width_bytes_;
    product.columns = pixels;
    for (std::int64_t first = 0; first < filters; first += near) {
      product.a = packed_weight + first * filter_bytes;
      product.out = out + first * g_.result.channel;
      product.rows = std::min(near, filters - first);
      gemm_.multiply(product);
    }
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

  // Windows of a panel of pixels, the last one again behind it. Parts of their depths are one place
  // of the kernel each, or one row of it where its elements are adjacent.
  struct PanelWindows {
    Window windows[kMaxPanelPixels];
    const Byte* first[kMaxPanelPixels];  // places of their first elements
    std::int64_t columns;                // parts of a row of the kernel
    std::int64_t places;                 // of each
    bool is_row;                         // pixels of one row, whose elements are one step apart
  };
  [[nodiscard]] PanelWindows windows_of(const Byte* a, std::int64_t pixel,
                                        std::int64_t end) const noexcept {
    const std::int64_t panel_pixels = this->panel_pixels();
    PanelWindows panel;
    bool is_inside = joins_columns_;  // are all columns of all windows
    Window window = window_of(a, pixel);
    std::int64_t next_row = pixel + g_.out[kWidth] - pixel % g_.out[kWidth];
    for (std::int64_t i = 0; i < panel_pixels; ++i) {
      is_inside = is_inside && window.left >= 0 && window.left <= g_.in[kWidth] - g_.kernel[kWidth];
      panel.windows[i] = window;
      panel.first[i] = place(window, 0, 0);
      if (pixel + i + 1 >= end) continue;
      window.left += g_.strides[kWidth];
      if (pixel + i + 1 == next_row) {
        window = window_of(a, next_row);
        next_row += g_.out[kWidth];
      }
    }
    panel.columns = is_inside ? 1 : g_.kernel[kWidth];
    panel.places = is_inside ? g_.kernel[kWidth] : 1;
    panel.is_row =
        pixel + panel_pixels <= end && pixel % g_.out[kWidth] + panel_pixels <= g_.out[kWidth];
    return panel;
  }
  // Calls body(down, right, is_adjacent) for each part, in order; is_adjacent: no pixel's is
  // padding, and they are one step apart.
  template <class Body>
  void for_each_part(const PanelWindows& panel, const Body& body) const noexcept {
    for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
      const std::int64_t down = i * g_.dilations[kHeight];
      for (std::int64_t j = 0; j < panel.columns; ++j) {
        const std::int64_t right = j * g_.dilations[kWidth];
        body(down, right,
             panel.is_row && has(panel.windows[0], down, right) &&
                 has(panel.windows[panel_pixels() - 1], down, right));
      }
    }
  }
  // Where a part of each pixel lies: `padding` in the padding.
  void find_rows(const PanelWindows& panel, std::int64_t down, std::int64_t right,
                 const Byte* padding, const Byte** rows) const noexcept {
    const std::int64_t step = down * g_.a.place[kHeight] + right * g_.a.place[kWidth];
    for (std::int64_t lane = 0; lane < panel_pixels(); ++lane) {
      rows[lane] = has(panel.windows[lane], down, right) ? panel.first[lane] + step : padding;
    }
  }

  void pack_pixels(const Byte* a, std::int64_t pixel, std::int64_t count, std::int64_t channels,
                   const Byte* zeros, Byte* packed) const noexcept {
    const std::int64_t panel_pixels = this->panel_pixels();
    if (joins_pixels_ && filters_are_rows_) {
      return packing_.columns({place(window_of(a, pixel), 0, 0), g_.a.place[kWidth], g_.a.channel,
                               count, channels, true},
                              packed);
    }
    for (const std::int64_t end = pixel + count; pixel < end; pixel += panel_pixels) {
      const PanelWindows panel = windows_of(a, pixel, end);
      const std::int64_t depth = channels * panel.places;
      for_each_part(panel, [&](std::int64_t down, std::int64_t right, bool is_adjacent) {
        if (is_adjacent) {
          const kernels::Factor factor = {place(panel.windows[0], down, right),
                                          g_.strides[kWidth] * g_.a.place[kWidth],
                                          g_.a.channel,
                                          panel_pixels,
                                          depth,
                                          g_.a.place[kWidth] == width_bytes_};
          filters_are_rows_ ? packing_.columns(factor, packed) : packing_.rows(factor, packed);
        } else {
          const Byte* pixels[kMaxPanelPixels];
          find_rows(panel, down, right, nullptr, pixels);
          const kernels::ScatteredRows factor = {pixels, g_.a.channel, depth, zeros,
                                                 g_.a.place[kWidth] == width_bytes_};
          filters_are_rows_ ? packing_.scattered_columns(factor, packed)
                            : packing_.scattered(factor, packed);
        }
        packed += depth * panel_pixels * width_bytes_;
      });
    }
  }

  // All of the product's rows, a panel at a time, from where the pixels lie.
  void multiply_pixels(const Byte* a, std::int64_t pixel, std::int64_t channels, const Byte* zeros,
                       const kernels::DenseProduct& product) const noexcept {
    const std::int64_t panel_rows = gemm_.panel_rows;
    const std::int64_t end = pixel + product.rows;
    const Byte* rows[kMostReadParts * kMaxPanelRows];
    kernels::DenseProduct part = product;
    part.a_rows = rows;
    for (; pixel < end; pixel += panel_rows) {
      const PanelWindows panel = windows_of(a, pixel, end);
      const Byte** next = rows;
      for_each_part(panel, [&](std::int64_t down, std::int64_t right, bool is_adjacent) {
        if (is_adjacent) {
          const Byte* row = place(panel.windows[0], down, right);
          for (std::int64_t lane = 0; lane < panel_rows; ++lane) {
            next[lane] = row;
            row += g_.strides[kWidth] * g_.a.place[kWidth];
          }
        } else {
          find_rows(panel, down, right, zeros, next);
        }
        next += panel_rows;
      });
      part.part_depth = channels * panel.places;
      part.rows = std::min(panel_rows, end - pixel);
      gemm_.multiply_scattered(part);
      part.out += panel_rows * part.row_step;
    }
  }

  // As multiply_pixels, from copies that have the padding too: rows of a kernel follow each other.
  void multiply_padded(const Byte* a, std::int64_t pixel, Byte* memory,
                       const kernels::DenseProduct& product) const noexcept {
    const std::int64_t panel_rows = gemm_.panel_rows;
    const std::int64_t end = pixel + product.rows;
    const std::int64_t width = g_.out[kWidth];
    const Byte* rows[kMaxPanelRows];
    PaddedRows padded(g_, width_bytes_);
    const std::int64_t step = padded.step();
    kernels::DenseProduct part = product;
    part.a_rows = rows;
    part.part_depth = g_.channels * g_.kernel[kWidth];
    part.part_step = padded.step_down();
    while (pixel < end) {
      std::int64_t row = pixel / width;
      std::int64_t column = pixel % width;
      const std::int64_t last =
          std::min(end, padded.fill(a, row, parts_of(end, width), memory) * width);
      const Byte* window = padded.row(row) + column * step;
      for (; pixel < last; pixel += part.rows) {
        part.rows = std::min(panel_rows, last - pixel);
        std::fill(rows + part.rows, rows + panel_rows, window);  // of no use
        for (std::int64_t lane = 0; lane < part.rows; ++lane) {
          rows[lane] = window;
          window += step;
          if (++column < width) continue;
          column = 0;
          if (pixel + lane + 1 < last) window = padded.row(++row);
        }
        gemm_.multiply_scattered(part);
        part.out += part.rows * part.row_step;
      }
    }
  }

  // Whether a window's place, so many rows down and columns to the right, is in the image.
  [[nodiscard]] bool has(const Window& window, std::int64_t down,
                         std::int64_t right) const noexcept {
    const std::int64_t y = window.top + down;
    const std::int64_t x = window.left + right;
    return y >= 0 && y < g_.in[kHeight] && x >= 0 && x < g_.in[kWidth];
  }
  [[nodiscard]] const Byte* place(const Window& window, std::int64_t down,
                                  std::int64_t right) const noexcept {
    return window.image + (window.top + down) * g_.a.place[kHeight] +
           (window.left + right) * g_.a.place[kWidth];
  }

  const kernels::Gemm& gemm_;
  const kernels::FactorPacking& packing_;
  const WindowGeometry& g_;
  const Element& one_;
  std::int64_t width_bytes_;
  std::int64_t range_;
  std::int64_t range_count_;
  std::int64_t pixel_step_;
  std::int64_t block_channels_;
  bool filters_are_rows_;
  bool joins_columns_;
  bool joins_pixels_;
  bool reads_pixels_;
  bool reads_padded_;
  bool joins_filter_;
};

// ---- channels by themselves ----

// Filters of a channel that are folded from where it lies; for more of them, packed pixels are
// worth the packing.
constexpr std::int64_t kMostDepthwiseFilters = 8;

// Several filters of channels that are lanes would be lanes of results apart from each other.
bool is_depthwise(const WindowGeometry& g, std::int64_t width_bytes) noexcept {
  return g.channels == 1 && g.filters <= kMostDepthwiseFilters &&
         (g.filters == 1 || !ChannelWindows(g, width_bytes).lanes_are_channels());
}

struct DepthwiseEpilogue {
  const kernels::Gemm& gemm;
  const Epilogue& epilogue;
  std::int64_t width_bytes;

  static void run(const void* with, const WindowTile& tile) {
    const auto& self = *static_cast<const DepthwiseEpilogue*>(with);
    const std::int64_t width = self.width_bytes;
    // The pixels of a single filter are adjacent rows.
    const std::int64_t row_step = tile.filters * width;
    const std::int64_t column_step = tile.filters == 1 ? 2 * width : width;
    self.epilogue.run(self.gemm,
                      {tile.data, row_step, column_step, tile.columns, tile.filters, nullptr, width,
                       nullptr, nullptr},
                      tile.first_filter);
  }
};

// ---- by another engine ----

// False, and nothing has been done, where the library's own kernels are to compute it. Cold: small
// code, which most programs never run.
[[gnu::cold, gnu::noinline]] bool run_elsewhere(const Context& context, tnr_engine engine,
                                                const ConvolutionOperands& of,
                                                const ConvolutionPart& part,
                                                const Epilogue& epilogue) {
  if (of.a.dtype != TNR_DTYPE_F32) return false;
  if (of.bias != nullptr && of.bias->shape[0] > 1 && of.bias->strides[0] != 1) return false;
  const WindowGeometry& g = part.geometry;
  constexpr std::int64_t kBytes = sizeof(float);
  const auto in_elements = [](const ImageSteps& steps) -> onednn::Convolution::Image {
    return {steps.image / kBytes,
            steps.channel / kBytes,
            {steps.place[kHeight] / kBytes, steps.place[kWidth] / kBytes}};
  };
  onednn::Convolution convolution = {};
  convolution.images = g.images;
  convolution.groups = g.groups;
  convolution.channels = g.channels;
  convolution.filters = g.filters;
  for (const unsigned axis : {kHeight, kWidth}) {
    convolution.in[axis] = g.in[axis];
    convolution.kernel[axis] = g.kernel[axis];
    convolution.out[axis] = g.out[axis];
    convolution.strides[axis] = g.strides[axis];
    convolution.padding[axis] = g.padding[axis];
    convolution.dilations[axis] = g.dilations[axis];
  }
  convolution.a = in_elements(g.a);
  convolution.weight = in_elements(g.weight);
  convolution.weight_group_step = g.weight_group / kBytes;
  convolution.result = in_elements(g.result);
  convolution.has_bias = of.bias != nullptr;
  const onednn::ConvolutionMemory memory = {
      of.a.data, static_cast<const Byte*>(of.weight.data) + part.weight_offset,
      of.bias == nullptr ? nullptr : of.bias->data, writable(of.out) + part.out_offset};
  if (!onednn::run({engine, context.thread_count()}, convolution, memory)) return false;
  // Not oneDNN's own, whose maximum of NaN and 0 is 0.
  epilogue.run_behind(context, of.out);
  return true;
}

}  // namespace

// ---- calls ----

void require_bias(const tnr_view* bias, const tnr_view& out, const char* filters_of) {
  if (bias == nullptr) return;
  require_rank(*bias, "bias", 1);
  require_extent(*bias, "bias", 0, out.shape[1], "the filters of", filters_of);
}

PinnedOperands::PinnedOperands(const ConvolutionOperands& of) {
  const tnr_view& out = of.out.view;
  require_dtype(of.weight, "weight", of.a.dtype, "a.dtype is");
  if (of.bias != nullptr) require_dtype(*of.bias, "bias", of.a.dtype, "a.dtype is");
  require_dtype(out, "out", of.a.dtype, "a.dtype is");
  pins_.add_mut(of.out, "out");
  pins_.add(of.a, "a");
  pins_.add(of.weight, "weight");
  if (of.bias != nullptr) pins_.add(*of.bias, "bias");
  require_alias(out, of.a, "a", SameView::kRefused);
  require_alias(out, of.weight, "weight", SameView::kRefused);
  if (of.bias != nullptr) require_alias(out, *of.bias, "bias", SameView::kRefused);
}

void convolve(const Context& context, tnr_operation operation, const char* name,
              const ConvolutionOperands& of, const WideConvolution* wide,
              const Activation& activation, const ConvolutionParts& parts) {
  const tnr_view& out = of.out.view;
  const tnr_view* const bias = of.bias;
  const unsigned type = require_image_type(name, of.a.dtype);
  const PinnedOperands pinned(of);

  const kernels::Gemm& gemm = kernels::gemm_kernels()[type];
  const kernels::FactorPacking& packing = kernels::factor_packing_kernels()[type];
  const auto width_bytes = static_cast<std::int64_t>(element_size(of.a.dtype));
  const Epilogue epilogue(activation, bias, of.a.dtype, of.a.dtype);
  if (is_empty(out)) return count_call(operation, 0, 0);
  const auto count = [&] {
    const ConvolutionOperands& given = wide == nullptr ? of : wide->narrow();
    count_call(operation,
               element_bytes(given.a) + element_bytes(given.weight) +
                   (given.bias == nullptr ? 0 : element_bytes(*given.bias)),
               element_bytes(given.out.view));
  };
  const tnr_engine engine = engine_of(context);
  if (engine != TNR_ENGINE_OWN && parts.count == 1 && wide == nullptr &&
      run_elsewhere(context, engine, of, parts.part(parts.with, 0), epilogue)) {
    return count();
  }

  const tnr_scalar number = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
  const Element one = to_element(number, of.a.dtype, "one");
  // All memory is there before the first element is written. The weights' comes first, as that
  // refuses kernels of so many places, of a view that repeats, that bytes overflow: a panel of the
  // pixels has no more than some times the bytes of a panel of these.
  std::int64_t weight_bytes = 0;
  for (std::int64_t i = 0; i < parts.count; ++i) {
    const WindowGeometry g = parts.part(parts.with, i).geometry;
    if (is_depthwise(g, width_bytes)) {
      weight_bytes =
          std::max(weight_bytes, ChannelWindows::weight_bytes(g, out.shape[1] * width_bytes));
    } else {
      const Conv2d conv(gemm, packing, g, one, width_bytes);
      weight_bytes =
          std::max(weight_bytes, product_or_most(conv.block_depth(), conv.weight_depth_bytes()));
    }
  }
  const Scratch packed_weight(weight_bytes, 1);
  std::int64_t threads = 1;
  std::int64_t thread_bytes = 0;
  for (std::int64_t i = 0; i < parts.count; ++i) {
    const WindowGeometry g = parts.part(parts.with, i).geometry;
    if (is_depthwise(g, width_bytes)) continue;
    const Conv2d conv(gemm, packing, g, one, width_bytes);
    threads = std::max(threads, conv.thread_count(context));
    thread_bytes = std::max(thread_bytes, conv.thread_bytes());
  }
  const ThreadBuffers buffers(threads, thread_bytes);
  touch_fresh_pages(context, writable(of.out), dense_count(out) * width_bytes);

  const auto run_part = [&](const ConvolutionPart& part) noexcept {
    const Byte* const a = static_cast<const Byte*>(of.a.data);
    const Byte* const weight = static_cast<const Byte*>(of.weight.data) + part.weight_offset;
    Byte* const to = writable(of.out) + part.out_offset;
    if (!is_depthwise(part.geometry, width_bytes)) {
      const Conv2d conv(gemm, packing, part.geometry, one, width_bytes);
      return conv.run(context, buffers, packed_weight.data(), a, weight, epilogue, to);
    }
    const ChannelWindows windows(part.geometry, width_bytes);
    windows.pack_weight(weight, packed_weight.data());
    const kernels::WindowKernels& kernels = kernels::window_kernels()[type];
    const DepthwiseEpilogue finish = {gemm, epilogue, width_bytes};
    windows.run(context,
                {&kernels, windows.lanes_are_channels() ? kernels.weigh_lanes : kernels.weigh_taps,
                 packed_weight.data()},
                element_bytes(of.a) + element_bytes(out), a, to,
                {epilogue.is_nothing() ? nullptr : DepthwiseEpilogue::run, &finish});
  };
  const auto run_parts = [&](std::int64_t images) noexcept {
    for (std::int64_t i = 0; i < parts.count; ++i) {
      ConvolutionPart part = parts.part(parts.with, i);
      part.geometry.images = images;
      run_part(part);
    }
  };
  if (wide == nullptr) {
    run_parts(out.shape[0]);
  } else {
    wide->images().for_each_chunk(context, run_parts);
  }
  count();
}

void conv2d(const Context& context, const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
            const tnr_conv2d_attributes& attributes, const tnr_view_mut& out) {
  check_view_mut(out, "out");
  check_view(a, "a");
  check_view(weight, "weight");
  if (bias != nullptr) check_view(*bias, "bias");
  const auto geometry_of = [&](const ConvolutionOperands& of) {
    return convolution_geometry(of.a, "a", of.weight, attributes, of.out.view, "out");
  };
  const auto run = [&](WindowGeometry geometry, const ConvolutionOperands& of,
                       const WideConvolution* wide) {
    if (geometry.channels == 0) leave_bias_alone(geometry);
    const auto part = [](const void* with, std::int64_t) -> ConvolutionPart {
      return {*static_cast<const WindowGeometry*>(with), 0, 0};
    };
    convolve(context, TNR_OPERATION_CONV2D, "conv2d", of, wide, Activation(attributes),
             {1, &geometry, part});
  };
  const ConvolutionOperands given = {a, weight, bias, out};
  const WindowGeometry geometry = geometry_of(given);
  require_bias(bias, out.view, "weight");
  if (!is_narrow(a.dtype)) return run(geometry, given, nullptr);
  const WideConvolution wide(context, given);
  run(geometry_of(wide.wide()), wide.wide(), &wide);
}

}  // namespace tenure
