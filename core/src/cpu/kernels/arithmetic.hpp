// Rules for two numbers, in the type that they are computed in: integers wrap.
#pragma once

#include "cpu/kernels/number.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct Add {
  static double apply(double a, double b) { return a + b; }
  static float apply(float a, float b) { return a + b; }
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) + static_cast<Wrap<T>>(b));
  }
};

// A NaN on the left stays by the second test, one on the right because it compares false.
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    return ((a < b) | (a != a)) ? a : b;
  }
};
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    return ((a > b) | (a != a)) ? a : b;
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
