// Cube roots of f32, for vectors of every instruction set.
//
// A constant less a third of the bits of x is a guess g at x^(-1/3), within 3.5 percent (Kahan). With
// e = 1 - x g^3,
//
//     y = g + g e p(e),   root = x y^2,   cbrt x = root + (x - root^3) y^2 / 3
//
// where p is the polynomial that minimises the largest relative error of y: 2^-18.
#pragma once

#include "cpu/kernels/elementwise/double/roots.hpp"
#include "cpu/kernels/elementwise/single/doubles.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Between them the remainder of the cube has all digits.
inline constexpr float kLeastForSingleRoots = 0x1p-90f;
inline constexpr float kEndForSingleRoots = 0x1p126f;

// `result` has the roots of numbers between them.
template <IsSingles V>
__attribute__((noinline)) V cube_root_of_any(V x, V result) {
  const V other = by_doubles([](auto half) { return cube_root(half); }, x);
  const V a = magnitude_of(x);
  return lanes_from(a, kLeastForSingleRoots, kEndForSingleRoots) ? result : other;
}

template <IsSingles V>
inline V cube_root(V x) {
  const V a = magnitude_of(x);
  // A third: the product's error is a few units of the guess's last place.
  const auto bits = bit_copy<As<int32_t, V>>(a);
  const V third = __builtin_convertvector(bits, V) * -0x1.555556p-2f;
  const auto guess_bits = __builtin_convertvector(third, As<int32_t, V>) + 0x54a2fa8c;
  const V guess = bit_copy<V>(guess_bits);
  const V less = multiply_add(-(guess * guess), guess * a, V{} + 1.0f);
  const V more = Polynomial{0x1.555418p-2f, 0x1.ca17a8p-3f, 0x1.65b0dp-3f}(less);
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
  const V result = with_sign_of(multiply_add(left * 0x1.555556p-2f, inverse_square, root), x);
  if (!is_every_lane_from(a, kLeastForSingleRoots, kEndForSingleRoots)) [[unlikely]]
    return cube_root_of_any(x, result);
  return result;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
