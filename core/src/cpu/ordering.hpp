// Elements in the form in which they are sorted and searched: keys, which are unsigned integers
// that order as the elements do, and records, which are keys with the index of their element.
//
// Equal elements have equal keys, so that a stable sort of keys is one of elements: -0.0 has the
// key of 0.0, and every NaN the greatest key. How the bits of such elements come back: KeyFacts.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// How the bits of an element become its key.
struct KeyRule {
  uint64_t sign;      // the bit that is flipped; 0: unsigned numbers
  uint64_t infinity;  // bits of a float's infinity; 0: no float
  uint64_t flip;      // all bits of a key where the order is falling, but NaN stays last; else 0
  bool is_truth;      // any byte but 0 is true
};

// Bits of the elements that were loaded: an `_or` of none is 0, an `_and` of none is all ones.
struct KeyFacts {
  uint64_t key_or = 0;
  uint64_t key_and = ~uint64_t{0};
  uint64_t zero_or = 0;  // of elements that are a float's 0.0 or -0.0
  uint64_t zero_and = ~uint64_t{0};
  uint64_t nan_or = 0;
  uint64_t nan_and = ~uint64_t{0};
};

// The part of a record below its key: nothing, or the element's index. With 32 bits of index the
// record is one integer of 64 bits.
enum class Carry : uint8_t { kNothing, kIndex32, kIndex64 };
inline constexpr unsigned kCarryCount = 3;
struct WideRecord {
  uint64_t index;
  uint64_t key;
};

// Makes records of `count` elements, whose indices are those from `first_index` on.
struct KeyLoad {
  const Byte* data;
  int64_t step;  // bytes
  int64_t count;
  int64_t first_index;
  Byte* records;
};
using LoadRecords = void (*)(const KeyRule& rule, const KeyLoad& load, KeyFacts& facts);

// Makes elements of records again: of the key of zeros and of that of NaN they have these bits.
struct KeyStore {
  const Byte* records;
  int64_t count;
  uint64_t zero;
  uint64_t nan;
  Byte* out;
  int64_t step;
};
using StoreKeys = void (*)(const KeyRule& rule, const KeyStore& store);
// Writes the indices as i64.
using StoreIndices = void (*)(const Byte* records, int64_t count, Byte* out, int64_t step);

// Records whose numbers, less `least`, differ only in bits [low, high), apart from the bits of an
// index. `other` has as much room and its contents are lost.
struct RecordRange {
  Byte* records;
  Byte* other;
  int64_t count;  // below 2^31
  unsigned low;
  unsigned high;
  uint64_t least = 0;  // no number is below it
};
// Bits of a digit at most: its counters are as large as a first cache of 32 KiB, and a second cache
// holds a line of each place that records go to.
inline constexpr unsigned kMostDigitBits = 13;

// Ranges of the numbers that order records; each range has an equal share of a sample. A number's
// range is ranges[distance >> shift], where the distance is number - least, limited to [0, span].
struct KeyRanges {
  uint64_t least;
  uint64_t span;
  unsigned shift;
  unsigned kept;  // records of ranges from this one on are left out
  const uint8_t* ranges;
};

struct NumberFacts {
  uint64_t least;
  uint64_t most;
  uint64_t some;  // bits that some have
  uint64_t all;   // bits that all have
};

// The kernels of one type of record.
struct RecordKernels {
  // Adds to counts[range].
  void (*count_ranges)(const KeyRanges& ranges, const Byte* records, int64_t count,
                       int64_t* counts);
  // Moves each record that is not left out to cursors[range]++.
  void (*scatter_ranges)(const KeyRanges& ranges, const Byte* records, int64_t count,
                         int64_t* cursors, Byte* out);
  // Surveys the numbers that order `count` records; `count` is at least 1.
  NumberFacts (*survey)(const Byte* records, int64_t count);
  // Adds to counts[digit], of 1 << bits.
  void (*count)(const Byte* records, int64_t count, unsigned shift, unsigned bits, int64_t* counts);
  // Moves each to cursors[digit]++.
  void (*scatter)(const Byte* records, int64_t count, unsigned shift, unsigned bits,
                  int64_t* cursors, Byte* out);
  // A stable sort, whose result is in `records` or else in `other`.
  void (*sort)(const RecordRange& range, bool into_other);
  // Moves records so that the one of `rank` is at its place, no greater one before it and no
  // smaller one behind it. Equal records that are on one side of it keep their order.
  void (*select)(const RecordRange& range, int64_t rank);
};

// For each key the number of elements of a sorted vector that are below it, or that are not above.
struct KeySearch {
  const Byte* sorted;
  int64_t step;  // bytes
  int64_t sorted_count;
  const Byte* keys;  // without an index
  int64_t count;
  bool behind_equal;
  int64_t* places;
};
using SearchKeys = void (*)(const KeyRule& rule, const KeySearch& search);

// By the element's width, as its logarithm, and by Carry.
inline constexpr unsigned kKeyWidthCount = 4;
struct Ordering {
  LoadRecords load[kKeyWidthCount][kCarryCount];  // nullptr: a key of 64 bits in 64 with an index
  StoreKeys store[kKeyWidthCount][kCarryCount];
  StoreIndices store_indices[kCarryCount];
  RecordKernels records[kKeyWidthCount + 1];  // by the record's width, as its logarithm
  SearchKeys search[kKeyWidthCount];
};

}  // namespace tenure::kernels
