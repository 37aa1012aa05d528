// Small products, without the blocks and the scratch memory of others.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/view.hpp"

namespace tenure {

// Computes matmul() with no bias, activation or bounds, where the factors are small row-major
// matrices of f32 or f64 and everything else is equally simple. Otherwise returns false, and has
// done and refused nothing. Throws the errors of matmul() for the owners and for the two scalars.
bool multiply_directly(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                       const tnr_view& b, const tnr_scalar& beta, const tnr_view_mut& out);

}  // namespace tenure
