// Convolutions by parts: a plain one is a single part, a transposed one has a part for each offset
// within its strides.
#pragma once

#include <cstdint>

#include "dense/activation.hpp"
#include "dense/image/geometry.hpp"
#include "tenure/blob.hpp"

namespace tenure {

// Filters of a channel that are folded from where it lies; for more of them, packed pixels are
// worth the packing.
inline constexpr std::int64_t kMostDepthwiseFilters = 8;

class PackedFilters;

struct ConvolutionOperands {
  const tnr_view& a;
  const tnr_view& weight;
  const tnr_view* bias;  // nullptr: none
  const tnr_view_mut& out;
  const PackedFilters* packed = nullptr;  // the weight's, which a single part may read
};

// Pins their owners. Throws what dtypes that differ and memory that is shared deserve.
class PinnedOperands {
 public:
  explicit PinnedOperands(const ConvolutionOperands& of);
  [[nodiscard]] const Pins& pins() const noexcept { return pins_; }

 private:
  Pins pins_;
};

// A convolution of all images to some of the result's pixels. Offsets in bytes, of the first
// filter's first element and of the first pixel.
struct ConvolutionPart {
  WindowGeometry geometry;
  std::int64_t weight_offset;
  std::int64_t out_offset;
};
// Each pixel of the result is in one of them.
struct ConvolutionParts {
  std::int64_t count;
  const void* with;
  ConvolutionPart (*part)(const void* with, std::int64_t index);
};

// A geometry of sums of nothing.
inline void leave_bias_alone(WindowGeometry& g) noexcept {
  g.channels = 0;
  g.kernel[kHeight] = g.kernel[kWidth] = 1;
  g.dilations[kHeight] = g.dilations[kWidth] = 1;
  g.weight = {};
  g.weight_group = 0;
}

// The shape that `out` must have says how many, those of the view `filters_of`.
void require_bias(const tnr_view* bias, const tnr_view& out, const char* filters_of);

class WideConvolution;

// The views are checked, and their shapes agree. Throws what their dtypes and memory deserve, or
// OUT_OF_MEMORY. `wide` has the operands `of` as its wide ones, or is nullptr.
void convolve(const Context& context, tnr_operation operation, const char* name,
              const ConvolutionOperands& of, const WideConvolution* wide,
              const Activation& activation, const ConvolutionParts& parts);

}  // namespace tenure
