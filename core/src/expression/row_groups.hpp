// Reductions amid an expression that are of its rows, a few rows at a time: what they give and what
// is computed of it lie in a cache meanwhile.
#pragma once

#include "expression/placed_nodes.hpp"
#include "tenure/context.hpp"

namespace tenure {

// Where all reductions are of the rows of the output, each of which is added up in an order of its
// own, and the output is row-major.
bool can_group_rows(const PlacedNodes& placed) noexcept;

// Computes all, if they can be grouped.
kernels::Finding run_row_groups(const Context& context, PlacedNodes& placed) noexcept;

}  // namespace tenure
