// Derivatives of element-wise operations.
//
// A function without a default case does not compile when the table of operations has a new row.
#include <cmath>
#include <numbers>
#include <optional>

#include "program/rewrites/derivation.hpp"
#include "program/rewrites/derivatives.hpp"
#include "tenure/dtype.hpp"

namespace tenure {
namespace {

using kernels::Binary;
using kernels::Ternary;
using kernels::Unary;

constexpr double kLn2 = std::numbers::ln2;
constexpr double kLn10 = std::numbers::ln10;
// 2 / sqrt(pi)
constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;

Term sigmoid(Term x) { return unary(Unary::kSigmoid, x); }
Term hypot(Term a, Term b) { return binary(Binary::kHypot, a, b); }

// The derivative of x Phi(x), with the distribution function Phi of the normal distribution.
Term gelu_slope(Term x) {
  const Term distribution = unary(Unary::kErfc, x * -std::numbers::sqrt2 / 2) * 0.5;
  const Term density = exp(x * x * -0.5) * (kTwoOverSqrtPi / (2 * std::numbers::sqrt2));
  return distribution + x * density;
}

// The derivative of x (1 + t) / 2, with t = tanh(c (x + 0.044715 x^3)).
Term gelu_tanh_slope(Term x) {
  const double c = std::sqrt(2 / std::numbers::pi);
  const Term square = x * x;
  const Term t = unary(Unary::kTanh, (x * square * 0.044715 + x) * c);
  const Term inner = square * (3 * 0.044715 * c) + c;
  return t * 0.5 + 0.5 + x * (1 - t * t) * inner * 0.5;
}

Term silu_slope(Term x) {
  const Term s = sigmoid(x);
  return s * (x * (1 - s) + 1);
}

// The gradient of an operand of a minimum or maximum. `wins` is true where the result is this
// operand. Equal operands, and two NaN, get half each.
Term shared(Term wins, Term other_wins, Term g) {
  return select(wins, select(other_wins, g * 0.5, g), select(other_wins, 0, g * 0.5));
}

void derive_extremum(Derivation& at, bool is_max) {
  const Term a = at.operand(0);
  const Term b = at.operand(1);
  const Term g = at.gradient();
  const auto is_better = [=](Term x, Term than) { return is_max ? than < x : x < than; };
  const Term a_wins = is_better(a, b) || is_nan(a);
  const Term b_wins = is_better(b, a) || is_nan(b);
  if (at.wants(0)) at.give(0, shared(a_wins, b_wins, g));
  if (at.wants(1)) at.give(1, shared(b_wins, a_wins, g));
}

}  // namespace

std::optional<Term> unary_gradient(Derivation& at, Unary op, Term x, Term y, Term g) {
  switch (op) {
    case Unary::kNeg: return -g;
    case Unary::kAbs:
      if (is_complex(x.dtype())) at.refuse("no node makes complex numbers of real ones");
      return g * unary(Unary::kSign, x);
    case Unary::kSqrt: return g * 0.5 / y;
    case Unary::kExp: return g * y;
    case Unary::kRelu: return select(y <= 0, 0, g);
    case Unary::kTanh: return g * (1 - y * y);
    case Unary::kSigmoid: return g * y * (1 - y);
    case Unary::kSilu: return g * silu_slope(x);
    case Unary::kGelu: return g * gelu_slope(x);
    case Unary::kGeluTanh: return g * gelu_tanh_slope(x);
    case Unary::kSoftplus: return g * sigmoid(x);
    case Unary::kHardswish: return select(x <= -3, 0, select(x < 3, g * (x / 3 + 0.5), g));
    case Unary::kElu: return select(x <= 0, g * (y + 1), g);
    case Unary::kLeakyRelu: return select(x <= 0, g * 0.01, g);
    case Unary::kSquare: return g * conjugate(x) * 2;
    case Unary::kReciprocal: return -(g * conjugate(y * y));
    case Unary::kRsqrt: return g * y * y * y * -0.5;
    case Unary::kNanToNum: return select(unary(Unary::kIsFinite, x), g, 0);
    case Unary::kExp2: return g * y * kLn2;
    case Unary::kExpm1: return g * (y + 1);
    case Unary::kLn: return g / x;
    case Unary::kLog2: return g / (x * kLn2);
    case Unary::kLog10: return g / (x * kLn10);
    case Unary::kLog1p: return g / (x + 1);
    case Unary::kErf: return g * exp(-(x * x)) * kTwoOverSqrtPi;
    case Unary::kErfc: return g * exp(-(x * x)) * -kTwoOverSqrtPi;
    case Unary::kSin: return g * unary(Unary::kCos, x);
    case Unary::kCos: return -(g * unary(Unary::kSin, x));
    case Unary::kTan: return g * (y * y + 1);
    case Unary::kAsin: return g / sqrt((1 - x) * (x + 1));
    case Unary::kAcos: return -(g / sqrt((1 - x) * (x + 1)));
    case Unary::kAtan: return g / (x * x + 1);
    case Unary::kSinh: return g * unary(Unary::kCosh, x);
    case Unary::kCosh: return g * unary(Unary::kSinh, x);
    case Unary::kAsinh: return g / hypot(x, x.terms().scalar(1));
    case Unary::kAcosh: return g / (sqrt(x - 1) * sqrt(x + 1));
    case Unary::kAtanh: return g / ((1 - x) * (x + 1));
    case Unary::kCbrt: return g / (y * y * 3);
    case Unary::kConj: return conjugate(g);
    case Unary::kArg: at.refuse("no node makes complex numbers of real ones");
    case Unary::kSoftsign: {
      const Term d = abs(x) + 1;
      return g / (d * d);
    }
    // Steps, whose derivative is 0 wherever they have one.
    case Unary::kFloor:
    case Unary::kCeil:
    case Unary::kRound:
    case Unary::kTrunc:
    case Unary::kSign:
    // Truth values and bits have no gradient.
    case Unary::kIsNan:
    case Unary::kIsInf:
    case Unary::kIsFinite:
    case Unary::kLogicalNot:
    case Unary::kBitNot: break;
  }
  return std::nullopt;
}

// Whether the derivative reads the result only.
static bool reads_result_only(Unary op) noexcept {
  return op == Unary::kRelu || op == Unary::kTanh || op == Unary::kSigmoid;
}

Term activated_gradient(Derivation& at, const Activated& activated,
                        void (*make_plain)(NodeAttributes& attributes)) {
  Term g = at.gradient();
  if (activated.activation == 0 && !activated.is_bounded) return g;
  const auto op = static_cast<Unary>(activated.activation);
  if (!activated.is_bounded && reads_result_only(op)) {
    const Term y = at.result();
    return *unary_gradient(at, op, y, y, g);
  }
  NodeAttributes plain = at.node().attributes;
  make_plain(plain);
  const Term sums = at.terms().node(
      at.node().code,
      {.operands = at.node().operands, .numbers = at.node().numbers, .attributes = &plain});
  const Term active = activated.activation == 0 ? sums : unary(op, sums);
  if (activated.is_bounded) {
    const Term low = at.terms().constant(activated.low, active.dtype());
    const Term high = at.terms().constant(activated.high, active.dtype());
    g = select(low <= active && active <= high, g, 0);
  }
  if (activated.activation == 0) return g;
  const auto part = unary_gradient(at, op, sums, active, g);
  return part ? *part : zeros_like(sums);
}

void derive_unary(Derivation& at) {
  const auto op = static_cast<Unary>(at.node().op());
  const auto part = unary_gradient(at, op, at.operand(0), at.result(), at.gradient());
  if (part) at.give(0, *part);
}

void derive_binary(Derivation& at) {
  const Term a = at.operand(0);
  const Term b = at.operand(1);
  const Term y = at.result();
  const Term g = at.gradient();
  // Each gives the operand's part where it is wanted: terms that nothing needs are not added.
  const auto give = [&](std::size_t i, const auto& part) {
    if (at.wants(i)) at.give(i, part());
  };
  switch (static_cast<Binary>(at.node().op())) {
    case Binary::kAdd:
      give(0, [&] { return g; });
      give(1, [&] { return g; });
      return;
    case Binary::kSub:
      give(0, [&] { return g; });
      give(1, [&] { return -g; });
      return;
    case Binary::kMul:
      give(0, [&] { return g * conjugate(b); });
      give(1, [&] { return g * conjugate(a); });
      return;
    case Binary::kDiv:
      give(0, [&] { return g / conjugate(b); });
      give(1, [&] { return -(g * conjugate(y) / conjugate(b)); });
      return;
    case Binary::kMin: return derive_extremum(at, false);
    case Binary::kMax: return derive_extremum(at, true);
    case Binary::kRem:
      give(0, [&] { return g; });
      // The quotient is a whole number: a / b, rounded, may be the next one.
      give(1, [&] { return -(g * unary(Unary::kRound, (a - y) / b)); });
      return;
    case Binary::kPow:
      // The exponents of a base of 0 that differ: 0 has the derivative 0.
      give(0, [&] { return select(b == 0, 0, g * (b * binary(Binary::kPow, a, b - 1))); });
      give(1, [&] {
        return select(a == 0 && b.terms().scalar(0) <= b, 0, g * y * unary(Unary::kLn, a));
      });
      return;
    case Binary::kAtan2: {
      const Term h = hypot(a, b);
      give(0, [&] { return select(h == 0, 0, g * (b / h) / h); });
      give(1, [&] { return select(h == 0, 0, -(g * (a / h) / h)); });
      return;
    }
    case Binary::kHypot:
      give(0, [&] { return select(y == 0, 0, g * (a / y)); });
      give(1, [&] { return select(y == 0, 0, g * (b / y)); });
      return;
    // Truth values and bits have no gradient.
    case Binary::kLogicalAnd:
    case Binary::kLogicalOr:
    case Binary::kLogicalXor:
    case Binary::kBitAnd:
    case Binary::kBitOr:
    case Binary::kBitXor:
    case Binary::kShiftLeft:
    case Binary::kShiftRight: return;
  }
}

void derive_ternary(Derivation& at) {
  const Term a = at.operand(0);
  const Term b = at.operand(1);
  const Term c = at.operand(2);
  const Term g = at.gradient();
  switch (static_cast<Ternary>(at.node().op())) {
    case Ternary::kFma:
      if (at.wants(0)) at.give(0, g * conjugate(b));
      if (at.wants(1)) at.give(1, g * conjugate(a));
      if (at.wants(2)) at.give(2, g);
      return;
    case Ternary::kLerp:
      if (at.wants(0)) at.give(0, g * (1 - c));
      if (at.wants(1)) at.give(1, g * c);
      if (at.wants(2)) at.give(2, g * (b - a));
      return;
    case Ternary::kClamp:
      if (at.wants(0)) at.give(0, select(b <= a && a <= c, g, 0));
      if (at.wants(1)) at.give(1, select(a < b && b < c, g, 0));
      if (at.wants(2)) at.give(2, select(c < a || c < b, g, 0));
      return;
  }
}

void derive_select(Derivation& at) {
  const Term condition = at.terms().term(at.node().operands[0]);
  if (at.wants(1)) at.give(1, select(condition, at.gradient(), 0));
  if (at.wants(2)) at.give(2, select(condition, 0, at.gradient()));
}

void derive_cast(Derivation& at) { at.give(0, at.gradient()); }

}  // namespace tenure
