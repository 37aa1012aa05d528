// The sum of a row's entries, each times the element of a vector that its index names.
//
// It is bound by the memory that the entries come from, and by how fast elements are fetched from
// anywhere: loads of single elements, put together in registers of 16 bytes, take less time than
// the gathers of AVX2 and AVX-512 (0.29 and 0.44 ns an entry on AMD family 25 model 17).
//
// Eight partial sums take turns and are added in a tree, whatever the type of the indices, the
// instruction set and the length of the row: there is one result.
#pragma once

#include "cpu/kernels/sums.hpp"
#include "cpu/kernels/vectors.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

constexpr int kSumLanes = 8;

// Prefetch distances: further than hardware prefetchers look, which do not see two streams that end
// with every slice. Rows prefetch their entries to the second cache: a line in transit to the first
// takes one of that cache's few buffers, which elements of x need. Long rows look further ahead.
constexpr int64_t kAheadBytes = 4096;
constexpr int64_t kFarAheadBytes = 8192;
constexpr int64_t kLongRow = 64;  // entries
// To the first cache.
constexpr int64_t kNearAheadBytes = 2048;

// The nearest cache that is expected to hold the elements of x that a row reads.
enum class HeldBy { kFirstCache, kSecondCache, kFartherCache };
constexpr int64_t kNearVectorBytes = 32 << 10;
constexpr int64_t kFartherVectorBytes = 512 << 10;

// Entries between a row's entry and the one whose element of x is prefetched, where x is in the
// third cache: out-of-order execution reaches about half as many. 20 random columns of 10^6 take
// 22 ms, without it 31 (AMD family 25 model 17).
constexpr int64_t kAheadElements = 32;

// Where x is expected, of `b_rows` elements, for rows like the one with the entries [first, end).
template <class T, class I>
inline HeldBy holder_of(int64_t b_rows, const Byte* indices, int64_t first, int64_t end) {
  const int64_t bytes = b_rows * kStep<T>;
  if (bytes <= kNearVectorBytes || end == first) return HeldBy::kFirstCache;
  // Unsigned: indices may not have been checked yet.
  const uint64_t apart = static_cast<uint64_t>(load<I>(indices + (end - 1) * kStep<I>)) -
                         static_cast<uint64_t>(load<I>(indices + first * kStep<I>));
  if (apart <= kNearVectorBytes / kStep<T>) return HeldBy::kFirstCache;
  return bytes <= kFartherVectorBytes ? HeldBy::kSecondCache : HeldBy::kFartherCache;
}

// Bounds check of kCount indices before they are used; these have been checked before.
struct TrustedIndices {
  template <int64_t kCount>
  static bool are_right(const Byte*) {
    return true;
  }
  static bool are_all_right(const Byte*, int64_t) { return true; }
  static bool are_right_moved(const Byte*, int64_t, int64_t) { return true; }
};

// Checks a few indices at a time, as they are read for the sum: a pass over a slice beforehand
// would read each twice, and nothing would prefetch the values meanwhile.
template <class I>
class CheckedIndices {
 public:
  explicit CheckedIndices(int64_t limit)
      : last_(static_cast<Bits>(limit - 1 > kHighest ? kHighest : limit - 1)) {}

  template <int64_t kCount>
  bool are_right(const Byte* indices) {
    constexpr int64_t kBytes = kCount * kStep<I>;
    constexpr int64_t kPartBytes = kBytes < kVectorBytes ? kBytes : kVectorBytes < 32 ? 16 : 32;
    typedef Bits BitVector __attribute__((vector_size(kPartBytes)));
    // A negative index has the highest bit, and so has the last index less one that is beyond it.
    BitVector wrong = {};
    for (int64_t i = 0; i < kBytes; i += kPartBytes) {
      const auto part = load<BitVector>(indices + i);
      wrong |= (last_ - part) | part;
    }
    const bool is_right = !has_high_bit(wrong);
    if (!is_right) [[unlikely]]
      found_wrong_ = true;
    return is_right;
  }
  // Checks any number of indices in the same way.
  bool are_all_right(const Byte* indices, int64_t count) {
    Vector<Bits> wrong = {};
    int64_t i = 0;
    for (; i + kPerVector<Bits> <= count; i += kPerVector<Bits>) {
      const auto part = load<Vector<Bits>>(indices + i * kStep<I>);
      wrong |= (last_ - part) | part;
    }
    bool is_right =
        !is_any<Bits>(wrong & broadcast(static_cast<Bits>(~static_cast<Bits>(kHighest))));
    for (; i < count; ++i) is_right = is_right && load<Bits>(indices + i * kStep<I>) <= last_;
    if (!is_right) [[unlikely]]
      found_wrong_ = true;
    return is_right;
  }
  // Whether `count` of them are, and would be with `distance` added. It is no finding if not.
  [[nodiscard]] bool are_right_moved(const Byte* indices, int64_t count, int64_t distance) const {
    const auto moved = static_cast<Bits>(distance);
    if (last_ < moved) return false;
    Bits wrong = 0;
    for (int64_t i = 0; i < count; ++i) {
      const auto index = load<Bits>(indices + i * kStep<I>);
      wrong |= (last_ - moved - index) | index;
    }
    return wrong <= static_cast<Bits>(kHighest);
  }
  [[nodiscard]] bool found_wrong() const { return found_wrong_; }

 private:
  using Bits = typename IntegersOf<sizeof(I)>::Unsigned;
  static constexpr int64_t kHighest = static_cast<int64_t>(static_cast<Bits>(~Bits{0}) >> 1);

  template <class BitVector>
  static bool has_high_bit(const BitVector& part) {
#if defined(__AVX2__)
    if constexpr (sizeof(BitVector) == 32) {
      return sizeof(I) == 4 ? _mm256_movemask_ps(reinterpret_cast<__m256>(part)) != 0
                            : _mm256_movemask_pd(reinterpret_cast<__m256d>(part)) != 0;
    }
#endif
#if defined(__x86_64__)
    if constexpr (sizeof(BitVector) == 16) {
      return sizeof(I) == 4 ? _mm_movemask_ps(reinterpret_cast<__m128>(part)) != 0
                            : _mm_movemask_pd(reinterpret_cast<__m128d>(part)) != 0;
    }
#endif
    Bits any = 0;
    for (uint64_t i = 0; i < sizeof(BitVector) / sizeof(Bits); ++i) any |= part[i];
    return any > static_cast<Bits>(kHighest);
  }

  Bits last_;
  bool found_wrong_ = false;
};

// Eight sums of entries k, k + 8, ... each, in registers of 16 bytes.
template <class T>
struct LaneSums {
  typedef T Vector16 __attribute__((vector_size(16)));
  static constexpr int kPerPart = 16 / static_cast<int>(sizeof(T));
  static constexpr int kParts = kSumLanes / kPerPart;

  template <class I>
  static Vector16 products(const Byte* values, const Byte* x, const Byte* indices) {
    Vector16 factors = {};
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
    return load<Vector16>(values) * factors;
  }
  // ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))
  T total() const {
    if constexpr (kPerPart == 4) {
      const Vector16 halves = parts[0] + parts[1];
      return (halves[0] + halves[2]) + (halves[1] + halves[3]);
    } else {
      const Vector16 quarters = (parts[0] + parts[2]) + (parts[1] + parts[3]);
      return quarters[0] + quarters[1];
    }
  }

  Vector16 parts[kParts] = {};
};

// Adds four entries to the sums from kFirst on. Where the row has fewer, `count` of them, the others
// are read and do not count.
template <class T, class I, int kFirst, bool kIsWhole>
inline void add_four(LaneSums<T>& sums, const Byte* values, const Byte* indices, const Byte* x,
                     int64_t count) {
  using Vector16 = typename LaneSums<T>::Vector16;
  using Bits = Truth<T>;
  typedef Bits Mask __attribute__((vector_size(16)));
  constexpr int kPerPart = LaneSums<T>::kPerPart;
  static constexpr Bits kLanes[8] = {-1, -1, -1, -1};
  for (int i = 0; i < 4; i += kPerPart) {
    Vector16 products =
        LaneSums<T>::template products<I>(values + i * kStep<T>, x, indices + i * kStep<I>);
    if constexpr (!kIsWhole) {
      const auto mask = load<Mask>(reinterpret_cast<const Byte*>(kLanes + 4 - count + i));
      products = reinterpret_cast<Vector16>(reinterpret_cast<Mask>(products) & mask);
    }
    sums.parts[(kFirst + i) / kPerPart] += products;
  }
}

// Adds the entries of a row of more than 4 * (kFours - 1) and at most 4 * kFours.
template <class T, class I, int kFours>
inline void add_fours(LaneSums<T>& sums, const Byte* values, const Byte* indices, const Byte* x,
                      int64_t count) {
  constexpr int kSecond = kFours > 1 ? kSumLanes / 2 : 0;
  if constexpr (kFours > 1) add_four<T, I, 0, true>(sums, values, indices, x, 4);
  if constexpr (kFours > 2) {
    add_four<T, I, kSumLanes / 2, true>(sums, values + 4 * kStep<T>, indices + 4 * kStep<I>, x, 4);
    add_fours<T, I, kFours - 2>(sums, values + 8 * kStep<T>, indices + 8 * kStep<I>, x, count - 8);
  } else {
    constexpr int64_t kBefore = 4 * (kFours - 1);
    add_four<T, I, kSecond, false>(sums, values + kBefore * kStep<T>, indices + kBefore * kStep<I>,
                                   x, count - kBefore);
  }
}

// The end of the arrays, where entries behind the row's own may not be read.
template <class T, class I, class Known>
inline T last_row(const Byte* values, const Byte* indices, const Byte* x, int64_t count,
                  Known& known) {
  T lanes[kSumLanes] = {};
  for (int64_t k = 0; k < count; ++k) {
    if (!known.template are_right<1>(indices + k * kStep<I>)) return T{0};
    lanes[k % kSumLanes] +=
        load<T>(values + k * kStep<T>) * load<T>(x + load<I>(indices + k * kStep<I>) * kStep<T>);
  }
  LaneSums<T> sums;
  __builtin_memcpy(&sums, lanes, sizeof sums);
  return sums.total();
}

// Prefetches elements of x. Any address: the indices may not have been checked yet.
template <class T, class I>
__attribute__((always_inline)) inline void fetch_elements(const Byte* indices, const Byte* x,
                                                          int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<uintptr_t>(load<I>(indices + i * kStep<I>));
    __builtin_prefetch(
        reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(x) + index * kStep<T>));
  }
}

// The entries of a row that are still to be added.
template <class T, class I>
struct RowRest {
  // Adds all but the last `count % kSumLanes` of them, which it returns; 0 where an index is wrong.
  // Each line is prefetched twice: one prefetch for sixteen entries is slower. `kElements`: those of
  // x are prefetched too, for which as many entries behind the row must be readable.
  template <int64_t kAhead, int kLocality, bool kElements = false, class Known>
  __attribute__((always_inline)) int64_t add_eights(LaneSums<T>& sums, int64_t count,
                                                    Known& known) {
    for (; count >= kSumLanes; count -= kSumLanes) {
      if (!known.template are_right<kSumLanes>(indices)) [[unlikely]]
        return 0;
      __builtin_prefetch(values + kAhead, 0, kLocality);
      __builtin_prefetch(indices + kAhead, 0, kLocality);
      if constexpr (kElements)
        fetch_elements<T, I>(indices + kAheadElements * kStep<I>, x, kSumLanes);
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

// Adds the last entries of a row, fewer than eight, as the first of four or eight that can be read:
// no branch depends on their exact number. Entries behind the row are of later rows, and their
// indices must be right too.
template <class T, class I, class Known>
__attribute__((always_inline)) inline void add_rest(LaneSums<T>& sums, const RowRest<T, I>& row,
                                                    int64_t count, Known& known) {
  if (count > kSumLanes / 2) {
    if (known.template are_right<kSumLanes>(row.indices)) {
      add_fours<T, I, 2>(sums, row.values, row.indices, row.x, count);
    }
  } else if (count > 0) {
    if (known.template are_right<kSumLanes / 2>(row.indices)) {
      add_fours<T, I, 1>(sums, row.values, row.indices, row.x, count);
    }
  }
}

// The sum of `count` entries; `readable` entries can be read from here on, with those of later
// rows. Anything, where `known` found a wrong index.
template <class T, class I, class Known>
inline T row_sum(const Byte* values, const Byte* indices, const Byte* x, int64_t count,
                 int64_t readable, HeldBy holder, Known& known) {
  __builtin_prefetch(values + kNearAheadBytes / 2);
  __builtin_prefetch(indices + kNearAheadBytes / 2);
  if (readable < count + kSumLanes) [[unlikely]]
    return last_row<T, I>(values, indices, x, count, known);
  LaneSums<T> sums;
  RowRest<T, I> row = {values, indices, x};
  if (holder == HeldBy::kFirstCache) {
    count = count >= kLongRow ? row.template add_eights<kFarAheadBytes, 2>(sums, count, known)
                              : row.template add_eights<kAheadBytes, 2>(sums, count, known);
  } else if (holder == HeldBy::kFartherCache && readable >= count + kAheadElements) {
    count = row.template add_eights<kAheadBytes, 2, true>(sums, count, known);
    fetch_elements<T, I>(row.indices + kAheadElements * kStep<I>, x, count);
  } else {
    count = row.template add_eights<kNearAheadBytes, 3>(sums, count, known);
  }
  add_rest(sums, row, count, known);
  return sums.total();
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
