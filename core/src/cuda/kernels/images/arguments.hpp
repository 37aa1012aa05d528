// The arguments of the kernels of images: plain structs, which the host fills for each launch.
// C++17, for nvcc.
#pragma once

#include <stdint.h>

#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

// Down, and right.
inline constexpr unsigned kImageAxes = 2;

// Windows along one axis. All places, also those in the padding, are below 2^31.
struct ImageAxis {
  uint32_t in;      // the extent of the image that is read
  uint32_t out;     // that of the result
  uint32_t kernel;  // its places
  uint32_t stride;
  uint32_t dilation;
  uint32_t padding;  // before the image
  // For a transposed convolution: the greatest common divisor of stride and dilation, and the
  // inverse of dilation / common modulo stride / common.
  uint32_t common;
  uint32_t inverse;
  int64_t in_step;  // in bytes
  int64_t out_step;
  int64_t weight_step;
};

// The elements of a result one after the other, below 2^31.
struct ResultWalk {
  uint32_t count;
  uint32_t channels_first;  // 1: adjacent elements are those of one pixel; 0: of one channel
  Divider channels;
  Divider rows;
  Divider columns;
  uint32_t unused;
};

struct ConvArgument {
  const unsigned char* a;
  const unsigned char* weight;
  const unsigned char* bias;  // nullptr: none
  unsigned char* out;
  ImageAxis axes[kImageAxes];
  int64_t a_image_step;  // in bytes, all of them
  int64_t a_channel_step;
  int64_t a_group_step;
  int64_t weight_filter_step;
  int64_t weight_channel_step;
  int64_t weight_group_step;
  int64_t out_image_step;
  int64_t out_filter_step;
  int64_t out_split_step;
  int64_t bias_step;
  // Numbers are in the low bits, in the type of the sums.
  uint64_t low;
  uint64_t high;
  uint32_t images;
  uint32_t groups;
  uint32_t channels;  // of a group
  uint32_t filters;   // of a group
  ElementType type;
  ElementType out_type;
  uint32_t is_transposed;
  uint32_t is_bounded;
  // For gradients of filters: a split has the products of some of the kernel's rows and of some
  // channels, and a result of its own.
  uint32_t row_splits;
  uint32_t rows_of_split;
  uint32_t channels_of_split;
  // Of tiles. Phases are the convolutions of a transposed one.
  uint32_t column_phases;
  uint32_t pixel_tiles;  // of a phase: as many as the largest has
  uint32_t filter_tiles;
  // 1: threads read groups along the depth; 0: from pixel to pixel, or filter to filter.
  uint32_t a_is_along_depth;
  uint32_t weight_is_along_depth;
  // 1: four elements along the depth can be read at once, and are of one place of the filter.
  uint32_t a_has_vectors;
  uint32_t weight_has_vectors;
  uint32_t writes_filters;  // 1: from filter to filter; 0: from pixel to pixel
  uint32_t writes_vectors;  // 1: a group of these can be written at once
  // For gradients of filters: 1: adjacent pixels are of different images; 0: of different columns.
  uint32_t images_are_next;
  // For the kernel of single elements.
  uint32_t split_blocks;
  ResultWalk walk;
  Divider group_filters;
  uint32_t unused;
};

struct PoolArgument {
  const unsigned char* a;
  unsigned char* out;
  ImageAxis axes[kImageAxes];
  int64_t a_image_step;
  int64_t a_channel_step;
  int64_t out_image_step;
  int64_t out_channel_step;
  ElementType type;
  uint32_t is_max;
  uint32_t is_adaptive;  // 1: windows cover the image evenly
  uint32_t counts_padding;
  // Elements along an axis that the last window has with its padding: it may end beyond that.
  uint32_t last_counts[kImageAxes];
  ResultWalk walk;
};

// The gradient of a pooling.
struct PoolGradientArgument {
  // From `a` to the gradients, whose steps are those of its result. `walk` is of the gradients, and
  // `out` is not used.
  PoolArgument windows;
  const unsigned char* g;
  unsigned char* out;
  // For a maximum: the place in its image of each window's greatest element.
  uint32_t* places;
  int64_t out_image_step;
  int64_t out_channel_step;
  int64_t out_steps[kImageAxes];
  // From place to place of windows.
  uint32_t place_image_step;
  uint32_t place_channel_step;
  uint32_t place_steps[kImageAxes];
  ResultWalk walk;  // of `out`
};

}  // namespace tenure::cuda
