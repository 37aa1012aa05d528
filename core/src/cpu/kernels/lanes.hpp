// Vectors as movement sees them: lanes of 16 bytes, which are interleaved lane by lane.
//
// A vector of more lanes does in each lane what a vector of one does, so a transposition is written
// once for all of them.
#pragma once

#include "cpu/kernel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline constexpr int64_t kLaneBytes = 16;
inline constexpr int64_t kLineBytes = 64;  // of a cache

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

// first(in): a vector whose first lane is the 16 bytes at `in`; put<l>(v, in): v with lane l from
// there. low<width>(a, b), high<width>(a, b): the elements of the lower or upper half of each lane,
// of a and b in turns. stream: past the caches, to a multiple of the vector's size.
#if defined(__x86_64__)

struct OneLane {
  using Vector = __m128i;
  static constexpr int64_t kLanes = 1;
  static Vector load(const Byte* in) { return _mm_loadu_si128((const __m128i*)in); }
  static Vector first(const Byte* in) { return load(in); }
  static void store(Byte* out, Vector v) { _mm_storeu_si128((__m128i*)out, v); }
  static void stream(Byte* out, Vector v) { _mm_stream_si128((__m128i*)out, v); }
  template <unsigned width>
  static Vector low(Vector a, Vector b) {
    if constexpr (width == 1) return _mm_unpacklo_epi8(a, b);
    if constexpr (width == 2) return _mm_unpacklo_epi16(a, b);
    if constexpr (width == 4) return _mm_unpacklo_epi32(a, b);
    return _mm_unpacklo_epi64(a, b);
  }
  template <unsigned width>
  static Vector high(Vector a, Vector b) {
    if constexpr (width == 1) return _mm_unpackhi_epi8(a, b);
    if constexpr (width == 2) return _mm_unpackhi_epi16(a, b);
    if constexpr (width == 4) return _mm_unpackhi_epi32(a, b);
    return _mm_unpackhi_epi64(a, b);
  }
};

#else

struct OneLane {
  typedef uint8_t Vector __attribute__((vector_size(16)));
  static constexpr int64_t kLanes = 1;
  static Vector load(const Byte* in) {
    Vector v;
    __builtin_memcpy(&v, in, sizeof v);
    return v;
  }
  static Vector first(const Byte* in) { return load(in); }
  static void store(Byte* out, Vector v) { __builtin_memcpy(out, &v, sizeof v); }
  static void stream(Byte* out, Vector v) { store(out, v); }
  template <unsigned width>
  static Vector low(Vector a, Vector b) {
    return interleave<width, 0>(a, b);
  }
  template <unsigned width>
  static Vector high(Vector a, Vector b) {
    return interleave<width, 8>(a, b);
  }

 private:
  // Source of byte i of the result, among the 32 of a and b.
  static constexpr int source(int width, int first, int i) {
    const int element = i / width;
    return element % 2 * 16 + first + element / 2 * width + i % width;
  }
  template <int width, int first>
  static Vector interleave(Vector a, Vector b) {
#define TENURE_FROM(i) source(width, first, i)
#define TENURE_FROM4(i) TENURE_FROM(i), TENURE_FROM(i + 1), TENURE_FROM(i + 2), TENURE_FROM(i + 3)
#if defined(__clang__)
    return __builtin_shufflevector(a, b, TENURE_FROM4(0), TENURE_FROM4(4), TENURE_FROM4(8),
                                   TENURE_FROM4(12));
#else
    return __builtin_shuffle(
        a, b, Vector{TENURE_FROM4(0), TENURE_FROM4(4), TENURE_FROM4(8), TENURE_FROM4(12)});
#endif
#undef TENURE_FROM4
#undef TENURE_FROM
  }
};

#endif

#if defined(__AVX2__)

struct TwoLanes {
  using Vector = __m256i;
  static constexpr int64_t kLanes = 2;
  static Vector load(const Byte* in) { return _mm256_loadu_si256((const __m256i*)in); }
  static Vector first(const Byte* in) { return _mm256_castsi128_si256(OneLane::load(in)); }
  template <int lane>
  static Vector put(Vector v, const Byte* in) {
    return _mm256_inserti128_si256(v, OneLane::load(in), lane);
  }
  static void store(Byte* out, Vector v) { _mm256_storeu_si256((__m256i*)out, v); }
  static void stream(Byte* out, Vector v) { _mm256_stream_si256((__m256i*)out, v); }
  template <unsigned width>
  static Vector low(Vector a, Vector b) {
    if constexpr (width == 1) return _mm256_unpacklo_epi8(a, b);
    if constexpr (width == 2) return _mm256_unpacklo_epi16(a, b);
    if constexpr (width == 4) return _mm256_unpacklo_epi32(a, b);
    return _mm256_unpacklo_epi64(a, b);
  }
  template <unsigned width>
  static Vector high(Vector a, Vector b) {
    if constexpr (width == 1) return _mm256_unpackhi_epi8(a, b);
    if constexpr (width == 2) return _mm256_unpackhi_epi16(a, b);
    if constexpr (width == 4) return _mm256_unpackhi_epi32(a, b);
    return _mm256_unpackhi_epi64(a, b);
  }
};

#endif

#if defined(__AVX512BW__)

// Masked, with every bit set: g++ 12 takes the unmasked forms' result for uninitialised.
struct FourLanes {
  using Vector = __m512i;
  static constexpr int64_t kLanes = 4;
  static Vector load(const Byte* in) { return _mm512_loadu_si512(in); }
  static Vector first(const Byte* in) { return _mm512_castsi128_si512(OneLane::load(in)); }
  template <int lane>
  static Vector put(Vector v, const Byte* in) {
    return _mm512_inserti32x4(v, OneLane::load(in), lane);
  }
  static void store(Byte* out, Vector v) { _mm512_storeu_si512(out, v); }
  static void stream(Byte* out, Vector v) { _mm512_stream_si512((__m512i*)out, v); }
  template <unsigned width>
  static Vector low(Vector a, Vector b) {
    if constexpr (width == 1) return _mm512_maskz_unpacklo_epi8(~__mmask64{0}, a, b);
    if constexpr (width == 2) return _mm512_maskz_unpacklo_epi16(~__mmask32{0}, a, b);
    if constexpr (width == 4) return _mm512_maskz_unpacklo_epi32(__mmask16{0xffff}, a, b);
    return _mm512_maskz_unpacklo_epi64(__mmask8{0xff}, a, b);
  }
  template <unsigned width>
  static Vector high(Vector a, Vector b) {
    if constexpr (width == 1) return _mm512_maskz_unpackhi_epi8(~__mmask64{0}, a, b);
    if constexpr (width == 2) return _mm512_maskz_unpackhi_epi16(~__mmask32{0}, a, b);
    if constexpr (width == 4) return _mm512_maskz_unpackhi_epi32(__mmask16{0xffff}, a, b);
    return _mm512_maskz_unpackhi_epi64(__mmask8{0xff}, a, b);
  }
  // For within(): of a vector's worth of elements, the first is number `first` of a.
  template <unsigned width>
  static Vector window(int64_t first) {
    if constexpr (width == 2) return ascending(static_cast<int16_t>(first), kAscending16);
    if constexpr (width == 4) return ascending(static_cast<int32_t>(first), kAscending32);
    return ascending(first * (width / 8), kAscending64);
  }
  // The elements of the window over a and b, one after the other.
  template <unsigned width>
  static Vector within(Vector a, Vector window, Vector b) {
    if constexpr (width == 2) return _mm512_permutex2var_epi16(a, window, b);
    if constexpr (width == 4) return _mm512_permutex2var_epi32(a, window, b);
    return _mm512_permutex2var_epi64(a, window, b);
  }

 private:
  typedef int16_t Words __attribute__((vector_size(64)));
  typedef int32_t Doubles __attribute__((vector_size(64)));
  typedef int64_t Quads __attribute__((vector_size(64)));
  static constexpr Words kAscending16 = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                         11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                         22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
  static constexpr Doubles kAscending32 = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  static constexpr Quads kAscending64 = {0, 1, 2, 3, 4, 5, 6, 7};
  template <class T, class Vectors>
  static Vector ascending(T first, Vectors numbers) {
    return (Vector)(numbers + first);
  }
};
using Widest = FourLanes;
using Half = TwoLanes;

#elif defined(__AVX2__)
using Widest = TwoLanes;
using Half = OneLane;
#else
using Widest = OneLane;
using Half = OneLane;
#endif

// A line past the caches; `out` is one's first byte.
__attribute__((always_inline)) inline void stream_line(Byte* out, const Byte* from) {
  for (int64_t part = 0; part < kLineBytes; part += kLaneBytes * Widest::kLanes) {
    Widest::stream(out + part, Widest::load(from + part));
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
