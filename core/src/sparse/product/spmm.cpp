// Sparse times dense: the operands of a call, and which way each matrix of it takes.
#include "sparse/product/spmm.hpp"

#include <cinttypes>

#include "cpu/dispatch.hpp"
#include "dense/scalar.hpp"
#include "sparse/batch.hpp"
#include "sparse/device_parts.hpp"
#include "sparse/index_array.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Parameters that all matrices of a batch share.
struct Factors {
  bool is_transposed;
  unsigned type;
  Element alpha;
  Element beta;
  bool has_beta;
};

// One matrix by operands that have been checked.
void multiply(const Context& context, const SparseOperand& a, const Factors& factors,
              const tnr_view& b, const tnr_view& out) {
  const tnr_sparse_format format = a.view().format;
  const SparseMatmul call = {
      .context = context,
      .a = a,
      .is_transposed = factors.is_transposed != (format == TNR_SPARSE_FORMAT_CSC),
      .type = factors.type,
      .b = DenseColumns(b),
      .out = DenseColumns(out),
      .alpha = factors.alpha.bytes,
      .beta = factors.has_beta ? factors.beta.bytes : nullptr};
  const bool is_coo = format == TNR_SPARSE_FORMAT_COO;
  // Unchecked entries are checked as they are used, which rows made of them are not. Offsets of
  // more rows than there are entries take longer to make than sums anywhere.
  const bool may_be_rows = is_coo && !call.is_transposed && a.is_checked() &&
                           (a.view().flags & TNR_SPARSE_SORTED) != 0 &&
                           a.view().minor.shape[0] >= a.view().rows;
  if (may_be_rows && multiply_sorted(call)) return;
  if (is_coo || call.is_transposed) {
    multiply_scatter(call);
  } else {
    multiply_rows(call);
  }
  a.require_valid();
}

// A call's only matrix. For many columns all rows are checked before, so that kernels have them at
// once. That takes less time than it saves.
void multiply_one(const Context& context, SparseOperand& a, const Factors& factors,
                  const tnr_view& b, const tnr_view& out) {
  constexpr std::int64_t kManyBytes = 64;  // of a row of b
  const DenseColumns columns(b);
  const bool are_many = columns.columns * columns.width_bytes >= kManyBytes;
  if (are_many && a.view().format != TNR_SPARSE_FORMAT_COO) a.check_all();
  multiply(context, a, factors, b, out);
}

// `b` has a matrix, or a vector, for each of the batch, or is shared by all.
void multiply_batch(const Context& context, const BatchOperand& a, const Factors& factors,
                    const tnr_view& b, const tnr_view& out) {
  const bool is_shared = b.rank < out.rank;
  const DenseColumns one(index(out, 0, 0));
  const std::int64_t entry_bytes =
      index_bytes(a.view()) + a.view().block_rows * a.view().block_cols * one.columns *
                                  static_cast<std::int64_t>(element_size(out.dtype));
  const std::int64_t sum_bytes = one.rows * one.columns * one.width_bytes * 2;
  for_each_matrix(
      context, a,
      [&](std::int64_t i) noexcept { return sum_bytes + a.entry_count(i) * entry_bytes; },
      [&](const Context& own, std::int64_t i) {
        const tnr_sparse_view matrix = a.matrix(i);
        const SparseOperand operand(matrix, a);
        const tnr_view of_b = is_shared ? b : index(b, 0, i);
        const tnr_view of_out = index(out, 0, i);
        multiply(own, operand, factors, of_b, of_out);
      });
}

// Checks ranks and extents of `b` and `out` for a batch. Both have the matrices of the batch along
// an additional first axis, or only `out` where all matrices share `b`.
void check_batch_shapes(const tnr_sparse_view& a, const tnr_view& b, const tnr_view& out,
                        const ProductExtent& b_rows, const ProductExtent& out_rows) {
  const bool is_shared = out.rank == b.rank + 1;
  const std::uint32_t b_front = is_shared ? 0 : 1;
  if (b.rank != b_front + 1 && b.rank != b_front + 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "b.rank is %" PRIu32 " but must be 2 or 3, or one less than that of out, as a is a batch",
         b.rank);
  }
  if (!is_shared && out.rank != b.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "out.rank is %" PRIu32 " but must be %" PRIu32
         ", as b's, or one more where all of the batch share b",
         out.rank, b.rank);
  }
  constexpr char kCount[] = "the number of matrices of a";
  require_extent(out, "out", 0, batch_count(a), kCount);
  if (!is_shared) require_extent(b, "b", 0, batch_count(a), kCount);
  require_extent(b, "b", b_front, b_rows.count, b_rows.whose);
  require_extent(out, "out", 1, out_rows.count, out_rows.whose);
  if (b.rank == b_front + 2)
    require_extent(out, "out", 2, b.shape[b_front + 1], "the columns of b");
}

void check_shapes(const tnr_sparse_view& a, bool is_transposed, const tnr_view& b,
                  const tnr_view& out) {
  const ProductExtent b_rows = is_transposed
                                   ? ProductExtent{a.rows, "the rows of a, which is transposed"}
                                   : ProductExtent{a.cols, "the columns of a"};
  const ProductExtent out_rows =
      is_transposed ? ProductExtent{a.cols, "the columns of a, which is transposed"}
                    : ProductExtent{a.rows, "the rows of a"};
  if (is_batch(a)) return check_batch_shapes(a, b, out, b_rows, out_rows);
  require_product_shapes(b, out, b_rows, out_rows);
}

Factors factors_of(const tnr_scalar& alpha, bool is_transposed, const tnr_scalar& beta,
                   tnr_dtype dtype) {
  const unsigned type = type_index(dtype);
  if (type == kNoType || kernels::block_matmul_kernels()[type][0] == nullptr) {
    refuse_dtype("matmul", dtype);
  }
  const tnr_dtype computed = computed_dtype(dtype);
  Factors factors = {.is_transposed = is_transposed,
                     .type = type,
                     .alpha = to_element(alpha, computed, "alpha"),
                     .beta = to_element(beta, computed, "beta"),
                     .has_beta = false};
  factors.has_beta = !is_zero(factors.beta, computed);
  return factors;
}

void check_apart(const tnr_sparse_view& a, const tnr_view& b, const tnr_view& out) {
  const SparseNames& names = sparse_names(a.format);
  require_alias(out, b, "b", SameView::kRefused);
  require_alias(out, a.values, "a.values", SameView::kRefused);
  require_alias(out, a.major, names.major, SameView::kRefused);
  require_alias(out, a.minor, names.minor, SameView::kRefused);
  if (is_batch(a)) require_alias(out, a.batch_offsets, "batch_offsets", SameView::kRefused);
}

// Checks operands whose views have passed their own checks; pins b and out.
Factors check_operands(const tnr_scalar& alpha, const tnr_sparse_view& a, bool is_transposed,
                       const tnr_view& b, const tnr_scalar& beta, const tnr_view_mut& out,
                       Pins& pins) {
  check_shapes(a, is_transposed, b, out.view);
  const Factors factors = factors_of(alpha, is_transposed, beta, a.values.dtype);
  require_dtype(b, "b", a.values.dtype, "a.values.dtype is");
  require_dtype(out.view, "out", a.values.dtype, "a.values.dtype is");
  pins.add_mut(out, "out");
  pins.add(b, "b");
  check_apart(a, b, out.view);
  return factors;
}

void count_product(std::uint64_t matrix_bytes, const Factors& factors, const tnr_view& b,
                   const tnr_view& out) {
  // With a beta of 0 the output is not read.
  const std::uint64_t out_bytes = element_bytes(out);
  count_call(TNR_OPERATION_SPARSE_MATMUL,
             matrix_bytes + element_bytes(b) + (factors.has_beta ? out_bytes : 0), out_bytes);
}

// Devices take rows only: where the entries of a row go to many sums, they would be added in an
// order that changes from run to run.
void multiply_on(const DeviceQueue& queue, const tnr_scalar& alpha, const tnr_sparse_view& a,
                 bool is_transposed, const tnr_view& b, const tnr_scalar& beta,
                 const tnr_view_mut& out) {
  const tnr_device device = queue.device();
  check_view_mut(out, "out", device);
  check_view(b, "b", device);
  const PinnedSparse pinned(a, "a", PinnedSparse::Access::kRead, PinnedSparse::Batches::kRefused,
                            device);
  Pins pins;
  const Factors factors = check_operands(alpha, a, is_transposed, b, beta, out, pins);
  require_none(device_refusal(
      device, TNR_NODE_SPARSE_MATMUL,
      {.format = a.format, .dtype = a.values.dtype, .is_transposed = is_transposed}));
  bool is_right = true;
  queue.enqueue(DeviceSparseMatmul{.a = a,
                                   .b = b,
                                   .out = out,
                                   .alpha = factors.alpha.bytes,
                                   .beta = factors.has_beta ? factors.beta.bytes : nullptr,
                                   .is_trusted = pinned.is_trusted(),
                                   .a_pins = pinned.pins(),
                                   .pins = pins,
                                   .is_right = is_right});
  if (!is_right) refuse_entries_on(queue, a, "a");
  if (is_empty(out.view)) return count_call(TNR_OPERATION_SPARSE_MATMUL, 0, 0);
  count_product(device_matrix_bytes(a), factors, b, out.view);
}

}  // namespace

void sparse_matmul(const Context& context, const tnr_scalar& alpha, const tnr_sparse_view& a,
                   tnr_orientation orientation, const tnr_view& b, const tnr_scalar& beta,
                   const tnr_view_mut& out) {
  if (orientation != TNR_ORIENTATION_AS_IS && orientation != TNR_ORIENTATION_TRANSPOSED) {
    refuse_code("orientation", orientation);
  }
  const bool is_transposed = orientation == TNR_ORIENTATION_TRANSPOSED;
  if (is_on_device(out.view)) [[unlikely]] {
    return multiply_on(queue_of(context, out.view, "out"), alpha, a, is_transposed, b, beta, out);
  }
  Pins pins;
  check_view_mut(out, "out");
  check_view(b, "b");
  const auto run = [&](auto&& operand, const auto& multiply_all) {
    const Factors factors = check_operands(alpha, a, is_transposed, b, beta, out, pins);
    if (is_empty(out.view)) {
      operand.check_all();
      return count_call(TNR_OPERATION_SPARSE_MATMUL, 0, 0);
    }
    multiply_all(context, operand, factors, b, out.view);
    count_product(matrix_bytes(a), factors, b, out.view);
  };
  if (is_batch(a)) return run(BatchOperand(a, "a"), multiply_batch);
  run(SparseOperand(a, "a"), multiply_one);
}

}  // namespace tenure
