#include "expression/prepared.hpp"

#include <algorithm>

#include "expression/evaluation.hpp"
#include "expression/small.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

std::size_t scalar_count(const tnr_expression& expression) noexcept {
  return std::size_t{expression.node_count} * kMaxOperands;
}

// Checks the counts before memory is allocated by them.
const tnr_expression& bounded(const tnr_expression& expression) {
  Nodes::require_counts(expression);
  return expression;
}

}  // namespace

PreparedExpression::PreparedExpression(const tnr_expression& expression,
                                       const AttributeReaders& readers, const tnr_view_mut& out)
    : node_memory_(new Node[bounded(expression).node_count]),
      elements_(new Element[scalar_count(expression)]),
      nodes_(expression, &out.view, node_memory_.get(), elements_.get()) {
  const tnr_device device = named_device(out.view);
  check_view_mut(out, "out", device);
  nodes_.check_views(device);
  nodes_.find_shapes();
  copy_attributes(readers);
  if (is_on_device(out.view)) {
    check_computable(nodes_, kOwnReaders, out);
    device_steps_ = std::make_unique<const DeviceSteps>(nodes_, device);
    return;
  }
  row_groups_ = checked_row_groups(nodes_, kOwnReaders, out);
  const std::int64_t count = dense_count(out.view);
  if (count == 0 || !is_small(nodes_, count)) return;
  for (unsigned i = 0; i < nodes_.given_view_count(); ++i) {
    if (!has_layout(nodes_.view(i), out.view)) return;
  }
  small_count_ = count;
}

// Each node's, in memory of this.
void PreparedExpression::copy_attributes(const AttributeReaders& readers) {
  const auto has_some = [](const Node& node) {
    return !is_elementwise(node.kind) && node.attributes != nullptr;
  };
  const Node* const nodes = node_memory_.get();
  const auto count =
      static_cast<std::size_t>(std::count_if(nodes, nodes + nodes_.count(), has_some));
  attributes_.reset(new Attributes[count]);
  std::size_t next = 0;
  for (unsigned i = 0; i < nodes_.count(); ++i) {
    Node& node = node_memory_[i];
    if (!has_some(node)) continue;
    Attributes& own = attributes_[next++];
    if (node.kind == ExpressionKind::kReduce) {
      own.reduce = readers.reduce(static_cast<const tnr_reduce_attributes*>(node.attributes));
    } else {
      own.normalize =
          readers.normalize(static_cast<const tnr_normalize_attributes*>(node.attributes));
      if (own.normalize.weight != nullptr || own.normalize.bias != nullptr) {
        fail(TNR_STATUS_UNSUPPORTED,
             "nodes[%u] normalizes with a weight or a bias, which is not kept: multiply by a node",
             i);
      }
    }
    node.attributes = &own;
  }
}

void PreparedExpression::run_checked(const Context& context, const tnr_view* const* views,
                                     const tnr_view_mut& out) const {
  if (small_count_ != 0) return require_no_finding_of(run_small(views, out));
  const Nodes nodes(nodes_, views, out.view);
  if (row_groups_ != nullptr) return compute_rows(context, *row_groups_, nodes, out);
  if (device_steps_ == nullptr) return compute(context, nodes, kOwnReaders, out);
  compute_on_device(context, nodes, *device_steps_, kOwnReaders, out);
}

}  // namespace tenure
