// Passes over a graph that no shape of a run is needed for. Each leaves the numbers of values and
// nodes as they are, so that messages and reports name those of the graph that was built.
#pragma once

#include <vector>

#include "program/graph.hpp"
#include "tenure/context.hpp"

namespace tenure {

// A value that two nodes would compute, or two numbers are, is one.
void merge_common(Graph& graph);
// Values of constants alone become constants; those that would be much larger than what they are
// made of do not. `types` are those at the maxima.
void fold_constants(const Context& context, Graph& graph, const std::vector<ArrayType>& types);
// A bias and an activation behind a product or a convolution that nothing else reads become its
// own.
void join_epilogues(Graph& graph, const std::vector<ArrayType>& types);
// By node: whether an output needs its result.
std::vector<bool> needed_nodes(const Graph& graph);
// By node: whether its result is still its own, and not a constant.
std::vector<bool> computed_nodes(const Graph& graph);

}  // namespace tenure
