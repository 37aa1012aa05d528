// Windows of images as the kernels see them: what lies under each element of a pooling or of a
// convolution of channels by themselves.
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
  // Those of sums of products, of each tap, for all lanes or for each; places have the same.
  const Byte* weights;
  int64_t weight_step;  // bytes from tap to tap
  bool continues;       // what `out` has is taken in first
};

using WindowKernel = void (*)(const Windows&);

// Kernels of one element type. Sums begin at 0, maxima at negative infinity.
struct WindowKernels {
  WindowKernel max;
  WindowKernel sum;
  // By FMA where the set has it.
  WindowKernel weigh_taps;   // one weight for all lanes
  WindowKernel weigh_lanes;  // adjacent weights for the lanes
  // Elements 0, 2, 4... and 1, 3, 5... of `count` adjacent ones.
  void (*split)(const Byte* from, int64_t count, Byte* even, Byte* odd);
};

}  // namespace tenure::kernels
