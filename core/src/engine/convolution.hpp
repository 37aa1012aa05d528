// Descriptions of convolutions for engines that are not the library's own.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure::engines {

// Images and weights are of one dtype. Steps in elements, of any sign; those of an extent of 1 are
// of no account.
struct Convolution {
  struct Image {
    std::int64_t image_step;
    std::int64_t channel_step;
    std::int64_t place_steps[2];  // down and right
  };
  std::int64_t images;
  std::int64_t groups;
  std::int64_t channels;  // of a group
  std::int64_t filters;   // of a group
  std::int64_t in[2];     // height and width
  std::int64_t kernel[2];
  std::int64_t out[2];
  std::int64_t strides[2];
  std::int64_t padding[2];  // above and left
  std::int64_t dilations[2];
  Image a;
  Image weight;  // filters for images
  std::int64_t weight_group_step;
  Image result;
  bool has_bias;
};
struct ConvolutionMemory {
  const void* a;
  const void* weight;
  const void* bias;  // adjacent numbers, one for each filter
  void* out;
};

enum class ImageOrder : std::uint8_t { kChannelsFirst, kChannelsLast };

// The steps of images that lie densely in that order.
Convolution::Image dense_steps(ImageOrder order, std::int64_t channels,
                               const std::int64_t (&extents)[2]) noexcept;

// Whether an operand lies densely in that order. Extents of 1 are of both.
bool a_lies_in(ImageOrder order, const Convolution& c) noexcept;
bool result_lies_in(ImageOrder order, const Convolution& c) noexcept;
bool weight_lies_in(ImageOrder order, const Convolution& c) noexcept;

// Whether each operand has an element, and `most` at most, and strides, dilations and the padding
// are from 0 to `most`.
bool is_bounded_by(std::int64_t most, const Convolution& c) noexcept;

}  // namespace tenure::engines
