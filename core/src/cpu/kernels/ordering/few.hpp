// Sorting a few records.
//
// Records that are one integer are sorted in registers by a network, which compares the same lanes
// whatever is in them: insertion mispredicts a branch for every record or two. Records that are
// equal in the bits that order them are identical, or have their indices below these bits, in the
// order in which they are to stay. See K. E. Batcher, "Sorting networks and their applications"
// (AFIPS 1968).
#pragma once

#include "cpu/kernels/number.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/ordering.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class R>
constexpr int64_t kRecordBytes = sizeof(R);

// The bits of a record that order it.
template <class R>
[[gnu::always_inline]] inline R number_of(R record) {
  return record;
}
[[gnu::always_inline]] inline uint64_t number_of(WideRecord record) { return record.key; }

// The largest number of records that are sorted without digits.
constexpr int64_t kFew = 32;

template <class R>
void insert(const Byte* from, Byte* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const R record = load<R>(from + i * kRecordBytes<R>);
    int64_t place = i;
    for (; place > 0; --place) {
      const R before = load<R>(to + (place - 1) * kRecordBytes<R>);
      if (number_of(before) <= number_of(record)) break;
      store(to + place * kRecordBytes<R>, before);
    }
    store(to + place * kRecordBytes<R>, record);
  }
}

#if defined(__AVX2__)
// Unsigned integers of a register. Lanes beyond `count` are loaded as the greatest number, and not
// stored. crossed<k>(v): in lane i what v has in lane i ^ k. ordered<k>(a, b): the greater of both
// in lanes i where i has the highest bit of k, and the smaller elsewhere.
template <class U>
struct Network;

constexpr unsigned lanes_with(unsigned bit, int64_t lanes) {
  unsigned mask = 0;
  for (unsigned i = 0; i < lanes; ++i) mask |= (i & bit) != 0 ? 1u << i : 0;
  return mask;
}
constexpr unsigned highest_bit(unsigned k) { return k > 7 ? 8 : k > 3 ? 4 : k > 1 ? 2 : 1; }

#if defined(__AVX512F__)
template <>
struct Network<uint64_t> {
  using Register = __m512i;
  static constexpr int64_t kLanes = 8;
  static __mmask8 first(int64_t count) { return static_cast<__mmask8>((1u << count) - 1); }
  static Register load(const Byte* from, int64_t count) {
    return _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), first(count), from);
  }
  static void store(Byte* to, int64_t count, Register v) {
    _mm512_mask_storeu_epi64(to, first(count), v);
  }
  static Register least(Register a, Register b) { return _mm512_maskz_min_epu64(0xff, a, b); }
  static Register most(Register a, Register b) { return _mm512_maskz_max_epu64(0xff, a, b); }
  template <unsigned k>
  static Register crossed(Register v) {
    if constexpr (k == 1) return _mm512_maskz_shuffle_epi32(0xffff, v, _MM_PERM_BADC);
    if constexpr (k == 2) return _mm512_maskz_shuffle_i64x2(0xff, v, v, 0xb1);
    if constexpr (k == 3) return _mm512_maskz_permutex_epi64(0xff, v, 0x1b);
    if constexpr (k == 4) return _mm512_maskz_shuffle_i64x2(0xff, v, v, 0x4e);
    if constexpr (k == 7) return crossed<1>(_mm512_maskz_shuffle_i64x2(0xff, v, v, 0x1b));
  }
  template <unsigned k>
  static Register ordered(Register a, Register b) {
    return _mm512_mask_max_epu64(least(a, b), lanes_with(highest_bit(k), kLanes), a, b);
  }
};
template <>
struct Network<uint32_t> {
  using Register = __m512i;
  static constexpr int64_t kLanes = 16;
  static __mmask16 first(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  static Register load(const Byte* from, int64_t count) {
    return _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), first(count), from);
  }
  static void store(Byte* to, int64_t count, Register v) {
    _mm512_mask_storeu_epi32(to, first(count), v);
  }
  static Register least(Register a, Register b) { return _mm512_maskz_min_epu32(0xffff, a, b); }
  static Register most(Register a, Register b) { return _mm512_maskz_max_epu32(0xffff, a, b); }
  template <unsigned k>
  static Register crossed(Register v) {
    if constexpr (k == 1) return _mm512_maskz_shuffle_epi32(0xffff, v, _MM_PERM_CDAB);
    if constexpr (k == 2) return _mm512_maskz_shuffle_epi32(0xffff, v, _MM_PERM_BADC);
    if constexpr (k == 3) return _mm512_maskz_shuffle_epi32(0xffff, v, _MM_PERM_ABCD);
    if constexpr (k == 4) return _mm512_maskz_shuffle_i64x2(0xff, v, v, 0xb1);
    if constexpr (k == 7) return crossed<3>(crossed<4>(v));
    if constexpr (k == 8) return _mm512_maskz_shuffle_i64x2(0xff, v, v, 0x4e);
    if constexpr (k == 15) return crossed<3>(_mm512_maskz_shuffle_i64x2(0xff, v, v, 0x1b));
  }
  template <unsigned k>
  static Register ordered(Register a, Register b) {
    return _mm512_mask_max_epu32(least(a, b), lanes_with(highest_bit(k), kLanes), a, b);
  }
};
#else
template <>
struct Network<uint64_t> {
  // Signed, as comparisons are: the highest bit is flipped while they are in registers.
  using Register = __m256i;
  static constexpr int64_t kLanes = 4;
  static Register here(int64_t count) {
    return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
  }
  static Register flipped(Register v) { return _mm256_xor_si256(v, _mm256_set1_epi64x(INT64_MIN)); }
  static Register load(const Byte* from, int64_t count) {
    const Register lanes = here(count);
    const Register v = _mm256_maskload_epi64(reinterpret_cast<const long long*>(from), lanes);
    return flipped(_mm256_or_si256(v, ~lanes));
  }
  static void store(Byte* to, int64_t count, Register v) {
    _mm256_maskstore_epi64(reinterpret_cast<long long*>(to), here(count), flipped(v));
  }
  static Register least(Register a, Register b) {
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
  }
  static Register most(Register a, Register b) {
    return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
  }
  template <unsigned k>
  static Register crossed(Register v) {
    if constexpr (k == 1) return _mm256_shuffle_epi32(v, 0x4e);
    if constexpr (k == 2) return _mm256_permute4x64_epi64(v, 0x4e);
    if constexpr (k == 3) return _mm256_permute4x64_epi64(v, 0x1b);
  }
  template <unsigned k>
  static Register ordered(Register a, Register b) {
    return _mm256_blend_epi32(least(a, b), most(a, b), k == 1 ? 0xcc : 0xf0);
  }
};
template <>
struct Network<uint32_t> {
  using Register = __m256i;
  static constexpr int64_t kLanes = 8;
  static Register here(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(count)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Register load(const Byte* from, int64_t count) {
    const Register lanes = here(count);
    const Register v = _mm256_maskload_epi32(reinterpret_cast<const int*>(from), lanes);
    return _mm256_or_si256(v, ~lanes);
  }
  static void store(Byte* to, int64_t count, Register v) {
    _mm256_maskstore_epi32(reinterpret_cast<int*>(to), here(count), v);
  }
  static Register least(Register a, Register b) { return _mm256_min_epu32(a, b); }
  static Register most(Register a, Register b) { return _mm256_max_epu32(a, b); }
  template <unsigned k>
  static Register crossed(Register v) {
    if constexpr (k == 1) return _mm256_shuffle_epi32(v, 0xb1);
    if constexpr (k == 2) return _mm256_shuffle_epi32(v, 0x4e);
    if constexpr (k == 3) return _mm256_shuffle_epi32(v, 0x1b);
    if constexpr (k == 4) return _mm256_permute4x64_epi64(v, 0x4e);
    if constexpr (k == 7) return crossed<3>(crossed<4>(v));
  }
  template <unsigned k>
  static Register ordered(Register a, Register b) {
    return _mm256_blend_epi32(least(a, b), most(a, b), lanes_with(highest_bit(k), kLanes));
  }
};
#endif

// Lanes i and i ^ k in order.
template <class U, unsigned k>
[[gnu::always_inline]] inline auto ordered(typename Network<U>::Register v) {
  using Of = Network<U>;
  return Of::template ordered<k>(v, Of::template crossed<k>(v));
}
// Sorts lanes that rise and then fall, or the other way round, within each group of 2 k.
template <class U, unsigned k>
[[gnu::always_inline]] inline auto merged(typename Network<U>::Register v) {
  if constexpr (k == 0) {
    return v;
  } else {
    return merged<U, k / 2>(ordered<U, k>(v));
  }
}
// Each group of `width` lanes.
template <class U, unsigned width>
[[gnu::always_inline]] inline auto sorted(typename Network<U>::Register v) {
  if constexpr (width == 1) {
    return v;
  } else {
    return merged<U, width / 4>(ordered<U, width - 1>(sorted<U, width / 2>(v)));
  }
}

template <class U, int count>
[[gnu::always_inline]] inline void merge_registers(typename Network<U>::Register* v) {
  using Of = Network<U>;
  if constexpr (count == 1) {
    *v = merged<U, Of::kLanes / 2>(*v);
  } else {
    for (int i = 0; i < count / 2; ++i) {
      const auto low = Of::least(v[i], v[i + count / 2]);
      v[i + count / 2] = Of::most(v[i], v[i + count / 2]);
      v[i] = low;
    }
    merge_registers<U, count / 2>(v);
    merge_registers<U, count / 2>(v + count / 2);
  }
}
template <class U, int count>
[[gnu::always_inline]] inline void sort_registers(typename Network<U>::Register* v) {
  using Of = Network<U>;
  if constexpr (count == 1) {
    *v = sorted<U, Of::kLanes>(*v);
  } else {
    sort_registers<U, count / 2>(v);
    sort_registers<U, count / 2>(v + count / 2);
    for (int i = 0; i < count / 2; ++i) {
      auto& high = v[count - 1 - i];
      const auto other = Of::template crossed<Of::kLanes - 1>(high);
      high = Of::most(v[i], other);
      v[i] = Of::least(v[i], other);
    }
    merge_registers<U, count / 2>(v);
    merge_registers<U, count / 2>(v + count / 2);
  }
}

// Sorts at most `registers` registers of records.
template <class U, int registers>
void sort_in_registers(const Byte* from, Byte* to, int64_t count) {
  using Of = Network<U>;
  typename Of::Register v[registers];
  const auto held = [&](int i) {
    const int64_t left = count - i * Of::kLanes;
    return left < 0 ? 0 : left < Of::kLanes ? left : Of::kLanes;
  };
  for (int i = 0; i < registers; ++i) v[i] = Of::load(from + i * kVectorBytes, held(i));
  sort_registers<U, registers>(v);
  for (int i = 0; i < registers; ++i) Of::store(to + i * kVectorBytes, held(i), v[i]);
}
#endif

#if defined(__AVX2__)
// Registers of a block, which a network sorts, and the most records that are sorted in blocks which
// are then merged: by digits, the counters of all digits would take longer.
constexpr int kBlockRegisters = 8;
template <class U>
constexpr int64_t kMostMerged = sizeof(U) == 8       ? 128
                                : kVectorBytes == 64 ? int64_t{4} << 10
                                                     : int64_t{1} << 10;

// Merges sorted records, both more than none, by registers: the next one is of the side whose next
// record is less, and the lower half of it and the one before is done.
template <class U>
[[gnu::noinline]] void merge_runs(const Byte* a, int64_t a_count, const Byte* b, int64_t b_count,
                                  Byte* out) {
  using Of = Network<U>;
  constexpr int64_t kLanes = Of::kLanes;
  constexpr int64_t kBytes = sizeof(U);
  const auto held = [](int64_t left) { return left < kLanes ? left : kLanes; };
  auto low = Of::load(a, held(a_count));
  auto high = Of::load(b, held(b_count));
  int64_t i = kLanes;
  int64_t j = kLanes;
  int64_t left = a_count + b_count;
  for (;;) {
    const auto other = Of::template crossed<kLanes - 1>(high);
    high = merged<U, kLanes / 2>(Of::most(low, other));
    low = merged<U, kLanes / 2>(Of::least(low, other));
    Of::store(out, held(left), low);
    out += kLanes * kBytes;
    left -= kLanes;
    if (i >= a_count && j >= b_count) break;
    const U next_a = kernels::load<U>(a + (i < a_count ? i : 0) * kBytes);
    const U next_b = kernels::load<U>(b + (j < b_count ? j : 0) * kBytes);
    const auto is_a = static_cast<int64_t>((i < a_count) & ((j >= b_count) | (next_a <= next_b)));
    // Arithmetic: every other branch would be mispredicted.
    const Byte* const from = b + j * kBytes + (((a + i * kBytes) - (b + j * kBytes)) & -is_a);
    const int64_t rest = (b_count - j) + (((a_count - i) - (b_count - j)) & -is_a);
    low = Of::load(from, held(rest));
    i += kLanes & -is_a;
    j += kLanes & (is_a - 1);
  }
  if (left > 0) Of::store(out, held(left), high);
}

// Sorts blocks and merges them, from one memory to the other.
template <class U>
void sort_by_merging(Byte* records, Byte* other, int64_t count, bool into_other) {
  constexpr int64_t kBytes = sizeof(U);
  constexpr int64_t kBlock = kBlockRegisters * Network<U>::kLanes;
  bool is_in_other = into_other;
  for (int64_t width = kBlock; width < count; width *= 2) is_in_other = !is_in_other;
  Byte* to = is_in_other ? other : records;
  for (int64_t at = 0; at < count; at += kBlock) {
    const int64_t own = count - at < kBlock ? count - at : kBlock;
    if (own <= kBlock / 2) {
      sort_in_registers<U, kBlockRegisters / 2>(records + at * kBytes, to + at * kBytes, own);
    } else {
      sort_in_registers<U, kBlockRegisters>(records + at * kBytes, to + at * kBytes, own);
    }
  }
  for (int64_t width = kBlock; width < count; width *= 2) {
    const Byte* const from = to;
    to = to == other ? records : other;
    for (int64_t at = 0; at < count; at += 2 * width) {
      const int64_t left = count - at;
      if (left <= width) {
        __builtin_memcpy(to + at * kBytes, from + at * kBytes,
                         static_cast<uint64_t>(left * kBytes));
      } else {
        merge_runs<U>(from + at * kBytes, width, from + (at + width) * kBytes,
                      left < 2 * width ? left - width : width, to + at * kBytes);
      }
    }
  }
}

// A network would have to move a separate index with each lane of a key. Each wide record instead
// goes to the position that is the number of records below it, or equal and before it.
constexpr int64_t kFewWide = 8;
inline void sort_few_wide(const Byte* from, Byte* to, int64_t count) {
  WideRecord own[kFewWide];
  if (from == to) {
    __builtin_memcpy(own, from, static_cast<uint64_t>(count) * sizeof(WideRecord));
    from = reinterpret_cast<const Byte*>(own);
  }
#if defined(__AVX512F__)
  using Of = Network<uint64_t>;
  const int64_t first = count < 4 ? count : 4;
  const __m512i keys = _mm512_permutex2var_epi64(Of::load(from, 2 * first),
                                                 _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15),
                                                 Of::load(from + 64, 2 * (count - first)));
#else
  uint64_t keys[kFewWide];
  for (int64_t i = 0; i < kFewWide; ++i) {
    keys[i] = i < count ? load<WideRecord>(from + 16 * i).key ^ uint64_t { 1 } << 63 : INT64_MAX;
  }
  const auto low = load<__m256i>(reinterpret_cast<const Byte*>(keys));
  const auto high = load<__m256i>(reinterpret_cast<const Byte*>(keys + 4));
  const auto bits = [](__m256i a, __m256i b) {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(a))) |
           static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(b))) << 4;
  };
#endif
  for (int64_t i = 0; i < count; ++i) {
    const auto record = load<WideRecord>(from + 16 * i);
#if defined(__AVX512F__)
    const __m512i key = _mm512_set1_epi64(static_cast<int64_t>(record.key));
    const unsigned below = _mm512_cmplt_epu64_mask(keys, key);
    const unsigned not_above = _mm512_cmple_epu64_mask(keys, key);
#else
    const __m256i key = _mm256_set1_epi64x(static_cast<int64_t>(keys[i]));
    const unsigned below = bits(_mm256_cmpgt_epi64(key, low), _mm256_cmpgt_epi64(key, high));
    const unsigned not_above = ~bits(_mm256_cmpgt_epi64(low, key), _mm256_cmpgt_epi64(high, key));
#endif
    const unsigned before = below | (not_above & ((1u << i) - 1));
    store(to + 16 * __builtin_popcount(before), record);
  }
}
#endif

template <class R>
inline void sort_few(const Byte* from, Byte* to, int64_t count) {
#if defined(__AVX2__)
  if constexpr (sizeof(R) == 4 || sizeof(R) == 8) {
    // A whole line, however much it holds: its length would be mispredicted.
    constexpr int kRegisters = 64 / kVectorBytes;
    constexpr int64_t kOfLine = 64 / sizeof(R);
    if (count <= kOfLine) return sort_in_registers<R, kRegisters>(from, to, count);
    if (count <= 2 * kOfLine) return sort_in_registers<R, 2 * kRegisters>(from, to, count);
    if constexpr (4 * kOfLine <= kFew) return sort_in_registers<R, 4 * kRegisters>(from, to, count);
  }
  if constexpr (sizeof(R) == 16) {
    if (count <= kFewWide) return sort_few_wide(from, to, count);
  }
#endif
  insert<R>(from, to, count);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
