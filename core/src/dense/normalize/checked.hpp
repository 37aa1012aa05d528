// A normalization whose operands somebody else has checked and pinned.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Of `a` and `out` dtypes and shapes alone are looked at. Throws as normalize() does.
void check_normalization(tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                         const tnr_normalize_attributes& attributes, const tnr_view& out);
// `out`, which is not empty, may be exactly `a`.
void run_normalization(const Context& context, tnr_normalize_op op, const tnr_view& a,
                       std::uint32_t axes, const tnr_normalize_attributes& attributes,
                       const tnr_view_mut& out) noexcept;

}  // namespace tenure
