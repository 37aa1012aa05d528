// Pixels of gradients in blocks. The products of a block are one sum, and the sums of the blocks
// are added in order. So the bits of results depend on the blocks, and not on the kernels, the
// layouts or the threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/image/geometry.hpp"
#include "dense/product/product_blocks.hpp"

namespace tenure {

// Whether no window has an element of the padding along the axis.
inline bool has_no_padding(const WindowGeometry& g, unsigned axis) noexcept {
  return g.padding[axis] == 0 && reach(g, axis, g.out[axis]) <= g.in[axis];
}

class PixelBlocks {
 public:
  // Filters of a block.
  static constexpr std::int64_t kMostFilters = 512;
  // Bytes of the packed gradients of a block.
  static constexpr std::int64_t kPackedBytes = std::int64_t{1024} << 10;

  // The rows of all images are counted.
  struct Block {
    std::int64_t row;
    std::int64_t rows;
    std::int64_t column;
    std::int64_t columns;

    [[nodiscard]] std::int64_t depth() const noexcept { return rows * columns; }
  };

  // `geometry` outlives this.
  PixelBlocks(const WindowGeometry& geometry, std::int64_t width_bytes) noexcept : g_(geometry) {
    const std::int64_t all_rows = product_or_most(g_.images, g_.out[kHeight]);
    // By kernels of one place the factors may be exchanged, which changes no bit.
    const std::int64_t filters = std::min(g_.filters, kMostFilters);
    const std::int64_t packed = g_.places() == 1 ? std::min(filters, g_.channels) : filters;
    if (all_rows == 0 || g_.out[kWidth] == 0 || filters == 0 || g_.channels == 0) return;
    const std::int64_t depth =
        std::clamp<std::int64_t>(kPackedBytes / (packed * width_bytes), 1, kBlockDepth);
    // Blocks are alike.
    column_blocks_ = parts_of(g_.out[kWidth], depth);
    columns_ = parts_of(g_.out[kWidth], column_blocks_);
    rows_ = parts_of(all_rows, parts_of(all_rows, std::max<std::int64_t>(depth / columns_, 1)));
    count_ = parts_of(all_rows, rows_) * column_blocks_;
  }

  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  // The most rows, columns and pixels of a block.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t columns() const noexcept { return columns_; }
  [[nodiscard]] std::int64_t depth() const noexcept { return rows_ * columns_; }
  [[nodiscard]] Block at(std::int64_t index) const noexcept {
    const std::int64_t row = index / column_blocks_ * rows_;
    const std::int64_t column = index % column_blocks_ * columns_;
    return {row, std::min(rows_, g_.images * g_.out[kHeight] - row), column,
            std::min(columns_, g_.out[kWidth] - column)};
  }

  // Calls body(image, y, row, rows) for the rows of a block that are of one image, from row `row`
  // of the block on.
  template <class Body>
  void for_each_image(const Block& block, const Body& body) const noexcept {
    for (std::int64_t row = 0; row < block.rows;) {
      const std::int64_t of_all = block.row + row;
      const std::int64_t y = of_all % g_.out[kHeight];
      const std::int64_t rows = std::min(block.rows - row, g_.out[kHeight] - y);
      body(of_all / g_.out[kHeight], y, row, rows);
      row += rows;
    }
  }
  // Calls body(offset, depth) for each run of pixels of a block that are one step apart in an array
  // of these steps.
  template <class Body>
  void for_each_run(const Block& block, const ImageSteps& steps, const Body& body) const noexcept {
    const std::int64_t step = steps.place[kWidth];
    const std::int64_t row = steps.place[kHeight];
    const bool joins = block.columns == g_.out[kWidth] && row == block.columns * step;
    if (joins && steps.image == g_.out[kHeight] * row) return body(block.row * row, block.depth());
    for_each_image(
        block, [&](std::int64_t image, std::int64_t y, std::int64_t, std::int64_t rows) noexcept {
          const std::int64_t runs = joins ? 1 : rows;
          for (std::int64_t i = 0; i < runs; ++i) {
            body(image * steps.image + (y + i) * row + block.column * step,
                 rows / runs * block.columns);
          }
        });
  }

 private:
  const WindowGeometry& g_;
  std::int64_t column_blocks_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace tenure
