// Sparse matrices of any format and dtype over a list of positions, and views of a part of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "memory.hpp"

namespace tenure::sweeps {

struct Position {
  std::int64_t row;
  std::int64_t col;
};

// Positions in any order, some perhaps more than once. For BSR they are those of blocks, and so are
// the extents.
struct Pattern {
  std::string name;
  std::int64_t rows;
  std::int64_t cols;
  std::vector<Position> positions;
  tnr_sparse_format format = 0;  // the only one that the short sweeps take it in; 0: each
};

// How a matrix of a pattern is stored.
struct Storage {
  tnr_sparse_format format = TNR_SPARSE_FORMAT_CSR;
  tnr_dtype index_dtype = TNR_DTYPE_I32;
  tnr_dtype value_dtype = TNR_DTYPE_F32;
  std::int64_t block_rows = 1;  // of BSR
  std::int64_t block_cols = 1;

  [[nodiscard]] std::string name() const;
};

class Matrix {
 public:
  // In compressed formats entries keep the order that those of their row (CSC: column) have in the
  // pattern. The values depend only on the positions in the pattern.
  Matrix(const Pattern& pattern, const Storage& storage);
  // A copy of the entries that a view has, and of no others.
  explicit Matrix(const tnr_sparse_view& view);

  // A view of lent memory, with the given flags, true or not.
  [[nodiscard]] tnr_sparse_view view(std::uint32_t flags = 0) const;
  // Rows [first, end), CSC: columns, BSR: rows of blocks. Not for COO.
  [[nodiscard]] tnr_sparse_view range(std::int64_t first, std::int64_t end,
                                      std::uint32_t flags = 0) const;

 private:
  Storage storage_;
  std::int64_t rows_;  // of blocks
  std::int64_t cols_;
  Elements major_;
  Elements minor_;
  Elements values_;
};

// The value of entry number `index` of a pattern: few numbers, so that sums of them are exact.
std::int64_t value_of(std::int64_t index);

// A number of an index array.
std::int64_t index_at(const tnr_view& indices, std::int64_t position);
// Rows by which the entries are compressed, of BSR rows of blocks; 0 of COO.
std::int64_t major_extent(const tnr_sparse_view& view);
// The entries that belong to the matrix.
struct EntryRange {
  std::int64_t begin;
  std::int64_t end;
};
EntryRange entries_of(const tnr_sparse_view& view);

}  // namespace tenure::sweeps
