// Which element-wise nodes a device computes in one launch.
#pragma once

#include <cstdint>
#include <vector>

#include "program/graph.hpp"

namespace tenure {

// Of nodes each but the first of which only others among them read; later ones first.
bool fit_one_launch(const Graph& graph, const std::vector<ArrayType>& types,
                    const std::vector<std::uint32_t>& nodes);

}  // namespace tenure
