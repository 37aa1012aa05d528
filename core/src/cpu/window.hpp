// Windows of images as the kernels see them: the elements that a pooling or a convolution of
// channels by themselves takes for each element of its result.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {

// Elements that are all read at one element of the windows: of adjacent channels, or of adjacent
// windows.
struct Tap {
  const Byte* data;
  int64_t step;  // bytes from place to place
};

// Lane l of place p of `out` takes in lane l of place p of each tap, one after the other. Lanes are
// adjacent elements.
struct Windows {
  const Tap* taps;
  int64_t tap_count;
  int64_t lanes;
  int64_t places;
  Byte* out;
  int64_t out_step;  // bytes from place to place
  // Weights of the taps, for sums of products: one for all lanes, or one for each lane. All places
  // have the same weights.
  const Byte* weights;
  int64_t weight_step;  // bytes from tap to tap
  bool continues;       // the elements of `out` are taken in first
  // For sum_in_runs: the rounding errors of the sums, as far apart as these, and whether this is
  // the last call for them.
  Byte* lost;
  bool ends;
};

// A mean of at most kMostInTurn elements adds one after the other. A mean of more adds runs of that
// many, and the runs with their rounding errors: its error does not grow with the window.
inline constexpr int64_t kMostInTurn = 64;

using WindowKernel = void (*)(const Windows&);

// ---- sums of 3 by 3 products at every row and column ----

// Some rows of a result are computed together, so that rows of the image are read once and a half
// times and not three times.
inline constexpr int kStencilSide = 3;
inline constexpr int kStencilRows = 4;     // of the result
inline constexpr int kStencilColumns = 2;  // of the result, where channels are lanes
inline constexpr int kStencilInRows = kStencilRows + kStencilSide - 1;
inline constexpr int kStencilInColumns = kStencilColumns + kStencilSide - 1;

// Lines of an image that are fetched into the second cache while the same number of others are
// read.
struct Ahead {
  const Byte* lines[kStencilRows];
  int64_t step;  // bytes from each of them to the one after it
};

// Where pixels are lanes: adjacent ones, of one filter.
struct PixelStencil {
  const Byte* rows[kStencilInRows];  // of the image: under the first column of the first window
  int64_t begin;                     // of the elements that are there, counted from these ones;
  int64_t end;                       // the others are zeros
  int64_t columns;                   // of the result
  Byte* out[kStencilRows];
  bool streams;  // past the caches: `out` begins with lines, which are whole
  const Byte* weights;
  Ahead ahead;
};

// Where adjacent channels are lanes.
struct ChannelStencil {
  Tap taps[kStencilInRows][kStencilInColumns];  // with steps from pair to pair
  int64_t pairs;                                // of columns of the result
  int64_t lanes;
  struct Column {
    Byte* data;
    int64_t step;
  };
  Column out[kStencilRows][kStencilColumns];
  bool streams;
  // A line of lanes for each place of the kernel, then those of the lanes behind; the last ones end
  // in zeros.
  const Byte* weights;
  Ahead ahead;
};

// ---- windows at every second column ----

// Where pixels are lanes: adjacent windows of columns that are adjacent, each two elements behind
// the one before. Results of fewer columns than a vector has lanes are folded one by one.
struct SecondColumns {
  const Byte* const* rows;  // of the image: under the first column of the first window
  int64_t row_count;
  int64_t width;    // of a window: kLeastSecondWidth to kMostSecondWidth; any, if columns are few
  int64_t columns;  // of the result
  Byte* out;
  // Lines that are fetched into the second cache meanwhile: two rows by two columns for each of the
  // result's.
  const Byte* ahead;
};
inline constexpr int64_t kLeastSecondWidth = 2;
inline constexpr int64_t kMostSecondWidth = 3;

// ---- gradients ----

// One window of each lane, and the gradients of their results, which are added to elements of `out`
// one lane after the other.
struct WindowGradients {
  const Byte* a;  // the first element of the first window; not read for a mean
  Byte* out;
  const Byte* g;
  int64_t rows;  // elements of a window, at least one by one
  int64_t columns;
  int64_t a_steps[2];  // from row to row and from column to column of a window, in bytes
  int64_t out_steps[2];
  int64_t lanes;
  int64_t a_lane_step;
  int64_t out_lane_step;
  int64_t g_lane_step;
  double divisor;  // for a mean
};

// Adjacent lanes of pixels, whose products are added to adjacent sums, one pixel after the other.
struct PixelProducts {
  const Byte* a;
  const Byte* g;
  int64_t a_step;  // bytes from pixel to pixel
  int64_t g_step;
  int64_t pixels;
  int64_t lanes;
  Byte* sums;
};

// Kernels of one element type. Sums begin at 0, maxima at negative infinity.
struct WindowKernels {
  WindowKernel max;
  WindowKernel sum;
  WindowKernel sum_in_runs;  // calls that continue begin with a run
  // By FMA where the set has it.
  WindowKernel weigh_taps;   // one weight for all lanes
  WindowKernel weigh_lanes;  // adjacent weights for the lanes
  // Add products as weigh_taps and weigh_lanes do, in the same order of additions.
  void (*weigh_pixel_stencil)(const PixelStencil&);
  void (*weigh_channel_stencil)(const ChannelStencil&);
  // Whether a vector is a line. Where it is half of one, results go past the caches from a tile:
  // halves of as many lines as ChannelStencil has places would leave one by one. Measured for
  // adjacent channels under AVX2, from memory: 2.7 times as long.
  bool vectors_are_lines;
  // Fold windows at every second column as max and sum do, in the same order.
  void (*max_second_columns)(const SecondColumns&);
  void (*sum_second_columns)(const SecondColumns&);
  int64_t lanes;  // of a vector
  // Adds each gradient to the first greatest element of its window, which is the first NaN where
  // there is one.
  void (*add_to_greatest)(const WindowGradients&);
  // Adds each gradient, divided, to all elements of its window.
  void (*spread)(const WindowGradients&);
  // By FMA where the set has it.
  void (*add_products)(const PixelProducts&);
  // Elements 0, 2, 4... and 1, 3, 5... of `count` adjacent ones.
  void (*split)(const Byte* from, int64_t count, Byte* even, Byte* odd);
};

}  // namespace tenure::kernels
