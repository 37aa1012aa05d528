// Products of four bytes, and of bytes by weights of 4 bits, where the processor adds all of a lane
// at once (AVX512_VNNI: Ice Lake, Zen 4 and later).
#if defined(__AVX512BW__)

// The file is compiled for the instructions that every processor with AVX-512 has.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512vnni"))), apply_to = function)
#else
#pragma GCC target("avx512vnni")
#endif

#include "cpu/kernels/matmul/nibbles.hpp"
#include "cpu/kernels/matmul/tiles.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

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

const ByteGemmTable kByteGemmOfQuads = {
    {kGemmOfLanes<uint32_t, QuadsOfBytes>, kGemmOfLanes<uint32_t, QuadsOfBytes>},
    {kGemmOfLanes<uint32_t, QuadsOfBytes>, kGemmOfLanes<uint32_t, QuadsOfBytes>},
};
const NibbleKernels kNibbleQuads = {kNibbleColumns, multiply_by_nibbles<QuadsOfNibbles>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#if defined(__clang__)
#pragma clang attribute pop
#endif

#endif
