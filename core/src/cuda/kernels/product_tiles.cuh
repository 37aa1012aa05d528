// Products by tiles, as kernels of matrices and of images have them: a block of 16 times 16 threads
// has a square of sums in registers, and walks along the depth with tiles of both factors in its
// shared memory.
#pragma once

#include "elementwise.cuh"
#include "floats.cuh"
#include "matmul_arguments.hpp"

namespace tenure::cuda {

// Depths of the tiles of factors.
inline constexpr int kTileDepth = 16;
inline constexpr int kSide = static_cast<int>(kMatmulSide);
inline constexpr int kBlockThreads = static_cast<int>(kThreads);

// Whole numbers wrap.
TENURE_DEVICE int32_t multiply_add(int32_t a, int32_t b, int32_t sum) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b) +
                              static_cast<uint32_t>(sum));
}

// A line more than a group apart from one depth to the next, so that threads that write one line
// meet fewer banks.
template <class T, int kLines>
struct alignas(16) FactorTile {
  T at[kTileDepth][kLines + kGroupItems<T>];
};

// A thread's lines are groups; the groups of one number of all threads are adjacent.
template <class T>
TENURE_DEVICE int line_of(int thread, int item) {
  constexpr int kItems = kGroupItems<T>;
  return (item / kItems * kSide + thread) * kItems + item % kItems;
}

template <class T, int kLines, int kCount>
TENURE_DEVICE void take_lines(const FactorTile<T, kLines>& tile, int depth, int thread,
                              T (&x)[kCount]) {
  constexpr int kItems = kGroupItems<T>;
  TENURE_UNROLL for (int group = 0; group < kCount / kItems; ++group) {
    const T* const at = &tile.at[depth][line_of<T>(thread, group * kItems)];
    const Words<16> numbers = *reinterpret_cast<const Words<16>*>(at);
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) x[group * kItems + i] = get<T>(numbers, i);
  }
}

// A thread's place in the square. A warp has 8 times 4 of them, whose reads of a tile are few banks
// wide.
struct SquarePlace {
  int row;
  int column;
};
TENURE_DEVICE SquarePlace square_place() {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  return {warp % 2 * 8 + lane / 4, warp / 2 * 4 + lane % 4};
}

template <class T, int kCount>
TENURE_DEVICE void set_zero(T (&sums)[kCount][kCount]) {
  TENURE_UNROLL for (int i = 0; i < kCount; ++i) {
    TENURE_UNROLL for (int j = 0; j < kCount; ++j) sums[i][j] = 0;
  }
}

// The products of all depths of two tiles, one after the other.
template <class T, int kLines, int kCount>
TENURE_DEVICE void add_products(const FactorTile<T, kLines>& a, const FactorTile<T, kLines>& b,
                                const SquarePlace& place, T (&sums)[kCount][kCount]) {
  TENURE_ROLLED for (int first = 0; first < kTileDepth; first += 8) {
    TENURE_UNROLL for (int depth = 0; depth < 8; ++depth) {
      T x[kCount];
      T y[kCount];
      take_lines(a, first + depth, place.row, x);
      take_lines(b, first + depth, place.column, y);
      TENURE_UNROLL for (int i = 0; i < kCount; ++i) {
        TENURE_UNROLL for (int j = 0; j < kCount; ++j) {
          sums[i][j] = multiply_add(x[i], y[j], sums[i][j]);
        }
      }
    }
  }
}

// Each row is the one after it, so that a loop over rows has no index into registers.
template <class T, int kCount>
TENURE_DEVICE void rotate_rows(T (&sums)[kCount][kCount]) {
  TENURE_UNROLL for (int k = 0; k + 1 < kCount; ++k) {
    TENURE_UNROLL for (int j = 0; j < kCount; ++j) sums[k][j] = sums[k + 1][j];
  }
}

// Each group of a row is the one after it.
template <class T, int kCount>
TENURE_DEVICE void rotate_row(T (&row)[kCount]) {
  constexpr int kItems = kGroupItems<T>;
  TENURE_UNROLL for (int j = 0; j + kItems < kCount; ++j) row[j] = row[j + kItems];
}
template <class T, int kCount>
TENURE_DEVICE void transpose(T (&sums)[kCount][kCount]) {
  TENURE_UNROLL for (int i = 0; i < kCount; ++i) {
    TENURE_UNROLL for (int j = 0; j < i; ++j) {
      const T below = sums[i][j];
      sums[i][j] = sums[j][i];
      sums[j][i] = below;
    }
  }
}

// NaN stays NaN.
template <class T, class Argument>
TENURE_DEVICE T bounded(const Argument& argument, T value) {
  if (argument.is_bounded == 0) return value;
  const T low = scalar_of<T>(argument.low);
  const T high = scalar_of<T>(argument.high);
  if (value < low) value = low;
  if (value > high) value = high;
  return value;
}

}  // namespace tenure::cuda
