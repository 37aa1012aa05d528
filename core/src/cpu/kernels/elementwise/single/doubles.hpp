// Functions of f32 that are computed in f64, and vectors of f32 in general.
#pragma once

#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// A vector of f32. Its functions are chosen before those for any type.
template <class V>
concept IsSingles = IsVector<V> && sizeof(Number<V>) == 4;

// Half a vector of f32 as one of f64, and back. Compilers' conversions take registers apart.
template <class Doubles, class Half>
inline Doubles widened(Half half) {
#if defined(__AVX512F__)
  return bit_copy<Doubles>(_mm512_maskz_cvtps_pd(0xff, bit_copy<__m256>(half)));
#elif defined(__AVX2__)
  return bit_copy<Doubles>(_mm256_cvtps_pd(bit_copy<__m128>(half)));
#else
  return __builtin_convertvector(half, Doubles);
#endif
}
template <class Half, class Doubles>
inline Half narrowed(Doubles wide) {
#if defined(__AVX512F__)
  return bit_copy<Half>(_mm512_maskz_cvtpd_ps(0xff, bit_copy<__m512d>(wide)));
#elif defined(__AVX2__)
  return bit_copy<Half>(_mm256_cvtpd_ps(bit_copy<__m256d>(wide)));
#else
  return __builtin_convertvector(wide, Half);
#endif
}

// Whether every lane is from `least`, a positive number, to below `end`.
template <IsSingles V>
inline bool is_every_lane_from(V x, float least, float end) {
  const auto first = bit_copy<uint32_t>(least);
  const uint32_t count = bit_copy<uint32_t>(end) - first;
#if defined(__AVX512F__)
  const __m512i from_first =
      _mm512_sub_epi32(bit_copy<__m512i>(x), _mm512_set1_epi32(static_cast<int32_t>(first)));
  return _mm512_cmpge_epu32_mask(from_first, _mm512_set1_epi32(static_cast<int32_t>(count))) == 0;
#else
  // Signed, as most sets compare.
  constexpr uint32_t kSign = uint32_t{1} << 31;
  const auto from_first =
      bit_copy<As<int32_t, V> >(bit_copy<As<uint32_t, V> >(x) - (first ^ kSign));
  const auto is_within = from_first < static_cast<int32_t>(count ^ kSign);
#if defined(__AVX2__)
  return _mm256_movemask_ps(bit_copy<__m256>(is_within)) == 0xff;
#else
  return is_every_lane(is_within);
#endif
#endif
}

// And those lanes.
template <IsSingles V>
inline auto lanes_from(V x, float least, float end) {
  return (x >= least) & (x < end);
}
// Positive normal numbers are from it to below infinity.
inline constexpr float kLeastNormalNumber = 0x1p-126f;

// The vector of two halves: a store of each and a load of both would wait for the stores.
template <class V, class Half>
inline V joined(Half low, Half high) {
#if defined(__AVX512F__)
  return bit_copy<V>(_mm512_mask_broadcast_f32x8(
      _mm512_maskz_broadcast_f32x8(0xffff, bit_copy<__m256>(low)), 0xff00, bit_copy<__m256>(high)));
#elif defined(__AVX2__)
  return bit_copy<V>(_mm256_set_m128(bit_copy<__m128>(high), bit_copy<__m128>(low)));
#else
  struct {
    Half low;
    Half high;
  } both = {low, high};
  return bit_copy<V>(both);
#endif
}

// A function of vectors of f64 for each half of one of f32, or of several.
template <class V, class Function, class... More>
inline V by_doubles(const Function& function, V x, More... more) {
  using Half = typename SizedVector<float, sizeof(V) / 2>::type;
  using Doubles = typename SizedVector<double, sizeof(V)>::type;
  struct Halves {
    Half of[2];
  };
  const auto half = [&](int i) {
    return narrowed<Half>(function(widened<Doubles>(bit_copy<Halves>(x).of[i]),
                                   widened<Doubles>(bit_copy<Halves>(more).of[i])...));
  };
  return joined<V>(half(0), half(1));
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
