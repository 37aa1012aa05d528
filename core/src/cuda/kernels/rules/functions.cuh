// Functions of many instructions: the switch over the functions is outside of the loop over a
// thread's elements. Short functions run on all elements at once, long ones on one after the other.
#pragma once

#include "cpu/operations.hpp"
#include "cuda/kernels/functions/power.cuh"
#include "cuda/kernels/functions/rounding.cuh"
#include "cuda/kernels/functions/trigonometry.cuh"

namespace tenure::cuda {

using kernels::BinaryFunction;
using kernels::UnaryAngle;
using kernels::UnaryFunction;

template <class T, int kItems, class Rule>
TENURE_DEVICE void side_by_side(T (&x)[kItems], const Rule& rule) {
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) x[i] = rule(x[i]);
}

// Two of four at a time, for half of the code.
template <class T, int kItems, class Rule>
TENURE_DEVICE void in_pairs(T (&x)[kItems], const Rule& rule) {
  if constexpr (kItems == 4) {
    TENURE_ROLLED for (int turn = 0; turn < 2; ++turn) {
      const T first = rule(x[0]);
      const T second = rule(x[1]);
      x[0] = x[2];
      x[1] = x[3];
      x[2] = first;
      x[3] = second;
    }
  } else {
    side_by_side(x, rule);
  }
}

// The elements go round, so that the loop has no index into registers.
template <class T, int kItems, class Rule>
TENURE_DEVICE void in_turn(T (&x)[kItems], const Rule& rule) {
  TENURE_ROLLED for (int turn = 0; turn < kItems; ++turn) {
    const T result = rule(x[0]);
    TENURE_UNROLL for (int i = 0; i + 1 < kItems; ++i) x[i] = x[i + 1];
    x[kItems - 1] = result;
  }
}
template <class T, int kItems, class Rule>
TENURE_DEVICE void in_turn(T (&x)[kItems], const T (&y)[kItems], const Rule& rule) {
  T right[kItems];
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) right[i] = y[i];
  TENURE_ROLLED for (int turn = 0; turn < kItems; ++turn) {
    const T result = rule(x[0], right[0]);
    TENURE_UNROLL for (int i = 0; i + 1 < kItems; ++i) {
      x[i] = x[i + 1];
      right[i] = right[i + 1];
    }
    x[kItems - 1] = result;
  }
}

// By angles that are near, and again where one is not.
template <class T, int kItems, class Rule>
TENURE_DEVICE void of_angles(Angle angle, T (&x)[kItems], const Rule& near) {
  bool are_near = true;
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
    are_near = are_near && magnitude_of(x[i]) <= farthest_angle<T>();
  }
  if (are_near) return near();
  in_turn(x, [angle](T a) {
    if (magnitude_of(a) <= farthest_angle<T>()) return of_near_angle(angle, a);
    return static_cast<T>(of_far_angle(angle, static_cast<double>(a)));
  });
}

template <int kItems>
TENURE_DEVICE void compute(UnaryFunction op, float (&x)[kItems]) {
  const auto by_double = [&](const auto& rule) {
    in_turn(x, [&](float a) { return static_cast<float>(rule(static_cast<double>(a))); });
  };
  switch (op) {
    case UnaryFunction::kExp: return side_by_side(x, [](float a) { return exponential(a); });
    case UnaryFunction::kTanh:
      return side_by_side(x, [](float a) { return hyperbolic_tangent(a); });
    case UnaryFunction::kSigmoid: return in_pairs(x, [](float a) { return sigmoid(a); });
    case UnaryFunction::kSilu: return in_pairs(x, [](float a) { return silu(a); });
    case UnaryFunction::kGelu: return side_by_side(x, [](float a) { return gelu(a); });
    case UnaryFunction::kGeluTanh: return in_pairs(x, [](float a) { return gelu_tanh(a); });
    case UnaryFunction::kSoftplus: return in_turn(x, [](float a) { return softplus(a); });
    case UnaryFunction::kElu: return in_turn(x, [](float a) { return elu(a); });
    case UnaryFunction::kRsqrt: return in_pairs(x, [](float a) { return inverse_root(a); });
    case UnaryFunction::kExp2: return in_pairs(x, [](float a) { return exponential_of_2(a); });
    case UnaryFunction::kExpm1: return in_turn(x, [](float a) { return exponential_less_one(a); });
    case UnaryFunction::kLn: return in_pairs(x, [](float a) { return logarithm(a); });
    case UnaryFunction::kLog2: return in_pairs(x, [](float a) { return logarithm_to_2(a); });
    case UnaryFunction::kLog10: return in_turn(x, [](float a) { return logarithm_to_10(a); });
    case UnaryFunction::kLog1p: return in_turn(x, [](float a) { return logarithm_of_one_more(a); });
    case UnaryFunction::kErf: return in_turn(x, [](float a) { return error_function(a); });
    case UnaryFunction::kErfc:
      return in_turn(x, [](float a) { return complement_of_error_function(a); });
    case UnaryFunction::kSinh: return in_turn(x, [](float a) { return hyperbolic_sine(a); });
    case UnaryFunction::kCosh: return in_turn(x, [](float a) { return hyperbolic_cosine(a); });
    case UnaryFunction::kAsinh:
      return in_turn(x, [](float a) { return inverse_hyperbolic_sine(a); });
    case UnaryFunction::kAcosh:
      return in_turn(x, [](float a) { return inverse_hyperbolic_cosine(a); });
    case UnaryFunction::kAtanh:
      return in_turn(x, [](float a) { return inverse_hyperbolic_tangent(a); });
    case UnaryFunction::kAsin: return by_double([](double a) { return inverse_sine(a); });
    case UnaryFunction::kAcos: return by_double([](double a) { return inverse_cosine(a); });
    case UnaryFunction::kAtan: return by_double([](double a) { return inverse_tangent(a); });
    case UnaryFunction::kCbrt: return by_double([](double a) { return cube_root(a); });
  }
}

template <int kItems>
TENURE_DEVICE void compute(UnaryFunction op, double (&x)[kItems]) {
  switch (op) {
    case UnaryFunction::kExp: return side_by_side(x, [](double a) { return exponential(a); });
    case UnaryFunction::kTanh: return in_turn(x, [](double a) { return hyperbolic_tangent(a); });
    case UnaryFunction::kSigmoid: return in_turn(x, [](double a) { return sigmoid(a); });
    case UnaryFunction::kSilu: return in_turn(x, [](double a) { return silu(a); });
    case UnaryFunction::kGelu: return in_turn(x, [](double a) { return gelu(a); });
    case UnaryFunction::kGeluTanh: return in_turn(x, [](double a) { return gelu_tanh(a); });
    case UnaryFunction::kSoftplus: return in_turn(x, [](double a) { return softplus(a); });
    case UnaryFunction::kElu: return in_turn(x, [](double a) { return elu(a); });
    case UnaryFunction::kRsqrt: return in_turn(x, [](double a) { return inverse_root(a); });
    case UnaryFunction::kExp2: return in_turn(x, [](double a) { return exponential_of_2(a); });
    case UnaryFunction::kExpm1: return in_turn(x, [](double a) { return exponential_less_one(a); });
    case UnaryFunction::kLn: return in_turn(x, [](double a) { return logarithm(a); });
    case UnaryFunction::kLog2: return in_turn(x, [](double a) { return logarithm_to_2(a); });
    case UnaryFunction::kLog10: return in_turn(x, [](double a) { return logarithm_to_10(a); });
    case UnaryFunction::kLog1p:
      return in_turn(x, [](double a) { return logarithm_of_one_more(a); });
    case UnaryFunction::kErf: return in_turn(x, [](double a) { return error_function(a); });
    case UnaryFunction::kErfc:
      return in_turn(x, [](double a) { return complement_of_error_function(a); });
    case UnaryFunction::kSinh: return in_turn(x, [](double a) { return hyperbolic_sine(a); });
    case UnaryFunction::kCosh: return in_turn(x, [](double a) { return hyperbolic_cosine(a); });
    case UnaryFunction::kAsinh:
      return in_turn(x, [](double a) { return inverse_hyperbolic_sine(a); });
    case UnaryFunction::kAcosh:
      return in_turn(x, [](double a) { return inverse_hyperbolic_cosine(a); });
    case UnaryFunction::kAtanh:
      return in_turn(x, [](double a) { return inverse_hyperbolic_tangent(a); });
    case UnaryFunction::kAsin: return in_turn(x, [](double a) { return inverse_sine(a); });
    case UnaryFunction::kAcos: return in_turn(x, [](double a) { return inverse_cosine(a); });
    case UnaryFunction::kAtan: return in_turn(x, [](double a) { return inverse_tangent(a); });
    case UnaryFunction::kCbrt: return in_turn(x, [](double a) { return cube_root(a); });
  }
}

TENURE_DEVICE Angle angle_of(UnaryAngle op) {
  switch (op) {
    case UnaryAngle::kSin: return Angle::kSine;
    case UnaryAngle::kCos: return Angle::kCosine;
    case UnaryAngle::kTan: break;
  }
  return Angle::kTangent;
}

template <class T, int kItems>
TENURE_DEVICE void compute_angles(UnaryAngle op, T (&x)[kItems]) {
  of_angles(angle_of(op), x, [&] {
    switch (op) {
      case UnaryAngle::kSin: return in_pairs(x, [](T a) { return of_near_angle(Angle::kSine, a); });
      case UnaryAngle::kCos:
        return in_pairs(x, [](T a) { return of_near_angle(Angle::kCosine, a); });
      case UnaryAngle::kTan:
        return in_pairs(x, [](T a) { return of_near_angle(Angle::kTangent, a); });
    }
  });
}

template <class T, int kItems>
TENURE_DEVICE void compute(BinaryFunction op, T (&x)[kItems], const T (&y)[kItems]) {
  switch (op) {
    case BinaryFunction::kPow: return in_turn(x, y, [](T a, T b) { return power(a, b); });
    case BinaryFunction::kRem: return in_turn(x, y, [](T a, T b) { return remainder_of(a, b); });
    case BinaryFunction::kHypot: return in_turn(x, y, [](T a, T b) { return distance(a, b); });
    case BinaryFunction::kAtan2:
      return in_turn(x, y, [](T a, T b) {
        return static_cast<T>(angle_of_point(static_cast<double>(a), static_cast<double>(b)));
      });
  }
}

}  // namespace tenure::cuda
