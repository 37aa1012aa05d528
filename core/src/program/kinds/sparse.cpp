// Sparse matrices: a node has their parts for operands, and looks at them as a call does.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "program/kinds/calls.hpp"
#include "program/kinds/operand_types.hpp"
#include "program/unbacked.hpp"
#include "tenure/ops.hpp"
#include "tenure/sparse.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Places of a matrix's parts among the operands, and of the operands behind them.
enum : std::size_t { kMajor, kMinor, kValues, kFirst, kSecond };

tnr_sparse_view matrix_of(const NodeCall& call, const tnr_view& major, const tnr_view& minor,
                          const tnr_view& values) {
  const tnr_sparse_node_attributes& given = call.node.attributes.sparse;
  tnr_sparse_view matrix{};
  matrix.struct_size = sizeof matrix;
  matrix.format = given.format == 0 ? TNR_SPARSE_FORMAT_CSR : given.format;
  matrix.flags = given.flags;
  matrix.rows = call.numbers[0];
  matrix.cols = call.numbers[1];
  matrix.block_rows = std::max<std::int64_t>(given.block_rows, 1);
  matrix.block_cols = std::max<std::int64_t>(given.block_cols, 1);
  matrix.major = major;
  matrix.minor = minor;
  matrix.values = values;
  return matrix;
}

tnr_sparse_view matrix_of(const NodeCall& call, const OperandView* operands) {
  return matrix_of(call, *operands[kMajor].view, *operands[kMinor].view, *operands[kValues].view);
}

tnr_orientation orientation_of(const GraphNode& node) noexcept {
  const tnr_orientation given = node.attributes.sparse.orientation;
  return given == 0 ? TNR_ORIENTATION_AS_IS : given;
}

// Blocks of one element are none.
void require_taken(const GraphNode& node) {
  const tnr_sparse_node_attributes& given = node.attributes.sparse;
  const bool has_flags = node.code == TNR_NODE_SPARSE_SDDMM || node.code == TNR_NODE_SPARSE_SOLVE;
  const bool has_blocks = given.format == TNR_SPARSE_FORMAT_BSR;
  const struct {
    const char* name;
    bool is_taken;
  } fields[] = {{"orientation", given.orientation == 0 || node.code == TNR_NODE_SPARSE_MATMUL},
                {"call_flags", given.call_flags == 0 || has_flags},
                {"block_rows", given.block_rows <= 1 || has_blocks},
                {"block_cols", given.block_cols <= 1 || has_blocks}};
  for (const auto& [name, is_taken] : fields) {
    if (is_taken) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->%s is not 0 but %s of format %" PRId32 " takes none", name,
         operation_name(node), given.format);
  }
}

// A node's sparse matrix, and the matrix without rows, columns and entries that has the same
// dtypes: by a call of it dtypes, codes and flags are checked.
class Matrix {
 public:
  Matrix(const NodeCall& call, const OperandType* operands)
      : values_(array(operands[kValues], "values")) {
    const ArrayType& major = array(operands[kMajor], "major");
    const ArrayType& minor = array(operands[kMinor], "minor");
    require_taken(call.node);
    const tnr_sparse_view matrix =
        matrix_of(call, unbacked_view(major), unbacked_view(minor), unbacked_view(values_));
    check_sparse(matrix, "a");
    rows_ = matrix.rows;
    cols_ = matrix.cols;
    empty_ = matrix;
    empty_.rows = empty_.cols = 0;
    // Offsets of no rows are one offset.
    static constexpr std::int64_t kNoOffset = 0;
    const bool is_coo = matrix.format == TNR_SPARSE_FORMAT_COO;
    const std::int64_t offsets = is_coo ? 0 : 1;
    empty_.major = make_view(&kNoOffset, sizeof kNoOffset, 0, major.dtype, 1, &offsets, nullptr);
    empty_.minor = of_nothing(minor);
    const std::int64_t blocks[] = {0, matrix.block_rows, matrix.block_cols};
    empty_.values = make_view(&kNoOffset, 0, 0, values_.dtype, values_.rank, blocks, nullptr);
  }

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t cols() const noexcept { return cols_; }
  [[nodiscard]] const ArrayType& values() const noexcept { return values_; }
  [[nodiscard]] tnr_dtype dtype() const noexcept { return values_.dtype; }
  [[nodiscard]] const tnr_sparse_view& empty() const noexcept { return empty_; }

 private:
  const ArrayType& values_;
  std::int64_t rows_;
  std::int64_t cols_;
  tnr_sparse_view empty_;
};

// Requires a vector or a matrix with `rows` rows.
const ArrayType& require_rows(const OperandType& operand, const char* name, std::int64_t rows) {
  const ArrayType& dense = array(operand, name);
  if ((dense.rank == 1 || dense.rank == 2) && dense.shape[0] == rows) return dense;
  ShapeText text;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s has shape %s but must be a vector or a matrix of %" PRId64 " rows", name,
       shape_of(dense, text), rows);
}

const ArrayType& require_shape(const OperandType& operand, const char* name, std::uint32_t rank,
                               std::int64_t first, std::int64_t second) {
  const ArrayType& dense = array(operand, name);
  const std::int64_t expected[] = {first, second};
  if (dense.rank == rank && std::equal(dense.shape, dense.shape + rank, expected)) return dense;
  ShapeText text;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s has shape %s but must have %s", name, shape_of(dense, text),
       shape_text(rank, expected).text);
}

// Runs a call that changes values in place: copies the values to `out` and calls `change` on these.
template <class Call>
void run_on_values(const Context& context, const NodeCall& call, const OperandView* operands,
                   const tnr_view_mut& out, const Call& change) {
  copy(context, *operands[kValues].view, out);
  tnr_view_mut values = out;
  values.view.flags = 0;
  change(tnr_sparse_view_mut{
      matrix_of(call, *operands[kMajor].view, *operands[kMinor].view, values.view)});
}

}  // namespace

ArrayType infer_sparse_to_dense(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  const ArrayType result = {a.dtype(), 2, {a.rows(), a.cols()}};
  sparse_to_dense(kDefaultContext, a.empty(), {of_nothing(result)});
  return result;
}

void run_sparse_to_dense(const Context& context, const NodeCall& call, const OperandView* operands,
                         const tnr_view_mut& out) {
  sparse_to_dense(context, matrix_of(call, operands), out);
}

ArrayType infer_sparse_matmul(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  const bool is_transposed = orientation_of(call.node) == TNR_ORIENTATION_TRANSPOSED;
  ArrayType result = require_rows(operands[kFirst], "b", is_transposed ? a.rows() : a.cols());
  sparse_matmul(kDefaultContext, tnr_scalar_i64(1), a.empty(), orientation_of(call.node),
                of_nothing(result), tnr_scalar_i64(0), {of_nothing(result)});
  result.shape[0] = is_transposed ? a.cols() : a.rows();
  return result;
}

void run_sparse_matmul(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  sparse_matmul(context, tnr_scalar_i64(1), matrix_of(call, operands), orientation_of(call.node),
                *operands[kFirst].view, tnr_scalar_i64(0), out);
}

ArrayType infer_sparse_sddmm(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  const ArrayType& x = array(operands[kFirst], "x");
  (void)require_shape(operands[kFirst], "x", 2, a.rows(), x.shape[1]);
  const ArrayType& y = require_shape(operands[kSecond], "y", 2, x.shape[1], a.cols());
  sparse_sddmm(kDefaultContext, tnr_scalar_i64(1), a.empty(),
               call.node.attributes.sparse.call_flags, of_nothing(x), of_nothing(y),
               {a.empty().values});
  return a.values();
}

void run_sparse_sddmm(const Context& context, const NodeCall& call, const OperandView* operands,
                      const tnr_view_mut& out) {
  sparse_sddmm(context, tnr_scalar_i64(1), matrix_of(call, operands),
               call.node.attributes.sparse.call_flags, *operands[kFirst].view,
               *operands[kSecond].view, out);
}

ArrayType infer_sparse_scale(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  const auto axis = static_cast<std::uint32_t>(call.node.op());
  const ArrayType& factors =
      require_shape(operands[kFirst], "factors", 1, axis == 0 ? a.rows() : a.cols(), 0);
  sparse_scale(kDefaultContext, of_nothing(factors), axis, {a.empty()});
  return a.values();
}

void run_sparse_scale(const Context& context, const NodeCall& call, const OperandView* operands,
                      const tnr_view_mut& out) {
  run_on_values(context, call, operands, out, [&](const tnr_sparse_view_mut& a) {
    sparse_scale(context, *operands[kFirst].view, static_cast<std::uint32_t>(call.node.op()), a);
  });
}

ArrayType infer_sparse_softmax(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  sparse_softmax(kDefaultContext, {a.empty()});
  return a.values();
}

void run_sparse_softmax(const Context& context, const NodeCall& call, const OperandView* operands,
                        const tnr_view_mut& out) {
  run_on_values(context, call, operands, out,
                [&](const tnr_sparse_view_mut& a) { sparse_softmax(context, a); });
}

ArrayType infer_sparse_reduce(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  const tnr_reduce_op op = call.node.op();
  const bool is_extreme = op == TNR_REDUCE_OP_MIN || op == TNR_REDUCE_OP_MAX;
  const bool is_wide =
      op == TNR_REDUCE_OP_COUNT || (op == TNR_REDUCE_OP_SUM && a.dtype() == TNR_DTYPE_I32);
  const std::uint32_t axes = call.node.flags;
  const bool is_all = axes == 3;
  const bool over_rows = (axes & 1) != 0;
  if (is_extreme && ((a.rows() == 0 && over_rows) || (a.cols() == 0 && axes != 1))) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a matrix of shape [%" PRId64 ", %" PRId64 "] has no extremes", a.rows(), a.cols());
  }
  const ArrayType result = {is_wide ? TNR_DTYPE_I64 : a.dtype(),
                            is_all ? 0u : 1u,
                            {is_all      ? 0
                             : over_rows ? a.cols()
                                         : a.rows()}};
  // There are none of nothing, so that the values are counted.
  std::uint64_t sum = 0;
  const ArrayType summed = {is_extreme ? TNR_DTYPE_I64 : result.dtype, result.rank, {}};
  sparse_reduce(kDefaultContext, is_extreme ? TNR_REDUCE_OP_COUNT : op, a.empty(), axes,
                {make_view(&sum, sizeof sum, 0, summed.dtype, summed.rank, summed.shape, nullptr)});
  return result;
}

void run_sparse_reduce(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  sparse_reduce(context, call.node.op(), matrix_of(call, operands), call.node.flags, out);
}

ArrayType infer_sparse_norm(const NodeCall& call, const OperandType* operands) {
  (void)sparse_norm(kDefaultContext, call.node.op(), Matrix(call, operands).empty());
  return {TNR_DTYPE_F64, 0, {}};
}

void run_sparse_norm(const Context& context, const NodeCall& call, const OperandView* operands,
                     const tnr_view_mut& out) {
  const double norm = sparse_norm(context, call.node.op(), matrix_of(call, operands));
  std::memcpy(writable(out), &norm, sizeof norm);
}

ArrayType infer_sparse_diagonal(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  const ArrayType result = {a.dtype(), 1, {std::min(a.rows(), a.cols())}};
  sparse_diagonal(a.empty(), {of_nothing(result)});
  return result;
}

void run_sparse_diagonal(const Context&, const NodeCall& call, const OperandView* operands,
                         const tnr_view_mut& out) {
  sparse_diagonal(matrix_of(call, operands), out);
}

ArrayType infer_sparse_solve(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  if (a.rows() != a.cols()) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a has %" PRId64 " rows and %" PRId64 " columns", a.rows(),
         a.cols());
  }
  const ArrayType& b = require_rows(operands[kFirst], "b", a.rows());
  sparse_solve(kDefaultContext, call.node.attributes.sparse.call_flags, a.empty(), of_nothing(b),
               {of_nothing(b)});
  return b;
}

void run_sparse_solve(const Context& context, const NodeCall& call, const OperandView* operands,
                      const tnr_view_mut& out) {
  sparse_solve(context, call.node.attributes.sparse.call_flags, matrix_of(call, operands),
               *operands[kFirst].view, out);
}

ArrayType infer_sparse_accumulate(const NodeCall& call, const OperandType* operands) {
  const Matrix a(call, operands);
  const ArrayType& dense = require_shape(operands[kFirst], "dense", 2, a.rows(), a.cols());
  sparse_accumulate(kDefaultContext, a.empty(), {of_nothing(dense)});
  return dense;
}

void run_sparse_accumulate(const Context& context, const NodeCall& call,
                           const OperandView* operands, const tnr_view_mut& out) {
  copy(context, *operands[kFirst].view, out);
  sparse_accumulate(context, matrix_of(call, operands), out);
}

}  // namespace tenure
