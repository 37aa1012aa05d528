// Products by weights of 4 bits.
#pragma once

#include "dense/product/packed_factor.hpp"
#include "tenure/quantize.hpp"

namespace tenure {

// tnr_quantized_matmul() by a factor that has its scales. Returns the bytes that were read. The
// names are those of scales and zeros that the call must not have.
std::uint64_t multiply_nibbles(const Context& context, const QuantizedFactor& a,
                               const PackedFactor& b,
                               const tnr_quantized_matmul_attributes& attributes,
                               const tnr_view_mut& out);

}  // namespace tenure
