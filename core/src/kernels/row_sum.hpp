// The sum of a row's entries, each times the element of a vector that its index names.
//
// It is bound by the memory that the entries come from, and by how fast elements are fetched from
// anywhere: loads of single elements, put together in registers of 16 bytes, take less time than the
// gathers of AVX2 and AVX-512 (0.29 and 0.44 ns an entry on AMD family 25 model 17).
//
// Eight sums take turns and meet in a tree, whatever the type of the indices, the instruction set
// and the length of the row: there is one result.
#pragma once

#include "kernels/sums.hpp"
#include "kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// How far ahead of the entries at hand the processor is told to read: further than its own
// prefetchers look, which do not see two streams that end with every slice.
constexpr int64_t kAheadBytes = 2048;

constexpr int kSumLanes = 8;

// How far ahead entries are fetched to the second cache, where that is better: it takes lines faster
// than the first, which is too small for what is needed that much later.
constexpr int64_t kFarAheadBytes = 8192;

// It is better for long rows, and an x that stays in the first cache. Rows that look for x further away
// need that cache's few places for lines on their way, of which such an entry takes one twice.
constexpr int64_t kNearVectorBytes = 32 << 10;
constexpr int64_t kLongRow = 64;  // entries

// Eight sums of entries k, k + 8, ... each, in registers of 16 bytes.
template <class T>
struct LaneSums {
  typedef T Part __attribute__((vector_size(16)));
  static constexpr int kPerPart = 16 / static_cast<int>(sizeof(T));
  static constexpr int kParts = kSumLanes / kPerPart;

  template <class I>
  static Part products(const Byte* values, const Byte* x, const Byte* indices) {
    Part factors = {};
    if constexpr (sizeof(I) < 8) {
      // Taken out of one load, indices leave the loads to the elements.
      constexpr int kBits = 8 * static_cast<int>(sizeof(I));
      constexpr int kPerWord = 64 / kBits < kPerPart ? 64 / kBits : kPerPart;
      using Word = typename IntegersOf<sizeof(I) * kPerWord>::Unsigned;
      using Unsigned = typename IntegersOf<sizeof(I)>::Unsigned;
      for (int i = 0; i < kPerPart; i += kPerWord) {
        const auto word = load<Word>(indices + i * kStep<I>);
        for (int j = 0; j < kPerWord; ++j) {
          const auto index = static_cast<Unsigned>(word >> (kBits * j));
          factors[i + j] = load<T>(x + static_cast<int64_t>(index) * kStep<T>);
        }
      }
    } else {
      for (int i = 0; i < kPerPart; ++i) {
        factors[i] = load<T>(x + load<I>(indices + i * kStep<I>) * kStep<T>);
      }
    }
    return load<Part>(values) * factors;
  }
  // Only the first `count` of a part, which may be all or none; what the others are of is read.
  template <class I>
  static Part first_products(const Byte* values, const Byte* x, const Byte* indices,
                             int64_t count) {
    using Bits = Truth<T>;
    typedef Bits Mask __attribute__((vector_size(16)));
    static constexpr Bits kFirst[2 * kPerPart] = {-1, -1, kPerPart == 2 ? Bits{0} : Bits{-1},
                                                  kPerPart == 2 ? Bits{0} : Bits{-1}};
    const int64_t kept = count < 0 ? 0 : count < kPerPart ? count : kPerPart;
    const auto mask = load<Mask>(reinterpret_cast<const Byte*>(kFirst + kPerPart - kept));
    return reinterpret_cast<Part>(reinterpret_cast<Mask>(products<I>(values, x, indices)) & mask);
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

// Sums 0 to 7 or 0 to 3 of the first `count` entries, in parts that are read as a whole.
template <class T, class I, int kSums>
inline void add_first(LaneSums<T>& sums, const Byte* values, const Byte* indices, const Byte* x,
                      int64_t count) {
  constexpr int kPerPart = LaneSums<T>::kPerPart;
  for (int p = 0; p < kSums / kPerPart; ++p) {
    sums.parts[p] += LaneSums<T>::template first_products<I>(
        values + p * 16, x, indices + p * kPerPart * kStep<I>, count - p * kPerPart);
  }
}

// Where entries behind the row's own may not be read.
template <class T, class I>
inline T last_row(const Byte* values, const Byte* indices, const Byte* x, int64_t count) {
  T lanes[kSumLanes] = {};
  for (int64_t k = 0; k < count; ++k) {
    lanes[k % kSumLanes] +=
        load<T>(values + k * kStep<T>) * load<T>(x + load<I>(indices + k * kStep<I>) * kStep<T>);
  }
  LaneSums<T> sums;
  __builtin_memcpy(&sums, lanes, sizeof sums);
  return sums.total();
}

// The entries of a row that are still to be added.
template <class T, class I>
struct RowRest {
  // Adds all but the last `count % kSumLanes` of them. Each line is asked for twice: to ask once for
  // sixteen entries is slower.
  template <int64_t kAhead, int kLocality>
  __attribute__((always_inline)) int64_t add_eights(LaneSums<T>& sums, int64_t count) {
    for (; count >= kSumLanes; count -= kSumLanes) {
      __builtin_prefetch(values + kAhead, 0, kLocality);
      __builtin_prefetch(indices + kAhead, 0, kLocality);
      for (int p = 0; p < LaneSums<T>::kParts; ++p) {
        sums.parts[p] += LaneSums<T>::template products<I>(
            values + p * 16, x, indices + p * LaneSums<T>::kPerPart * kStep<I>);
      }
      values += kSumLanes * kStep<T>;
      indices += kSumLanes * kStep<I>;
    }
    return count;
  }

  const Byte* values;
  const Byte* indices;
  const Byte* x;
};

// The sum of `count` entries; `readable` lie from here on, with those of later rows. A short row is
// the beginning of eight entries, so that no branch depends on how many it has. `is_near`: all that
// is read of x has kNearVectorBytes at most.
template <class T, class I>
inline T row_sum(const Byte* values, const Byte* indices, const Byte* x, int64_t count,
                 int64_t readable, bool is_near = false) {
  __builtin_prefetch(values + kAheadBytes);
  __builtin_prefetch(indices + kAheadBytes);
  if (readable < count + kSumLanes) [[unlikely]]
    return last_row<T, I>(values, indices, x, count);
  LaneSums<T> sums;
  RowRest<T, I> row = {values, indices, x};
  count = is_near && count >= kLongRow ? row.template add_eights<kFarAheadBytes, 2>(sums, count)
                                       : row.template add_eights<kAheadBytes, 3>(sums, count);
  if (count > kSumLanes / 2) {
    add_first<T, I, kSumLanes>(sums, row.values, row.indices, x, count);
  } else if (count > 0) {
    add_first<T, I, kSumLanes / 2>(sums, row.values, row.indices, x, count);
  }
  return sums.total();
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
