// Rules for two numbers, or two vectors of them, in the type that they are computed in: integers
// wrap.
#pragma once

#include "cpu/kernels/dense.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// An integer by itself would be promoted to int, and overflow there; those of a vector are
// unsigned.
template <class V>
inline constexpr bool kWrapsByItself = IsVector<V> || kIsFloat<V>;

struct Add {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    if constexpr (kWrapsByItself<V>) {
      return a + b;
    } else {
      return static_cast<V>(static_cast<Wrap<V>>(a) + static_cast<Wrap<V>>(b));
    }
  }
};
struct Subtract {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    if constexpr (kWrapsByItself<V>) {
      return a - b;
    } else {
      return static_cast<V>(static_cast<Wrap<V>>(a) - static_cast<Wrap<V>>(b));
    }
  }
};
struct Multiply {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    if constexpr (kWrapsByItself<V>) {
      return a * b;
    } else {
      return static_cast<V>(static_cast<Wrap<V>>(a) * static_cast<Wrap<V>>(b));
    }
  }
};

// kBranches: compilers branch where two numbers are compared and one of them is chosen.
//
// A NaN on the left stays by the second test, one on the right because it compares false. Integers
// are not tested for it, so that compilers see a minimum.
struct Minimum {
  static constexpr bool kBranches = true;
  template <class V>
  static V apply(V a, V b) {
    if constexpr (kIsFloat<Number<V>>) return ((a < b) | (a != a)) ? a : b;
    return a < b ? a : b;
  }
};
struct Maximum {
  static constexpr bool kBranches = true;
  template <class V>
  static V apply(V a, V b) {
    if constexpr (kIsFloat<Number<V>>) return ((a > b) | (a != a)) ? a : b;
    return a > b ? a : b;
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
