// Nodes that are computed in one pass over memory, as one expression.
#pragma once

#include <cstdint>
#include <vector>

#include "program/found.hpp"
#include "program/graph.hpp"
#include "program/schedule.hpp"

namespace tenure {

// By node: the last node of the expression that it is part of. It is the node itself where the node
// is an expression of its own. Each last node takes the nodes before it that nothing else reads,
// and theirs. On the CPU it also takes reductions of its rows, unless a run decides their shapes.
std::vector<std::uint32_t> fused_roots(const Graph& graph, const std::vector<bool>& needed,
                                       const std::vector<ArrayType>& types,
                                       const Deciding& deciding, const Target& target);

// The last nodes of the expressions that the nodes of one become where it is not computed in one
// pass, by index among `nodes`: each reduction is a last one.
std::vector<std::uint32_t> split_roots(const Graph& graph, const std::vector<ArrayType>& types,
                                       const std::vector<std::uint32_t>& nodes);

// Whether these nodes, later ones first, are no more than one expression may have.
bool fits_expression(const Graph& graph, const std::vector<ArrayType>& types,
                     const std::vector<std::uint32_t>& nodes, const Target& target);

}  // namespace tenure
