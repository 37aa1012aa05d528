// Tiles of sums of products by weights of 4 bits.
#pragma once

#include "cpu/kernels/matmul/panel.hpp"
#include "cpu/nibbles.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int64_t kNibbleColumns = kPanelColumns<float>;
constexpr int kNibbleRows = kPanelVectors * kVectorBytes == 128 ? 6 : 4;
constexpr int kOctets = 4;  // rows of a block

using Quads = Vector<uint32_t>;  // four bytes of each column
using Sums = Vector<int32_t>;

// Adding::Part has the sums of a block: add(quads, a, part) adds the products of four values from 0
// to 15 and four of a left factor, and fold(part, sums) adds the part to sums of 32 bits.
template <class Adding, int kRows>
void multiply_nibbles(const NibbleProduct& p) {
  Vector<float> totals[kRows][kPanelVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kPanelVectors; ++v) {
      totals[i][v] = -Vector<float>{};  // which changes no sum, 0 included
    }
  }
  const Byte* a = p.a;
  const Byte* b = p.b;
  for (int64_t g = 0; g < p.groups; ++g) {
    Sums sums[kRows][kPanelVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Sums term = broadcast<int32_t>(p.a_terms[i * p.groups + g]);
#pragma GCC unroll 2
      for (int v = 0; v < kPanelVectors; ++v) sums[i][v] = term;
    }
#pragma GCC unroll 1
    for (int64_t block = 0; block < p.blocks; ++block) {
      typename Adding::Part parts[kRows][kPanelVectors];
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
        for (int v = 0; v < kPanelVectors; ++v) parts[i][v] = Adding::start(sums[i][v]);
      }
#pragma GCC unroll 4
      for (int octet = 0; octet < kOctets; ++octet) {
        Quads low[kPanelVectors];
        Quads high[kPanelVectors];
#pragma GCC unroll 2
        for (int v = 0; v < kPanelVectors; ++v) {
          const Quads bytes = load<Quads>(b + v * kVectorBytes);
          low[v] = bytes & 0x0f0f0f0fu;
          high[v] = (bytes >> 4) & 0x0f0f0f0fu;
        }
        b += kPanelVectors * kVectorBytes;
#pragma GCC unroll 16
        for (int i = 0; i < kRows; ++i) {
          const Quads first = broadcast<uint32_t>(load<uint32_t>(a + i * p.a_step));
          const Quads second = broadcast<uint32_t>(load<uint32_t>(a + i * p.a_step + 4));
#pragma GCC unroll 2
          for (int v = 0; v < kPanelVectors; ++v) {
            parts[i][v] = Adding::add(high[v], second, Adding::add(low[v], first, parts[i][v]));
          }
        }
        a += 8;
      }
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
        for (int v = 0; v < kPanelVectors; ++v) {
          sums[i][v] = Adding::fold(parts[i][v], sums[i][v]);
        }
      }
    }
    Vector<float> scales[kPanelVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kPanelVectors; ++v) scales[v] = load<Vector<float>>(b + v * kVectorBytes);
    b += kPanelVectors * kVectorBytes;
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vector<float> scale = broadcast<float>(p.a_scales[i * p.groups + g]);
#pragma GCC unroll 2
      for (int v = 0; v < kPanelVectors; ++v) {
        totals[i][v] += __builtin_convertvector(sums[i][v], Vector<float>) * (scale * scales[v]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 2
    for (int v = 0; v < kPanelVectors; ++v) {
      store(p.out + i * p.row_step + v * kVectorBytes, totals[i][v]);
    }
  }
}

template <class Adding, int... kRows>
struct NibbleTiles {
  using Kernel = void (*)(const NibbleProduct&);
  static constexpr Kernel kKernels[] = {nullptr, multiply_nibbles<Adding, kRows>...};
};
#if defined(__AVX512F__)
template <class Adding>
using TilesOfNibbles = NibbleTiles<Adding, 1, 2, 3, 4, 5, 6>;
#else
template <class Adding>
using TilesOfNibbles = NibbleTiles<Adding, 1, 2, 3, 4>;
#endif

// Rows are spread over tiles.
template <class Adding>
void multiply_by_nibbles(const NibbleProduct& p) {
  NibbleProduct tile = p;
  int64_t tiles = (p.rows + kNibbleRows - 1) / kNibbleRows;
  for (int64_t left = p.rows; left > 0; left -= tile.rows, --tiles) {
    tile.rows = (left + tiles - 1) / tiles;
    TilesOfNibbles<Adding>::kKernels[tile.rows](tile);
    tile.a += tile.rows * p.a_step;
    tile.a_scales += tile.rows * p.groups;
    tile.a_terms += tile.rows * p.groups;
    tile.out += tile.rows * p.row_step;
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
