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
// Reductions of rows: each has results of some rows in the first cache.
constexpr std::ptrdiff_t kMostFusedReductions = 4;

Computes computes(const GraphNode& node) { return operation_of(node).computes; }

// The type that an expression over the node is computed in: that of its result, or of the elements
// that it reduces.
const ArrayType& domain_of(const GraphNode& node, const std::vector<ArrayType>& types) {
  return types[computes(node) == Computes::kReduction ? node.operands[0] : node.result];
}

class Fuser {
 public:
  Fuser(const Graph& graph, const std::vector<bool>& needed, const std::vector<ArrayType>& types,
        const Deciding& deciding, const Target& target)
      : graph_(graph), needed_(needed), types_(types), deciding_(deciding), target_(target) {
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
      const Computes kind = computes(graph_.nodes[root]);
      // A device would store what a reduction reads in any case.
      if (kind != Computes::kElementwise && (kind != Computes::kReduction || target_.is_device())) {
        continue;
      }
      if (!take_with_rows(root)) take_into(root, nullptr);
    }
    return std::move(root_of_);
  }

 private:
  [[nodiscard]] bool fit(const std::vector<std::uint32_t>& nodes) const {
    return fits_expression(graph_, types_, nodes, target_);
  }

  [[nodiscard]] std::ptrdiff_t count_reductions(const std::vector<std::uint32_t>& nodes) const {
    return std::ranges::count_if(
        nodes, [&](std::uint32_t i) { return computes(graph_.nodes[i]) == Computes::kReduction; });
  }

  // Takes nodes with one element for each row of the root too, if reductions of its rows are among
  // them: without these, such nodes are better computed before.
  bool take_with_rows(std::uint32_t root) {
    const GraphNode& last = graph_.nodes[root];
    ArrayType rows = types_[last.result];
    if (computes(last) != Computes::kElementwise || target_.is_device() || rows.rank == 0 ||
        rows.shape[rows.rank - 1] < 2) {
      return false;
    }
    rows.shape[rows.rank - 1] = 1;
    const std::vector<std::uint32_t> nodes = take_into(root, &rows);
    if (count_reductions(nodes) != 0) return true;
    for (const std::uint32_t i : nodes) root_of_[i] = i;
    return false;
  }

  // Whether an expression over `domain` may have the node before its last one. `rows`: the shape of
  // one element for each row, or nullptr.
  [[nodiscard]] bool may_take(std::uint32_t i, const ArrayType& domain, const ArrayType* rows,
                              const std::vector<std::uint32_t>& nodes) const {
    const GraphNode& node = graph_.nodes[i];
    const ArrayType& type = types_[node.result];
    if (computes(node) == Computes::kElementwise && same_shape(type, domain)) return true;
    if (rows == nullptr || !same_shape(type, *rows) || deciding_.of_nodes[i] != kNoValue) {
      return false;
    }
    if (computes(node) == Computes::kElementwise) return true;
    return node.kind() << kNodeKindShift == TNR_NODE_REDUCE &&
           node.flags == (TNR_NODE_KEEP_AXES | std::uint32_t{1} << (type.rank - 1)) &&
           same_shape(types_[node.operands[0]], domain) &&
           count_reductions(nodes) < kMostFusedReductions;
  }

  // Returns the nodes that the root now has, itself first.
  std::vector<std::uint32_t> take_into(std::uint32_t root, const ArrayType* rows) {
    const GraphNode& last = graph_.nodes[root];
    const ArrayType& domain = domain_of(last, types_);
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
    if (!fit(nodes)) return nodes;
    while (!candidates.empty()) {
      const std::uint32_t i = candidates.top();
      candidates.pop();
      if (!needed_[i] || root_of_[i] != i) continue;
      const std::uint32_t value = graph_.nodes[i].result;
      const auto at = std::ranges::find(views, value);
      if (at == views.end() || is_output_[value] || !may_take(i, domain, rows, nodes)) continue;
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
    return nodes;
  }

  const Graph& graph_;
  const std::vector<bool>& needed_;
  const std::vector<ArrayType>& types_;
  const Deciding& deciding_;
  const Target& target_;
  std::vector<std::vector<std::uint32_t>> users_;  // by value: nodes
  std::vector<bool> is_output_;                    // by value
  std::vector<std::uint32_t> root_of_;             // by node
};

}  // namespace

std::vector<std::uint32_t> fused_roots(const Graph& graph, const std::vector<bool>& needed,
                                       const std::vector<ArrayType>& types,
                                       const Deciding& deciding, const Target& target) {
  return Fuser(graph, needed, types, deciding, target).run();
}

std::vector<std::uint32_t> split_roots(const Graph& graph, const std::vector<ArrayType>& types,
                                       const std::vector<std::uint32_t>& nodes) {
  std::vector<std::uint32_t> roots = nodes;
  for (std::size_t i = nodes.size() - 1; i-- > 0;) {
    const GraphNode& node = graph.nodes[nodes[i]];
    if (computes(node) == Computes::kReduction) continue;
    std::uint32_t root = kNoValue;
    bool is_one = true;
    for (std::size_t user = i + 1; user < nodes.size(); ++user) {
      if (std::ranges::count(graph.nodes[nodes[user]].operands, node.result) == 0) continue;
      is_one &= root == kNoValue || root == roots[user];
      root = roots[user];
    }
    if (is_one && same_shape(types[node.result], domain_of(graph.nodes[root], types))) {
      roots[i] = root;
    }
  }
  return roots;
}

bool fits_expression(const Graph& graph, const std::vector<ArrayType>& types,
                     const std::vector<std::uint32_t>& nodes, const Target& target) {
  return nodes.size() <= kMostFusedNodes &&
         (!target.is_device() || target.fits(graph, types, nodes));
}

}  // namespace tenure
