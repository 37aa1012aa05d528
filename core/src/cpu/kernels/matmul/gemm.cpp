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

// Sums as they left the registers, `vectors` to a row, where the rows of out are adjacent.
template <class T>
void put_columns(const DenseProduct& p, const Vector<T>* sums, int vectors) {
  constexpr int kPieces = static_cast<int>(kVectorBytes / kLaneBytes);
  const Vector<T> alpha = broadcast<T>(load<T>(p.alpha));
  const Vector<T> beta = broadcast<T>(p.beta == nullptr ? T{0} : load<T>(p.beta));
  for (int64_t i = 0; i < p.rows; i += kPerVector<T>) {
    const Part<T> part(smaller(p.rows - i, kPerVector<T>));
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

// A panel of which the elements of each of `rows` are adjacent: transposed in registers. A vector
// has more rows than are left where the panel is no multiple of it; the elements of those are
// overwritten by the next depth's. So they are any rows that can be read.
template <class T, int64_t kPanel>
constexpr int64_t kTransposedRows = (kPanel + kPerVector<T> - 1) / kPerVector<T> * kPerVector<T>;
template <class T, int64_t kPanel>
inline void pack_transposed(const Byte* const* rows, int64_t depth, Byte* to) {
  constexpr int kPieces = 4;
  constexpr int64_t kDepths = kPieces * kLaneBytes / kWidth<T>;
  if (depth < kDepths) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t i = 0; i < kPanel; ++i) {
        store<T>(to + (k * kPanel + i) * kWidth<T>, load<T>(rows[i] + k * kWidth<T>));
      }
    }
    return;
  }
  // The last tile begins so early that it is whole, and packs some depths again.
  for (int64_t next = 0; next < depth; next += kDepths) {
    const int64_t k = smaller(next, depth - kDepths);
    // From the last vector, whose rows too many are the first ones of the next depth, to the first.
    for (int64_t v = kTransposedRows<T, kPanel> - kPerVector<T>; v >= 0; v -= kPerVector<T>) {
      Byte* const out = to + (k * kPanel + v) * kWidth<T>;
      transpose_tile<Widest, sizeof(T), kPieces>(
          [&](int64_t row) { return rows[v + row] + k * kWidth<T>; },
          [&](int64_t c, Widest::Vector column) {
            Widest::store(out + c * kPanel * kWidth<T>, column);
          });
    }
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
      const Byte* rows[kTransposedRows<T, kPanel>];
      for (int64_t r = 0; r < kTransposedRows<T, kPanel>; ++r) {
        rows[r] = data + smaller(r, count - 1) * from.step;
      }
      pack_transposed<T, kPanel>(rows, from.depth, to);
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

// Lanes of a panel whose rows are adjacent elements at each depth, or zeros.
template <class T>
struct Run {
  const Byte* data = nullptr;  // nullptr: zeros
  int64_t lane = 0;
  Part<T> part = Part<T>(1);
};

// The runs of a panel's rows, in rising order; how many there are.
template <class T>
int64_t find_runs(const Byte* const* rows, Run<T>* runs) {
  int64_t count = 0;
  for (int64_t lane = 0; lane < kPanelRows;) {
    const Byte* const first = rows[lane];
    int64_t length = 1;
    while (lane + length < kPanelRows && length < kPerVector<T> &&
           rows[lane + length] == (first == nullptr ? nullptr : first + length * kWidth<T>)) {
      ++length;
    }
    runs[count++] = {first, lane, Part<T>(length)};
    lane += length;
  }
  return count;
}

template <class T>
void pack_scattered(const ScatteredRows& from, Byte* to) {
  constexpr int64_t kDepthBytes = kPanelRows * kWidth<T>;
  if (from.depth_step == kWidth<T>) {
    const Byte* rows[kTransposedRows<T, kPanelRows>];
    for (int64_t i = 0; i < kTransposedRows<T, kPanelRows>; ++i) {
      const Byte* const row = from.rows[smaller(i, kPanelRows - 1)];
      rows[i] = row == nullptr ? from.zeros : row;
    }
    return pack_transposed<T, kPanelRows>(rows, from.depth, to);
  }
  Run<T> runs[kPanelRows];
  const int64_t run_count = find_runs<T>(from.rows, runs);
  // A run is stored as a whole vector: what is too much of it is overwritten by the next run, or by
  // the next depth.
  for (int64_t k = 0; k < from.depth; ++k, to += kDepthBytes) {
    for (int64_t r = 0; r < run_count; ++r) {
      const Run<T>& run = runs[r];
      store(to + run.lane * kWidth<T>,
            run.data == nullptr ? Vector<T>{} : run.part.load(run.data + k * from.depth_step));
    }
  }
}

// ---- what follows the sums ----

template <class T>
inline Vector<T> finished(const Vector<T>& sum, const Vector<T>& bias, bool has_relu) {
  const Vector<T> result = sum + bias;
  // A comparison that NaN fails.
  return has_relu ? (result < Vector<T>{} ? Vector<T>{} : result) : result;
}

template <class T>
void run_epilogue(const Epilogue& f) {
  const bool is_by_row = f.column_step == kWidth<T>;
  const bool is_by_column = !is_by_row && f.row_step == kWidth<T>;
  const int64_t lines = is_by_column ? f.columns : f.rows;
  const int64_t line_step = is_by_column ? f.column_step : f.row_step;
  const int64_t count = is_by_column ? f.rows : f.columns;
  const int64_t step = is_by_column ? f.row_step : f.column_step;
  const int64_t width = is_by_row || is_by_column ? kPerVector<T> : 1;
  for (int64_t line = 0; line < lines; ++line) {
    Byte* const out = f.out + line * line_step;
    for (int64_t i = 0; i < count; i += width) {
      const Part<T> part(smaller(count - i, width));
      Vector<T> bias = -Vector<T>{};  // which changes no sum, 0 included
      if (f.bias != nullptr) {
        bias = is_by_column ? broadcast<T>(load<T>(f.bias + line * kWidth<T>))
                            : part.load(f.bias + i * kWidth<T>);
      }
      part.store(out + i * step, finished<T>(part.load(out + i * step), bias, f.has_relu));
    }
  }
}

template <class T>
constexpr Gemm kGemmOf = {
    .panel_rows = kPanelRows,
    .panel_columns = kPanelColumns<T>,
    .slack_bytes = kVectorBytes,
    .pack_rows = pack<T, kPanelRows>,
    .pack_columns = pack<T, kPanelColumns<T>>,
    .pack_scattered = pack_scattered<T>,
    .multiply = multiply<T>,
    .multiply_unpacked = multiply_unpacked<T>,
    .multiply_streamed = multiply_streamed<T>,
    .run_epilogue = run_epilogue<T>,
};

}  // namespace

const GemmTable kGemm = {kGemmOf<double>, kGemmOf<float>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
