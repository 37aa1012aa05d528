// Quantization by scales that are chosen from the numbers.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"

namespace tenure {

// Computes tnr_quantize_dynamic() of checked and pinned operands, but does not count the call.
void quantize_rows(const Context& context, const tnr_view& a, const tnr_view_mut& scales,
                   const tnr_view_mut* zeros, const tnr_view_mut& out, std::uint32_t bits = 8);

}  // namespace tenure
