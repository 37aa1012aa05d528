// Parts of functions: polynomials, and arithmetic on numbers twice as long as the type's.
//
// Sets that have a fused multiply-add use it, so functions differ between sets, within their bounds.
// Exact products and remainders take more steps without it.
//
// The algorithms are those of Dekker, "A floating-point technique for extending the available
// precision" (Numerische Mathematik 18, 1971), and of Muller et al., "Handbook of Floating-Point
// Arithmetic", 2nd edition, chapter 4.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cpu/kernels/dense.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

#if defined(__FMA__)
// a * b + c, rounded once.
template <IsVector V>
inline V fused(V a, V b, V c) {
  constexpr bool kIsDouble = sizeof(Number<V>) == 8;
#if defined(__AVX512F__)
  if constexpr (kIsDouble) {
    return bit_copy<V>(
        _mm512_fmadd_pd(bit_copy<__m512d>(a), bit_copy<__m512d>(b), bit_copy<__m512d>(c)));
  } else {
    return bit_copy<V>(
        _mm512_fmadd_ps(bit_copy<__m512>(a), bit_copy<__m512>(b), bit_copy<__m512>(c)));
  }
#else
  if constexpr (kIsDouble) {
    return bit_copy<V>(
        _mm256_fmadd_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b), bit_copy<__m256d>(c)));
  } else {
    return bit_copy<V>(
        _mm256_fmadd_ps(bit_copy<__m256>(a), bit_copy<__m256>(b), bit_copy<__m256>(c)));
  }
#endif
}
#endif

// a * b + c: rounded once where the set has an instruction for it.
template <class V>
inline V multiply_add(V a, V b, V c) {
#if defined(__FMA__)
  if constexpr (IsVector<V>) {
    return fused(a, b, c);
  } else {
    return static_cast<V>(sizeof(V) == 8 ? __builtin_fma(a, b, c) : __builtin_fmaf(a, b, c));
  }
#else
  return a * b + c;
#endif
}

// x at most or at least `limit`. NaN, which compares false, stays. The operands are in the order of
// instructions; g++ 12 finds those of AVX-512 not by itself.
template <IsVector V>
inline V at_most(V x, Number<V> limit) {
  const V limits = V{} + limit;
#if defined(__AVX512F__)
  if constexpr (kSame<Number<V>, float>) {
    return bit_copy<V>(_mm512_maskz_min_ps(0xffff, bit_copy<__m512>(limits), bit_copy<__m512>(x)));
  } else {
    return bit_copy<V>(_mm512_maskz_min_pd(0xff, bit_copy<__m512d>(limits), bit_copy<__m512d>(x)));
  }
#else
  return limits < x ? limits : x;
#endif
}
template <IsVector V>
inline V at_least(V x, Number<V> limit) {
  const V limits = V{} + limit;
#if defined(__AVX512F__)
  if constexpr (kSame<Number<V>, float>) {
    return bit_copy<V>(_mm512_maskz_max_ps(0xffff, bit_copy<__m512>(limits), bit_copy<__m512>(x)));
  } else {
    return bit_copy<V>(_mm512_maskz_max_pd(0xff, bit_copy<__m512d>(limits), bit_copy<__m512d>(x)));
  }
#else
  return limits > x ? limits : x;
#endif
}

template <class V>
inline V magnitude_of(V x) {
  using Word = UnsignedOf<Number<V>>;
  constexpr Word kSign = Word{1} << (8 * sizeof(Word) - 1);
  return bit_copy<V>(bit_copy<As<Word, V>>(x) & static_cast<Word>(~kSign));
}

template <class V>
inline V with_sign_of(V magnitude, V x) {
  using Word = UnsignedOf<Number<V>>;
  using Bits = As<Word, V>;
  constexpr Word kSign = Word{1} << (8 * sizeof(Word) - 1);
  return bit_copy<V>(bit_copy<Bits>(magnitude) | (bit_copy<Bits>(x) & kSign));
}

// a - b c, where b c and the result are exact.
template <class V>
inline V less_exact_product(V a, V b, Number<V> c) {
#if defined(__FMA__)
  return fused(-b, V{} + c, a);
#else
  return a - b * c;
#endif
}

// Whether some lane of a is less than that of b.
template <IsVector V>
inline bool is_any_less(V a, V b) {
  [[maybe_unused]] constexpr bool kIsDouble = sizeof(Number<V>) == 8;
#if defined(__AVX512F__)
  if constexpr (kIsDouble) {
    return _mm512_cmp_pd_mask(bit_copy<__m512d>(a), bit_copy<__m512d>(b), _CMP_LT_OQ) != 0;
  } else {
    return _mm512_cmp_ps_mask(bit_copy<__m512>(a), bit_copy<__m512>(b), _CMP_LT_OQ) != 0;
  }
#elif defined(__AVX2__)
  if constexpr (kIsDouble) {
    return _mm256_movemask_pd(bit_copy<__m256d>(a < b)) != 0;
  } else {
    return _mm256_movemask_ps(bit_copy<__m256>(a < b)) != 0;
  }
#elif defined(__x86_64__)
  if constexpr (kIsDouble) {
    return _mm_movemask_pd(bit_copy<__m128d>(a < b)) != 0;
  } else {
    return _mm_movemask_ps(bit_copy<__m128>(a < b)) != 0;
  }
#else
  const auto words = bit_copy<typename SizedVector<uint64_t, sizeof(V)>::type>(a < b);
  return (words[0] | words[1]) != 0;
#endif
}

// Whether a comparison holds in every lane.
template <IsVector Mask>
inline bool is_every_lane(Mask mask) {
  using Words = typename SizedVector<int64_t, sizeof(Mask)>::type;
  constexpr int kCount = sizeof(Mask) / 8;
  const Words words = bit_copy<Words>(mask);
  int64_t all = -1;
  for (int i = 0; i < kCount; ++i) all &= words[i];
  return all == -1;
}

// Whether every lane is at most `limit` from 0. NaN is not.
template <IsVector V>
inline bool is_every_lane_within(V x, Number<V> limit) {
  const V magnitude = magnitude_of(x);
#if defined(__AVX512F__)
  if constexpr (sizeof(Number<V>) == 8) {
    return _mm512_cmp_pd_mask(bit_copy<__m512d>(magnitude), _mm512_set1_pd(limit), _CMP_NLE_UQ) ==
           0;
  } else {
    return _mm512_cmp_ps_mask(bit_copy<__m512>(magnitude), _mm512_set1_ps(limit), _CMP_NLE_UQ) == 0;
  }
#elif defined(__AVX2__)
  if constexpr (sizeof(Number<V>) == 8) {
    return _mm256_movemask_pd(bit_copy<__m256d>(magnitude <= limit)) == 0xf;
  } else {
    return _mm256_movemask_ps(bit_copy<__m256>(magnitude <= limit)) == 0xff;
  }
#else
  return is_every_lane(magnitude <= limit);
#endif
}

// The upper half of a significand, to nearest: products of it, and of the lower half, are exact.
template <class V>
inline V upper_half(V x) {
  using Word = UnsignedOf<Number<V>>;
  constexpr Word kUnit = Word{1} << (sizeof(Word) == 8 ? 27 : 12);
  return bit_copy<V>((bit_copy<As<Word, V>>(x) + kUnit / 2) & ~(kUnit - 1));
}

// high + low, where low is at most half of the last place of high.
template <class V>
struct Long {
  V high;
  V low;
};

// |large| is not smaller than |small|.
template <class V>
inline Long<V> sum_of(V large, V small) {
  const V sum = large + small;
  return {sum, small - (sum - large)};
}

// The sum of any two numbers, with its rounding error (Knuth).
template <class V>
inline Long<V> sum_of_any(V a, V b) {
  const V sum = a + b;
  const V b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

template <class V>
inline Long<V> product_of(V a, V b) {
  const V product = a * b;
#if defined(__FMA__)
  return {product, fused(a, b, -product)};
#else
  const V a_high = upper_half(a);
  const V b_high = upper_half(b);
  const V a_low = a - a_high;
  const V b_low = b - b_high;
  const V rest = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high;
  return {product, rest + a_low * b_low};
#endif
}

// One rounding of full size. The dividend's remainder is exact: without fused multiply-adds the
// first digits of the quotient have half of the bits.
template <class V>
inline V quotient(Long<V> a, Long<V> b) {
  const V inverse = Number<V>{1} / b.high;
#if defined(__FMA__)
  const V first = a.high * inverse;
  const V rest = fused(-first, b.high, a.high);
#else
  const V first = upper_half(a.high * inverse);
  const V b_high = upper_half(b.high);
  const V rest = (a.high - first * b_high) - first * (b.high - b_high);
#endif
  return multiply_add(rest + multiply_add(-first, b.low, a.low), inverse, first);
}

// a b - 1, rounded once, of b of at most 12 bits and a product near 1.
template <class V>
inline V product_less_one(V a, V b) {
  const V one = V{} + Number<V>{1};
#if defined(__FMA__)
  return fused(a, b, -one);
#else
  const V high = upper_half(a);
  return (high * b - one) + (a - high) * b;
#endif
}

// 1 / b. The first digits are cut off, so that the remainder of 1 is exact.
template <class V>
inline Long<V> reciprocal(Long<V> b) {
  using Word = UnsignedOf<Number<V>>;
  constexpr Word kLower = (Word{1} << (sizeof(Word) == 8 ? 27 : 12)) - 1;
  const V one = V{} + Number<V>{1};
  const V inverse = one / b.high;
  const V first = bit_copy<V>(bit_copy<As<Word, V>>(inverse) & ~kLower);
#if defined(__FMA__)
  const V rest = fused(-first, b.high, one);
#else
  const V b_high = upper_half(b.high);
  const V rest = (one - first * b_high) - first * (b.high - b_high);
#endif
  return {first, (rest - first * b.low) * inverse};
}

// c[0] + c[1] x + c[2] x^2 + ...: in pairs of powers (Estrin), which a processor computes in
// parallel; it would wait at each step of Horner's single chain.
template <class T, int kCount>
struct Polynomial {
  T c[kCount];

  template <class V>
  V operator()(V x) const {
    return of<true>(x);
  }

  // With a rounding after each product: the same bits under every set.
  template <class V>
  V without_fusing(V x) const {
    return of<false>(x);
  }

 private:
  template <bool kFuses, class V>
  V of(V x) const {
    if constexpr (kCount <= 2) {
      return part<kFuses, 0, kCount>(x, x, x, x, x);
    } else {
      const V power2 = x * x;
      const V power4 = kCount > 4 ? power2 * power2 : power2;
      const V power8 = kCount > 8 ? power4 * power4 : power4;
      const V power16 = kCount > 16 ? power8 * power8 : power8;
      return part<kFuses, 0, kCount>(x, power2, power4, power8, power16);
    }
  }

  template <bool kFuses, int kFirst, int kTerms, class V>
  V part(V x, V power2, V power4, V power8, V power16) const {
    if constexpr (kTerms == 1) {
      return V{} + c[kFirst];
    } else {
      constexpr int kLow = kTerms > 16 ? 16 : kTerms > 8 ? 8 : kTerms > 4 ? 4 : kTerms > 2 ? 2 : 1;
      const V low = part<kFuses, kFirst, kLow>(x, power2, power4, power8, power16);
      const V high = part<kFuses, kFirst + kLow, kTerms - kLow>(x, power2, power4, power8, power16);
      const V power = kLow == 16  ? power16
                      : kLow == 8 ? power8
                      : kLow == 4 ? power4
                      : kLow == 2 ? power2
                                  : x;
      if constexpr (kFuses) return multiply_add(power, high, low);
      return power * high + low;
    }
  }
};
template <class T, class... Rest>
Polynomial(T, Rest...) -> Polynomial<T, 1 + static_cast<int>(sizeof...(Rest))>;

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
