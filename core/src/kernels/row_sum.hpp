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

// Eight sums of entries k, k + 8, ... each, in registers of 16 bytes.
template <class T>
struct LaneSums {
  typedef T Part __attribute__((vector_size(16)));
  static constexpr int kPerPart = 16 / static_cast<int>(sizeof(T));
  static constexpr int kParts = kSumLanes / kPerPart;

  template <class I>
  static Part products(const Byte* values, const Byte* x, const Byte* indices) {
    Part factors = {};
    if constexpr (sizeof(I) == 2) {
      // Taken out of one load, indices leave the loads to the elements.
      using Word = typename IntegersOf<2 * kPerPart>::Unsigned;
      const auto word = load<Word>(indices);
      for (int i = 0; i < kPerPart; ++i) {
        factors[i] = load<T>(x + static_cast<int64_t>(word >> (16 * i) & 0xffff) * kStep<T>);
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

// The sum of `count` entries; `readable` lie from here on, with those of later rows. A short row is
// the beginning of eight entries, so that no branch depends on how many it has.
template <class T, class I>
inline T row_sum(const Byte* values, const Byte* indices, const Byte* x, int64_t count,
                 int64_t readable) {
  __builtin_prefetch(values + kAheadBytes);
  __builtin_prefetch(indices + kAheadBytes);
  if (readable < count + kSumLanes) [[unlikely]]
    return last_row<T, I>(values, indices, x, count);
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
  if (count > kSumLanes / 2) {
    add_first<T, I, kSumLanes>(sums, values, indices, x, count);
  } else if (count > 0) {
    add_first<T, I, kSumLanes / 2>(sums, values, indices, x, count);
  }
  return sums.total();
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
