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

// A value, and the gradient by it: of the same shape.
struct Seeded {
  std::uint32_t value;
  std::uint32_t gradient;
};
class Terms;
// The gradients of several values together; kNoValue by a value that none of them depends on. On
// failure some of the nodes may have been added.
std::vector<std::uint32_t> add_gradients(Terms& terms, const std::vector<Seeded>& of,
                                         const std::vector<std::uint32_t>& by);

// Floats and complex numbers have gradients.
bool has_gradients(tnr_dtype dtype) noexcept;
// By value: whether it changes with one of `by`, by nodes that may have a derivative.
std::vector<bool> dependent_values(const Graph& graph, const std::vector<ArrayType>& types,
                                   const std::vector<std::uint32_t>& by);

}  // namespace tenure
