#include "program/rewrites/bodies.hpp"

#include <algorithm>

#include "program/custom.hpp"
#include "program/found.hpp"
#include "program/operations.hpp"
#include "program/rewrites/derivation.hpp"

namespace tenure {
namespace {

// The extent of the graph that is `extent`; for a named one only where no node finds it.
std::int64_t find_extent(const Graph& graph, const Extent& extent) {
  const auto at = std::ranges::find_if(graph.extents, [&](const Extent& of) {
    if (extent.op != 0) return of.op == extent.op && of.a == extent.a && of.b == extent.b;
    return is_outer(of) && is_same(of, extent);
  });
  return at == graph.extents.end() ? -1 : TNR_EXTENT + (at - graph.extents.begin());
}

}  // namespace

std::int64_t BodyExtents::inner_extent(const Extent& extent) {
  Extent own = extent;
  if (own.op != 0) {
    own.a = inner_number(own.a);
    own.b = inner_number(own.b);
  }
  const std::int64_t there = find_extent(body_.graph(), own);
  if (there >= 0) return there;
  return own.op == 0 ? body_.add_extent(own.name, own.a)
                     : body_.combine_extents(own.op, own.a, own.b);
}

std::int64_t BodyExtents::inner_number(std::int64_t outer) {
  outer = around_shapes_.known(outer);
  if (!is_unknown(outer) && !is_extent(outer)) return outer;
  const auto there = inner_.find(outer);
  if (there != inner_.end()) return there->second;
  // A copy: extents move where others are added.
  const std::int64_t inner = is_unknown(outer)
                                 ? shapes_.unknown()
                                 : inner_extent(Extent(around_.extents[extent_index(outer)]));
  inner_[outer] = inner;
  outer_[inner] = outer;
  return inner;
}

std::int64_t BodyExtents::outer_number(std::int64_t inner) {
  inner = shapes_.known(inner);
  if (!is_unknown(inner) && !is_extent(inner)) return inner;
  const auto there = outer_.find(inner);
  if (there != outer_.end()) return there->second;
  std::int64_t outer = -1;
  if (is_extent(inner)) {
    Extent extent = body_.graph().extents[extent_index(inner)];
    if (extent.op != 0) {
      extent.a = outer_number(extent.a);
      extent.b = outer_number(extent.b);
      outer = find_extent(around_, extent);
    } else if (outer_index(around_, extent) < around_.extents.size()) {
      outer = TNR_EXTENT + static_cast<std::int64_t>(outer_index(around_, extent));
    }
  }
  if (outer < 0) outer = around_shapes_.unknown();
  outer_[inner] = outer;
  return outer;
}

std::vector<std::int64_t> BodyExtents::inner(const std::vector<std::int64_t>& outer) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(outer.size());
  for (const std::int64_t number : outer) numbers.push_back(inner_number(number));
  return numbers;
}

std::vector<std::int64_t> BodyExtents::outer(const std::vector<std::int64_t>& inner) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(inner.size());
  for (const std::int64_t number : inner) numbers.push_back(outer_number(number));
  return numbers;
}

std::vector<bool> values_for(const Graph& graph, const std::vector<std::uint32_t>& wanted) {
  std::vector<bool> needed(graph.values.size());
  for (const std::uint32_t value : wanted) needed[value] = true;
  for (std::size_t i = graph.nodes.size(); i-- > 0;) {
    const GraphNode& node = graph.nodes[i];
    const auto first = needed.begin() + node.result;
    if (std::find(first, first + node.result_count, true) == first + node.result_count) continue;
    for (const std::uint32_t value : node.operands) {
      if (value != kNoValue) needed[value] = true;
    }
    for (const std::uint32_t finding : finding_nodes(graph, node)) {
      needed[graph.nodes[finding].result] = true;
    }
  }
  return needed;
}

std::vector<bool> values_behind(const Graph& graph, const std::vector<bool>& nodes) {
  std::vector<bool> changed(graph.values.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const bool changes =
        nodes[i] ||
        std::ranges::any_of(
            node.operands,
            [&](std::uint32_t value) { return value != kNoValue && changed[value]; }) ||
        std::ranges::any_of(finding_nodes(graph, node), [&](std::uint32_t finding) {
          return changed[graph.nodes[finding].result];
        });
    std::fill_n(changed.begin() + node.result, node.result_count, changes);
  }
  return changed;
}

void require_values(const Graph& graph, const char* name,
                    const std::vector<std::uint32_t>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < graph.values.size()) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s[%zu] is %" PRIu32 " but the graph has %zu values", name,
         i, values[i], graph.values.size());
  }
}

void require_needed(const std::vector<bool>& needed, const std::vector<std::uint32_t>& keep) {
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (needed[keep[i]]) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "keep[%zu] is value %" PRIu32 ", which no value of `of` depends on", i, keep[i]);
  }
}

void NodeCopier::share_extents(const std::vector<bool>& changed) {
  for (std::size_t i = 0; i < from_.extents.size(); ++i) {
    const std::uint32_t finding = from_.extents[i].node;
    if (finding == kNoValue || changed[from_.nodes[finding].result]) continue;
    const std::int64_t number = TNR_EXTENT + static_cast<std::int64_t>(i);
    set_number(number, number);
  }
}

std::uint32_t NodeCopier::add_given(std::uint32_t value) {
  const GraphValue& of = from_.values[value];
  switch (of.source) {
    case TNR_VALUE_SOURCE_CONSTANT: return to_.add_constant(from_.constants[of.index]);
    case TNR_VALUE_SOURCE_SCALAR: return to_.add_scalar(from_.scalars[of.index]);
    default: fail(TNR_STATUS_INTERNAL, "an input of a body is not given");
  }
}

std::uint32_t NodeCopier::add_node(const GraphNode& node, std::vector<std::uint32_t> operands) {
  std::vector<std::int64_t> numbers = node.numbers;
  for (std::int64_t& number : numbers) number = number_of(number);
  for (std::size_t i = 0; i < node.bodies.size(); ++i) numbers[i] = body_of(node.bodies[i]);
  tnr_graph_node given = {};
  given.struct_size = sizeof given;
  given.code = node.custom == nullptr ? node.code : TNR_NODE_CUSTOM + custom_of(node.custom);
  given.dtype = node.dtype;
  given.operands = operands.data();
  given.operand_count = static_cast<std::uint32_t>(operands.size());
  given.numbers = numbers.data();
  given.number_count = static_cast<std::uint32_t>(numbers.size());
  given.attributes = node.has_attributes ? &node.attributes : nullptr;
  given.flags = node.flags;
  given.copy = node.copy;
  given.marks = node.marks;
  return to_.add_node(given, copied_attributes);
}

std::int64_t NodeCopier::number_of(std::int64_t number) {
  if (!is_extent(number)) return number;
  const auto there = extents_.find(number);
  if (there != extents_.end()) return there->second;
  Extent extent = from_.extents[extent_index(number)];
  if (extent.op != 0) {
    extent.a = number_of(extent.a);
    extent.b = number_of(extent.b);
  }
  // The copy of a node that finds an extent finds one of its own.
  const bool is_found = extent.op == 0 && extent.node != kNoValue;
  std::int64_t copied = is_found ? -1 : find_extent(to_.graph(), extent);
  if (copied < 0) {
    copied = extent.op == 0 ? to_.add_extent(extent.name, extent.a)
                            : to_.combine_extents(extent.op, extent.a, extent.b);
  }
  extents_[number] = copied;
  return copied;
}

std::int64_t NodeCopier::body_of(const std::shared_ptr<const Body>& body) {
  for (const Extent& extent : body->graph.extents) {
    const std::size_t outer = outer_index(from_, extent);
    if (outer < from_.extents.size()) {
      (void)number_of(TNR_EXTENT + static_cast<std::int64_t>(outer));
    }
  }
  const auto there = std::ranges::find(to_.graph().bodies, body);
  if (there != to_.graph().bodies.end()) return there - to_.graph().bodies.begin();
  return to_.add_subgraph(body);
}

std::uint32_t NodeCopier::custom_of(const std::shared_ptr<const Custom>& custom) {
  const auto there = std::ranges::find(to_.graph().customs, custom);
  if (there != to_.graph().customs.end()) {
    return static_cast<std::uint32_t>(there - to_.graph().customs.begin());
  }
  return to_.add_custom(custom);
}

std::vector<std::uint32_t> copy_values(const Graph& from,
                                       const std::map<std::uint32_t, std::uint32_t>& given,
                                       const std::vector<std::uint32_t>& wanted, GraphBuilder& to) {
  NodeCopier copier(from, to);
  std::vector<std::uint32_t> there(from.values.size(), kNoValue);
  for (const auto& [value, copy] : given) there[value] = copy;
  const std::vector<bool> needed = values_for(from, wanted);
  for (std::uint32_t value = 0; value < there.size(); ++value) {
    if (!needed[value] || there[value] != kNoValue) continue;
    const GraphNode* const node = from.node_of(value);
    if (node == nullptr) {
      there[value] = copier.add_given(value);
      continue;
    }
    std::vector<std::uint32_t> operands = node->operands;
    for (std::uint32_t& operand : operands) {
      if (operand != kNoValue) operand = there[operand];
    }
    const std::uint32_t first = copier.add_node(*node, std::move(operands));
    for (std::uint32_t i = 0; i < node->result_count; ++i) there[node->result + i] = first + i;
  }
  std::vector<std::uint32_t> copied;
  copied.reserve(wanted.size());
  for (const std::uint32_t value : wanted) copied.push_back(there[value]);
  return copied;
}

const Custom* find_impure(const Graph& graph) noexcept {
  for (const GraphNode& node : graph.nodes) {
    if (node.custom != nullptr && !node.custom->is_pure()) return node.custom.get();
    for (const auto& body : node.bodies) {
      if (const Custom* const custom = find_impure(body->graph)) return custom;
    }
  }
  return nullptr;
}

}  // namespace tenure
