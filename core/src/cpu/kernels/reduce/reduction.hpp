// Rules of reductions: how elements become terms, and how terms meet.
//
// An Op reduces elements of type In. Lanes of type Lane take term(element, parameter) each and are
// merged; the result of several lanes is an Accumulator. An Op that rounds has one type for both,
// and its result depends on the order in which lanes are merged; the result of any other does not.
// merge() is written once, for numbers and for vectors of them.
#pragma once

#include "cpu/kernels/strip.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/reduce.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// settle(): the result of many terms, when they have met.
struct Unsettled {
  template <class X, class Parameter>
  static X settle(X met, Parameter) {
    return met;
  }
};

struct Adds : Unsettled {
  static constexpr bool kCentered = false;  // whether the parameter is a center
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
  using OfAccumulators = Sum<T>;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = 0;
  static constexpr Lane kLaneStart = 0;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
};
// Adds halves, which it reads where they are.
template <class T>
struct SumOfHalves : Sum<float> {
  using In = T;
};
// Integers in 64 bits, where they wrap; signed ones extend. T is 32 bits wide or more.
template <class T>
struct WideIntegerSum : Sum<uint64_t> {
  using In = T;
};
// Elements were narrower than 32 bits. A lane has room for 2^15 of them.
struct NarrowIntegerSum : Sum<uint64_t> {
  using In = int32_t;
  using Lane = int32_t;
  static constexpr int64_t kMostTerms = int64_t{1} << 15;
  static constexpr Lane kLaneStart = 0;
  static Vector<Lane> term(Vector<Lane> x, Vector<Lane>) { return x; }
};

template <class T>
struct Product : Unsettled {
  static constexpr bool kCentered = false;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  using OfAccumulators = Product<T>;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = 1;
  static constexpr Lane kLaneStart = 1;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X a, X b) {
    return a * b;
  }
};

// In f64 for every float, so that the center that VAR measures from is exact enough for all of
// them.
template <class T>
struct WideSumOf : Sum<double> {
  using In = T;
};
template <class T>
struct WideSumIn {
  using type = WideSumOf<T>;
};
template <>
struct WideSumIn<double> {
  using type = Sum<double>;
};
template <class T>
using WideSum = typename WideSumIn<T>::type;
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

template <class T>
struct Magnitudes : WideSum<T> {
  static Vector<double> term(Vector<double> x, Vector<double>) {
    constexpr uint64_t kMagnitude = Limits<uint64_t>::kMaxBits >> 1;
    return bit_copy<Vector<double>>(bit_copy<Vector<uint64_t>>(x) & broadcast(kMagnitude));
  }
};
template <class T>
struct Squares : WideSum<T> {
  static Vector<double> term(Vector<double> x, Vector<double>) { return x * x; }
};

// Terms of the elements that are not NaN, and how many they are.
template <class Base, class T>
struct WithoutNaN : Base {
  static Vector<T> term(Vector<T> x, Vector<T> parameter) {
    return x == x ? Base::term(x, parameter) : Vector<T>{};
  }
};
template <class T>
struct NumberCount : WideSum<T> {
  static Vector<double> term(Vector<double> x, Vector<double>) {
    return x == x ? broadcast(1.0) : Vector<double>{};
  }
};

// The largest of bits without the sign, which are ordered as magnitudes are; NaN is above infinity.
template <class T>
struct LargestMagnitude : Unsettled {
  static constexpr bool kCentered = false;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  using OfAccumulators = LargestMagnitude<T>;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = 0;
  static constexpr Lane kLaneStart = 0;
  static Vector<T> term(Vector<T> x, Vector<T> mask) { return x & mask; }
  template <class X>
  static X merge(X a, X b) {
    return b > a ? b : a;
  }
};

// A number is 0 where its bits are, of floats those without the sign. The parameter has the bits
// that are looked at. T is unsigned.
template <class T>
struct Any {
  static constexpr bool kCentered = false;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  using OfAccumulators = Any<T>;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Accumulator kStart = 0;
  static constexpr Lane kLaneStart = 0;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X a, X b) {
    return static_cast<X>(a | b);
  }
  template <class X>
  static X settle(X met, X mask) {
    return static_cast<X>(met & mask);
  }
};
// Not 0 once a 0 was seen. All bits of integers are looked at.
template <class T, bool kMasked>
struct SomeZero : Any<T> {
  static Vector<T> term(Vector<T> x, Vector<T> mask) {
    if constexpr (kMasked) x &= mask;
    return bit_copy<Vector<T>>(x == 0);
  }
  template <class X>
  static X settle(X met, X) {
    return met;
  }
};
template <class T, bool kMasked>
struct CountNonzero : Adds {
  using In = T;
  using Lane = T;
  using Accumulator = uint64_t;
  using OfAccumulators = Sum<uint64_t>;
  static constexpr Accumulator kStart = 0;
  static constexpr int64_t kMostTerms =
      sizeof(T) < 8 ? static_cast<int64_t>(static_cast<uint32_t>(Limits<T>::kMax)) : kUnlimited;
  static constexpr Lane kLaneStart = 0;
  // A comparison that holds gives -1.
  static Vector<T> term(Vector<T> x, Vector<T> mask) {
    if constexpr (kMasked) x &= mask;
    return Vector<T>{} - bit_copy<Vector<T>>(x != 0);
  }
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

template <class Rule, class T>
struct Extreme {
  static constexpr bool kCentered = false;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X best, X value) {
    return stays<Rule, T>(best, value) ? best : value;
  }
};

// The extreme of the elements that are not NaN; it starts as NaN.
template <class Rule, class T>
struct ExtremeNumber : Unsettled {
  static constexpr bool kCentered = false;
  using In = T;
  using Lane = T;
  using Accumulator = T;
  using OfAccumulators = ExtremeNumber<Rule, T>;
  static constexpr int64_t kMostTerms = kUnlimited;
  static constexpr Lane kLaneStart = static_cast<T>(__builtin_nan(""));
  static constexpr UnsignedOf<T> kStart = __builtin_bit_cast(UnsignedOf<T>, kLaneStart);
  static Vector<T> term(Vector<T> x, Vector<T>) { return x; }
  template <class X>
  static X merge(X best, X value) {
    return Rule::beats(value, best) | (best != best) ? value : best;
  }
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
