// Adjacent values that become one number.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sparse/entries.hpp"

namespace tenure {

// Accumulator type of T: sums of f32 are exact enough in f64, those of integers are 64 bits.
template <class T>
using Sum = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

// Each rule: conversion of an entry, join of two, whether implicit zeros change nothing, and the
// dense reduction that joins many, whose accumulator is a Value.
template <class T>
struct AddUp {
  static constexpr bool kZerosAreNothing = true;
  // A mean adds in f64, which a sum of f32 does not.
  static constexpr tnr_reduce_op kMany =
      std::is_integral_v<T> ? TNR_REDUCE_OP_SUM : TNR_REDUCE_OP_MEAN;
  using Value = Sum<T>;
  static Value of(T value) noexcept { return static_cast<Value>(value); }
  static Value join(Value a, Value b) noexcept { return wrapping_add(a, b); }
};
// NaN wins. Takes values, and vectors of them.
template <class T>
struct Smallest {
  static constexpr bool kZerosAreNothing = false;
  static constexpr tnr_reduce_op kMany = TNR_REDUCE_OP_MIN;
  using Value = T;
  static Value of(T value) noexcept { return value; }
  template <class V>
  static V join(V a, V b) noexcept {
    return ((a < b) | (a != a)) ? a : b;
  }
};
template <class T>
struct Largest {
  static constexpr bool kZerosAreNothing = false;
  static constexpr tnr_reduce_op kMany = TNR_REDUCE_OP_MAX;
  using Value = T;
  static Value of(T value) noexcept { return value; }
  template <class V>
  static V join(V a, V b) noexcept {
    return ((a > b) | (a != a)) ? a : b;
  }
};

// The number of lanes that the registers of every processor have room for.
inline constexpr std::int64_t kFoldLanes = 16;

// Reduction of a long run: it is joined in lanes, so that no join waits for the one before, and the
// lanes in pairs. A function of its own, as it slows down the loop over short rows that it is part
// of.
template <class Rule, class T>
[[gnu::noinline]] typename Rule::Value fold_long_run(const T* values, std::int64_t count) noexcept {
  using Value = typename Rule::Value;
  constexpr std::int64_t kLanes = kFoldLanes;
  Value lanes[kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) lanes[i] = Rule::of(values[i]);
  std::int64_t k = kLanes;
  for (; k + kLanes <= count; k += kLanes) {
    for (std::int64_t i = 0; i < kLanes; ++i) {
      lanes[i] = Rule::join(lanes[i], Rule::of(values[k + i]));
    }
  }
  for (std::int64_t i = 0; k + i < count; ++i) {
    lanes[i] = Rule::join(lanes[i], Rule::of(values[k + i]));
  }
  for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::int64_t i = 0; i < half; ++i) lanes[i] = Rule::join(lanes[i], lanes[i + half]);
  }
  return lanes[0];
}

// Reduction of `count` values by Rule::join(), in an order that depends only on the count;
// count > 0. The loop over few is expected, so that it is aligned, and is unrolled: it takes up to
// 1.7 times as long where it crosses two cache lines of code.
template <class Rule, class T>
typename Rule::Value fold_run(const T* values, std::int64_t count) noexcept {
  if (count >= 2 * kFoldLanes) [[unlikely]]
    return fold_long_run<Rule>(values, count);
  typename Rule::Value one = Rule::of(values[0]);
#pragma GCC unroll 2
  for (std::int64_t k = 1; k < count; ++k) one = Rule::join(one, Rule::of(values[k]));
  return one;
}

template <class T>
struct Short {
  typedef T Vector __attribute__((vector_size(16)));
};

// An extreme of few values. Floats are joined as vectors, and only the first lane counts: no branch
// then depends on which is the larger, which no branch predictor finds.
template <class Rule, class T>
T fold_few(const T* values, std::int64_t count) noexcept {
  using Value = std::conditional_t<std::is_floating_point_v<T>, typename Short<T>::Vector, T>;
  Value one = {values[0]};
  for (std::int64_t k = 1; k < count; ++k) one = Rule::join(one, Value{values[k]});
  if constexpr (std::is_floating_point_v<T>) {
    return one[0];
  } else {
    return one;
  }
}

// fold_run() for a Rule with a join() that takes vectors too, in any order and any number of times,
// and with the value itself as its accumulator: an extreme.
template <class Rule, class T>
T fold_extremes(const T* values, std::int64_t count) noexcept {
  using Vector = typename Short<T>::Vector;
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(Vector) / sizeof(T));
  constexpr std::int64_t kVectors = 4;
  constexpr std::int64_t kStep = kVectors * kWidth;
  const auto vector_at = [=](std::int64_t k) {
    Vector vector;
    std::memcpy(&vector, values + k, sizeof vector);
    return vector;
  };
  if (count < kStep) return fold_few<Rule>(values, count);
  Vector vectors[kVectors];
  for (std::int64_t i = 0; i < kVectors; ++i) vectors[i] = vector_at(i * kWidth);
  for (std::int64_t k = kStep; k < count; k += kStep) {
    if (k > count - kStep) k = count - kStep;  // the last step: some have been met
    for (std::int64_t i = 0; i < kVectors; ++i) {
      vectors[i] = Rule::join(vectors[i], vector_at(k + i * kWidth));
    }
  }
  for (std::int64_t i = 1; i < kVectors; ++i) vectors[0] = Rule::join(vectors[0], vectors[i]);
  T lanes[kWidth];
  std::memcpy(lanes, &vectors[0], sizeof lanes);
  return fold_few<Rule>(lanes, kWidth);
}

}  // namespace tenure
