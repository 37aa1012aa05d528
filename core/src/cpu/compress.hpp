// The border of the kernels that take entries out of dense elements.
//
// Elements are read in words of 64: `predicate_mask` makes one bit of each element, `compress`
// moves those with a bit. In between the caller learns how many entries there are, and so where
// they go; the elements are then still in a cache.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

inline constexpr int64_t kWordElements = 64;

// The predicate that makes elements entries: on their bits, as a kernel knows widths and no types.
// Only the low bits of each number count, in the width of an element.
struct Predicate {
  enum class Kind : uint8_t {
    kMasked,   // those with bits & mask not 0
    kOutside,  // those whose key is below low or above high
  };
  static constexpr unsigned kKindCount = 2;

  Kind kind;
  uint64_t mask;
  // The key orders elements as signed integers: bits ^ bias, and where the sign bit is set, also
  // ^ flip.
  uint64_t flip;
  uint64_t bias;
  int64_t low;
  int64_t high;
};

// Lines that will be marked soon: they are brought into the second cache meanwhile, a few with each
// word, because the memory is idle while bits are turned into entries.
struct PrefetchCursor {
  const Byte* next;
  const Byte* end;

  __attribute__((always_inline)) void fetch(unsigned lines) {
    if (next >= end) return;
    for (unsigned line = 0; line < lines; ++line) __builtin_prefetch(next + line * 64, 0, 2);
    next += lines * 64;
  }
};

// Adjacent elements of a row-major matrix, and a bit mask of them.
struct MaskedElements {
  int64_t count;
  const Byte* in;
  uint64_t* bits;  // element i is bit i % 64 of word i / 64; those behind the last are 0
  int64_t row;     // of element 0
  int64_t column;  // of element 0
  int64_t columns;
  PrefetchCursor* ahead;
};

// Output of the entries of a run, one after the other. Each is written kSlackBytes past its end
// too, so these are buffers of the caller's own.
struct Entries {
  Byte* values;
  Byte* columns;
  Byte* rows;  // nullptr: rows are not written
};
inline constexpr int64_t kSlackBytes = 256;

// Counter-based dropout: drops the elements whose random word, a function of the seed and the
// element's index, is below `bound`, which is at most 2^32.
struct Chance {
  uint64_t seed;
  uint64_t bound;
};

// Sets the bits; returns the number of ones.
using MaskKernel = int64_t (*)(const MaskedElements&, const Predicate&);
// Moves the elements that have a bit; returns their number.
using Compressor = int64_t (*)(const MaskedElements&, const Entries&);
// Writes offsets[row + 1] of each row that ends in the run, from run.row on; `before` is the number
// of entries in front of the run.
using RowCounter = void (*)(const MaskedElements&, int64_t before, Byte* offsets);

// A row of blocks of a dense matrix, and how far it has been taken.
struct BlockRow {
  const Byte* in;    // its first element; the elements of a line are adjacent
  int64_t row_step;  // bytes from one line to the next
  Blocks blocks;
  const uint64_t* bits;  // that of a block's first column: whether it is there; all else is 0
  int64_t words;
  int64_t word;  // the next of `left`; -1 before the first
  uint64_t left;
  PrefetchCursor* ahead;
};
struct BlockTaking {
  // Makes of the bits of `column_count` columns, each whether some line of it has an entry, those
  // of a BlockRow; returns how many blocks there are. `columns` are those of a block, 16 at most.
  int64_t (*fold)(uint64_t* bits, int64_t words, int64_t column_count, int64_t columns);
  // Moves the next `most` blocks, or all that are left if they are fewer, and writes the column of
  // each; returns how many it moved. By width of the indices: k4, k8.
  int64_t (*take[2])(BlockRow&, int64_t most, Byte* values, Byte* columns);
};

// Clears the bits of elements that dropout removes; bit 0 is element `first`. Returns the number of
// bits left.
using DropoutKernel = int64_t (*)(uint64_t* bits, int64_t words, uint64_t first, const Chance&);

// Writes the index of each bit that is 1, up to kMostPositions, and up to kMorePositions numbers
// behind them; returns how many. So entries are taken one by one without an unpredictable branch.
using Lister = int64_t (*)(const uint64_t* bits, int64_t words, uint16_t* indices);
inline constexpr int64_t kMostPositions = 65536;
inline constexpr int64_t kMorePositions = 64;

struct Compression {
  const MaskKernel (*predicate_mask)[4];  // by kind of Predicate, by width up to k8
  const Compressor (*compress)[2];        // by width up to k8, by width of the indices: k4, k8
  const RowCounter* count_rows;           // by width of the offsets: k4, k8
  const BlockTaking* blocks;
  Lister list_bit_indices;
  DropoutKernel dropout_mask;
};

}  // namespace tenure::kernels
