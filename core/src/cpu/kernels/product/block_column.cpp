// Blocks times one dense column: bound by the memory that the blocks come from, where the sums of a
// row of blocks stay in registers.
//
// Rows are added up as those without blocks are (row_sum.hpp): eight sums take turns and meet in a
// tree. Blocks that have eight columns together are a turn, so that entries get the sums that they
// would have had without blocks.
#include "cpu/kernels/product/row_sum.hpp"
#include "cpu/kernels/sums.hpp"
#include "cpu/spmm.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The sums of a row of blocks, kRows by kCols. A register has those of one row.
template <class T, int kRows, int kCols>
struct BlockSums {
  static constexpr int kWidth = kCols < kSumLanes ? kCols : kSumLanes;
  static constexpr int kTurns = kSumLanes / kWidth;
  using Span = SpanOf<T, kWidth* static_cast<int>(sizeof(T))>;
  using SpanVector = typename Span::SpanVector;

  void add(int turn, const Byte* values, const Byte* x) {
    for (int column = 0; column < kCols; column += kWidth) {
      for (int p = 0; p < Span::kParts; ++p) {
        const int64_t at = column * kStep<T> + p * Span::kPartBytes;
        const SpanVector factors = load<SpanVector>(x + at);
        for (int r = 0; r < kRows; ++r) {
          parts[turn][r][p] += load<SpanVector>(values + r * kCols * kStep<T> + at) * factors;
        }
      }
    }
  }
  // The sums of the rows. Parts become memory first, as code for each row would be long; but a load
  // of two pairs would wait for both.
  void put_totals(T* totals) const {
    if constexpr (kWidth == 2) {
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const SpanVector pair =
            (parts[0][r][0] + parts[2][r][0]) + (parts[1][r][0] + parts[3][r][0]);
        totals[r] = pair[0] + pair[1];
      }
    } else if constexpr (kWidth == 4 && kRows <= 4 && Span::kParts == 1) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const SpanVector halves = parts[0][r][0] + parts[1][r][0];
        totals[r] = (halves[0] + halves[2]) + (halves[1] + halves[3]);
      }
    } else {
      Byte lanes[kRows][kSumLanes * kStep<T>];
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
        for (int turn = 0; turn < kTurns; ++turn) {
          __builtin_memcpy(lanes[r] + turn * kWidth * kStep<T>, parts[turn][r],
                           sizeof parts[turn][r]);
        }
      }
#pragma GCC unroll 1
      for (int r = 0; r < kRows; ++r) totals[r] = load<LaneSums<T>>(lanes[r]).total();
    }
  }

  SpanVector parts[kTurns][kRows][Span::kParts] = {};
};

// Blocks with one column: a register has the sums of several rows.
template <class T, int kRows>
struct BlockSums<T, kRows, 1> {
  static constexpr int kTurns = kSumLanes;
  using Span = SpanOf<T, kRows* static_cast<int>(sizeof(T))>;
  using SpanVector = typename Span::SpanVector;

  void add(int turn, const Byte* values, const Byte* x) {
    const T factor = load<T>(x);
    for (int p = 0; p < Span::kParts; ++p) {
      parts[turn][p] += load<SpanVector>(values + p * Span::kPartBytes) * factor;
    }
  }
  void put_totals(T* totals) const {
    SpanVector sums[Span::kParts];
#pragma GCC unroll 8
    for (int p = 0; p < Span::kParts; ++p) {
      sums[p] = ((parts[0][p] + parts[4][p]) + (parts[2][p] + parts[6][p])) +
                ((parts[1][p] + parts[5][p]) + (parts[3][p] + parts[7][p]));
    }
    __builtin_memcpy(totals, sums, sizeof sums);
  }

  SpanVector parts[kTurns][Span::kParts] = {};
};

// Adds `count` blocks; the first block has the first turn.
template <class T, class I, int kRows, int kCols>
inline void add_blocks(BlockSums<T, kRows, kCols>& sums, const Byte* values, const Byte* indices,
                       const Byte* x, int64_t count) {
  constexpr int64_t kBlockBytes = kRows * kCols * kStep<T>;
  constexpr int kTurns = BlockSums<T, kRows, kCols>::kTurns;
  const auto add = [&](int turn) {
    sums.add(turn, values + turn * kBlockBytes, x + index_of<I>(indices, turn) * kCols * kStep<T>);
  };
  for (; count >= kTurns; count -= kTurns) {
    // Hardware prefetchers handle larger ones; software prefetching takes longer.
    if constexpr (kTurns * kBlockBytes <= 64) __builtin_prefetch(values + kNearAheadBytes);
    for (int turn = 0; turn < kTurns; ++turn) add(turn);
    values += kTurns * kBlockBytes;
    indices += kTurns * kStep<I>;
  }
  for (int turn = 0; turn < kTurns - 1; ++turn) {
    if (turn < count) add(turn);
  }
}

// Adds blocks of 16-bit floats as add_blocks() does: whole turns of blocks at a time become f32.
template <class V, class I, int kRows, int kCols>
inline void add_widened(BlockSums<float, kRows, kCols>& sums, const Byte* values,
                        const Byte* indices, const Byte* x, int64_t count) {
  constexpr int64_t kElements = kRows * kCols;
  constexpr int64_t kSome = kElements < 64 ? 512 / kElements : kSumLanes;
  float wide[kSome * kElements];
  for (int64_t k = 0; k < count; k += kSome) {
    const int64_t some = count - k < kSome ? count - k : kSome;
    const Byte* const from = values + k * kElements * kStep<V>;
    for (int64_t i = 0; i < some * kElements; ++i) wide[i] = widened<V>(from + i * kStep<V>);
    add_blocks<float, I>(sums, reinterpret_cast<const Byte*>(wide), indices + k * kStep<I>, x,
                         some);
  }
}

// Writes the rows without blocks from `row` on; returns the next row that has blocks, or `end`. One
// function serves all shapes.
template <class V, class I>
__attribute__((noinline)) int64_t write_empty_rows(const Matmul& m, int64_t row, int64_t end) {
  const Scaling<V> scaling(m.alpha, m.beta);
  const Byte* const offsets = m.a.offsets;
  const int64_t out_step = m.out_step;
  const int64_t block_rows = m.block_rows;
  const int64_t k = index_of<I>(offsets, row);
  Byte* out = m.out + row * block_rows * out_step;
  for (; row < end && index_of<I>(offsets, row + 1) == k; ++row) {
    for (int64_t r = 0; r < block_rows; ++r, out += out_step) scaling.write(out, 0);
  }
  return row;
}

template <class V, class I, int kRows, int kCols>
void rows_of_blocks(const Matmul& m, int64_t begin, int64_t end) {
  using T = Computed<V>;
  const Scaling<V> scaling(m.alpha, m.beta);
  int64_t k = index_of<I>(m.a.offsets, begin);
  Byte* out = m.out + begin * kRows * m.out_step;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t row_end = index_of<I>(m.a.offsets, row + 1);
    if (row_end == k) {
      row = write_empty_rows<V, I>(m, row, end) - 1;
      out = m.out + (row + 1) * kRows * m.out_step;
      continue;
    }
    const Byte* const values = m.a.values + k * kRows * kCols * kStep<V>;
    const Byte* const indices = m.a.indices + k * kStep<I>;
    BlockSums<T, kRows, kCols> sums;
    if constexpr (kSame<V, T>) {
      add_blocks<T, I>(sums, values, indices, m.b, row_end - k);
    } else {
      add_widened<V, I>(sums, values, indices, m.b, row_end - k);
    }
    k = row_end;
    T totals[kRows];
    sums.put_totals(totals);
    if constexpr (kSame<V, T>) {
#pragma GCC unroll 1
      for (int r = 0; r < kRows; ++r, out += m.out_step) scaling.write(out, totals[r]);
    } else {
      // Rounded in parallel.
      for (int r = 0; r < kRows; ++r, out += m.out_step) scaling.write(out, totals[r]);
    }
  }
}

template <class V, class I>
MatmulKernel find(int64_t block_rows, int64_t block_cols) {
  switch (block_rows * 100 + block_cols) {
    case 202: return rows_of_blocks<V, I, 2, 2>;
    case 404: return rows_of_blocks<V, I, 4, 4>;
    case 808: return rows_of_blocks<V, I, 8, 8>;
    case 1616: return rows_of_blocks<V, I, 16, 16>;
    case 104: return rows_of_blocks<V, I, 1, 4>;
    case 108: return rows_of_blocks<V, I, 1, 8>;
    case 401: return rows_of_blocks<V, I, 4, 1>;
    case 801: return rows_of_blocks<V, I, 8, 1>;
    default: return nullptr;
  }
}

}  // namespace

const BlockColumn kBlockColumn[4][kIndexTypeCount] = {
    TENURE_BY_INDEX(find, double),
    TENURE_BY_INDEX(find, float),
    {find<F16, int32_t>, nullptr},
    {find<BF16, int32_t>, nullptr},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
