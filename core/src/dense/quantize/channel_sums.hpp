// Convolutions of channels by themselves, whose sums of few products of bytes are exact in f32.
#pragma once

#include "cpu/quantize.hpp"
#include "dense/product/epilogue.hpp"
#include "tenure/context.hpp"
#include "tenure/quantize.hpp"

namespace tenure {

struct ChannelSums {
  QuantizedFactor a;
  QuantizedFactor weight;  // one filter for each channel
  const tnr_conv2d_attributes& windows;
  kernels::SumScaling scaling;  // of each pixel of an image, and of each filter; without zeros
  const Epilogue& epilogue;
};

// Returns true for one filter of each of several channels, with so few places that sums are exact
// in f32.
bool are_channel_sums(const tnr_view& a, const tnr_view& weight) noexcept;

// `out` is f32, with adjacent channels. Throws OUT_OF_MEMORY.
void convolve_channels(const Context& context, const ChannelSums& of, const tnr_view_mut& out);

}  // namespace tenure
