// Extents that nodes find in the data of a run, and what depends on them.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"

namespace tenure {

// The extent that a node gives.
inline const Extent& extent_of(const Graph& graph, const GraphNode& node) noexcept {
  return graph.extents[extent_index(node.numbers[0])];
}
// By extent: whether the number is made of it.
std::vector<bool> extents_in(const Graph& graph, std::int64_t number);
// The last node that finds an extent of those that the number is made of, or kNoValue.
std::uint32_t last_finding(const Graph& graph, std::int64_t number);
// The last nodes whose counts decide what is computed, or kNoValue.
struct Deciding {
  std::vector<std::uint32_t> of_nodes;   // by node: of their calls
  std::vector<std::uint32_t> of_values;  // by value: of their shapes
};
// Looks at the ranks of types alone: a value of rank 0 has one shape, whatever it is made of.
Deciding deciding_nodes(const Graph& graph, const std::vector<ArrayType>& types);

// Throws INVALID_ARGUMENT unless the number is an extent that nothing else gives, and that nothing
// takes before the node that is added.
void require_own_extent(const Graph& graph, std::int64_t number);
// Throws UNSUPPORTED where a node with graphs of its own, which are made ready before a run, is of
// a size that a run finds.
void require_known_sizes(const Graph& graph, const std::vector<ArrayType>& types,
                         const GraphNode& node);

}  // namespace tenure
