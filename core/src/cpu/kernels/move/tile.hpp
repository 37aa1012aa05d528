// Transpositions in registers.
#pragma once

#include "cpu/kernels/lanes.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Transposes by interleaving: of N vectors, numbers r and r + N / 2 become 2 r and 2 r + 1, log2(N)
// times. Each time is a perfect shuffle of all elements, and log2(N) shuffles transpose (H. S.
// Stone, "Parallel Processing with the Perfect Shuffle", 1971). Lane l of vector k begins as row k
// + N * l, so that each vector ends as a run of one column. `pieces` adjacent tiles are read row by
// row: a line is used up before another of its set evicts it.
//
// row(r): where row r begins, of 16 bytes / width * Lanes::kLanes; put(c, vector): for each column,
// of 16 bytes / width * pieces, all of its rows.
template <class Lanes, unsigned width, int pieces, class Row, class Put>
__attribute__((always_inline)) inline void transpose_tile(Row&& row, Put&& put) {
  using Vector = typename Lanes::Vector;
  constexpr int n = static_cast<int>(kLaneBytes / width);
  Vector v[pieces][n];
#pragma GCC unroll 16
  for (int k = 0; k < n; ++k) {
    const Byte* in = row(k);
#pragma GCC unroll 16
    for (int p = 0; p < pieces; ++p) v[p][k] = Lanes::first(in + p * kLaneBytes);
    if constexpr (Lanes::kLanes > 1) {
      in = row(n + k);
#pragma GCC unroll 16
      for (int p = 0; p < pieces; ++p)
        v[p][k] = Lanes::template put<1>(v[p][k], in + p * kLaneBytes);
    }
    if constexpr (Lanes::kLanes > 2) {
      in = row(2 * n + k);
#pragma GCC unroll 16
      for (int p = 0; p < pieces; ++p)
        v[p][k] = Lanes::template put<2>(v[p][k], in + p * kLaneBytes);
      in = row(3 * n + k);
#pragma GCC unroll 16
      for (int p = 0; p < pieces; ++p)
        v[p][k] = Lanes::template put<3>(v[p][k], in + p * kLaneBytes);
    }
  }
#pragma GCC unroll 16
  for (int p = 0; p < pieces; ++p) {
#pragma GCC unroll 16
    for (int stage = 1; stage < n; stage *= 2) {
      Vector turned[n];
#pragma GCC unroll 16
      for (int r = 0; r < n / 2; ++r) {
        turned[2 * r] = Lanes::template low<width>(v[p][r], v[p][r + n / 2]);
        turned[2 * r + 1] = Lanes::template high<width>(v[p][r], v[p][r + n / 2]);
      }
#pragma GCC unroll 16
      for (int r = 0; r < n; ++r) v[p][r] = turned[r];
    }
#pragma GCC unroll 16
    for (int c = 0; c < n; ++c) put(p * n + c, v[p][c]);
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
