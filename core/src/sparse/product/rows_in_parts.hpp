// Rows of a compressed matrix cut where their columns cross the bounds of equal parts of all
// columns: threads that have a part each read every entry once.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/bisect.hpp"
#include "memory/scratch.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/row_slices.hpp"
#include "threads/parallel.hpp"

namespace tenure {

class RowsInParts {
 public:
  // For a view whose offsets and indices are right. Throws OUT_OF_MEMORY.
  RowsInParts(const Context& context, const tnr_sparse_view& view, std::int64_t parts)
      : matrix_(compressed(view)),
        width_(index_width(matrix_.index_type)),
        parts_(parts),
        cuts_(matrix_.rows * (parts + 1), width_) {
    const kernels::IndexChecks& checks = index_checks(view);
    std::atomic<bool> rise{true};
    const RowSlices slices(view, slice_count_of(context, RowSlices::entry_count(view) * width_));
    for_each_slice(context, slices.count(), [&](std::int64_t slice) noexcept {
      const std::int64_t last = slices.begin(slice + 1);
      for (std::int64_t row = slices.begin(slice); row < last; ++row) {
        const std::int64_t begin = get_index(matrix_.offsets, matrix_.index_type, row);
        const std::int64_t end = get_index(matrix_.offsets, matrix_.index_type, row + 1);
        if (checks.count_falls(matrix_.indices + begin * width_, end - begin) != 0) {
          return rise.store(false, std::memory_order_relaxed);
        }
        cut(row, begin, end);
      }
    });
    rise_ = rise.load(std::memory_order_relaxed);
  }

  // Whether the columns of each row rise; only then is anything else of use.
  [[nodiscard]] bool rise() const noexcept { return rise_; }
  [[nodiscard]] std::int64_t parts() const noexcept { return parts_; }
  [[nodiscard]] std::int64_t rows() const noexcept { return matrix_.rows; }
  // The columns of a part begin here.
  [[nodiscard]] std::int64_t column(std::int64_t part) const noexcept {
    return slice_begin(matrix_.cols, parts_, part);
  }
  // A matrix of one row: the entries of `row` in `part`.
  [[nodiscard]] kernels::Compressed piece(std::int64_t row, std::int64_t part) const noexcept {
    kernels::Compressed piece = matrix_;
    piece.rows = 1;
    piece.offsets = cuts_.data() + (row * (parts_ + 1) + part) * width_;
    return piece;
  }

 private:
  void cut(std::int64_t row, std::int64_t begin, std::int64_t end) const noexcept {
    const kernels::IndexType type = matrix_.index_type;
    const std::int64_t first = row * (parts_ + 1);
    put_index(cuts_.data(), type, first, begin);
    for (std::int64_t part = 1; part < parts_; ++part) {
      const std::int64_t bound = column(part);
      begin = first_where(begin, end, [&](std::int64_t entry) {
        return get_index(matrix_.indices, type, entry) >= bound;
      });
      put_index(cuts_.data(), type, first + part, begin);
    }
    put_index(cuts_.data(), type, first + parts_, end);
  }

  kernels::Compressed matrix_;
  std::int64_t width_;
  std::int64_t parts_;
  Scratch cuts_;
  bool rise_;
};

}  // namespace tenure
