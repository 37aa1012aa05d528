// Products of pairs of bf16, where the processor adds both of a lane at once (AVX512_BF16: Cooper
// Lake, Zen 4, Sapphire Rapids and later).
#if defined(__AVX512BW__)

// The file is compiled for the instructions that every processor with AVX-512 has.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512bf16"))), apply_to = function)
#else
#pragma GCC target("avx512bf16")
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

}  // namespace

const Gemm kBF16GemmOfPairs = kGemmOfLanes<float, PairsOfBF16>;

}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
