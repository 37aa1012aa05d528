// Panels of adjacent columns, in which two or four depths become a lane.
#pragma once

#include "cpu/gemm.hpp"
#include "cpu/kernels/lanes.hpp"
#include "cpu/kernels/matmul/panel.hpp"
#include "cpu/kernels/vectors.hpp"

#if defined(__AVX512BW__)

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kInterleavedColumns = kPanelColumns<uint32_t>;
constexpr int64_t kInterleavedBytes = kInterleavedColumns * kWidth<uint32_t>;
static_assert(kInterleavedBytes == 2 * kVectorBytes);

// The masked forms, all lanes set: g++ 12 takes the others' results for uninitialised.
//
// The halves of each 16 bytes are interleaved by themselves: four columns, and those sixteen later.
inline void interleave_two(const Byte* first, const Byte* second, Byte* to) {
  const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
  const auto lanes = [&](const Byte* row) {
    const __m512i columns = row == nullptr ? _mm512_setzero_si512() : load<__m512i>(row);
    return _mm512_maskz_permutexvar_epi64(0xff, order, columns);
  };
  const __m512i a = lanes(first);
  const __m512i b = lanes(second);
  store(to, _mm512_maskz_unpacklo_epi16(~0u, a, b));
  store(to + kVectorBytes, _mm512_maskz_unpackhi_epi16(~0u, a, b));
}

// Interleaves four rows of bytes in the same way, by pairs of bytes.
inline void interleave_four(const Byte* const* rows, Byte* to) {
  // Four columns of each row and then those sixteen later; then pairs of both rows.
  const __m512i order = _mm512_setr_epi32(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15);
  const __m512i pairs = _mm512_maskz_broadcast_i32x4(
      0xffff, _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
  const auto row = [&](int i) {
    return rows[i] == nullptr ? _mm256_setzero_si256() : load<__m256i>(rows[i]);
  };
  const auto lanes = [&](int i) {
    const __m512i both =
        _mm512_mask_broadcast_i64x4(_mm512_maskz_broadcast_i64x4(0x0f, row(i)), 0xf0, row(i + 1));
    return _mm512_maskz_shuffle_epi8(~0ULL, _mm512_maskz_permutexvar_epi32(0xffff, order, both),
                                     pairs);
  };
  const __m512i a = lanes(0);
  const __m512i b = lanes(2);
  store(to, _mm512_maskz_unpacklo_epi16(~0u, a, b));
  store(to + kVectorBytes, _mm512_maskz_unpackhi_epi16(~0u, a, b));
}

// Packs whole panels of elements of 16 bits. The elements of a depth are read for all panels
// together, because one line of each row is no stream that processors notice. The pair of a last
// depth is 0.
inline void interleave_pairs(const Factor& from, int64_t panels, Byte* to) {
  constexpr int64_t kBytes = kInterleavedColumns * kWidth<uint16_t>;
  const int64_t panel_step = (from.depth + 1) / 2 * kInterleavedBytes;
  const Byte* row = from.data;
  for (int64_t k = 0; k < from.depth; k += 2, row += 2 * from.depth_step) {
    const Byte* const next = k + 1 < from.depth ? row + from.depth_step : nullptr;
    for (int64_t p = 0; p < panels; ++p) {
      interleave_two(row + p * kBytes, next == nullptr ? nullptr : next + p * kBytes,
                     to + p * panel_step);
    }
    to += kInterleavedBytes;
  }
}

// Packs whole panels of bytes in the same way. The surplus bytes of a last lane are 0.
inline void interleave_quads(const Factor& from, int64_t panels, Byte* to) {
  const int64_t panel_step = (from.depth + 3) / 4 * kInterleavedBytes;
  const Byte* row = from.data;
  for (int64_t k = 0; k < from.depth; k += 4, row += 4 * from.depth_step) {
    for (int64_t p = 0; p < panels; ++p) {
      const Byte* rows[4];
      for (int64_t i = 0; i < 4; ++i) {
        rows[i] =
            k + i < from.depth ? row + i * from.depth_step + p * kInterleavedColumns : nullptr;
      }
      interleave_four(rows, to + p * panel_step);
    }
    to += kInterleavedBytes;
  }
}

// Panels that are read together where the columns of a factor are adjacent: two lines of each row.
template <class T>
constexpr int64_t kPanelsTogether = 2 * 64 / (kInterleavedColumns * kWidth<T>);
template <class T>
inline int64_t panels_together(const Factor& from) {
  if (from.step != kWidth<T>) return 0;
  return smaller(from.count / kInterleavedColumns, kPanelsTogether<T>);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels

#endif
