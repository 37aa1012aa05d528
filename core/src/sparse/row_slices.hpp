// Rows of a compressed matrix in slices of about as many entries each.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bisect.hpp"
#include "sparse/index_array.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"

namespace tenure {

// The rows of a view are cut where the entries and rows before a slice are its share of all.
// Unchecked offsets may be anything: then slices may overlap, but together they have every row.
class RowSlices {
 public:
  RowSlices(const tnr_sparse_view& view, std::int64_t slice_count) noexcept
      : offsets_(view.major),
        rows_(major_count(view)),
        slice_count_(slice_count),
        first_(entry_range(view).first),
        total_(rows_ + entry_count(view)) {}

  [[nodiscard]] std::int64_t count() const noexcept { return slice_count_; }

  // The first row of a slice, or the end of the last one.
  [[nodiscard]] std::int64_t begin(std::int64_t slice) const noexcept {
    if (slice == 0) return 0;
    if (slice == slice_count_) return rows_;
    const std::int64_t share =
        total_ / slice_count_ * slice + total_ % slice_count_ * slice / slice_count_;
    return first_where(0, rows_, [&](std::int64_t row) {
      return weight_before(row) >= static_cast<std::uint64_t>(share);
    });
  }

  // The entries of the view, as far as its offsets can be right.
  static std::int64_t entry_count(const tnr_sparse_view& view) noexcept {
    const EntryRange range = entry_range(view);
    if (range.first < 0 || range.last < range.first) return 0;
    return std::min(range.last, view.minor.shape[0]) - std::min(range.first, view.minor.shape[0]);
  }

 private:
  // Unsigned: offsets that are wrong may make it wrap.
  [[nodiscard]] std::uint64_t weight_before(std::int64_t row) const noexcept {
    return static_cast<std::uint64_t>(index_at(offsets_, row)) -
           static_cast<std::uint64_t>(first_) + static_cast<std::uint64_t>(row);
  }

  const tnr_view& offsets_;
  std::int64_t rows_;
  std::int64_t slice_count_;
  std::int64_t first_;
  std::int64_t total_;
};

// The row at which slice `slice` of `slices` begins, of rows whose offsets, from 0 on, are these.
template <class I>
std::int64_t sliced_row(const I* offsets, std::int64_t rows, std::int64_t slices,
                        std::int64_t slice) noexcept {
  if (slice == slices) return rows;
  const std::int64_t share = slice_begin(rows + offsets[rows], slices, slice);
  return first_where(0, rows, [=](std::int64_t row) { return row + offsets[row] >= share; });
}

}  // namespace tenure
