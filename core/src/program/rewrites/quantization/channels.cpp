#include "program/rewrites/quantization/channels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "program/passes/epilogues.hpp"
#include "tenure/blob.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kAddNode = TNR_NODE_BINARY | TNR_BINARY_OP_ADD;
constexpr std::uint32_t kMulNode = TNR_NODE_BINARY | TNR_BINARY_OP_MUL;

// A number of each channel becomes `number * scale + offset`.
struct ChannelNumbers {
  std::vector<double> scale;
  std::vector<double> offset;
};

bool are_finite(const ChannelNumbers& numbers) noexcept {
  const auto is_finite = [](double number) { return std::isfinite(number); };
  return std::ranges::all_of(numbers.scale, is_finite) &&
         std::ranges::all_of(numbers.offset, is_finite);
}

std::uint32_t channel_axis(const GraphNode& product, const ArrayType& result) noexcept {
  return product.code == TNR_NODE_CONV2D ? 1 : result.rank - 1;
}

bool has_plain_result(const GraphNode& product) noexcept {
  if (!product.has_attributes) return true;
  return product.code == TNR_NODE_CONV2D
             ? product.attributes.conv2d.activation == 0 && product.attributes.conv2d.flags == 0
             : product.attributes.matmul.activation == 0 && product.attributes.matmul.flags == 0;
}

class ChannelFolding {
 public:
  ChannelFolding(Graph& graph, std::vector<ArrayType>& types, std::vector<bool>& may_change)
      : graph_(graph), types_(types), may_change_(may_change) {}

  void run() {
    const std::vector<bool> needed = needed_nodes(graph_);
    uses_ = count_uses(graph_, needed);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!needed[i]) continue;
      for (const unsigned side : {0u, 1u}) {
        const std::uint32_t product = product_behind(i, side);
        if (product == kNone) continue;
        const std::optional<ChannelNumbers> numbers = numbers_of(i, side, product);
        if (!numbers || !are_finite(*numbers)) continue;
        replace(i, product, *numbers);
        break;
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // The index of the product that gives this operand of the node; kNone: no product does.
  std::uint32_t product_behind(std::size_t node, unsigned side) const {
    const GraphNode& of = graph_.nodes[node];
    if (side >= of.operands.size() || of.operands[side] == kNoValue) return kNone;
    const std::uint32_t value = of.operands[side];
    const GraphNode* const product = graph_.node_of(value);
    if (product == nullptr || uses_[value] != 1) return kNone;
    const std::uint32_t index = graph_.values[value].index;
    const std::uint32_t bias = product->operands.size() > 2 ? product->operands[2] : kNoValue;
    const bool fits = may_change_[index] && has_plain_result(*product) &&
                      (bias == kNoValue || graph_.constant_of(bias) != nullptr);
    return fits ? index : kNone;
  }

  std::optional<ChannelNumbers> numbers_of(std::size_t index, unsigned side,
                                           std::uint32_t product) const {
    const GraphNode& node = graph_.nodes[index];
    const ArrayType& result = types_[graph_.nodes[product].result];
    const std::uint32_t axis = channel_axis(graph_.nodes[product], result);
    if (node.code == TNR_NODE_BATCH_NORM && side == 0 && axis == 1) return batch_norm(node, result);
    ChannelNumbers numbers;
    const bool is_product = node.code == kMulNode;
    if (!is_product && node.code != kAddNode) return std::nullopt;
    std::optional<std::vector<double>> read = channels(node.operands[1 - side], result, axis);
    if (!read) return std::nullopt;
    const std::size_t count = read->size();
    numbers.scale = is_product ? std::move(*read) : std::vector<double>(count, 1);
    numbers.offset = is_product ? std::vector<double>(count) : std::move(*read);
    return numbers;
  }

  std::optional<ChannelNumbers> batch_norm(const GraphNode& node, const ArrayType& result) const {
    std::optional<std::vector<double>> parts[5];
    for (unsigned i = 1; i < 5; ++i) {
      const std::uint32_t value = i < node.operands.size() ? node.operands[i] : kNoValue;
      const bool is_factor = i == 2 || i == 3;
      parts[i] = value == kNoValue
                     ? std::vector<double>(static_cast<std::size_t>(result.shape[1]), is_factor)
                     : channels(value, {result.dtype, 1, {result.shape[1]}}, 0);
      if (!parts[i]) return std::nullopt;
    }
    ChannelNumbers numbers;
    for (std::size_t i = 0; i < parts[1]->size(); ++i) {
      const double scale =
          (*parts[3])[i] / std::sqrt((*parts[2])[i] + node.attributes.batch_norm.eps);
      numbers.scale.push_back(scale);
      numbers.offset.push_back((*parts[4])[i] - (*parts[1])[i] * scale);
    }
    return numbers;
  }

  // The elements of a constant that broadcasts to `result` with a number for each of its channels.
  std::optional<std::vector<double>> channels(std::uint32_t value, const ArrayType& result,
                                              std::uint32_t axis) const {
    const Constant* const constant = value == kNoValue ? nullptr : graph_.constant_of(value);
    if (constant == nullptr) return std::nullopt;
    const tnr_view& view = constant->view();
    if (view.dtype != TNR_DTYPE_F32 || view.rank > result.rank) return std::nullopt;
    const std::uint32_t missing = result.rank - view.rank;
    std::int64_t step = 0;
    for (std::uint32_t i = 0; i < view.rank; ++i) {
      if (view.shape[i] == 1) continue;
      if (i + missing != axis || view.shape[i] != result.shape[axis]) return std::nullopt;
      step = step_of(view, i);
    }
    Pins pins;
    pins.add(view, "a constant");
    std::vector<double> numbers(static_cast<std::size_t>(result.shape[axis]));
    const auto* from = static_cast<const char*>(view.data);
    for (double& number : numbers) {
      float read;
      std::memcpy(&read, from, sizeof read);
      number = read;
      from += step;
    }
    return numbers;
  }

  // Replaces the node with the product and its changed constants.
  void replace(std::size_t node, std::uint32_t product, const ChannelNumbers& numbers) {
    GraphNode made = graph_.nodes[product];
    made.result = graph_.nodes[node].result;
    made.operands.resize(3, kNoValue);
    made.operands[2] = changed_bias(made.operands[2], numbers);
    made.operands[1] = changed_factor(made, numbers);
    graph_.nodes[node] = std::move(made);
    may_change_[node] = true;
    may_change_[product] = false;
  }

  std::uint32_t changed_bias(std::uint32_t bias, const ChannelNumbers& numbers) {
    const auto count = static_cast<std::int64_t>(numbers.scale.size());
    const ArrayType type = {TNR_DTYPE_F32, 1, {count}};
    const std::vector<double> given =
        bias == kNoValue ? std::vector<double>(numbers.scale.size()) : *channels(bias, type, 0);
    const auto changed = std::make_shared<const Constant>(type);
    auto* const to = static_cast<float*>(const_cast<void*>(changed->view().data));
    for (std::size_t i = 0; i < given.size(); ++i) {
      to[i] = static_cast<float>(given[i] * numbers.scale[i] + numbers.offset[i]);
    }
    return add(changed, type);
  }

  std::uint32_t changed_factor(const GraphNode& product, const ChannelNumbers& numbers) {
    const std::uint32_t factor = product.operands[1];
    const ArrayType type = types_[factor];
    const auto changed = std::make_shared<const Constant>(type);
    copy(kDefaultContext, graph_.constant_of(factor)->view(), {changed->view()});
    auto* const to = static_cast<float*>(const_cast<void*>(changed->view().data));
    // A filter is a row, and a column of a matrix is one.
    const std::size_t count = numbers.scale.size();
    const auto elements = static_cast<std::size_t>(element_count(changed->view()));
    const std::size_t each = product.code == TNR_NODE_CONV2D ? elements / count : 1;
    for (std::size_t i = 0; i < elements; ++i) {
      to[i] = static_cast<float>(to[i] * numbers.scale[i / each % count]);
    }
    return add(changed, type);
  }

  std::uint32_t add(std::shared_ptr<const Constant> constant, const ArrayType& type) {
    graph_.constants.push_back(std::move(constant));
    graph_.values.push_back(
        {TNR_VALUE_SOURCE_CONSTANT, static_cast<std::uint32_t>(graph_.constants.size() - 1)});
    types_.push_back(type);
    uses_.push_back(1);
    return static_cast<std::uint32_t>(graph_.values.size() - 1);
  }

  Graph& graph_;
  std::vector<ArrayType>& types_;
  std::vector<bool>& may_change_;
  std::vector<std::uint32_t> uses_;  // by value
};

}  // namespace

bool is_of_channels(const GraphNode& node) noexcept {
  return node.code == TNR_NODE_BATCH_NORM || node.code == kAddNode || node.code == kMulNode;
}

void fold_channels(Graph& graph, std::vector<ArrayType>& types, std::vector<bool>& may_change) {
  ChannelFolding(graph, types, may_change).run();
}

}  // namespace tenure
