// The error function within two units in the last place, in f32 and f64, without a branch or a
// table, for vectors of every instruction set.
//
//     erf x = x + x p(x^2)                 up to 1
//     erf x = 1 - e^-q(x)                  beyond, and the sign is that of x
//
// p and q are the polynomials that minimise the largest relative error of erf (Remez), as far as it
// is not 1. In the first form x p is an eighth of x at most, or is subtracted from it; in the
// second form the power is 0.16 at most. So the roundings before the last sum weigh little.
//
// Sets with fused multiply-adds use them. NaN stays.
#pragma once

#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/gelu.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
struct ErfOf;

template <>
struct ErfOf<float> {
  static constexpr float kFarthest = 3.95f;
  static constexpr Polynomial kP = {0x1.06eba8p-3f,  -0x1.81273ep-2f, 0x1.ce2cf8p-4f,
                                    -0x1.b7f90cp-6f, 0x1.5405bp-8f,   -0x1.a3f6f8p-11f,
                                    0x1.496a1cp-14f};
  static constexpr Polynomial kQ = {-0x1.8a55bep-13f, 0x1.212c0cp+0f,  0x1.443568p-1f,
                                    0x1.bc150ep-4f,   -0x1.9d02eep-6f, 0x1.138c9cp-8f,
                                    -0x1.cec598p-12f, 0x1.6bd754p-16f};
};

template <>
struct ErfOf<double> {
  static constexpr double kFarthest = 5.95;
  static constexpr Polynomial kP = {
      0x1.06eba8214db69p-3,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042b2p-4,   -0x1.b82ce3128499cp-6,
      0x1.565bcd0db02dp-8,   -0x1.c02db3d8ecf4bp-11, 0x1.f9a321a119264p-14, -0x1.f4d1df38f8677p-17,
      0x1.b9def199c835bp-20, -0x1.5f1d369c89c81p-23, 0x1.f7a4106d0c3fp-27,  -0x1.386abaae217e2p-30,
      0x1.0579983432eedp-34};
  static constexpr Polynomial kQ = {
      0x1.a59d2f0d97a4cp-26,  0x1.20dd713c2a3dap+0,   0x1.45f32443a2a67p-1,
      0x1.a4f3251ac7c15p-4,   -0x1.3964bee64f364p-6,  -0x1.a95499ec0f5f9p-13,
      0x1.b765c4bf148acp-10,  -0x1.227e4c7573d48p-11, -0x1.5432ca56f39ecp-16,
      0x1.cb20436ef1b25p-14,  -0x1.0c5c7176cfa2dp-14, 0x1.914fed538949fp-16,
      -0x1.be7e0678806f8p-18, 0x1.808770faf95b4p-20,  -0x1.01a52f99ec07fp-22,
      0x1.08d40a73e48dap-25,  -0x1.944f5b4855fa6p-29, 0x1.b02a61cba0eb8p-33,
      -0x1.20a334ef81e5dp-37, 0x1.6a764f587d69bp-43};
};

template <class V>
inline V error_function(V x) {
  using T = Number<V>;
  using Of = ErfOf<T>;
  using Bits = As<UnsignedOf<T>, V>;
  constexpr auto kSign = UnsignedOf<T>{1} << (8 * sizeof(T) - 1);
  const auto [sign, magnitude] = clamp(x, Of::kFarthest);
  const PowerOfE<V> power = power_of_e(reduce_by_ln2(-Of::kQ(magnitude)), Bits{} + kSign);
  const V far = T{1} - (power.high + power.low) * power.first * power.second;
  const V near = magnitude + magnitude * Of::kP(magnitude * magnitude);
  return bit_copy<V>(bit_copy<Bits>(magnitude > 1 ? far : near) | sign);
}

// erfc |x| = 2 e^(-x^2) / (2 sqrt(pi) |x| + m(a) / n(a)), a = sqrt(2) |x|, with the polynomials of
// gelu.hpp; for negative numbers it is 2 less this. The rounding errors of x^2 and of the products
// are kept.
template <class V>
inline V complement_of_error_function(V x) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  constexpr bool kIsDouble = sizeof(T) == 8;
  constexpr T kFarthest = static_cast<T>(kIsDouble ? 27.7 : 10.8f);
  constexpr T kRootOf2 = static_cast<T>(0x1.6a09e667f3bcdp+0);
  constexpr Long<T> kTwoRootPi =
      kIsDouble
          ? Long<T>{static_cast<T>(0x1.c5bf891b4ef6bp+1), static_cast<T>(-0x1.618f13eb7ca89p-53)}
          : Long<T>{static_cast<T>(0x1.c5bf8ap+1f), static_cast<T>(-0x1.c96212p-24f)};
  constexpr auto kSign = UnsignedOf<T>{1} << (8 * sizeof(T) - 1);
  const V magnitude = clamp(x, kFarthest).magnitude;
  const V a = magnitude * kRootOf2;
  const PowerOfE<V> power =
      power_of_e(reduce_negated(product_of(magnitude, magnitude)), Bits{} + kSign);
  const Long<V> mantissa = sum_of(power.high, power.low);
  const V n = T{1} + a * GeluOf<T>::kN(a);
  const Long<V> m = sum_of_any(V{} + T{2}, a * GeluOf<T>::kM(a));
  Long<V> root = product_of(magnitude, V{} + kTwoRootPi.high);
  root.low += magnitude * kTwoRootPi.low;
  const Long<V> product = product_of(root.high, n);
  Long<V> divisor = sum_of_any(product.high, m.high);
  divisor.low += (product.low + root.low * n) + m.low;
  Long<V> dividend = product_of(mantissa.high, n);
  dividend.low += mantissa.low * n;
  const V tail = quotient({dividend.high + dividend.high, dividend.low + dividend.low}, divisor);
  const V result = scaled_down(tail * power.first);
  return x < 0 ? T{2} - result : result;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
