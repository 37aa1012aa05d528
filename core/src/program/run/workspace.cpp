#include "program/run/workspace.hpp"

#include <algorithm>

#include "base/concurrency.hpp"

namespace tenure {

Refusal Workspace::compute(const Context& context, const Graph& graph, const Schedule& schedule,
                           const Arguments& arguments, const tnr_program_run_attributes& attributes,
                           Bodies bodies) {
  frame_.set_memory(
      schedule, [&](std::uint32_t i) -> const tnr_view& { return *arguments.inputs[i]; },
      [&](std::uint32_t i) -> const tnr_view& { return arguments.outputs[i]->view; });
  const ScratchArena::Use scratch(scratch_.get());
  const Run run = {context, (attributes.flags & TNR_RUN_CHECKED) != 0, bodies};
  if (attributes.step_nanoseconds == nullptr) {
    if (Refusal refusal = run_steps(run, graph, schedule, frame_)) return refusal;
    write_shapes(graph, schedule, attributes.output_shapes);
    return std::nullopt;
  }
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const auto start = Clock::now();
    if (Refusal refusal = run_step(run, graph, schedule, frame_, i)) return refusal;
    const auto taken = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
    attributes.step_nanoseconds[i] = static_cast<std::uint64_t>(taken.count());
  }
  write_shapes(graph, schedule, attributes.output_shapes);
  return std::nullopt;
}

void Workspace::write_shapes(const Graph& graph, const Schedule& schedule,
                             std::int64_t* shapes) const noexcept {
  for (std::size_t i = 0; shapes != nullptr && i < schedule.outputs.size(); ++i) {
    const ArrayType& type = frame_.output_type(graph, schedule, i);
    std::int64_t* const shape = shapes + i * TNR_MAX_RANK;
    std::fill_n(std::copy_n(type.shape, type.rank, shape), TNR_MAX_RANK - type.rank, 0);
  }
}

void Workspace::grow_scratch() {
  const std::size_t peak_bytes = scratch_->peak_bytes();
  if (kSanitized || peak_bytes <= scratch_->size_bytes()) return;
  scratch_ = std::make_unique<ScratchArena>(peak_bytes);
}

}  // namespace tenure
