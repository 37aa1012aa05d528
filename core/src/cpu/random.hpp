// The border of the kernels that make random numbers.
//
// A number depends only on a seed and its place. docs/random.md states the block of Philox4x32-10
// and the words of it that belong to a place, and how a number follows from them, so that other
// programs can make the same numbers.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Numbers of adjacent places, written to adjacent elements.
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
// 1 where the place's word is below `bound`, else 0.
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
