// asin, acos, atan and atan2 of f32, for vectors of every instruction set.
//
// The angle of y / x: t is y / x, (y - x) / (y + x) or -x / y, whichever is at most 1/2 in
// magnitude, and the result is atan t = t + t^3 p(t^2), or pi / 4 or pi / 2 more. asin and acos of
// |x| < 1/2 use x + x^3 q(x^2), and beyond 1/2 the same function of sqrt((1 - |x|) / 2). p and q
// minimise the largest relative errors: 2^-27.5 and 2^-27.6. pi is taken in two parts.
//
// The largest errors of all f32, in units in the last place: see the table of operations.
#pragma once

#include "cpu/kernels/elementwise/single/doubles.hpp"
#include "cpu/kernels/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The first part has so few bits that its quarters times 1, 2, 3 and 4 are exact.
inline constexpr Long<float> kPiOfSingles = {0x1.921fb4p+1f, 0x1.4442d2p-23f};

// sum + more of pi, where t is at most as large as that part, or it is 0; `low` is added to it.
template <IsSingles V>
inline V with_part_of_pi(V part, V t, V low) {
  const Long<V> sum = sum_of(part * kPiOfSingles.high, t);
  return sum.high + (sum.low + multiply_add(part, V{} + kPiOfSingles.low, low));
}

// The angle of (x, y), whose magnitudes are `along` and `up`: their sum is finite and not 0.
template <IsSingles V>
inline V angle_of_plain_singles(V y, V x, V up, V along) {
  const auto is_low = up <= 0.5f * along;
  const auto is_middle = up <= 2.0f * along;
  const V dividend = is_low ? up : is_middle ? up - along : -along;  // exact
  const V divisor = is_low ? along : is_middle ? up + along : up;
  const V part = is_low ? V{} : is_middle ? V{} + 0.25f : V{} + 0.5f;
  const V right = dividend / divisor;
  const auto is_left = bit_copy<As<int32_t, V>>(x) < 0;
  const V t = is_left ? -right : right;
  const V square = t * t;
  const V rest = square * Polynomial{-0x1.555512p-2f, 0x1.997b4ap-3f, -0x1.224d4ep-3f,
                                     0x1.a02148p-4f, -0x1.a45fcp-5f}(square);
  return with_sign_of(with_part_of_pi(is_left ? 1.0f - part : part, t, t * rest), y);
}

template <IsSingles V>
inline V inverse_tangent(V x) {
  const V one = V{} + 1.0f;
  return angle_of_plain_singles(x, one, magnitude_of(x), one);
}

// asin x less x, over x.
template <IsSingles V>
inline V arc_beyond_first_term(V square) {
  return square * Polynomial{0x1.5555c8p-3f, 0x1.3301ccp-4f, 0x1.7480ep-5f, 0x1.8c0cb6p-6f,
                             0x1.598628p-5f}(square);
}

// 2 sqrt(half), with its rounding error.
template <IsSingles V>
inline Long<V> twice_root_of(V half) {
  const V root = square_root(half);
#if defined(__FMA__)
  const V rest = fused(-root, root, half);
#else
  const Long<V> back = product_of(root, root);
  const V rest = (half - back.high) - back.low;
#endif
  return {root + root, rest / at_least(root, 0x1p-60f)};
}

template <IsSingles V>
inline V inverse_sine(V x) {
  const V a = magnitude_of(x);
  const auto is_near = a < 0.5f;
  const V half = multiply_add(a, V{} - 0.5f, V{} + 0.5f);
  const Long<V> root = twice_root_of(half);
  const V first = is_near ? a : -root.high;
  const V low =
      multiply_add(first, arc_beyond_first_term(is_near ? a * a : half), is_near ? V{} : -root.low);
  return with_sign_of(with_part_of_pi(is_near ? V{} : V{} + 0.5f, first, low), x);
}

template <IsSingles V>
inline V inverse_cosine(V x) {
  const V a = magnitude_of(x);
  const auto is_near = a < 0.5f;
  const V half = multiply_add(a, V{} - 0.5f, V{} + 0.5f);
  const Long<V> root = twice_root_of(half);
  // Near: pi / 2 - asin x. Far: 2 asin of the root, or pi less it where x is negative.
  const auto is_negative = x < 0;
  const V first = is_near ? -x : is_negative ? -root.high : root.high;
  const V low = multiply_add(first, arc_beyond_first_term(is_near ? a * a : half),
                             is_near       ? V{}
                             : is_negative ? -root.low
                                           : root.low);
  const V part = is_near ? V{} + 0.5f : is_negative ? V{} + 1.0f : V{};
  return with_part_of_pi(part, first, low);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
