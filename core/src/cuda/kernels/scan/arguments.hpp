// The argument of the kernels of scans: a plain struct, which the host fills for each launch. C++17,
// for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// Elements that a thread takes in a round, one behind the other along the axis.
inline constexpr unsigned kScanItems = 8;

// Steps of NestAxis.
enum ScanStep : unsigned { kScanIn, kScanOut, kScanSteps };

// The operation on numbers that meet. The least is the greatest of the opposites.
enum class ScanRule : uint32_t { kSum, kProduct, kGreatest };

// A row has segments, and a segment a group of 2^lanes_shift threads: one, a warp or a block.
// Groups are numbered row by row of the first segments, then of the next ones, so that adjacent
// threads with a segment each have adjacent elements where rows are adjacent.
//
// Numbers of floats are f64, some with an exponent, and those of integers have 64 bits. Bits of
// `bias` are changed where they are compared: so integers are in the order of unsigned numbers, and
// the least is the greatest.
struct ScanArgument {
  const unsigned char* in;
  unsigned char* out;            // nullptr: only totals are computed
  unsigned char* totals;         // a number for each segment, those of a row together; or nullptr
  const unsigned char* carries;  // likewise, what is before the segment; nullptr: nothing
  int64_t in_step;               // bytes along the axis
  int64_t out_step;
  int64_t length;          // elements of a row
  int64_t segment_length;  // a multiple of what a group takes in a round
  uint64_t start;          // bits of the number that changes no other
  uint64_t bias;
  Divider rows;
  uint32_t groups;    // below 2^31
  uint32_t segments;  // of a row
  uint32_t lanes_shift;
  ScanRule op;
  ElementType type;  // of floats
  ElementType out_type;
  uint32_t in_shift;  // the logarithm of an integer's bytes
  uint32_t out_shift;
  uint32_t is_signed;     // integers
  uint32_t is_exclusive;  // an element is not a part of its own result
  uint32_t has_numbers;   // elements and results are numbers of the rule: totals
  uint32_t rank;
  NestAxis axes[kMostAxes];  // of rows, innermost first
};

}  // namespace tenure::cuda
