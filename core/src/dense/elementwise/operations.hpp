// The kernels of element-wise operations, by code and dtype.
#pragma once

#include "dense/loops/strip_runner.hpp"
#include "dense/scalar.hpp"
#include "tenure/tenure.h"

namespace tenure {

// All throw INVALID_ARGUMENT for a code that names no operation, and UNSUPPORTED for a dtype that
// it does not take.
Operation unary_operation(tnr_unary_op op, tnr_dtype dtype);
Operation binary_operation(tnr_binary_op op, tnr_dtype dtype);
Operation ternary_operation(tnr_ternary_op op, tnr_dtype dtype);

// a > b is b < a, also where NaN takes part: the inputs change places and the kernel stays.
enum class Sides : std::uint8_t { kAsGiven, kExchanged };
struct Comparison {
  Operation operation;
  Sides sides;
};
Comparison compare_operation(tnr_compare_op op, tnr_dtype dtype);
// Throws INVALID_ARGUMENT.
Sides sides_of(tnr_compare_op op);

// Throws INVALID_ARGUMENT unless the output has the dtype of the operation's result.
void require_unary_dtypes(tnr_unary_op op, const tnr_view& a, const tnr_view& out);

// Throws INVALID_ARGUMENT for a number on the right that is an integer divisor of 0 or a negative
// power of integers: it is known before the work, so that the output stays untouched.
void require_right_number(tnr_binary_op op, const Element& b, tnr_dtype dtype);

// Throws INVALID_ARGUMENT unless nothing was found in the data.
[[gnu::cold]] void refuse_finding(kernels::Finding found);
inline void require_no_finding(kernels::Finding found) {
  if (found != kernels::kNothing) [[unlikely]]
    refuse_finding(found);
}

}  // namespace tenure
