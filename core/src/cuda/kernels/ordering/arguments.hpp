// The arguments of the kernels of orders along an axis: plain structs, which the host fills for each
// launch. C++17, for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// Steps of NestAxis: those of rows in each operand.
enum OrderStep : unsigned { kOrderIn, kOrderOut, kOrderIndices, kOrderSteps };

// An element's number is that of its row times the extent of the axis, and its index along it.
struct OrderedRows {
  const unsigned char* in;
  int64_t in_step;         // bytes along the axis
  Divider extent;          // of the axis
  uint32_t count;          // elements, below 2^31
  uint32_t element_shift;  // the logarithm of an element's bytes
  uint32_t rank;
  NestAxis axes[kMostAxes];  // of rows, innermost first
};

// A word of the keys, from the least significant on; after the words of the elements the word of
// their rows, so that all rows are sorted at once. The keys follow kernels::KeyRule: they are
// unsigned numbers in the order of the elements, zeros of a float have one key, and NaN the
// greatest.
struct OrderKeysArgument {
  OrderedRows rows;
  const uint32_t* places;  // numbers of elements in the order so far; nullptr: their own
  uint32_t* own_places;    // where these are written; nullptr where there are places
  uint32_t* keys;
  uint64_t sign;      // the bit that is changed; of unsigned numbers 0
  uint64_t infinity;  // bits of a float's; 0: no float
  uint64_t flip;
  uint64_t ones;  // all bits of an element
  uint32_t word;
  uint32_t is_truth;  // any byte but 0 is true
  uint32_t is_of_rows;
  uint32_t unused;
};

// Elements of each row in their order, the first `kept` of them.
struct OrderStoreArgument {
  OrderedRows rows;
  const uint32_t* places;  // nullptr: as they are
  unsigned char* out;      // or nullptr
  unsigned char* indices;  // or nullptr
  int64_t out_step;        // bytes along the axis
  int64_t indices_step;
  Divider kept;
  uint32_t count;  // of all rows
  uint32_t is_truth;
};

}  // namespace tenure::cuda
