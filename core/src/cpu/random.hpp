// The border of the kernels that make random numbers.
//
// A number follows from a seed and its place alone: which words of which block of Philox4x32-10 are
// a place's, and what becomes of them, is stated in docs/random.md for those who make the same
// numbers elsewhere.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Numbers of adjacent places, written side by side.
struct RandomRun {
  uint64_t seed;
  uint64_t first;  // place
  int64_t count;
  Byte* out;
  const void* parameters;  // of the distribution
};

// low + scale * unit * (the word without its lowest bits), at most `most`: each rounded to the type
// that is computed.
struct UniformParameters {
  double low;
  double scale;
  double most;
  double unit;
  uint32_t unused_bits;  // of a word; f64 has 53 of two words always
};
struct NormalParameters {
  double mean;
  double deviation;
};
// Places have two words: least + the upper 64 bits of (words * count), modulo 2^64.
struct IntegersParameters {
  uint64_t least;
  uint64_t count;  // 0: 2^64
};
// 1 where the place's word is below that, else 0.
struct BernoulliParameters {
  uint64_t bound;  // at most 2^32
};

using RandomKernel = void (*)(const RandomRun&);

struct RandomKernels {
  RandomKernel uniform[2];  // f64, f32
  RandomKernel normal[2];   // f64, f32
  RandomKernel integers;    // of 64 bits
  RandomKernel bernoulli;   // of a byte
};

}  // namespace tenure::kernels
