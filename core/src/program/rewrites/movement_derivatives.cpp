// Derivatives of views and of moved elements: the opposite movement.
#include <algorithm>

#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"

namespace tenure {
namespace {

std::uint32_t axis_of(Derivation& at) noexcept {
  return static_cast<std::uint32_t>(at.node().numbers[0]);
}

// Padding that repeats elements: the gradient of each is the sum over its copies. Takes one axis
// after the other: of the axis, the element that each element of the result is a copy of.
void derive_repeated_pad(Derivation& at) {
  Terms& terms = at.terms();
  const std::vector<std::int64_t> shape = terms.numbers_of(at.operand(0));
  Term g = at.gradient();
  for (std::uint32_t axis = 0; axis < shape.size(); ++axis) {
    // Which element each one is: a row of numbers, padded in the same way along the axis.
    const Term places = terms.count_up(shape[axis]);
    const Term from = pad(places, {.numbers = {at.node().numbers[axis]},
                                   .before = &at.node().attributes.pad.before[axis],
                                   .mode = at.node().op()});
    std::vector<std::int64_t> summed = terms.numbers_of(g);
    summed[axis] = shape[axis];
    const Term zeros = broadcast(terms.constant(0, g.dtype()), summed);
    g = put_add(zeros, g, from, axis);
  }
  at.give(0, g);
}

// PUT and SCATTER: a target, and values that are put into it at indices.
class Putting {
 public:
  using Read = Term(Term a, Term indices, std::uint32_t axis);

  Putting(Derivation& at, std::uint32_t kind, Read* reading)
      : at_(at),
        kind_(kind),
        read_(reading),
        axis_(axis_of(at)),
        target_(at.operand(0)),
        values_(at.operand(1)),
        indices_(at.operand(2)) {}

  void derive() {
    const Term g = at_.gradient();
    switch (at_.node().op()) {
      case 0: return derive_overwriting();
      case TNR_BINARY_OP_ADD: return give(g, read(g));
      case TNR_BINARY_OP_MUL: return derive_products();
      case TNR_BINARY_OP_MIN:
      case TNR_BINARY_OP_MAX: return derive_extrema();
      default: at_.refuse("the operation that combines its elements has no derivative here");
    }
  }

 private:
  Term read(Term a) const { return read_(a, indices_, axis_); }
  Term put(Term target, Term values, std::uint32_t op) const {
    return target.terms().node(
        kind_ + op,
        {.operands = {target.value(), values.value(), indices_.value()}, .numbers = {axis_}});
  }
  void give(Term target, Term values) {
    if (at_.wants(0)) at_.give(0, target);
    if (at_.wants(1)) at_.give(1, values);
  }

  // Overwritten elements do not count. At each index the last value is kept. Putting the
  // numbers of the values finds it.
  void derive_overwriting() {
    Terms& terms = at_.terms();
    const Term g = at_.gradient();
    const std::vector<std::int64_t> shape = terms.numbers_of(values_);
    const Term numbers = reshape(terms.count_up(terms.product(shape)), shape);
    const Term none =
        broadcast(terms.constant(tnr_scalar_i64(-1), TNR_DTYPE_I64), terms.numbers_of(target_));
    const Term kept = put(none, numbers, 0);
    give(select(kept < terms.constant(tnr_scalar_i64(0), TNR_DTYPE_I64), g, 0),
         select(read(kept) == numbers, read(g), 0));
  }

  // Products of the others: of the factors that are not 0, where none of the others is.
  void derive_products() {
    const Term g = at_.gradient();
    const auto zeros = [](Term of) { return select(of == 0, ones_like(of), 0); };
    const auto without_zeros = [](Term of) { return select(of == 0, 1, of); };
    const Term product = put(without_zeros(target_), without_zeros(values_), TNR_BINARY_OP_MUL);
    const Term zero_count = put(zeros(target_), zeros(values_), TNR_BINARY_OP_ADD);
    const auto others = [](Term of, Term all, Term count) {
      return select(of == 0, select(count == 1, all, 0), select(count == 0, all / of, 0));
    };
    give(g * others(target_, product, zero_count),
         read(g) * others(values_, read(product), read(zero_count)));
  }

  // Elements equal to the result get equal shares.
  void derive_extrema() {
    const Term y = at_.result();
    const auto taken = [](Term of, Term result) {
      return select(of == result || is_nan(of), ones_like(of), 0);
    };
    const Term from_target = taken(target_, y);
    const Term from_values = taken(values_, read(y));
    const Term share = at_.gradient() / put(from_target, from_values, TNR_BINARY_OP_ADD);
    give(from_target * share, from_values * read(share));
  }

  Derivation& at_;
  std::uint32_t kind_;
  Read* read_;
  std::uint32_t axis_;
  Term target_;
  Term values_;
  Term indices_;
};

}  // namespace

void derive_reshape(Derivation& at) {
  at.give(0, reshape(at.gradient(), at.terms().numbers_of(at.operand(0))));
}

void derive_permute(Derivation& at) {
  at.give(0, permute(at.gradient(), inverse_of(at.node().numbers)));
}

void derive_broadcast(Derivation& at) { at.give(0, at.gradient()); }

void derive_slice(Derivation& at) {
  Terms& terms = at.terms();
  const std::vector<std::int64_t> numbers = at.node().numbers;
  const std::uint32_t axis = axis_of(at);
  const std::vector<std::int64_t> shape = terms.numbers_of(at.operand(0));
  if (numbers[3] == -1 && numbers[2] == -1 &&
      terms.shapes().are_same(at.operand(0).value(), at.result().value())) {
    return at.give(0, flipped(at.gradient(), axis));
  }
  if (numbers[3] == 1 && !is_extent(numbers[1])) {
    std::int64_t before[TNR_MAX_RANK] = {};
    before[axis] = numbers[1];
    return at.give(0, pad(at.gradient(), {.numbers = shape, .before = before}));
  }
  // The indices of the elements that were taken.
  const Term indices = slice(terms.count_up(shape[axis]), 0, numbers[1], numbers[2], numbers[3]);
  at.give(0, put_add(zeros_like(at.operand(0)), at.gradient(), indices, axis));
}

void derive_concat(Derivation& at) {
  Terms& terms = at.terms();
  const std::uint32_t axis = axis_of(at);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < at.node().operands.size(); ++i) {
    const std::int64_t stop =
        terms.combine(TNR_EXTENT_OP_ADD, start, terms.numbers_of(at.operand(i))[axis]);
    if (at.wants(i)) at.give(i, slice(at.gradient(), axis, start, stop));
    start = stop;
  }
}

void derive_pad(Derivation& at) {
  if (at.node().op() != TNR_PAD_MODE_CONSTANT) return derive_repeated_pad(at);
  std::int64_t before[TNR_MAX_RANK];
  std::ranges::transform(at.node().attributes.pad.before, before,
                         [](std::int64_t offset) { return -offset; });
  at.give(0,
          pad(at.gradient(), {.numbers = at.terms().numbers_of(at.operand(0)), .before = before}));
}

void derive_take(Derivation& at) {
  at.give(0, put_add(zeros_like(at.operand(0)), at.gradient(), at.operand(1), axis_of(at)));
}

void derive_gather(Derivation& at) {
  at.give(0, scatter_add(zeros_like(at.operand(0)), at.gradient(), at.operand(1), axis_of(at)));
}

void derive_put(Derivation& at) { Putting(at, TNR_NODE_PUT, take).derive(); }

void derive_scatter(Derivation& at) { Putting(at, TNR_NODE_SCATTER, gather).derive(); }

void derive_triangular(Derivation& at) {
  const NodeAttributes attributes = at.node().attributes;
  at.give(0, at.terms().node(at.node().code,
                             {.operands = {at.gradient().value()}, .attributes = &attributes}));
}

void derive_masked_select(Derivation& at) {
  // The gradients of the chosen elements behind a 0, by the number of chosen elements up to each.
  Terms& terms = at.terms();
  const Term a = at.operand(0);
  const std::vector<std::int64_t> shape = terms.numbers_of(a);
  const std::vector<std::int64_t> row = {terms.product(shape)};
  const Term zero = terms.constant(tnr_scalar_i64(0), TNR_DTYPE_I64);
  const Term one = terms.constant(tnr_scalar_i64(1), TNR_DTYPE_I64);
  const Term chosen = reshape(broadcast_like(at.operand(1), a), row);
  const Term count = scan(kernels::Scan::kSum, select(chosen, broadcast(one, row), zero), 0);
  const std::int64_t before[TNR_MAX_RANK] = {1};
  const std::int64_t extent = terms.numbers_of(at.gradient())[0];
  const Term gradients = pad(
      at.gradient(), {.numbers = {terms.combine(TNR_EXTENT_OP_ADD, extent, 1)}, .before = before});
  at.give(0, reshape(take(gradients, select(chosen, count, zero), 0), shape));
}

}  // namespace tenure
