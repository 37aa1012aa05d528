#include "expression/nodes.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>

#include "cpu/operations.hpp"
#include "dense/elementwise/operations.hpp"
#include "dense/movement.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/shape_rules.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

constexpr std::uint32_t kCodeMask = 0xffff;
constexpr std::uint32_t kOperandMask = 0xc000'0000;
constexpr std::uint32_t kMostListed = 1024;  // scalars, and attributes

void require_array(const void* array, std::uint32_t count, std::uint32_t most, const char* name) {
  if (count > most) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "expression->%s_count is %" PRIu32 " but at most %" PRIu32,
         name, count, most);
  }
  if (array == nullptr && count != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "expression->%ss is NULL but %s_count is %" PRIu32, name,
         name, count);
  }
}

}  // namespace

void Nodes::require_counts(const tnr_expression& expression) {
  if (expression.node_count == 0) [[unlikely]]
    fail(TNR_STATUS_INVALID_ARGUMENT, "expression->node_count is 0 but at least 1");
  require_array(expression.nodes, expression.node_count, kMaxNodes, "node");
  require_array(expression.views, expression.view_count, kMaxViews, "view");
  require_array(expression.scalars, expression.scalar_count, kMostListed, "scalar");
  require_array(expression.attributes, expression.attribute_count, kMostListed, "attribute");
}

Nodes::Nodes(const tnr_expression& expression, const tnr_view* out, Node* nodes, Element* elements)
    : expression_(&expression),
      out_(out),
      given_view_count_(expression.view_count),
      view_count_(expression.view_count),
      nodes_(nodes),
      elements_(elements) {
  require_counts(expression);
  for (unsigned i = 0; i < view_count_; ++i) {
    views_[i] = expression.views[i];
    if (views_[i] == nullptr) [[unlikely]]
      fail(TNR_STATUS_INVALID_ARGUMENT, "expression->views[%u] is NULL", i);
  }
  views_[view_count_] = out;
  for (unsigned i = 0; i < expression.node_count; ++i) check(expression.nodes[i], i);
}

Nodes::Nodes(const Nodes& prepared, const tnr_view* const* views, const tnr_view& out) noexcept
    : expression_(nullptr),
      out_(&out),
      count_(prepared.count_),
      has_c128_(prepared.has_c128_),
      given_view_count_(prepared.given_view_count_),
      view_count_(prepared.view_count_),
      element_count_(prepared.element_count_),
      reduction_count_(prepared.reduction_count_),
      used_count_(prepared.used_count_),
      nodes_(prepared.nodes_),
      elements_(prepared.elements_) {
  std::copy_n(views, given_view_count_, views_);
  views_[given_view_count_] = out_;
}

void Nodes::check(const tnr_node& given, unsigned index) {
  const std::uint32_t kind = given.code >> kNodeKindShift;
  if (kind < static_cast<unsigned>(ExpressionKind::kUnary) ||
      kind > static_cast<unsigned>(ExpressionKind::kNormalize)) [[unlikely]] {
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%u].code is 0x%08" PRIx32 ", which names no operation",
         index, given.code);
  }
  if (given.reserved != 0) [[unlikely]] {
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%u].reserved is %" PRIu32 " but must be 0", index,
         given.reserved);
  }
  Node& node = nodes_[index];
  node.kind = static_cast<ExpressionKind>(kind);
  node.op = static_cast<std::int32_t>(given.code & kCodeMask);
  node.dtype = given.dtype;
  node.operand_count = kNodeKindRows[kind - 1].least_operands;
  node.is_used = false;
  for (unsigned i = 0; i < kMaxOperands; ++i) {
    if (i < node.operand_count) {
      node.operands[i] = operand_of(given.operands[i], index, i);
    } else if (given.operands[i] != TNR_OPERAND_NONE) [[unlikely]] {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "nodes[%u].operands[%u] is 0x%08" PRIx32
           " but must be TNR_OPERAND_NONE: the operation "
           "takes %u",
           index, i, given.operands[i], unsigned{node.operand_count});
    }
  }
  try {
    if (is_elementwise(node.kind)) {
      if (given.flags != 0 || given.attributes != 0) [[unlikely]] {
        fail(TNR_STATUS_INVALID_ARGUMENT,
             "flags are 0x%" PRIx32 " and attributes %" PRIu32
             " but an element-wise operation takes none",
             given.flags, given.attributes);
      }
      check_elementwise(node);
    } else {
      check_reduction(given, node);
    }
  } catch (const Error& error) {
    // The messages are those of the calls, which do not know of nodes.
    fail(error.status(), "nodes[%u]: %s", index, error.message());
  }
  has_c128_ |= node.dtype == TNR_DTYPE_C128;
  if (node.dtype != given.dtype) [[unlikely]] {
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%u].dtype is %s but the operation gives %s", index,
         dtype_name(given.dtype), dtype_name(node.dtype));
  }
  ++count_;
}

NodeOperand Nodes::operand_of(std::uint32_t code, unsigned index, unsigned place) {
  const std::uint32_t number = code & ~kOperandMask;
  switch (code & kOperandMask) {
    case TNR_OPERAND_VIEW:
      if (number >= expression_->view_count) [[unlikely]]
        break;
      return {From::kView, static_cast<std::uint16_t>(number), views_[number]->dtype};
    case TNR_OPERAND_SCALAR:
      if (number >= expression_->scalar_count) [[unlikely]]
        break;
      return {From::kScalar, static_cast<std::uint16_t>(number),
              expression_->scalars[number].dtype};
    case TNR_OPERAND_OUTPUT:
      if (number != 0) break;
      if (out_ == nullptr) {
        fail(TNR_STATUS_INVALID_ARGUMENT,
             "nodes[%u].operands[%u] is the output, of which this call has none", index, place);
      }
      view_count_ = expression_->view_count + 1;
      return {From::kView, static_cast<std::uint16_t>(expression_->view_count), out_->dtype};
    default:
      if (number >= index) [[unlikely]]
        break;
      if (!nodes_[number].is_used) ++used_count_;
      nodes_[number].is_used = true;
      return {From::kNode, static_cast<std::uint16_t>(number), nodes_[number].dtype};
  }
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "nodes[%u].operands[%u] is 0x%08" PRIx32
       ", which names nothing: there are %u earlier "
       "nodes, %" PRIu32 " views and %" PRIu32 " scalars",
       index, place, code, index, expression_->view_count, expression_->scalar_count);
}

// The dtype of operands [first, ...) that are no scalars, or of the first scalar.
tnr_dtype Nodes::common_dtype(const Node& node, unsigned first) {
  const NodeOperand* decides = nullptr;
  for (unsigned i = first; i < node.operand_count; ++i) {
    const NodeOperand& operand = node.operands[i];
    if (operand.from == From::kScalar) continue;
    if (decides == nullptr) {
      decides = &operand;
    } else if (operand.dtype != decides->dtype) [[unlikely]] {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "operands[%u] has %s but those before have %s: a cast is a node", i,
           dtype_name(operand.dtype), dtype_name(decides->dtype));
    }
  }
  return decides == nullptr ? node.operands[first].dtype : decides->dtype;
}

void Nodes::take_scalar(NodeOperand& operand, tnr_dtype dtype) {
  if (operand.from != From::kScalar) return;
  elements_[element_count_] = to_element(expression_->scalars[operand.index], dtype, "a scalar");
  operand.dtype = dtype;
  operand.index = static_cast<std::uint16_t>(element_count_++);
}

void Nodes::take_scalars(Node& node, tnr_dtype dtype, unsigned first) {
  for (unsigned i = first; i < node.operand_count; ++i) take_scalar(node.operands[i], dtype);
}

void Nodes::check_elementwise(Node& node) {
  const auto set = [&](const Operation& operation) {
    node.kernel = operation.kernel();
    node.entry = operation.entry();
  };
  switch (node.kind) {
    case ExpressionKind::kUnary: {
      const auto op = static_cast<tnr_unary_op>(node.op);
      const tnr_dtype dtype = common_dtype(node, 0);
      set(unary_operation(op, dtype));
      node.dtype = result_dtype(kernels::kUnaryRows[op - 1].gives, dtype);
      take_scalars(node, dtype, 0);
      break;
    }
    case ExpressionKind::kBinary: {
      const auto op = static_cast<tnr_binary_op>(node.op);
      const tnr_dtype dtype = common_dtype(node, 0);
      set(binary_operation(op, dtype));
      node.dtype = dtype;
      take_scalars(node, dtype, 0);
      const NodeOperand& right = node.operands[1];
      if (right.from == From::kScalar) require_right_number(op, elements_[right.index], dtype);
      break;
    }
    case ExpressionKind::kTernary:
      node.dtype = common_dtype(node, 0);
      set(ternary_operation(static_cast<tnr_ternary_op>(node.op), node.dtype));
      take_scalars(node, node.dtype, 0);
      break;
    case ExpressionKind::kCompare: {
      const tnr_dtype dtype = common_dtype(node, 0);
      const Comparison comparison = compare_operation(static_cast<tnr_compare_op>(node.op), dtype);
      set(comparison.operation);
      take_scalars(node, dtype, 0);
      if (comparison.sides == Sides::kExchanged) std::swap(node.operands[0], node.operands[1]);
      node.dtype = TNR_DTYPE_BOOL8;
      break;
    }
    case ExpressionKind::kSelect:
      if (node.op != 0) refuse_code("select", node.op);
      take_scalar(node.operands[0], TNR_DTYPE_BOOL8);
      if (node.operands[0].dtype != TNR_DTYPE_BOOL8) {
        fail(TNR_STATUS_INVALID_ARGUMENT, "the condition is %s but must be bool8",
             dtype_name(node.operands[0].dtype));
      }
      node.dtype = common_dtype(node, 1);
      if (type_index(node.dtype) == kNoType) refuse_dtype("select", node.dtype);
      set(select_operation(node.dtype));
      take_scalars(node, node.dtype, 1);
      break;
    default: {
      if (node.op != 0) refuse_code("cast", node.op);
      const tnr_dtype from = common_dtype(node, 0);
      if (is_complex(from) || is_complex(node.dtype)) refuse_dtype("cast", from);
      const Operation cast = cast_operation(from, node.dtype);  // or a refusal, of itself too
      set(from == node.dtype ? copy_operation(from) : cast);
      take_scalars(node, from, 0);
      break;
    }
  }
}

void Nodes::check_reduction(const tnr_node& given, Node& node) {
  ++reduction_count_;
  node.axes = given.flags & ((1u << TNR_MAX_RANK) - 1);
  node.keeps_axes = (given.flags & TNR_NODE_KEEP_AXES) != 0;
  if ((given.flags & ~(node.axes | TNR_NODE_KEEP_AXES)) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "flags are 0x%" PRIx32 ", of which bits are unknown",
         given.flags);
  }
  if (node.operands[0].from == From::kScalar) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "operands[0] is a scalar, which has no axes");
  }
  node.attributes = attributes_of(given);
  node.dtype = node.operands[0].dtype;
  // Calls add them up, as parts.
  if (is_complex(node.dtype)) refuse_dtype("a reduction in an expression", node.dtype);
  const auto row = static_cast<std::uint32_t>(node.op) - 1;
  const bool is_normalization = node.kind == ExpressionKind::kNormalize;
  if (row >= (is_normalization ? kernels::kNormalizeCount : kernels::kReduceCount)) {
    refuse_code(is_normalization ? "normalize" : "reduce", node.op);
  }
  const kernels::OperationRow& operation =
      is_normalization ? kernels::kNormalizeRows[row] : kernels::kReduceRows[row];
  if (!takes(operation, node.dtype)) refuse_dtype(operation.name, node.dtype);
  if (is_normalization && node.keeps_axes) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a normalization keeps its axes without a flag");
  }
  if (!is_normalization) node.dtype = result_dtype(operation.gives, node.dtype);
}

void Nodes::check_views(const tnr_device& device) const {
  for (unsigned i = 0; i < given_view_count_; ++i) check_view(*views_[i], kViewNames[i], device);
}

void Nodes::find_shapes() {
  for (unsigned i = 0; i < count_; ++i) {
    Node& node = nodes_[i];
    require_returning(node, i);
    broadcast(node, i);
    if (!is_elementwise(node.kind)) check_axes(node, i);
    if (node.kind == ExpressionKind::kReduce) {
      reduce_shape(node.shape.rank, node.shape.extents, node.axes, node.keeps_axes);
    }
  }
}

// A result that is no element-wise one comes back along the last axis, or is the last one.
void Nodes::require_returning(const Node& node, unsigned index) const {
  if (reduction_count_ == 0) return;
  for (unsigned i = 0; i < node.operand_count; ++i) {
    const NodeOperand& operand = node.operands[i];
    if (operand.from != From::kNode || is_elementwise(nodes_[operand.index].kind)) continue;
    const Node& reduced = nodes_[operand.index];
    if (reduced.kind == ExpressionKind::kReduce && reduced.keeps_axes && reduced.shape.rank != 0 &&
        reduced.axes == 1u << (reduced.shape.rank - 1)) {
      continue;
    }
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "nodes[%u].operands[%u] is node %u, which must be the last: it does not reduce the last "
         "axis and keep it",
         index, i, unsigned{operand.index});
  }
}

// As NumPy: axes aligned at the last, extents of 1 repeat.
void Nodes::broadcast(Node& node, unsigned index) const {
  Extents& shape = node.shape;
  shape.rank = 0;
  for (unsigned i = 0; i < node.operand_count; ++i) {
    const NodeOperand& operand = node.operands[i];
    if (operand.from == From::kScalar) continue;
    std::uint32_t rank;
    const std::int64_t* extents;
    if (operand.from == From::kNode) {
      rank = nodes_[operand.index].shape.rank;
      extents = nodes_[operand.index].shape.extents;
    } else {
      rank = views_[operand.index]->rank;
      extents = views_[operand.index]->shape;
    }
    if (!broadcast_with(shape.rank, shape.extents, rank, extents)) [[unlikely]] {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "nodes[%u].operands[%u] has the shape %s, which does not broadcast with %s of those "
           "before",
           index, i, shape_text(rank, extents).text, shape_text(shape.rank, shape.extents).text);
    }
  }
  std::int64_t count = 1;
  for (std::uint32_t axis = 0; axis < shape.rank; ++axis) {
    if (!__builtin_mul_overflow(count, shape.extents[axis], &count) && count <= TNR_MAX_ELEMENTS) {
      continue;
    }
    fail(TNR_STATUS_INVALID_ARGUMENT, "nodes[%u] has the shape %s, more than %" PRId64 " elements",
         index, shape_text(shape.rank, shape.extents).text, std::int64_t{TNR_MAX_ELEMENTS});
  }
}

void Nodes::check_axes(const Node& node, unsigned index) const {
  const std::uint32_t rank = node.shape.rank;
  if (node.axes >> rank != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "nodes[%u].flags has axes 0x%" PRIx32 " but its operand has %" PRIu32, index, node.axes,
         rank);
  }
  const auto count = static_cast<std::uint32_t>(std::popcount(node.axes));
  const bool gives_place = node.kind == ExpressionKind::kReduce &&
                           (node.op == TNR_REDUCE_OP_ARGMIN || node.op == TNR_REDUCE_OP_ARGMAX);
  if (gives_place && count != 1 && count != rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "nodes[%u].flags names %" PRIu32 " of %" PRIu32
         " axes but argmin and argmax take one or all",
         index, count, rank);
  }
}

const void* Nodes::attributes_of(const tnr_node& given) const {
  if (given.attributes == 0) return nullptr;
  if (given.attributes > expression_->attribute_count) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes is %" PRIu32 " but expression->attribute_count is %" PRIu32, given.attributes,
         expression_->attribute_count);
  }
  const void* const attributes = expression_->attributes[given.attributes - 1];
  if (attributes == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "expression->attributes[%" PRIu32 "] is NULL",
         given.attributes - 1);
  }
  return attributes;
}

ExpressionShape expression_shape(const tnr_expression& expression) {
  NodeMemory memory;
  Nodes nodes(expression, nullptr, memory.nodes, memory.elements);
  // The views are on one device, whichever it is: their memory is not asked for.
  nodes.check_views(nodes.given_view_count() == 0 ? kCpu : named_device(nodes.view(0)));
  nodes.find_shapes();
  const Node& last = nodes.last();
  ExpressionShape result = {last.dtype, last.shape.rank, {}};
  std::copy_n(last.shape.extents, last.shape.rank, result.extents);
  return result;
}

}  // namespace tenure
