// Which element-wise nodes a device computes in one launch.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"

namespace tenure {

// `nodes` has later nodes first; only nodes of the list read the results of all but the first.
bool fit_one_launch(const Graph& graph, const std::vector<ArrayType>& types,
                    const std::vector<std::uint32_t>& nodes);

}  // namespace tenure
