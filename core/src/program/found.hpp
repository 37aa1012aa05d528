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
// The place of a body's extent in the graph around it; the number of these where it is its own.
std::size_t outer_index(const Graph& graph, const Extent& extent) noexcept;
// The last node that finds an extent of those that the number is made of, or kNoValue.
std::uint32_t last_finding(const Graph& graph, std::int64_t number);
// The nodes that find extents which this one takes, itself or in its bodies.
std::vector<std::uint32_t> finding_nodes(const Graph& graph, const GraphNode& node);
// Stands for a node: the inputs of a body decide, before any node of it is computed.
inline constexpr std::uint32_t kHandedOver = kNoValue - 1;

// The parts of a body that a run of the graph around it decides.
struct Outside {
  std::vector<bool> inputs;   // by input: the shape
  std::vector<bool> extents;  // by extent
};
// The last nodes that decide calls, shapes and extents in a run, by counts that they find or by the
// results of their bodies. kHandedOver for the inputs of a body, kNoValue for no node.
struct Deciding {
  std::vector<std::uint32_t> of_nodes;    // by node: of their calls
  std::vector<std::uint32_t> of_values;   // by value: of their shapes
  std::vector<std::uint32_t> of_extents;  // by extent

  // Whether a run decides the value's shape. Values behind those of the graph are memory of a step.
  [[nodiscard]] bool is_found(std::uint32_t value) const noexcept {
    return value < of_values.size() && of_values[value] != kNoValue;
  }
};
// Reads only the ranks of the types: a value of rank 0 has one shape, however it is computed.
// `outside` describes a body and is nullptr for other graphs.
Deciding deciding_nodes(const Graph& graph, const std::vector<ArrayType>& types,
                        const Outside* outside = nullptr);
// Looks only at the nodes that were added to the graph since. Nothing changes for earlier nodes.
void add_deciding(Deciding& deciding, const Graph& graph, const std::vector<ArrayType>& types,
                  const Outside* outside = nullptr);
// The parts of a body of the node that are decided, where its results are decided too.
Outside outside_of(const Graph& graph, const Deciding& deciding, const GraphNode& node,
                   const Body& body);

// Throws INVALID_ARGUMENT unless the number is an extent that nothing else gives, and that nothing
// takes before the node that is added.
void require_own_extent(const Graph& graph, std::int64_t number);

}  // namespace tenure
