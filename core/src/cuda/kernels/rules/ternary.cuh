// Operations on three operands.
#pragma once

#include "cpu/operations.hpp"
#include "cuda/kernels/elementwise.cuh"
#include "cuda/kernels/functions/number.cuh"

namespace tenure::cuda {

using kernels::Ternary;

// min(max(a, low), high), where a NaN stays (binary.cuh).
template <class C>
TENURE_DEVICE C clamped(C a, C low, C high) {
  const C raised = a > low || a != a ? a : low;
  return raised < high || raised != raised ? raised : high;
}

// The rule of cpu/kernels/elementwise/ternary.cpp, to the bit.
template <class C>
TENURE_DEVICE C interpolated(C a, C b, C t) {
  const bool are_numbers = a == a && b == b && t == t;
  if (are_numbers && a == b) return a;
  const C sum = fused(t, b, fused(-t, a, a));
  if (!are_numbers || sum == sum) return sum;
  return t == C{0} ? a : t == C{1} ? b : fused(t, b, (C{1} - t) * a);
}

template <class C, int kItems>
TENURE_DEVICE void compute_number(Ternary op, C (&x)[kItems], const C (&y)[kItems],
                                  const C (&z)[kItems]) {
  const auto each_three = [&](const auto& rule) {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) x[i] = rule(x[i], y[i], z[i]);
  };
  switch (op) {
    case Ternary::kFma: return each_three([](C a, C b, C c) { return fused(a, b, c); });
    case Ternary::kLerp: return each_three([](C a, C b, C t) { return interpolated(a, b, t); });
    case Ternary::kClamp: return each_three([](C a, C b, C c) { return clamped(a, b, c); });
  }
}

// Integers of a width, in four words.
template <class U>
TENURE_DEVICE void compute_integers(Ternary op, bool is_signed, Words<16> (&in)[3],
                                    Words<16>& out) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  if (op == Ternary::kFma) {
    return each<U, U, kItems>(in[0], in[1], in[2], out, [](U a, U b, U c) {
      return static_cast<Wrapping<U>>(a) * static_cast<Wrapping<U>>(b) + c;
    });
  }
  if (is_signed) {
    TENURE_UNROLL for (int k = 0; k < 3; ++k) exchange_orders<U>(in[k]);
  }
  each<U, U, kItems>(in[0], in[1], in[2], out, [](U a, U b, U c) { return clamped(a, b, c); });
  if (is_signed) exchange_orders<U>(out);
}

}  // namespace tenure::cuda
