// Grouping entries by an index, in a stable order: the basis of a transposition and of every
// conversion among formats that are not sorted alike. group_by_key.hpp has the whole algorithm.
//
// An entry in transit is a value and a packed number, which joins the key and the other index:
//
//   packed = other << key_bits | key's lowest key_bits bits;   bucket = key >> key_bits
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Most buckets of a partition: their counts and the entries that wait for each of them stay in a
// near cache.
inline constexpr int64_t kMaxBuckets = 1024;

// The types of packed numbers, in the order of every table.
enum class PackedType : uint8_t { k32, k64 };
inline constexpr unsigned kPackedTypeCount = 2;

// Widths of values that have kernels here: 1, 2, 4, 8, 16.
inline constexpr unsigned kValueWidthCount = 5;

// Entries of a bucket that are written at once: whole lines of packed numbers and of values.
// Private to each object, since an object without optimisation has these two as functions.
static constexpr int64_t group_entries(unsigned value_bytes) {
  return value_bytes >= 4 ? 16 : 64 / static_cast<int64_t>(value_bytes);
}
// Bytes of packed numbers and values that wait in a bucket.
static constexpr int64_t group_bytes(unsigned packed_bytes, unsigned value_bytes) {
  return group_entries(value_bytes) * static_cast<int64_t>(packed_bytes + value_bytes);
}

struct Packing {
  int64_t count;
  const Byte* keys;
  const Byte* others;
  unsigned key_bits;
  Byte* packed;       // nullptr: not written
  uint16_t* buckets;  // nullptr where there is one bucket
};

// Entries to their buckets. `positions` are the destinations of each bucket's next entry, in
// entries from packed_out and values_out; the first of a bucket is a multiple of group_entries(),
// and so is the room that it has.
struct Parting {
  int64_t count;
  const Byte* packed;
  const Byte* values;
  const uint16_t* buckets;
  int64_t* positions;
  Byte* waiting;  // group_bytes() for each bucket, aligned to a line
  Byte* packed_out;
  Byte* values_out;
  bool streamed;
};

// Entries of one bucket to their positions, by the cursors of their keys.
struct Placing {
  int64_t count;
  const Byte* packed;
  const Byte* values;
  unsigned key_bits;
  int64_t* cursors;
  Byte* others_out;
  Byte* values_out;
};

struct Grouping {
  // Adds to counts[key >> key_bits]; `counts` has `bucket_count` elements.
  void (*count_keys[kIndexTypeCount])(const Byte* keys, int64_t count, unsigned key_bits,
                                      int64_t bucket_count, int64_t* counts);
  void (*pack[kIndexTypeCount][kPackedTypeCount])(const Packing&);
  void (*part[kPackedTypeCount][kValueWidthCount])(const Parting&);
  // Writes the groups that are still incomplete.
  void (*flush[kPackedTypeCount][kValueWidthCount])(const Parting&, int64_t bucket_count);
  // Adds to counts[key's lowest bits].
  void (*count_packed[kPackedTypeCount])(const Byte* packed, int64_t count, unsigned key_bits,
                                         int64_t* counts);
  void (*scatter[kPackedTypeCount][kValueWidthCount][kIndexTypeCount])(const Placing&);
  // Writes the rows of entries [begin, end) and returns the row of the last one. Entry `begin` is
  // in `row` or in a later row. Writes up to kExpandSlack entries past the end.
  int64_t (*expand[kIndexTypeCount][kIndexTypeCount])(const Byte* offsets, int64_t row,
                                                      int64_t begin, int64_t end, Byte* rows);
  // offsets[row + 1] for the rows [row, end) of sorted `rows`, entry `first` the first one at `row`
  // or behind it: how many entries of `count` are at the row or in front of it.
  void (*bound_rows[kIndexTypeCount][kIndexTypeCount])(const Byte* rows, int64_t first,
                                                       int64_t count, int64_t row, int64_t end,
                                                       Byte* offsets);
};

inline constexpr int64_t kExpandSlack = 16;

}  // namespace tenure::kernels
