// Entries grouped by an index, in a stable order: transposition, and COO to compressed rows.
//
//   keys, others, values in any order   ->   offsets by key; others, values of key 0, key 1, ...
//
// Entries of a key stay in the order that they had. Never a comparison: the highest bits of the
// keys part the entries into buckets, through buffers that leave as whole lines; each bucket is
// small enough for its result to be put together by a counting sort in the second cache, from where
// it goes to memory in order. So memory is written twice and read three times, always in order,
// where one counting sort writes to as many positions at once as there are keys.
//
// Where the entries of a key are to be in order too, each bucket is sorted by both indices instead,
// in the cache (digit_sort.hpp).
//
// Measured, 8192^2 with 6.7 M entries, f32 and i32: that takes 7 ns for an entry, all of it
// waiting. Where rows are sorted and long, column_panels.hpp does better.
#pragma once

#include "cpu/group_by_key.hpp"
#include "tenure/context.hpp"

namespace tenure {

// The entries as they are. Their others are those of an array, or the rows of a compressed matrix.
struct Ungrouped {
  std::int64_t count;
  std::int64_t key_count;    // keys are below
  std::int64_t other_count;  // and others below that
  kernels::IndexType index_type;
  const kernels::Byte* keys;     // of entry 0
  const kernels::Byte* others;   // of entry 0; nullptr: entry k is in the row whose offsets hold
  const kernels::Byte* offsets;  // k + offsets[0]
  const kernels::Byte* values;   // of entry 0
};

// Their destination: room for key_count + 1 offsets, and for `count` others and values.
struct Grouped {
  kernels::IndexType index_type;
  kernels::Byte* offsets;
  kernels::Byte* others;
  kernels::Byte* values;
};

// The order of the entries of a key: as they came, or by their other index, and as they came where
// that is the same.
enum class Within : std::uint8_t { kAsTheyCame, kByOther };

// Values are 1, 2, 4, 8 or 16 bytes wide. Input and output do not overlap, and the result fits the
// index type. Throws OUT_OF_MEMORY. Takes as much memory as the entries have in `to`, and 2 MiB for
// each thread; to sort, also twice as much as the largest bucket. Very few entries are sorted.
// Where a key within its bucket and an other take more than 64 bits together, one thread does it,
// with six numbers for each entry.
void group_by_key(const Context& context, const Ungrouped& from, const Grouped& to,
                  std::int64_t value_bytes, Within order);
// For entries as they came: one counting sort, on the calling thread. The plain twin of
// group_by_key().
void group_stepwise(const Ungrouped& from, const Grouped& to, std::int64_t value_bytes);

}  // namespace tenure
