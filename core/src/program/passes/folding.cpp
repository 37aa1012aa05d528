#include "program/passes/folding.hpp"

#include <algorithm>
#include <utility>

#include "program/found.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

std::size_t bytes_of(const ArrayType& type) {
  return row_major_bytes(type.dtype, type.rank, type.shape);
}

}  // namespace

bool has_extents(const GraphNode& node) { return std::ranges::any_of(node.numbers, is_extent); }

std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size());
  const auto need = [&](std::uint32_t value) {
    if (value != kNoValue && graph.node_of(value) != nullptr) {
      needed[graph.values[value].index] = true;
    }
  };
  for (const GraphOutput& output : graph.outputs) need(output.value);
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    std::ranges::for_each(graph.nodes[i].operands, need);
    for (const std::uint32_t finding : finding_nodes(graph, graph.nodes[i])) {
      needed[finding] = true;
    }
  }
  return needed;
}

void Folding::run(const GraphNode& node) {
  operands_.assign(std::max(node.operands.size(), kMostFixedOperands), {});
  std::size_t given_bytes = most_bytes_;
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::uint32_t value = node.operands[i];
    if (value == kNoValue) continue;
    operands_[i].scalar = graph_.scalar_of(value);
    if (operands_[i].scalar != nullptr) continue;
    const Constant* const constant = graph_.constant_of(value);
    if (constant == nullptr) return;
    operands_[i].view = &constant->view();
    given_bytes += bytes_of(types_[value]);
  }
  const ArrayType& type = types_[node.result];
  if (operation_of(node).computes == Computes::kView && see(node)) return;
  if (bytes_of(type) <= given_bytes) compute(node, type);
}

void Folding::replace(std::uint32_t value, std::shared_ptr<const Constant> constant) {
  graph_.constants.push_back(std::move(constant));
  graph_.values[value] = {TNR_VALUE_SOURCE_CONSTANT,
                          static_cast<std::uint32_t>(graph_.constants.size() - 1)};
}

// Replaces a view of a constant by a constant in the same memory.
bool Folding::see(const GraphNode& node) {
  try {
    replace(node.result, std::make_shared<const Constant>(operation_of(node).view(
                             {node, node.numbers.data()}, *operands_[0].view)));
    return true;
  } catch (const Error&) {
    return false;  // a reshape that moves elements
  }
}

void Folding::compute(const GraphNode& node, const ArrayType& type) {
  const std::size_t size_bytes = bytes_of(type);
  const auto constant = std::make_shared<const Constant>(type);
  const tnr_view& view = constant->view();
  const OperationKind& kind = operation_of(node);
  if (kind.computes == Computes::kView) {
    // Its elements in row-major order, behind which they are seen.
    const tnr_view& from = *operands_[0].view;
    tnr_view moved =
        make_view(view.base, size_bytes, 0, from.dtype, from.rank, from.shape, nullptr);
    moved.owner = view.owner;
    copy(context_, from, {moved});
  } else {
    kind.run(context_, {node, node.numbers.data()}, operands_.data(), {view});
  }
  replace(node.result, constant);
}

void fold_constants(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
                    const Around* around) {
  const std::vector<bool> needed = needed_nodes(graph);
  Folding folding(context, graph, types);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (needed[i] && node.custom == nullptr && node.bodies.empty() && !has_extents(node)) {
      try {
        folding.run(node);
      } catch (const Error& error) {
        // A body refuses data when it runs, and not before.
        if (around == nullptr || error.status() == TNR_STATUS_OUT_OF_MEMORY) throw;
      }
    }
  }
}

}  // namespace tenure
