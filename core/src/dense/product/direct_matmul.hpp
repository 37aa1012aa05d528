// Small products, without the blocks and the scratch memory of others.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/view.hpp"

namespace tenure {

// As matmul() with no bias, activation or bounds. False, and nothing has been done or refused, unless
// the factors are small row-major matrices of f32 or f64 and all else is as simple: then that
// decides. Throws what their owners and the
// two numbers deserve.
bool multiply_directly(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                       const tnr_view& b, const tnr_scalar& beta, const tnr_view_mut& out);

}  // namespace tenure
