#include "program/run/bound_schedule.hpp"

#include <cinttypes>

#include "program/unbacked.hpp"
#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

std::vector<ArrayType> types_of_inputs(const Arguments& arguments) {
  std::vector<ArrayType> types;
  types.reserve(arguments.input_count);
  for (std::uint32_t i = 0; i < arguments.input_count; ++i) {
    types.push_back(type_of(*arguments.inputs[i]));
  }
  return types;
}

void require_types(const std::vector<ArrayType>& types, const Arguments& arguments) {
  for (std::uint32_t i = 0; i < arguments.output_count; ++i) {
    const tnr_view& out = arguments.outputs[i]->view;
    const ArrayType& type = types[i];
    if (type_of(out) == type) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "outputs[%" PRIu32 "] is %s of shape %s but the program gives %s of shape %s", i,
         dtype_name(out.dtype), shape_text(out.rank, out.shape).text, dtype_name(type.dtype),
         shape_text(type.rank, type.shape).text);
  }
}

[[gnu::cold]] Error layout_error(const tnr_view& view, const tnr_view& layout, const char* array,
                                 std::uint32_t index) noexcept {
  const bool same_shape = type_of(view) == type_of(layout);
  return error_of(
      TNR_STATUS_INVALID_ARGUMENT, "%s is %s with the %s %s but the program is bound to %s with %s",
      argument_name(array, index).text, dtype_name(view.dtype), same_shape ? "strides" : "shape",
      shape_text(view.rank, same_shape ? view.strides : view.shape).text, dtype_name(layout.dtype),
      shape_text(layout.rank, same_shape ? layout.strides : layout.shape).text);
}

}  // namespace

BoundSchedule::BoundSchedule(const Graph& graph, const std::vector<bool>& needed,
                             std::uint32_t disabled_passes, const Arguments& arguments,
                             const Target& target)
    : schedule_(tenure::schedule(
          graph, needed, disabled_passes,
          infer_graph(graph, needed, Sizes(graph, arguments.inputs, arguments.input_count),
                      types_of_inputs(arguments)),
          arguments.inputs, arguments.outputs, nullptr, target)) {
  if (arguments.outputs != nullptr) require_types(schedule_.outputs, arguments);
  for (std::uint32_t i = 0; i < arguments.input_count; ++i) {
    inputs_.push_back(layout_of(*arguments.inputs[i]));
  }
  for (std::uint32_t i = 0; i < schedule_.outputs.size(); ++i) {
    outputs_.push_back(layout_of(arguments.outputs == nullptr ? unbacked_view(schedule_.outputs[i])
                                                              : arguments.outputs[i]->view));
  }
}

BoundSchedule::~BoundSchedule() { delete idle_.load(std::memory_order_acquire); }

BoundSchedule::Layout BoundSchedule::layout_of(const tnr_view& view) noexcept {
  Layout layout = {view, {}};
  (void)find_reach(view, layout.reach);  // it is valid
  return layout;
}

bool BoundSchedule::is_for(const Arguments& arguments) const noexcept {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (!has_layout(*arguments.inputs[i], inputs_[i].view)) return false;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (arguments.outputs == nullptr ? !is_row_major(outputs_[i].view)
                                     : !has_layout(arguments.outputs[i]->view, outputs_[i].view)) {
      return false;
    }
  }
  return true;
}

bool BoundSchedule::takes(const Arguments& arguments, const tnr_device& device) const noexcept {
  const auto is_taken = [&](const tnr_view& view, const Layout& layout) {
    return has_layout(view, layout.view) && has_memory(view, layout.reach, device);
  };
  if (arguments.input_count != inputs_.size() || arguments.output_count != outputs_.size() ||
      (arguments.inputs == nullptr && !inputs_.empty()) || arguments.outputs == nullptr) {
    return false;
  }
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const tnr_view* const view = arguments.inputs[i];
    if (view == nullptr || !is_taken(*view, inputs_[i])) return false;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const tnr_view_mut* const out = arguments.outputs[i];
    if (out == nullptr || !is_taken(out->view, outputs_[i])) return false;
  }
  return true;
}

Refusal BoundSchedule::refusal(const Graph& graph, const Arguments& arguments,
                               const tnr_device& device) const noexcept {
  if (takes(arguments, device)) [[likely]]
    return alias_refusal(graph, arguments);
  if (Refusal refusal = inputs_refusal(graph, arguments.inputs, arguments.input_count, device)) {
    return refusal;
  }
  if (Refusal refusal = outputs_refusal(graph, arguments.outputs, arguments.output_count, device)) {
    return refusal;
  }
  for (std::uint32_t i = 0; i < arguments.input_count; ++i) {
    const tnr_view& view = *arguments.inputs[i];
    if (!has_layout(view, inputs_[i].view)) return layout_error(view, inputs_[i].view, "inputs", i);
  }
  for (std::uint32_t i = 0; i < arguments.output_count; ++i) {
    const tnr_view& view = arguments.outputs[i]->view;
    if (!has_layout(view, outputs_[i].view)) {
      return layout_error(view, outputs_[i].view, "outputs", i);
    }
  }
  return alias_refusal(graph, arguments);
}

void BoundSchedule::note_scratch(std::size_t bytes) const noexcept {
  std::size_t known = scratch_bytes_.load(std::memory_order_relaxed);
  while (known < bytes && !scratch_bytes_.compare_exchange_weak(known, bytes)) {
  }
}

std::unique_ptr<Workspace> BoundSchedule::take_workspace(const Graph& graph) const {
  // Acquire: what its last run wrote.
  std::unique_ptr<Workspace> idle(idle_.exchange(nullptr, std::memory_order_acq_rel));
  return idle != nullptr ? std::move(idle) : std::make_unique<Workspace>(graph, schedule_);
}

void BoundSchedule::give_workspace(std::unique_ptr<Workspace> workspace) const noexcept {
  // Another run may have left one: one of both is enough.
  const std::unique_ptr<Workspace> other(
      idle_.exchange(workspace.release(), std::memory_order_acq_rel));
}

void BoundSchedule::settle(Workspace& workspace) const noexcept {
  note_scratch(workspace.scratch_bytes());
  try {
    workspace.grow_scratch();
  } catch (...) {
    // The next run asks for it again.
  }
}

tnr_memory_plan BoundSchedule::memory(std::uint64_t packed_bytes) const noexcept {
  const MemoryPlan& memory = schedule_.memory;
  tnr_memory_plan plan{};
  plan.struct_size = sizeof plan;
  plan.peak_bytes = static_cast<std::uint64_t>(memory.block_bytes);
  plan.live_bytes = static_cast<std::uint64_t>(memory.live_bytes);
  plan.total_bytes = static_cast<std::uint64_t>(memory.total_bytes);
  plan.scratch_bytes = scratch_bytes();
  plan.step_count = static_cast<std::uint32_t>(schedule_.steps.size());
  plan.packed_bytes = packed_bytes;
  return plan;
}

}  // namespace tenure
