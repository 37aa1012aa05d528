#include "program/device/launches.hpp"

#include <algorithm>

#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

// Whether a launch may have the node at all.
bool is_launched(const Graph& graph, const std::vector<ArrayType>& types, const GraphNode& node) {
  const std::size_t first = node.code == TNR_NODE_SELECT ? 1 : 0;
  // Without an array there is no dtype.
  const auto array =
      std::find_if(node.operands.begin() + static_cast<std::ptrdiff_t>(first), node.operands.end(),
                   [&](std::uint32_t value) { return graph.scalar_of(value) == nullptr; });
  return array != node.operands.end() && fuses_on_device(node.code, types[*array].dtype);
}

// The most results that are held at once for another node than the next.
std::size_t most_held(const Graph& graph, const std::vector<std::uint32_t>& order) {
  std::vector<std::size_t> last_uses(order.size());
  const auto place_of = [&](std::uint32_t value) {
    return static_cast<std::size_t>(
        std::ranges::find_if(
            order, [&](std::uint32_t node) { return graph.nodes[node].result == value; }) -
        order.begin());
  };
  for (std::size_t p = 0; p < order.size(); ++p) {
    for (const std::uint32_t value : graph.nodes[order[p]].operands) {
      const std::size_t place = place_of(value);
      if (place < p) last_uses[place] = p;
    }
  }
  std::size_t most = 0;
  for (std::size_t p = 0; p < order.size(); ++p) {
    std::size_t held = 0;
    for (std::size_t q = 0; q <= p; ++q) held += last_uses[q] > p && last_uses[q] != q + 1 ? 1 : 0;
    most = std::max(most, held);
  }
  return most;
}

}  // namespace

bool fit_one_launch(const Graph& graph, const std::vector<ArrayType>& types,
                    const std::vector<std::uint32_t>& nodes) {
  if (nodes.size() > DeviceExpression::kMostNodes) return false;
  std::size_t number_count = 0;
  for (const std::uint32_t index : nodes) {
    const GraphNode& node = graph.nodes[index];
    if (!is_launched(graph, types, node)) return false;
    number_count += static_cast<std::size_t>(std::ranges::count_if(
        node.operands, [&](std::uint32_t value) { return graph.scalar_of(value) != nullptr; }));
  }
  return number_count <= DeviceExpression::kMostNumbers &&
         most_held(graph, {nodes.rbegin(), nodes.rend()}) <= DeviceExpression::kMostSlots;
}

}  // namespace tenure
