// Cube roots and inverses of square roots of f64, for vectors of every instruction set.
//
// A constant less a third of the bits of x is a guess g at x^(-1/3), within 3.5 percent (Kahan). With
// e = 1 - x g^3,
//
//     y = g + g e p(e),   root = x y^2,   cbrt x = root + (x - root^3) y^2 / 3
//
// where p is the polynomial that minimises the largest relative error of y, 2^-32. The remainder x -
// root^3 has all digits, so one rounding of full size remains. The largest error that was found is
// 0.51 units in the last place (README.md).
#pragma once

#include "cpu/kernels/elementwise/double/table.hpp"
#include "cpu/kernels/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Between them the remainder of the cube has all digits.
inline constexpr double kLeastForRoots = 0x1p-900;
inline constexpr double kEndForRoots = 0x1p900;

// The number is between them.
template <IsDoubles V>
inline V cube_root_of_plain(V a) {
  const auto third = ((bit_copy<As<uint64_t, V>>(a) >> 32) * 0xaaaaaaabu) >> 33;
  const V guess = bit_copy<V>((0x553eeaa8u - third) << 32);
  const V less = multiply_add(-(guess * guess), guess * a, V{} + 1.0);
  const V more = Polynomial{0x1.55555632e1174p-2, 0x1.c71c73ad465cdp-3, 0x1.61f48898e15b6p-3,
                            0x1.26f61b9e1e32fp-3, 0x1.03775d3bb184cp-3, 0x1.cd30b32224a15p-4}(less);
  const V inverse = multiply_add(guess * less, more, guess);
  const V inverse_square = inverse * inverse;
  const V root = a * inverse_square;
  const Long<V> square = product_of(root, root);
#if defined(__FMA__)
  const V rest = fused(-root, square.high, a);
#else
  const Long<V> cube = product_of(square.high, root);
  const V rest = (a - cube.high) - cube.low;
#endif
  const V left = multiply_add(-root, square.low, rest);
  return multiply_add(left * 0x1.5555555555555p-2, inverse_square, root);
}

template <IsDoubles V>
__attribute__((noinline)) V cube_root_of_any(V x) {
  const V a = magnitude_of(x);
  const auto is_plain = (a > 0) & (a < __builtin_inf());
  const V one = V{} + 1.0;
  const auto is_small = a < kLeastForRoots;
  const auto is_large = a >= kEndForRoots;
  const V scale = is_small ? V{} + 0x1p300 : is_large ? V{} + 0x1p-300 : one;
  const V back = is_small ? V{} + 0x1p-100 : is_large ? V{} + 0x1p100 : one;
  const V root = cube_root_of_plain(is_plain ? a * scale : one) * back;
  return with_sign_of(is_plain ? root : a, x);
}

template <IsDoubles V>
inline V cube_root(V x) {
  const V a = magnitude_of(x);
  const V result = cube_root_of_plain(a);
  if (!is_every_lane_from(a, kLeastForRoots, kEndForRoots)) [[unlikely]]
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

// The instruction has the limits for zeros, infinities, negative numbers and NaN.
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
