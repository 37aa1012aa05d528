// What a reduction does with elements and with what they gave.
//
// An Op reduces elements of type In. Lanes of type Lane take term(element) each and are merged;
// what several lanes gave is an Accumulator. An Op that rounds has one type for both, and its
// result depends on the order in which lanes are merged; the result of any other does not.
// merge() is written once, for numbers and for vectors of them.
#pragma once

#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct Adds {
  static constexpr bool kCentered = false;   // whether term() measures from a center
  static constexpr bool kStops = false;      // whether no element matters once a result is not 0
  static constexpr bool kMindsNans = false;  // whether Passing is the same but for them, and faster
  template <class X>
  static X merge(X a, X b) {
    return static_cast<X>(a + b);
  }
};

// How many terms a lane can hold; that of most is unlimited.
constexpr int64_t kUnlimited = int64_t{1} << 40;

template <class T>
struct Sum : Adds {
  using In = T;
  using Lane = T;
  using Accumulator = T;
  static constexpr bool kRounds = kIsFloat<T>;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = 0;
  static constexpr Lane kLaneStart = 0;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
};
// Integers in 64 bits, where they wrap; signed ones extend. T is 32 bits wide or more.
template <class T>
struct WideIntegerSum : Sum<uint64_t> {
  using In = T;
};
// Of elements that were narrower than 32 bits. A lane has room for 2^15 of them.
struct NarrowIntegerSum : Sum<uint64_t> {
  using In = int32_t;
  using Lane = int32_t;
  static constexpr int64_t kMostTerms = int64_t{1} << 15;
  static constexpr Lane kLaneStart = 0;
  static Vector<Lane> term(Vector<Lane> x, Vector<Lane>) { return x; }
};

template <class T>
struct Product {
  static constexpr bool kCentered = false;
  static constexpr bool kStops = false;
  static constexpr bool kMindsNans = false;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  static constexpr bool kRounds = kIsFloat<T>;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = 1;
  static constexpr Lane kLaneStart = 1;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X a, X b) {
    return a * b;
  }
};

// In f64 for every float, so that what VAR measures from is exact enough for all of them.
template <class T>
struct WideSum : Sum<double> {
  using In = T;
};
// Deviations from a center, and their squares. Numbers that are close to one another are subtracted
// exactly, so that nothing cancels.
template <class T>
struct Deviations : WideSum<T> {
  static constexpr bool kCentered = true;
  static Vector<double> term(Vector<double> x, Vector<double> center) { return x - center; }
};
template <class T>
struct SquaredDeviations : WideSum<T> {
  static constexpr bool kCentered = true;
  static Vector<double> term(Vector<double> x, Vector<double> center) {
    const Vector<double> deviation = x - center;
    return deviation * deviation;
  }
};

// The bits of numbers, those of floats without their signs: a number is 0 where its bits are.
template <class T>
struct Any {
  static constexpr bool kCentered = false;
  static constexpr bool kStops = true;
  static constexpr bool kMindsNans = false;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  static constexpr bool kRounds = false;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = 0;
  static constexpr Lane kLaneStart = 0;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X a, X b) {
    return static_cast<X>(a | b);
  }
};
// Not 0 once a 0 was seen.
template <class T>
struct SomeZero : Any<T> {
  static Vector<T> term(Vector<T> x, Vector<T>) { return x == 0; }
};
// T is signed: a comparison that holds gives -1.
template <class T>
struct NegatedCount : Adds {
  using In = T;
  using Lane = T;
  using Accumulator = int64_t;
  static constexpr bool kRounds = false;
  static constexpr int64_t kMostTerms = Limits<T>::kBits < 64 ? Limits<T>::kMax : kUnlimited;
  static constexpr Accumulator kStart = 0;
  static constexpr Lane kLaneStart = 0;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x != 0; }
};

struct Smaller {
  template <class T>
  static constexpr T worst() {
    if constexpr (kIsFloat<T>)
      return static_cast<T>(__builtin_inf());
    else
      return Limits<T>::kMax;
  }
  template <class X>
  static auto beats(X a, X b) {
    return a < b;
  }
  template <class X>
  static auto holds(X a, X b) {
    return a <= b;
  }
};
struct Larger {
  template <class T>
  static constexpr T worst() {
    if constexpr (kIsFloat<T>)
      return -static_cast<T>(__builtin_inf());
    else
      return Limits<T>::kMin;
  }
  template <class X>
  static auto beats(X a, X b) {
    return a > b;
  }
  template <class X>
  static auto holds(X a, X b) {
    return a >= b;
  }
};

// Where `best` stays: a NaN in it by the second test, while one in `value` enters because nothing
// holds against it.
template <class Rule, class T, class X>
inline auto stays(X best, X value) {
  if constexpr (kIsFloat<T>)
    return Rule::holds(best, value) | (best != best);
  else
    return Rule::holds(best, value);
}

// Single instructions, which take the first of equals, and let NaNs pass or not.
template <class Rule, class T>
struct ExtremeOfNumbers {
  using In = T;
  using Lane = T;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X best, X value) {
    return Rule::beats(value, best) ? value : best;
  }
};

template <class Rule, class T>
struct Extreme {
  static constexpr bool kCentered = false;
  static constexpr bool kStops = false;
  static constexpr bool kMindsNans = kIsFloat<T>;
  using Passing = ExtremeOfNumbers<Rule, T>;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  static constexpr bool kRounds = false;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = Rule::template worst<T>();
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X best, X value) {
    return stays<Rule, T>(best, value) ? best : value;
  }
};
template <class T>
using Minimum = Extreme<Smaller, T>;
template <class T>
using Maximum = Extreme<Larger, T>;

// What an accumulator becomes in the output.
template <class T>
struct AsIs {
  static T finish(Computed<T> value, const Results&) { return narrow<T>(value); }
};
struct IsZero {
  template <class T>
  static Bool8 finish(T bits, const Results&) {
    return Bool8{static_cast<uint8_t>(bits == 0 ? 1 : 0)};
  }
};
struct IsNonzero {
  template <class T>
  static Bool8 finish(T bits, const Results&) {
    return Bool8{static_cast<uint8_t>(bits != 0 ? 1 : 0)};
  }
};
struct Negated {
  static int64_t finish(int64_t count, const Results&) { return -count; }
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
