// Derivatives of operations that order and count elements.

#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"

namespace tenure {
namespace {

using kernels::Binary;
using kernels::Unary;

// The indices of the operation, which computes them as another node.
Term indices_of(Derivation& at) {
  const GraphNode& node = at.node();
  const NodeAttributes attributes = node.attributes;
  return at.terms().node(node.code - TNR_ORDER_RESULT_VALUES + TNR_ORDER_RESULT_INDICES,
                         {.operands = node.operands,
                          .numbers = node.numbers,
                          .attributes = node.has_attributes ? &attributes : nullptr});
}

}  // namespace

void derive_ordered(Derivation& at) {
  const auto axis = static_cast<std::uint32_t>(at.node().numbers[0]);
  at.give(0, scatter_add(zeros_like(at.operand(0)), at.gradient(), indices_of(at), axis));
}

// A quantile is between two elements of the sorted row: each has its part in proportion.
void derive_quantile(Derivation& at) {
  Terms& terms = at.terms();
  const Rows rows(at.operand(0), at.node().flags);
  const Term a = rows.from(at.operand(0));
  const Term q = at.operand(1);
  // The axis of the quantiles last, as the axis of the elements is.
  std::vector<std::int64_t> last_first(at.gradient().rank());
  for (std::size_t i = 0; i < last_first.size(); ++i) {
    last_first[i] = static_cast<std::int64_t>((i + 1) % last_first.size());
  }
  const Term g = permute(at.gradient(), last_first);
  const Term sorted = terms.node(TNR_NODE_SORT + TNR_ORDER_RESULT_INDICES,
                                 {.operands = {a.value()}, .numbers = {rows.last()}});
  // How many elements of each row count: with SKIP_NAN those that are numbers.
  const bool skips = (at.node().attributes.flags.flags & TNR_QUANTILE_SKIP_NAN) != 0;
  const Term count = skips ? reduce_kept(kernels::Reduce::kSum,
                                         cast(unary(Unary::kLogicalNot, is_nan(a)), TNR_DTYPE_F64),
                                         1u << rows.last())
                           : terms.as_array(rows.merged.back(), TNR_DTYPE_F64);
  const Term zero = terms.scalar(0);
  const Term place = binary(Binary::kMax, broadcast_like(q * (count - 1), g), zero);
  const Term before = unary(Unary::kFloor, place);
  const auto index = [&](Term of) { return gather(sorted, cast(of, TNR_DTYPE_I64), rows.last()); };
  const Term first = index(before);
  const Term second = index(unary(Unary::kCeil, place));
  const Term share = place - before;
  if (at.wants(0)) {
    const Term to_second = cast(share, g.dtype());
    Term sum = scatter_add(zeros_like(a), g * (1 - to_second), first, rows.last());
    sum = scatter_add(sum, g * to_second, second, rows.last());
    at.give(0, rows.back(sum));
  }
  if (!at.wants(1)) return;
  const Term step = gather(a, second, rows.last()) - gather(a, first, rows.last());
  at.give(1, cast(g * step, TNR_DTYPE_F64) * (count - 1));
}

void derive_bincount(Derivation& at) {
  if (!at.wants(1)) return;
  at.give(1, take(at.gradient(), cast(at.operand(0), TNR_DTYPE_I64), 0));
}

}  // namespace tenure
