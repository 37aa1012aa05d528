#include "expression/plan.hpp"

#include <algorithm>
#include <cinttypes>

#include "dense/operands.hpp"
#include "expression/evaluation.hpp"
#include "expression/small.hpp"
#include "memory/slot_table.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

constexpr PlanHandles kPlanHandles(plan_table, "plan", "plan");

void require_layout(const tnr_view& view, const tnr_view& layout, const char* name) {
  if (has_layout(view, layout)) [[likely]]
    return;
  if (view.dtype != layout.dtype) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but the plan was made for %s", name,
         dtype_name(view.dtype), dtype_name(layout.dtype));
  }
  if (view.rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be at most %d", name,
         view.rank, TNR_MAX_RANK);
  }
  const bool same_shape =
      view.rank == layout.rank && std::equal(view.shape, view.shape + view.rank, layout.shape);
  const std::int64_t* const given = same_shape ? view.strides : view.shape;
  const std::int64_t* const planned = same_shape ? layout.strides : layout.shape;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s has the %s %s but the plan was made for %s", name,
       same_shape ? "strides" : "shape", shape_text(view.rank, given).text,
       shape_text(layout.rank, planned).text);
}

tnr_view layout_of(const tnr_view& view) noexcept {
  tnr_view layout = view;
  layout.data = layout.base = nullptr;
  layout.owner = 0;
  return layout;
}

std::size_t scalar_count(const tnr_expression& expression) noexcept {
  return std::size_t{expression.node_count} * kMaxOperands;
}

// Bounds before memory is asked for.
const tnr_expression& bounded(const tnr_expression& expression) {
  Nodes::require_counts(expression);
  return expression;
}

}  // namespace

Plan::Plan(const tnr_expression& expression, const AttributeReaders& readers,
           const tnr_view_mut& out)
    : out_layout_(layout_of(out.view)),
      layouts_(new tnr_view[bounded(expression).view_count]),
      node_memory_(new Node[expression.node_count]),
      elements_(new Element[scalar_count(expression)]),
      nodes_(expression, &out.view, node_memory_.get(), elements_.get()) {
  const tnr_device device = named_device(out.view);
  check_view_mut(out, "out", device);
  nodes_.check_views(device);
  nodes_.find_shapes();
  for (unsigned i = 0; i < nodes_.given_view_count(); ++i) layouts_[i] = layout_of(nodes_.view(i));
  copy_attributes(readers);
  check_computable(nodes_, kOwnReaders, out);
  if (is_on_device(out.view)) {
    device_steps_ = std::make_unique<const DeviceSteps>(nodes_, device);
    return;
  }
  const tnr_view* const layouts = layouts_.get();
  const std::int64_t count = dense_count(out.view);
  if (count != 0 && is_small(nodes_, count) &&
      std::all_of(layouts, layouts + nodes_.given_view_count(),
                  [&](const tnr_view& layout) { return has_layout(layout, out.view); })) {
    small_count_ = count;
  }
}

// Each node's, in memory of the plan.
void Plan::copy_attributes(const AttributeReaders& readers) {
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
        fail(
            TNR_STATUS_UNSUPPORTED,
            "nodes[%u] normalizes with a weight or a bias, which a plan does not keep: multiply by "
            "a node",
            i);
      }
    }
    node.attributes = &own;
  }
}

void Plan::run_checked(const Context& context, const tnr_view* const* views,
                       const tnr_view_mut& out) const {
  if (small_count_ == 0) return compute(context, Nodes(nodes_, views, out.view), out);
  require_no_finding_of(run_small(views, out));
}

void Plan::run(const Context& context, const tnr_view* const* views, std::uint32_t view_count,
               const tnr_view_mut& out) const {
  if (view_count != nodes_.given_view_count()) [[unlikely]] {
    fail(TNR_STATUS_INVALID_ARGUMENT, "view_count is %" PRIu32 " but the plan was made for %u",
         view_count, nodes_.given_view_count());
  }
  if (views == nullptr && view_count != 0) [[unlikely]]
    fail(TNR_STATUS_INVALID_ARGUMENT, "views is NULL but view_count is %" PRIu32, view_count);
  for (std::uint32_t i = 0; i < view_count; ++i) {
    if (views[i] == nullptr) [[unlikely]]
      fail(TNR_STATUS_INVALID_ARGUMENT, "views[%" PRIu32 "] is NULL", i);
  }
  require_layout(out.view, out_layout_, "out");
  // Views that have the output's layout have the plan's.
  if (small_count_ != 0 && word_of(out.view, Pair::kDevice) == word_of(TNR_DEVICE_KIND_CPU, 0) &&
      has_plain_memory(out.view,
                       static_cast<std::uint64_t>(small_count_) * element_size(out.view.dtype)) &&
      compute_if_twins(nodes_, views, small_count_, out)) {
    return;
  }
  for (std::uint32_t i = 0; i < view_count; ++i) {
    require_layout(*views[i], layouts_[i], kViewNames[i]);
  }
  const Nodes nodes(nodes_, views, out.view);
  check_view_mut(out, "out", out_layout_.device);
  nodes.check_views(out_layout_.device);
  compute(context, nodes, out);
}

void Plan::compute(const Context& context, const Nodes& nodes, const tnr_view_mut& out) const {
  if (device_steps_ == nullptr) return tenure::compute(context, nodes, kOwnReaders, out);
  compute_on_device(context, nodes, *device_steps_, kOwnReaders, out);
}

PlanToken plan_create(const tnr_expression& expression, const AttributeReaders& readers,
                      const tnr_view_mut& out) {
  return kPlanHandles.open(std::make_unique<const Plan>(expression, readers, out));
}

void plan_retain(PlanToken token) { kPlanHandles.retain(token); }

void plan_release(PlanToken token) { kPlanHandles.release(token); }

void plan_run(const Context& context, PlanToken token, const tnr_view* const* views,
              std::uint32_t view_count, const tnr_view_mut& out) {
  const PlanHandles::Use plan(kPlanHandles, token);
  plan.object().run(context, views, view_count, out);
}

}  // namespace tenure
