// The entries of a dense matrix by columns, where it is row-major: panel by panel of columns.
//
// A panel is a few lines wide, and all rows high. Some rows of it at a time are brought to the
// first cache, and each of their entries is appended to the buffer of its column. When all rows
// have been seen the buffers go to the result one after the other. So elements are read once, and
// read in pieces that are longer than a line.
//
// Panels of a line, transposed first, as DenseSearcher takes those of the transpose, mostly wait
// for lines: 66 ms for 8192^2 f32, whatever is in them. docs/design/from-dense.md has more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sparse/from_dense/dense_search.hpp"

namespace tenure {

struct ColumnSearch {
  explicit ColumnSearch(const DenseSearch& matrix) noexcept;

  // Whether there are such panels: the elements of a row are adjacent, in the matrix and in its
  // mask, those of a column are not, and a panel is not too high.
  [[nodiscard]] bool is_possible() const noexcept;
  [[nodiscard]] std::int64_t entry_count() const noexcept { return dense.entry_count(); }

  DenseSearch dense;  // rows and columns as stored
  std::int64_t panel_columns;
};

// One thread's work on a search; as DenseSearcher. A chunk is a panel.
class ColumnSearcher {
 public:
  using Search = ColumnSearch;

  static std::int64_t buffer_bytes(const ColumnSearch& search) noexcept;
  static std::int64_t chunk_count(const ColumnSearch& search) noexcept {
    return (search.dense.columns + search.panel_columns - 1) / search.panel_columns;
  }

  ColumnSearcher(const ColumnSearch& search, kernels::Byte* buffer) noexcept;

  std::int64_t count(std::int64_t chunk) noexcept;
  void write(const EntryArrays& to, std::int64_t before, std::int64_t next) noexcept;
  std::int64_t expected_count() noexcept;

 private:
  // Lists the indices of entries among the elements of rows [first, first + count); returns how
  // many there are.
  std::int64_t list(std::int64_t first, std::int64_t count) noexcept;
  // Puts those entries behind what their columns have.
  template <class E>
  void put(std::int64_t first, std::int64_t listed) noexcept;
  template <class E>
  void stage(const E* entries, std::int64_t count) noexcept;

  const ColumnSearch& search_;
  std::uint64_t* bits_;      // of some rows
  kernels::Byte* elements_;  // adjacent
  kernels::Byte* asked_;
  std::uint16_t* indices_;
  // Buffers of the columns, `room_` entries from one to the next, and where the entries of each
  // end.
  kernels::Byte* entries_;
  std::int64_t* ends_;
  std::int64_t room_;
  // The panel that was counted last.
  std::int64_t first_column_ = 0;
  std::int64_t column_count_ = 0;
  // Values and rows of entries go to memory line by line.
  EntryStage staged_values_;
  EntryStage staged_rows_;
};

}  // namespace tenure
