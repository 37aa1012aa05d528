// Operations on two operands that are a few instructions, and integer division and powers.
// Functions are in functions.cuh.
#pragma once

#include "cpu/operations.hpp"
#include "cuda/kernels/elementwise.cuh"

namespace tenure::cuda {

using kernels::BinaryNumber;
using kernels::BinaryWords;

// A NaN on the left stays by the second test, one on the right because it compares false.
template <class C, int kItems>
TENURE_DEVICE void compute_number(BinaryNumber op, C (&x)[kItems], const C (&y)[kItems]) {
  const auto each_pair = [&](const auto& rule) {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) x[i] = rule(x[i], y[i]);
  };
  switch (op) {
    case BinaryNumber::kAdd: return each_pair([](C a, C b) { return a + b; });
    case BinaryNumber::kSub: return each_pair([](C a, C b) { return a - b; });
    case BinaryNumber::kMul: return each_pair([](C a, C b) { return a * b; });
    case BinaryNumber::kDiv: return each_pair([](C a, C b) { return a / b; });
    case BinaryNumber::kMin: return each_pair([](C a, C b) { return a < b || a != a ? a : b; });
    case BinaryNumber::kMax: return each_pair([](C a, C b) { return a > b || a != a ? a : b; });
  }
}

// The quotient or the remainder, by one division of magnitudes for signed and unsigned numbers: so
// MIN by -1 wraps. Where the divisor is 0 the result is 0.
enum class Divided { kQuotient, kRest };
template <class U>
TENURE_DEVICE U divided(Divided wanted, bool is_signed, U a, U b) {
  if (b == 0) return U{0};
  const bool a_is_negative = is_signed && (a >> (8 * sizeof(U) - 1)) != 0;
  const bool b_is_negative = is_signed && (b >> (8 * sizeof(U) - 1)) != 0;
  const Wrapping<U> dividend = a_is_negative ? static_cast<U>(0 - a) : a;
  const Wrapping<U> divisor = b_is_negative ? static_cast<U>(0 - b) : b;
  const Wrapping<U> quotient = dividend / divisor;
  const bool wants_rest = wanted == Divided::kRest;
  const auto result = static_cast<U>(wants_rest ? dividend - quotient * divisor : quotient);
  // A rest has the sign of the dividend.
  const bool is_negative = a_is_negative != (!wants_rest && b_is_negative);
  return is_negative ? static_cast<U>(0 - result) : result;
}

// By squares, which wrap.
template <class U>
TENURE_DEVICE U integer_power(U base, U exponent) {
  auto square = static_cast<Wrapping<U>>(base);
  Wrapping<U> result = 1;
  TENURE_ROLLED for (U left = exponent; left != 0; left = static_cast<U>(left >> 1)) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<U>(result);
}

// A count that is negative or not below the width shifts all bits out.
template <class U>
TENURE_DEVICE U shifted_left(U a, U count) {
  constexpr unsigned kBits = 8 * sizeof(U);
  return count < kBits ? static_cast<U>(static_cast<Wrapping<U>>(a) << (count & (kBits - 1)))
                       : U{0};
}
template <class T, class U>
TENURE_DEVICE T shifted_right(T a, U count) {
  constexpr unsigned kBits = 8 * sizeof(T);
  const bool is_inside = count < kBits;
  const auto within = static_cast<T>(a >> (is_inside ? count : kBits - 1));
  return is_inside || static_cast<T>(-1) < T{0} ? within : T{0};
}

// Runs a long rule on one word of short numbers, or one wide number, after the other. Numbers go
// round so that the loop has no index into registers.
template <class T, class Rule>
TENURE_DEVICE void long_each(const Words<16>& a, const Words<16>& b, Words<16>& out,
                             const Rule& rule) {
  if constexpr (sizeof(T) < 8) {
    Words<16> left[2] = {a, b};
    words_in_turn(left, out, [&](const auto& of, Words<4>& result) {
      TENURE_UNROLL for (int i = 0; i < 4 / static_cast<int>(sizeof(T)); ++i) {
        put(result, i, static_cast<T>(rule(get<T>(of[0], i), get<T>(of[1], i))));
      }
    });
  } else {
    T x = get<T>(a, 0);
    T y = get<T>(b, 0);
    T results[2] = {};
    TENURE_ROLLED for (int turn = 0; turn < 2; ++turn) {
      results[0] = results[1];
      results[1] = rule(x, y);
      x = get<T>(a, 1);
      y = get<T>(b, 1);
    }
    TENURE_UNROLL for (int i = 0; i < 2; ++i) put(out, i, results[i]);
  }
}

// Whether an element of the right operand is 0, or negative.
template <class T>
TENURE_DEVICE bool has_zero(const Words<16>& words) {
  bool result = false;
  TENURE_UNROLL for (int i = 0; i < kItemsOf<sizeof(T)>; ++i) {
    result = result || get<T>(words, i) == 0;
  }
  return result;
}
template <class U>
TENURE_DEVICE bool has_negative(const Words<16>& words) {
  uint32_t bits = 0;
  TENURE_UNROLL for (int i = sizeof(U) == 8 ? 1 : 0; i < 4; i += sizeof(U) == 8 ? 2 : 1) {
    bits |= words.of[i];
  }
  return (bits & highest_bits<U>()) != 0;
}

// Integers of a width, and truth values where it is one byte, in four words. Calls found(bool) with
// true where the operation does not take an element of y.
template <class S, class U, class Found>
TENURE_DEVICE void compute_integers(BinaryWords op, bool is_signed, Words<16>& x, Words<16>& y,
                                    Words<16>& out, const Found& found) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  const auto of_words = [&](const auto& rule) {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) out.of[i] = rule(x.of[i], y.of[i]);
  };
  const auto of_bits = [&](const auto& rule) { each<U, U, kItems>(x, y, out, rule); };
  switch (op) {
    case BinaryWords::kAdd:
      if constexpr (sizeof(U) < 4) {
        return of_words([](uint32_t a, uint32_t b) { return sum_in_word<U>(a, b); });
      } else {
        return of_bits([](U a, U b) { return a + b; });
      }
    case BinaryWords::kSub:
      if constexpr (sizeof(U) < 4) {
        return of_words([](uint32_t a, uint32_t b) { return difference_in_word<U>(a, b); });
      } else {
        return of_bits([](U a, U b) { return a - b; });
      }
    case BinaryWords::kMul:
      return of_bits(
          [](U a, U b) { return static_cast<Wrapping<U>>(a) * static_cast<Wrapping<U>>(b); });
    case BinaryWords::kMin:
    case BinaryWords::kMax: {
      const bool takes_lesser = op == BinaryWords::kMin;
      if (is_signed) {
        exchange_orders<U>(x);
        exchange_orders<U>(y);
      }
      of_bits([=](U a, U b) { return (a < b) == takes_lesser ? a : b; });
      if (is_signed) exchange_orders<U>(out);
      return;
    }
    case BinaryWords::kDiv:
    case BinaryWords::kRem: {
      found(has_zero<U>(y));
      const Divided wanted = op == BinaryWords::kDiv ? Divided::kQuotient : Divided::kRest;
      return long_each<U>(x, y, out, [=](U a, U b) { return divided(wanted, is_signed, a, b); });
    }
    case BinaryWords::kPow:
      found(is_signed && has_negative<U>(y));
      return long_each<U>(x, y, out, [=](U a, U b) {
        return is_signed && static_cast<S>(b) < 0 ? U{0} : integer_power(a, b);
      });
    case BinaryWords::kBitAnd: return of_words([](uint32_t a, uint32_t b) { return a & b; });
    case BinaryWords::kBitOr: return of_words([](uint32_t a, uint32_t b) { return a | b; });
    case BinaryWords::kBitXor: return of_words([](uint32_t a, uint32_t b) { return a ^ b; });
    case BinaryWords::kShiftLeft:
      return long_each<U>(x, y, out, [](U a, U b) { return shifted_left(a, b); });
    case BinaryWords::kShiftRight:
      return long_each<U>(x, y, out, [=](U a, U b) {
        return is_signed ? static_cast<U>(shifted_right(static_cast<S>(a), b))
                         : shifted_right(a, b);
      });
    case BinaryWords::kLogicalAnd:
      return of_words([](uint32_t a, uint32_t b) { return as_bools(a) & as_bools(b); });
    case BinaryWords::kLogicalOr:
      return of_words([](uint32_t a, uint32_t b) { return as_bools(a | b); });
    case BinaryWords::kLogicalXor:
      return of_words([](uint32_t a, uint32_t b) { return as_bools(a) ^ as_bools(b); });
  }
}

}  // namespace tenure::cuda
