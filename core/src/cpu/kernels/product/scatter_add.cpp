// Entries whose products go to the row of their index: compressed rows transposed, and coordinates.
//
// A row of sums is read and written for each entry, so this is bound by stores. The entries of one
// index are taken in their order, whatever threads there are: an element of a part's sums is always
// the same sum.
#include "cpu/kernels/sums.hpp"
#include "cpu/spmm.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// sums[i] += value * b[i]
template <class T>
inline void add_products(Byte* sums, Sum<T> value, const Byte* b, int64_t columns) {
  using S = Sum<T>;
  int64_t i = 0;
  if constexpr (kSame<T, S>) {
    for (; i + kPerVector<T> <= columns; i += kPerVector<T>) {
      Byte* const to = sums + i * kStep<T>;
      store(to, load<Vector<T>>(to) + value * load<Vector<T>>(b + i * kStep<T>));
    }
  }
  TENURE_INDEPENDENT
  for (; i < columns; ++i) {
    Byte* const to = sums + i * kStep<S>;
    store<S>(to, load<S>(to) + value * widened<T>(b + i * kStep<T>));
  }
}

// ---- spans of columns in registers ----

// How many rows of sums a part has, where it is worth it that rows [begin, end) of a go over one
// part after the other: they have enough entries in each, and their indices rise. Else INT64_MAX.
template <class I>
int64_t part_of_sums(const Compressed& a, int64_t begin, int64_t end, int64_t near_rows) {
  const int64_t least = 32 * (end - begin);  // entries in each part
  const int64_t first = index_of<I>(a.offsets, begin);
  const int64_t entries = index_of<I>(a.offsets, end) - first;
  if (entries < 2 * least) return INT64_MAX;
  I greatest = 0;
  I falls = 0;
  int64_t k = first;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t row_end = index_of<I>(a.offsets, row + 1);
    if (k == row_end) continue;
    const Byte* const indices = a.indices + k * kStep<I>;
    TENURE_INDEPENDENT
    for (int64_t i = 1; i < row_end - k; ++i) {
      falls |= load<I>(indices + i * kStep<I>) < load<I>(indices + (i - 1) * kStep<I>);
    }
    k = row_end;
    const I last = load<I>(a.indices + (k - 1) * kStep<I>);
    if (last > greatest) greatest = last;
  }
  return falls == 0 && entries / (greatest / near_rows + 1) >= least ? near_rows : INT64_MAX;
}

// kBytes of each row of sums, from column `first` on: a row of b stays in registers. A sum has its
// entries in their order, in parts too.
template <class T, class I, int kBytes>
void span(const ScatterAdd& s, const Compressed& a, int64_t first, int64_t begin, int64_t end) {
  using Span = SpanOf<T, kBytes>;
  using SpanVector = typename Span::SpanVector;
  int64_t next[kTileRows];  // entry of each row
  for (int64_t tile = begin; tile < end; tile += kTileRows) {
    const int64_t rows = end - tile < kTileRows ? end - tile : kTileRows;
    const int64_t part = part_of_sums<I>(a, tile, tile + rows, kNearBytes / kBytes);
    for (int64_t i = 0; i < rows; ++i) next[i] = index_of<I>(a.offsets, tile + i);
    int64_t limit = 0;
    for (bool is_left = true; is_left;) {
      is_left = false;
      limit = part == INT64_MAX ? part : limit + part;
      for (int64_t i = 0; i < rows; ++i) {
        int64_t k = next[i];
        const int64_t row_end = index_of<I>(a.offsets, tile + i + 1);
        if (k == row_end) continue;
        SpanVector b[Span::kParts];
        __builtin_memcpy(b, s.b + (tile + i) * s.b_step + first * kStep<T>, sizeof b);
        for (int64_t col; k < row_end && (col = index_of<I>(a.indices, k)) < limit; ++k) {
          Byte* const sums = s.sums + col * s.sums_step + first * kStep<T>;
          const T value = load<T>(a.values + k * kStep<T>);
#pragma GCC unroll 16
          for (int p = 0; p < Span::kParts; ++p) {
            Byte* const to = sums + p * Span::kPartBytes;
            store<SpanVector>(to, load<SpanVector>(to) + value * b[p]);
          }
        }
        is_left |= k < row_end;
        next[i] = k;
      }
    }
  }
}

// Columns [first, s.columns) in spans of kBytes; returns the first one behind.
template <class T, class I, int kBytes>
int64_t spans(const ScatterAdd& s, const Compressed& a, int64_t first, int64_t begin, int64_t end) {
  constexpr int64_t kColumns = kBytes / kStep<T>;
  for (; s.columns - first >= kColumns; first += kColumns) {
    span<T, I, kBytes>(s, a, first, begin, end);
  }
  return first;
}

template <class T, class I>
void rows(const ScatterAdd& call, const Compressed& a, int64_t begin, int64_t end) {
  using S = Sum<T>;
  ScatterAdd s = call;
  if constexpr (kIsFloat<T> && kSame<T, S>) {
    int64_t first = spans<T, I, kWidestSpanBytes>(s, a, 0, begin, end);
    first = spans<T, I, 64>(s, a, first, begin, end);
    if (first == s.columns) return;
    s.columns -= first;
    s.b += first * kStep<T>;
    s.sums += first * kStep<T>;
  }
  int64_t k = index_of<I>(a.offsets, begin);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t row_end = index_of<I>(a.offsets, row + 1);
    const Byte* const b = s.b + row * s.b_step;
    if (s.columns == 1) {
      if (k == row_end) continue;  // b may have been lent without memory for it to be read from
      const S factor = widened<T>(b);
      for (; k < row_end; ++k) {
        Byte* const to = s.sums + index_of<I>(a.indices, k) * s.sums_step;
        store<S>(to, load<S>(to) + widened<T>(a.values + k * kStep<T>) * factor);
      }
      continue;
    }
    for (; k < row_end; ++k) {
      add_products<T>(s.sums + index_of<I>(a.indices, k) * s.sums_step,
                      widened<T>(a.values + k * kStep<T>), b, s.columns);
    }
  }
}

template <class T, class I>
void block_rows(const ScatterAdd& s, const Compressed& a, int64_t begin, int64_t end) {
  int64_t k = index_of<I>(a.offsets, begin);
  for (int64_t row = begin; row < end; ++row) {
    const Byte* const b = s.b + row * s.block_rows * s.b_step;
    for (const int64_t row_end = index_of<I>(a.offsets, row + 1); k < row_end; ++k) {
      Byte* const sums = s.sums + index_of<I>(a.indices, k) * s.block_cols * s.sums_step;
      const Byte* value = a.values + k * s.block_rows * s.block_cols * kStep<T>;
      for (int64_t i = 0; i < s.block_rows; ++i) {
        for (int64_t j = 0; j < s.block_cols; ++j, value += kStep<T>) {
          add_products<T>(sums + j * s.sums_step, widened<T>(value), b + i * s.b_step, s.columns);
        }
      }
    }
  }
}

template <class T, class I>
void entries(const ScatterAdd& s, const Coordinates& a, int64_t begin, int64_t end) {
  using S = Sum<T>;
  if (s.columns == 1) {
    for (int64_t k = begin; k < end; ++k) {
      Byte* const to = s.sums + index_of<I>(a.col_indices, k) * s.sums_step;
      store<S>(to, load<S>(to) + widened<T>(a.values + k * kStep<T>) *
                                     widened<T>(s.b + index_of<I>(a.row_indices, k) * s.b_step));
    }
    return;
  }
  for (int64_t k = begin; k < end; ++k) {
    add_products<T>(s.sums + index_of<I>(a.col_indices, k) * s.sums_step,
                    widened<T>(a.values + k * kStep<T>),
                    s.b + index_of<I>(a.row_indices, k) * s.b_step, s.columns);
  }
}

// out[i] = alpha * sums[i] + beta * out[i]; out may be sums.
template <class T>
void scale(const Scaling<T>& scaling, const Byte* sums, int64_t count, Byte* out) {
  if (scaling.reads) {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      const T before = load<T>(out + i * kStep<T>);
      store<T>(out + i * kStep<T>,
               scaling.alpha * load<T>(sums + i * kStep<T>) + scaling.beta * before);
    }
    return;
  }
  TENURE_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    store<T>(out + i * kStep<T>, scaling.alpha * load<T>(sums + i * kStep<T>));
  }
}

template <class T>
void gather(const Gathering& g, int64_t begin, int64_t end) {
  using S = Sum<T>;
  const Scaling<T> scaling(g.alpha, g.beta);
  if constexpr (kSame<T, S>) {
    const int64_t row_bytes = g.columns * kStep<T>;
    if (g.parts == 1 && g.sums_step == row_bytes && g.out_step == row_bytes &&
        (g.columns == 1 || g.out_column_step == kStep<T>)) {
      return scale<T>(scaling, g.sums + begin * row_bytes, (end - begin) * g.columns,
                      g.out + begin * row_bytes);
    }
  }
  for (int64_t row = begin; row < end; ++row) {
    const Byte* const sums = g.sums + row * g.sums_step;
    Byte* const out = g.out + row * g.out_step;
    for (int64_t i = 0; i < g.columns; ++i) {
      S sum = load<S>(sums + i * kStep<S>);
      for (int64_t part = 1; part < g.parts; ++part) {
        sum += load<S>(sums + part * g.part_step + i * kStep<S>);
      }
      scaling.write(out + i * g.out_column_step, sum);
    }
  }
}

template <class T>
constexpr ScatterAddKernels kScatterAddOf = {kStep<Sum<T>>, TENURE_BY_INDEX(rows, T),
                                             TENURE_BY_INDEX(block_rows, T),
                                             TENURE_BY_INDEX(entries, T), gather<T>};

}  // namespace

const ScatterAddKernels kScatterAdds[kTypeCount] = {
    kScatterAddOf<double>,
    kScatterAddOf<float>,
    kScatterAddOf<F16>,
    kScatterAddOf<BF16>,
    kScatterAddOf<uint8_t>,
    kScatterAddOf<uint16_t>,
    kScatterAddOf<uint32_t>,
    kScatterAddOf<uint64_t>,
    kScatterAddOf<uint8_t>,
    kScatterAddOf<uint16_t>,
    kScatterAddOf<uint32_t>,
    kScatterAddOf<uint64_t>,
    {},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
