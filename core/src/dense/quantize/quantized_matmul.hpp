// Products of quantized factors as nodes of graphs compute them.
#pragma once

#include <cstdint>
#include <vector>

#include "dense/activation.hpp"
#include "tenure/quantize.hpp"

namespace tenure {

class PackedFactor;

// i32 has each sum of up to 33,025 products, because 255 * 255 * 33,025 is below 2^31.
inline constexpr std::int64_t kMostExactDepth = 33025;

// The activation and the bounds of a product, whose flags are of its rows too.
template <class Attributes>
Activation activation_behind_rows(const Attributes& attributes) {
  Activation activation(attributes);
  activation.flags &= ~TNR_QUANTIZE_AFFINE_ROWS;
  return activation;
}

// The sum of each column of integers, of a factor that is packed for u8.
std::vector<std::int32_t> column_sums(const Context& context, const PackedFactor& factor);

// Computes tnr_factor_quantized_matmul(), without `b_scales` where `b` has its scales. Counts the call. `sums` are the column_sums() of `b`, or nullptr:
// they are computed where zero points of `a` need them.
void factor_quantized_matmul(const Context& context, const QuantizedFactor& a,
                             const PackedFactor& b, const tnr_view* b_scales,
                             const tnr_view* b_zeros,
                             const tnr_quantized_matmul_attributes& attributes,
                             const tnr_view_mut& out, const std::int32_t* sums = nullptr);

// Whether convolutions by these filters take them packed: as the columns of gather_filters().
bool takes_packed_filters(const tnr_view& weight, std::int64_t groups) noexcept;

// Computes tnr_quantized_conv2d(), and counts the call. `packed` has the filters packed for `a`, or is nullptr;
// with it `sums` are its column_sums().
void quantized_conv2d(const Context& context, const QuantizedFactor& a,
                      const QuantizedFactor& weight,
                      const tnr_quantized_conv2d_attributes& attributes, const tnr_view_mut& out,
                      const PackedFactor* packed, const std::int32_t* sums);

}  // namespace tenure
