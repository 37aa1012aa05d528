// Rows with too many entries for one thread to add up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sparse/index_array.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// Entries of a piece of such a row, and of the longest row that is not cut. Some 25 us of work:
// large against the cost of a piece, small against the work that a thread leaves undone while it is
// kept waiting.
inline constexpr std::int64_t kPieceEntries = std::int64_t{1} << 16;

struct LongRow {
  std::int64_t row;
  std::int64_t first;  // its entries
  std::int64_t last;
  std::int64_t first_piece;  // counted through all long rows

  [[nodiscard]] std::int64_t piece_count() const noexcept {
    return (last - first + kPieceEntries - 1) / kPieceEntries;
  }
};

// The long rows of a compressed matrix. They depend only on the matrix, and so does the sum of
// their pieces. Where offsets are wrong, some of the rows may not exist: no caller may use them
// before offsets have been checked. Throws std::bad_alloc.
inline std::vector<LongRow> long_rows(const tnr_sparse_view& view) {
  std::vector<LongRow> rows;
  const std::int64_t count = view.minor.shape[0];
  EntryRange all = entry_range(view);
  all.first = std::clamp<std::int64_t>(all.first, 0, count);
  all.last = std::clamp(all.last, all.first, count);
  const IndexReader offsets(view.major);
  std::int64_t pieces = 0;
  // Each long row has an entry at a multiple of kPieceEntries.
  for (std::int64_t entry = all.first; entry < all.last;) {
    const std::int64_t row = row_of_entry(static_cast<const kernels::Byte*>(view.major.data),
                                          index_type(view.major.dtype), major_count(view), entry);
    const std::int64_t first = std::clamp(offsets[row], all.first, all.last);
    const LongRow found = {row, first, std::clamp(offsets[row + 1], first, all.last), pieces};
    if (found.last - found.first > kPieceEntries) {
      rows.push_back(found);
      pieces += found.piece_count();
    }
    // The next multiple that is not in this row.
    const std::int64_t past = std::max(found.last, entry + 1) - all.first;
    entry = all.first + (past + kPieceEntries - 1) / kPieceEntries * kPieceEntries;
  }
  return rows;
}

}  // namespace tenure
