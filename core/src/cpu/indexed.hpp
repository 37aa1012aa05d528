// The border of the kernels that find elements by index.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Elements k < count of `in` and `out`. Both have steps in bytes; one of them adds offsets[k] bytes
// to the address of element k.
struct IndexedStrip {
  int64_t count;
  Byte* out;
  int64_t out_step;
  const Byte* in;
  int64_t in_step;
  const int64_t* offsets;
  int64_t width_bytes;  // of an element
};
using IndexedKernel = void (*)(const IndexedStrip&);

// Indices as offsets: the offset of element k is index k times `scale`.
struct IndexRun {
  int64_t count;
  const Byte* indices;
  int64_t step;  // bytes from one index to the next
  int64_t scale;
};

inline constexpr unsigned kCombineCount = 4;        // add mul min max
inline constexpr unsigned kBool8Row = kWidthCount;  // of elements that are normalised

struct Indexing {
  void (*offsets[kIndexTypeCount])(const IndexRun&, int64_t* offsets);
  // By Width, and bool8: out[k] = in[k + offsets[k]].
  IndexedKernel take[kWidthCount + 1];
  // By Width, and bool8: out[k + offsets[k]] = in[k], in the order of k.
  IndexedKernel put[kWidthCount + 1];
  // out[k + offsets[k]] = op(out[k + offsets[k]], in[k]), in the order of k; nullptr: the dtype is
  // not supported.
  IndexedKernel combine[kCombineCount][kTypeCount];
};

}  // namespace tenure::kernels
