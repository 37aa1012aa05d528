// Roots, and numbers rounded to whole ones, for numbers and vectors of every instruction set.
//
// Vectors have instructions for whole numbers. Where they do not, these come of the floats' own
// rounding: a number below 2^23 (f64: 2^52) that is added to that one loses its fraction, to nearest
// even, and larger ones have none. The sign of the argument stays, also of a zero.
//
// Every set gives the same bits. NaN stays.
#pragma once

#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// |x|, and the nearest whole number to it.
template <class V>
struct Whole {
  V magnitude;
  V nearest;
};
template <class V>
inline Whole<V> whole_of_magnitude(V x) {
  using T = Number<V>;
  constexpr T kNoFraction = static_cast<T>(UnsignedOf<T>{1} << (sizeof(T) == 8 ? 52 : 23));
  const V magnitude = magnitude_of(x);
  const V nearest = (magnitude + kNoFraction) - kNoFraction;
  return {magnitude, magnitude < kNoFraction ? nearest : magnitude};
}

#if defined(__SSE4_1__)
// An instruction's rounding: 0 to nearest even, 1 down, 2 up, 3 towards 0.
template <int kDirection, IsVector V>
inline V whole_towards(V x) {
  constexpr int kMode = kDirection | _MM_FROUND_NO_EXC;
  constexpr bool kIsDouble = sizeof(Number<V>) == 8;
  // Masked, with every bit set: g++ 12 takes the unmasked forms' result for uninitialised.
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm512_maskz_roundscale_pd(0xff, bit_copy<__m512d>(x), kMode));
    } else {
      return bit_copy<V>(_mm512_maskz_roundscale_ps(0xffff, bit_copy<__m512>(x), kMode));
    }
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm256_round_pd(bit_copy<__m256d>(x), kMode));
    } else {
      return bit_copy<V>(_mm256_round_ps(bit_copy<__m256>(x), kMode));
    }
  }
#endif
  if constexpr (sizeof(V) == 16) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm_round_pd(bit_copy<__m128d>(x), kMode));
    } else {
      return bit_copy<V>(_mm_round_ps(bit_copy<__m128>(x), kMode));
    }
  }
}
template <IsVector V>
inline V nearest_whole(V x) {
  return whole_towards<0>(x);
}
template <IsVector V>
inline V trunc_of(V x) {
  return whole_towards<3>(x);
}
template <IsVector V>
inline V floor_of(V x) {
  return whole_towards<1>(x);
}
template <IsVector V>
inline V ceil_of(V x) {
  return whole_towards<2>(x);
}
#endif

template <class V>
inline V nearest_whole(V x) {
  return with_sign_of(whole_of_magnitude(x).nearest, x);
}
template <class V>
inline V trunc_of(V x) {
  const Whole<V> of = whole_of_magnitude(x);
  return with_sign_of(of.nearest > of.magnitude ? of.nearest - Number<V>{1} : of.nearest, x);
}
template <class V>
inline V floor_of(V x) {
  const V whole = nearest_whole(x);
  return with_sign_of(whole > x ? whole - Number<V>{1} : whole, x);
}
template <class V>
inline V ceil_of(V x) {
  const V whole = nearest_whole(x);
  return with_sign_of(whole < x ? whole + Number<V>{1} : whole, x);
}

inline double square_root(double a) { return __builtin_sqrt(a); }
inline float square_root(float a) { return __builtin_sqrtf(a); }
template <IsVector V>
inline V square_root(V a) {
  constexpr int kCount = sizeof(V) / sizeof(Number<V>);
  V result;
  for (int i = 0; i < kCount; ++i) result[i] = square_root(Number<V>{a[i]});
  return result;
}

// 1 / sqrt(x) within one unit in the last place: the root and its inverse are corrected by their
// rounding errors, so that one rounding of full size remains. Small numbers are made larger, so
// that the rounding error of the root's square is a number too, and large ones smaller, so that no
// part of the square overflows.
template <class V>
inline V inverse_root(V x) {
  using T = Number<V>;
  constexpr T kSmall = sizeof(T) == 8 ? static_cast<T>(0x1p-960) : static_cast<T>(0x1p-100f);
  constexpr T kLarge = sizeof(T) == 8 ? static_cast<T>(0x1p960) : static_cast<T>(0x1p100f);
  constexpr T kFactor = sizeof(T) == 8 ? static_cast<T>(0x1p108) : static_cast<T>(0x1p48f);
  constexpr T kRootFactor = sizeof(T) == 8 ? static_cast<T>(0x1p54) : static_cast<T>(0x1p24f);
  const auto is_small = x < kSmall;
  const auto is_large = x > kLarge;
  const V scale = is_small ? V{} + kFactor : is_large ? V{} + T{1} / kFactor : V{} + T{1};
  const V back = is_small ? V{} + kRootFactor : is_large ? V{} + T{1} / kRootFactor : V{} + T{1};
  const V scaled = x * scale;
  const V root = square_root(scaled);
  const V inverse = T{1} / root;
  const Long<V> square = product_of(root, root);
  const Long<V> one = product_of(inverse, root);
  const V left_of_square = (scaled - square.high) - square.low;
  const V left_of_one = (T{1} - one.high) - one.low;
  const V correction = left_of_one - T{0.5} * left_of_square * inverse * inverse;
  const V corrected = inverse + inverse * correction;
  const V result = (x > 0) & (x < static_cast<T>(__builtin_inff())) ? corrected : inverse;
  return result * back;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
