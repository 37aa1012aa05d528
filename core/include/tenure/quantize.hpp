// Quantized numbers: integers of 8 bits with scales and zero points next to them.
//
// The contracts are those of tnr_quantize(), tnr_quantize_dynamic() and tnr_dequantize().
#pragma once

#include "tenure/context.hpp"
#include "tenure/factor.hpp"
#include "tenure/status.hpp"

namespace tenure {

// nullptr: zeros of 0. `bits` are 8, or 4 of an i8 without zeros; 0 means 8.
void quantize(const Context& context, const tnr_view& a, const tnr_view& scales,
              const tnr_view* zeros, const tnr_view_mut& out);
void quantize_dynamic(const Context& context, const tnr_view& a, const tnr_view_mut& scales,
                      const tnr_view_mut* zeros, const tnr_view_mut& out, std::uint32_t bits = 8);
void dequantize(const Context& context, const tnr_view& a, const tnr_view& scales,
                const tnr_view* zeros, const tnr_view_mut& out);

// A factor of a product. Without scales it is of floats, whose rows are quantized by their own.
struct QuantizedFactor {
  const tnr_view& values;
  const tnr_view* scales;
  const tnr_view* zeros;  // nullptr: 0
};
// tnr_quantized_matmul(), where `b` has scales.
void quantized_matmul(const Context& context, const QuantizedFactor& a, const QuantizedFactor& b,
                      const tnr_quantized_matmul_attributes& attributes, const tnr_view_mut& out);
// tnr_factor_quantized_matmul().
void factor_quantized_matmul(const Context& context, const QuantizedFactor& a, FactorToken b,
                             const tnr_view* b_scales, const tnr_view* b_zeros,
                             const tnr_quantized_matmul_attributes& attributes,
                             const tnr_view_mut& out);
// tnr_quantized_conv2d(), where both have scales.
void quantized_conv2d(const Context& context, const QuantizedFactor& a,
                      const QuantizedFactor& weight,
                      const tnr_quantized_conv2d_attributes& attributes, const tnr_view_mut& out);

}  // namespace tenure
