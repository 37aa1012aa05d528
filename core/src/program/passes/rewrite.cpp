#include "program/passes/rewrite.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dense/product/packed_factor.hpp"
#include "dense/product/packed_filters.hpp"
#include "dense/quantize/pixel_rows.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "program/found.hpp"
#include "program/passes/epilogues.hpp"
#include "program/passes/folding.hpp"
#include "tenure/blob.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

template <class T>
std::string_view raw_bytes(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

// Equal for nodes that compute the same. Names the node's memory.
struct NodeKey {
  explicit NodeKey(const GraphNode& node)
      : numbers{node.code, node.dtype, node.flags, node.copy},
        lists{raw_bytes(node.operands.data(), node.operands.size()),
              raw_bytes(node.numbers.data(), node.numbers.size()),
              raw_bytes(&node.attributes, node.has_attributes ? 1 : 0)} {}
  bool operator==(const NodeKey&) const = default;

  std::array<std::uint32_t, 4> numbers;
  std::array<std::string_view, 3> lists;
};
struct HashOfNodeKey {
  std::size_t operator()(const NodeKey& key) const noexcept {
    const std::hash<std::string_view> hash_of;
    std::size_t hash = hash_of(raw_bytes(key.numbers.data(), key.numbers.size()));
    for (const std::string_view list : key.lists) hash = hash * 31 + hash_of(list);
    return hash;
  }
};

// By node: whether its result is still its own, and not a constant.
std::vector<bool> computed_nodes(const Graph& graph) {
  std::vector<bool> computed(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    computed[i] = graph.node_of(graph.nodes[i].result) != nullptr;
  }
  return computed;
}

// Returns the number of its changes.
std::uint64_t merge_common(Graph& graph, Replaced& replaced) {
  std::uint64_t merged = 0;
  std::vector<std::uint32_t> same(graph.values.size());
  for (std::uint32_t i = 0; i < same.size(); ++i) same[i] = i;
  std::unordered_map<std::string_view, std::uint32_t> scalars;
  for (std::uint32_t i = 0; i < graph.values.size(); ++i) {
    const tnr_scalar* const scalar = graph.scalar_of(i);
    if (scalar != nullptr) same[i] = scalars.emplace(raw_bytes(scalar, 1), i).first->second;
  }
  std::unordered_map<NodeKey, std::uint32_t, HashOfNodeKey> known;
  known.reserve(graph.nodes.size());
  for (GraphNode& node : graph.nodes) {
    for (std::uint32_t& value : node.operands) {
      if (value != kNoValue) value = same[value];
    }
    // Operations of others may count their calls, also within a body.
    if (node.custom != nullptr || !node.bodies.empty()) continue;
    same[node.result] = known.emplace(NodeKey(node), node.result).first->second;
    if (same[node.result] == node.result) continue;
    replaced[graph.values[node.result].index] = true;
    ++merged;
  }
  for (GraphOutput& output : graph.outputs) output.value = same[output.value];
  return merged;
}

// Packs constants, or takes them from bytes that have them: each once for each key.
template <class Packed, class Key>
class ConstantPacking {
 public:
  ConstantPacking(const Context& context, PackedConstants* constants,
                  std::vector<std::shared_ptr<const Packed>>& kept)
      : context_(context), constants_(constants), kept_(kept) {}

  const Packed* pack(const Constant& constant, const char* name, Key key) {
    const Packed*& packed = known_[{&constant, key}];
    if (packed == nullptr) {
      kept_.push_back(make(constant.view(), name, key));
      packed = kept_.back().get();
    }
    return packed;
  }

 private:
  std::shared_ptr<const Packed> make(const tnr_view& view, const char* name, Key key) {
    if (constants_ != nullptr) return constants_->next(typename Packed::Layout(view, key));
    Pins pins;
    pins.add(view, name);
    return std::make_shared<const Packed>(context_, view, key);
  }

  const Context& context_;
  PackedConstants* constants_;
  std::vector<std::shared_ptr<const Packed>>& kept_;
  std::map<std::pair<const Constant*, Key>, const Packed*> known_;
};

// Filters of integers as the columns of a matrix.
std::shared_ptr<const Constant> filter_matrix(const Context& context, const tnr_view& weight) {
  const std::int64_t depth = weight.shape[1] * weight.shape[2] * weight.shape[3];
  auto matrix =
      std::make_shared<const Constant>(ArrayType{weight.dtype, 2, {depth, weight.shape[0]}});
  Pins pins;
  pins.add(weight, "weight");
  gather_filters(context, weight, writable({matrix->view()}));
  return matrix;
}

// Factors by their use, also those of convolutions of integers, then filters by their number of
// groups: the order of their bytes.
void pack_constants(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
                    const std::vector<bool>& needed, PackedConstants* constants) {
  ConstantPacking<PackedFactor, FactorUse> factors(context, constants, graph.factors);
  ConstantPacking<PackedFilters, std::int64_t> filters(context, constants, graph.filters);
  const auto for_each_needed = [&](std::uint32_t code, const auto& body) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      GraphNode& node = graph.nodes[i];
      if (!needed[i] || node.code != code) continue;
      const Constant* const constant = graph.constant_of(node.operands[1]);
      if (constant != nullptr) body(node, *constant);
    }
  };
  const auto add_sums = [&](GraphNode& node) {
    graph.column_sums.push_back(
        std::make_shared<const std::vector<std::int32_t>>(column_sums(context, *node.factor)));
    node.column_sums = graph.column_sums.back()->data();
  };
  for_each_needed(TNR_NODE_MATMUL, [&](GraphNode& node, const Constant& b) {
    if (b.view().rank == 2) node.factor = factors.pack(b, "b", {types[node.operands[0]].dtype});
  });
  for_each_needed(TNR_NODE_QUANTIZED_MATMUL, [&](GraphNode& node, const Constant& b) {
    const ArrayType& of_scales = types[node.operands[3]];
    if (of_scales.rank == 2 && of_scales.shape[0] > 1) {
      const Constant* const scales = graph.constant_of(node.operands[3]);
      if (scales == nullptr) return;
      node.factor = factors.pack(b, "b", {TNR_DTYPE_I8, &scales->view(), "b_scales"});
      return;
    }
    // Rows of numbers become integers.
    const bool is_affine = (node.attributes.matmul.flags & TNR_QUANTIZE_AFFINE_ROWS) != 0;
    const tnr_dtype of_rows = is_affine ? TNR_DTYPE_U8 : TNR_DTYPE_I8;
    const tnr_dtype left = types[node.operands[0]].dtype;
    node.factor = factors.pack(b, "b", {is_byte(left) ? left : of_rows});
    const bool has_zeros = node.operands.size() > 4 && node.operands[4] != kNoValue;
    if (is_affine || has_zeros) add_sums(node);
  });
  std::map<const Constant*, std::shared_ptr<const Constant>> matrices;
  for_each_needed(TNR_NODE_QUANTIZED_CONV2D, [&](GraphNode& node, const Constant& weight) {
    const std::int64_t groups = std::max<std::int64_t>(node.attributes.conv2d.groups, 1);
    if (!takes_packed_filters(weight.view(), groups)) return;
    std::shared_ptr<const Constant>& matrix = matrices[&weight];
    if (matrix == nullptr) matrix = filter_matrix(context, weight.view());
    const tnr_dtype left = types[node.operands[0]].dtype;
    node.factor = factors.pack(*matrix, "weight", {is_byte(left) ? left : tnr_dtype{TNR_DTYPE_U8}});
    add_sums(node);
  });
  for_each_needed(TNR_NODE_CONV2D, [&](GraphNode& node, const Constant& weight) {
    const std::int64_t groups = std::max<std::int64_t>(node.attributes.conv2d.groups, 1);
    if (FiltersLayout::takes(weight.view(), groups)) {
      node.filters = filters.pack(weight, "weight", groups);
    }
  });
}

// Releases constants that no needed node and no output reads, such as those of folded nodes.
void drop_constants(Graph& graph, const std::vector<bool>& needed) {
  std::vector<bool> is_read(graph.constants.size());
  const auto mark = [&](std::uint32_t value) {
    if (value != kNoValue && graph.constant_of(value) != nullptr) {
      is_read[graph.values[value].index] = true;
    }
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (needed[i]) std::ranges::for_each(graph.nodes[i].operands, mark);
  }
  for (const GraphOutput& output : graph.outputs) mark(output.value);
  for (std::size_t i = 0; i < is_read.size(); ++i) {
    if (!is_read[i]) graph.constants[i] = nullptr;
  }
}

std::vector<bool> rewrite(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
                          std::uint32_t disabled_passes, PackedConstants* packed,
                          PassCounts& counts, Graph* simplified, const Around* around) {
  const auto has = [=](std::uint32_t pass) { return (disabled_passes & pass) == 0; };
  Replaced replaced(graph.nodes.size());
  if (has(TNR_PASS_COMMON_SUBEXPRESSIONS)) {
    counts.add(TNR_PASS_COMMON_SUBEXPRESSIONS, merge_common(graph, replaced));
  }
  if (has(TNR_PASS_CONSTANT_FOLDING)) fold_constants(context, graph, types, around);
  if (simplified != nullptr) *simplified = graph;
  std::vector<bool> computed = computed_nodes(graph);
  counts.add(TNR_PASS_CONSTANT_FOLDING,
             static_cast<std::uint64_t>(std::ranges::count(computed, false)));
  if (has(TNR_PASS_EPILOGUES)) {
    counts.add(TNR_PASS_EPILOGUES, join_epilogues(graph, types, around, replaced));
  }
  std::vector<bool> needed = has(TNR_PASS_DEAD_CODE) ? needed_nodes(graph) : computed;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i] && computed[i] && !replaced[i]) counts.add(TNR_PASS_DEAD_CODE, 1);
  }
  if (has(TNR_PASS_PACKING)) {
    pack_constants(context, graph, types, needed, packed);
  }
  counts.add(TNR_PASS_PACKING, graph.factors.size() + graph.filters.size());
  drop_constants(graph, needed);
  if (simplified != nullptr) simplified->constants = graph.constants;
  const Around within = {!graph.extents.empty() || (around != nullptr && around->has_extents)};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i]) continue;
    for (std::shared_ptr<const Body>& body : graph.nodes[i].bodies) {
      const auto own = std::make_shared<Body>(*body);
      own->needed = rewrite(context, own->graph, own->types, disabled_passes, packed, counts,
                            nullptr, &within);
      body = own;
    }
  }
  return needed;
}

}  // namespace

std::vector<bool> rewrite(const Context& context, Graph& graph, const std::vector<ArrayType>& types,
                          std::uint32_t disabled_passes, PackedConstants* packed,
                          PassCounts& counts, Graph& simplified) {
  return rewrite(context, graph, types, disabled_passes, packed, counts, &simplified, nullptr);
}

}  // namespace tenure
