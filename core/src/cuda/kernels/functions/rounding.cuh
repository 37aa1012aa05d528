// Roots, and numbers rounded to whole ones: the scalar form of core/src/cpu/kernels/rounding.hpp.
#pragma once

#include "number.cuh"

namespace tenure::cuda {

// |x|, and the nearest whole number to it.
template <class T>
struct Whole {
  T magnitude;
  T nearest;
};
template <class T>
TENURE_DEVICE Whole<T> whole_of_magnitude(T x) {
  constexpr T kNoFraction = static_cast<T>(Bits<T>{1} << BitsOf<T>::kFractionBits);
  const T magnitude = magnitude_of(x);
  const T nearest = (magnitude + kNoFraction) - kNoFraction;
  return {magnitude, magnitude < kNoFraction ? nearest : magnitude};
}

template <class T>
TENURE_DEVICE T nearest_whole(T x) {
  return with_sign_of(whole_of_magnitude(x).nearest, x);
}
template <class T>
TENURE_DEVICE T trunc_of(T x) {
  const Whole<T> of = whole_of_magnitude(x);
  return with_sign_of(of.nearest > of.magnitude ? of.nearest - T{1} : of.nearest, x);
}
template <class T>
TENURE_DEVICE T floor_of(T x) {
  const T whole = nearest_whole(x);
  return with_sign_of(whole > x ? whole - T{1} : whole, x);
}
template <class T>
TENURE_DEVICE T ceil_of(T x) {
  const T whole = nearest_whole(x);
  return with_sign_of(whole < x ? whole + T{1} : whole, x);
}

// 1 / sqrt(x) within one unit in the last place: the root and its inverse are corrected by what
// their roundings leave.
template <class T>
TENURE_DEVICE T inverse_root(T x) {
  constexpr T kSmall = sizeof(T) == 8 ? static_cast<T>(0x1p-960) : static_cast<T>(0x1p-100f);
  constexpr T kLarge = sizeof(T) == 8 ? static_cast<T>(0x1p960) : static_cast<T>(0x1p100f);
  constexpr T kFactor = sizeof(T) == 8 ? static_cast<T>(0x1p108) : static_cast<T>(0x1p48f);
  constexpr T kRootFactor = sizeof(T) == 8 ? static_cast<T>(0x1p54) : static_cast<T>(0x1p24f);
  const bool is_small = x < kSmall;
  const bool is_large = x > kLarge;
  const T scale = is_small ? kFactor : is_large ? T{1} / kFactor : T{1};
  const T back = is_small ? kRootFactor : is_large ? T{1} / kRootFactor : T{1};
  const T scaled = x * scale;
  const T root = square_root(scaled);
  const T inverse = T{1} / root;
  const Long<T> square = product_of(root, root);
  const Long<T> one = product_of(inverse, root);
  const T left_of_square = (scaled - square.high) - square.low;
  const T left_of_one = (T{1} - one.high) - one.low;
  const T correction = left_of_one - T{0.5} * left_of_square * inverse * inverse;
  const T corrected = inverse + inverse * correction;
  const T result = x > 0 && x < infinity<T>() ? corrected : inverse;
  return result * back;
}

}  // namespace tenure::cuda
