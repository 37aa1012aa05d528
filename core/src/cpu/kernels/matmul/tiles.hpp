// Tiles of sums in registers, to which each depth adds the products of a few rows and columns.
#pragma once

#include "cpu/gemm.hpp"
#include "cpu/kernels/matmul/panel.hpp"
#include "cpu/kernels/move/tile.hpp"
#include "cpu/kernels/partial_vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// T is the type of the sums; Adding::add(a, b, sums) adds the products of lanes; the packing of the
// factors states how many depths a lane has. With Adding::kHasStarts the first depth is the panels'
// starts.

// Sums as they left the registers, `vectors` to a row, where the rows of out are adjacent.
template <class T>
void put_columns(const DenseProduct& p, const Vector<T>* sums, int vectors) {
  constexpr int kPieces = static_cast<int>(kVectorBytes / kLaneBytes);
  const Vector<T> alpha = broadcast<T>(load<T>(p.alpha));
  const Vector<T> beta = broadcast<T>(p.beta == nullptr ? T{0} : load<T>(p.beta));
  for (int64_t i = 0; i < p.rows; i += kPerVector<T>) {
    const FirstLanes<T> part(smaller(p.rows - i, kPerVector<T>));
    for (int64_t j = 0; j < p.columns; j += kPerVector<T>) {
      const Vector<T>* const from = sums + j / kPerVector<T>;
      const auto row = [&](int64_t r) {
        return reinterpret_cast<const Byte*>(from + smaller(i + r, p.rows - 1) * vectors);
      };
      const auto put = [&](int64_t c, Widest::Vector column) {
        if (j + c >= p.columns) return;
        Byte* const to = p.out + i * kWidth<T> + (j + c) * p.column_step;
        Vector<T> result = alpha * bit_copy<Vector<T>>(column);
        if (p.beta != nullptr) result += beta * part.load(to);
        part.store(to, result);
      };
      transpose_tile<Widest, sizeof(T), kPieces>(row, put);
    }
  }
}

// Sums as they left the registers: `vectors` to a row.
template <class T>
__attribute__((noinline)) void put_rows(const DenseProduct& p, const Vector<T>* sums, int vectors) {
  if (p.row_step == kWidth<T> && p.column_step != kWidth<T>) {
    return put_columns<T>(p, sums, vectors);
  }
  if (p.column_step != kWidth<T>) {
    const T alpha = load<T>(p.alpha);
    for (int64_t i = 0; i < p.rows; ++i) {
      const Byte* const row = reinterpret_cast<const Byte*>(sums + i * vectors);
      for (int64_t j = 0; j < p.columns; ++j) {
        Byte* const to = p.out + i * p.row_step + j * p.column_step;
        T result = alpha * load<T>(row + j * kWidth<T>);
        if (p.beta != nullptr) result += load<T>(p.beta) * load<T>(to);
        store<T>(to, result);
      }
    }
    return;
  }
  const Vector<T> alpha = broadcast<T>(load<T>(p.alpha));
  const Vector<T> beta = broadcast<T>(p.beta == nullptr ? T{0} : load<T>(p.beta));
  for (int64_t first = 0; first < p.columns; first += kPerVector<T>, ++sums) {
    const FirstLanes<T> part(smaller(p.columns - first, kPerVector<T>));
    Byte* to = p.out + first * kWidth<T>;
    for (int64_t i = 0; i < p.rows; ++i, to += p.row_step) {
      Vector<T> result = alpha * sums[i * vectors];
      if (p.beta != nullptr) result += beta * part.load(to);
      part.store(to, result);
    }
  }
}

template <class T>
using WholeTile = Vector<T>[kPanelRows][kPanelVectors];

// Writes the sums of a whole tile: all its rows and columns are the product's. Inlined: sums whose
// address is taken would not be in registers.
template <class T>
__attribute__((always_inline)) inline void put_whole(const DenseProduct& p,
                                                     const WholeTile<T>& sums) {
  const Vector<T> alpha = broadcast<T>(load<T>(p.alpha));
  Byte* row = p.out;
  if (p.beta == nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kPanelRows; ++i, row += p.row_step) {
#pragma GCC unroll 4
      for (int v = 0; v < kPanelVectors; ++v) store(row + v * kVectorBytes, alpha * sums[i][v]);
    }
    return;
  }
  const Vector<T> beta = broadcast<T>(load<T>(p.beta));
#pragma GCC unroll 16
  for (int i = 0; i < kPanelRows; ++i, row += p.row_step) {
#pragma GCC unroll 4
    for (int v = 0; v < kPanelVectors; ++v) {
      Byte* const to = row + v * kVectorBytes;
      store(to, alpha * sums[i][v] + beta * load<Vector<T>>(to));
    }
  }
}

// Some rows and columns of a tile, or adjacent rows.
template <class T, int kVectors>
__attribute__((always_inline)) inline void put_spilled(
    const DenseProduct& p, const Vector<T> (&sums)[kPanelRows][kVectors]) {
  Vector<T> spilled[kPanelRows * kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kPanelRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) spilled[i * kVectors + v] = sums[i][v];
  }
  put_rows<T>(p, spilled, kVectors);
}

// The lines are in the registers' way soon enough: by the end of the sums they have come.
template <class T>
__attribute__((always_inline)) inline void fetch_tile(const DenseProduct& p) {
  constexpr int64_t kRowBytes = kPanelColumns<T> * kWidth<T>;
#pragma GCC unroll 16
  for (int i = 0; i < kPanelRows; ++i) {
    __builtin_prefetch(p.out + i * p.row_step, 1);
    if constexpr (kRowBytes > 64) __builtin_prefetch(p.out + i * p.row_step + kRowBytes - 1, 1);
  }
}

constexpr int64_t kFetchedBytes = 64;  // a line

// Lines that are used after those of a product, fetched into the second cache, some with each part
// of a tile. Nothing is read there: they may be behind the end of the memory.
class AheadLines {
 public:
  // Fetches all lines in `parts` parts.
  AheadLines(const Runs& runs, int64_t parts)
      : runs_(runs),
        at_(-misaligned()),
        lines_((runs.bytes - at_ + kFetchedBytes - 1) / kFetchedBytes * runs.count / parts + 1) {}

  void fetch() {
    for (int64_t i = 0; i < lines_; ++i) {
      __builtin_prefetch(runs_.data + at_, 0, 2);
      at_ += kFetchedBytes;
      if (at_ >= runs_.bytes) [[unlikely]] {
        runs_.data += runs_.step;
        at_ = -misaligned();
      }
    }
  }

 private:
  // Bytes of the first line before a run. A run that begins within a line has one line more: of
  // 256 bytes 16 bytes behind a line, the fifth line took as long as if none had been fetched.
  [[nodiscard]] int64_t misaligned() const {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(runs_.data) % kFetchedBytes);
  }

  Runs runs_;
  int64_t at_;
  int64_t lines_;  // at a time
};

// Lines that are fetched during a product: the lines that are packed next, which may be in no
// cache, or the panel of columns behind the one that is multiplied, which is in no cache nearer
// than the third. The latter is worth 1.03 times the speed of f32, 1.05 of f64, measured on Intel
// (family 6, model 207), which adds twice as much as it did.
class NextLines {
 public:
  // Tiles have `rows` rows and `columns` columns; lines are fetched once for each `depths` depths.
  NextLines(const DenseProduct& p, int64_t rows, int64_t columns, int64_t depths)
      : parts_((p.rows / rows + 1) * (p.depth / depths + 1)),
        packed_next_(p.next, parts_ * ((p.columns + columns - 1) / columns)),
        has_next_(p.next.count != 0),
        step_(p.b_panel_step) {}

  // `b` is the first of `count` panels that are multiplied.
  AheadLines& beside_panels(const Byte* b, int64_t count) {
    if (has_next_) return packed_next_;
    panels_ = AheadLines({b + count * step_, count * step_, 0, 1}, parts_ * count);
    return panels_;
  }

 private:
  int64_t parts_;
  AheadLines packed_next_;
  AheadLines panels_ = packed_next_;
  bool has_next_;
  int64_t step_;
};

// Depths of the inner loop, which is short enough to be predicted.
constexpr int64_t kTileDepths = 8;
// The rows' next elements, from the second cache, where the first does not hold all depths of both
// panels.
constexpr int64_t kRowsAheadBytes = 2048;

// A whole tile of packed factors.
template <class T, class Adding>
void multiply_whole(const DenseProduct& p, AheadLines& ahead) {
  constexpr int64_t kStepA = kPanelRows * kWidth<T>;
  constexpr int64_t kStepB = kPanelColumns<T> * kWidth<T>;
  fetch_tile<T>(p);
  Vector<T> sums[kPanelRows][kPanelVectors] = {};
  const Byte* a = p.a;
  const Byte* b = p.b;
  if constexpr (Adding::kHasStarts) {
#pragma GCC unroll 16
    for (int i = 0; i < kPanelRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kPanelVectors; ++v) {
        sums[i][v] =
            broadcast<T>(load<T>(a + i * kWidth<T>)) + load<Vector<T>>(b + v * kVectorBytes);
      }
    }
    a += kStepA;
    b += kStepB;
  }
  for (int64_t depths = p.depth - Adding::kHasStarts; depths > 0; depths -= kTileDepths) {
    ahead.fetch();
    if constexpr (kFetchesRows) {
#pragma GCC unroll 16
      for (int64_t at = 0; at < kTileDepths * kStepA; at += kFetchedBytes) {
        __builtin_prefetch(a + kRowsAheadBytes + at);
      }
    }
    for (int64_t k = smaller(depths, kTileDepths); k != 0; --k) {
      Vector<T> right[kPanelVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kPanelVectors; ++v) right[v] = load<Vector<T>>(b + v * kVectorBytes);
#pragma GCC unroll 16
      for (int i = 0; i < kPanelRows; ++i) {
        const Vector<T> left = broadcast<T>(load<T>(a + i * kWidth<T>));
#pragma GCC unroll 4
        for (int v = 0; v < kPanelVectors; ++v) {
          sums[i][v] = Adding::add(left, right[v], sums[i][v]);
        }
      }
      a += kStepA;
      b += kStepB;
    }
  }
  if (p.column_step != kWidth<T>) [[unlikely]]
    return put_spilled<T>(p, sums);
  put_whole<T>(p, sums);
}

// Panels of a packed factor are read once by a few rows, and from memory if it is large: lines are
// fetched so far ahead, into the second cache. Nearer by half, or into the first, is slower than
// not at all.
constexpr int64_t kAheadBytes = 8192;
constexpr int64_t kMostFetchingRows = 24;

// A panel of columns of all places of a kernel is more than the first cache holds: its lines are
// fetched so far ahead. Measured (Intel, family 6, model 207, AVX-512): 64 channels of 56 x 56 by
// 3 x 3 in 0.85 of the time, and no difference between half and twice as far.
constexpr int64_t kColumnsAheadBytes = 1024;

// Multiplies a tile of rows at any addresses; the last row is repeated. Their addresses are more
// than there are registers, and loaded with each depth: the additions take longer. The columns are
// in the first kVectors vectors of the panel.
template <class T, class Adding, int kVectors>
void multiply_scattered_tile(const DenseProduct& p) {
  constexpr int64_t kStepB = kPanelColumns<T> * kWidth<T>;
  fetch_tile<T>(p);
  Vector<T> sums[kPanelRows][kVectors] = {};
  const Byte* b = p.b;
  const Byte* const* next_rows = p.a_rows;
  const int64_t next = p.part_step == 0 ? kPanelRows : 0;
  int64_t offset = 0;
  for (int64_t k = 0; k < p.depth; k += p.part_depth, next_rows += next, offset += p.part_step) {
    const Byte* rows[kPanelRows];
#pragma GCC unroll 16
    for (int i = 0; i < kPanelRows; ++i) rows[i] = next_rows[i] + offset;
    // A line from the last row on is prefetched with each depth: rows of images follow each other,
    // and each is a stream too short for the processor to notice. Nothing is read there.
    const Byte* ahead = rows[kPanelRows - 1];
    for (int64_t at = 0; at < p.part_depth * kWidth<T>; at += kWidth<T>, b += kStepB) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += kFetchedBytes;
#pragma GCC unroll 4
      for (int64_t line = 0; line < kVectors * kVectorBytes; line += kFetchedBytes) {
        __builtin_prefetch(b + kColumnsAheadBytes + line);
      }
      Vector<T> right[kVectors];
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) right[v] = load<Vector<T>>(b + v * kVectorBytes);
#pragma GCC unroll 16
      for (int i = 0; i < kPanelRows; ++i) {
        const Vector<T> left = broadcast<T>(load<T>(rows[i] + at));
#pragma GCC unroll 4
        for (int v = 0; v < kVectors; ++v) {
          sums[i][v] = Adding::add(left, right[v], sums[i][v]);
        }
      }
    }
  }
  if constexpr (kVectors == kPanelVectors) {
    if (p.rows == kPanelRows && p.columns == kPanelColumns<T> && p.column_step == kWidth<T>)
        [[likely]] {
      return put_whole<T>(p, sums);
    }
  }
  put_spilled<T>(p, sums);
}

template <class T, class Adding>
void multiply_scattered(const DenseProduct& p) {
  DenseProduct tile = p;
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>, tile.b += p.b_panel_step) {
    tile.columns = smaller(p.columns - j, kPanelColumns<T>);
    tile.out = p.out + j * p.column_step;
    // Products with as many filters as a vector has elements are common, and half of a whole panel
    // would be empty.
    if (tile.columns <= kPerVector<T>) {
      multiply_scattered_tile<T, Adding, 1>(tile);
    } else {
      multiply_scattered_tile<T, Adding, kPanelVectors>(tile);
    }
  }
}

// Multiplies a tile of kRows rows and kVectors vectors of columns; the last vector is whole or a
// part.
template <class T, class Adding, int kRows, int kVectors, bool kFetches = false>
void multiply_few(const DenseProduct& p) {
  constexpr int kLast = kVectors - 1;
  const FirstLanes<T> last(p.columns - kLast * kPerVector<T>);
  Vector<T> sums[kRows][kVectors] = {};
  if (p.sums != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = load<Vector<T>>(p.sums + i * p.sums_step + v * kVectorBytes);
      }
    }
  }
  // Rows are addressed from every third one, and the addresses move after the additions: else the
  // compiler broadcasts registers, which takes units of the additions, rather than memory.
  constexpr int kThirds = (kRows + 2) / 3;
  const Byte* thirds[kThirds];
#pragma GCC unroll 16
  for (int i = 0; i < kThirds; ++i) thirds[i] = p.a + 3 * i * p.a_step;
  const int64_t step = p.a_step;
  const auto left_of = [&](int i) { return broadcast<T>(load<T>(thirds[i / 3] + i % 3 * step)); };
  const auto go_on = [&] {
#pragma GCC unroll 16
    for (int i = 0; i < kThirds; ++i) thirds[i] += p.a_depth_step;
  };
  const Byte* b = p.b;
  if constexpr (Adding::kHasStarts) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        const Vector<T> right =
            v < kLast ? load<Vector<T>>(b + v * kVectorBytes) : last.load(b + v * kVectorBytes);
        sums[i][v] = left_of(i) + right;
      }
    }
    go_on();
    b += p.b_depth_step;
  }
  for (int64_t k = p.depth - Adding::kHasStarts; k != 0; --k) {
    if constexpr (kFetches) {
#pragma GCC unroll 4
      for (int64_t at = 0; at < kVectors * kVectorBytes; at += kFetchedBytes) {
        __builtin_prefetch(b + kAheadBytes + at, 0, 2);
      }
    }
    Vector<T> right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kLast; ++v) right[v] = load<Vector<T>>(b + v * kVectorBytes);
    right[kLast] = last.load(b + kLast * kVectorBytes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vector<T> left = left_of(i);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = Adding::add(left, right[v], sums[i][v]);
      }
    }
    go_on();
    b += p.b_depth_step;
  }
  if (p.sums != nullptr) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        store(p.sums + i * p.sums_step + v * kVectorBytes, sums[i][v]);
      }
    }
    return;
  }
  if (p.column_step == kWidth<T> && p.beta == nullptr && (kStoresParts || last.is_whole()))
      [[likely]] {
    const Vector<T> alpha = broadcast<T>(load<T>(p.alpha));
    Byte* row = p.out;
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i, row += p.row_step) {
#pragma GCC unroll 4
      for (int v = 0; v < kLast; ++v) store(row + v * kVectorBytes, alpha * sums[i][v]);
      if constexpr (kStoresParts) {
        last.store(row + kLast * kVectorBytes, alpha * sums[i][kLast]);
      } else {
        store(row + kLast * kVectorBytes, alpha * sums[i][kLast]);
      }
    }
    return;
  }
  // A copy: sums whose address is taken would not be in registers.
  Vector<T> spilled[kRows * kVectors];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) spilled[i * kVectors + v] = sums[i][v];
  }
  put_rows<T>(p, spilled, kVectors);
}

template <class T>
using TileKernel = void (*)(const DenseProduct&);
template <class T, class Adding, int... kRows>
struct FewRows {
  // By rows, and by whether a second vector has columns.
  static constexpr TileKernel<T> kKernels[][kPanelVectors] = {
      {nullptr, nullptr},
      {multiply_few<T, Adding, kRows, 1>, multiply_few<T, Adding, kRows, 2>}...};
};
#if defined(__AVX512F__)
template <class T, class Adding>
using Few = FewRows<T, Adding, 1, 2, 3, 4, 5, 6, 7, 8>;
#elif defined(__AVX2__)
template <class T, class Adding>
using Few = FewRows<T, Adding, 1, 2, 3, 4, 5, 6>;
#else
template <class T, class Adding>
using Few = FewRows<T, Adding, 1, 2, 3, 4>;
#endif

// Rows are spread over tiles: of 10 rows, 5 and 5 take less time than 8 and 2.
inline int64_t rows_of_tiles(int64_t rows) {
  const uint32_t count = static_cast<uint32_t>(rows);
  const uint32_t tiles = (count + kFewRows - 1) / kFewRows;
  return (count + tiles - 1) / tiles;
}

// Some rows, and at most a panel's columns, of factors that are packed or not. Leaves `tile` at the
// last of the rows: a copy would be a part of the time of small products.
template <class T, class Adding>
void multiply_rows(DenseProduct& tile) {
  const int64_t vectors = tile.columns > kPerVector<T> ? 1 : 0;
  const int64_t most_rows = rows_of_tiles(tile.rows);
  for (int64_t left = tile.rows; left > 0; left -= most_rows) {
    tile.rows = smaller(left, most_rows);
    Few<T, Adding>::kKernels[tile.rows][vectors](tile);
    tile.a += most_rows * tile.a_step;
    tile.out += most_rows * tile.row_step;
  }
}

#if defined(__AVX512F__)
// A tile of as many rows as there are takes as long as the reading; fewer wait for memory anyway,
// and processors fetch for them as well.
template <class T, class Adding>
void multiply_fetched(DenseProduct& tile) {
  const int64_t rows = tile.rows;
  tile.rows = kFewRows;
  for (int64_t row = 0; row < rows; row += kFewRows) {
    multiply_few<T, Adding, kFewRows, kPanelVectors, true>(tile);
    tile.a += kFewRows * tile.a_step;
    tile.out += kFewRows * tile.row_step;
  }
}
template <class T>
bool fetches(const DenseProduct& panel) {
  return panel.rows % kFewRows == 0 && panel.columns > kPerVector<T>;
}
#else
// Several tiles of rows, and vectors that are half a line: lines are fetched for kFetchedDepths
// depths at a time, and the first cache keeps the sums in between. Measured: 4 and 8 rows by 8192 x
// 8192 of f32 in 0.61 and 0.67 of the time (AVX2 on Zen 4; as long on Zen 3), but up to twice as
// long where a cache holds the factor.
constexpr int64_t kFetchedDepths = 16;

template <class T, class Adding>
void multiply_fetched(DenseProduct& p) {
  constexpr int64_t kStepB = kPanelColumns<T> * kWidth<T>;
  alignas(64) Byte sums[kMostFetchingRows * kStepB];
  const int64_t second = p.columns > kPerVector<T> ? 1 : 0;
  const int64_t most_rows = rows_of_tiles(p.rows);
  __builtin_memset(sums, 0, static_cast<uint64_t>(p.rows * kStepB));
  DenseProduct part = p;
  part.sums_step = kStepB;
  for (int64_t k = 0; k < p.depth; k += kFetchedDepths) {
    part.depth = smaller(p.depth - k, kFetchedDepths);
    for (int64_t at = 0; at < part.depth * kStepB; at += kFetchedBytes) {
      __builtin_prefetch(part.b + kAheadBytes + at, 0, 2);
    }
    const Byte* const a = p.a + k * p.a_depth_step;
    for (int64_t i = 0; i < p.rows; i += most_rows) {
      part.a = a + i * p.a_step;
      part.sums = sums + i * kStepB;
      Few<T, Adding>::kKernels[smaller(p.rows - i, most_rows)][second](part);
    }
    part.b += part.depth * kStepB;
  }
  put_rows<T>(p, reinterpret_cast<const Vector<T>*>(sums), kPanelVectors);
}
template <class T>
bool fetches(const DenseProduct& panel) {
  return panel.is_far && panel.rows > 2;  // a single row is 1.3 times as fast without
}
#endif

// A right factor of several panels that the first cache holds: each tile of rows meets all of them,
// so that rows and results, which may be in no cache, are read and written as they follow each
// other.
constexpr int64_t kNearFactorBytes = int64_t{1} << 15;

template <class T, class Adding>
void multiply_near(const DenseProduct& p) {
  DenseProduct tile = p;
  const int64_t most_rows = rows_of_tiles(p.rows);
  Byte* row = p.out;
  for (int64_t left = p.rows; left > 0; left -= most_rows) {
    tile.rows = smaller(left, most_rows);
    tile.b = p.b;
    tile.out = row;
    for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>) {
      tile.columns = smaller(p.columns - j, kPanelColumns<T>);
      Few<T, Adding>::kKernels[tile.rows][tile.columns > kPerVector<T> ? 1 : 0](tile);
      tile.b += p.b_panel_step;
      tile.out += kPanelColumns<T> * p.column_step;
    }
    tile.a += most_rows * p.a_step;
    row += most_rows * p.row_step;
  }
}

template <class T, class Adding>
void multiply_unpacked(const DenseProduct& p) {
  if (p.columns > kPanelColumns<T> && p.rows > kFewRows &&
      p.depth * p.columns * kWidth<T> <= kNearFactorBytes) {
    return multiply_near<T, Adding>(p);
  }
  DenseProduct panel = p;
  // The depths are adjacent, and there are more of them than are fetched ahead.
  const bool is_long = p.b_depth_step == kPanelColumns<T> * kWidth<T> &&
                       p.rows <= kMostFetchingRows && p.depth * p.b_depth_step > 2 * kAheadBytes;
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>, panel.b += p.b_panel_step) {
    panel.rows = p.rows;
    panel.columns = smaller(p.columns - j, kPanelColumns<T>);
    panel.a = p.a;
    panel.out = p.out + j * p.column_step;
    if (is_long && fetches<T>(panel)) {
      multiply_fetched<T, Adding>(panel);
    } else {
      multiply_rows<T, Adding>(panel);
    }
  }
}

// Depths that are read together, as streams that processors fetch ahead: a single panel of a right
// factor that no cache holds would be some bytes of each page.
constexpr int64_t kStreams = 8;

template <class T, class Adding>
void multiply_streamed(const DenseProduct& p) {
  const int64_t vectors = p.sums_step / kVectorBytes;
  __builtin_memset(p.sums, 0, static_cast<uint64_t>(p.rows * vectors * kVectorBytes));
  DenseProduct part = p;
  const int64_t most_rows = rows_of_tiles(p.rows);
  // The left factor's elements, made adjacent: its rows too may all be in the same cache sets.
  T left[kStreams * kMostFetchingRows];
  const bool gathers = p.rows <= kMostFetchingRows;
  if (gathers) {
    part.a_step = kWidth<T>;
    part.a_depth_step = p.rows * kWidth<T>;
  }
  for (int64_t k = 0; k < p.depth; k += kStreams) {
    part.depth = smaller(p.depth - k, kStreams);
    const int64_t ahead = smaller(p.depth - k - part.depth, kStreams);
    const Byte* a = p.a + k * p.a_depth_step;
    if (gathers) {
      for (int64_t d = 0; d < part.depth; ++d) {
        for (int64_t i = 0; i < p.rows; ++i) {
          left[d * p.rows + i] = load<T>(a + i * p.a_step + d * p.a_depth_step);
        }
      }
      a = reinterpret_cast<const Byte*>(left);
    }
    part.b = p.b + k * p.b_depth_step;
    Byte* sums = p.sums;
    for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>) {
      part.columns = smaller(p.columns - j, kPanelColumns<T>);
      const Byte* next = part.b + kStreams * p.b_depth_step;
      for (int64_t i = 0; i < ahead; ++i, next += p.b_depth_step) {
        // Not into the first cache, where the rows may all be in the same sets.
        __builtin_prefetch(next, 0, 2);
        if constexpr (kPanelVectors * kVectorBytes > 64) __builtin_prefetch(next + 64, 0, 2);
      }
      const int64_t second = part.columns > kPerVector<T> ? 1 : 0;
      for (int64_t i = 0; i < p.rows; i += most_rows) {
        part.a = a + i * part.a_step;
        part.sums = sums + i * p.sums_step;
        Few<T, Adding>::kKernels[smaller(p.rows - i, most_rows)][second](part);
      }
      part.b += kPanelVectors * kVectorBytes;
      sums += kPanelVectors * kVectorBytes;
    }
  }
  put_rows<T>(p, reinterpret_cast<const Vector<T>*>(p.sums), static_cast<int>(vectors));
}

// Rows of a packed panel that are made adjacent first: a depth of a panel has as many bytes as all
// rows of a tile, so that one row would take the first cache from the columns. Measured (Zen 4): a
// row of bytes by 1024 x 1024 in 0.64 of the time.
constexpr int64_t kFewPackedRows = 2;
constexpr int64_t kGatheredDepths = 520;

template <class T, class Adding>
void multiply_gathered(const DenseProduct& p) {
  T left[kFewPackedRows * kGatheredDepths];
  for (int64_t k = 0; k < p.depth; ++k) {
    for (int64_t i = 0; i < p.rows; ++i) {
      left[k * p.rows + i] = load<T>(p.a + (k * kPanelRows + i) * kWidth<T>);
    }
  }
  DenseProduct tile = p;
  tile.a = reinterpret_cast<const Byte*>(left);
  tile.a_step = kWidth<T>;
  tile.a_depth_step = p.rows * kWidth<T>;
  tile.b_depth_step = kPanelColumns<T> * kWidth<T>;
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>, tile.b += p.b_panel_step) {
    tile.columns = smaller(p.columns - j, kPanelColumns<T>);
    tile.out = p.out + j * p.column_step;
    Few<T, Adding>::kKernels[p.rows][tile.columns > kPerVector<T> ? 1 : 0](tile);
  }
}

template <class T, class Adding>
void multiply(const DenseProduct& p) {
  if (p.rows <= kFewPackedRows && p.depth <= kGatheredDepths && p.columns > kPanelColumns<T>) {
    return multiply_gathered<T, Adding>(p);
  }
  DenseProduct tile = p;
  tile.a_step = kWidth<T>;
  tile.a_depth_step = kPanelRows * kWidth<T>;
  tile.b_depth_step = kPanelColumns<T> * kWidth<T>;
  NextLines next(p, kPanelRows, kPanelColumns<T>, kTileDepths);
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>, tile.b += p.b_panel_step) {
    AheadLines& ahead = next.beside_panels(tile.b, 1);
    tile.columns = smaller(p.columns - j, kPanelColumns<T>);
    for (int64_t i = 0; i < p.rows; i += kPanelRows) {
      tile.rows = smaller(p.rows - i, kPanelRows);
      tile.a = p.a + i / kPanelRows * p.a_panel_step;
      tile.out = p.out + i * p.row_step + j * p.column_step;
      if (tile.rows == kPanelRows && tile.columns == kPanelColumns<T>) [[likely]] {
        multiply_whole<T, Adding>(tile, ahead);
      } else {
        multiply_rows<T, Adding>(tile);
      }
    }
  }
}

// ---- right factors with adjacent depths ----

constexpr int kAlongRows = 4;
// Lanes of 16 bytes in a tile that is transposed at a time: with the sums, they fill all registers.
#if defined(__AVX512F__)
constexpr int kAlongPieces = 4;
#else
constexpr int kAlongPieces = 2;
#endif

// A column of the right factor for each lane of a vector, and kRows rows. Depths are transposed in
// registers, and added as they come: memory would have to be written and read for each product.
template <class T, class Adding, int kRows>
void add_along(const DenseProduct& p, const Byte* const* columns, Vector<T>* sums_of_rows) {
  constexpr int64_t kDepths = kAlongPieces * kLaneBytes / kWidth<T>;
  Vector<T> sums[kRows] = {};
  const Byte* a = p.a;
  const auto add = [&](const Vector<T>& right) {
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const Vector<T> left = broadcast<T>(load<T>(a + i * p.a_step));
      sums[i] = Adding::add(left, right, sums[i]);
    }
    a += p.a_depth_step;
  };
  int64_t k = 0;
  for (; k + kDepths <= p.depth; k += kDepths) {
    transpose_tile<Widest, sizeof(T), kAlongPieces>(
        [&](int64_t column) { return columns[column] + k * kWidth<T>; },
        [&](int64_t, Widest::Vector right) { add(bit_copy<Vector<T>>(right)); });
  }
  for (; k < p.depth; ++k) {
    T right[kPerVector<T>];
    for (int64_t c = 0; c < kPerVector<T>; ++c) right[c] = load<T>(columns[c] + k * kWidth<T>);
    add(load<Vector<T>>(reinterpret_cast<const Byte*>(right)));
  }
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) sums_of_rows[i] = sums[i];
}

template <class T, class Adding>
void multiply_along(const DenseProduct& p) {
  using Kernel = void (*)(const DenseProduct&, const Byte* const*, Vector<T>*);
  constexpr Kernel kKernels[] = {add_along<T, Adding, 1>, add_along<T, Adding, 2>,
                                 add_along<T, Adding, 3>, add_along<T, Adding, 4>};
  static_assert(sizeof kKernels / sizeof *kKernels == kAlongRows);
  DenseProduct tile = p;
  for (int64_t j = 0; j < p.columns; j += kPerVector<T>) {
    tile.columns = smaller(p.columns - j, kPerVector<T>);
    // Lanes without a column repeat the last one.
    const Byte* columns[kPerVector<T>];
    for (int64_t c = 0; c < kPerVector<T>; ++c) {
      columns[c] = p.b + smaller(j + c, p.columns - 1) * p.b_step;
    }
    for (int64_t i = 0; i < p.rows; i += kAlongRows) {
      tile.rows = smaller(p.rows - i, kAlongRows);
      tile.a = p.a + i * p.a_step;
      tile.out = p.out + i * p.row_step + j * p.column_step;
      Vector<T> sums[kAlongRows];
      kKernels[tile.rows - 1](tile, columns, sums);
      put_rows<T>(tile, sums, 1);
    }
  }
}

// ---- after the sums ----

// Whole sums are signed, and wrap as unsigned ones do.
template <class T>
struct SignedSum {
  using type = T;
};
template <>
struct SignedSum<uint32_t> {
  using type = int32_t;
};
template <class T>
using Signed = typename SignedSum<T>::type;

// Comparisons that NaN fails.
template <class T>
inline Vector<T> clamped(const Vector<T>& sum, const Vector<T>& low, const Vector<T>& high) {
  const auto signs = [](const Vector<T>& v) { return reinterpret_cast<Vector<Signed<T>>>(v); };
  const Vector<T> result = signs(sum) < signs(low) ? low : sum;
  return signs(result) > signs(high) ? high : result;
}

template <class T>
void run_epilogue(const Epilogue& f) {
  const bool is_by_row =
      f.column_step == kWidth<T> && (f.bias == nullptr || f.bias_step == kWidth<T>);
  const bool is_by_column = !is_by_row && f.row_step == kWidth<T>;
  const int64_t lines = is_by_column ? f.columns : f.rows;
  const int64_t line_step = is_by_column ? f.column_step : f.row_step;
  const int64_t count = is_by_column ? f.rows : f.columns;
  const int64_t step = is_by_column ? f.row_step : f.column_step;
  const int64_t width = is_by_row || is_by_column ? kPerVector<T> : 1;
  const Vector<T> low = broadcast<T>(load<T>(f.low));
  const Vector<T> high = broadcast<T>(load<T>(f.high));
  // Rows may be short: a vector of the bias is loaded once for some of them, no more than the first
  // cache has ways, because they may all be in the same sets.
  const int64_t together = is_by_column ? 1 : 4;
  for (int64_t first = 0; first < lines; first += together) {
    const int64_t end = smaller(lines, first + together);
    for (int64_t i = 0; i < count; i += width) {
      const FirstLanes<T> part(smaller(count - i, width));
      Vector<T> bias = -Vector<T>{};  // which changes no sum, 0 included
      if (f.bias != nullptr && !is_by_column) bias = part.load(f.bias + i * f.bias_step);
      Byte* out = f.out + first * line_step + i * step;
      for (int64_t line = first; line < end; ++line, out += line_step) {
        if (f.bias != nullptr && is_by_column) {
          bias = broadcast<T>(load<T>(f.bias + line * f.bias_step));
        }
        part.store(out, clamped<T>(part.load(out) + bias, low, high));
      }
    }
  }
}

template <class T, class Adding>
constexpr Gemm kGemmOf = {
    .panel_rows = kPanelRows,
    .panel_columns = kPanelColumns<T>,
    .multiply = multiply<T, Adding>,
    .reads_rows = false,
    .narrows = false,
    .multiply_unpacked = multiply_unpacked<T, Adding>,
    .multiply_streamed = multiply_streamed<T, Adding>,
    .multiply_scattered = multiply_scattered<T, Adding>,
    .along_rows = kAlongRows,
    .multiply_along = multiply_along<T, Adding>,
    .run_epilogue = run_epilogue<T>,
};
// The kernels of packed factors only.
template <class T, class Adding>
constexpr Gemm kGemmOfLanes = {
    .panel_rows = kPanelRows,
    .panel_columns = kPanelColumns<T>,
    .multiply = multiply<T, Adding>,
    .reads_rows = false,
    .narrows = false,
    .multiply_unpacked = nullptr,
    .multiply_streamed = nullptr,
    .multiply_scattered = nullptr,
    .along_rows = 0,
    .multiply_along = nullptr,
    .run_epilogue = run_epilogue<T>,
};

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
