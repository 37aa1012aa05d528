// Vectors of this instruction set, for the loops that compilers do not vectorise by themselves.
//
// The lanes of a reduction must not depend on the width of a register: Lanes are always kLanesBytes
// wide, in as many registers as that takes.
#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cpu/kernels/number.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

#if defined(__AVX512F__)
constexpr int64_t kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int64_t kVectorBytes = 32;
#else
constexpr int64_t kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::type;
template <class T>
constexpr int64_t kPerVector = kVectorBytes / static_cast<int64_t>(sizeof(T));

// Element type of vector comparisons' results: -1 for true.
template <class T>
using Truth = SignedOf<T>;

template <class T>
inline Vector<T> broadcast(T value) {
  return value - Vector<T>{};
}

// Whether some bit is set.
template <class T>
inline bool is_any(const Vector<T>& mask) {
#if defined(__AVX512F__)
  const auto bits = reinterpret_cast<__m512i>(mask);
  return _mm512_test_epi64_mask(bits, bits) != 0;
#elif defined(__AVX2__)
  const auto bits = reinterpret_cast<__m256i>(mask);
  return _mm256_testz_si256(bits, bits) == 0;
#else
  uint64_t words[kVectorBytes / 8];
  __builtin_memcpy(words, &mask, sizeof words);
  uint64_t any = 0;
  for (const uint64_t word : words) any |= word;
  return any != 0;
#endif
}

#if defined(__AVX512F__)
// A mask register as a number. The instruction is named, because g++ 12 at -O1 may spill a mask of
// 8 or 16 bits by a store of that width and load it back as 32 bits: a plain conversion then has
// bits of other variables above the mask.
template <class Mask>
inline uint64_t mask_bits(Mask mask) {
  uint64_t bits = 0;
  if constexpr (sizeof(Mask) == 1) asm("kmovb %1, %k0" : "=r"(bits) : "k"(mask));
  if constexpr (sizeof(Mask) == 2) asm("kmovw %1, %k0" : "=r"(bits) : "k"(mask));
  if constexpr (sizeof(Mask) == 4) asm("kmovd %1, %k0" : "=r"(bits) : "k"(mask));
  if constexpr (sizeof(Mask) == 8) asm("kmovq %1, %0" : "=r"(bits) : "k"(mask));
  return bits;
}
#endif

// A bit for each lane of a comparison of numbers of 4 or 8 bytes.
template <class I>
inline uint64_t lane_bits(const Vector<I>& truth) {
#if defined(__AVX512F__)
  return sizeof(I) == 4 ? mask_bits(_mm512_movepi32_mask(reinterpret_cast<__m512i>(truth)))
                        : mask_bits(_mm512_movepi64_mask(reinterpret_cast<__m512i>(truth)));
#elif defined(__AVX2__)
  return static_cast<uint32_t>(sizeof(I) == 4
                                   ? _mm256_movemask_ps(reinterpret_cast<__m256>(truth))
                                   : _mm256_movemask_pd(reinterpret_cast<__m256d>(truth)));
#elif defined(__x86_64__)
  return static_cast<uint32_t>(sizeof(I) == 4 ? _mm_movemask_ps(reinterpret_cast<__m128>(truth))
                                              : _mm_movemask_pd(reinterpret_cast<__m128d>(truth)));
#else
  uint64_t bits = 0;
  for (int i = 0; i < kPerVector<I>; ++i) bits |= static_cast<uint64_t>(truth[i] & 1) << i;
  return bits;
#endif
}

// The next kPerVector<To> adjacent elements of type From.
template <class To, class From>
struct Loading;
template <class T>
struct Loading<T, T> {
  static Vector<T> load(const Byte* from) { return kernels::load<Vector<T>>(from); }
};
// The conversions of compilers take registers apart, and the plain ones of AVX-512 make g++ 12 warn
// of values that are undefined on purpose.
#if defined(__AVX512F__)
template <>
struct Loading<double, float> {
  static Vector<double> load(const Byte* from) { return widen(kernels::load<__m256>(from)); }
  static Vector<double> widen(__m256 x) {
    return reinterpret_cast<Vector<double>>(_mm512_maskz_cvtps_pd(0xff, x));
  }
};
template <>
struct Loading<uint64_t, int32_t> {
  static Vector<uint64_t> load(const Byte* from) {
    return reinterpret_cast<Vector<uint64_t>>(
        _mm512_maskz_cvtepi32_epi64(0xff, kernels::load<__m256i>(from)));
  }
};
template <>
struct Loading<uint64_t, uint32_t> {
  static Vector<uint64_t> load(const Byte* from) {
    return reinterpret_cast<Vector<uint64_t>>(
        _mm512_maskz_cvtepu32_epi64(0xff, kernels::load<__m256i>(from)));
  }
};
#elif defined(__AVX2__)
template <>
struct Loading<double, float> {
  static Vector<double> load(const Byte* from) { return widen(kernels::load<__m128>(from)); }
  static Vector<double> widen(__m128 x) {
    return reinterpret_cast<Vector<double>>(_mm256_cvtps_pd(x));
  }
};
template <>
struct Loading<uint64_t, int32_t> {
  static Vector<uint64_t> load(const Byte* from) {
    return reinterpret_cast<Vector<uint64_t>>(_mm256_cvtepi32_epi64(kernels::load<__m128i>(from)));
  }
};
template <>
struct Loading<uint64_t, uint32_t> {
  static Vector<uint64_t> load(const Byte* from) {
    return reinterpret_cast<Vector<uint64_t>>(_mm256_cvtepu32_epi64(kernels::load<__m128i>(from)));
  }
};
#else
// Two lanes.
template <class To, class From>
struct Loading {
  static Vector<To> load(const Byte* from) {
    return Vector<To>{static_cast<To>(kernels::load<From>(from)),
                      static_cast<To>(kernels::load<From>(from + sizeof(From)))};
  }
  template <class X>
  static Vector<To> widen(const X& x) {
    return Vector<To>{static_cast<To>(x[0]), static_cast<To>(x[1])};
  }
};
#endif

// Whether halves can be loaded as f32.
#if defined(__AVX512F__)
constexpr bool kLoadsHalves = true;
template <>
struct Loading<float, F16> {
  static Vector<float> load(const Byte* from) {
    return reinterpret_cast<Vector<float>>(
        _mm512_maskz_cvtph_ps(0xffff, kernels::load<__m256i>(from)));
  }
};
template <>
struct Loading<float, BF16> {
  static Vector<float> load(const Byte* from) {
    const auto bits = _mm512_maskz_cvtepu16_epi32(0xffff, kernels::load<__m256i>(from));
    return reinterpret_cast<Vector<float>>(_mm512_maskz_slli_epi32(0xffff, bits, 16));
  }
};
#elif defined(__F16C__)
constexpr bool kLoadsHalves = true;
template <>
struct Loading<float, F16> {
  static Vector<float> load(const Byte* from) {
    return reinterpret_cast<Vector<float>>(_mm256_cvtph_ps(kernels::load<__m128i>(from)));
  }
};
template <>
struct Loading<float, BF16> {
  static Vector<float> load(const Byte* from) {
    const auto bits = _mm256_cvtepu16_epi32(kernels::load<__m128i>(from));
    return reinterpret_cast<Vector<float>>(_mm256_slli_epi32(bits, 16));
  }
};
#else
constexpr bool kLoadsHalves = false;
#endif

constexpr int64_t kLanesBytes = 128;  // two registers of AVX-512, half of those of SSE

template <class T>
struct Lanes {
  static constexpr int kParts = kLanesBytes / kVectorBytes;
  static constexpr int64_t kCount = kLanesBytes / static_cast<int64_t>(sizeof(T));
  Vector<T> parts[kParts];
};

// Numbers of the lanes of part `part`, for the elements that end a run.
template <class T>
inline Vector<Truth<T>> lane_numbers(int part) {
  Vector<Truth<T>> numbers = {};
  for (int i = 0; i < kPerVector<T>; ++i) {
    numbers[i] = static_cast<Truth<T>>(part * kPerVector<T> + i);
  }
  return numbers;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
