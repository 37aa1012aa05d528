#include "program/passes/epilogues.hpp"

#include <algorithm>
#include <utility>

#include "dense/image/wide_images.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/product_types.hpp"
#include "dense/quantize/quantized_matmul.hpp"

namespace tenure {
namespace {

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

// Whether it multiplies matrices and gives numbers: integers that a quantized product gives are no
// operands of what would follow in its epilogue.
bool is_matrix_product(const GraphNode& node) noexcept {
  return node.code == TNR_NODE_MATMUL ||
         (node.code == TNR_NODE_QUANTIZED_MATMUL && !is_byte(node.dtype));
}
bool is_convolution(const GraphNode& node) noexcept {
  return node.code == TNR_NODE_CONV2D ||
         (node.code == TNR_NODE_QUANTIZED_CONV2D && !is_byte(node.dtype));
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
  if (is_convolution(node) && conv2d.activation == 0 && conv2d.flags == 0) {
    return &conv2d.activation;
  }
  return nullptr;
}
Activation activation_of(const GraphNode& node) noexcept {
  return is_matrix_product(node) ? activation_behind_rows(node.attributes.matmul)
                                 : Activation(node.attributes.conv2d);
}

}  // namespace

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

}  // namespace tenure
