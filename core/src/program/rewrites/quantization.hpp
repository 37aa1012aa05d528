// Quantization: adds copies of nodes to a graph whose products are of integers.
#pragma once

#include <cstdint>
#include <vector>

#include "program/builder.hpp"

namespace tenure {

// tnr_graph_quantize(). The builder is as before where it throws.
std::vector<std::uint32_t> add_quantized(GraphBuilder& builder,
                                         const std::vector<std::uint32_t>& of,
                                         const std::vector<std::uint32_t>& keep,
                                         std::uint32_t weight_group);

}  // namespace tenure
