// The kinds of nodes that devices compute.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"
#include "program/operations.hpp"

namespace tenure {

// Calls the operation on operands of these dtypes that have no elements, which enqueues nothing.
// Throws UNSUPPORTED for what devices do not take.
using TryNode = void(const Context& context, const GraphNode& node, const OperandType* operands,
                     tnr_dtype result);

struct DeviceOperation {
  RunNode* run = nullptr;  // enqueues it, on views of the context's device
  TryNode* attempt = nullptr;
};

// nullptr: no device computes the kind.
const DeviceOperation* find_device_operation(const GraphNode& node) noexcept;

// Throws UNSUPPORTED, naming the node, for the first of those that are needed which the context's
// device does not take. `types` are those of all values.
void require_on_device(const Context& context, const Graph& graph, const std::vector<bool>& needed,
                       const std::vector<ArrayType>& types);

}  // namespace tenure
