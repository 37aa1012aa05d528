// Rows of images with the padding around them, in memory of a thread: of few channels, or few
// pixels, finding out which places of a window are padding takes longer than its products.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/image/geometry.hpp"

namespace tenure {

class PaddedRows {
 public:
  // Whether the copies take few bytes, and little time compared with the products.
  [[nodiscard]] static bool takes(const WindowGeometry& geometry,
                                  std::int64_t width_bytes) noexcept;
  [[nodiscard]] static std::int64_t size_bytes() noexcept { return kBytes; }

  // A geometry that it takes, and that outlives this.
  PaddedRows(const WindowGeometry& geometry, std::int64_t width_bytes) noexcept;

  // Copies the elements that windows see, for rows of the result from `row` on and not beyond
  // `end`; the rows of all images are in one order. Returns the end of the rows that have been
  // copied, which are at least one.
  std::int64_t fill(const kernels::Byte* a, std::int64_t row, std::int64_t end,
                    kernels::Byte* to) noexcept;
  // Returns the first window of a row of the result that fill() has copied.
  [[nodiscard]] const kernels::Byte* row(std::int64_t row) const noexcept {
    return rows_[row - first_row_];
  }
  // To the next window of a row.
  [[nodiscard]] std::int64_t step() const noexcept { return g_.strides[kWidth] * pixel_bytes_; }
  // From a row of a window, whose elements are adjacent, to the one below it.
  [[nodiscard]] std::int64_t step_down() const noexcept {
    return g_.dilations[kHeight] * row_bytes_;
  }

 private:
  // With them and a panel of weights, the first cache is full or nearly so.
  static constexpr std::int64_t kBytes = std::int64_t{24} << 10;
  static constexpr std::int64_t kMostRows = 64;

  void copy_row(const kernels::Byte* image, std::int64_t y, kernels::Byte* to) const noexcept;

  const WindowGeometry& g_;
  std::int64_t width_bytes_;
  std::int64_t pixel_bytes_;
  std::int64_t row_bytes_;
  std::int64_t rows_of_window_;
  std::int64_t first_row_ = 0;
  const kernels::Byte* rows_[kMostRows];
};

}  // namespace tenure
