// Derivatives of operations on sparse matrices: of the values of their entries and of dense
// operands. The memory of gradients of values is linear in the entries.
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"

namespace tenure {
namespace {

using kernels::Reduce;
using kernels::Unary;

// The node's matrix, also with other values at its entries.
class Entries {
 public:
  explicit Entries(Derivation& at)
      : terms_(at.terms()),
        attributes_(at.node().attributes.sparse),
        numbers_(at.node().numbers),
        major_(at.operand(0)),
        minor_(at.operand(1)),
        values_(at.operand(2)) {
    attributes_.orientation = 0;
    attributes_.call_flags = 0;
  }

  [[nodiscard]] Term values() const { return values_; }
  [[nodiscard]] std::int64_t rows() const { return numbers_[0]; }
  [[nodiscard]] std::int64_t cols() const { return numbers_[1]; }

  struct Parts {
    Term values;
    std::vector<Term> others = {};  // operands behind the matrix
    std::uint32_t axes = 0;
    tnr_orientation orientation = 0;
    std::uint32_t call_flags = 0;
  };
  Term node(std::uint32_t code, const Parts& parts) const {
    NodeAttributes attributes = {};
    attributes.sparse = attributes_;
    attributes.sparse.struct_size = sizeof attributes.sparse;
    attributes.sparse.orientation = parts.orientation;
    attributes.sparse.call_flags = parts.call_flags;
    std::vector<std::uint32_t> operands = {major_.value(), minor_.value(),
                                           adjacent(parts.values).value()};
    for (const Term& other : parts.others) operands.push_back(other.value());
    return terms_.node(code, {.operands = operands,
                              .numbers = numbers_,
                              .flags = parts.axes,
                              .attributes = &attributes});
  }
  // x y at the entries.
  Term product(Term x, Term y) const {
    return node(TNR_NODE_SPARSE_SDDMM, {.values = values_, .others = {x, y}});
  }
  // The element of a vector for the row, or the column, of each entry.
  Term at_rows(Term of) const { return spread(of, rows(), 0); }
  Term at_cols(Term of) const { return spread(of, cols(), 1); }
  // The row or the column of each entry, as i64.
  Term indices(unsigned axis) const {
    return spread(terms_.count_up(numbers_[axis]), numbers_[axis], axis);
  }
  // The elements of a dense matrix at the entries.
  Term sample(Term dense) const {
    const Term width = terms_.as_array(cols(), TNR_DTYPE_I64);
    const Term flat = reshape(dense, {terms_.combine(TNR_EXTENT_OP_MUL, rows(), cols())});
    return take(flat, indices(0) * width + indices(1), 0);
  }
  // Sums of rows (`axes` 2), of columns (1) or of all entries (3).
  Term sum(Term values, std::uint32_t axes) const {
    return node(TNR_NODE_SPARSE_REDUCE + TNR_REDUCE_OP_SUM, {.values = values, .axes = axes});
  }
  // For each entry the result for its row, column, or the matrix.
  Term at_results(Term of, std::uint32_t axes) const {
    if (axes == 3) return broadcast_like(of, values_);
    return axes == 2 ? at_rows(of) : at_cols(of);
  }

 private:
  // Values of a matrix have no gaps: those of a view, an input or a constant are copied.
  Term adjacent(Term values) const {
    const GraphNode* const node = terms_.graph().node_of(values.value());
    const bool may_have_gaps =
        values.rank() > 1 || node == nullptr || operation_of(*node).computes == Computes::kView;
    if (!may_have_gaps || values.value() == values_.value()) return values;
    return terms_.node(TNR_NODE_CONCAT, {.operands = {values.value()}, .numbers = {0}});
  }
  Term spread(Term of, std::int64_t extent, unsigned axis) const {
    const Term zero =
        broadcast(terms_.constant(tnr_scalar_i64(0), of.dtype()), terms_.numbers_of(values_));
    const Term one = terms_.constant(tnr_scalar_i64(1), of.dtype());
    const Term x = axis == 0 ? reshape(of, {extent, 1}) : broadcast(one, {rows(), 1});
    const Term y = axis == 0 ? broadcast(one, {1, cols()}) : reshape(of, {1, extent});
    return node(TNR_NODE_SPARSE_SDDMM, {.values = zero, .others = {x, y}});
  }

  Terms& terms_;
  tnr_sparse_node_attributes attributes_;
  std::vector<std::int64_t> numbers_;
  Term major_;
  Term minor_;
  Term values_;
};

// A vector as a matrix of one column.
Term as_columns(Term a) {
  if (a.rank() == 2) return a;
  return reshape(a, {a.terms().numbers_of(a)[0], 1});
}

}  // namespace

void derive_sparse_to_dense(Derivation& at) { at.give(2, Entries(at).sample(at.gradient())); }

void derive_sparse_accumulate(Derivation& at) {
  if (at.wants(2)) at.give(2, Entries(at).sample(at.gradient()));
  if (at.wants(3)) at.give(3, at.gradient());
}

void derive_sparse_matmul(Derivation& at) {
  const Entries a(at);
  const bool is_transposed = at.node().attributes.sparse.orientation == TNR_ORIENTATION_TRANSPOSED;
  const Term b = at.operand(3);
  const Term g = at.gradient();
  if (at.wants(2)) {
    const Term x = as_columns(is_transposed ? b : g);
    const Term y = as_columns(is_transposed ? g : b);
    at.give(2, a.product(x, transposed(y)));
  }
  if (!at.wants(3)) return;
  at.give(3, a.node(TNR_NODE_SPARSE_MATMUL,
                    {.values = a.values(),
                     .others = {g},
                     .orientation =
                         is_transposed ? TNR_ORIENTATION_AS_IS : TNR_ORIENTATION_TRANSPOSED}));
}

// For a x = b the gradient of b solves the transposed system. The gradient of a is the negative
// product of that solution and the transposed x.
void derive_sparse_solve(Derivation& at) {
  const Entries a(at);
  const std::uint32_t flags = at.node().attributes.sparse.call_flags;
  const Term b = a.node(TNR_NODE_SPARSE_SOLVE, {.values = a.values(),
                                                .others = {at.gradient()},
                                                .call_flags = flags ^ TNR_SOLVE_TRANSPOSED});
  if (at.wants(3)) at.give(3, b);
  if (!at.wants(2)) return;
  const bool is_transposed = (flags & TNR_SOLVE_TRANSPOSED) != 0;
  const Term x = as_columns(is_transposed ? at.result() : b);
  const Term y = as_columns(is_transposed ? b : at.result());
  const Term part = -a.product(x, transposed(y));
  // Entries that the solution does not read.
  const Term row = a.indices(0);
  const Term column = a.indices(1);
  const Term above = (flags & TNR_SOLVE_UPPER) != 0 ? row : column;
  const Term below = (flags & TNR_SOLVE_UPPER) != 0 ? column : row;
  const bool is_unit = (flags & TNR_SOLVE_UNIT_DIAGONAL) != 0;
  at.give(2, select(is_unit ? above < below : above <= below, part, 0));
}

void derive_sparse_sddmm(Derivation& at) {
  const Entries a(at);
  const bool times_values = (at.node().attributes.sparse.call_flags & TNR_SDDMM_TIMES_VALUES) != 0;
  const Term x = at.operand(3);
  const Term y = at.operand(4);
  const Term g = at.gradient();
  if (times_values && at.wants(2)) at.give(2, g * a.product(x, y));
  const Term factors = times_values ? g * a.values() : g;
  if (at.wants(3))
    at.give(3, a.node(TNR_NODE_SPARSE_MATMUL, {.values = factors, .others = {transposed(y)}}));
  if (!at.wants(4)) return;
  at.give(4, transposed(a.node(
                 TNR_NODE_SPARSE_MATMUL,
                 {.values = factors, .others = {x}, .orientation = TNR_ORIENTATION_TRANSPOSED})));
}

void derive_sparse_scale(Derivation& at) {
  const Entries a(at);
  const Term g = at.gradient();
  if (at.wants(2)) at.give(2, a.node(at.node().code, {.values = g, .others = {at.operand(3)}}));
  if (at.wants(3)) at.give(3, a.sum(g * a.values(), at.node().op() == 0 ? 2 : 1));
}

void derive_sparse_softmax(Derivation& at) {
  const Entries a(at);
  const Term y = at.result();
  const Term g = at.gradient();
  at.give(2, y * (g - a.at_rows(a.sum(g * y, 2))));
}

void derive_sparse_reduce(Derivation& at) {
  const Entries a(at);
  const std::uint32_t axes = at.node().flags;
  const Term g = at.gradient();
  if (at.node().op() == TNR_REDUCE_OP_SUM) return at.give(2, a.at_results(g, axes));
  // Elements that are equal to the extreme have the same share, missing ones that are 0 too.
  const Term y = at.result();
  Terms& terms = at.terms();
  const Term is_taken = a.values() == a.at_results(y, axes) || is_nan(a.values());
  const Term ones = ones_like(a.values());
  const Term taken = select(is_taken, ones, 0);
  std::int64_t elements = axes == 2 ? a.cols() : a.rows();
  if (axes == 3) elements = terms.combine(TNR_EXTENT_OP_MUL, elements, a.cols());
  const Term missing = terms.as_array(elements, g.dtype()) - a.sum(ones, axes);
  const Term count = a.sum(taken, axes) + select(y == 0, missing, 0);
  at.give(2, taken * a.at_results(g / count, axes));
}

void derive_sparse_norm(Derivation& at) {
  const Entries a(at);
  const Term y = cast(at.result(), a.values().dtype());
  const Term g = cast(at.gradient(), a.values().dtype());
  if (at.node().op() == TNR_SPARSE_NORM_KIND_FROBENIUS) {
    return at.give(2, select(y == 0, 0, a.values() * (g / y)));
  }
  // The greatest sum of magnitudes of a column, or of a row: equal ones have the same share.
  const std::uint32_t axes = at.node().op() == TNR_SPARSE_NORM_KIND_ONE ? 1 : 2;
  const Term sums = a.sum(abs(a.values()), axes);
  const Term most = reduce_kept(Reduce::kMax, sums, 1);
  const Term taken = select(sums == most, ones_like(sums), 0);
  const Term share = taken * (g / reduce_kept(Reduce::kSum, taken, 1));
  at.give(2, unary(Unary::kSign, a.values()) * a.at_results(share, axes));
}

void derive_sparse_diagonal(Derivation& at) {
  const Entries a(at);
  const Term row = a.indices(0);
  const Term is_diagonal = row == a.indices(1);
  const Term zero = at.terms().constant(tnr_scalar_i64(0), TNR_DTYPE_I64);
  const Term taken = take(at.gradient(), select(is_diagonal, row, zero), 0);
  at.give(2, select(is_diagonal, taken, 0));
}

}  // namespace tenure
