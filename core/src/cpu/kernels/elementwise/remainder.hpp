// The remainder of a division of floats that truncates, which is exact: fmod of C.
//
// Where the quotient has so few bits that it is known to within one, the dividend less quotient
// times divisor is a number of the type, without rounding, and its sign and size show one divisor
// too many or too few. Other lanes (far quotients, numbers near the ends of the range, infinities,
// NaN) are those of the C library.
#pragma once

#include "cpu/kernels/rounding.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline double remainder_of(double a, double b) { return __builtin_fmod(a, b); }
inline float remainder_of(float a, float b) { return __builtin_fmodf(a, b); }

struct Remainder {
  template <IsVector V>
  static V apply(V a, V b) {
    using T = Number<V>;
    constexpr bool kIsDouble = sizeof(T) == 8;
    constexpr T kMostQuotient = static_cast<T>(kIsDouble ? 0x1p50 : 0x1p21);
    constexpr T kLeastDivisor = static_cast<T>(kIsDouble ? 0x1p-900 : 0x1p-90);
    constexpr T kMost = static_cast<T>(kIsDouble ? 0x1p1020 : 0x1p120);
    const V dividend = magnitude_of(a);
    const V divisor = magnitude_of(b);
    const V ratio = dividend / divisor;
    const auto is_near = (ratio < kMostQuotient) & (divisor >= kLeastDivisor) & (divisor < kMost) &
                         (dividend < kMost);
    const Long<V> product = product_of(trunc_of(ratio), divisor);
    V rest = (dividend - product.high) - product.low;
    rest = rest < 0 ? rest + divisor : rest;
    rest = rest >= divisor ? rest - divisor : rest;
    V result = with_sign_of(rest, a);
    if (!is_every_lane(is_near)) [[unlikely]] {
      constexpr int kLanes = sizeof(V) / sizeof(T);
#pragma GCC unroll 1
      for (int i = 0; i < kLanes; ++i) {
        if (is_near[i] == 0) result[i] = remainder_of(T{a[i]}, T{b[i]});
      }
    }
    return result;
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
