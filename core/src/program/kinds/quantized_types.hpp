// Questions that the kinds of integers have about scales and zero points.
#pragma once

#include "base/array_type.hpp"
#include "tenure/status.hpp"

namespace tenure {

// Each throws INVALID_ARGUMENT. `zeros` is nullptr where none are given.

// Checks dtypes.
void require_scales(const ArrayType& scales, const char* name, const ArrayType* zeros,
                    const char* zeros_name, tnr_dtype integers);
// Where no scales are given.
void require_no_zeros(const ArrayType* zeros, const char* zeros_name, const char* name);
// The dtype of a product: integers, which have a scale, or floats, which have none.
void require_result(tnr_dtype dtype, const ArrayType* scale, const char* name,
                    const ArrayType* zero, const char* zero_name);

// Refuses zeros of another shape than that of their scales.
Refusal same_refusal(const ArrayType& zeros, const char* name, const ArrayType& scales) noexcept;

}  // namespace tenure
