// Convolutions as products of dense matrices. The rows or columns of one factor are the pixels of
// the result, and are packed from the image or read directly from it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/gemm.hpp"
#include "dense/image/geometry.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/padded_rows.hpp"
#include "dense/product/product_blocks.hpp"
#include "dense/scalar.hpp"
#include "memory/tickets.hpp"
#include "tenure/context.hpp"

namespace tenure {

// The result's pixels are rows, its filters columns; or the other way round where adjacent pixels
// of the result are adjacent elements, as the lanes of a tile's vectors are. The depth is cut into
// blocks of channels; in one, the kernel's rows come first, then its columns, then the channels.
class ImageProduct {
 public:
  // All that is referred to outlives this. `one` is of the dtype.
  ImageProduct(const kernels::Gemm& gemm, const kernels::FactorPacking& packing,
               const WindowGeometry& geometry, const Element& one,
               std::int64_t width_bytes) noexcept;

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
  [[nodiscard]] std::int64_t thread_bytes() const noexcept;
  [[nodiscard]] std::int64_t thread_count(const Context& context) const noexcept;

  // Whether it reads weights in the order of PackedFilters.
  [[nodiscard]] bool takes_packed_filters() const noexcept { return !filters_are_rows_; }
  // Bytes of all weights in that order, or the most that there are.
  [[nodiscard]] std::int64_t packed_filter_bytes() const noexcept;
  // Throws nothing, and neither does run(): all memory is allocated.
  void pack_filters(const Context& context, const ThreadBuffers& buffers,
                    const kernels::Byte* weight, kernels::Byte* packed) const noexcept;

  // `weight`: the packed filters, where `memory` is nullptr; else it has room for those of a block.
  void run(const Context& context, const ThreadBuffers& buffers, kernels::Byte* memory,
           const kernels::Byte* a, const kernels::Byte* weight, const Epilogue& epilogue,
           kernels::Byte* out) const noexcept;

 private:
  // The longest panels of any instruction set.
  static constexpr std::int64_t kMaxPanelRows = 16;
  static constexpr std::int64_t kMaxPanelPixels = 32;
  // Parts of a panel of pixels that are read where they lie: the addresses of 7 x 7 places take 6
  // KiB.
  static constexpr std::int64_t kMostReadParts = 49;

  struct Channels {
    std::int64_t first;
    std::int64_t count;
  };
  // Weights of some filters and channels of a group.
  struct WeightBlock {
    std::int64_t group;
    std::int64_t filter;  // of the group
    std::int64_t filters;
    Channels channels;
  };
  // Calls body(block) for each, in the order in which they are packed and multiplied.
  template <class Body>
  void for_each_block(const Body& body) const noexcept;
  [[nodiscard]] std::int64_t packed_bytes(const WeightBlock& block) const noexcept;

  [[nodiscard]] std::int64_t places() const noexcept { return g_.places(); }

  // Packing pixels for the lanes of vectors is copying, and so is putting the sums of vectors; of
  // broadcast pixels both are transpositions.
  [[nodiscard]] bool takes_filters_as_rows() const noexcept;
  [[nodiscard]] bool may_read_pixels() const noexcept;
  [[nodiscard]] std::int64_t panel_filters() const noexcept {
    return filters_are_rows_ ? gemm_.panel_rows : gemm_.panel_columns;
  }
  [[nodiscard]] std::int64_t panel_pixels() const noexcept {
    return filters_are_rows_ ? gemm_.panel_columns : gemm_.panel_rows;
  }
  // Whether panels of weights are packed in a thread's own memory first. Packing of rows writes
  // beyond its panel, where another thread's may lie.
  [[nodiscard]] bool packs_aside() const noexcept { return joins_filter_ || filters_are_rows_; }

  void pack_block(const Context& context, const ThreadBuffers& buffers, const kernels::Byte* weight,
                  const WeightBlock& block, kernels::Byte* packed) const noexcept;

  void pack_panel(const kernels::Factor& filters, kernels::Byte* to) const noexcept {
    return filters_are_rows_ ? packing_.rows(filters, to) : packing_.columns(filters, to);
  }

  // One place of the kernel after the other.
  void pack_places(const kernels::Factor& filters, std::int64_t channels,
                   kernels::Byte* to) const noexcept;

  // Filters whose elements are adjacent are packed as they lie, by channels and then places, and
  // then brought in order.
  void pack_adjacent(const kernels::Factor& filters, std::int64_t channels,
                     kernels::Byte* as_they_lie, kernels::Byte* to) const noexcept;
  // A panel's depth, of 24 to 256 bytes: a call of the C library would take longer than the copy.
  static void copy_words(const kernels::Byte* from, std::int64_t bytes, kernels::Byte* to) noexcept;

  [[nodiscard]] std::int64_t channels_of_block() const noexcept;

  [[nodiscard]] std::int64_t block_filters() const noexcept;
  [[nodiscard]] std::int64_t block_pixels() const noexcept;

  // All pixels, by a packed block of the weights. Threads take parts of ranges.
  void multiply_block(const Context& context, const ThreadBuffers& buffers, const kernels::Byte* a,
                      const kernels::Byte* packed_weight, kernels::Byte* out,
                      const WeightBlock& block, const Epilogue& epilogue) const noexcept;

  void lay_pixels_as_rows(const kernels::Byte* packed_weight, kernels::Byte* out,
                          std::int64_t pixels, std::int64_t filters,
                          kernels::DenseProduct& product) const noexcept;

  // Filters as rows: some of them stay in the second cache while every panel of pixels meets them.
  void multiply_filters(const kernels::Byte* packed_weight, const kernels::Byte* packed_pixels,
                        kernels::Byte* out, std::int64_t pixels, std::int64_t filters,
                        kernels::DenseProduct& product) const noexcept;

  [[nodiscard]] std::int64_t range_offset(std::int64_t pixel) const noexcept;

  // Where the kernel's first element lies at a pixel of the result.
  struct Window {
    const kernels::Byte* image;
    std::int64_t top;  // of the input; in its padding below 0
    std::int64_t left;
  };
  [[nodiscard]] Window window_of(const kernels::Byte* a, std::int64_t pixel) const noexcept;

  // Windows of a panel of pixels, the last one again behind it. Parts of their depths are one place
  // of the kernel each, or one row of it where its elements are adjacent.
  struct PanelWindows {
    Window windows[kMaxPanelPixels];
    const kernels::Byte* first[kMaxPanelPixels];  // places of their first elements
    std::int64_t columns;                         // parts of a row of the kernel
    std::int64_t places;                          // of each
    bool is_row;  // pixels of one row, whose elements are one step apart
  };
  [[nodiscard]] PanelWindows windows_of(const kernels::Byte* a, std::int64_t pixel,
                                        std::int64_t end) const noexcept;
  // Calls body(down, right, is_adjacent) for each part, in order; is_adjacent: no pixel's is
  // padding, and they are one step apart.
  template <class Body>
  void for_each_part(const PanelWindows& panel, const Body& body) const noexcept;
  // Where a part of each pixel lies: `padding` in the padding.
  void find_rows(const PanelWindows& panel, std::int64_t down, std::int64_t right,
                 const kernels::Byte* padding, const kernels::Byte** rows) const noexcept;

  void pack_pixels(const kernels::Byte* a, std::int64_t pixel, std::int64_t count,
                   std::int64_t channels, const kernels::Byte* zeros,
                   kernels::Byte* packed) const noexcept;

  // All of the product's rows, a panel at a time, from where the pixels lie.
  void multiply_pixels(const kernels::Byte* a, std::int64_t pixel, std::int64_t channels,
                       const kernels::Byte* zeros,
                       const kernels::DenseProduct& product) const noexcept;

  // Does the work of multiply_pixels() from copies that include the padding: the rows of a kernel
  // follow each other.
  void multiply_padded(const kernels::Byte* a, std::int64_t pixel, kernels::Byte* memory,
                       const kernels::DenseProduct& product) const noexcept;

  // Whether the element `down` rows down and `right` columns to the right of a window's first one
  // is in the image.
  [[nodiscard]] bool has(const Window& window, std::int64_t down,
                         std::int64_t right) const noexcept;
  [[nodiscard]] const kernels::Byte* place(const Window& window, std::int64_t down,
                                           std::int64_t right) const noexcept;

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

}  // namespace tenure
