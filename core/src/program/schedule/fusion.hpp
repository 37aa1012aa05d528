// Nodes that are computed in one pass over memory, as one expression.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "program/schedule.hpp"

namespace tenure {

// By node: the last node of the expression that it is part of. A node that is computed alone is its
// own. Each last one takes the nodes before it whose results it alone reads, with their own.
std::vector<std::uint32_t> fused_roots(const Graph& graph, const std::vector<bool>& needed,
                                       const std::vector<ArrayType>& types, const Target& target);

// Whether these nodes, later ones first, are no more than one expression may have.
bool fits_expression(const Graph& graph, const std::vector<ArrayType>& types,
                     const std::vector<std::uint32_t>& nodes, const Target& target);

}  // namespace tenure
