// Calls of expressions: chooses where each is computed, pins owners, counts calls, refuses data.
#include "base/data_findings.hpp"
#include "expression/cpu_evaluation.hpp"
#include "expression/evaluation.hpp"
#include "expression/nodes.hpp"
#include "expression/small.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/expression.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"
#include "view/plain.hpp"

namespace tenure {
namespace {

using kernels::Finding;

// They are exactly the output, or apart from it.
void pin_operands(Pins& pins, const Nodes& nodes, const tnr_view_mut& out) {
  pins.add_mut(out, "out");
  const bool is_in_place = nodes.last().kind != ExpressionKind::kReduce;
  for (unsigned i = 0; i < nodes.given_view_count(); ++i) {
    pins.add(nodes.view(i), kViewNames[i]);
    require_alias(out.view, nodes.view(i), kViewNames[i],
                  is_in_place ? SameView::kAllowed : SameView::kRefused);
  }
}

void count(const Nodes& nodes, const tnr_view_mut& out) noexcept {
  if (is_empty(out.view)) return count_call(TNR_OPERATION_EVALUATE, 0, 0);
  std::uint64_t read_bytes = 0;
  for (unsigned i = 0; i < nodes.view_count(); ++i) read_bytes += element_bytes(nodes.view(i));
  count_call(TNR_OPERATION_EVALUATE, read_bytes, element_bytes(out.view));
}

// Reads the queue first: the views are checked against its device.
[[gnu::cold]] void evaluate_on_device(const Context& context, Nodes& nodes,
                                      const AttributeReaders& readers, const tnr_view_mut& out) {
  const tnr_device device = queue_of(context, out.view, "out").device();
  check_view_mut(out, "out", device);
  nodes.check_views(device);
  nodes.find_shapes();
  check_computable(nodes, readers, out);
  compute_on_device(context, nodes, DeviceSteps(nodes, device), readers, out);
}

}  // namespace

bool compute_small(const Nodes& nodes, const tnr_view* const* views, const tnr_view_mut& out) {
  const std::int64_t count = plain_count(out.view);
  return count != 0 && is_small(nodes, count) && nodes.last().dtype == out.view.dtype &&
         compute_if_twins(nodes, views, count, out);
}

bool compute_if_twins(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                      const tnr_view_mut& out) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * element_size(out.view.dtype);
  const unsigned given = nodes.given_view_count();
  for (unsigned i = 0; i < given; ++i) {
    if (!has_same_layout(*views[i], out.view, bytes)) return false;
  }
  Pins pins;
  pins.add_mut(out, "out");
  for (unsigned i = 0; i < given; ++i) pins.add(*views[i], kViewNames[i]);
  require_no_finding_of(find_small(nodes, views, count, out));
  return true;
}

[[gnu::cold]] Error finding_error(Finding found) noexcept {
  return error_of(TNR_STATUS_INVALID_ARGUMENT, "%s",
                  found == kernels::kZeroDivisor
                      ? "an integer is divided by an element 0; out holds a mixture"
                      : "an integer has a negative element as its power; out holds a mixture");
}

void require_no_finding_of(Finding found) {
  if (found == kernels::kNothing) [[likely]]
    return;
  const Error error = finding_error(found);
  refuse_data(error.status(), "%s", error.message());
}

Finding find_small(const Nodes& nodes, const tnr_view* const* views, std::int64_t count,
                   const tnr_view_mut& out) noexcept {
  const Finding found = run_small(nodes, views, count, writable(out));
  if (found != kernels::kNothing) [[unlikely]]
    return found;
  const std::uint64_t bytes = static_cast<std::uint64_t>(count) * element_size(out.view.dtype);
  count_call(TNR_OPERATION_EVALUATE, bytes * nodes.view_count(), bytes);
  return found;
}

void compute(const Context& context, const Nodes& nodes, const AttributeReaders& readers,
             const tnr_view_mut& out) {
  Pins pins;
  pin_operands(pins, nodes, out);
  CpuEvaluation evaluation(context, nodes, readers, out);
  evaluation.check();
  require_no_finding_of(evaluation.run());
  count(nodes, out);
}

void compute_on_device(const Context& context, const Nodes& nodes, const DeviceSteps& steps,
                       const AttributeReaders& readers, const tnr_view_mut& out) {
  const DeviceQueue& queue = queue_of(context, out.view, "out");
  Pins pins;
  pin_operands(pins, nodes, out);
  if (!is_empty(out.view)) {
    require_no_finding_of(steps.run(queue, nodes, readers, out, pins));
  }
  count(nodes, out);
}

void compute_rows(const Context& context, const RowGroups& groups, const Nodes& nodes,
                  const tnr_view_mut& out) {
  require_no_finding_of(groups.run(context, nodes, out));
  count(nodes, out);
}

void check_computable(const Nodes& nodes, const AttributeReaders& readers,
                      const tnr_view_mut& out) {
  CpuEvaluation(kDefaultContext, nodes, readers, out).check();
}

std::unique_ptr<const RowGroups> checked_row_groups(const Nodes& nodes,
                                                    const AttributeReaders& readers,
                                                    const tnr_view_mut& out) {
  CpuEvaluation evaluation(kDefaultContext, nodes, readers, out);
  evaluation.check();
  return evaluation.row_groups();
}

void evaluate(const Context& context, const tnr_expression& expression,
              const AttributeReaders& readers, const tnr_view_mut& out) {
  NodeMemory memory;
  Nodes nodes(expression, &out.view, memory.nodes, memory.elements);
  if (compute_small(nodes, expression.views, out)) return;
  if (is_on_device(out.view)) [[unlikely]]
    return evaluate_on_device(context, nodes, readers, out);
  check_view_mut(out, "out");
  nodes.check_views();
  nodes.find_shapes();
  compute(context, nodes, readers, out);
}

}  // namespace tenure
