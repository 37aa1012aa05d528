// Triangular systems: substitution, row by row.
//
// Columns of the right-hand side are independent. Blocks of them are shared by threads, and the
// columns of a block are solved in step, so that each entry is read once for a block. Each sum
// takes its terms in the order of the entries, whatever the block.
#include <algorithm>
#include <atomic>
#include <cinttypes>

#include "sparse/entries.hpp"
#include "sparse/traffic.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

constexpr std::int64_t kColumns = 16;  // of a block: a few registers of sums

constexpr std::int64_t kNoRow = INT64_MAX;

template <class T>
class Substitution {
 public:
  Substitution(const tnr_sparse_view& a, std::uint32_t flags, const tnr_view_mut& x)
      : offsets_(a.major),
        columns_(a.minor),
        values_(static_cast<const T*>(a.values.data)),
        rows_(a.rows),
        is_upper_((flags & TNR_SOLVE_UPPER) != 0),
        is_unit_((flags & TNR_SOLVE_UNIT_DIAGONAL) != 0),
        is_transposed_((flags & TNR_SOLVE_TRANSPOSED) != 0),
        x_(reinterpret_cast<T*>(writable(x))),
        row_step_(stride_of(x.view, 0)),
        column_step_(x.view.rank == 2 ? stride_of(x.view, 1) : 0) {}

  // Replaces columns [first, last) of x, the right-hand side, by the solution. Returns a row
  // without a pivot, or kNoRow.
  std::int64_t solve(std::int64_t first, std::int64_t last) const noexcept {
    for (std::int64_t i = 0; i < rows_; ++i) {
      const std::int64_t row = is_upper_ != is_transposed_ ? rows_ - 1 - i : i;
      const bool has_pivot =
          is_transposed_ ? solve_column(row, first, last) : solve_row(row, first, last);
      if (!has_pivot) return row;
    }
    return kNoRow;
  }

 private:
  [[nodiscard]] T* at(std::int64_t row, std::int64_t column) const noexcept {
    return x_ + row * row_step_ + column * column_step_;
  }

  [[nodiscard]] bool solve_row(std::int64_t row, std::int64_t first,
                               std::int64_t last) const noexcept {
    const std::int64_t width = last - first;
    T sums[kColumns] = {};
    T pivot{};
    const std::int64_t end = offsets_[row + 1];
    for (std::int64_t k = offsets_[row]; k < end; ++k) {
      const std::int64_t column = columns_[k];
      const T value = values_[k];
      if (column == row) {
        pivot += value;
      } else if ((column > row) == is_upper_) {
        const T* const solved = at(column, first);
        for (std::int64_t j = 0; j < width; ++j) sums[j] += value * solved[j * column_step_];
      }
    }
    if (is_unit_) pivot = T{1};
    if (pivot == T{0}) return false;
    T* const unknown = at(row, first);
    for (std::int64_t j = 0; j < width; ++j) {
      unknown[j * column_step_] = (unknown[j * column_step_] - sums[j]) / pivot;
    }
    return true;
  }

  // The row is a column of the transposed matrix: what remains of the right-hand side is updated as
  // soon as its unknown is known.
  [[nodiscard]] bool solve_column(std::int64_t row, std::int64_t first,
                                  std::int64_t last) const noexcept {
    const std::int64_t width = last - first;
    const std::int64_t end = offsets_[row + 1];
    T pivot{};
    for (std::int64_t k = offsets_[row]; k < end; ++k) {
      if (columns_[k] == row) pivot += values_[k];
    }
    if (is_unit_) pivot = T{1};
    if (pivot == T{0}) return false;
    T* const solved = at(row, first);
    for (std::int64_t j = 0; j < width; ++j) solved[j * column_step_] /= pivot;
    for (std::int64_t k = offsets_[row]; k < end; ++k) {
      const std::int64_t column = columns_[k];
      if (column == row || (column > row) != is_upper_) continue;
      const T value = values_[k];
      T* const rest = at(column, first);
      for (std::int64_t j = 0; j < width; ++j) {
        rest[j * column_step_] -= value * solved[j * column_step_];
      }
    }
    return true;
  }

  IndexReader offsets_;
  IndexReader columns_;
  const T* values_;
  std::int64_t rows_;
  bool is_upper_;
  bool is_unit_;
  bool is_transposed_;
  T* x_;
  std::int64_t row_step_;
  std::int64_t column_step_;
};

void check_system(const tnr_sparse_view& a, std::uint32_t flags, const tnr_view& b,
                  const tnr_view& out) {
  if ((flags & ~(TNR_SOLVE_UPPER | TNR_SOLVE_UNIT_DIAGONAL | TNR_SOLVE_TRANSPOSED)) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->flags is 0x%" PRIx32 ", which has unknown bits",
         flags);
  }
  if (a.format != TNR_SPARSE_FORMAT_CSR) {
    fail(TNR_STATUS_UNSUPPORTED, "a.format is %" PRId32 " but must be CSR (2): convert it",
         a.format);
  }
  if (a.rows != a.cols) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.rows is %" PRId64 " but a.cols is %" PRId64, a.rows,
         a.cols);
  }
  if (out.rank != 1 && out.rank != 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.rank is %" PRIu32 " but must be 1 or 2", out.rank);
  }
  if (b.rank != out.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b.rank is %" PRIu32 " but out.rank is %" PRIu32, b.rank,
         out.rank);
  }
  for (std::uint32_t axis = 0; axis < out.rank; ++axis) {
    if (b.shape[axis] != out.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "b.shape[%" PRIu32 "] is %" PRId64 " but out.shape[%" PRIu32 "] is %" PRId64, axis,
           b.shape[axis], axis, out.shape[axis]);
    }
  }
  if (b.shape[0] != a.rows) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "b.shape[0] is %" PRId64 " but a.rows is %" PRId64,
         b.shape[0], a.rows);
  }
  require_dtype(b, "b", a.values.dtype, "a.values.dtype is");
  require_dtype(out, "out", a.values.dtype, "a.values.dtype is");
}

template <class T>
std::int64_t solve(const Context& context, const tnr_sparse_view& a, std::uint32_t flags,
                   const tnr_view_mut& x) {
  const Substitution<T> substitution(a, flags, x);
  const std::int64_t columns = x.view.rank == 2 ? x.view.shape[1] : 1;
  const std::int64_t blocks = (columns + kColumns - 1) / kColumns;
  std::atomic<std::int64_t> found{kNoRow};
  for_each_slice(context, blocks, [&](std::int64_t block) noexcept {
    const std::int64_t first = block * kColumns;
    const std::int64_t row = substitution.solve(first, std::min(columns, first + kColumns));
    if (row != kNoRow) found.store(row, std::memory_order_relaxed);
  });
  return found.load(std::memory_order_relaxed);
}

}  // namespace

void sparse_solve(const Context& context, std::uint32_t flags, const tnr_sparse_view& a,
                  const tnr_view& b, const tnr_view_mut& out) {
  SparseOperand operand(a, "a");
  check_view(b, "b");
  const DenseResult result(out, a);
  check_system(a, flags, b, out.view);
  Pins pins;
  pins.add(b, "b");
  const Alias alias = require_alias(out.view, b, "b", SameView::kAllowed);
  if (type_index(a.values.dtype) > static_cast<unsigned>(kernels::Type::kF32)) {
    refuse_dtype("solve", a.values.dtype);
  }
  operand.check_all();
  if (is_empty(out.view)) return count_call(TNR_OPERATION_SPARSE_SOLVE, 0, 0);
  if (alias != Alias::kSame) copy(context, b, out);
  std::int64_t row = kNoRow;
  with_float("solve", a.values.dtype, [&]<class T>(T) { row = solve<T>(context, a, flags, out); });
  if (row != kNoRow) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "the diagonal of a is 0 or has no entry in row %" PRId64
         ", so that there is no solution; out holds a mixture",
         row);
  }
  count_call(TNR_OPERATION_SPARSE_SOLVE, matrix_bytes(a) + element_bytes(b),
             element_bytes(out.view));
}

}  // namespace tenure
