// Comparisons, and questions to one operand: results are truth values.
#pragma once

#include "cpu/operations.hpp"
#include "cuda/kernels/elementwise.cuh"

namespace tenure::cuda {

using kernels::Compare;
using kernels::UnaryQuestion;

// GT and GE are LT and LE with the operands exchanged, by the host. `value` gives an element as it
// is compared; a truth value is an R.
template <class T, class R, int kItems, int kOutBytes, class Value>
TENURE_DEVICE void compare_values(Compare op, const Words<16>& a, const Words<16>& b,
                                  Words<kOutBytes>& out, const Value& value) {
  const auto of = [&](const auto& rule) {
    each<T, R, kItems>(a, b, out, [&](T left, T right) { return rule(value(left), value(right)); });
  };
  switch (op) {
    case Compare::kEq: return of([](auto left, auto right) { return left == right ? 1 : 0; });
    case Compare::kNe: return of([](auto left, auto right) { return left != right ? 1 : 0; });
    case Compare::kLt: return of([](auto left, auto right) { return left < right ? 1 : 0; });
    case Compare::kLe: return of([](auto left, auto right) { return left <= right ? 1 : 0; });
    case Compare::kGt:
    case Compare::kGe: return;
  }
}

// For integers a != b and a <= b are the negations of a == b and b < a.
template <class U, class R, int kItems, int kOutBytes>
TENURE_DEVICE void compare_orders(Compare op, bool is_signed, Words<16>& a, Words<16>& b,
                                  Words<kOutBytes>& out) {
  if (is_signed) {
    exchange_orders<U>(a);
    exchange_orders<U>(b);
  }
  const bool is_other = op == Compare::kNe || op == Compare::kLe;
  if (op == Compare::kEq || op == Compare::kNe) {
    each<U, R, kItems>(a, b, out,
                       [=](U left, U right) { return (left == right) != is_other ? 1 : 0; });
  } else {
    each<U, R, kItems>(a, b, out, [=](U left, U right) {
      return (is_other ? right < left : left < right) != is_other ? 1 : 0;
    });
  }
}

// By the bits: the bits of infinity are above those of all finite numbers and below those of NaN.
template <class U>
TENURE_DEVICE bool answer(UnaryQuestion op, U bits, U infinity) {
  const auto magnitude = static_cast<U>(bits & static_cast<U>(static_cast<U>(~U{0}) >> 1));
  switch (op) {
    case UnaryQuestion::kIsNan: return magnitude > infinity;
    case UnaryQuestion::kIsInf: return magnitude == infinity;
    case UnaryQuestion::kIsFinite: break;
  }
  return magnitude < infinity;
}

}  // namespace tenure::cuda
