// Rows of a product that are like the row before, moved along: those of stencils on grids, of
// narrow bands, and of elements with several unknowns at one point, which have the same columns.
//
// Where the columns of a row of `a` are those of the row above it, moved, the next rows are likely
// to be alike. Then it is remembered to which entry of the result each product of the row belongs,
// and rows that turn out to be alike need no search.
#pragma once

#include "cpu/kernels/product/product_rows.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Longer rows are not remembered: 27-point stencils have 729 products and 125 entries.
constexpr int64_t kRepeatedRows = 128;  // entries of `a`
constexpr int64_t kRepeatedProducts = 1024;
constexpr int64_t kRepeatedEntries = 256;

// Prefetch distance in rows of b: a row of the result reads more streams of them than a processor
// follows by itself.
constexpr int64_t kRepeatedAheadBytes = 256;

#if defined(__AVX512F__)

// Steps that add vectors of products to vectors of sums: a step adds products of some entries of a
// row of b to the sums in one vector of the result.
template <class T>
struct SumSteps {
  struct Step {
    uint8_t lanes[16];  // of the products, for each sum
    uint16_t mask;      // the sums that get something
    uint8_t vector;     // of sums
  };
  static constexpr int64_t kMost = 512;
  static constexpr int64_t kLanes = kPerVector<T>;
  int64_t count;
  uint16_t ends[kRepeatedProducts];  // of the steps of each vector of products
  Step steps[kMost];

  void start() { count = 0; }
  // Adds lane `lane` of the vector of products `piece` to sum `entry`; the steps of this vector are
  // those from `first` on. False where steps cannot do that: one step adds one product to a sum,
  // and there are at most kMost steps.
  bool add(int64_t piece, int64_t first, int64_t lane, int64_t entry) {
    const int64_t vector = entry / kLanes;
    const auto bit = static_cast<uint16_t>(1u << entry % kLanes);
    int64_t at = first;
    while (at < count && steps[at].vector != vector) ++at;
    if (at == kMost) return false;
    Step& step = steps[at];
    if (at == count) {
      step = {{}, 0, static_cast<uint8_t>(vector)};
      ++count;
    }
    if ((step.mask & bit) != 0) return false;
    step.mask |= bit;
    step.lanes[entry % kLanes] = static_cast<uint8_t>(lane);
    ends[piece] = static_cast<uint16_t>(count);
    return true;
  }
};

#endif

// The pattern of a row; columns count from the first one of its first product.
template <class I, class T>
struct RepeatedRow {
  int64_t rows;     // entries of `a`; 0: nothing is remembered
  int64_t entries;  // of the result
  int64_t hits;
  int64_t wait;  // rows that go by before the next one is remembered
  int64_t patience;
  int32_t counts[kRepeatedRows];  // entries of each row of b
  I b_columns[kRepeatedProducts + kPerVector<I>];
  I result_columns[kRepeatedEntries + kPerVector<I>];
#if defined(__AVX512F__)
  SumSteps<T> steps;
#else
  uint8_t slots[kRepeatedProducts];  // of each product in the result
#endif

  void forget() {
    rows = 0;
    hits = 0;
    wait = 0;
    patience = 1;
  }
};

// Whether the row of `a` has the columns of the row above, moved or not.
template <class I>
bool repeats_above(const Pattern<I>& a, int64_t row) {
  if (row == 0) return false;
  const int64_t begin = a.offsets[row];
  const int64_t count = a.offsets[row + 1] - begin;
  if (count == 0 || count > kRepeatedRows || begin - a.offsets[row - 1] != count) return false;
  const I* const columns = a.columns + begin;
  for (int64_t k = 1; k < count; ++k) {
    if (columns[k] - columns[0] != columns[k - count] - columns[-count]) return false;
  }
  return true;
}

// Remembers a row for which repeats_above() is true; `columns` are those of its entries, in order.
// It remembers no row that is too long, has an entry with an empty row of b, or has a product
// without an entry, which a wrong b_is_coalesced causes: a product is remembered by the position of
// its sum.
template <class I, class T>
void remember(const Patterns<I>& in, int64_t row, const I* columns, int64_t count,
              RepeatedRow<I, T>& like) {
  like.patience = like.hits != 0 ? 1 : like.patience < 64 ? like.patience * 2 : 64;
  like.wait = like.patience;
  like.hits = 0;
  like.rows = 0;
  if (count > kRepeatedEntries || product_count(in, row, kRepeatedProducts) > kRepeatedProducts) {
    return;
  }
  const int64_t begin = in.a.offsets[row];
  const int64_t rows = in.a.offsets[row + 1] - begin;
  const RowOfB<I> front(in.b, in.a.columns[begin]);
  if (front.count == 0) return;
  const I first = front.columns[0];
  int64_t product = 0;
#if defined(__AVX512F__)
  int64_t piece = -1;
  int64_t first_step = 0;
  like.steps.start();
#endif
  for (int64_t k = 0; k < rows; ++k) {
    const RowOfB<I> entries(in.b, in.a.columns[begin + k]);
    if (entries.count == 0) return;
    like.counts[k] = static_cast<int32_t>(entries.count);
    for (int64_t i = 0; i < entries.count; ++i, ++product) {
      const I column = entries.columns[i];
      like.b_columns[product] = column - first;
      int64_t entry = 0;
      for (int64_t j = 0; j < count; ++j) entry += columns[j] < column ? 1 : 0;
      if (entry == count || columns[entry] != column) return;
#if defined(__AVX512F__)
      if (i % kPerVector<T> == 0) {
        ++piece;
        first_step = like.steps.count;
      }
      if (!like.steps.add(piece, first_step, i % kPerVector<T>, entry)) return;
#else
      like.slots[product] = static_cast<uint8_t>(entry);
#endif
    }
  }
  for (int64_t j = 0; j < count; ++j) like.result_columns[j] = columns[j] - first;
  like.entries = count;
  like.rows = rows;
}

#if defined(__AVX512F__)

// A bit for each of `count` elements, as far as a vector has them.
template <class T>
inline uint32_t first_bits(int64_t count) {
  return count >= kPerVector<T> ? (uint32_t{1} << kPerVector<T>)-1 : (uint32_t{1} << count) - 1;
}
inline __m512i load_first(const int32_t* from, uint32_t bits) {
  return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(bits), from);
}
inline __m512i load_first(const int64_t* from, uint32_t bits) {
  return _mm512_maskz_loadu_epi64(static_cast<__mmask8>(bits), from);
}
inline void store_first(int32_t* to, uint32_t bits, __m512i vector) {
  _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(bits), vector);
}
inline void store_first(int64_t* to, uint32_t bits, __m512i vector) {
  _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(bits), vector);
}
inline void store_first(float* to, uint32_t bits, __m512i vector) {
  _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(bits), vector);
}
inline void store_first(double* to, uint32_t bits, __m512i vector) {
  _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(bits), vector);
}

// Whether `count` columns are the remembered ones.
template <class I>
inline bool are_alike(const I* columns, int64_t count, I first, const I* like) {
  uint32_t others = 0;
  for (int64_t i = 0; i < count; i += kPerVector<I>) {
    const uint32_t bits = first_bits<I>(count - i);
    const auto found = (Vector<I>)load_first(columns + i, bits) - broadcast(first);
    const __m512i expected = _mm512_loadu_si512(like + i);
    if constexpr (sizeof(I) == 4) {
      others |=
          _mm512_mask_cmpneq_epi32_mask(static_cast<__mmask16>(bits), (__m512i)found, expected);
    } else {
      others |=
          _mm512_mask_cmpneq_epi64_mask(static_cast<__mmask8>(bits), (__m512i)found, expected);
    }
  }
  return others == 0;
}

// Adds the products that a step names to its sums. The other sums get 0 added, which changes none,
// as none is -0: stores under a mask would keep the next load waiting.
inline void add_step(const SumSteps<float>::Step& step, __m512 products, Vector<float>* sums) {
  const auto mask = static_cast<__mmask16>(step.mask);
  const __m512i lanes = _mm512_maskz_cvtepu8_epi32(
      mask, _mm_loadu_si128(reinterpret_cast<const __m128i*>(step.lanes)));
  sums[step.vector] +=
      reinterpret_cast<Vector<float>>(_mm512_maskz_permutexvar_ps(mask, lanes, products));
}
inline void add_step(const SumSteps<double>::Step& step, __m512d products, Vector<double>* sums) {
  const auto mask = static_cast<__mmask8>(step.mask);
  const __m512i lanes = _mm512_maskz_cvtepu8_epi64(
      mask, _mm_loadu_si128(reinterpret_cast<const __m128i*>(step.lanes)));
  sums[step.vector] +=
      reinterpret_cast<Vector<double>>(_mm512_maskz_permutexvar_pd(mask, lanes, products));
}
inline __m512 products_of(const float* from, uint32_t bits, float factor) {
  return _mm512_maskz_mul_ps(static_cast<__mmask16>(bits), _mm512_set1_ps(factor),
                             _mm512_maskz_loadu_ps(static_cast<__mmask16>(bits), from));
}
inline __m512d products_of(const double* from, uint32_t bits, double factor) {
  return _mm512_maskz_mul_pd(static_cast<__mmask8>(bits), _mm512_set1_pd(factor),
                             _mm512_maskz_loadu_pd(static_cast<__mmask8>(bits), from));
}

// The sums of a row that is alike, and which products they have had.
template <class I, class T>
struct RepeatedSums {
  const SumSteps<T>& steps;
  int64_t piece = 0;
  int64_t step = 0;
  Vector<T> sums[kRepeatedEntries / kPerVector<T>];

  explicit RepeatedSums(const RepeatedRow<I, T>& like) : steps(like.steps) {
    for (int64_t j = 0; j < like.entries; j += kPerVector<T>) sums[j / kPerVector<T>] = Vector<T>{};
  }
  void add(T factor, const T* factors, int64_t count) {
    for (int64_t i = 0; i < count; i += kPerVector<T>, ++piece) {
      const auto products = products_of(factors + i, first_bits<T>(count - i), factor);
      for (; step < steps.ends[piece]; ++step) add_step(steps.steps[step], products, sums);
    }
  }
  void put(int64_t count, T* values) const {
    for (int64_t j = 0; j < count; j += kPerVector<T>) {
      store_first(values + j, first_bits<T>(count - j), (__m512i)sums[j / kPerVector<T>]);
    }
  }
};

template <class I>
inline void put_moved(const I* columns, int64_t count, I first, I* to) {
  for (int64_t j = 0; j < count; j += kPerVector<I>) {
    // Unsigned: lanes behind the last column hold anything, and may pass the largest number.
    const auto moved = load<Vector<Wrap<I>>>(reinterpret_cast<const Byte*>(columns + j)) +
                       broadcast(static_cast<Wrap<I>>(first));
    store_first(to + j, first_bits<I>(count - j), (__m512i)moved);
  }
}

#else

template <class I>
inline bool are_alike(const I* columns, int64_t count, I first, const I* like) {
  I difference = 0;
  for (int64_t i = 0; i < count; ++i) difference |= (columns[i] - first) ^ like[i];
  return difference == 0;
}

template <class I, class T>
struct RepeatedSums {
  const uint8_t* slot;
  T sums[kRepeatedEntries];

  explicit RepeatedSums(const RepeatedRow<I, T>& like) : slot(like.slots) {
    for (int64_t j = 0; j < like.entries; ++j) sums[j] = T{0};
  }
  void add(T factor, const T* factors, int64_t count) {
    for (int64_t i = 0; i < count; ++i) sums[*slot++] += factor * factors[i];
  }
  void put(int64_t count, T* values) const {
    for (int64_t j = 0; j < count; ++j) values[j] = sums[j];
  }
};

template <class I>
inline void put_moved(const I* columns, int64_t count, I first, I* to) {
  for (int64_t j = 0; j < count; ++j) to[j] = columns[j] + first;
}

#endif

// Writes a row, and returns how many entries it has; -1 where it is another one.
template <class I, class T>
int64_t fill_repeated(const Operands<I, T>& from, int64_t row, RepeatedRow<I, T>& like, I* columns,
                      T* values) {
  const Patterns<I>& in = from.in;
  const int64_t begin = in.a.offsets[row];
  if (in.a.offsets[row + 1] - begin != like.rows) return -1;
  const RowOfB<I> front(in.b, in.a.columns[begin]);
  if (front.count != like.counts[0]) return -1;
  const I first = front.columns[0];
  RepeatedSums<I, T> sums(like);
  const I* expected = like.b_columns;
  for (int64_t k = 0; k < like.rows; ++k) {
    const RowOfB<I> entries(in.b, in.a.columns[begin + k]);
    if (entries.count != like.counts[k] ||
        !are_alike(entries.columns, entries.count, first, expected)) {
      return -1;
    }
    expected += entries.count;
    __builtin_prefetch(reinterpret_cast<const Byte*>(entries.columns) + kRepeatedAheadBytes);
    __builtin_prefetch(reinterpret_cast<const Byte*>(from.b_values + entries.begin) +
                       kRepeatedAheadBytes);
    sums.add(from.a_values[begin + k], from.b_values + entries.begin, entries.count);
  }
  put_moved(like.result_columns, like.entries, first, columns);
  sums.put(like.entries, values);
  ++like.hits;
  return like.entries;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
