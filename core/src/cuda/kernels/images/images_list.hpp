// The kernels of images, as kernels.hpp takes them: by the type that is computed in, and the tiled
// ones by the sums of a thread along each side of its tile.
#pragma once

// clang-format off
#define TENURE_IMAGE_KERNELS(KERNEL) \
  KERNEL(conv_f32_8) KERNEL(conv_f32_4) KERNEL(conv_f64_4) \
  KERNEL(conv_direct_f32) KERNEL(conv_direct_f64) \
  KERNEL(filters_f32_8) KERNEL(filters_f32_4) KERNEL(filters_f64_4) \
  KERNEL(filters_direct_f32) KERNEL(filters_direct_f64) \
  KERNEL(pool_f32) KERNEL(pool_f64) \
  KERNEL(pool_greatest_f32) KERNEL(pool_greatest_f64) \
  KERNEL(pool_gradient_f32) KERNEL(pool_gradient_f64)
// clang-format on
