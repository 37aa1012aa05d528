// Sparse times dense: a call whose operands have been checked, and the algorithms for it.
//
// Where each sum belongs to one row of the sparse matrix, rows are shared out (multiply_rows).
// Where the entries of a row go to many sums (CSC, transposed CSR, coordinates), threads have
// separate sums first (multiply_scatter).
#pragma once

#include <cstdint>

#include "cpu/spmm.hpp"
#include "sparse/operand.hpp"
#include "sparse/product/dense_columns.hpp"
#include "tenure/context.hpp"

namespace tenure {

// The part of a row of b that one pass over the entries takes: as much as the widest registers hold
// the sums of, so that a panel of as many rows as a cache holds stays there.
inline constexpr std::int64_t kPanelBytes = 256;

// Everything of a call that has been checked.
struct SparseMatmul {
  const Context& context;
  const SparseOperand& a;
  bool is_transposed;  // with regard to a.compressed() or a.coordinates()
  unsigned type;
  DenseColumns b;
  DenseColumns out;
  const kernels::Byte* alpha;
  const kernels::Byte* beta;  // nullptr: 0

  // Whether `entries` are too few to be worth a copy of b, rows that none of them names among them:
  // then columns are read in place, one by one.
  [[nodiscard]] bool reads_in_place(std::int64_t entries) const noexcept {
    return entries < b.rows && AdjacentColumns::are_copied(b, b.columns);
  }
  [[nodiscard]] kernels::Byte* out_data(std::int64_t first_column) const noexcept {
    return const_cast<kernels::Byte*>(out.data) + first_column * out.column_step;
  }
};

// For CSR and BSR as they are, and CSC transposed.
void multiply_rows(const SparseMatmul& call);

// For coordinates, as CSR whose offsets have to be made. False where the entries are not ordered by
// row, whatever the flags say, or where there are too many for an offset.
bool multiply_sorted(const SparseMatmul& call);

// For all others.
void multiply_scatter(const SparseMatmul& call);

}  // namespace tenure
