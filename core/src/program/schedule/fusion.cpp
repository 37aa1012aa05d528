#include "program/schedule/fusion.hpp"

#include <algorithm>
#include <cstddef>
#include <queue>

#include "base/array_type.hpp"
#include "program/operations.hpp"

namespace tenure {
namespace {

// Bounds of one fused expression: the checks of a run are linear in views, and panels
// of many leave the first cache.
constexpr std::size_t kMostFusedNodes = 64;
constexpr std::size_t kMostFusedViews = 12;

class Fuser {
 public:
  Fuser(const Graph& graph, const std::vector<bool>& needed, const std::vector<ArrayType>& types,
        const Target& target)
      : graph_(graph), needed_(needed), types_(types), target_(target) {
    users_.resize(graph_.values.size());
    is_output_.resize(graph_.values.size());
    root_of_.resize(graph_.nodes.size());
    for (std::uint32_t i = 0; i < graph_.nodes.size(); ++i) {
      root_of_[i] = i;
      if (!needed_[i]) continue;
      for (const std::uint32_t value : graph_.nodes[i].operands) {
        if (value != kNoValue) users_[value].push_back(i);
      }
    }
    for (const GraphOutput& output : graph_.outputs) is_output_[output.value] = true;
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t root = static_cast<std::uint32_t>(graph_.nodes.size()); root-- > 0;) {
      if (!needed_[root] || root_of_[root] != root) continue;
      const Computes kind = computes(root);
      // A device would store what a reduction reads in any case.
      if (kind == Computes::kElementwise ||
          (kind == Computes::kReduction && !target_.is_device())) {
        take_into(root);
      }
    }
    return std::move(root_of_);
  }

 private:
  [[nodiscard]] Computes computes(std::uint32_t node) const {
    return operation_of(graph_.nodes[node]).computes;
  }

  [[nodiscard]] bool fit(const std::vector<std::uint32_t>& nodes) const {
    return fits_expression(graph_, types_, nodes, target_);
  }

  void take_into(std::uint32_t root) {
    const GraphNode& last = graph_.nodes[root];
    const bool reduces = computes(root) == Computes::kReduction;
    const ArrayType& domain = reduces ? types_[last.operands[0]] : types_[last.result];
    std::vector<std::uint32_t> views;  // values that the expression reads
    // Nodes that compute them. Later ones first: all users of a node have been taken, or will not
    // be.
    std::priority_queue<std::uint32_t> candidates;
    const auto read = [&](const GraphNode& node) {
      for (const std::uint32_t value : node.operands) {
        if (graph_.scalar_of(value) != nullptr) continue;
        if (std::ranges::find(views, value) != views.end()) continue;
        views.push_back(value);
        if (graph_.node_of(value) != nullptr) candidates.push(graph_.values[value].index);
      }
    };
    read(last);
    std::vector<std::uint32_t> nodes = {root};
    if (!fit(nodes)) return;
    while (!candidates.empty()) {
      const std::uint32_t i = candidates.top();
      candidates.pop();
      if (!needed_[i] || root_of_[i] != i) continue;
      const std::uint32_t value = graph_.nodes[i].result;
      const auto at = std::ranges::find(views, value);
      if (at == views.end() || is_output_[value] || computes(i) != Computes::kElementwise ||
          !same_shape(types_[value], domain)) {
        continue;
      }
      if (!std::ranges::all_of(users_[value],
                               [&](std::uint32_t user) { return root_of_[user] == root; })) {
        continue;
      }
      const std::vector<std::uint32_t> before = views;
      views.erase(at);
      read(graph_.nodes[i]);
      nodes.push_back(i);
      if (views.size() > kMostFusedViews || !fit(nodes)) {
        views = before;
        nodes.pop_back();
        continue;
      }
      root_of_[i] = root;
    }
  }

  const Graph& graph_;
  const std::vector<bool>& needed_;
  const std::vector<ArrayType>& types_;
  const Target& target_;
  std::vector<std::vector<std::uint32_t>> users_;  // by value: nodes
  std::vector<bool> is_output_;                    // by value
  std::vector<std::uint32_t> root_of_;             // by node
};

}  // namespace

std::vector<std::uint32_t> fused_roots(const Graph& graph, const std::vector<bool>& needed,
                                       const std::vector<ArrayType>& types, const Target& target) {
  return Fuser(graph, needed, types, target).run();
}

bool fits_expression(const Graph& graph, const std::vector<ArrayType>& types,
                     const std::vector<std::uint32_t>& nodes, const Target& target) {
  return nodes.size() <= kMostFusedNodes &&
         (!target.is_device() || target.fits(graph, types, nodes));
}

}  // namespace tenure
