#include "program/rewrites/precision.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "program/operations.hpp"
#include "program/rewrites/bodies.hpp"
#include "program/rewrites/derivation.hpp"
#include "tenure/dtype.hpp"

namespace tenure {
namespace {

// Whether the node multiplies and adds up f32: an einsum of one operand multiplies nothing.
bool is_product(const GraphNode& node, const std::vector<ArrayType>& types) noexcept {
  if (types[node.result].dtype != TNR_DTYPE_F32) return false;
  switch (node.code) {
    case TNR_NODE_MATMUL:
    case TNR_NODE_CONV2D:
    case TNR_NODE_CONV2D_TRANSPOSED:
    case TNR_NODE_CONV2D_FILTERS: return true;
    case TNR_NODE_EINSUM: return node.operands.size() > 1;
    default: return false;
  }
}

// Whether the node, or one in its bodies, is a product.
bool has_product(const GraphNode& node, const std::vector<ArrayType>& types) {
  return is_product(node, types) || std::ranges::any_of(node.bodies, [](const auto& body) {
           return std::ranges::any_of(body->graph.nodes, [&](const GraphNode& inner) {
             return has_product(inner, body->types);
           });
         });
}

// Whether each element of the result is one of the operand's, or 0: the node gives the same numbers
// in a narrow dtype.
bool chooses_elements(const GraphNode& node) noexcept {
  return operation_of(node).computes == Computes::kView ||
         node.code == (TNR_NODE_UNARY | TNR_UNARY_OP_RELU) ||
         node.code == (TNR_NODE_POOL2D | TNR_REDUCE_OP_MAX);
}

// Whether the derivative of the node reads its result, and not its operand, which is as large.
bool is_read_by_its_gradient(const GraphNode& node) noexcept {
  return node.code == (TNR_NODE_NORMALIZE | TNR_NORMALIZE_OP_SOFTMAX) ||
         node.code == (TNR_NODE_NORMALIZE | TNR_NORMALIZE_OP_LOG_SOFTMAX);
}

// Whether it holds for a result of the node.
bool has_any(const std::vector<bool>& of, const GraphNode& node) {
  const auto first = of.begin() + node.result;
  return std::find(first, first + node.result_count, true) != first + node.result_count;
}

class Lowering {
 public:
  Lowering(const Graph& from, const std::vector<ArrayType>& types, tnr_dtype dtype,
           GraphBuilder& to)
      : from_(from),
        types_(types),
        dtype_(dtype),
        to_(to),
        copier_(from, to),
        wide_(from.values.size(), kNoValue),
        narrow_(from.values.size(), kNoValue),
        is_rounded_(from.values.size()),
        is_kept_(from.values.size()),
        uses_(from.values.size()) {}

  void keep(std::uint32_t value) { is_kept_[value] = true; }
  // The value that stands for an input of a body there.
  void give_input(const GraphInput& input) {
    std::vector<std::int64_t> shape = input.shape;
    for (std::int64_t& number : shape) number = copier_.number_of(number);
    wide_[input.value] =
        to_.add_input(input.dtype, static_cast<std::uint32_t>(shape.size()), shape.data());
  }
  // Where the other graph begins with this one: nodes that no product changes are not copied.
  void share();

  std::vector<std::uint32_t> run(const std::vector<std::uint32_t>& of);

 private:
  void add(const GraphNode& node);
  [[nodiscard]] bool gives_narrow(const GraphNode& node) const;
  [[nodiscard]] bool adds_bias(const GraphNode& node) const;
  [[nodiscard]] bool is_kept(const GraphNode& node) const { return has_any(is_kept_, node); }
  [[nodiscard]] std::shared_ptr<const Body> lowered(const Body& body) const;

  std::uint32_t cast(std::uint32_t value, tnr_dtype dtype, std::uint32_t marks);
  std::uint32_t wide_of(std::uint32_t value);
  std::uint32_t narrow_of(std::uint32_t value);

  const Graph& from_;
  const std::vector<ArrayType>& types_;
  tnr_dtype dtype_;
  GraphBuilder& to_;
  NodeCopier copier_;
  // By value of `from`: values there, in its own dtype and in the narrow one; kNoValue: none yet.
  std::vector<std::uint32_t> wide_;
  std::vector<std::uint32_t> narrow_;
  std::vector<bool> is_rounded_;  // the narrow value is the first one, and the other one its cast
  std::vector<bool> is_kept_;
  std::vector<std::uint32_t> uses_;  // by nodes that are needed, and as a result
};

void Lowering::share() {
  std::vector<bool> products(from_.nodes.size());
  for (std::size_t i = 0; i < products.size(); ++i) {
    products[i] = has_product(from_.nodes[i], types_) && !is_kept(from_.nodes[i]);
  }
  const std::vector<bool> changed = values_behind(from_, products);
  for (std::uint32_t value = 0; value < wide_.size(); ++value) {
    if (!changed[value]) wide_[value] = value;
  }
  copier_.share_extents(changed);
}

std::vector<std::uint32_t> Lowering::run(const std::vector<std::uint32_t>& of) {
  const std::vector<bool> needed = values_for(from_, of);
  for (const std::uint32_t value : of) ++uses_[value];
  for (const GraphNode& node : from_.nodes) {
    if (!has_any(needed, node)) continue;
    for (const std::uint32_t value : node.operands) {
      if (value != kNoValue) ++uses_[value];
    }
  }
  for (std::uint32_t value = 0; value < wide_.size(); ++value) {
    if (!needed[value] || wide_[value] != kNoValue || narrow_[value] != kNoValue) continue;
    if (const GraphNode* const node = from_.node_of(value)) {
      add(*node);
    } else {
      wide_[value] = copier_.add_given(value);
    }
  }
  std::vector<std::uint32_t> lowered;
  lowered.reserve(of.size());
  for (const std::uint32_t value : of) lowered.push_back(wide_of(value));
  return lowered;
}

void Lowering::add(const GraphNode& node) {
  const bool is_narrow = gives_narrow(node);
  std::vector<std::uint32_t> operands = node.operands;
  for (std::uint32_t& value : operands) {
    if (value != kNoValue) value = is_narrow ? narrow_of(value) : wide_of(value);
  }
  GraphNode copy = node;
  for (std::shared_ptr<const Body>& body : copy.bodies) {
    if (!is_kept(node)) body = lowered(*body);
  }
  to_.set_number(node.number);
  const std::uint32_t first = copier_.add_node(copy, std::move(operands));
  to_.set_number(kNoValue);
  for (std::uint32_t i = 0; i < node.result_count; ++i) {
    (is_narrow ? narrow_ : wide_)[node.result + i] = first + i;
    is_rounded_[node.result + i] = is_narrow;
  }
}

bool Lowering::gives_narrow(const GraphNode& node) const {
  if (is_kept(node)) return false;
  return is_product(node, types_) || (chooses_elements(node) && is_rounded_[node.operands[0]]) ||
         adds_bias(node);
}

// The pass of epilogues has the product add it, with one rounding.
bool Lowering::adds_bias(const GraphNode& node) const {
  if (node.code != (TNR_NODE_BINARY | TNR_BINARY_OP_ADD)) return false;
  for (const unsigned side : {0u, 1u}) {
    const std::uint32_t value = node.operands[side];
    const std::uint32_t bias = node.operands[1 - side];
    const GraphNode* const product = from_.node_of(value);
    if (product != nullptr && product->code == TNR_NODE_MATMUL && is_rounded_[value] &&
        uses_[value] == 1 && from_.scalar_of(bias) == nullptr && types_[bias].rank == 1) {
      return true;
    }
  }
  return false;
}

std::shared_ptr<const Body> Lowering::lowered(const Body& body) const {
  GraphBuilder to;
  Lowering lowering(body.graph, body.types, dtype_, to);
  for (const GraphInput& input : body.graph.inputs) lowering.give_input(input);
  std::vector<std::uint32_t> outputs;
  outputs.reserve(body.graph.outputs.size());
  for (const GraphOutput& output : body.graph.outputs) outputs.push_back(output.value);
  for (const std::uint32_t value : lowering.run(outputs)) to.add_output(value, kNoValue);
  return to.to_body();
}

std::uint32_t Lowering::cast(std::uint32_t value, tnr_dtype dtype, std::uint32_t marks) {
  tnr_graph_node node = {};
  node.struct_size = sizeof node;
  node.code = TNR_NODE_CAST;
  node.dtype = dtype;
  node.operands = &value;
  node.operand_count = 1;
  node.marks = marks;
  return to_.add_node(node, copied_attributes);
}

// Gradients keep the narrow value, and cast it again.
std::uint32_t Lowering::wide_of(std::uint32_t value) {
  if (wide_[value] == kNoValue) {
    wide_[value] = cast(narrow_[value], TNR_DTYPE_F32, TNR_MARK_RECOMPUTE);
  }
  return wide_[value];
}

// Where the other value stays in any case, gradients round it again.
std::uint32_t Lowering::narrow_of(std::uint32_t value) {
  if (narrow_[value] == kNoValue) {
    const GraphNode* const node = from_.node_of(value);
    const bool stays = node == nullptr || is_read_by_its_gradient(*node);
    narrow_[value] =
        cast(wide_[value], dtype_, stays ? TNR_MARK_RECOMPUTE : node->marks & TNR_MARK_RECOMPUTE);
  }
  return narrow_[value];
}

}  // namespace

std::vector<std::uint32_t> add_mixed_precision(GraphBuilder& builder,
                                               const std::vector<std::uint32_t>& of,
                                               tnr_dtype dtype,
                                               const std::vector<std::uint32_t>& keep) {
  if (dtype != TNR_DTYPE_BF16 && dtype != TNR_DTYPE_F16) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "dtype is %s but must be bf16 or f16", dtype_name(dtype));
  }
  const Graph& graph = builder.graph();
  require_values(graph, "of", of);
  require_values(graph, "keep", keep);
  require_needed(values_for(graph, of), keep);
  GraphBuilder extended = builder;
  Lowering lowering(graph, builder.types(), dtype, extended);
  for (const std::uint32_t value : keep) lowering.keep(value);
  lowering.share();
  std::vector<std::uint32_t> lowered = lowering.run(of);
  builder = std::move(extended);
  return lowered;
}

void graph_add_mixed_precision(GraphToken token, const std::uint32_t* of, std::uint32_t count,
                               tnr_dtype dtype, const std::uint32_t* keep, std::uint32_t keep_count,
                               std::uint32_t* lowered) {
  const GraphHandles::Use graph(kGraphHandles, token);
  const BuilderLock lock(graph.object(), SharedBuilder::Use::kCallsOthers);
  std::ranges::copy(add_mixed_precision(graph.object().builder, {of, of + count}, dtype,
                                        {keep, keep + keep_count}),
                    lowered);
}

}  // namespace tenure
