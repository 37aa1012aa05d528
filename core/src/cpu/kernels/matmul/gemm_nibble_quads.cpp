// Products by weights of 4 bits, where the processor adds the products of four bytes at once
// (AVX512_VNNI).
#if defined(__AVX512BW__)

// The file is compiled for the instructions that every processor with AVX-512 has.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512vnni"))), apply_to = function)
#else
#pragma GCC target("avx512vnni")
#endif

#include "cpu/kernels/matmul/nibbles.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct QuadsOfNibbles {
  using Part = Sums;
  static Part start(const Sums& sums) { return sums; }
  static Part add(const Quads& b, const Quads& a, const Part& part) {
    return reinterpret_cast<Part>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(part),
                                                      reinterpret_cast<__m512i>(b),
                                                      reinterpret_cast<__m512i>(a)));
  }
  static Sums fold(const Part& part, const Sums&) { return part; }
};

}  // namespace

const NibbleKernels kNibbleQuads = {kNibbleColumns, multiply_by_nibbles<QuadsOfNibbles>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
