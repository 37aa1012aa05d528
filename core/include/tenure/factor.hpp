// Packed factors: the right factor of products that are repeated, in the panels that kernels read.
//
// A packed factor is the library's own memory. No caller gets a pointer to it, so that any number
// of calls may read it at once. It has the panels of the instruction set in use, which is one for
// the process.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_factor* holds.
using FactorToken = std::uint64_t;

// tnr_factor_create().
FactorToken factor_create(const Context& context, const tnr_view& b, tnr_dtype a_dtype = 0,
                          const tnr_view* group_scales = nullptr);
// All throw STALE_HANDLE for a token that is garbage, of another kind, or released; BUSY at
// kMaxRefs.
void factor_retain(FactorToken token);
void factor_release(FactorToken token);
// struct_size is 0.
tnr_factor_info factor_describe(FactorToken token);
// tnr_factor_matmul().
void factor_matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a,
                   FactorToken b, const tnr_scalar& beta, const tnr_view_mut& out,
                   const tnr_matmul_attributes& attributes = {});

}  // namespace tenure
