// Mixed precision: adds copies of nodes to a graph whose products take and give a narrow dtype.
#pragma once

#include <cstdint>
#include <vector>

#include "program/builder.hpp"

namespace tenure {

// Values in the place of `of`, of the same dtypes and shapes. Products of f32 on the way to them,
// also in bodies, take operands that are rounded to `dtype`, and give it; all other nodes compute in
// the dtypes that they have. Nodes that give a value of `keep` stay as they are. Nodes that depend on
// none of these products are shared, and a value that does not depend on one is itself.
//
// Throws INVALID_ARGUMENT for a dtype other than f16 and bf16, for values that the graph lacks, for a
// kept value that `of` does not depend on; naming the node, what an operation refuses in the narrow
// dtype. The builder is then as before.
std::vector<std::uint32_t> add_mixed_precision(GraphBuilder& builder,
                                               const std::vector<std::uint32_t>& of,
                                               tnr_dtype dtype,
                                               const std::vector<std::uint32_t>& keep);

}  // namespace tenure
