// Expressions of few elements: each node is one call of its kernel.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "expression/nodes.hpp"

namespace tenure {

// Whether all nodes are element-wise, and the results of `count` elements have room on the stack.
bool is_small(const Nodes& nodes, std::int64_t count) noexcept;

// Computes a small expression: `views` are dense and have the shape of `out`, `count` elements.
kernels::Finding run_small(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                           kernels::Byte* out) noexcept;

}  // namespace tenure
