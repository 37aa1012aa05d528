// Products of pairs of bf16 and of four bytes, where the processor adds all of a lane at once
// (AVX512_BF16 and AVX512_VNNI: Zen 4, Sapphire Rapids and later).
#if defined(__AVX512BW__)

// The file is compiled for the instructions that every processor with AVX-512 has.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512bf16,avx512vnni"))), apply_to = function)
#else
#pragma GCC target("avx512bf16,avx512vnni")
#endif

#include "cpu/kernels/matmul/tiles.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct PairsOfBF16 {
  static constexpr bool kHasStarts = false;
  // Rounds to nearest, and takes subnormal factors and sums for 0.
  static Vector<float> add(const Vector<float>& a, const Vector<float>& b,
                           const Vector<float>& sums) {
    return reinterpret_cast<Vector<float>>(_mm512_dpbf16_ps(reinterpret_cast<__m512>(sums),
                                                            reinterpret_cast<__m512bh>(a),
                                                            reinterpret_cast<__m512bh>(b)));
  }
};

struct QuadsOfBytes {
  static constexpr bool kHasStarts = true;
  // Unsigned bytes by signed ones; wraps.
  static Vector<uint32_t> add(const Vector<uint32_t>& a, const Vector<uint32_t>& b,
                              const Vector<uint32_t>& sums) {
    return reinterpret_cast<Vector<uint32_t>>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums),
                                                                  reinterpret_cast<__m512i>(a),
                                                                  reinterpret_cast<__m512i>(b)));
  }
};

}  // namespace

const LaneGemms kLaneGemmOfPairs = {
    {{kGemmOfLanes<uint32_t, QuadsOfBytes>, kGemmOfLanes<uint32_t, QuadsOfBytes>},
     {kGemmOfLanes<uint32_t, QuadsOfBytes>, kGemmOfLanes<uint32_t, QuadsOfBytes>}},
    kGemmOfLanes<float, PairsOfBF16>,
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
