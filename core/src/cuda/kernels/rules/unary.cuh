// Operations on one operand that are a few instructions. Functions are in functions.cuh, questions
// in compare.cuh.
#pragma once

#include "cpu/operations.hpp"
#include "cuda/kernels/elementwise.cuh"
#include "cuda/kernels/functions/number.cuh"
#include "cuda/kernels/functions/rounding.cuh"

namespace tenure::cuda {

using kernels::UnaryNumber;
using kernels::UnaryWords;

template <class C>
TENURE_DEVICE C hardswish(C a) {
  const C x = a < -3 ? -C{3} : a;
  const C weight = (x > 3 ? C{6} : x + C{3}) / C{6};
  return x * weight;
}

// From 2^60 on 1 + |a| is |a|, and infinity over itself would be NaN.
template <class C>
TENURE_DEVICE C softsign(C a) {
  constexpr auto kFar = static_cast<C>(0x1p60);
  const C below = a < -kFar ? -kFar : a;
  const C x = below > kFar ? kFar : below;
  return x / ((x < 0 ? -x : x) + C{1});
}

template <class C, int kItems>
TENURE_DEVICE void compute_number(UnaryNumber op, C (&x)[kItems]) {
  const auto each_number = [&](const auto& rule) {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) x[i] = rule(x[i]);
  };
  switch (op) {
    case UnaryNumber::kSqrt: return each_number([](C a) { return square_root(a); });
    case UnaryNumber::kSquare: return each_number([](C a) { return a * a; });
    case UnaryNumber::kReciprocal: return each_number([](C a) { return C{1} / a; });
    case UnaryNumber::kFloor: return each_number([](C a) { return floor_of(a); });
    case UnaryNumber::kCeil: return each_number([](C a) { return ceil_of(a); });
    case UnaryNumber::kRound: return each_number([](C a) { return nearest_whole(a); });
    case UnaryNumber::kTrunc: return each_number([](C a) { return trunc_of(a); });
    case UnaryNumber::kSign:
      return each_number([](C a) { return a > 0 ? C{1} : a < 0 ? -C{1} : a; });
    case UnaryNumber::kHardswish: return each_number([](C a) { return hardswish(a); });
    case UnaryNumber::kLeakyRelu:
      return each_number([](C a) { return a < 0 ? a * static_cast<C>(0.01) : a; });
    case UnaryNumber::kSoftsign: return each_number([](C a) { return softsign(a); });
  }
}

// The bits of infinity; those of a float without its sign are above it where it is NaN.
template <class U>
TENURE_DEVICE U infinity_of(ElementType type) {
  if constexpr (sizeof(U) == 8) return uint64_t{0x7ff} << 52;
  if constexpr (sizeof(U) == 4) return 0x7f800000u;
  return static_cast<U>(type == ElementType::kF16 ? 0x7c00 : 0x7f80);
}

// Integers of a width, and operations on the bits of floats, also of NaN, in four words. An
// unsigned integer is its own absolute value and rectification. `infinity` has a float's bits.
template <class S, class U>
TENURE_DEVICE void compute_words(UnaryWords op, bool is_float, bool is_signed, U infinity,
                                 const Words<16>& in, Words<16>& out) {
  constexpr int kItems = kItemsOf<sizeof(U)>;
  constexpr auto kSign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  const auto of_bits = [&](const auto& rule) { each<U, U, kItems>(in, out, rule); };
  const auto of_words = [&](const auto& rule) {
    TENURE_UNROLL for (int i = 0; i < 4; ++i) out.of[i] = rule(in.of[i]);
  };
  switch (op) {
    case UnaryWords::kNeg:
      if (is_float) return of_bits([=](U a) { return a ^ kSign; });
      if constexpr (sizeof(U) < 4) {
        return of_words([](uint32_t a) { return difference_in_word<U>(0, a); });
      } else {
        return of_bits([](U a) { return 0 - a; });
      }
    case UnaryWords::kAbs:
      if (!is_signed) break;
      return of_bits([=](U a) {
        const auto opposite = static_cast<U>(is_float ? a ^ kSign : 0 - a);
        return static_cast<S>(a) < 0 ? opposite : a;
      });
    case UnaryWords::kRelu: {
      if (!is_signed) break;
      // Not -0, and of floats nothing beyond minus infinity.
      const auto first = static_cast<U>(is_float ? kSign + 1 : kSign);
      const auto last = static_cast<U>(is_float ? kSign | infinity : ~U{0});
      return of_bits([=](U a) { return a >= first && a <= last ? U{0} : a; });
    }
    case UnaryWords::kNanToNum:
      return of_bits([=](U a) {
        const auto magnitude = static_cast<U>(a & static_cast<U>(~kSign));
        // To the largest finite number, whose bits are those of infinity less 1.
        const auto finite = static_cast<U>(a ^ infinity ^ (infinity - 1));
        return magnitude > infinity ? U{0} : magnitude == infinity ? finite : a;
      });
    case UnaryWords::kSquare:
      return of_bits([](U a) { return static_cast<Wrapping<U>>(a) * static_cast<Wrapping<U>>(a); });
    case UnaryWords::kBitNot: return of_words([](uint32_t a) { return ~a; });
    case UnaryWords::kLogicalNot:
      return of_words([](uint32_t a) { return as_bools(a) ^ 0x01010101u; });
    case UnaryWords::kSign:
      return of_bits([=](U a) {
        const auto of_positive = static_cast<U>(a != 0 ? 1 : 0);
        return is_signed && static_cast<S>(a) < 0 ? static_cast<U>(-1) : of_positive;
      });
  }
  out = in;
}

}  // namespace tenure::cuda
