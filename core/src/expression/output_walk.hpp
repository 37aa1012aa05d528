// Writes the results of tile steps to an output of any strides.
#pragma once

#include <cstdint>

#include "expression/nodes.hpp"
#include "expression/tile_steps.hpp"
#include "tenure/context.hpp"

namespace tenure {

// Writes node `root` to `out`, which is not empty; the leaves in `used` have steps along
// its axes. `moved_bytes` are those that the call reads and writes.
kernels::Finding write_output(const Context& context, const Nodes& nodes, unsigned root,
                              const std::uint8_t* leaf_of, const Leaf* leaves, std::uint64_t used,
                              const tnr_view_mut& out, std::int64_t moved_bytes) noexcept;

}  // namespace tenure
