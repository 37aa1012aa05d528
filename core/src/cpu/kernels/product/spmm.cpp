// Compressed rows times dense columns.
//
// One column is a sum of products of elements from anywhere (row_sum.hpp; rows of few entries by
// their length, short_rows.hpp), or from adjacent positions where rows are alike
// (shifted_rows.hpp). More columns are bound by arithmetic: the sums of a row stay in registers
// over all its entries.
#include "cpu/spmm.hpp"

#include "cpu/kernels/product/row_sum.hpp"
#include "cpu/kernels/product/rows_together.hpp"
#include "cpu/kernels/product/shifted_rows.hpp"
#include "cpu/kernels/product/short_rows.hpp"
#include "cpu/kernels/sums.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class I>
struct Entries {
  explicit Entries(const Compressed& a) : offsets(a.offsets), indices(a.indices) {}
  [[nodiscard]] int64_t begin(int64_t row) const { return index_of<I>(offsets, row); }
  [[nodiscard]] int64_t index(int64_t entry) const { return index_of<I>(indices, entry); }
  [[nodiscard]] const Byte* index_bytes(int64_t entry) const { return indices + entry * kStep<I>; }

  const Byte* offsets;
  const Byte* indices;
};

// ---- one column ----

// Rows one by one; entries end with `last`. A function of its own keeps the loop in registers.
template <class T, class I, class Known>
__attribute__((noinline)) void one_by_one(const Matmul& m, int64_t begin, int64_t end, int64_t last,
                                          HeldBy holder, Known& known) {
  const Scaling<T> scaling(m.alpha, m.beta);
  const Byte* const x = m.b;
  const Byte* const all_values = m.a.values;
  const Byte* const all_indices = m.a.indices;
  const Byte* offset = m.a.offsets + (begin + 1) * kStep<I>;
  const int64_t out_step = m.out_step;
  Byte* out = m.out + begin * out_step;
  int64_t k = index_of<I>(m.a.offsets, begin);
  Known asked = known;
  RowsTogether<T, I> together(m.b_rows, last);
  for (const Byte* const stop = m.a.offsets + end * kStep<I>; offset <= stop;
       offset += kStep<I>, out += out_step) {
    const int64_t row_end = load<I>(offset);
    if (together.takes(row_end - k) && stop - offset >= kStep<I> * (together.kRows - 1) &&
        together.take(offset - kStep<I>)) {
      T sums[together.kRows];
      together.add_up(all_values, all_indices, x, asked, sums);
      for (int r = 0; r < together.kRows; ++r) scaling.write(out + r * out_step, sums[r]);
      offset += kStep<I> * (together.kRows - 1);
      out += out_step * (together.kRows - 1);
      k = load<I>(offset);
      continue;
    }
    scaling.write(out, row_sum<T, I>(all_values + k * kStep<T>, all_indices + k * kStep<I>, x,
                                     row_end - k, last - k, holder, asked));
    k = row_end;
  }
  known = asked;
}

// Rows that are not alike.
template <class T, class I, class Known>
void any_rows(const Matmul& m, int64_t begin, int64_t end, int64_t last, Known& known) {
  constexpr int64_t kRows = ShortRows<T, I>::kRows;
  while (begin < end) {
    const HeldBy holder = holder_of<T, I>(m.b_rows, m.a.indices, index_of<I>(m.a.offsets, begin),
                                          index_of<I>(m.a.offsets, begin + 1));
    const int64_t stop = end - begin < kRows ? end : begin + kRows;
    if (stop - begin < kRows || !take_short_rows<T, I>(m, begin, last, holder, known)) {
      one_by_one<T, I>(m, begin, stop, last, holder, known);
    }
    begin = stop;
  }
}

template <class T, class I, class Known>
void column(const Matmul& m, int64_t begin, int64_t end, Known& known) {
  const int64_t last = index_of<I>(m.a.offsets, end);
  const Scaling<T> scaling(m.alpha, m.beta);
  AlikeRows<T, I, Known> alike(m.a, m.b, end, known);
  for (int64_t row = begin; row < end;) {
    if (alike.begin_at(row)) {
      alike.add_up(row, [&](int64_t first, const Vector<T>& sums) {
        write_span<T, kVectorBytes>(scaling, m.out + first * m.out_step, m.out_step, &sums);
      });
      row += kAlikeRows;
    } else {
      any_rows<T, I>(m, row, alike.next_try(), last, known);
      row = alike.next_try();
    }
  }
}

template <class T, class I>
bool checked_column(const Matmul& m, int64_t begin, int64_t end) {
  CheckedIndices<I> known(m.b_rows);
  column<T, I>(m, begin, end, known);
  return !known.found_wrong();
}

// A column with rows that are apart, for few entries: its elements are read in place. Blocks are
// taken too. Sums are those of row_sum.hpp, to the bit.
template <class T, class I>
void spaced_column(const Matmul& m, int64_t begin, int64_t end) {
  const Scaling<T> scaling(m.alpha, m.beta);
  Byte* out = m.out + begin * m.block_rows * m.out_step;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t row_end = index_of<I>(m.a.offsets, row + 1);
    for (int64_t r = 0; r < m.block_rows; ++r, out += m.out_step) {
      T lanes[kSumLanes] = {};
      int64_t nth = 0;
      for (int64_t k = index_of<I>(m.a.offsets, row); k < row_end; ++k) {
        const Byte* x = m.b + index_of<I>(m.a.indices, k) * m.block_cols * m.b_step;
        const Byte* value = m.a.values + (k * m.block_rows + r) * m.block_cols * kStep<T>;
        for (int64_t j = 0; j < m.block_cols; ++j, ++nth, x += m.b_step, value += kStep<T>) {
          lanes[nth % kSumLanes] += load<T>(value) * load<T>(x);
        }
      }
      LaneSums<T> sums;
      __builtin_memcpy(&sums, lanes, sizeof sums);
      scaling.write(out, sums.total());
    }
  }
}

// ---- a few columns in registers ----

// Prefetch distance in entries, for rows of b: the latency of the third cache.
constexpr int64_t kAheadEntries = 8;

// Adds an entry's products with kBytes of a row of b.
template <class T, int kBytes>
inline void add_products(typename SpanOf<T, kBytes>::SpanVector* sums, T value, const Byte* from) {
  using Span = SpanOf<T, kBytes>;
  for (int p = 0; p < Span::kParts; ++p) {
    sums[p] += value * load<typename Span::SpanVector>(from + p * Span::kPartBytes);
  }
}

// kBytes of each row of out, from column `first` on.
template <class T, class I, int kBytes>
void span(const Matmul& m, int64_t first, int64_t begin, int64_t end) {
  using Span = SpanOf<T, kBytes>;
  const Entries<I> entries(m.a);
  const Byte* const b = m.b + first * kStep<T>;
  const Scaling<T> scaling(m.alpha, m.beta);
  const int64_t last = entries.begin(end) - 1;
  int64_t k = entries.begin(begin);
  for (int64_t row = begin; row < end; ++row) {
    typename Span::SpanVector sums[Span::kParts] = {};
    for (const int64_t row_end = entries.begin(row + 1); k < row_end; ++k) {
      if constexpr (kBytes >= 64) {
        const int64_t ahead = k + kAheadEntries < last ? k + kAheadEntries : last;
        const Byte* const soon = b + entries.index(ahead) * m.b_step;
        for (int line = 0; line < kBytes; line += 64) __builtin_prefetch(soon + line);
      }
      add_products<T, kBytes>(sums, load<T>(m.a.values + k * kStep<T>),
                              b + entries.index(k) * m.b_step);
    }
    Byte* const out = m.out + row * m.out_step + first * m.out_column_step;
    write_span<T, kBytes>(scaling, out, m.out_column_step, sums);
  }
}

// ---- b in parts that stay in the second cache ----

// Whether there are enough parts, entries of a row in each, and uses of each row of b.
template <class T, class I>
bool is_worth_parts(const Matmul& m, int64_t begin, int64_t end) {
  const int64_t entries = index_of<I>(m.a.offsets, end) - index_of<I>(m.a.offsets, begin);
  const int64_t parts = m.b_rows / (kNearBytes / kWidestSpanBytes);
  return parts >= 4 && entries >= 32 * parts * (end - begin) && entries >= 16 * m.b_rows &&
         m.beta == nullptr && m.out_column_step == kStep<T>;
}

// Computes the widest span as span() does. Sums wait in out, without alpha, for the next part. A
// row takes entries in their order, as long as they are of this part or one before; with the last
// part all that are left. So rows whose columns do not rise are slower, and their sums the same.
template <class T, class I>
void span_by_parts(const Matmul& m, int64_t first, int64_t begin, int64_t end) {
  using Span = SpanOf<T, kWidestSpanBytes>;
  const Entries<I> entries(m.a);
  const Byte* const b = m.b + first * kStep<T>;
  const Scaling<T> scaling(m.alpha, nullptr);
  constexpr int64_t kRows = kNearBytes / kWidestSpanBytes;
  int64_t next[kTileRows];  // entry of each row
  for (int64_t tile = begin; tile < end; tile += kTileRows) {
    const int64_t rows = end - tile < kTileRows ? end - tile : kTileRows;
    for (int64_t i = 0; i < rows; ++i) next[i] = entries.begin(tile + i);
    for (int64_t part = 0; part < m.b_rows; part += kRows) {
      const bool is_last = m.b_rows - part <= kRows;
      const int64_t limit = is_last ? INT64_MAX : part + kRows;
      for (int64_t i = 0; i < rows; ++i) {
        Byte* const out = m.out + (tile + i) * m.out_step + first * kStep<T>;
        typename Span::SpanVector sums[Span::kParts] = {};
        if (part != 0) __builtin_memcpy(sums, out, sizeof sums);
        int64_t k = next[i];
        const int64_t row_end = entries.begin(tile + i + 1);
        for (int64_t col; k < row_end && (col = entries.index(k)) < limit; ++k) {
          add_products<T, kWidestSpanBytes>(sums, load<T>(m.a.values + k * kStep<T>),
                                            b + col * m.b_step);
        }
        next[i] = k;
        if (is_last) {
          write_span<T, kWidestSpanBytes>(scaling, out, kStep<T>, sums);
        } else {
          __builtin_memcpy(out, sums, sizeof sums);
        }
      }
    }
  }
}

// Columns [first, m.columns) in spans of kBytes.
template <class T, class I, int kBytes>
int64_t spans(const Matmul& m, int64_t first, int64_t begin, int64_t end) {
  constexpr int64_t kColumns = kBytes / kStep<T>;
  for (; m.columns - first >= kColumns; first += kColumns) {
    span<T, I, kBytes>(m, first, begin, end);
  }
  return first;
}

// f32 and f64.
template <class T, class I>
void float_rows(const Matmul& m, int64_t begin, int64_t end) {
  if (m.columns == 1) {
    if (m.b_rows > 1 && m.b_step != kStep<T>) return spaced_column<T, I>(m, begin, end);
    TrustedIndices known;
    return column<T, I>(m, begin, end, known);
  }
  int64_t first = 0;
  if (is_worth_parts<T, I>(m, begin, end)) {
    constexpr int64_t kColumns = kWidestSpanBytes / kStep<T>;
    for (; m.columns - first >= kColumns; first += kColumns) {
      span_by_parts<T, I>(m, first, begin, end);
    }
  }
  // More widths would save passes over the entries, and cost as much code again for each.
  first = spans<T, I, kWidestSpanBytes>(m, first, begin, end);
  first = spans<T, I, 64>(m, first, begin, end);
  first = spans<T, I, 16>(m, first, begin, end);
  spans<T, I, static_cast<int>(sizeof(T))>(m, first, begin, end);
}

}  // namespace

const MatmulKernel kMatmulRows[2][kIndexTypeCount] = {
    TENURE_BY_INDEX(float_rows, double),
    TENURE_BY_INDEX(float_rows, float),
};

const CheckedKernel kCheckedColumn[2][kIndexTypeCount] = {
    TENURE_BY_INDEX(checked_column, double),
    TENURE_BY_INDEX(checked_column, float),
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
