// Products as other operations are made of them.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

class PackedFactor;

// Computes tnr_matmul(), but does not count the call. `b` is the view of `packed`, unless that is
// nullptr: its panels are read, if it has any, and by no other engine. Returns the bytes that were
// read, without those of `b`.
std::uint64_t multiply(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                       const tnr_view& b, const PackedFactor* packed, const tnr_scalar& beta,
                       const tnr_view_mut& out, const tnr_matmul_attributes& attributes);

// Computes tnr_factor_matmul(), and counts the call.
void factor_matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                   const PackedFactor& b, const tnr_scalar& beta, const tnr_view_mut& out,
                   const tnr_matmul_attributes& attributes);

}  // namespace tenure
