// Compressed rows times dense columns.
//
// One column is bound by the memory that the entries come from, and by how fast elements of b are
// fetched from anywhere: loads of single elements, put together in registers of 16 bytes, take less
// time than the gathers of AVX2 and AVX-512 (0.29 and 0.44 ns an entry on AMD family 25 model 17).
// More columns are bound by arithmetic: the sums of a row stay in registers over all its entries.
#include "kernels/matmul.hpp"

#include "kernels/sums.hpp"
#include "kernels/tables.hpp"
#include "kernels/vectors.hpp"

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

// How far ahead of the entries at hand the processor is told to read: further than its own
// prefetchers look, which do not see two streams that end with every slice.
constexpr int64_t kAheadBytes = 2048;

constexpr int kSumLanes = 8;

// Eight sums of entries k, k + 8, ... each, in registers of 16 bytes.
template <class T>
struct LaneSums {
  typedef T Part __attribute__((vector_size(16)));
  static constexpr int kPerPart = 16 / static_cast<int>(sizeof(T));
  static constexpr int kParts = kSumLanes / kPerPart;

  template <class I>
  static Part products(const Byte* values, const Byte* x, const Byte* indices) {
    Part factors = {};
    for (int i = 0; i < kPerPart; ++i) {
      factors[i] = load<T>(x + load<I>(indices + i * kStep<I>) * kStep<T>);
    }
    return load<Part>(values) * factors;
  }
  // Only the first `count` of a part, fewer than it has.
  template <class I>
  static Part some_products(const Byte* values, const Byte* x, const Byte* indices, int count) {
    const auto product = [&](int i) {
      return load<T>(values + i * kStep<T>) *
             load<T>(x + load<I>(indices + i * kStep<I>) * kStep<T>);
    };
    if constexpr (kPerPart == 4) {
      if (count == 3) return Part{product(0), product(1), product(2), 0};
      if (count == 2) return Part{product(0), product(1), 0, 0};
    }
    Part result = {};
    result[0] = product(0);
    return result;
  }
  // ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))
  T total() const {
    if constexpr (kPerPart == 4) {
      const Part halves = parts[0] + parts[1];
      return (halves[0] + halves[2]) + (halves[1] + halves[3]);
    } else {
      const Part quarters = (parts[0] + parts[2]) + (parts[1] + parts[3]);
      return quarters[0] + quarters[1];
    }
  }

  Part parts[kParts] = {};
};

// A row of eight entries or more.
template <class T, class I>
inline T long_row(const Byte* values, const Byte* indices, const Byte* x, int64_t count) {
  LaneSums<T> sums;
  constexpr int kPerPart = LaneSums<T>::kPerPart;
  for (; count >= kSumLanes; count -= kSumLanes) {
    __builtin_prefetch(values + kAheadBytes);
    __builtin_prefetch(indices + kAheadBytes);
    for (int p = 0; p < LaneSums<T>::kParts; ++p) {
      sums.parts[p] +=
          LaneSums<T>::template products<I>(values + p * 16, x, indices + p * kPerPart * kStep<I>);
    }
    values += kSumLanes * kStep<T>;
    indices += kSumLanes * kStep<I>;
  }
  for (int p = 0; p < LaneSums<T>::kParts && count > 0; ++p) {
    sums.parts[p] += count >= kPerPart ? LaneSums<T>::template products<I>(values, x, indices)
                                       : LaneSums<T>::template some_products<I>(
                                             values, x, indices, static_cast<int>(count));
    values += 16;
    indices += kPerPart * kStep<I>;
    count -= kPerPart;
  }
  return sums.total();
}

// The same sums of fewer entries, each count by itself: rows of one matrix often have the same, and
// then nothing is mispredicted.
template <class T, class I>
inline T short_row(const Byte* values, const Byte* indices, const Byte* x, int64_t count) {
  const auto product = [&](int i) {
    return load<T>(values + i * kStep<T>) * load<T>(x + load<I>(indices + i * kStep<I>) * kStep<T>);
  };
  T sum = 0;
  switch (count) {
    case 1: sum = product(0); break;
    case 2: sum = product(0) + product(1); break;
    case 3: sum = (product(0) + product(2)) + product(1); break;
    case 4: sum = (product(0) + product(2)) + (product(1) + product(3)); break;
    case 5: sum = ((product(0) + product(4)) + product(2)) + (product(1) + product(3)); break;
    case 6:
      sum = ((product(0) + product(4)) + product(2)) + ((product(1) + product(5)) + product(3));
      break;
    case 7:
      sum = ((product(0) + product(4)) + (product(2) + product(6))) +
            ((product(1) + product(5)) + product(3));
      break;
    default: break;
  }
  return sum + T{0};  // as lanes do that begin at 0: never a sum of -0
}

template <class T, class I>
void column(const Matmul& m, int64_t begin, int64_t end) {
  const Entries<I> entries(m.a);
  const Scaling<T> scaling(m.alpha, m.beta);
  int64_t k = entries.begin(begin);
  for (int64_t row = begin; row < end; ++row) {
    const int64_t row_end = entries.begin(row + 1);
    const Byte* const values = m.a.values + k * kStep<T>;
    const Byte* const indices = entries.index_bytes(k);
    __builtin_prefetch(values + kAheadBytes);
    __builtin_prefetch(indices + kAheadBytes);
    const T sum = row_end - k >= kSumLanes ? long_row<T, I>(values, indices, m.b, row_end - k)
                                           : short_row<T, I>(values, indices, m.b, row_end - k);
    scaling.write(m.out + row * m.out_step, sum);
    k = row_end;
  }
}

// ---- a few columns in registers ----

// Entries between the one at hand and the one whose row of b is fetched: what the third cache needs.
constexpr int64_t kAheadEntries = 8;

// The widest span, of which registers hold the sums: 4 of 64 bytes, or 8 smaller ones.
constexpr int kWidestBytes = kVectorBytes == 16 ? 128 : 256;

// kBytes of each row of out, from column `first` on.
template <class T, class I, int kBytes>
void span(const Matmul& m, int64_t first, int64_t begin, int64_t end) {
  using Span = SpanOf<T, kBytes>;
  using Part = typename Span::Part;
  constexpr int kParts = Span::kParts;
  const Entries<I> entries(m.a);
  const Byte* const b = m.b + first * kStep<T>;
  const Scaling<T> scaling(m.alpha, m.beta);
  const int64_t last = entries.begin(end) - 1;
  int64_t k = entries.begin(begin);
  for (int64_t row = begin; row < end; ++row) {
    Part sums[kParts] = {};
    for (const int64_t row_end = entries.begin(row + 1); k < row_end; ++k) {
      if constexpr (kBytes >= 64) {
        const int64_t ahead = k + kAheadEntries < last ? k + kAheadEntries : last;
        const Byte* const soon = b + entries.index(ahead) * m.b_step;
        for (int line = 0; line < kBytes; line += 64) __builtin_prefetch(soon + line);
      }
      const T value = load<T>(m.a.values + k * kStep<T>);
      const Byte* const from = b + entries.index(k) * m.b_step;
      for (int p = 0; p < kParts; ++p) sums[p] += value * load<Part>(from + p * Span::kPartBytes);
    }
    Byte* const out = m.out + row * m.out_step + first * m.out_column_step;
    write_span<T, kBytes>(scaling, out, m.out_column_step, sums);
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
  if (m.columns == 1) return column<T, I>(m, begin, end);
  // More widths would save passes over the entries, and cost as much code again for each.
  int64_t first = spans<T, I, kWidestBytes>(m, 0, begin, end);
  first = spans<T, I, 64>(m, first, begin, end);
  first = spans<T, I, 16>(m, first, begin, end);
  spans<T, I, static_cast<int>(sizeof(T))>(m, first, begin, end);
}

}  // namespace

const MatmulKernel kMatmulRows[2][kIndexTypeCount] = {
    TENURE_BY_INDEX(float_rows, double),
    TENURE_BY_INDEX(float_rows, float),
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
