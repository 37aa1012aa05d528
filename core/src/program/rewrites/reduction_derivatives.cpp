// Derivatives of reductions, normalizations and scans.
#include <bit>
#include <cmath>
#include <optional>

#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"

namespace tenure {
namespace {

using kernels::Normalize;
using kernels::Reduce;
using kernels::Scan;
using kernels::Unary;

constexpr std::uint32_t kAxes = (1u << TNR_MAX_RANK) - 1;

// A reduction, with its result and gradient as arrays in which the reduced axes have an extent of 1.
struct Reduction {
  explicit Reduction(Derivation& at)
      : axes(at.node().flags & kAxes),
        a(at.operand(0)),
        y(kept(at, at.result())),
        g(kept(at, at.gradient())) {}

  Term sum(Term of) const { return reduce_kept(Reduce::kSum, of, axes); }
  Term mean(Term of) const { return reduce_kept(Reduce::kMean, of, axes); }
  // The elements that each result is made of, less `less`.
  Term count(Derivation& at, std::int64_t less = 0) const {
    std::vector<std::int64_t> extents;
    const std::vector<std::int64_t> shape = at.terms().numbers_of(a);
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if ((axes >> axis & 1) != 0) extents.push_back(shape[axis]);
    }
    const Term count = at.terms().as_array(at.terms().product(extents), wide_dtype(a.dtype()));
    return less == 0 ? count : count - static_cast<double>(less);
  }

  std::uint32_t axes;
  Term a;
  Term y;
  Term g;

 private:
  Term kept(Derivation& at, Term of) const { return reshape_with_ones(of, at.operand(0), axes); }
};

// Where the elements are those that a minimum or maximum is made of: each has the same share.
Term shared(const Reduction& r, Term is_taken) {
  const Term count = r.sum(cast(is_taken, wide_dtype(r.a.dtype())));
  return select(is_taken, cast(widened(r.g) / count, r.a.dtype()), 0);
}

// The gradient of (sum of |x|^p)^(1 / p).
Term norm_gradient(const Reduction& r, double power) {
  const Term a = widened(r.a);
  const Term y = widened(r.y);
  const Term g = widened(r.g);
  const Term magnitude = abs(a);
  if (std::isinf(power)) return shared(r, magnitude == y) * unary(Unary::kSign, r.a);
  if (power == 1) return g * unary(Unary::kSign, a);
  if (power == 2) return select(y == 0, 0, a * (g / y));
  const Term exponent = a.terms().constant(power - 1, a.dtype());
  const Term ratio = binary(kernels::Binary::kPow, magnitude / y, exponent);
  return select(y == 0 || a == 0, 0, g * unary(Unary::kSign, a) * ratio);
}

// The elements `by` further along an axis, and `fill` where there is none.
Term shifted(Term a, std::uint32_t axis, std::int64_t by, double fill) {
  std::vector<std::int64_t> before(a.rank(), 0);
  before[axis] = -by;
  return pad(a, {.numbers = a.terms().numbers_of(a), .before = before.data(), .fill = fill});
}

// The product of the elements before each along an axis; `is_after`: of those behind it.
Term products_of_others(Term a, std::uint32_t axis, bool is_after) {
  const Term from = is_after ? flipped(a, axis) : a;
  const Term earlier = shifted(scan(Scan::kProd, from, axis), axis, -1, 1);
  return is_after ? flipped(earlier, axis) : earlier;
}

// Products of floats are products of f64, as in the operations: a product of some of the elements
// may overflow in f32, and 0 times infinity is NaN.
Term in_f64(Term a) { return cast(a, TNR_DTYPE_F64); }

// Exact where elements are 0: no quotient.
Term product_gradient(const Reduction& r) {
  const Rows rows(r.a, r.axes);
  const Term a = rows.from(in_f64(r.a));
  return in_f64(r.g) * rows.back(products_of_others(a, rows.last(), false) *
                                 products_of_others(a, rows.last(), true));
}

// The gradient of a variance, from the mean and the divisor of its elements.
Term variance_gradient(Term a, Term g, Term mean, Term divisor) {
  return (a - mean) * (g * 2 / divisor);
}

std::optional<Term> reduction_gradient(Derivation& at, const Reduction& r) {
  const tnr_reduce_attributes& attributes = at.node().attributes.reduce;
  const Term a = widened(r.a);
  const Term g = widened(r.g);
  // The gradient of the variance from that of its square root; 0 where the variance is 0.
  const auto from_deviation = [&] {
    const Term y = widened(r.y);
    return select(y == 0, 0, g / (y * 2));
  };
  const auto skipping_mean = [&] { return reduce_kept(Reduce::kNanMean, a, r.axes); };
  const auto skipping_count = [&] { return r.sum(select(is_nan(a), 0, ones_like(a))); };
  switch (static_cast<Reduce>(at.node().op())) {
    case Reduce::kSum: return r.g;
    case Reduce::kMean: return g / r.count(at);
    case Reduce::kVar: return variance_gradient(a, g, r.mean(a), r.count(at, attributes.ddof));
    case Reduce::kStd:
      return variance_gradient(a, from_deviation(), r.mean(a), r.count(at, attributes.ddof));
    case Reduce::kProd: return product_gradient(r);
    case Reduce::kMin:
    case Reduce::kMax: return shared(r, r.a == r.y || is_nan(r.a));
    case Reduce::kNorm: return norm_gradient(r, attributes.power);
    case Reduce::kLogsumexp: return g * exp(a - widened(r.y));
    case Reduce::kNanSum: return select(is_nan(r.a), 0, r.g);
    case Reduce::kNanMean: return select(is_nan(a), 0, g / skipping_count());
    case Reduce::kNanMin:
    case Reduce::kNanMax: return shared(r, r.a == r.y);
    case Reduce::kNanVar:
      return select(is_nan(a), 0,
                    variance_gradient(a, g, skipping_mean(), skipping_count() - attributes.ddof));
    case Reduce::kNanStd:
      return select(is_nan(a), 0,
                    variance_gradient(a, from_deviation(), skipping_mean(),
                                      skipping_count() - attributes.ddof));
    // Counts, indices and truth values have no gradient.
    case Reduce::kArgmin:
    case Reduce::kArgmax:
    case Reduce::kAny:
    case Reduce::kAll:
    case Reduce::kCount: break;
  }
  return std::nullopt;
}

// (a - mean) / deviation of rows, times a weight, plus a bias; without `centred`, a over the root of
// the mean of the squares.
void derive_row_norm(Derivation& at, bool centred) {
  const std::uint32_t axes = at.node().flags & kAxes;
  const auto mean = [=](Term of) { return reduce_kept(Reduce::kMean, of, axes); };
  const Term a = widened(at.operand(0));
  const Term g = widened(at.gradient());
  const Term difference = centred ? a - mean(a) : a;
  const Term scale =
      unary(Unary::kRsqrt, mean(difference * difference) + at.node().attributes.normalize.eps);
  const Term normal = difference * scale;
  // The weight and the bias have the extents of the axes: those of the result with 1 elsewhere.
  const auto along_axes = [&](Term of) { return reshape_with_ones(of, a, ~axes); };
  const auto to_axes = [&](Term of, std::size_t operand) {
    const std::uint32_t other = ((1u << of.rank()) - 1) & ~axes;
    const Term sum = other == 0 ? of : reduce_kept(Reduce::kSum, of, other);
    return reshape(sum, at.terms().numbers_of(at.operand(operand)));
  };
  if (at.wants(1)) at.give(1, to_axes(g * normal, 1));
  if (at.wants(2)) at.give(2, to_axes(g, 2));
  if (!at.wants(0)) return;
  const Term weighted = at.has(1) ? g * along_axes(widened(at.operand(1))) : g;
  const Term along = normal * mean(weighted * normal);
  at.give(0, (centred ? weighted - mean(weighted) - along : weighted - along) * scale);
}

// The gradient of a cumulative product is P S. P is the product of the elements before an element. S
// sums, over the later results, the gradient times the product of the elements between. The
// recurrence S(i) = g(i) + x(i + 1) S(i + 1) is computed by doubling: a quotient could meet a 0.
Term cumulative_product_gradient(Derivation& at, std::uint32_t axis) {
  const Term x = in_f64(at.operand(0));
  const std::int64_t longest = x.type().shape[axis];
  Term sum = in_f64(at.gradient());
  Term factor = shifted(x, axis, 1, 0);
  for (std::int64_t by = 1; by < longest; by *= 2) {
    sum = sum + factor * shifted(sum, axis, by, 0);
    factor = factor * shifted(factor, axis, by, 0);
  }
  return products_of_others(x, axis, false) * sum;
}

}  // namespace

void derive_reduce(Derivation& at) {
  if (!at.wants(0)) return;
  const Reduction r(at);
  if (const auto part = reduction_gradient(at, r)) at.give(0, broadcast_like(*part, r.a));
}

void derive_normalize(Derivation& at) {
  const std::uint32_t axes = at.node().flags & kAxes;
  const auto sum = [=](Term of) { return reduce_kept(Reduce::kSum, of, axes); };
  const Term y = widened(at.result());
  const Term g = widened(at.gradient());
  switch (static_cast<Normalize>(at.node().op())) {
    case Normalize::kSoftmax: return at.give(0, y * (g - sum(g * y)));
    case Normalize::kLogSoftmax: return at.give(0, g - exp(y) * sum(g));
    case Normalize::kLayerNorm: return derive_row_norm(at, true);
    case Normalize::kRmsNorm: return derive_row_norm(at, false);
  }
}

void derive_scan(Derivation& at) {
  const auto axis = static_cast<std::uint32_t>(at.node().numbers[0]);
  const Term g = at.gradient();
  switch (static_cast<Scan>(at.node().op())) {
    case Scan::kSum: return at.give(0, flipped(scan(Scan::kSum, flipped(g, axis), axis), axis));
    case Scan::kProd: return at.give(0, cumulative_product_gradient(at, axis));
    case Scan::kMin:
    case Scan::kMax: {
      // The element that each result was taken from: the last one that was equal to it.
      Terms& terms = at.terms();
      const Term a = at.operand(0);
      const Term is_taken = a == at.result() || is_nan(a);
      std::vector<std::int64_t> along(a.rank(), 1);
      along[axis] = terms.numbers_of(a)[axis];
      const Term places = broadcast_like(reshape(terms.count_up(along[axis]), along), a);
      const Term zero = terms.constant(tnr_scalar_i64(0), TNR_DTYPE_I64);
      const Term from = scan(Scan::kMax, select(is_taken, places, zero), axis);
      return at.give(0, scatter_add(zeros_like(a), g, from, axis));
    }
  }
}

void derive_sum_to(Derivation& at) { at.give(0, broadcast_like(at.gradient(), at.operand(0))); }

}  // namespace tenure
