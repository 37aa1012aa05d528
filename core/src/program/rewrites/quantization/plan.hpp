// Which nodes of a graph are quantized, and how.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dense/quantize/dynamic.hpp"
#include "program/builder.hpp"

namespace tenure {

// Below as many rows or columns of the right factor, products of f32 take no longer.
inline constexpr std::int64_t kFewestOfFactor = 64;
// Nor do convolutions by filters of fewer elements, or with fewer filters in a group.
inline constexpr std::int64_t kFewestOfFilter = 128;
inline constexpr std::int64_t kFewestFilters = 32;

// By node: whether a needed product or convolution may become one of integers.
std::vector<bool> quantizable_nodes(const Graph& graph, const std::vector<ArrayType>& types,
                                    const std::vector<bool>& needed);

// By value: whether it is made of constants only, so that folding computes it.
std::vector<bool> constant_values(const Graph& graph);

struct QuantizationPlan {
  // Checks all that a caller gives. Throws INVALID_ARGUMENT.
  QuantizationPlan(const GraphBuilder& builder, const std::vector<std::uint32_t>& of,
                   const tnr_graph_quantize_attributes& attributes);

  std::vector<std::uint32_t> of;
  std::vector<bool> is_quantized;               // by node
  std::vector<std::uint32_t> kept;              // results of nodes that might be quantized, too
  std::map<std::uint32_t, AffineScale> ranges;  // by value: of u8
};

}  // namespace tenure
