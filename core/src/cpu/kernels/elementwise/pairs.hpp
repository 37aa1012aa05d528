// Vectors of complex numbers: the real and imaginary parts of each are adjacent lanes.
#pragma once

#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
struct Complex {
  T real;
  T imaginary;
};

// For each pair its lanes `first` and `second`, 0 the real and 1 the imaginary part: <1, 0>
// exchanges them, <0, 0> repeats the real one. Intrinsics, since g++ 11 has shuffles of another
// form than clang.
template <int first, int second, IsVector V>
inline V pairwise(V v) {
#if defined(__x86_64__)
  constexpr int kTwo = first | second << 1;                                          // of f64
  constexpr int kFour = first | second << 2 | (first + 2) << 4 | (second + 2) << 6;  // of f32
  constexpr bool kIsDouble = sizeof(Number<V>) == 8;
  if constexpr (sizeof(V) == 16) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm_shuffle_pd(bit_copy<__m128d>(v), bit_copy<__m128d>(v), kTwo));
    } else {
      return bit_copy<V>(_mm_shuffle_ps(bit_copy<__m128>(v), bit_copy<__m128>(v), kFour));
    }
  }
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm256_permute_pd(bit_copy<__m256d>(v), kTwo | kTwo << 2));
    } else {
      return bit_copy<V>(_mm256_permute_ps(bit_copy<__m256>(v), kFour));
    }
  }
#endif
#if defined(__AVX512F__)
  // Masked, with every bit set: g++ 12 takes the unmasked forms' result for uninitialised.
  if constexpr (sizeof(V) == 64) {
    constexpr int kEight = kTwo | kTwo << 2 | kTwo << 4 | kTwo << 6;
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm512_maskz_permute_pd(0xff, bit_copy<__m512d>(v), kEight));
    } else {
      return bit_copy<V>(_mm512_maskz_permute_ps(0xffff, bit_copy<__m512>(v), kFour));
    }
  }
#endif
#else
  constexpr int kLanes = sizeof(V) / sizeof(Number<V>);
  V result{};
  for (int i = 0; i < kLanes; i += 2) {
    result[i] = v[i + first];
    result[i + 1] = v[i + second];
  }
  return result;
#endif
}

template <class V>
inline V exchanged(V v) {
  return pairwise<1, 0>(v);
}

// The sign bits of one part, in as many bytes as the largest vector has.
template <class Word, int part>
struct SignsOf {
  static constexpr int kLanes = kRegisterBytes / sizeof(Word);
  Word lanes[kLanes];
  constexpr SignsOf() : lanes{} {
    for (int i = part; i < kLanes; i += 2) lanes[i] = Word{1} << (8 * sizeof(Word) - 1);
  }
};
template <class Word, int part>
inline constexpr SignsOf<Word, part> kSignsOf;

// The number 1, as often as the largest vector holds it.
template <class T>
struct Ones {
  static constexpr int kLanes = kRegisterBytes / sizeof(T);
  T lanes[kLanes];
  constexpr Ones() : lanes{} {
    for (int i = 0; i < kLanes; i += 2) lanes[i] = 1;
  }
};
template <class T>
inline constexpr Ones<T> kOnes;

// With another sign of one part: 0 the real one, 1 the imaginary one.
template <int part, class V>
inline V with_negative(V v) {
  using Word = UnsignedOf<Number<V>>;
  As<Word, V> signs;
  __builtin_memcpy(&signs, &kSignsOf<Word, part>, sizeof signs);
  return bit_copy<V>(bit_copy<As<Word, V>>(v) ^ signs);
}

// a - b of the real parts, a + b of the imaginary ones. One instruction where there is one; of
// AVX-512 the product with 1, which rounds nothing.
template <class V>
inline V less_and_more(V a, V b) {
#if defined(__x86_64__)
  constexpr bool kIsDouble = sizeof(Number<V>) == 8;
  if constexpr (sizeof(V) == 16) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm_addsub_pd(bit_copy<__m128d>(a), bit_copy<__m128d>(b)));
    } else {
      return bit_copy<V>(_mm_addsub_ps(bit_copy<__m128>(a), bit_copy<__m128>(b)));
    }
  }
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm256_addsub_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b)));
    } else {
      return bit_copy<V>(_mm256_addsub_ps(bit_copy<__m256>(a), bit_copy<__m256>(b)));
    }
  }
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const V one = V{} + Number<V>{1};
    if constexpr (kIsDouble) {
      return bit_copy<V>(
          _mm512_fmaddsub_pd(bit_copy<__m512d>(a), bit_copy<__m512d>(one), bit_copy<__m512d>(b)));
    } else {
      return bit_copy<V>(
          _mm512_fmaddsub_ps(bit_copy<__m512>(a), bit_copy<__m512>(one), bit_copy<__m512>(b)));
    }
  }
#endif
#else
  return a + with_negative<0>(b);
#endif
}

// The real or the imaginary parts of two vectors of pairs, in the order that in_order() undoes.
template <int part, IsVector V>
inline V parts_of(V a, V b) {
#if defined(__x86_64__)
  constexpr int kFour = part | (part + 2) << 2 | part << 4 | (part + 2) << 6;
  constexpr bool kIsDouble = sizeof(Number<V>) == 8;
  if constexpr (sizeof(V) == 16) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(
          _mm_shuffle_pd(bit_copy<__m128d>(a), bit_copy<__m128d>(b), part == 0 ? 0 : 3));
    } else {
      return bit_copy<V>(_mm_shuffle_ps(bit_copy<__m128>(a), bit_copy<__m128>(b), kFour));
    }
  }
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(
          _mm256_shuffle_pd(bit_copy<__m256d>(a), bit_copy<__m256d>(b), part == 0 ? 0 : 15));
    } else {
      return bit_copy<V>(_mm256_shuffle_ps(bit_copy<__m256>(a), bit_copy<__m256>(b), kFour));
    }
  }
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if constexpr (kIsDouble) {
      return bit_copy<V>(_mm512_maskz_shuffle_pd(0xff, bit_copy<__m512d>(a), bit_copy<__m512d>(b),
                                                 part == 0 ? 0 : 255));
    } else {
      return bit_copy<V>(
          _mm512_maskz_shuffle_ps(0xffff, bit_copy<__m512>(a), bit_copy<__m512>(b), kFour));
    }
  }
#endif
#else
  constexpr int kLanes = sizeof(V) / sizeof(Number<V>);
  V result{};
  for (int i = 0; i < kLanes / 2; ++i) {
    result[i] = a[2 * i + part];
    result[kLanes / 2 + i] = b[2 * i + part];
  }
  return result;
#endif
}

// Results of parts_of() in the order of the pairs: shuffles of longer vectors stay within their 16
// bytes, and alternate between the two.
template <IsVector V>
inline V in_order(V v) {
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32) {
    return bit_copy<V>(_mm256_permute4x64_pd(bit_copy<__m256d>(v), 0xd8));
  }
#endif
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    const __m512i order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    return bit_copy<V>(_mm512_maskz_permutexvar_pd(0xff, order, bit_copy<__m512d>(v)));
  }
#endif
  return v;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
