// The kernels of element-wise operations and of movement, as kernels.hpp takes them.
#pragma once

// clang-format off
#define TENURE_ELEMENTWISE_KERNELS(KERNEL) \
  KERNEL(number_f64) KERNEL(number_f32) \
  KERNEL(unary_8) KERNEL(unary_16) KERNEL(unary_32) KERNEL(unary_64) \
  KERNEL(function_f64) KERNEL(function_f32) \
  KERNEL(angle_f64) KERNEL(angle_f32) \
  KERNEL(function2_f64) KERNEL(function2_f32) \
  KERNEL(binary_f64) KERNEL(binary_f32) KERNEL(binary_8) KERNEL(binary_16) KERNEL(binary_32) KERNEL(binary_64) \
  KERNEL(ternary_f64) KERNEL(ternary_f32) KERNEL(ternary_8) KERNEL(ternary_16) KERNEL(ternary_32) KERNEL(ternary_64) \
  KERNEL(compare_f64) KERNEL(compare_f32) KERNEL(compare_f16) KERNEL(compare_8) KERNEL(compare_16) KERNEL(compare_32) KERNEL(compare_64) \
  KERNEL(question_f64) KERNEL(question_f32) KERNEL(question_f16) \
  KERNEL(cast_f64) KERNEL(cast_f32) KERNEL(cast_i64) \
  KERNEL(copy_1) KERNEL(copy_2) KERNEL(copy_4) KERNEL(copy_8) KERNEL(copy_16) \
  KERNEL(select_1) KERNEL(select_2) KERNEL(select_4) KERNEL(select_8) \
  KERNEL(triangle_1) KERNEL(triangle_2) KERNEL(triangle_4) KERNEL(triangle_8) \
  KERNEL(transpose_1) KERNEL(transpose_2) KERNEL(transpose_4) KERNEL(transpose_8) KERNEL(transpose_16)
// clang-format on
