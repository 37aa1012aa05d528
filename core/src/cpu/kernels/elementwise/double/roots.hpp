// Cube roots and inverses of square roots of f64, for vectors of every instruction set.
//
//     x = 2^(3 q) u,   u = 2^j m,   j from -1 to 1,   m, c and r as log.hpp has them
//     u^(-1/3) = 2^(-j/3) c^(-1/3) (1 + r)^(-1/3) (1 + d),   |d| < 2^-31
//
// from a table and a polynomial. Its square times u is u^(1/3) but for d, which one step of Newton's
// corrects: the remainder of the cube has all digits, so one rounding of full size remains.
#pragma once

#include "cpu/kernels/elementwise/double/log.hpp"
#include "cpu/kernels/elementwise/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct CubeRoots {
  // c^(-1/3).
  static constexpr Doubles16 kOfInverse = {
      {0x1.1a7f0eab8483dp+0, 0x1.160bfc12dd091p+0, 0x1.11733d66373bdp+0, 0x1.0f17bbcd80046p+0,
       0x1.0cb18b61ad8cfp+0, 0x1.07c3236b0a73ap+0, 0x1.0539d6521256fp+0, 0x1.02a3ad2ef6f48p+0, 1,
       0x1.f51a62037e955p-1, 0x1.ec9baf60b9f8p-1, 0x1.e3cf476542bdp-1, 0x1.daadd3a1416c1p-1,
       0x1.d46421274eaf3p-1, 0x1.caa1500902099p-1, 0x1.c3e27449db536p-1}};
  // ((1 + r)^(-1/3) - 1) / r: it minimises the largest error of the power, 2^-31.5.
  [[maybe_unused]] static constexpr Polynomial kP = {-0x1.5555520a3e522p-2, 0x1.c71c699479defp-3,
                                                     -0x1.625577047beb8p-3, 0x1.27561e9b06437p-3};
};

// Of a positive normal number.
template <IsDoubles V>
inline V cube_root_of_plain(V a) {
  using Of = CubeRoots;
  using Bits = As<uint64_t, V>;
  const MantissaOfDouble<V> by(a);
  const auto place = by.place();
  const V n = by.n();
  // Added to it, a number is rounded to a whole one.
  constexpr double kShift = 0x1.8p52;
  const V shifted = multiply_add(n, V{} + 0x1.5555555555555p-2, V{} + kShift);
  const V j = multiply_add(shifted - kShift, V{} - 3.0, n);
  const auto is_below = j < 0;
  const auto is_above = j > 0;
  const V u = is_below ? 0.5 * by.m : is_above ? by.m + by.m : by.m;
  const V r = product_less_one(by.m, NaturalLogarithmOfDoubles::kInverse[place]);
  const V one = V{} + 1.0;
  const V power = is_below   ? V{} + 0x1.428a2f98d728bp+0
                  : is_above ? V{} + 0x1.965fea53d6e3dp-1
                             : one;
  const V first = Of::kOfInverse[place] * power;
  const V inverse = multiply_add(first * r, Of::kP(r), first);
  const V inverse_square = inverse * inverse;
  const V root = u * inverse_square;
  const Long<V> square = product_of(root, root);
#if defined(__FMA__)
  const V rest = fused(-root, square.high, u);
#else
  const Long<V> cube = product_of(square.high, root);
  const V rest = (u - cube.high) - cube.low;
#endif
  const V left = multiply_add(-root, square.low, rest);
  const V result = multiply_add(left * 0x1.5555555555555p-2, inverse_square, root);
  return bit_copy<V>(bit_copy<Bits>(result) + (bit_copy<Bits>(shifted) << 52));
}

template <IsDoubles V>
__attribute__((noinline)) V cube_root_of_any(V x) {
  const V a = magnitude_of(x);
  const auto is_plain = (a > 0) & (a < __builtin_inf());
  const auto is_subnormal = is_plain & (a < 0x1p-1022);
  const V normal = is_subnormal ? a * 0x1p54 : a;
  const V root = cube_root_of_plain(is_plain ? normal : V{} + 1.0);
  return with_sign_of(is_plain ? (is_subnormal ? root * 0x1p-18 : root) : a, x);
}

template <IsDoubles V>
inline V cube_root(V x) {
  const V a = magnitude_of(x);
  const V result = cube_root_of_plain(a);
  if (!is_every_lane_from(a, 0x1p-1022, __builtin_inf())) [[unlikely]]
    return cube_root_of_any(x);
  return with_sign_of(result, x);
}

#if defined(__AVX512F__)
// 1 / sqrt(x): 14 bits of an instruction, a step of third order, and one of Newton's that keeps the
// rounding error of x times the inverse.
template <IsDoubles V>
inline V inverse_root_of_plain(V x, V first) {
  const V one = V{} + 1.0;
  const V error = fused(-(x * first), first, one);
  const V inverse = fused(first * error, fused(error, V{} + 0.375, V{} + 0.5), first);
  const V root = x * inverse;
  const V lost = fused(x, inverse, -root);
  const V left = fused(-lost, inverse, fused(-root, inverse, one));
  return fused(inverse * 0.5, left, inverse);
}
template <IsDoubles V>
inline V first_of_inverse_root(V x) {
  return bit_copy<V>(_mm512_maskz_rsqrt14_pd(0xff, bit_copy<__m512d>(x)));
}

// Of zeros, infinities, negative numbers and NaN as the instruction has it.
template <IsDoubles V>
__attribute__((noinline)) V inverse_root_of_any(V x) {
  const auto is_positive = (x > 0) & (x < __builtin_inf());
  const auto is_subnormal = is_positive & (x < 0x1p-1022);
  const V normal = is_subnormal ? x * 0x1p54 : x;
  const V first = first_of_inverse_root(normal);
  const V result = inverse_root_of_plain(normal, first);
  return is_positive ? (is_subnormal ? result * 0x1p27 : result) : first;
}

template <IsDoubles V>
inline V inverse_root(V x) {
  const V result = inverse_root_of_plain(x, first_of_inverse_root(x));
  if (!is_every_lane_from(x, 0x1p-1022, __builtin_inf())) [[unlikely]]
    return inverse_root_of_any(x);
  return result;
}
#endif

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
