// Quantization: adds copies of nodes to a graph whose products and convolutions are of integers.
#pragma once

#include <cstdint>
#include <vector>

#include "program/builder.hpp"

namespace tenure {

// tnr_graph_quantize(). The builder is as before where it throws.
std::vector<std::uint32_t> add_quantized(GraphBuilder& builder,
                                         const std::vector<std::uint32_t>& of,
                                         const tnr_graph_quantize_attributes& attributes);

// tnr_graph_quantizable(): all nodes.
std::vector<tnr_quantizable> find_quantizable(const GraphBuilder& builder,
                                              const std::vector<std::uint32_t>& of,
                                              const tnr_graph_quantize_attributes& attributes);

}  // namespace tenure
