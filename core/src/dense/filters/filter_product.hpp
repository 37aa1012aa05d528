// Gradients of filters as products of dense matrices.
//
// A row of the left factor is a place of a filter: a channel, a row and a column of the kernel. A
// column of the right factor is a filter. The depth is the pixels of the gradients, in blocks. The
// elements of a row of the left factor are adjacent pixels of the image. Kernels read them in
// place, or in a copy of some channels with their padding. The copy of a row of the image has a
// line for each offset within the stride, so that adjacent windows are adjacent elements.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/gemm.hpp"
#include "dense/filters/pixel_blocks.hpp"
#include "dense/image/geometry.hpp"
#include "dense/product/product_blocks.hpp"
#include "dense/scalar.hpp"
#include "memory/tickets.hpp"
#include "tenure/context.hpp"

namespace tenure {

class FilterProduct {
 public:
  // `geometry` has the steps of the images, of the gradients (as the result of the convolution) and
  // of the filters, whose places are one step apart. All that is referred to outlives this. The
  // dtype of `one` is that of the elements.
  FilterProduct(const kernels::Gemm& gemm, const kernels::FactorPacking& packing,
                const WindowGeometry& geometry, const Element& one,
                std::int64_t width_bytes) noexcept;

  [[nodiscard]] std::int64_t thread_count(const Context& context) const noexcept;
  // Bytes of memory of each thread, and of memory that all share.
  [[nodiscard]] std::int64_t thread_bytes(const Context& context) const noexcept;
  [[nodiscard]] std::int64_t shared_bytes(const Context& context) const noexcept;

  // Whether the sums are added to those that `out` holds.
  enum class Sums : std::uint8_t { kNew, kContinued };
  // Throws nothing: all memory is allocated.
  void run(const Context& context, const ThreadBuffers& buffers, kernels::Byte* shared,
           const kernels::Byte* a, const kernels::Byte* g, kernels::Byte* out,
           Sums sums) const noexcept;

 private:
  // The longest panel of any instruction set.
  static constexpr std::int64_t kMostPanelRows = 16;

  // Some filters of a group.
  struct Filters {
    const kernels::Byte* a;  // the group's channels
    const kernels::Byte* g;
    kernels::Byte* out;
    std::int64_t count;
    Sums sums;
  };
  using Block = PixelBlocks::Block;
  // Rows of a block that are of one image.
  struct Segment {
    std::int64_t image;
    std::int64_t y;
    std::int64_t row;  // of the block
    std::int64_t rows;
    std::int64_t line;  // of the copy: the first one
  };
  // A line of a copy: the window of element 0 begins at column x, and elements [first, last) are in
  // the image.
  struct Line {
    std::int64_t x;
    std::int64_t first;
    std::int64_t last;
  };
  // How the places of the kernel along an axis find their elements in lines of a copy.
  struct Lines {
    std::int64_t count;   // lines in which adjacent windows are adjacent
    std::int64_t length;  // windows of a line
    std::int64_t common;  // all offsets within the stride are multiples of it
    bool is_apart;        // each place has a line of its own
  };

  // Whether threads share the groups, and not the places of a filter.
  [[nodiscard]] bool shares_groups(const Context& context) const noexcept {
    return g_.groups >= 2 && g_.groups >= thread_count(context);
  }
  // Bytes of the packed gradients of a block, and of the blocks that threads share at a time.
  [[nodiscard]] std::int64_t packed_block_bytes() const noexcept;
  [[nodiscard]] std::int64_t packed_bytes() const noexcept {
    return whole_lines(blocks_together_ * packed_block_bytes() + packing_.slack_bytes);
  }
  [[nodiscard]] std::int64_t copy_bytes() const noexcept;
  [[nodiscard]] std::int64_t address_bytes() const noexcept {
    return blocks_.rows() * kMostPanelRows *
           static_cast<std::int64_t>(sizeof(const kernels::Byte*));
  }
  [[nodiscard]] std::int64_t panel_count() const noexcept {
    return parts_of(rows_, gemm_.panel_rows);
  }
  [[nodiscard]] std::int64_t task_panels() const noexcept;

  [[nodiscard]] Lines lines_along(unsigned axis, std::int64_t windows) const noexcept;
  [[nodiscard]] Line line_of(const Block& block, std::int64_t index) const noexcept;
  [[nodiscard]] std::int64_t rows_of_lines(std::int64_t rows) const noexcept;
  template <class Body>
  void for_each_segment(const Block& block, const Body& body) const noexcept;

  void run_alone(const Filters& filters, kernels::Byte* packed,
                 kernels::Byte* memory) const noexcept;
  void run_shared(const Context& context, const ThreadBuffers& buffers, kernels::Byte* packed,
                  const Filters& filters) const noexcept;
  void clear(const Filters& filters) const noexcept;
  void pack_panels(const Filters& filters, const Block& block, std::int64_t first,
                   std::int64_t panels, kernels::Byte* packed) const noexcept;
  // Some panels of rows, by all filters.
  void multiply(const Filters& filters, std::int64_t block_index, std::int64_t first_panel,
                std::int64_t panels, const kernels::Byte* packed,
                kernels::Byte* memory) const noexcept;
  // `spare` has room for a line.
  void copy(const kernels::Byte* a, const Block& block, std::int64_t channels, kernels::Byte* to,
            kernels::Byte* spare) const noexcept;
  void fetch_row(const kernels::Byte* row) const noexcept;
  void split_line(const kernels::Byte* row, std::int64_t x, kernels::Byte* line,
                  kernels::Byte* spare) const noexcept;

  const kernels::Gemm& gemm_;
  const kernels::FactorPacking& packing_;
  const WindowGeometry& g_;
  const Element& one_;
  std::int64_t width_bytes_;
  std::int64_t rows_;      // of the left factor
  std::int64_t row_step_;  // of the result
  std::int64_t filters_;   // that are computed at a time
  PixelBlocks blocks_;
  std::int64_t blocks_together_ = 1;
  Lines down_ = {};
  Lines along_ = {};
  std::int64_t most_lines_ = 0;  // of a block, down
  bool reads_in_place_ = false;
  bool joins_rows_ = false;  // the rows of an image are adjacent to each other
};

template <class Body>
void FilterProduct::for_each_segment(const Block& block, const Body& body) const noexcept {
  std::int64_t line = 0;
  blocks_.for_each_image(
      block, [&](std::int64_t image, std::int64_t y, std::int64_t row, std::int64_t rows) noexcept {
        body(Segment{image, y, row, rows, line});
        line += down_.is_apart ? rows : rows_of_lines(rows);
      });
}

}  // namespace tenure
