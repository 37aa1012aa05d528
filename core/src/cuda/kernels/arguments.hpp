// The arguments of the kernels of element-wise operations and of movement: plain structs; the host
// fills one for each launch. C++17, for nvcc.
#pragma once

#include <stdint.h>

namespace tenure::cuda {

// Threads of a block of these kernels.
inline constexpr unsigned kThreads = 256;

// Axes of a nest: eight, and one within an element of a width that no kernel has.
inline constexpr unsigned kMostAxes = 9;
inline constexpr unsigned kMostInputs = 3;

// Bytes of a group of adjacent elements, in the type of the computation.
inline constexpr unsigned kGroupBytes = 16;

// Elements that a thread takes one by one.
inline constexpr unsigned kMostRestItems = 4;

// The type of an element that is computed; the real dtypes in the order of cpu/kernel.hpp.
enum class ElementType : uint32_t {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool8
};

// A number below 2^31 divided by the extent is (upper half of number * multiplier + number) >>
// shift (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994).
struct Divider {
  uint32_t extent;
  uint32_t multiplier;
  uint32_t shift;
};

// Positions along the axis, and bytes from one to the next of the output and of each input.
struct NestAxis {
  Divider divider;
  uint32_t unused;
  int64_t steps[1 + kMostInputs];
};

// A call has vectors, groups of adjacent elements that a thread reads at once, in the first
// `vector_blocks` blocks, and elements one by one in those after them.
struct ElementwiseArgument {
  // Address of vector 0.
  unsigned char* out;
  const unsigned char* in[kMostInputs];
  // Address of element 0 of those that are taken one by one.
  unsigned char* rest_out;
  const unsigned char* rest_in[kMostInputs];
  // Set to 1 where an element is found that the operation does not take; nullptr where none can be.
  uint32_t* finding;

  uint64_t vector_count;
  uint32_t vector_blocks;
  uint32_t rest_count;  // below 2^31
  uint32_t op;          // of the family
  ElementType type;     // of the inputs
  ElementType out_type;
  // By bits, of the inputs: one element that is repeated, in `number` or in memory.
  uint32_t numbers;
  uint32_t repeated;
  // 1: the axes are those of vectors, and vectors are below 2^31. 0: vectors are adjacent, and the
  // axes are those of elements.
  uint32_t nested_vectors;
  uint32_t rank;  // at least 1
  // Bytes of a vector, where the kernel's dtypes do not say it.
  uint32_t out_vector_bytes;
  uint32_t in_vector_bytes;
  uint32_t unused;

  alignas(16) uint32_t number[4];
  NestAxis axes[kMostAxes];  // innermost first
};

// Tiles of a transposed copy: `columns` are adjacent in the output and `rows` in the input.
struct TransposeArgument {
  unsigned char* out;
  const unsigned char* in;
  uint32_t row_tiles;
  uint32_t column_tiles;
  uint32_t rows;
  uint32_t columns;
  int64_t out_row_step;    // bytes from one row of the output to the next
  int64_t in_column_step;  // bytes from one column of the input to the next
  uint32_t rank;           // of the other axes; 0: none
  uint32_t as_bools;       // 1: any byte but 0 is written as 1
  NestAxis axes[kMostAxes];
};

}  // namespace tenure::cuda
