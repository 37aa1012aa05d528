#include "program/found.hpp"

#include <algorithm>
#include <cinttypes>

#include "tenure/status.hpp"

namespace tenure {
namespace {

// The later one of two nodes, or kNoValue.
std::uint32_t later_of(std::uint32_t a, std::uint32_t b) noexcept {
  if (a == kNoValue || b == kNoValue) return std::min(a, b);
  return std::max(a, b);
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

std::uint32_t last_finding(const Graph& graph, std::int64_t number) {
  std::uint32_t last = kNoValue;
  if (!is_extent(number)) return last;
  const std::vector<bool> in = extents_in(graph, number);
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i]) last = later_of(last, graph.extents[i].node);
  }
  return last;
}

Deciding deciding_nodes(const Graph& graph, const std::vector<ArrayType>& types) {
  Deciding deciding = {std::vector<std::uint32_t>(graph.nodes.size(), kNoValue),
                       std::vector<std::uint32_t>(graph.values.size(), kNoValue)};
  if (std::ranges::all_of(graph.extents, [](const Extent& of) { return of.node == kNoValue; })) {
    return deciding;
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    std::uint32_t last = kNoValue;
    for (const std::int64_t number : node.numbers) {
      last = later_of(last, last_finding(graph, number));
    }
    for (const std::uint32_t value : node.operands) {
      if (value != kNoValue) last = later_of(last, deciding.of_values[value]);
    }
    deciding.of_nodes[i] = last;
    for (std::uint32_t value = node.result; value < node.result + node.result_count; ++value) {
      if (types[value].rank != 0) deciding.of_values[value] = last;
    }
  }
  return deciding;
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
      return std::ranges::any_of(body->graph.extents,
                                 [&](const Extent& of) { return is_same(of, extent); });
    });
    if (!is_named && !takes(node.numbers)) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%zu], %s, takes %s before it is found", i,
         operation_name(node), extent.name);
  }
}

void require_known_sizes(const Graph& graph, const std::vector<ArrayType>& types,
                         const GraphNode& node) {
  const std::vector<std::uint32_t> deciding = deciding_nodes(graph, types).of_values;
  const auto refuse = [&](const char* what, std::size_t index, std::uint32_t finding) {
    if (finding == kNoValue) return;
    fail(TNR_STATUS_UNSUPPORTED,
         "%s: the size of %s[%zu] is what nodes[%" PRIu32 "], %s, finds in a run",
         operation_name(node), what, index, finding, operation_name(graph.nodes[finding]));
  };
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (node.operands[i] != kNoValue) refuse("operands", i, deciding[node.operands[i]]);
  }
  for (std::size_t i = 0; i < node.numbers.size(); ++i) {
    refuse("numbers", i, last_finding(graph, node.numbers[i]));
  }
  for (const auto& body : node.bodies) {
    for (std::size_t i = 0; i < graph.extents.size(); ++i) {
      if (std::ranges::none_of(body->graph.extents,
                               [&](const Extent& of) { return is_same(of, graph.extents[i]); })) {
        continue;
      }
      refuse("extents", i, graph.extents[i].node);
    }
  }
}

}  // namespace tenure
