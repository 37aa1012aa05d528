// Passes over a graph that no shape of a run is needed for. Each leaves the numbers of values and
// nodes as they are, so that messages and reports name those of the graph that was built.
#pragma once

#include <vector>

#include "program/graph.hpp"
#include "program/passes.hpp"
#include "program/passes/packed_image.hpp"
#include "tenure/context.hpp"

namespace tenure {

// All that are not disabled, of the graph and of those in its nodes:
// - a value that two nodes would compute, or two numbers are, is one;
// - values of constants alone become constants; those that would be much larger than what they are
//   made of do not;
// - a bias and an activation behind a product or a convolution that nothing else reads become its
//   own;
// - constants that needed products have on the right are packed;
// - by node, the result: whether an output needs it.
// `types` are those at the maxima. Packed constants are those of `packed`, unless it
// is nullptr. What each pass did is added to `counts`.
std::vector<bool> rewrite(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
                          std::uint32_t disabled_passes, PackedImage* packed, PassCounts& counts);

}  // namespace tenure
