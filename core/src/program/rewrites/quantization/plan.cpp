#include "program/rewrites/quantization/plan.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>

#include "base/arithmetic.hpp"
#include "dense/product/packed_factor.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "program/operations.hpp"
#include "program/rewrites/bodies.hpp"

namespace tenure {
namespace {

bool takes_factor(const ArrayType& b, std::int64_t weight_group) noexcept {
  return b.rank == 2 && (weight_group == 0 || b.shape[0] % weight_group == 0) &&
         b.shape[0] >= kFewestOfFactor && b.shape[0] <= kMostExactDepth &&
         b.shape[1] >= kFewestOfFactor;
}

bool takes_filters(const ArrayType& weight, const tnr_conv2d_attributes& attributes) noexcept {
  const std::int64_t groups = std::max<std::int64_t>(attributes.groups, 1);
  const std::int64_t depth =
      product_or_most(product_or_most(weight.shape[1], weight.shape[2]), weight.shape[3]);
  return weight.shape[1] > 1 && weight.shape[0] / groups >= kFewestFilters &&
         depth >= kFewestOfFilter && depth <= kMostExactDepth;
}

AffineScale scale_of(const tnr_value_range& range, std::size_t index) {
  if (!std::isfinite(range.low) || !std::isfinite(range.high) || range.low > range.high) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "ranges[%zu], of value %" PRIu32
         ", is %g to %g but must have finite ends, the lower one first",
         index, range.value, static_cast<double>(range.low), static_cast<double>(range.high));
  }
  return affine_scale(range.low, range.high, 0);
}

}  // namespace

std::vector<bool> constant_values(const Graph& graph) {
  std::vector<bool> constant(graph.values.size());
  for (std::uint32_t value = 0; value < constant.size(); ++value) {
    const GraphNode* const node = graph.node_of(value);
    if (node == nullptr) {
      constant[value] = graph.values[value].source != TNR_VALUE_SOURCE_INPUT;
      continue;
    }
    constant[value] = node->custom == nullptr && node->bodies.empty() && !finds_extent(*node) &&
                      std::ranges::none_of(node->numbers, is_extent) &&
                      std::ranges::all_of(node->operands, [&](std::uint32_t operand) {
                        return operand == kNoValue || constant[operand];
                      });
  }
  return constant;
}

std::vector<bool> quantizable_nodes(const Graph& graph, const std::vector<ArrayType>& types,
                                    const std::vector<bool>& needed, std::int64_t weight_group) {
  const std::vector<bool> is_constant = constant_values(graph);
  std::vector<bool> quantizable(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const bool is_product = node.code == TNR_NODE_MATMUL;
    if (!needed[node.result] || (!is_product && node.code != TNR_NODE_CONV2D) ||
        types[node.result].dtype != TNR_DTYPE_F32) {
      continue;
    }
    const ArrayType& b = types[node.operands[1]];
    quantizable[i] =
        is_constant[node.operands[1]] && !is_constant[node.operands[0]] &&
        (is_product ? takes_factor(b, weight_group) : takes_filters(b, node.attributes.conv2d));
  }
  return quantizable;
}

QuantizationPlan::QuantizationPlan(const GraphBuilder& builder,
                                   const std::vector<std::uint32_t>& values,
                                   const tnr_graph_quantize_attributes& attributes)
    : of(values), weight_group(attributes.weight_group) {
  if (weight_group != 0 && !is_weight_group(weight_group)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->weight_group is %" PRIu32 " but must be 0, 32, 64 or 128",
         attributes.weight_group);
  }
  if (weight_group != 0 && attributes.range_count != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->range_count is %" PRIu32
         " but must be 0 with a weight_group, by which each run quantizes rows",
         attributes.range_count);
  }
  const Graph& graph = builder.graph();
  const std::vector<std::uint32_t> keep(attributes.keep, attributes.keep + attributes.keep_count);
  require_values(graph, "of", of);
  require_values(graph, "keep", keep);
  const std::vector<bool> needed = values_for(graph, of);
  require_needed(needed, keep);
  is_quantized = quantizable_nodes(graph, builder.types(), needed, weight_group);
  std::vector<bool> is_left(graph.values.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_quantized[i]) is_left[graph.nodes[i].operands[0]] = true;
  }
  for (std::size_t i = 0; i < attributes.range_count; ++i) {
    const tnr_value_range& range = attributes.ranges[i];
    if (range.value >= is_left.size() || !is_left[range.value]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "ranges[%zu] is of value %" PRIu32
           ", which is not the left operand of a product or a convolution that can be quantized",
           i, range.value);
    }
    if (!ranges.emplace(range.value, scale_of(range, i)).second) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "ranges[%zu] is of value %" PRIu32 ", which another range is of", i, range.value);
    }
  }
  for (const std::uint32_t value : keep) {
    if (graph.node_of(value) == nullptr || !is_quantized[graph.values[value].index]) continue;
    is_quantized[graph.values[value].index] = false;
    kept.push_back(value);
  }
}

}  // namespace tenure
