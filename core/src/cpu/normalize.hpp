// Normalizations over rows of adjacent f64 or f32: the arguments that the driver of dense/normalize
// passes to their loops, and the loops. An output may be exactly an input.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// The sums of a row's elements so far: the greatest, and the sum of all e^(x - greatest) less 1,
// the power of a greatest one. Small powers next to it lose nothing. Before the first: minus
// infinity and -1.
struct PowerSum {
  double greatest = -__builtin_inf();
  double rest = -1;
};

// (x - mean) * scale * weight + bias.
struct Standard {
  double mean;  // plus mean_rest, so that nothing cancels
  double mean_rest;
  double scale;
  const Byte* weight;  // adjacent, one for each element; nullptr: 1
  const Byte* bias;    // the same; 0
};

struct NormalizeKernels {
  // Adds elements to a row's sum. `powers`, unless nullptr, gets e^(x - row.greatest) of each, with
  // the greatest of all so far; 0 stands for minus infinity there.
  void (*add_powers)(const Byte* in, int64_t count, PowerSum& row, Byte* powers);
  void (*scale)(const Byte* in, int64_t count, double factor, Byte* out);
  // e^(x - greatest) * factor.
  void (*scaled_powers)(const Byte* in, int64_t count, double greatest, double factor, Byte* out);
  // (x - greatest) - rest.
  void (*differences)(const Byte* in, int64_t count, double greatest, double rest, Byte* out);
  void (*standardize)(const Byte* in, int64_t count, const Standard& by, Byte* out);
  const Conversion* conversion;  // of 16-bit floats to f32; nullptr: elements are as they are
};

}  // namespace tenure::kernels
