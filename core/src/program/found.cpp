#include "program/found.hpp"

#include <algorithm>
#include <cinttypes>

#include "program/control.hpp"
#include "tenure/status.hpp"

namespace tenure {
namespace {

// The later one of two nodes; kHandedOver is before all, and kNoValue none.
std::uint32_t later_of(std::uint32_t a, std::uint32_t b) noexcept {
  if (a == kNoValue || b == kNoValue) return std::min(a, b);
  if (a == kHandedOver || b == kHandedOver) return std::min(a, b);
  return std::max(a, b);
}

// The node that decides the last one of the extents that a body names.
std::uint32_t last_named(const Graph& graph, const Deciding& deciding, const Body& body) {
  std::uint32_t last = kNoValue;
  for (const Extent& extent : body.graph.extents) {
    const std::size_t outer = outer_index(graph, extent);
    if (outer < graph.extents.size()) last = later_of(last, deciding.of_extents[outer]);
  }
  return last;
}

}  // namespace

std::vector<bool> extents_in(const Graph& graph, std::int64_t number) {
  std::vector<bool> in(graph.extents.size());
  const auto mark = [&](std::int64_t part) {
    // An extent of a node that is being added may be none of the graph's.
    if (is_extent(part) && extent_index(part) < in.size()) in[extent_index(part)] = true;
  };
  mark(number);
  // An extent is behind those that it is made of.
  for (std::size_t i = in.size(); i-- > 0;) {
    if (!in[i] || graph.extents[i].op == 0) continue;
    mark(graph.extents[i].a);
    mark(graph.extents[i].b);
  }
  return in;
}

std::size_t outer_index(const Graph& graph, const Extent& extent) noexcept {
  if (!is_outer(extent)) return graph.extents.size();
  const auto outer =
      std::ranges::find_if(graph.extents, [&](const Extent& of) { return is_same(of, extent); });
  return static_cast<std::size_t>(outer - graph.extents.begin());
}

std::uint32_t last_finding(const Graph& graph, std::int64_t number) {
  std::uint32_t last = kNoValue;
  if (!is_extent(number)) return last;
  const std::vector<bool> in = extents_in(graph, number);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i]) last = later_of(last, graph.extents[i].node);
  }
  return last;
}

std::vector<std::uint32_t> finding_nodes(const Graph& graph, const GraphNode& node) {
  std::vector<std::uint32_t> nodes;
  if (!graph.finds_extents) return nodes;
  const auto add = [&](std::int64_t number) {
    if (!is_extent(number)) return;
    const std::vector<bool> in = extents_in(graph, number);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i] && graph.extents[i].node != kNoValue) nodes.push_back(graph.extents[i].node);
    }
  };
  std::ranges::for_each(node.numbers, add);
  for (const auto& body : node.bodies) {
    for (const Extent& extent : body->graph.extents) {
      const std::size_t outer = outer_index(graph, extent);
      if (outer < graph.extents.size()) add(TNR_EXTENT + static_cast<std::int64_t>(outer));
    }
  }
  return nodes;
}

Deciding deciding_nodes(const Graph& graph, const std::vector<ArrayType>& types,
                        const Outside* outside) {
  Deciding deciding;
  add_deciding(deciding, graph, types, outside);
  return deciding;
}

void add_deciding(Deciding& deciding, const Graph& graph, const std::vector<ArrayType>& types,
                  const Outside* outside) {
  const auto first_new = static_cast<std::uint32_t>(deciding.of_nodes.size());
  deciding.of_values.resize(graph.values.size(), kNoValue);
  deciding.of_extents.resize(graph.extents.size(), kNoValue);
  // Last: a call that fails has added none.
  deciding.of_nodes.resize(graph.nodes.size(), kNoValue);
  if (!graph.finds_extents && outside == nullptr) return;
  const auto of_number = [&](std::int64_t number) {
    // An extent of a node that is being added may be none of the graph's.
    const bool is_known = is_extent(number) && extent_index(number) < graph.extents.size();
    return is_known ? deciding.of_extents[extent_index(number)] : kNoValue;
  };
  // An extent is behind those that it is made of.
  for (std::size_t i = 0; i < graph.extents.size(); ++i) {
    const Extent& extent = graph.extents[i];
    deciding.of_extents[i] =
        extent.op == 0 ? extent.node : later_of(of_number(extent.a), of_number(extent.b));
    if (outside != nullptr && outside->extents[i]) deciding.of_extents[i] = kHandedOver;
  }
  for (std::size_t i = 0; outside != nullptr && i < graph.inputs.size(); ++i) {
    if (outside->inputs[i]) deciding.of_values[graph.inputs[i].value] = kHandedOver;
  }
  for (std::uint32_t i = first_new; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    std::uint32_t last = kNoValue;
    for (const std::int64_t number : node.numbers) last = later_of(last, of_number(number));
    for (const std::uint32_t value : node.operands) {
      if (value != kNoValue) last = later_of(last, deciding.of_values[value]);
    }
    bool has_decided_bodies = false;
    for (const auto& body : node.bodies) {
      const std::uint32_t named = last_named(graph, deciding, *body);
      last = later_of(last, named);
      has_decided_bodies |= body->graph.finds_extents || named != kNoValue;
    }
    deciding.of_nodes[i] = last;
    // The shapes of a control node's results are known only after the node.
    const bool is_decided = last != kNoValue || has_decided_bodies;
    const std::uint32_t by = node.bodies.empty() ? last : is_decided ? i : kNoValue;
    for (std::uint32_t value = node.result; value < node.result + node.result_count; ++value) {
      if (types[value].rank != 0) deciding.of_values[value] = by;
    }
  }
}

Outside outside_of(const Graph& graph, const Deciding& deciding, const GraphNode& node,
                   const Body& body) {
  Outside outside;
  const std::size_t first = is_while(node) ? 0 : 1;
  for (std::size_t i = 0; i < body.graph.inputs.size(); ++i) {
    bool is_decided = deciding.of_values[node.operands[first + i]] != kNoValue;
    // The next iteration reads what this one gives.
    if (is_while(node) && i < node.result_count) {
      is_decided |= deciding.of_values[node.result + i] != kNoValue;
    }
    outside.inputs.push_back(is_decided);
  }
  for (const Extent& extent : body.graph.extents) {
    const std::size_t outer = outer_index(graph, extent);
    outside.extents.push_back(outer < graph.extents.size() &&
                              deciding.of_extents[outer] != kNoValue);
  }
  return outside;
}

void require_own_extent(const Graph& graph, std::int64_t number) {
  if (!is_extent(number) || extent_index(number) >= graph.extents.size() ||
      graph.extents[extent_index(number)].op != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "node->numbers[0] is %" PRId64 " but must be a named extent",
         number);
  }
  const std::size_t index = extent_index(number);
  const Extent& extent = graph.extents[index];
  if (extent.node != kNoValue) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%" PRIu32 "], %s, finds %s already", extent.node,
         operation_name(graph.nodes[extent.node]), extent.name);
  }
  const auto takes = [&](const std::vector<std::int64_t>& numbers) {
    return std::ranges::any_of(numbers, [&](std::int64_t part) {
      return is_extent(part) && extents_in(graph, part)[index];
    });
  };
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (!takes(graph.inputs[i].shape)) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT, "inputs[%zu] has %s, so that no node finds it", i,
         extent.name);
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const bool is_named = std::ranges::any_of(node.bodies, [&](const auto& body) {
      return std::ranges::any_of(body->graph.extents, [&](const Extent& of) {
        return is_outer(of) && is_same(of, extent);
      });
    });
    if (!is_named && !takes(node.numbers)) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%zu], %s, takes %s before it is found", i,
         operation_name(node), extent.name);
  }
}

}  // namespace tenure
