// The loops of a stable grouping of entries by an index: counting, packing, a partition through
// buffers that combine writes, and the counting sort of each part.
//
// After J. Wassenberg, P. Sanders, Engineering a Multi-core Radix Sort, Euro-Par 2011 (partition by
// buffers of whole lines); H. Wang et al., Parallel Transposition of Sparse Data Structures, ICS
// 2016.
#include "cpu/group_by_key.hpp"

#include "cpu/kernels/lanes.hpp"
#include "cpu/kernels/number.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct Bytes16 {
  uint64_t halves[2];
};

template <class I>
constexpr int64_t kWidth = static_cast<int64_t>(sizeof(I));

// Neighbours have the same key often, and an addition waits for the one before it to be stored:
// these go to different tables.
constexpr int64_t kTables = 4;

template <class I>
void count_keys(const Byte* keys, int64_t count, unsigned key_bits, int64_t bucket_count,
                int64_t* counts) {
  uint32_t tables[kTables][kMaxBuckets];
  constexpr int64_t kPart = int64_t{1} << 30;  // no count of it overflows
  for (int64_t begin = 0; begin < count; begin += kPart) {
    const int64_t end = count - begin > kPart ? begin + kPart : count;
    __builtin_memset(tables, 0, sizeof tables);
    int64_t i = begin;
    for (; i + kTables <= end; i += kTables) {
      for (int64_t t = 0; t < kTables; ++t) {
        ++tables[t][load<I>(keys + (i + t) * kWidth<I>) >> key_bits];
      }
    }
    for (; i < end; ++i) ++tables[0][load<I>(keys + i * kWidth<I>) >> key_bits];
    for (int64_t bucket = 0; bucket < bucket_count; ++bucket) {
      for (const auto& table : tables) counts[bucket] += table[bucket];
    }
  }
}

template <class I, class P>
void pack(const Packing& packing) {
  const int64_t count = packing.count;
  const Byte* const keys = packing.keys;
  const Byte* const others = packing.others;
  const unsigned bits = packing.key_bits;
  const P mask = static_cast<P>((P{1} << bits) - 1);
  Byte* const packed = packing.packed;
  if (packed != nullptr) {
    for (int64_t i = 0; i < count; ++i) {
      const P key = static_cast<P>(load<I>(keys + i * kWidth<I>));
      const P other = static_cast<P>(load<I>(others + i * kWidth<I>));
      store<P>(packed + i * kWidth<P>, static_cast<P>(other << bits | (key & mask)));
    }
  }
  uint16_t* const buckets = packing.buckets;
  if (buckets == nullptr) return;
  for (int64_t i = 0; i < count; ++i) {
    buckets[i] = static_cast<uint16_t>(load<I>(keys + i * kWidth<I>) >> bits);
  }
}

inline void write_lines(Byte* out, const Byte* from, int64_t bytes, bool streamed) {
  for (int64_t at = 0; at < bytes; at += kLineBytes) {
    if (streamed) {
      stream_line(out + at, from + at);
    } else {
      __builtin_memcpy(out + at, from + at, kLineBytes);
    }
  }
}

template <class P, class V>
void part(const Parting& parting) {
  constexpr int64_t kGroup = group_entries(sizeof(V));
  constexpr int64_t kGroupBytes = group_bytes(sizeof(P), sizeof(V));
  const int64_t count = parting.count;
  const Byte* const packed = parting.packed;
  const Byte* const values = parting.values;
  const uint16_t* const buckets = parting.buckets;
  int64_t* const positions = parting.positions;
  Byte* const waiting = parting.waiting;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bucket = buckets[i];
    Byte* const group = waiting + bucket * kGroupBytes;
    const int64_t position = positions[bucket]++;
    const int64_t at = position & (kGroup - 1);
    store<P>(group + at * kWidth<P>, load<P>(packed + i * kWidth<P>));
    store<V>(group + kGroup * kWidth<P> + at * kWidth<V>, load<V>(values + i * kWidth<V>));
    if (at == kGroup - 1) {
      const int64_t first = position - at;
      write_lines(parting.packed_out + first * kWidth<P>, group, kGroup * kWidth<P>,
                  parting.streamed);
      write_lines(parting.values_out + first * kWidth<V>, group + kGroup * kWidth<P>,
                  kGroup * kWidth<V>, parting.streamed);
    }
  }
}

template <class P, class V>
void flush(const Parting& parting, int64_t bucket_count) {
  constexpr int64_t kGroup = group_entries(sizeof(V));
  for (int64_t bucket = 0; bucket < bucket_count; ++bucket) {
    const Byte* const group = parting.waiting + bucket * group_bytes(sizeof(P), sizeof(V));
    const int64_t position = parting.positions[bucket];
    const int64_t at = position % kGroup;
    const int64_t first = position - at;
    __builtin_memcpy(parting.packed_out + first * kWidth<P>, group,
                     static_cast<uint64_t>(at * kWidth<P>));
    __builtin_memcpy(parting.values_out + first * kWidth<V>, group + kGroup * kWidth<P>,
                     static_cast<uint64_t>(at * kWidth<V>));
  }
}

template <class P>
void count_packed(const Byte* packed, int64_t count, unsigned key_bits, int64_t* counts) {
  const P mask = static_cast<P>((P{1} << key_bits) - 1);
  for (int64_t i = 0; i < count; ++i) ++counts[load<P>(packed + i * kWidth<P>) & mask];
}

template <class P, class V, class I>
void scatter(const Placing& placing) {
  const int64_t count = placing.count;
  const Byte* const packed = placing.packed;
  const Byte* const values = placing.values;
  const unsigned bits = placing.key_bits;
  const P mask = static_cast<P>((P{1} << bits) - 1);
  int64_t* const cursors = placing.cursors;
  Byte* const others_out = placing.others_out;
  Byte* const values_out = placing.values_out;
  for (int64_t i = 0; i < count; ++i) {
    const P entry = load<P>(packed + i * kWidth<P>);
    const int64_t position = cursors[entry & mask]++;
    store<I>(others_out + position * kWidth<I>, static_cast<I>(entry >> bits));
    store<V>(values_out + position * kWidth<V>, load<V>(values + i * kWidth<V>));
  }
}

template <class I, class J>
int64_t expand(const Byte* offsets, int64_t row, int64_t begin, int64_t end, Byte* rows) {
  typedef J Few __attribute__((vector_size(kExpandSlack * sizeof(J))));
  Byte* out = rows;
  int64_t last = row;
  for (int64_t k = begin; k < end; ++row) {
    const int64_t row_end = load<I>(offsets + (row + 1) * kWidth<I>);
    const int64_t stop = row_end < end ? row_end : end;
    if (stop <= k) continue;
    const Few few = static_cast<J>(row) - Few{};
    for (int64_t at = 0; at < stop - k; at += kExpandSlack) {
      __builtin_memcpy(out + at * kWidth<J>, &few, sizeof few);
    }
    out += (stop - k) * kWidth<J>;
    k = stop;
    last = row;
  }
  return last;
}

// Entries that are skipped after a look at only their last one: rows are sorted, so no other is
// greater.
constexpr int64_t kStride = 64;

template <class I, class J>
void bound_rows(const Byte* rows, int64_t first, int64_t count, int64_t row, int64_t end,
                Byte* offsets) {
  int64_t k = first;
  for (; row < end; ++row) {
    while (k + kStride <= count && load<I>(rows + (k + kStride - 1) * kWidth<I>) <= row) {
      k += kStride;
    }
    while (k < count && load<I>(rows + k * kWidth<I>) <= row) ++k;
    store<J>(offsets + (row + 1) * kWidth<J>, static_cast<J>(k));
  }
}

#define TENURE_BY_WIDTH(f, P) \
  {f<P, uint8_t>, f<P, uint16_t>, f<P, uint32_t>, f<P, uint64_t>, f<P, Bytes16>}
#define TENURE_BY_INDEX(P, V) {scatter<P, V, int32_t>, scatter<P, V, int64_t>}
#define TENURE_PLACE(P)                                                                     \
  {TENURE_BY_INDEX(P, uint8_t), TENURE_BY_INDEX(P, uint16_t), TENURE_BY_INDEX(P, uint32_t), \
   TENURE_BY_INDEX(P, uint64_t), TENURE_BY_INDEX(P, Bytes16)}

}  // namespace

const Grouping kGrouping = {
    {count_keys<int32_t>, count_keys<int64_t>},
    {{pack<int32_t, uint32_t>, pack<int32_t, uint64_t>},
     {pack<int64_t, uint32_t>, pack<int64_t, uint64_t>}},
    {TENURE_BY_WIDTH(part, uint32_t), TENURE_BY_WIDTH(part, uint64_t)},
    {TENURE_BY_WIDTH(flush, uint32_t), TENURE_BY_WIDTH(flush, uint64_t)},
    {count_packed<uint32_t>, count_packed<uint64_t>},
    {TENURE_PLACE(uint32_t), TENURE_PLACE(uint64_t)},
    {{expand<int32_t, int32_t>, expand<int32_t, int64_t>},
     {expand<int64_t, int32_t>, expand<int64_t, int64_t>}},
    {{bound_rows<int32_t, int32_t>, bound_rows<int32_t, int64_t>},
     {bound_rows<int64_t, int32_t>, bound_rows<int64_t, int64_t>}},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
