// What a reduction does with each element, how its accumulators meet, and what they become.
#pragma once

#include "kernels/number.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// An Op reduces elements of type In, which is computed in: Accumulator, start(), step(), merge().
// step() of an Op with kPlace != kNowhere is also told the element's index or its column's center.
enum class Place { kNowhere, kIndex, kCenter };

template <class T>
struct Sum {
  using In = T;
  using Accumulator = uint64_t;  // wraps; signed values extend
  static constexpr Place kPlace = Place::kNowhere;
  static uint64_t start() { return 0; }
  static uint64_t step(uint64_t sum, T value) { return sum + static_cast<uint64_t>(value); }
  static uint64_t merge(uint64_t a, uint64_t b) { return a + b; }
};
template <class T>
  requires kIsFloat<T>
struct Sum<T> {
  using In = T;
  using Accumulator = T;
  static constexpr Place kPlace = Place::kNowhere;
  static T start() { return 0; }
  static T step(T sum, T value) { return sum + value; }
  static T merge(T a, T b) { return a + b; }
};

template <class T>
struct Product {
  using In = T;
  using Accumulator = typename Sum<T>::Accumulator;
  static constexpr Place kPlace = Place::kNowhere;
  static Accumulator start() { return 1; }
  static Accumulator step(Accumulator product, T value) {
    return product * static_cast<Accumulator>(value);
  }
  static Accumulator merge(Accumulator a, Accumulator b) { return a * b; }
};

// In f64 for every float, so that what VAR measures from is exact enough for all of them.
template <class T>
struct WideSum {
  using In = T;
  using Accumulator = double;
  static constexpr Place kPlace = Place::kNowhere;
  static double start() { return 0; }
  static double step(double sum, T value) { return sum + static_cast<double>(value); }
  static double merge(double a, double b) { return a + b; }
};

// The second of two passes: deviations are measured from a mean that is known, so that nothing
// cancels.
template <class T>
struct Deviations {
  using In = T;
  using Accumulator = double;
  static constexpr Place kPlace = Place::kCenter;
  static double start() { return 0; }
  static double step(double sum, T value, double center) {
    const double deviation = static_cast<double>(value) - center;
    return sum + deviation * deviation;
  }
  static double merge(double a, double b) { return a + b; }
};

struct Smaller {
  template <class T>
  static T worst() {
    if constexpr (kIsFloat<T>)
      return static_cast<T>(__builtin_inf());
    else
      return Limits<T>::kMax;
  }
  template <class T>
  static bool beats(T a, T b) {
    return a < b;
  }
  template <class T>
  static bool holds(T a, T b) {
    return a <= b;
  }
};
struct Larger {
  template <class T>
  static T worst() {
    if constexpr (kIsFloat<T>)
      return -static_cast<T>(__builtin_inf());
    else
      return Limits<T>::kMin;
  }
  template <class T>
  static bool beats(T a, T b) {
    return a > b;
  }
  template <class T>
  static bool holds(T a, T b) {
    return a >= b;
  }
};

// A NaN in `best` stays by the second test; one in `value` enters because nothing holds against it.
template <class Rule, class T>
struct Extreme {
  using In = T;
  using Accumulator = T;
  static constexpr Place kPlace = Place::kNowhere;
  static T start() { return Rule::template worst<T>(); }
  static T merge(T best, T value) {
    return (Rule::holds(best, value) | (best != best)) ? best : value;
  }
  static T step(T best, T value) { return merge(best, value); }
};
template <class T>
using Minimum = Extreme<Smaller, T>;
template <class T>
using Maximum = Extreme<Larger, T>;

template <class T>
struct Indexed {
  T value;
  int64_t index;
};

// Elements arrive in any order: of equals, and of NaNs, the lower index wins.
template <class Rule, class T>
struct ArgExtreme {
  using In = T;
  using Accumulator = Indexed<T>;
  static constexpr Place kPlace = Place::kIndex;
  static Accumulator start() { return {Rule::template worst<T>(), Limits<int64_t>::kMax}; }
  static Accumulator merge(Accumulator best, Accumulator other) {
    const bool best_nan = best.value != best.value;
    const bool other_nan = other.value != other.value;
    const bool tie = (best.value == other.value) | (best_nan & other_nan);
    const bool better = Rule::beats(other.value, best.value) | (other_nan & !best_nan);
    return better | (tie & (other.index < best.index)) ? other : best;
  }
  static Accumulator step(Accumulator best, T value, int64_t index) {
    return merge(best, {value, index});
  }
};
template <class T>
using ArgMinimum = ArgExtreme<Smaller, T>;
template <class T>
using ArgMaximum = ArgExtreme<Larger, T>;

template <class T>
struct Any {
  using In = T;
  using Accumulator = uint8_t;
  static constexpr Place kPlace = Place::kNowhere;
  static uint8_t start() { return 0; }
  static uint8_t step(uint8_t any, T value) {
    return static_cast<uint8_t>(any | (value != 0 ? 1 : 0));
  }
  static uint8_t merge(uint8_t a, uint8_t b) { return a | b; }
};

template <class T>
struct All {
  using In = T;
  using Accumulator = uint8_t;
  static constexpr Place kPlace = Place::kNowhere;
  static uint8_t start() { return 1; }
  static uint8_t step(uint8_t all, T value) {
    return static_cast<uint8_t>(all & (value != 0 ? 1 : 0));
  }
  static uint8_t merge(uint8_t a, uint8_t b) { return a & b; }
};

template <class T>
struct Count {
  using In = T;
  using Accumulator = int64_t;
  static constexpr Place kPlace = Place::kNowhere;
  static int64_t start() { return 0; }
  static int64_t step(int64_t count, T value) { return count + (value != 0 ? 1 : 0); }
  static int64_t merge(int64_t a, int64_t b) { return a + b; }
};

// What an accumulator becomes in the output. T is the output's type.
template <class T>
struct AsIs {
  template <class Accumulator>
  static T finish(Accumulator value, const Results&) {
    if constexpr (kSame<T, Bool8>) {
      return Bool8{value};
    } else {
      return narrow<T>(value);
    }
  }
};
struct IndexOnly {
  template <class T>
  static int64_t finish(Indexed<T> best, const Results&) {
    return best.index;
  }
};
template <class T>
struct Average {
  static T finish(double sum, const Results& results) {
    const double mean = sum / static_cast<double>(results.count);
    return convert<T>(results.count == 0 ? __builtin_nan("") : mean);
  }
};
inline double variance(double sum, const Results& results) {
  if (results.count <= results.ddof) return __builtin_nan("");
  return sum / static_cast<double>(results.count - results.ddof);
}
template <class T>
struct Variance {
  static T finish(double sum, const Results& results) { return convert<T>(variance(sum, results)); }
};
template <class T>
struct StandardDeviation {
  static T finish(double sum, const Results& results) {
    return convert<T>(__builtin_sqrt(variance(sum, results)));
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
