// Sparse times dense, where each sum belongs to one row of the sparse matrix: rows are shared out,
// and of long ones the pieces.
#include <algorithm>
#include <vector>

#include "cpu/dispatch.hpp"
#include "dense/scalar.hpp"
#include "memory/scratch.hpp"
#include "memory/traffic.hpp"
#include "sparse/product/long_rows.hpp"
#include "sparse/product/spmm.hpp"
#include "sparse/row_slices.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Rows of a slice, at least, where all threads have some slices: parts of b that rows go over
// together should serve many.
constexpr std::int64_t kSliceRows = 256;
constexpr std::int64_t kSlicesOfThread = 8;

// The types up to here have kernels of their own for matrices without blocks.
constexpr unsigned kLastFloat = static_cast<unsigned>(kernels::Type::kF32);

// Whether the sums are those of a vector, in lanes. The columns of a matrix have the order of the
// entries, also where they are taken one by one.
bool is_vector(const SparseMatmul& call) { return call.b.columns == 1 && call.type <= kLastFloat; }

// Whether the rows of a vector follow each other; `b_step` is that of Matmul.
bool is_adjacent(const SparseMatmul& call, std::int64_t b_step) {
  return call.b.rows <= 1 || b_step == call.b.width_bytes;
}

kernels::MatmulKernel row_kernel(const SparseMatmul& call, std::int64_t columns,
                                 std::int64_t b_step) {
  const tnr_sparse_view& view = call.a.view();
  const auto index = static_cast<unsigned>(index_type(view.minor.dtype));
  const kernels::MatmulKernel of_blocks = kernels::block_matmul_kernels()[call.type][index];
  if (view.format != TNR_SPARSE_FORMAT_BSR) {
    const bool is_own = is_vector(call) || (columns != 1 && call.type <= kLastFloat);
    return is_own ? kernels::matmul_kernels()[call.type][index] : of_blocks;
  }
  if (!is_vector(call)) return of_blocks;
  const auto of_shape =
      kernels::block_column_kernels()[call.type][index](view.block_rows, view.block_cols);
  if (of_shape == nullptr) return of_blocks;
  return is_adjacent(call, b_step) ? of_shape : kernels::matmul_kernels()[call.type][index];
}

// The kernel that checks indices as it uses them; nullptr where no such kernel exists.
kernels::CheckedKernel checked_kernel(const SparseMatmul& call, std::int64_t b_step) {
  const tnr_sparse_view& view = call.a.view();
  if (view.format == TNR_SPARSE_FORMAT_BSR || !is_vector(call) || !is_adjacent(call, b_step)) {
    return nullptr;
  }
  return kernels::checked_column_kernels()[call.type]
                                          [static_cast<unsigned>(index_type(view.minor.dtype))];
}

constexpr tnr_scalar kOne = {TNR_DTYPE_U8, 0, {1}};

// CSR with long rows: their pieces, and all other rows, are shared out. A piece's sum is an
// element, so elements that are narrower than their sums are not cut.
class CutRows {
 public:
  CutRows(const SparseMatmul& call, const kernels::Matmul& matmul,
          const std::vector<LongRow>& long_rows)
      : call_(call),
        matmul_(matmul),
        kernel_(row_kernel(call, matmul.columns, matmul.b_step)),
        long_rows_(long_rows),
        sums_step_(matmul.columns * call.b.width_bytes),
        one_(to_element(kOne, call.out.view.dtype, "alpha")),
        sums_(long_rows.back().first_piece + long_rows.back().piece_count(), sums_step_) {}

  void run(const RowSlices& slices) const noexcept {
    const LongRow& last = long_rows_.back();
    const std::int64_t pieces = last.first_piece + last.piece_count();
    for_each_slice(call_.context, pieces + slices.count(), [&](std::int64_t slice) noexcept {
      if (slice < pieces) return add_piece(slice);
      add_rows(slices.begin(slice - pieces), slices.begin(slice - pieces + 1));
    });
    for (const LongRow& row : long_rows_) gather(row);
  }

  // Whether products of this type and format are cut.
  static bool takes(const SparseMatmul& call) noexcept {
    return call.a.view().format != TNR_SPARSE_FORMAT_BSR &&
           kernels::scatter_add_kernels()[call.type].sum_bytes == call.b.width_bytes &&
           call.type != static_cast<unsigned>(kernels::Type::kBool8);
  }

 private:
  void add_piece(std::int64_t piece) const noexcept {
    const LongRow& row =
        *(std::upper_bound(long_rows_.begin(), long_rows_.end(), piece,
                           [](std::int64_t p, const LongRow& r) { return p < r.first_piece; }) -
          1);
    const kernels::IndexType type = index_type(call_.a.view().minor.dtype);
    const std::int64_t first = row.first + (piece - row.first_piece) * kPieceEntries;
    Byte offsets[2 * 8];
    put_index(offsets, type, 0, first);
    put_index(offsets, type, 1, std::min(row.last, first + kPieceEntries));
    kernels::Matmul of_piece = matmul_;
    of_piece.a.offsets = offsets;
    of_piece.out = sums_.data() + piece * sums_step_;
    of_piece.out_step = sums_step_;
    of_piece.out_column_step = call_.b.width_bytes;
    of_piece.alpha = one_.bytes;
    of_piece.beta = nullptr;
    kernel_(of_piece, 0, 1);
  }

  // Adds the rows of [begin, end) that are not long.
  void add_rows(std::int64_t begin, std::int64_t end) const noexcept {
    for (const LongRow& row : long_rows_) {
      if (row.row < begin || row.row >= end) continue;
      if (begin < row.row) kernel_(matmul_, begin, row.row);
      begin = row.row + 1;
    }
    if (begin < end) kernel_(matmul_, begin, end);
  }

  // The pieces of a row in their order.
  void gather(const LongRow& row) const noexcept {
    kernels::scatter_add_kernels()[call_.type].gather(
        {.columns = matmul_.columns,
         .sums = sums_.data() + row.first_piece * sums_step_,
         .sums_step = sums_step_,
         .parts = row.piece_count(),
         .part_step = sums_step_,
         .out = matmul_.out + row.row * matmul_.out_step,
         .out_step = matmul_.out_step,
         .out_column_step = matmul_.out_column_step,
         .alpha = matmul_.alpha,
         .beta = matmul_.beta},
        0, 1);
  }

  const SparseMatmul& call_;
  const kernels::Matmul& matmul_;
  kernels::MatmulKernel kernel_;
  const std::vector<LongRow>& long_rows_;
  std::int64_t sums_step_;
  Element one_;
  Scratch sums_;
};

// Throws INVALID_ARGUMENT where an offset or an index is wrong, before any is used.
void multiply_checked(const SparseMatmul& call) {
  tnr_sparse_view view = call.a.view();
  view.owner = 0;
  view.flags = 0;
  check_entries(view, RowExtent::kRange, call.a.name());
  const SparseOperand checked(view, call.a.name(), SparseOperand::Checked{});
  multiply_rows({.context = call.context,
                 .a = checked,
                 .is_transposed = call.is_transposed,
                 .type = call.type,
                 .b = call.b,
                 .out = call.out,
                 .alpha = call.alpha,
                 .beta = call.beta});
}

}  // namespace

void multiply_rows(const SparseMatmul& call) {
  const tnr_sparse_view& view = call.a.view();
  const std::vector<LongRow> long_rows =
      CutRows::takes(call) ? tenure::long_rows(view) : std::vector<LongRow>();
  // Pieces of rows are not checked as they are used.
  if (!long_rows.empty() && !call.a.is_checked()) return multiply_checked(call);
  const std::int64_t width = call.b.width_bytes;
  const std::int64_t entry_bytes = index_bytes(view) + call.a.value_bytes();
  const std::int64_t entries = RowSlices::entry_count(view);
  const bool is_spaced = call.reads_in_place(entries);
  // Copying a row of b costs as much as some of its uses.
  const bool is_used_often = entries >= kUsesWorthCopying * call.b.rows;
  const auto b_rows = is_spaced       ? AdjacentColumns::Rows::kSpaced
                      : is_used_often ? AdjacentColumns::Rows::kInLines
                                      : AdjacentColumns::Rows::kAnywhere;
  const std::int64_t panel = is_spaced ? 1 : kPanelBytes / width;
  for (std::int64_t first = 0; first < call.b.columns; first += panel) {
    const std::int64_t columns = std::min(call.b.columns - first, panel);
    const AdjacentColumns b(call.context, call.b, first, columns, b_rows);
    const kernels::Matmul matmul = {
        .a = call.a.compressed(),
        .block_rows = view.block_rows,
        .block_cols = view.block_cols,
        .columns = columns,
        .b = b.data(),
        .b_rows = call.b.rows,
        .b_step = b.row_step(),
        .out = call.out_data(first),
        .out_step = call.out.row_step,
        .out_column_step = call.out.column_step,
        .alpha = call.alpha,
        .beta = call.beta,
    };
    const kernels::MatmulKernel kernel = row_kernel(call, columns, matmul.b_step);
    const kernels::CheckedKernel checked =
        call.a.is_checked() ? nullptr : checked_kernel(call, matmul.b_step);
    const std::int64_t bytes = entries * (entry_bytes + (columns - 1) * width) +
                               call.out.rows * (index_bytes(view) + 2 * columns * width);
    const std::int64_t most_slices = std::max<std::int64_t>(
        kSlicesOfThread * static_cast<std::int64_t>(call.context.thread_count()),
        call.out.rows / kSliceRows);
    const RowSlices slices(view, std::min(slice_count_of(call.context, bytes), most_slices));
    if (!long_rows.empty()) {
      CutRows(call, matmul, long_rows).run(slices);
      continue;
    }
    for_each_slice(call.context, slices.count(), [&](std::int64_t slice) noexcept {
      const std::int64_t begin = slices.begin(slice);
      const std::int64_t end = slices.begin(slice + 1);
      if (checked != nullptr) {
        call.a.for_each_run_of_offsets(begin, end, [&](std::int64_t row, std::int64_t last) {
          return checked(matmul, row, last);
        });
      } else {
        call.a.for_each_run(
            begin, end, [&](std::int64_t row, std::int64_t last) { kernel(matmul, row, last); });
      }
    });
  }
}

}  // namespace tenure
