#include "program/rewrites/quantization/quantization.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "dense/quantize/quantized_matmul.hpp"
#include "program/operations.hpp"
#include "program/rewrites/bodies.hpp"
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/quantization/plan.hpp"
#include "tenure/dtype.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// Values of integers, with the value of their scale and that of their zero point.
struct Integers {
  std::uint32_t values;
  std::uint32_t scale = kNoValue;
  std::uint32_t zero = kNoValue;
};

class Quantization {
 public:
  Quantization(const GraphBuilder& from, const QuantizationPlan& plan, GraphBuilder& to)
      : from_(from.graph()),
        plan_(plan),
        to_(to),
        copier_(from_, to),
        there_(from_.values.size()) {}

  void run() {
    const std::vector<bool> changed = values_behind(from_, plan_.is_quantized);
    copier_.share_extents(changed);
    for (std::uint32_t value = 0; value < there_.size(); ++value) {
      there_[value] = value;
      const GraphNode* const node = from_.node_of(value);
      // Later results of a node come with its first one.
      if (!changed[value] || node->result != value || !is_needed(*node)) continue;
      to_.set_number(node->number);
      const std::uint32_t first =
          plan_.is_quantized[from_.values[value].index] ? product(*node) : copy(*node);
      to_.set_number(kNoValue);
      for (std::uint32_t i = 0; i < node->result_count; ++i) there_[value + i] = first + i;
      value += node->result_count - 1;
    }
  }
  [[nodiscard]] std::uint32_t value_of(std::uint32_t value) const { return there_[value]; }

 private:
  [[nodiscard]] bool is_needed(const GraphNode& node) const {
    const auto first = plan_.needed.begin() + node.result;
    return std::find(first, first + node.result_count, true) != first + node.result_count;
  }

  std::uint32_t copy(const GraphNode& node) {
    std::vector<std::uint32_t> operands = node.operands;
    for (std::uint32_t& value : operands) {
      if (value != kNoValue) value = there_[value];
    }
    return copier_.add_node(node, std::move(operands));
  }

  // A product or a convolution.
  std::uint32_t product(const GraphNode& node) {
    const bool is_convolution = node.code == TNR_NODE_CONV2D;
    const Integers a = left(node.operands[0]);
    const std::uint32_t b = there_[node.operands[1]];
    const std::uint32_t bias = node.operands.size() > 2 ? node.operands[2] : kNoValue;
    GraphNode made = node;
    made.code = is_convolution ? TNR_NODE_QUANTIZED_CONV2D : TNR_NODE_QUANTIZED_MATMUL;
    made.dtype = TNR_DTYPE_F32;
    if (!is_convolution && a.scale == kNoValue) {
      if (!made.has_attributes) {
        made.attributes.matmul = {};
        made.attributes.matmul.struct_size = sizeof made.attributes.matmul;
        made.has_attributes = true;
      }
      made.attributes.matmul.flags |= TNR_QUANTIZE_AFFINE_ROWS;
    }
    const std::vector<std::int64_t> scales =
        is_convolution ? std::vector<std::int64_t>{to_.types()[b].shape[0], 1, 1, 1}
                       : std::vector<std::int64_t>{1, to_.types()[b].shape[1]};
    return copier_.add_node(made, {a.values, quantized(b, TNR_QUANTIZE_RESULT_VALUES, scales),
                                   a.scale, quantized(b, TNR_QUANTIZE_RESULT_SCALES, scales),
                                   a.zero, kNoValue, bias == kNoValue ? kNoValue : there_[bias]});
  }

  // The left operand: integers by its range, or numbers without one.
  Integers left(std::uint32_t value) {
    const auto range = plan_.ranges.find(value);
    if (range == plan_.ranges.end()) return {there_[value]};
    const auto known = integers_.find(value);
    if (known != integers_.end()) return known->second;
    const AffineScale& chosen = range->second;
    const auto zero = static_cast<std::uint8_t>(chosen.zero);
    Integers made = {kNoValue, one(&chosen.scale, TNR_DTYPE_F32), one(&zero, TNR_DTYPE_U8)};
    const std::uint32_t operands[] = {there_[value], made.scale, made.zero};
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = TNR_NODE_QUANTIZE;
    node.dtype = TNR_DTYPE_U8;
    node.operands = operands;
    node.operand_count = 3;
    made.values = to_.add_node(node, copied_attributes);
    return integers_.emplace(value, made).first->second;
  }

  // A constant of one element.
  std::uint32_t one(const void* element, tnr_dtype dtype) {
    const std::int64_t shape[] = {1};
    return to_.add_constant(
        make_view(const_cast<void*>(element), element_size(dtype), 0, dtype, 1, shape, nullptr));
  }

  // A result of the factor or the filters, with scales of this shape.
  std::uint32_t quantized(std::uint32_t factor, tnr_quantize_result result,
                          const std::vector<std::int64_t>& scales) {
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = TNR_NODE_QUANTIZE_DYNAMIC + static_cast<std::uint32_t>(result);
    node.dtype = TNR_DTYPE_I8;
    node.operands = &factor;
    node.operand_count = 1;
    node.numbers = scales.data();
    node.number_count = static_cast<std::uint32_t>(scales.size());
    return to_.add_node(node, copied_attributes);
  }

  const Graph& from_;
  const QuantizationPlan& plan_;
  GraphBuilder& to_;
  NodeCopier copier_;
  std::map<std::uint32_t, Integers> integers_;  // by value that has a range
  std::vector<std::uint32_t> there_;            // by value
};

}  // namespace

std::vector<std::uint32_t> add_quantized(GraphBuilder& builder,
                                         const std::vector<std::uint32_t>& of,
                                         const tnr_graph_quantize_attributes& attributes) {
  const QuantizationPlan plan(builder, of, attributes);
  if (std::ranges::find(plan.is_quantized, true) == plan.is_quantized.end()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "there is nothing to quantize: a product of f32 by a constant matrix of %d to %d rows and "
         "of %d columns at least, or a convolution by constant filters of as many elements and "
         "more than one channel, that is not kept",
         static_cast<int>(kFewestOfFactor), static_cast<int>(kMostExactDepth),
         static_cast<int>(kFewestOfFactor));
  }
  GraphBuilder extended = builder;
  Quantization quantization(builder, plan, extended);
  quantization.run();
  std::vector<std::uint32_t> quantized;
  quantized.reserve(of.size());
  for (const std::uint32_t value : of) quantized.push_back(quantization.value_of(value));
  builder = std::move(extended);
  return quantized;
}

std::vector<tnr_quantizable> find_quantizable(const GraphBuilder& builder,
                                              const std::vector<std::uint32_t>& of,
                                              const tnr_graph_quantize_attributes& attributes) {
  const QuantizationPlan plan(builder, of, attributes);
  const std::vector<GraphNode>& nodes = builder.graph().nodes;
  std::vector<tnr_quantizable> found;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (plan.is_quantized[i]) {
      found.push_back({nodes[i].result, nodes[i].operands[0], nodes[i].code, 0});
    }
  }
  return found;
}

void graph_quantize(GraphToken token, const std::uint32_t* of, std::uint32_t count,
                    const tnr_graph_quantize_attributes& attributes, std::uint32_t* quantized) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object(), SharedBuilder::Use::kCallsOthers);
  std::ranges::copy(add_quantized(graph.object().builder, {of, of + count}, attributes), quantized);
}

std::uint32_t graph_quantizable(GraphToken token, const std::uint32_t* of, std::uint32_t count,
                                const tnr_graph_quantize_attributes& attributes,
                                std::uint32_t capacity, tnr_quantizable* found) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object(), SharedBuilder::Use::kOwn);
  const std::vector<tnr_quantizable> all =
      find_quantizable(graph.object().builder, {of, of + count}, attributes);
  std::copy_n(all.begin(), std::min<std::size_t>(capacity, all.size()), found);
  return static_cast<std::uint32_t>(all.size());
}

}  // namespace tenure
