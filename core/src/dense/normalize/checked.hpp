// The checks of a normalization, and its run on operands that the caller has checked and pinned.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/tenure.h"
#include "tenure/view.hpp"

namespace tenure {

// Only dtypes and shapes of `a` and `out` are looked at; weight and bias are on the device. Throws
// as normalize() does.
void check_normalization(tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                         const tnr_normalize_attributes& attributes, const tnr_view& out,
                         const tnr_device& device = kCpu);
// `out`, which is not empty, may be exactly `a`.
void run_normalization(const Context& context, tnr_normalize_op op, const tnr_view& a,
                       std::uint32_t axes, const tnr_normalize_attributes& attributes,
                       const tnr_view_mut& out) noexcept;

}  // namespace tenure
