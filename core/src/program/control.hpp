// Control nodes: in a run, a `cond` node computes one of its two bodies, and a `while` node repeats
// its body as long as its condition holds.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "program/found.hpp"
#include "program/graph.hpp"
#include "program/schedule.hpp"

namespace tenure {

// The places of such a node in the lists of its step and of the graph.
struct Control {
  // Numbers of a `while` node: both bodies and the limit of iterations.
  static constexpr std::size_t kCondition = 0;
  static constexpr std::size_t kIteration = 1;
  static constexpr std::size_t kLimit = 2;
  // Places that a step owns: its bodies' memory and, of a `while` node, its condition's result
  // and a second place for each value of the state.
  static constexpr std::size_t kBlock = 0;
  static constexpr std::size_t kVerdict = 1;
  static constexpr std::size_t kStates = 2;
};

inline bool is_while(const GraphNode& node) noexcept { return node.code == TNR_NODE_WHILE; }

// The bodies that the numbers of a node name. Throws INVALID_ARGUMENT for those that are not there.
std::vector<std::shared_ptr<const Body>> find_bodies(const Graph& graph,
                                                     const tnr_graph_node& given);
// Results that the node gives.
std::uint32_t count_results(const GraphNode& node) noexcept;

// The types of its results, from those of all values before it: where a run decides their shapes,
// the largest that bodies give. Appends the types of the bodies to `bodies`. Throws
// INVALID_ARGUMENT where bodies do not take their inputs, or do not give the results of the node.
std::vector<ArrayType> infer_control(const Graph& graph, const NodeCall& call, const Sizes& sizes,
                                     const std::vector<ArrayType>& types,
                                     std::vector<Inferred>& bodies);

// The schedule of one of its bodies, from the types that infer_control() found.
std::unique_ptr<const Schedule> schedule_body(const Body& body, std::uint32_t disabled_passes,
                                              Inferred inferred,
                                              const std::vector<tnr_view>& inputs,
                                              const std::vector<tnr_view>& outputs,
                                              const Outside* outside);

}  // namespace tenure
