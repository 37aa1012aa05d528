// Reverse-mode differentiation: adds the gradients of a value to its graph.
#pragma once

#include <cstdint>
#include <vector>

#include "program/builder.hpp"

namespace tenure {

// The gradients of `of` by each of `by`: values of their dtypes and shapes. With a `seed` of the
// dtype and shape of `of` it is the gradient of the sum of both's products; kNoValue: 1, for a value
// of one element. Nodes are added only for what leads from `by` to `of`. A value that `of` does not
// depend on has zeros.
//
// Throws INVALID_ARGUMENT for values that are no floats, for one with several elements and no seed;
// UNSUPPORTED, naming the node, where one has no derivative. The builder is then as before.
std::vector<std::uint32_t> add_gradients(GraphBuilder& builder, std::uint32_t of,
                                         std::uint32_t seed, const std::vector<std::uint32_t>& by);

}  // namespace tenure
