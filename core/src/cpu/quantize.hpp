// Numbers as integers of 8 bits with a scale and a zero point: number = (value - zero) * scale.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Types of integers: rows of the tables.
enum class ByteType : uint8_t { kI8, kU8 };
inline constexpr unsigned kByteTypeCount = 2;

// Finite elements are between the two, and so is 0.
struct Range {
  float least;
  float greatest;
};
// The quantization of adjacent elements by a scale of their own.
struct RowQuantizing {
  Range (*range)(const Byte* in, int64_t count);
  // The greatest magnitude of finite elements; 0 where there are none.
  float (*greatest)(const Byte* in, int64_t count);
  // Without a zero point: values are -most to most, an integer.
  void (*quantize)(const Byte* in, int64_t count, float scale, float most, Byte* out);
  // Gives each of adjacent groups a scale: its greatest magnitude divided by 127, or 1. A term is -8 times the sum of the group's values.
  void (*groups)(const Byte* in, int64_t count, int64_t group, float* scales, int32_t* terms,
                 Byte* out);
};

// Exact sums of products of integers, which become numbers in their memory, f32 in place of i32:
//     (sum - row_zeros * column_sums - row_sums * column_zeros) * (row_scales * column_scales)
// The terms of zero points wrap as the sums do. Arrays have a number for each row or column.
struct SumScaling {
  const float* row_scales;
  const float* column_scales;
  const int32_t* row_zeros;     // of the left factor; nullptr: 0
  const int32_t* column_sums;   // of the right factor's values
  const int32_t* row_sums;      // of the left factor's values less their zeros
  const int32_t* column_zeros;  // of the right factor; nullptr: 0

  // For the transpose of the result.
  [[nodiscard]] constexpr SumScaling transposed() const {
    return {column_scales, row_scales, column_zeros, row_sums, column_sums, row_zeros};
  }
};
// A part of a result. Steps are in bytes, of any sign.
struct ScaledSums {
  Byte* sums;
  int64_t row_step;
  int64_t column_step;
  int64_t rows;
  int64_t columns;
  SumScaling by;  // from its first row and column on
};

struct QuantizingKernels {
  // Inputs are a number, a scale of f32 and a zero of the output's type.
  Elementwise quantize[3][kByteTypeCount];  // of f32, f16, bf16
  // Inputs are an integer, a scale of f32 and a zero of the integer's type.
  Elementwise dequantize[kByteTypeCount][3];
  RowQuantizing rows[3];
  void (*scale_sums)(const ScaledSums& part);
};

}  // namespace tenure::kernels
