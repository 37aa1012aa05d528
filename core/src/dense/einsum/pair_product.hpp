// Products of two terms of an Einstein sum.
#pragma once

#include "dense/einsum/spec.hpp"
#include "dense/einsum/term.hpp"
#include "tenure/context.hpp"

namespace tenure {

// The factors of matmul.
inline constexpr tnr_scalar kOne = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
inline constexpr tnr_scalar kZero = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {0}};

// Writes the product of `a` and `b` to `out`. Labels that it lacks are in both, and are summed.
void multiply_pair(const Context& context, const EinsumSpec& spec, const EinsumTerm& a,
                   const EinsumTerm& b, const EinsumTerm& out);

}  // namespace tenure
