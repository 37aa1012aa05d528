// Rows of the product of two sparse matrices, each summed up with a slot for every column.
//
// After F. G. Gustavson, "Two fast algorithms for sparse matrices: multiplication and permuted
// transposition", ACM TOMS 4 (1978). The difference is in how a row's columns are sorted. Few
// columns are listed as they are first met, and each is put at its rank, the number of smaller
// ones: branch-free comparisons. With many, each block of the dense accumulator that has been
// written is marked, and the marks are scanned.
#include "cpu/kernels/product/hashed_sums.hpp"
#include "cpu/kernels/product/repeated_row.hpp"
#include "cpu/tables.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// ---- counting ----

// Entries of a row of the product whose rows of b are runs that begin one after the other, as those
// of a band do: the union of intervals. -1 for any other row.
template <class I>
int64_t count_runs(const Patterns<I>& in, int64_t row) {
  int64_t count = 0;
  int64_t first = 0;
  int64_t end = 0;
  const int64_t row_end = in.a.offsets[row + 1];
  for (int64_t k = in.a.offsets[row]; k < row_end; ++k) {
    const RowOfB<I> entries(in.b, in.a.columns[k]);
    if (entries.count == 0) continue;
    if (!entries.is_run() || entries.columns[0] < first) return -1;
    first = entries.columns[0];
    const int64_t begin = first > end ? first : end;
    end = first + entries.count > end ? first + entries.count : end;
    count += end - begin;
  }
  return count;
}

// Entries of a row whose columns get stamps, as sum_marked() gets to them.
template <class I>
int64_t count_stamped(const Patterns<I>& in, int64_t row, bool has_runs, RowSums& sums) {
  if (++sums.stamp == 0) {
    for (int64_t column = 0; column < sums.cols; ++column) sums.stamps[column] = 0;
    sums.stamp = 1;
  }
  const uint32_t stamp = sums.stamp;
  uint32_t* const stamps = sums.stamps;
  int64_t count = 0;
  const auto add = [&](int64_t column) {
    count += stamps[column] != stamp ? 1 : 0;
    stamps[column] = stamp;
  };
  in.for_each_row(row, [&](int64_t, const RowOfB<I>& entries) {
    // A matrix falsely flagged as coalesced may have other columns here.
    if (has_runs && entries.is_run()) {
      for (int64_t i = 0; i < entries.count; ++i) add(entries.columns[0] + i);
    } else {
      for (int64_t i = 0; i < entries.count; ++i) add(entries.columns[i]);
    }
  });
  return count;
}

template <class I, class T>
int64_t count_rows(const SparseProduct& product, RowSums& sums, int64_t begin, int64_t end) {
  const Patterns<I> in(product);
  int64_t total = 0;
  for (int64_t row = begin; row < end; ++row) {
    const int64_t products = product_count(in, row, INT64_MAX);
    if (sums.slots == nullptr) {
      HashedSums<I, T> table(sums.table, sums.most);
      total += count_hashed(in, row, products, table);
      continue;
    }
    const bool has_runs = in.b_is_coalesced && products > kListed;
    const int64_t run_count = has_runs ? count_runs(in, row) : -1;
    total += run_count >= 0 ? run_count : count_stamped(in, row, has_runs, sums);
  }
  return total;
}

// ---- rows of few products ----

// Adds up a row; lists its columns in the order in which they are met. There is room for one more
// than there are products.
template <class I, class T>
int64_t sum_listed(const Operands<I, T>& from, int64_t row, T* slots, I* list) {
  int64_t count = 0;
  from.for_each_row(row, [&](int64_t k, const RowOfB<I>& entries) {
    const T factor = from.a_values[k];
    const T* const factors = from.b_values + entries.begin;
    for (int64_t i = 0; i < entries.count; ++i) {
      const I column = entries.columns[i];
      T& sum = slots[column];
      list[count] = column;
      count += is_empty(sum) ? 1 : 0;
      sum += product_of(factor, factors[i]);
    }
  });
  return count;
}

// ---- rows of many ----

// The first and the last block that a row may have.
struct Span {
  int64_t first = INT64_MAX;
  int64_t last = -1;

  void add(int64_t first_column, int64_t last_column) {
    const int64_t low = first_column / kSumBlock;
    const int64_t high = last_column / kSumBlock;
    first = low < first ? low : first;
    last = high > last ? high : last;
  }
};

// Adds up a row and marks the blocks that it has reached.
template <class I, class T>
Span sum_marked(const Operands<I, T>& from, int64_t row, T* slots, Byte* marks) {
  Span span;
  from.for_each_row(row, [&](int64_t k, const RowOfB<I>& entries) {
    const T factor = from.a_values[k];
    const T* const factors = from.b_values + entries.begin;
    const int64_t first = entries.columns[0];
    const int64_t last = entries.columns[entries.count - 1];
    if (from.in.b_is_coalesced && entries.is_run()) {
      T* const run = slots + first;
      for (int64_t i = 0; i < entries.count; ++i) run[i] += product_of(factor, factors[i]);
      for (int64_t block = first / kSumBlock; block <= last / kSumBlock; ++block) marks[block] = 1;
      return span.add(first, last);
    }
    // The order is measured, and not taken from the flags: a block outside of the span would keep
    // its sums for the next row, which has no room for them.
    I falls = 0;
    I before = entries.columns[0];
    for (int64_t i = 0; i < entries.count; ++i) {
      const I column = entries.columns[i];
      falls |= column - before;  // negative where one is less than the one before
      before = column;
      slots[column] += product_of(factor, factors[i]);
      marks[column / kSumBlock] = 1;
    }
    if (falls >= 0) return span.add(first, last);
    for (int64_t i = 0; i < entries.count; ++i) span.add(entries.columns[i], entries.columns[i]);
  });
  return span;
}

// A bit for each slot of a block that is not empty.
inline uint32_t filled_bits(const float* block) {
#if defined(__AVX512F__)
  const __m512i empty = _mm512_set1_epi32(INT32_MIN);
  const __mmask16 filled = _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(block), empty);
  return static_cast<uint32_t>(mask_bits(filled));
#elif defined(__AVX2__)
  const __m256i empty = _mm256_set1_epi32(INT32_MIN);
  const auto empty_bits = [=](const float* at) {
    const __m256i found = _mm256_cmpeq_epi32(empty, _mm256_loadu_si256((const __m256i*)at));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(found)));
  };
  return ~(empty_bits(block) | empty_bits(block + 8) << 8) & 0xffffu;
#elif defined(__x86_64__)
  const __m128i empty = _mm_set1_epi32(INT32_MIN);
  const auto empty_words = [=](const float* at) {
    return _mm_cmpeq_epi32(empty, _mm_loadu_si128((const __m128i*)at));
  };
  const __m128i low = _mm_packs_epi32(empty_words(block), empty_words(block + 4));
  const __m128i high = _mm_packs_epi32(empty_words(block + 8), empty_words(block + 12));
  return ~static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(low, high))) & 0xffffu;
#else
  uint32_t bits = 0;
  for (int i = 0; i < kSumBlock; ++i) bits |= is_empty(block[i]) ? 0u : 1u << i;
  return bits;
#endif
}
inline uint32_t filled_bits(const double* block) {
#if defined(__AVX512F__)
  const __m512i empty = _mm512_set1_epi64(INT64_MIN);
  const __mmask8 low = _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(block), empty);
  const __mmask8 high = _mm512_cmpneq_epi64_mask(_mm512_loadu_si512(block + 8), empty);
  return static_cast<uint32_t>(mask_bits(low) | mask_bits(high) << 8);
#else
  uint32_t bits = 0;
  for (int i = 0; i < kSumBlock; ++i) bits |= is_empty(block[i]) ? 0u : 1u << i;
  return bits;
#endif
}

#if defined(__AVX512F__)

// The elements of 16 whose bits are set, one after the other. Packed in a register, since stores
// that pack are slow, and stored under a mask, since the memory behind may be another thread's.
template <unsigned width>
inline void store_packed(Byte* out, uint32_t bits, __m512i low, __m512i high) {
  const __m512i zero = _mm512_setzero_si512();
  if constexpr (width == 4) {
    const auto kept = static_cast<__mmask16>((1u << __builtin_popcount(bits)) - 1);
    _mm512_mask_storeu_epi32(out, kept,
                             _mm512_mask_compress_epi32(zero, static_cast<__mmask16>(bits), low));
  } else {
    const int count = __builtin_popcount(bits & 0xffu);
    const auto kept_low = static_cast<__mmask8>((1u << count) - 1);
    const auto kept_high = static_cast<__mmask8>((1u << __builtin_popcount(bits >> 8)) - 1);
    _mm512_mask_storeu_epi64(out, kept_low,
                             _mm512_mask_compress_epi64(zero, static_cast<__mmask8>(bits), low));
    _mm512_mask_storeu_epi64(
        out + count * 8, kept_high,
        _mm512_mask_compress_epi64(zero, static_cast<__mmask8>(bits >> 8), high));
  }
}

template <class I, class T>
inline int64_t take_block(T* block, int64_t column, I* columns, T* values) {
  const uint32_t bits = filled_bits(block);
  const Vector<I> low = broadcast(static_cast<I>(column)) + lane_numbers<I>(0);
  const Vector<I> high = low + broadcast(static_cast<I>(kPerVector<I>));
  store_packed<sizeof(I)>(reinterpret_cast<Byte*>(columns), bits, (__m512i)low, (__m512i)high);
  store_packed<sizeof(T)>(reinterpret_cast<Byte*>(values), bits, _mm512_loadu_si512(block),
                          _mm512_loadu_si512(block + kPerVector<T> % kSumBlock));
  for (int i = 0; i < kSumBlock; ++i) block[i] = kEmpty<T>;
  return __builtin_popcount(bits);
}

#else

template <class I, class T>
inline int64_t take_block(T* block, int64_t column, I* columns, T* values) {
  int64_t count = 0;
  for (uint32_t bits = filled_bits(block); bits != 0; bits &= bits - 1) {
    const int i = __builtin_ctz(bits);
    columns[count] = static_cast<I>(column + i);
    values[count] = block[i];
    block[i] = kEmpty<T>;
    ++count;
  }
  return count;
}

#endif

// Writes the entries of a row in order, and empties their slots.
template <class I, class T>
int64_t write_marked(T* slots, Byte* marks, const Span& span, I* columns, T* values) {
  constexpr int64_t kMarks = 8;  // in a register
  int64_t count = 0;
  for (int64_t base = span.first & -kMarks; base <= span.last; base += kMarks) {
    uint64_t word = load<uint64_t>(marks + base);
    if (word == 0) continue;
    store<uint64_t>(marks + base, 0);
    for (; word != 0; word &= word - 1) {
      const int64_t column = (base + __builtin_ctzll(word) / 8) * kSumBlock;
      count += take_block(slots + column, column, columns + count, values + count);
    }
  }
  return count;
}

// ---- rows ----

// A slot for each column up to kColumnSumsBytes, and where a row may have a fair part of them.
// Above that a table as large as the row takes less memory, and a cache holds more of it.
constexpr int64_t kFairPart = 16;

inline int64_t block_count(int64_t cols) { return (cols + kSumBlock - 1) / kSumBlock; }
inline int64_t in_words(int64_t bytes) { return (bytes + 7) / 8 * 8; }

template <class T>
bool has_slots(int64_t cols, int64_t most) {
  return cols <= kColumnSumsBytes / static_cast<int64_t>(sizeof(T)) || most >= cols / kFairPart;
}

template <class I, class T>
int64_t scratch_bytes(int64_t cols, int64_t most) {
  const auto repeated_bytes = static_cast<int64_t>(sizeof(RepeatedRow<I, T>));
  if (!has_slots<T>(cols, most)) return repeated_bytes + HashedSums<I, T>::bytes(most);
  const int64_t blocks = block_count(cols);
  return repeated_bytes + blocks * kSumBlock * static_cast<int64_t>(sizeof(T)) + in_words(blocks) +
         cols * 4;
}

template <class I, class T>
RowSums start(Byte* memory, int64_t cols, int64_t most) {
  RowSums sums = {};
  sums.cols = cols;
  sums.most = most;
  sums.repeated = memory;
  reinterpret_cast<RepeatedRow<I, T>*>(memory)->forget();
  memory += sizeof(RepeatedRow<I, T>);
  if (!has_slots<T>(cols, most)) {
    sums.table = memory;
    HashedSums<I, T>(memory, most).clear();
    return sums;
  }
  const int64_t blocks = block_count(cols);
  sums.slots = memory;
  T* const slots = reinterpret_cast<T*>(memory);
  for (int64_t i = 0; i < blocks * kSumBlock; ++i) slots[i] = kEmpty<T>;
  sums.marks = memory + blocks * kSumBlock * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < in_words(blocks); ++i) sums.marks[i] = 0;
  sums.stamps = reinterpret_cast<uint32_t*>(sums.marks + in_words(blocks));
  sums.stamp = UINT32_MAX;  // the first one to come writes them
  return sums;
}

// Writes a row; returns how many entries it has.
template <class I, class T>
int64_t fill_row(const Operands<I, T>& from, int64_t row, RowSums& sums, I* columns, T* values) {
  T* const slots = reinterpret_cast<T*>(sums.slots);
  if (slots == nullptr) {
    HashedSums<I, T> table(sums.table, sums.most);
    const int64_t products = product_count(from.in, row, INT64_MAX);
    return fill_hashed(from, row, products, sums.cols, table, columns, values);
  }
  if (product_count(from.in, row, kListed) > kListed) {
    const Span span = sum_marked(from, row, slots, sums.marks);
    return write_marked(slots, sums.marks, span, columns, values);
  }
  I list[kListed + kPerVector<I>];
  const int64_t count = sum_listed(from, row, slots, list);
  const auto take = [slots](I column) {
    const T sum = slots[column];
    slots[column] = kEmpty<T>;
    return sum;
  };
  write_few(list, count, take, columns, values);
  return count;
}

template <class I, class T>
int64_t fill_rows(const SparseProduct& product, RowSums& sums, int64_t begin, int64_t end,
                  const SparseRows& out) {
  const Operands<I, T> from(product);
  RepeatedRow<I, T>& like = *reinterpret_cast<RepeatedRow<I, T>*>(sums.repeated);
  I* const offsets = reinterpret_cast<I*>(out.offsets);
  int64_t position = out.position;
  for (int64_t row = begin; row < end; ++row) {
    I* const columns = reinterpret_cast<I*>(out.indices) + position;
    T* const values = reinterpret_cast<T*>(out.values) + position;
    int64_t count = like.rows != 0 ? fill_repeated(from, row, like, columns, values) : -1;
    if (count < 0) {
      count = fill_row(from, row, sums, columns, values);
      if (--like.wait < 0 && repeats_above(from.in.a, row)) {
        remember(from.in, row, columns, count, like);
      }
    }
    position += count;
    offsets[row + 1] = static_cast<I>(position);
  }
  return position - out.position;
}

template <class I, class T>
constexpr RowProducts kProducts = {scratch_bytes<I, T>, start<I, T>, count_rows<I, T>,
                                   fill_rows<I, T>};

}  // namespace

const RowProducts kRowProducts[kIndexTypeCount][kProductTypeCount] = {
    {kProducts<int32_t, double>, kProducts<int32_t, float>},
    {kProducts<int64_t, double>, kProducts<int64_t, float>},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
