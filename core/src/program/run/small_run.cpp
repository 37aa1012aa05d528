#include "program/run/small_run.hpp"

#include <algorithm>

#include "expression/evaluation.hpp"
#include "program/run/frame.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "view/plain.hpp"

namespace tenure {

SmallRun::SmallRun(const Graph& graph, const std::vector<const Constant*>& constants,
                   const BoundSchedule& schedule)
    : constants_(constants) {
  const Schedule& of = schedule.schedule();
  if (of.steps.size() != 1 || schedule.outputs().size() != 1) return;
  // A borrowed one is pinned in each run.
  if (std::ranges::any_of(constants, &Constant::is_borrowed)) return;
  const Step& step = of.steps[0];
  if (step.prepared == nullptr || step.prepared->small_count() == 0) return;
  const tnr_view& out = schedule.outputs()[0].view;
  const Placed& result = of.places[step.result];
  if (result.storage != Storage::kOutput || result.offset_bytes != 0 ||
      !has_layout(result.layout, out)) {
    return;
  }
  for (const BoundSchedule::Layout& input : schedule.inputs()) {
    if (!has_layout(input.view, out)) return;
  }
  for (const std::uint32_t place : step.operands) {
    const Placed& placed = of.places[place];
    if (placed.offset_bytes != 0 || !has_layout(placed.layout, out)) return;
    if (placed.storage == Storage::kInput) {
      is_in_order_ = is_in_order_ && placed.index == operands_.size();
      operands_.push_back({nullptr, placed.index});
    } else if (placed.storage == Storage::kConstant) {
      is_in_order_ = false;
      operands_.push_back({&graph.constants[placed.index]->view(), 0});
    } else {
      return;
    }
  }
  bytes_ = static_cast<std::uint64_t>(step.prepared->small_count()) * element_size(out.dtype);
  input_count_ = static_cast<std::uint32_t>(schedule.inputs().size());
  layout_ = out;
  expression_ = step.prepared.get();
  node_ = step.node;
}

bool SmallRun::run(const Graph& graph, const Arguments& arguments,
                   Refusal& refusal) const noexcept {
  if (expression_ == nullptr || arguments.input_count != input_count_ ||
      arguments.output_count != 1 || arguments.outputs == nullptr ||
      arguments.outputs[0] == nullptr || (arguments.inputs == nullptr && input_count_ != 0)) {
    return false;
  }
  const tnr_view_mut& to = *arguments.outputs[0];
  const tnr_view& out = to.view;
  if (!has_layout(out, layout_) || word_of(out, Pair::kDevice) != word_of(TNR_DEVICE_KIND_CPU, 0) ||
      !has_plain_memory(out, bytes_)) [[unlikely]] {
    return false;
  }
  BlobToken owners = out.owner;
  for (std::uint32_t i = 0; i < input_count_; ++i) {
    const tnr_view* const view = arguments.inputs[i];
    // An output that updates an input is copied, which is a step.
    if (view == nullptr || !has_same_layout(*view, out, bytes_) || view->data == out.data)
        [[unlikely]]
      return false;
    owners |= view->owner;
  }
  const tnr_view* const* views = arguments.inputs;
  const tnr_view* ordered[TNR_MAX_EXPRESSION_VIEWS];
  if (!is_in_order_) [[unlikely]] {
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const Operand& operand = operands_[i];
      ordered[i] = operand.constant != nullptr ? operand.constant : arguments.inputs[operand.input];
    }
    views = ordered;
  }
  kernels::Finding found = kernels::kNothing;
  if (owners == 0) [[likely]] {
    found = expression_->run_small(views, to);
  } else {
    refusal = Owners(constants_, arguments).with_pinned([&]() -> Refusal {
      found = expression_->run_small(views, to);
      return std::nullopt;
    });
  }
  if (found != kernels::kNothing) [[unlikely]]
    refusal = node_error(finding_error(found), graph, node_);
  return true;
}

}  // namespace tenure
