#include "program/passes/rewrite.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dense/image/wide_images.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/packed_factor.hpp"
#include "dense/product/packed_filters.hpp"
#include "dense/quantize/quantized_matmul.hpp"
#include "program/found.hpp"
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

bool has_extents(const GraphNode& node) { return std::ranges::any_of(node.numbers, is_extent); }

// A body's knowledge of the graph around it; a graph of its own has none.
struct Around {
  bool has_extents;
};

// How often each value is an operand or an output.
std::vector<std::uint32_t> count_uses(const Graph& graph, const std::vector<bool>& needed) {
  std::vector<std::uint32_t> uses(graph.values.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!needed[i]) continue;
    for (const std::uint32_t value : graph.nodes[i].operands) {
      if (value != kNoValue) ++uses[value];
    }
  }
  for (const GraphOutput& output : graph.outputs) ++uses[output.value];
  return uses;
}

// By value: whether its shape is another one in another run. Inputs of a body have whatever shape
// they are handed.
std::vector<bool> sized_by_runs(const Graph& graph, const Around* around) {
  std::vector<bool> sized(graph.values.size());
  for (const GraphInput& input : graph.inputs) {
    sized[input.value] =
        (around != nullptr && around->has_extents) || std::ranges::any_of(input.shape, is_extent);
  }
  for (const GraphNode& node : graph.nodes) {
    const bool is_sized =
        has_extents(node) || std::ranges::any_of(node.operands, [&](std::uint32_t value) {
          return value != kNoValue && sized[value];
        });
    for (std::uint32_t i = 0; i < node.result_count; ++i) sized[node.result + i] = is_sized;
  }
  return sized;
}

// Bytes that a folded constant may have where its operands have fewer.
constexpr std::size_t kFoldedBytes = std::size_t{1} << 16;

class Folding {
 public:
  Folding(const Context& context, Graph& graph, const std::vector<ArrayType>& types)
      : context_(context), graph_(graph), types_(types) {}

  void run(const GraphNode& node) {
    operands_.assign(std::max(node.operands.size(), kMostFixedOperands), {});
    std::size_t given_bytes = kFoldedBytes;
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

 private:
  static std::size_t bytes_of(const ArrayType& type) {
    return row_major_bytes(type.dtype, type.rank, type.shape);
  }

  void replace(std::uint32_t value, std::shared_ptr<const Constant> constant) {
    graph_.constants.push_back(std::move(constant));
    graph_.values[value] = {TNR_VALUE_SOURCE_CONSTANT,
                            static_cast<std::uint32_t>(graph_.constants.size() - 1)};
  }

  // Replaces a view of a constant by a constant in the same memory.
  bool see(const GraphNode& node) {
    try {
      replace(node.result, std::make_shared<const Constant>(operation_of(node).view(
                               {node, node.numbers.data()}, *operands_[0].view)));
      return true;
    } catch (const Error&) {
      return false;  // a reshape that moves elements
    }
  }

  void compute(const GraphNode& node, const ArrayType& type) {
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

  const Context& context_;
  Graph& graph_;
  const std::vector<ArrayType>& types_;
  std::vector<OperandView> operands_;
};

// Whether it multiplies matrices and gives numbers: integers that a quantized product gives are no
// operands of what would follow in its epilogue.
bool is_matrix_product(const GraphNode& node) noexcept {
  return node.code == TNR_NODE_MATMUL ||
         (node.code == TNR_NODE_QUANTIZED_MATMUL && !is_byte(node.dtype));
}
// The operand of a product that is its bias.
std::size_t bias_operand(const GraphNode& node) noexcept {
  return node.code == TNR_NODE_MATMUL ? 2 : 6;
}

// Where the activation of a product or a convolution stands that has neither one nor bounds;
// nullptr of all other nodes.
tnr_unary_op* free_activation(GraphNode& node) noexcept {
  tnr_matmul_attributes& matmul = node.attributes.matmul;
  tnr_conv2d_attributes& conv2d = node.attributes.conv2d;
  if (is_matrix_product(node) && matmul.activation == 0 &&
      (matmul.flags & ~TNR_QUANTIZE_AFFINE_ROWS) == 0) {
    return &matmul.activation;
  }
  if (node.code == TNR_NODE_CONV2D && conv2d.activation == 0 && conv2d.flags == 0) {
    return &conv2d.activation;
  }
  return nullptr;
}
Activation activation_of(const GraphNode& node) noexcept {
  return is_matrix_product(node) ? activation_behind_rows(node.attributes.matmul)
                                 : Activation(node.attributes.conv2d);
}

// By node: whether an output needs a result of it.
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

// By node: whether its result is still its own, and not a constant.
std::vector<bool> computed_nodes(const Graph& graph) {
  std::vector<bool> computed(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    computed[i] = graph.node_of(graph.nodes[i].result) != nullptr;
  }
  return computed;
}

// By node: whether a pass has put another node in its place.
using Replaced = std::vector<bool>;

// Each returns the number of its changes.
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

std::uint64_t join_epilogues(Graph& graph, const std::vector<ArrayType>& types,
                             const Around* around, Replaced& replaced) {
  std::uint64_t joined_count = 0;
  const std::vector<std::uint32_t> uses = count_uses(graph, needed_nodes(graph));
  const std::vector<bool> sized = sized_by_runs(graph, around);
  // The product that computes the value, where nothing else reads it.
  const auto product_of = [&](std::uint32_t value) -> GraphNode* {
    if (value == kNoValue || uses[value] != 1) return nullptr;
    const GraphNode* const node = graph.node_of(value);
    return node == nullptr ? nullptr : &graph.nodes[graph.values[value].index];
  };
  // The later node computes both; nothing reads the earlier one any more.
  const auto replace = [&](GraphNode& node, GraphNode product) {
    replaced[graph.values[product.result].index] = true;
    product.result = node.result;
    node = std::move(product);
    ++joined_count;
  };
  for (GraphNode& node : graph.nodes) {
    if (node.kind() == TNR_NODE_UNARY >> kNodeKindShift) {
      const GraphNode* const product = product_of(node.operands[0]);
      if (product == nullptr) continue;
      GraphNode joined = *product;
      tnr_unary_op* const activation = free_activation(joined);
      if (activation == nullptr) continue;
      *activation = node.op();
      const ArrayType& result = types[node.result];
      const tnr_dtype computed = is_narrow(result.dtype) ? TNR_DTYPE_F32 : result.dtype;
      try {
        (void)Epilogue(activation_of(joined), nullptr, result.dtype, computed);
      } catch (const Error&) {
        continue;  // one that gives another dtype, or takes none of these sums
      }
      replace(node, std::move(joined));
    } else if (node.code == (TNR_NODE_BINARY | TNR_BINARY_OP_ADD)) {
      for (const unsigned side : {0u, 1u}) {
        const std::uint32_t bias = node.operands[1 - side];
        const GraphNode* const product = product_of(node.operands[side]);
        if (product == nullptr || !is_matrix_product(*product) ||
            graph.scalar_of(bias) != nullptr) {
          continue;
        }
        const std::size_t at = bias_operand(*product);
        if (product->operands.size() > at && product->operands[at] != kNoValue) continue;
        GraphNode joined = *product;
        const ArrayType& b = types[joined.operands[1]];
        const ArrayType& added = types[bias];
        if (free_activation(joined) == nullptr || sized[bias] || sized[joined.operands[1]] ||
            b.rank < 2 || added.rank != 1 || added.shape[0] != b.shape[b.rank - 1] ||
            added.dtype != types[node.result].dtype ||
            (joined.code == TNR_NODE_QUANTIZED_MATMUL && added.dtype != TNR_DTYPE_F32)) {
          continue;
        }
        joined.operands.resize(std::max(joined.operands.size(), at + 1), kNoValue);
        joined.operands[at] = bias;
        replace(node, std::move(joined));
        break;
      }
    }
  }
  return joined_count;
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

// Factors by their products, then filters by their number of groups: the
// order of their bytes.
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
    if (!is_affine) return;
    graph.column_sums.push_back(
        std::make_shared<const std::vector<std::int32_t>>(column_sums(context, *node.factor)));
    node.column_sums = graph.column_sums.back()->data();
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
