// The kinds of nodes that devices compute.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "program/operations.hpp"

namespace tenure {

// Enqueues the node, on views of the context's device; nullptr where no device computes the kind.
RunNode* find_device_run(const GraphNode& node) noexcept;

// Throws UNSUPPORTED, naming the node, for the first of those that are needed which the context's
// device does not compute. `types` are those of all values.
void require_on_device(const Context& context, const Graph& graph, const std::vector<bool>& needed,
                       const std::vector<ArrayType>& types);

}  // namespace tenure
