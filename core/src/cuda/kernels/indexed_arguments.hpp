// The arguments of the kernels that find elements by index: plain structs, which the host fills for
// each launch. C++17, for nvcc.
//
// All calls are a nest over a target with the elements that indices name, values, and the indices;
// dense/movement/indexed.hpp does the same on the CPU.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// Steps of NestAxis in such a nest: bytes of the first three, and what the position adds to a key,
// or to the number of an index.
enum IndexedStep : unsigned { kOfValues, kOfTarget, kOfIndices, kOfKeys, kIndexedSteps };

struct IndexedNest {
  uint32_t rank;
  uint32_t unused;
  NestAxis axes[kMostAxes];  // innermost first
};

// Indices and where each one points: index * scale bytes from a position of the target. One that is
// not below the limit, as an unsigned number, is outside.
struct Indices {
  const unsigned char* data;
  int64_t scale;
  uint64_t limit;
  uint32_t bytes;  // of an index: 4 or 8
  uint32_t unused;
};

struct IndexCheckArgument {
  Indices indices;
  uint64_t first;               // number of the first index of this launch, in row-major order
  unsigned long long* finding;  // the least number of those that are outside
  uint32_t count;               // below 2^31
  uint32_t unused;
  IndexedNest nest;
};

struct TakeArgument {
  unsigned char* values;
  const unsigned char* target;
  Indices indices;
  uint32_t units;       // below 2^31: bytes that are moved at once
  uint32_t unit_shift;  // the logarithm of how many these are
  uint32_t as_bools;
  uint32_t unused;
  IndexedNest nest;
};

// ---- puts ----

// An entry is an index with its position. Entries of one key meet in the same elements of the
// target; sorted by key, and in their order where keys are equal, each such segment has one thread
// for each unit of what an index names, a column.

struct KeyArgument {
  Indices indices;
  uint32_t* keys;
  uint32_t* places;  // numbers of the entries
  uint32_t count;
  uint32_t unused;
  IndexedNest nest;
};

// A step of a sort, by one digit; equal digits stay in their order.
inline constexpr unsigned kDigitBits = 4;
inline constexpr unsigned kDigits = 1u << kDigitBits;
inline constexpr unsigned kTileItems = 16;  // of a thread, which are adjacent
inline constexpr unsigned kTile = kThreads * kTileItems;

struct SortArgument {
  const uint32_t* keys;
  const uint32_t* places;
  uint32_t* sorted_keys;
  uint32_t* sorted_places;
  uint32_t* counts;  // by digit, then by tile; then how many keys are before those
  uint32_t count;
  uint32_t tiles;
  uint32_t shift;  // of the digit
  uint32_t unused;
};

struct PutArgument {
  unsigned char* target;
  const unsigned char* values;
  Indices indices;
  const uint32_t* keys;
  const uint32_t* places;
  uint32_t count;  // entries
  uint32_t work;   // entries times columns, below 2^31
  uint32_t op;     // of tnr_binary_op
  ElementType type;
  uint32_t as_bools;
  uint32_t unit_shift;   // the logarithm of the bytes that are moved at once, or of an element's
  Divider columns_each;  // of an entry
  IndexedNest entries;
  IndexedNest columns;
};

}  // namespace tenure::cuda
