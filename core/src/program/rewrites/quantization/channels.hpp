// Numbers of channels behind products and convolutions, as parts of their constants.
#pragma once

#include <vector>

#include "program/graph.hpp"

namespace tenure {

// Whether the node may be one that fold_channels() folds.
bool is_of_channels(const GraphNode& node) noexcept;

// Folds batch norms, and products and sums with constants that have a number for each channel, into
// the constant factor and the bias of the node that they follow, where nothing else reads its
// result. `may_change` says which products and convolutions these are, by node: each has a constant
// factor, and their places follow them. New constants are new values. Outputs must be set.
void fold_channels(Graph& graph, std::vector<ArrayType>& types, std::vector<bool>& may_change);

}  // namespace tenure
