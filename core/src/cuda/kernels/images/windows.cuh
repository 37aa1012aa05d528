// Windows of images: which pixels of an image are under which element of a filter.
#pragma once

#include "cuda/kernels/elementwise.cuh"
#include "cuda/kernels/images/arguments.hpp"

namespace tenure::cuda {

// Steps are multiplied with places beyond the image too, whose products wrap.
TENURE_DEVICE uint64_t bytes_to(int32_t place, int64_t step) {
  return static_cast<uint64_t>(static_cast<int64_t>(place)) * static_cast<uint64_t>(step);
}

// The windows of a plain convolution, or of one phase of a transposed one, along one axis: window i
// begins at index i * scale - before of the image.
struct AxisWindows {
  uint32_t out_count;  // of the result's places: out_first, and others `out_scale` apart
  uint32_t out_first;
  uint32_t out_scale;
  uint32_t count;  // of a window's places
  int32_t scale;
  int32_t before;
  int32_t dilation;
  uint64_t weight_first;  // bytes
  uint64_t weight_step;
};

// Place y of the image and element k of the filter meet at place y * stride + k * dilation -
// padding of a transposed convolution's result. So places of it that are one stride apart, a phase,
// have the same elements of the filter, which are some steps apart, and read the image from later
// to earlier: a convolution by the mirrored filter (dense/image/conv2d_transposed.cpp, in the same
// order).
TENURE_DEVICE AxisWindows windows_of_phase(const ImageAxis& axis, uint32_t phase) {
  AxisWindows w = {};
  w.out_count = phase < axis.out ? (axis.out - phase - 1) / axis.stride + 1 : 0;
  w.out_first = phase;
  w.out_scale = axis.stride;
  w.scale = 1;
  w.dilation = 1;
  const uint32_t step = axis.stride / axis.common;
  const uint32_t place = phase + axis.padding;
  const uint32_t of_common = place / axis.common;
  if (of_common * axis.common != place) return w;
  const auto first =
      static_cast<uint32_t>(static_cast<uint64_t>(of_common % step) * axis.inverse % step);
  if (first >= axis.kernel) return w;
  w.count = (axis.kernel - 1 - first) / step + 1;
  if (w.count > 1) w.dilation = static_cast<int32_t>(axis.dilation / axis.common);
  const int32_t of_first =
      static_cast<int32_t>(place) - static_cast<int32_t>(first * axis.dilation);
  w.before =
      static_cast<int32_t>(w.count - 1) * w.dilation - of_first / static_cast<int32_t>(axis.stride);
  const uint32_t last = first + (w.count - 1) * step;
  w.weight_first = bytes_to(static_cast<int32_t>(last), axis.weight_step);
  w.weight_step = 0 - bytes_to(static_cast<int32_t>(step), axis.weight_step);
  return w;
}

TENURE_DEVICE AxisWindows windows_of(const ImageAxis& axis, bool is_transposed, uint32_t phase) {
  if (is_transposed) return windows_of_phase(axis, phase);
  AxisWindows w = {};
  w.out_count = axis.out;
  w.out_scale = 1;
  w.count = axis.kernel;
  w.scale = static_cast<int32_t>(axis.stride);
  w.before = static_cast<int32_t>(axis.padding);
  w.dilation = static_cast<int32_t>(axis.dilation);
  w.weight_step = static_cast<uint64_t>(axis.weight_step);
  return w;
}

// An element of a result.
struct ResultPlace {
  uint32_t image;
  uint32_t channel;
  uint32_t row;
  uint32_t column;
};
TENURE_DEVICE uint32_t take_rest(const Divider& divider, uint32_t& number) {
  const uint32_t quotient = quotient_of(divider, number);
  const uint32_t rest = number - quotient * divider.extent;
  number = quotient;
  return rest;
}
TENURE_DEVICE ResultPlace place_of(const ResultWalk& walk, uint32_t number) {
  ResultPlace place = {};
  if (walk.channels_first != 0) place.channel = take_rest(walk.channels, number);
  place.column = take_rest(walk.columns, number);
  place.row = take_rest(walk.rows, number);
  if (walk.channels_first == 0) place.channel = take_rest(walk.channels, number);
  place.image = number;
  return place;
}

// ---- poolings ----

// Elements along an axis: `count` from `first` on, `step` apart, all of them in the image.
struct WindowSpan {
  uint32_t first;
  uint32_t count;
  uint32_t step;
};

// index * in / out, rounded down or up.
TENURE_DEVICE uint32_t evenly(uint32_t index, const ImageAxis& axis, uint32_t rounding) {
  return static_cast<uint32_t>((static_cast<uint64_t>(index) * axis.in + rounding) / axis.out);
}

// The least count of steps that is no less than `places`.
TENURE_DEVICE uint32_t steps_over(uint32_t places, uint32_t step) {
  return step == 1 ? places : (places + step - 1) / step;
}

TENURE_DEVICE WindowSpan span_of(const ImageAxis& axis, bool is_adaptive, uint32_t index) {
  if (is_adaptive) {
    const uint32_t first = evenly(index, axis, 0);
    return {first, evenly(index + 1, axis, axis.out - 1) - first, 1};
  }
  const uint32_t begin = index * axis.stride;  // of the padded image
  const uint32_t skipped =
      begin < axis.padding ? steps_over(axis.padding - begin, axis.dilation) : 0;
  const uint32_t first = begin + skipped * axis.dilation - axis.padding;
  if (skipped >= axis.kernel || first >= axis.in) return {0, 0, 1};
  const uint32_t there = steps_over(axis.in - first, axis.dilation);
  const uint32_t left = axis.kernel - skipped;
  return {first, there < left ? there : left, axis.dilation};
}

// Elements along an axis by which a mean divides, of `inside` in the image.
TENURE_DEVICE double counted(const PoolArgument& argument, unsigned axis, uint32_t index,
                             uint32_t inside) {
  if (argument.counts_padding == 0) return static_cast<double>(inside);
  const ImageAxis& of = argument.axes[axis];
  return static_cast<double>(index + 1 < of.out ? of.kernel : argument.last_counts[axis]);
}

}  // namespace tenure::cuda
