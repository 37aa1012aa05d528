// Products of dense matrices: a tile of sums in registers, to which each depth adds the products of
// a few rows and columns.
#include "cpu/gemm.hpp"

#include "cpu/kernels/matmul/part.hpp"
#include "cpu/kernels/move/tile.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// A tile of packed factors has as many sums as there are registers, but those for the factors; one
// of others has fewer rows, as each has an address of its own. The columns are vectors.
#if defined(__AVX512F__)
constexpr int kPanelRows = 14;
constexpr int kFewRows = 8;
constexpr bool kStoresParts = true;  // as fast as whole vectors
#elif defined(__AVX2__)
constexpr int kPanelRows = 6;
constexpr int kFewRows = 6;
constexpr bool kStoresParts = false;
#else
constexpr int kPanelRows = 4;
constexpr int kFewRows = 4;
constexpr bool kStoresParts = false;
#endif
constexpr int kPanelVectors = 2;
template <class T>
constexpr int64_t kPanelColumns = kPanelVectors * kPerVector<T>;
template <class T>
constexpr int64_t kWidth = sizeof(T);

// ---- tiles ----

// Sums as they left the registers: `vectors` to a row.
template <class T>
__attribute__((noinline)) void put_rows(const DenseProduct& p, const Vector<T>* sums, int vectors) {
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
    const Part<T> part(smaller(p.columns - first, kPerVector<T>));
    Byte* to = p.out + first * kWidth<T>;
    for (int64_t i = 0; i < p.rows; ++i, to += p.row_step) {
      Vector<T> result = alpha * sums[i * vectors];
      if (p.beta != nullptr) result += beta * part.load(to);
      part.store(to, result);
    }
  }
}

// A whole tile of packed factors.
template <class T>
void multiply_whole(const DenseProduct& p) {
  constexpr int64_t kStepA = kPanelRows * kWidth<T>;
  constexpr int64_t kStepB = kPanelColumns<T> * kWidth<T>;
  // The lines are in the registers' way soon enough: by the end of the sums they have come.
#pragma GCC unroll 16
  for (int i = 0; i < kPanelRows; ++i) {
    __builtin_prefetch(p.out + i * p.row_step, 1);
    if constexpr (kStepB > 64) __builtin_prefetch(p.out + i * p.row_step + kStepB - 1, 1);
  }
  Vector<T> sums[kPanelRows][kPanelVectors] = {};
  const Byte* a = p.a;
  const Byte* b = p.b;
  for (int64_t k = p.depth; k != 0; --k) {
    Vector<T> right[kPanelVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kPanelVectors; ++v) right[v] = load<Vector<T>>(b + v * kVectorBytes);
#pragma GCC unroll 16
    for (int i = 0; i < kPanelRows; ++i) {
      const Vector<T> left = broadcast<T>(load<T>(a + i * kWidth<T>));
#pragma GCC unroll 4
      for (int v = 0; v < kPanelVectors; ++v) {
        sums[i][v] = multiply_add<T>(left, right[v], sums[i][v]);
      }
    }
    a += kStepA;
    b += kStepB;
  }
  if (p.column_step != kWidth<T>) [[unlikely]] {
    Vector<T> spilled[kPanelRows * kPanelVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kPanelRows; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < kPanelVectors; ++v) spilled[i * kPanelVectors + v] = sums[i][v];
    }
    return put_rows<T>(p, spilled, kPanelVectors);
  }
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

// A tile of kRows rows, and so many columns that the last of kVectors vectors is whole or not.
template <class T, int kRows, int kVectors>
void multiply_few(const DenseProduct& p) {
  constexpr int kLast = kVectors - 1;
  const Part<T> last(p.columns - kLast * kPerVector<T>);
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
  const Byte* rows[kRows];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) rows[i] = p.a + i * p.a_step;
  const Byte* b = p.b;
  for (int64_t k = p.depth; k != 0; --k) {
    Vector<T> right[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kLast; ++v) right[v] = load<Vector<T>>(b + v * kVectorBytes);
    right[kLast] = last.load(b + kLast * kVectorBytes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const Vector<T> left = broadcast<T>(load<T>(rows[i]));
      rows[i] += p.a_depth_step;
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        sums[i][v] = multiply_add<T>(left, right[v], sums[i][v]);
      }
    }
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
template <class T, int... kRows>
struct FewRows {
  // By rows, and by whether a second vector has columns.
  static constexpr TileKernel<T> kKernels[][kPanelVectors] = {
      {nullptr, nullptr}, {multiply_few<T, kRows, 1>, multiply_few<T, kRows, 2>}...};
};
#if defined(__AVX512F__)
template <class T>
using Few = FewRows<T, 1, 2, 3, 4, 5, 6, 7, 8>;
#elif defined(__AVX2__)
template <class T>
using Few = FewRows<T, 1, 2, 3, 4, 5, 6>;
#else
template <class T>
using Few = FewRows<T, 1, 2, 3, 4>;
#endif

// Rows are spread over tiles: of 10 rows, 5 and 5 take less time than 8 and 2.
inline int64_t rows_of_tiles(int64_t rows) {
  const uint32_t count = static_cast<uint32_t>(rows);
  const uint32_t tiles = (count + kFewRows - 1) / kFewRows;
  return (count + tiles - 1) / tiles;
}

// Some rows, and at most a panel's columns, of factors that lie anywhere.
template <class T>
void multiply_rows(const DenseProduct& p) {
  const int64_t vectors = p.columns > kPerVector<T> ? 1 : 0;
  DenseProduct tile = p;
  const int64_t most_rows = rows_of_tiles(p.rows);
  for (int64_t i = 0; i < p.rows; i += most_rows) {
    tile.rows = smaller(p.rows - i, most_rows);
    tile.a = p.a + i * p.a_step;
    tile.out = p.out + i * p.row_step;
    Few<T>::kKernels[tile.rows][vectors](tile);
  }
}

template <class T>
void multiply_unpacked(const DenseProduct& p) {
  DenseProduct panel = p;
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>) {
    panel.columns = smaller(p.columns - j, kPanelColumns<T>);
    panel.b = p.b + j * kWidth<T>;
    panel.out = p.out + j * p.column_step;
    multiply_rows<T>(panel);
  }
}

// Depths that are read side by side, which processors fetch ahead: of a right factor that no cache
// holds, a panel alone would be some bytes of each page.
constexpr int64_t kStreams = 8;

template <class T>
void multiply_streamed(const DenseProduct& p) {
  const int64_t vectors = p.sums_step / kVectorBytes;
  __builtin_memset(p.sums, 0, static_cast<size_t>(p.rows * vectors * kVectorBytes));
  DenseProduct part = p;
  const int64_t most_rows = rows_of_tiles(p.rows);
  for (int64_t k = 0; k < p.depth; k += kStreams) {
    part.depth = smaller(p.depth - k, kStreams);
    const int64_t ahead = smaller(p.depth - k - part.depth, kStreams);
    const Byte* const a = p.a + k * p.a_depth_step;
    part.b = p.b + k * p.b_depth_step;
    Byte* sums = p.sums;
    for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>) {
      part.columns = smaller(p.columns - j, kPanelColumns<T>);
      const Byte* next = part.b + kStreams * p.b_depth_step;
      for (int64_t i = 0; i < ahead; ++i, next += p.b_depth_step) {
        // Not into the first cache, of which the rows may all lie in the same sets.
        __builtin_prefetch(next, 0, 2);
        if constexpr (kPanelVectors * kVectorBytes > 64) __builtin_prefetch(next + 64, 0, 2);
      }
      const int64_t second = part.columns > kPerVector<T> ? 1 : 0;
      for (int64_t i = 0; i < p.rows; i += most_rows) {
        part.a = a + i * p.a_step;
        part.sums = sums + i * p.sums_step;
        Few<T>::kKernels[smaller(p.rows - i, most_rows)][second](part);
      }
      part.b += kPanelVectors * kVectorBytes;
      sums += kPanelVectors * kVectorBytes;
    }
  }
  put_rows<T>(p, reinterpret_cast<const Vector<T>*>(p.sums), static_cast<int>(vectors));
}

template <class T>
void multiply(const DenseProduct& p) {
  DenseProduct tile = p;
  tile.a_step = kWidth<T>;
  tile.a_depth_step = kPanelRows * kWidth<T>;
  tile.b_depth_step = kPanelColumns<T> * kWidth<T>;
  for (int64_t j = 0; j < p.columns; j += kPanelColumns<T>) {
    tile.columns = smaller(p.columns - j, kPanelColumns<T>);
    tile.b = p.b + j * p.depth * kWidth<T>;
    for (int64_t i = 0; i < p.rows; i += kPanelRows) {
      tile.rows = smaller(p.rows - i, kPanelRows);
      tile.a = p.a + i * p.depth * kWidth<T>;
      tile.out = p.out + i * p.row_step + j * p.column_step;
      if (tile.rows == kPanelRows && tile.columns == kPanelColumns<T>) [[likely]] {
        multiply_whole<T>(tile);
      } else {
        multiply_rows<T>(tile);
      }
    }
  }
}

// ---- packing ----

// Elements of one depth side by side, `count` of them and then the last one again.
template <class T, int64_t kPanel>
inline void pack_depth(const Byte* from, int64_t step, int64_t count, Byte* to) {
  for (int64_t i = 0; i < kPanel; ++i) {
    store<T>(to + i * kWidth<T>, load<T>(from + smaller(i, count - 1) * step));
  }
}

// A panel of which the elements of a row, or column, are adjacent: transposed in registers. A
// vector has more rows than are left where the panel is no multiple of it. Those repeat the last
// one, and are overwritten by the next depth's.
template <class T, int64_t kPanel>
inline void pack_transposed(const Byte* from, int64_t step, int64_t count, int64_t depth,
                            Byte* to) {
  constexpr int kPieces = 4;
  constexpr int64_t kDepths = kPieces * kLaneBytes / kWidth<T>;
  constexpr int64_t kVectors = (kPanel + kPerVector<T> - 1) / kPerVector<T>;
  int64_t offsets[kVectors * kPerVector<T>];
  for (int64_t i = 0; i < kVectors * kPerVector<T>; ++i) offsets[i] = smaller(i, count - 1) * step;
  int64_t k = 0;
  for (; k + kDepths <= depth; k += kDepths) {
    // From the last vector, whose rows too many are the first ones of the next depth, to the first.
    for (int64_t v = kVectors - 1; v >= 0; --v) {
      const int64_t* const rows = offsets + v * kPerVector<T>;
      const Byte* const at = from + k * kWidth<T>;
      Byte* const out = to + (k * kPanel + v * kPerVector<T>)*kWidth<T>;
      transpose_tile<Widest, sizeof(T), kPieces>([&](int64_t row) { return at + rows[row]; },
                                                 [&](int64_t c, Widest::Vector column) {
                                                   Widest::store(out + c * kPanel * kWidth<T>,
                                                                 column);
                                                 });
    }
  }
  for (; k < depth; ++k) {
    pack_depth<T, kPanel>(from + k * kWidth<T>, step, count, to + k * kPanel * kWidth<T>);
  }
}

// A whole panel of which the elements of a depth are adjacent.
template <class T, int64_t kPanel>
inline void pack_adjacent(const Byte* from, int64_t depth_step, int64_t depth, Byte* to) {
  for (int64_t k = 0; k < depth; ++k) {
    __builtin_memcpy(to + k * kPanel * kWidth<T>, from + k * depth_step, kPanel * kWidth<T>);
  }
}

template <class T, int64_t kPanel>
void pack(const Factor& from, Byte* to) {
  for (int64_t i = 0; i < from.count; i += kPanel, to += kPanel * from.depth * kWidth<T>) {
    const Byte* const data = from.data + i * from.step;
    const int64_t count = smaller(from.count - i, kPanel);
    if (from.depth_step == kWidth<T>) {
      pack_transposed<T, kPanel>(data, from.step, count, from.depth, to);
    } else if (from.step == kWidth<T> && count == kPanel) {
      pack_adjacent<T, kPanel>(data, from.depth_step, from.depth, to);
    } else {
      for (int64_t k = 0; k < from.depth; ++k) {
        pack_depth<T, kPanel>(data + k * from.depth_step, from.step, count,
                              to + k * kPanel * kWidth<T>);
      }
    }
  }
}

template <class T>
constexpr Gemm kGemmOf = {
    .panel_rows = kPanelRows,
    .panel_columns = kPanelColumns<T>,
    .slack_bytes =
        (kPanelRows + kPerVector<T> - 1) / kPerVector<T> * kVectorBytes - kPanelRows * kWidth<T>,
    .pack_rows = pack<T, kPanelRows>,
    .pack_columns = pack<T, kPanelColumns<T>>,
    .multiply = multiply<T>,
    .multiply_unpacked = multiply_unpacked<T>,
    .multiply_streamed = multiply_streamed<T>,
};

}  // namespace

const GemmTable kGemm = {kGemmOf<double>, kGemmOf<float>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
