#include "program/expressions.hpp"

#include <algorithm>

#include "cpu/operations.hpp"
#include "expression/evaluation.hpp"
#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/expression.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

constexpr unsigned kMaxNodeOperands = 3;

template <std::size_t kCount>
tnr_dtype given_by(const kernels::OperationRow (&rows)[kCount], std::int32_t op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  // The expression refuses a row that is no operation.
  return row < kCount ? result_dtype(rows[row].gives, dtype) : dtype;
}

// The dtype of the node's result; whether it takes its operands is the expression's to say.
tnr_dtype result_of(const GraphNode& node, const OperandType* operands) {
  const std::uint32_t kind = node.kind() << kNodeKindShift;
  const std::size_t first = kind == TNR_NODE_SELECT ? 1 : 0;
  const OperandType* const end = operands + node.operands.size();
  const OperandType* const decides = std::find_if(
      operands + first, end, [](const OperandType& operand) { return operand.array != nullptr; });
  const tnr_dtype dtype = decides != end                      ? decides->array->dtype
                          : operands[first].scalar != nullptr ? operands[first].scalar->dtype
                                                              : 0;
  switch (kind) {
    case TNR_NODE_UNARY: return given_by(kernels::kUnaryRows, node.op(), dtype);
    case TNR_NODE_REDUCE: return given_by(kernels::kReduceRows, node.op(), dtype);
    case TNR_NODE_COMPARE: return TNR_DTYPE_BOOL8;
    case TNR_NODE_CAST: return node.dtype;
    default: return dtype;
  }
}

// The expression of one node. Writes the views that it reads to `views`, in its order: view_of(i)
// is the view of operand i.
template <class Operand, class ViewOf>
ExpressionOf alone(const GraphNode& node, tnr_dtype dtype, const Operand* operands,
                   const ViewOf& view_of, const tnr_view** views) {
  const auto place_of = [&](std::uint32_t value) {
    return static_cast<std::size_t>(std::ranges::find(node.operands, value) -
                                    node.operands.begin());
  };
  ExpressionOf expression;
  expression.add(node, dtype,
                 [&](std::uint32_t value) { return operands[place_of(value)].scalar; });
  for (const std::uint32_t value : expression.views()) *views++ = view_of(place_of(value));
  return expression;
}

}  // namespace

ArrayType infer_expression(const NodeCall& call, const OperandType* operands) {
  const GraphNode& node = call.node;
  tnr_view layouts[kMaxNodeOperands];
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    if (operands[i].array != nullptr) layouts[i] = unbacked_view(*operands[i].array);
    if (operands[i].array == nullptr && operands[i].scalar == nullptr) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "operands[%zu] is not given", i);
    }
  }
  const tnr_view* views[kMaxNodeOperands];
  const ExpressionOf expression = alone(
      node, result_of(node, operands), operands, [&](std::size_t i) { return &layouts[i]; }, views);
  const ExpressionShape shape = expression_shape(expression.over(views));
  ArrayType type = {shape.dtype, shape.rank, {}};
  std::copy_n(shape.extents, shape.rank, type.shape);
  // prepare() also refuses reductions that expression_shape() takes, such as a maximum of no
  // elements.
  if (operation_of(node).computes != Computes::kElementwise) {
    (void)expression.prepare(views, unbacked_view(type));
  }
  return type;
}

void run_expression(const Context& context, const NodeCall& call, const OperandView* operands,
                    const tnr_view_mut& out) {
  const tnr_view* views[kMaxNodeOperands];
  const ExpressionOf expression = alone(
      call.node, out.view.dtype, operands, [&](std::size_t i) { return operands[i].view; }, views);
  evaluate(context, expression.over(views), kOwnReaders, out);
}

void ExpressionOf::add(const GraphNode& node, tnr_dtype type,
                       const std::function<const tnr_scalar*(std::uint32_t)>& scalar_of) {
  tnr_node own = {node.code, type, {}, 0, node.flags, 0};
  std::fill_n(own.operands, kMaxNodeOperands, TNR_OPERAND_NONE);
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const std::uint32_t value = node.operands[i];
    const auto made = std::ranges::find(added_, value, &Added::value);
    if (made != added_.end()) {
      own.operands[i] = made->node;
    } else if (const tnr_scalar* const scalar = scalar_of(value)) {
      own.operands[i] = TNR_OPERAND_SCALAR + static_cast<std::uint32_t>(scalars_.size());
      scalars_.push_back(*scalar);
    } else {
      const auto at = std::ranges::find(views_, value);
      own.operands[i] = TNR_OPERAND_VIEW + static_cast<std::uint32_t>(at - views_.begin());
      if (at == views_.end()) views_.push_back(value);
    }
  }
  if (node.has_attributes) {
    attributes_.push_back(&node.attributes);
    own.attributes = static_cast<std::uint32_t>(attributes_.size());
  }
  added_.push_back({node.result, static_cast<std::uint32_t>(nodes_.size())});
  nodes_.push_back(own);
}

tnr_expression ExpressionOf::over(const tnr_view* const* views) const noexcept {
  tnr_expression expression{};
  expression.struct_size = sizeof expression;
  expression.nodes = nodes_.data();
  expression.node_count = static_cast<std::uint32_t>(nodes_.size());
  expression.views = views;
  expression.view_count = static_cast<std::uint32_t>(views_.size());
  expression.scalars = scalars_.data();
  expression.scalar_count = static_cast<std::uint32_t>(scalars_.size());
  expression.attributes = attributes_.data();
  expression.attribute_count = static_cast<std::uint32_t>(attributes_.size());
  return expression;
}

std::unique_ptr<const PreparedExpression> ExpressionOf::prepare(const tnr_view* const* views,
                                                                const tnr_view& out) const {
  return std::make_unique<const PreparedExpression>(over(views), kOwnReaders, tnr_view_mut{out});
}

}  // namespace tenure
