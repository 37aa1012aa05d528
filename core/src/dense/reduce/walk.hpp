// How a reduction walks memory, and how its work is cut.
#pragma once

#include <cstdint>

#include "cpu/reduce.hpp"
#include "tenure/context.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Whether bit `axis` is set.
constexpr bool is_reduced(std::uint32_t axes, std::uint32_t axis) noexcept {
  return (axes >> axis & 1u) != 0;
}

// Elements that go into each result.
std::int64_t reduced_count(const tnr_view& a, std::uint32_t axes) noexcept;

// Reduces `a` over `axes` into `out`, which have been checked and are not empty but for `a`. `power`
// is that of p-norms.
void walk_reduction(const Context& context, const kernels::Reduction& reduction, const tnr_view& a,
                    std::uint32_t axes, std::uint32_t ddof, const tnr_view_mut& out,
                    double power = 0) noexcept;
// Mean and variance, as the two reductions give them.
void walk_moments(const Context& context, const kernels::Reduction& mean_reduction,
                  const kernels::Reduction& var_reduction, const tnr_view& a, std::uint32_t axes,
                  std::uint32_t ddof, const tnr_view_mut& mean, const tnr_view_mut& var) noexcept;

// The sum of e^x, as its logarithm, of one of the floats.
kernels::Reduction logsumexp_reduction(unsigned type) noexcept;

}  // namespace tenure
