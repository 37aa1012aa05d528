// How a reduction walks memory, and how its work is cut.
#pragma once

#include <cstdint>

#include "cpu/reduce.hpp"
#include "dense/reduce/elements.hpp"
#include "tenure/context.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Whether bit `axis` is set.
constexpr bool is_reduced(std::uint32_t axes, std::uint32_t axis) noexcept {
  return (axes >> axis & 1u) != 0;
}

// Elements that go into each result.
std::int64_t reduced_count(const tnr_view& a, std::uint32_t axes) noexcept;

// Returns the loops of a reduction of elements of a.dtype over `axes` into `out`. Reads only the
// dtypes and shapes of the views. Throws INVALID_ARGUMENT and UNSUPPORTED.
kernels::Reduction checked_reduction(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
                                     std::uint32_t ddof, double power, const tnr_view& out);
// Throws INVALID_ARGUMENT where a result is of no element but needs one.
bool needs_an_element(tnr_reduce_op op);
void require_elements(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes);

// Elements that are reduced, other than those of a view in memory, or as a part of more.
struct ReducedElements {
  // A tensor that is nowhere: `a` is row-major and begins at origin_of_computed().
  const ElementSource* source = nullptr;
  // Results of the whole call, where this is a part of them; 0: this is the whole. Where elements
  // are added follows from it.
  std::int64_t results = 0;
};

// Reduces `a` over `axes` into `out`. Both have been checked, and only `a` may be empty. `power` is
// that of p-norms.
void walk_reduction(const Context& context, const kernels::Reduction& reduction, const tnr_view& a,
                    std::uint32_t axes, std::uint32_t ddof, const tnr_view_mut& out,
                    double power = 0, const ReducedElements& reduced = {}) noexcept;
// Whether one thread adds up each of `results` results of `count` adjacent elements, in an order
// that does not depend on the number of results.
bool adds_each_alone(const kernels::Reduction& reduction, std::int64_t results,
                     std::int64_t count) noexcept;
// Mean and variance, as the two reductions give them.
void walk_moments(const Context& context, const kernels::Reduction& mean_reduction,
                  const kernels::Reduction& var_reduction, const tnr_view& a, std::uint32_t axes,
                  std::uint32_t ddof, const tnr_view_mut& mean, const tnr_view_mut& var) noexcept;

// The sum of e^x, as its logarithm, of one of the floats.
kernels::Reduction logsumexp_reduction(unsigned type) noexcept;

}  // namespace tenure
