#include "program/rewrites/quantization/quantization.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/arithmetic.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "program/operations.hpp"
#include "program/passes/epilogues.hpp"
#include "program/rewrites/bodies.hpp"
#include "program/rewrites/derivation.hpp"
#include "program/rewrites/quantization/channels.hpp"
#include "program/rewrites/quantization/plan.hpp"
#include "tenure/dtype.hpp"
#include "tenure/quantize.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

// Integers as values: with their scale, and their zero point.
struct Integers {
  std::uint32_t values;
  std::uint32_t scale = kNoValue;
  std::uint32_t zero = kNoValue;
};

bool operator==(const AffineScale& a, const AffineScale& b) noexcept {
  return a.scale == b.scale && a.zero == b.zero;
}

// A copy of a graph in which numbers of channels and epilogues are parts of the nodes that are
// quantized. Values have the numbers that they have in the graph; further ones are new constants.
class PreparedGraph {
 public:
  PreparedGraph(const GraphBuilder& from, const QuantizationPlan& plan)
      : graph_(from.graph()), types_(from.types()), is_quantized_(plan.is_quantized) {
    // Nodes whose results are read besides are not joined.
    graph_.outputs.clear();
    for (const std::uint32_t value : plan.of) graph_.outputs.push_back({value, kNoValue});
    for (const std::uint32_t value : plan.kept) graph_.outputs.push_back({value, kNoValue});
    fold_constant_operands();
    fold_channels(graph_, types_, is_quantized_);
    Replaced replaced(graph_.nodes.size());
    join_epilogues(graph_, types_, nullptr, replaced);
    for (GraphNode& node : graph_.nodes) give_attributes(node);
    needed_ = values_for(graph_, plan.of);
    is_quantized_ = quantizable_nodes(graph_, types_, needed_);
    for (const std::uint32_t value : plan.kept) {
      if (graph_.node_of(value) != nullptr) is_quantized_[graph_.values[value].index] = false;
    }
  }

  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] const std::vector<bool>& needed() const noexcept { return needed_; }
  [[nodiscard]] const std::vector<bool>& is_quantized() const noexcept { return is_quantized_; }

 private:
  // Epilogues are in attributes, also of a node that was given none.
  static void give_attributes(GraphNode& node) noexcept {
    if (node.has_attributes) return;
    if (node.code == TNR_NODE_MATMUL) {
      node.attributes.matmul.struct_size = sizeof node.attributes.matmul;
    } else if (node.code == TNR_NODE_CONV2D) {
      node.attributes.conv2d.struct_size = sizeof node.attributes.conv2d;
    } else {
      return;
    }
    node.has_attributes = true;
  }

  // Folds the constants that quantized nodes take, and those of channels behind them.
  void fold_constant_operands() {
    const std::vector<bool> is_constant = constant_values(graph_);
    std::vector<bool> wanted(graph_.nodes.size());
    const auto want = [&](const GraphNode& node, std::int64_t most_elements) {
      for (const std::uint32_t value : node.operands) {
        if (value != kNoValue && is_constant[value] && graph_.node_of(value) != nullptr &&
            element_count(types_[value]) <= most_elements) {
          wanted[graph_.values[value].index] = true;
        }
      }
    };
    std::vector<bool> reaches(graph_.values.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      if (is_quantized_[i]) {
        want(node, INT64_MAX);
      } else if (is_of_channels(node) &&
                 std::ranges::any_of(node.operands, [&](std::uint32_t value) {
                   return value != kNoValue && reaches[value];
                 })) {
        const ArrayType& type = types_[node.result];
        want(node, *std::max_element(type.shape, type.shape + type.rank));
      } else {
        continue;
      }
      reaches[node.result] = true;
    }
    for (std::size_t i = graph_.nodes.size(); i-- > 0;) {
      if (wanted[i]) want(graph_.nodes[i], INT64_MAX);
    }
    Folding folding(kDefaultContext, graph_, types_, Folding::kAnyBytes);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) folding.run(graph_.nodes[i]);
    }
  }
  static std::int64_t element_count(const ArrayType& type) noexcept {
    return std::accumulate(type.shape, type.shape + type.rank, std::int64_t{1}, product_or_most);
  }

  Graph graph_;
  std::vector<ArrayType> types_;    // by value
  std::vector<bool> is_quantized_;  // by node
  std::vector<bool> needed_;        // by value
};

class Quantization {
 public:
  Quantization(const PreparedGraph& from, const QuantizationPlan& plan, GraphBuilder& to)
      : from_(from.graph()),
        prepared_(from),
        plan_(plan),
        to_(to),
        copier_(from_, to),
        there_(from_.values.size()),
        readers_(from_.values.size()),
        is_output_(from_.values.size()) {
    for (std::uint32_t value = 0; value < there_.size(); ++value) {
      there_[value] = value < to.graph().values.size() ? value : kNoValue;
    }
    for (const std::uint32_t value : plan.of) is_output_[value] = true;
    for (std::uint32_t i = 0; i < from_.nodes.size(); ++i) {
      if (!is_needed(from_.nodes[i])) continue;
      for (const std::uint32_t value : from_.nodes[i].operands) {
        if (value != kNoValue) readers_[value].push_back(i);
      }
    }
  }

  void run() {
    const std::vector<bool> changed = values_behind(from_, prepared_.is_quantized());
    copier_.share_extents(changed);
    for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
      const GraphNode& node = from_.nodes[i];
      if (!changed[node.result] || from_.node_of(node.result) != &node || !is_needed(node)) {
        continue;
      }
      to_.set_number(node.number);
      const std::uint32_t first = prepared_.is_quantized()[i] ? product(node) : copy(node);
      to_.set_number(kNoValue);
      for (std::uint32_t k = 0; k < node.result_count; ++k) there_[node.result + k] = first + k;
    }
  }
  [[nodiscard]] std::uint32_t value_of(std::uint32_t value) const { return there_[value]; }

 private:
  [[nodiscard]] bool is_needed(const GraphNode& node) const {
    const auto first = prepared_.needed().begin() + node.result;
    return std::find(first, first + node.result_count, true) != first + node.result_count;
  }

  std::uint32_t there(std::uint32_t value) {
    if (value == kNoValue) return kNoValue;
    if (there_[value] == kNoValue) there_[value] = copier_.add_given(value);
    return there_[value];
  }

  std::uint32_t copy(const GraphNode& node) {
    std::vector<std::uint32_t> operands = node.operands;
    for (std::uint32_t& value : operands) value = there(value);
    const std::uint32_t made = copier_.add_node(node, std::move(operands));
    // A view of integers.
    const auto known = node.operands.empty() ? integers_.end() : integers_.find(node.operands[0]);
    if (known != integers_.end() && known->second.values == there_[node.operands[0]]) {
      integers_[node.result] = {made, known->second.scale, known->second.zero};
    }
    return made;
  }

  // A product or a convolution.
  std::uint32_t product(const GraphNode& node) {
    const bool is_convolution = node.code == TNR_NODE_CONV2D;
    const Integers a = left(node.operands[0]);
    const Constant& b = *from_.constant_of(node.operands[1]);
    const std::vector<std::int64_t> scales =
        is_convolution ? std::vector<std::int64_t>{b.view().shape[0], 1, 1, 1}
                       : std::vector<std::int64_t>{1, b.view().shape[1]};
    const Integers& factor = constant_integers(b, scales);
    const std::uint32_t bias = node.operands.size() > 2 ? there(node.operands[2]) : kNoValue;
    GraphNode made = node;
    made.code = is_convolution ? TNR_NODE_QUANTIZED_CONV2D : TNR_NODE_QUANTIZED_MATMUL;
    made.dtype = TNR_DTYPE_F32;
    if (!is_convolution && a.scale == kNoValue) {
      made.attributes.matmul.flags |= TNR_QUANTIZE_AFFINE_ROWS;
    }
    std::vector<std::uint32_t> operands = {a.values, factor.values, a.scale, factor.scale,
                                           a.zero,   kNoValue,      bias};
    const std::optional<AffineScale> given = scale_behind(node.result);
    if (!given) return copier_.add_node(made, std::move(operands));
    Integers result = constants_of(*given);
    operands.insert(operands.end(), {result.scale, result.zero});
    made.dtype = TNR_DTYPE_U8;
    result.values = copier_.add_node(made, std::move(operands));
    integers_[node.result] = result;
    return result.values;
  }

  // The scale by which all nodes that read the value quantize it, also views of it.
  [[nodiscard]] std::optional<AffineScale> scale_behind(std::uint32_t value) const {
    if (is_output_[value] || readers_[value].empty()) return std::nullopt;
    std::optional<AffineScale> common;
    for (const std::uint32_t reader : readers_[value]) {
      const GraphNode& node = from_.nodes[reader];
      std::optional<AffineScale> scale;
      if (prepared_.is_quantized()[reader]) {
        const auto range = plan_.ranges.find(value);
        const bool is_left = std::ranges::count(node.operands, value) == 1;
        if (is_left && node.operands[0] == value && range != plan_.ranges.end()) {
          scale = range->second;
        }
      } else if (operation_of(node).computes == Computes::kView) {
        scale = scale_behind(node.result);
      }
      if (!scale || (common && !(*common == *scale))) return std::nullopt;
      common = scale;
    }
    return common;
  }

  // The left operand: integers by its range, or numbers without one.
  Integers left(std::uint32_t value) {
    const auto known = integers_.find(value);
    if (known != integers_.end()) return known->second;
    const auto range = plan_.ranges.find(value);
    if (range == plan_.ranges.end()) return {there(value)};
    Integers made = constants_of(range->second);
    const std::uint32_t operands[] = {there(value), made.scale, made.zero};
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    node.code = TNR_NODE_QUANTIZE;
    node.dtype = TNR_DTYPE_U8;
    node.operands = operands;
    node.operand_count = 3;
    made.values = to_.add_node(node, copied_attributes);
    integers_[value] = made;
    return made;
  }

  // The scale and the zero point as constants, once for all that have them.
  Integers constants_of(const AffineScale& of) {
    const auto [at, is_new] = constants_.try_emplace({of.scale, of.zero}, Integers{kNoValue});
    if (is_new) {
      const auto zero = static_cast<std::uint8_t>(of.zero);
      at->second.scale = one(&of.scale, TNR_DTYPE_F32);
      at->second.zero = one(&zero, TNR_DTYPE_U8);
    }
    return at->second;
  }
  std::uint32_t one(const void* element, tnr_dtype dtype) {
    const std::int64_t shape[] = {1};
    return to_.add_constant(
        make_view(const_cast<void*>(element), element_size(dtype), 0, dtype, 1, shape, nullptr));
  }

  // The integers of a constant, with scales of this shape, as new constants.
  const Integers& constant_integers(const Constant& of, const std::vector<std::int64_t>& scales) {
    const auto [at, is_new] = factors_.try_emplace({&of, scales}, Integers{kNoValue});
    if (!is_new) return at->second;
    const tnr_view& view = of.view();
    ArrayType type = {TNR_DTYPE_I8, view.rank, {}};
    std::copy_n(view.shape, view.rank, type.shape);
    const auto values = std::make_shared<const Constant>(type);
    type = {TNR_DTYPE_F32, static_cast<std::uint32_t>(scales.size()), {}};
    std::ranges::copy(scales, type.shape);
    const auto of_scales = std::make_shared<const Constant>(type);
    quantize_dynamic(kDefaultContext, view, {of_scales->view()}, nullptr, {values->view()});
    at->second = {to_.add_constant(values), to_.add_constant(of_scales)};
    return at->second;
  }

  const Graph& from_;
  const PreparedGraph& prepared_;
  const QuantizationPlan& plan_;
  GraphBuilder& to_;
  NodeCopier copier_;
  std::vector<std::uint32_t> there_;                 // by value; kNoValue: not there yet
  std::vector<std::vector<std::uint32_t>> readers_;  // by value: needed nodes
  std::vector<bool> is_output_;                      // by value
  std::map<std::uint32_t, Integers> integers_;       // by value
  std::map<std::pair<float, int>, Integers> constants_;
  std::map<std::pair<const Constant*, std::vector<std::int64_t>>, Integers> factors_;
};

}  // namespace

std::vector<std::uint32_t> add_quantized(GraphBuilder& builder,
                                         const std::vector<std::uint32_t>& of,
                                         const tnr_graph_quantize_attributes& attributes) {
  const QuantizationPlan plan(builder, of, attributes);
  if (std::ranges::find(plan.is_quantized, true) == plan.is_quantized.end()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "there is nothing to quantize: a product of f32 by a constant matrix of %d to %d rows and "
         "of %d columns at least, or a convolution by constant filters of %d to %d elements and "
         "more "
         "than one channel, %d in each group at least, that is not kept",
         static_cast<int>(kFewestOfFactor), static_cast<int>(kMostExactDepth),
         static_cast<int>(kFewestOfFactor), static_cast<int>(kFewestOfFilter),
         static_cast<int>(kMostExactDepth), static_cast<int>(kFewestFilters));
  }
  const PreparedGraph prepared(builder, plan);
  GraphBuilder extended = builder;
  Quantization quantization(prepared, plan, extended);
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
