#include "program/rewrites/quantization.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "dense/quantize/quantized_matmul.hpp"
#include "program/operations.hpp"
#include "program/rewrites/bodies.hpp"
#include "program/rewrites/derivation.hpp"

namespace tenure {
namespace {

// Below as many rows or columns of the right factor, products of f32 take no longer.
constexpr std::int64_t kFewestOfFactor = 64;

// By value: whether it is made of constants only, so that folding computes it.
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

class Quantization {
 public:
  Quantization(const GraphBuilder& from, const std::vector<bool>& needed,
               const std::vector<std::uint32_t>& keep, std::int64_t weight_group, GraphBuilder& to)
      : from_(from.graph()),
        types_(from.types()),
        to_(to),
        weight_group_(weight_group),
        copier_(from_, to),
        is_constant_(constant_values(from_)),
        is_product_(from_.nodes.size()),
        there_(from_.values.size()) {
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const GraphNode& node = from_.nodes[i];
      is_product_[i] = needed[node.result] && is_quantizable(node) &&
                       std::ranges::find(keep, node.result) == keep.end();
    }
  }

  [[nodiscard]] bool has_products() const {
    return std::ranges::find(is_product_, true) != is_product_.end();
  }

  void run(const std::vector<bool>& needed) {
    const std::vector<bool> changed = values_behind(from_, is_product_);
    copier_.share_extents(changed);
    for (std::uint32_t value = 0; value < there_.size(); ++value) {
      there_[value] = value;
      const GraphNode* const node = from_.node_of(value);
      // Later results of a node come with its first one.
      if (!changed[value] || node->result != value || !is_needed(needed, *node)) continue;
      to_.set_number(node->number);
      const std::uint32_t first =
          is_product_[from_.values[value].index] ? product(*node) : copy(*node);
      to_.set_number(kNoValue);
      for (std::uint32_t i = 0; i < node->result_count; ++i) there_[value + i] = first + i;
      value += node->result_count - 1;
    }
  }
  [[nodiscard]] std::uint32_t value_of(std::uint32_t value) const { return there_[value]; }

 private:
  static bool is_needed(const std::vector<bool>& needed, const GraphNode& node) {
    const auto first = needed.begin() + node.result;
    return std::find(first, first + node.result_count, true) != first + node.result_count;
  }

  [[nodiscard]] bool is_quantizable(const GraphNode& node) const {
    if (node.code != TNR_NODE_MATMUL || types_[node.result].dtype != TNR_DTYPE_F32) return false;
    const ArrayType& b = types_[node.operands[1]];
    return b.rank == 2 && is_constant_[node.operands[1]] && !is_constant_[node.operands[0]] &&
           b.shape[0] >= kFewestOfFactor && b.shape[0] <= kMostExactDepth &&
           b.shape[1] >= kFewestOfFactor && (weight_group_ == 0 || b.shape[0] % weight_group_ == 0);
  }

  std::uint32_t copy(const GraphNode& node) {
    std::vector<std::uint32_t> operands = node.operands;
    for (std::uint32_t& value : operands) {
      if (value != kNoValue) value = there_[value];
    }
    return copier_.add_node(node, std::move(operands));
  }

  std::uint32_t product(const GraphNode& node) {
    const std::uint32_t a = there_[node.operands[0]];
    const std::uint32_t b = there_[node.operands[1]];
    const std::uint32_t bias = node.operands.size() > 2 ? node.operands[2] : kNoValue;
    GraphNode made = node;
    made.code = TNR_NODE_QUANTIZED_MATMUL;
    made.dtype = TNR_DTYPE_F32;
    if (!made.has_attributes) {
      made.attributes.matmul = {};
      made.attributes.matmul.struct_size = sizeof made.attributes.matmul;
      made.has_attributes = true;
    }
    const bool has_groups = weight_group_ != 0;
    if (!has_groups) made.attributes.matmul.flags |= TNR_QUANTIZE_AFFINE_ROWS;
    const std::uint32_t values =
        quantized(b, has_groups ? TNR_QUANTIZE_RESULT_FOUR_BIT_VALUES : TNR_QUANTIZE_RESULT_VALUES);
    const std::uint32_t scales =
        quantized(b, has_groups ? TNR_QUANTIZE_RESULT_FOUR_BIT_SCALES : TNR_QUANTIZE_RESULT_SCALES);
    return copier_.add_node(made, {a, values, kNoValue, scales, kNoValue, kNoValue,
                                   bias == kNoValue ? kNoValue : there_[bias]});
  }

  // A result of the factor, with a scale for each column, or each group of one.
  std::uint32_t quantized(std::uint32_t factor, tnr_quantize_result result) {
    const std::int64_t* const shape = to_.types()[factor].shape;
    const std::int64_t scales[] = {weight_group_ == 0 ? 1 : shape[0] / weight_group_, shape[1]};
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = TNR_NODE_QUANTIZE_DYNAMIC + static_cast<std::uint32_t>(result);
    node.dtype = TNR_DTYPE_I8;
    node.operands = &factor;
    node.operand_count = 1;
    node.numbers = scales;
    node.number_count = 2;
    return to_.add_node(node, copied_attributes);
  }

  const Graph& from_;
  const std::vector<ArrayType>& types_;
  GraphBuilder& to_;
  std::int64_t weight_group_;  // 0: of 8 bits
  NodeCopier copier_;
  std::vector<bool> is_constant_;
  std::vector<bool> is_product_;      // by node
  std::vector<std::uint32_t> there_;  // by value
};

}  // namespace

std::vector<std::uint32_t> add_quantized(GraphBuilder& builder,
                                         const std::vector<std::uint32_t>& of,
                                         const std::vector<std::uint32_t>& keep,
                                         std::uint32_t weight_group) {
  if (weight_group != 0 && weight_group != 32 && weight_group != 64 && weight_group != 128) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->weight_group is %" PRIu32 " but must be 0, 32, 64 or 128", weight_group);
  }
  const Graph& graph = builder.graph();
  require_values(graph, "of", of);
  require_values(graph, "keep", keep);
  const std::vector<bool> needed = values_for(graph, of);
  require_needed(needed, keep);
  GraphBuilder extended = builder;
  Quantization quantization(builder, needed, keep, weight_group, extended);
  if (!quantization.has_products()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "there is no product to quantize: of f32, by a constant matrix of %d to %d rows and of %d "
         "columns at least, that is not kept",
         static_cast<int>(kFewestOfFactor), static_cast<int>(kMostExactDepth),
         static_cast<int>(kFewestOfFactor));
  }
  quantization.run(needed);
  std::vector<std::uint32_t> quantized;
  quantized.reserve(of.size());
  for (const std::uint32_t value : of) quantized.push_back(quantization.value_of(value));
  builder = std::move(extended);
  return quantized;
}

void graph_quantize(GraphToken token, const std::uint32_t* of, std::uint32_t count,
                    const std::uint32_t* keep, std::uint32_t keep_count, std::uint32_t weight_group,
                    std::uint32_t* quantized) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object(), SharedBuilder::Use::kCallsOthers);
  std::ranges::copy(add_quantized(graph.object().builder, {of, of + count},
                                  {keep, keep + keep_count}, weight_group),
                    quantized);
}

}  // namespace tenure
