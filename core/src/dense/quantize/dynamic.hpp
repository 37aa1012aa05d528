// Quantization by scales that are chosen from the numbers.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"

namespace tenure {

// The scale and the zero point, before it is of a dtype, of numbers from `least` to `greatest`. Both
// are finite; the range that the integers have includes 0.
struct AffineScale {
  float scale;
  int zero;
};
// `first` is the least integer of the dtype.
AffineScale affine_scale(float least, float greatest, int first) noexcept;

// Computes tnr_quantize_dynamic() of checked and pinned operands, but does not count the call.
void quantize_rows(const Context& context, const tnr_view& a, const tnr_view_mut& scales,
                   const tnr_view_mut* zeros, const tnr_view_mut& out, std::uint32_t bits = 8);

}  // namespace tenure
