// The kernels of sampled products: a pattern, and two dense operands of any strides.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// out[k] = alpha * (row i of x, times row j of y) [* values[k]] for each entry k, at row i, column
// j.
struct Sampled {
  int64_t block_rows;  // of an entry; 1 and 1 where there are no blocks
  int64_t block_cols;
  int64_t length;  // elements of a row of x and y
  const Byte* x;
  int64_t x_step;          // bytes from a row to the next
  int64_t x_element_step;  // bytes from an element of a row to the next
  const Byte* y;
  int64_t y_step;
  int64_t y_element_step;
  bool is_spaced;      // elements of a row of x or of y are not adjacent
  const Byte* alpha;   // one element of the type that is computed in
  const Byte* values;  // nullptr: the entries' own do not count
  Byte* out;           // row-major, as values
};

// Kernels of one element type. A sum is added up in 128 bytes of lanes, which are folded in halves.
struct Samplers {
  // Rows [begin, end) of the pattern.
  void (*rows[kIndexTypeCount])(const Sampled&, const Compressed& a, int64_t begin, int64_t end);
  // Its entries [begin, end).
  void (*entries[kIndexTypeCount])(const Sampled&, const Coordinates& a, int64_t begin,
                                   int64_t end);
};

}  // namespace tenure::kernels
