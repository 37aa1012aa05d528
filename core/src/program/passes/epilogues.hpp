// A bias and an activation behind a product or a convolution become its own.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "program/passes/folding.hpp"

namespace tenure {

// How often each value is an operand or an output.
std::vector<std::uint32_t> count_uses(const Graph& graph, const std::vector<bool>& needed);

// By node: whether a pass has put another node in its place.
using Replaced = std::vector<bool>;

// Joins nodes that nothing else reads. Returns the number of its changes.
std::uint64_t join_epilogues(Graph& graph, const std::vector<ArrayType>& types,
                             const Around* around, Replaced& replaced);

}  // namespace tenure
