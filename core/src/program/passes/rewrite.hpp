// Passes over a graph that no shape of a run is needed for. Each leaves the numbers of values and
// nodes as they are, so that messages and reports name those of the graph that was built.
#pragma once

#include <vector>

#include "program/graph.hpp"
#include "program/passes.hpp"
#include "program/passes/packed_constants.hpp"
#include "tenure/context.hpp"

namespace tenure {

// Applies all passes that are not disabled, to the graph and to the bodies of its nodes:
// - two nodes that would compute the same value become one, as do two equal numbers;
// - values that depend only on constants become constants, except values that would be much larger
//   than the constants that they are made of;
// - a bias and an activation behind a product or a convolution that nothing else reads become its
//   own;
// - constants on the right of needed products are packed.
// Constants that nothing reads any more are released: nullptr stands for them.
// Returns, by node, whether an output needs it. `types` are the types at the maxima. Packed
// constants are those of `packed`, unless it is nullptr. Adds the number of changes of each pass to
// `counts`. `simplified` gets the graph with the first two of these changes, in which each node that
// is left computes its own value only.
std::vector<bool> rewrite(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
                          std::uint32_t disabled_passes, PackedConstants* packed,
                          PassCounts& counts, Graph& simplified);

}  // namespace tenure
