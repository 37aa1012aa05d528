// Scans along rows of adjacent elements: the arguments that the driver of dense/scan passes to
// their loops, and the loops.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// A scan of one dtype. Its order is that of the elements in fours, counted from the start of a row:
// with a row's reduction c up to there, the four give c + a, c + (a + b), c + ((b + c) + a) and so
// on, as a vector of four does. Fours of floats that leave the range on the way are taken one after
// the other. No bit depends on the addresses of elements or on the instruction set.
struct ScanKernel {
  // Scans `count` elements, a multiple of four in all calls for a row except the last; `out` may be
  // exactly `in` where elements are as wide. nullptr: there is no such scan.
  void (*along)(const Byte* in, int64_t count, Byte* carry, Byte* out);
  uint64_t start;            // bits of the carry before the first element
  int64_t in_bytes;          // of an element as the loop reads it
  int64_t out_bytes;         // and as it writes it
  const Elementwise* load;   // converts adjacent elements to those; nullptr: they are
  const Elementwise* spill;  // and results to elements of the output; nullptr: they are
};

inline constexpr int64_t kScannedTogether = 4;

struct ScanKernels {
  ScanKernel by_type[kTypeCount];
};

}  // namespace tenure::kernels
