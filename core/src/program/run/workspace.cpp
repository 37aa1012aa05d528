#include "program/run/workspace.hpp"

#include <algorithm>

#include "base/concurrency.hpp"

namespace tenure {

Refusal Workspace::compute(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                           const Arguments& arguments,
                           const tnr_program_run_attributes& attributes) {
  frame_.set_memory(
      schedule, [&](std::uint32_t i) -> const tnr_view& { return *arguments.inputs[i]; },
      [&](std::uint32_t i) -> const tnr_view& { return arguments.outputs[i]->view; });
  const ScratchArena::Use scratch(scratch_.get());
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

void Workspace::grow_scratch(std::size_t size_bytes) {
  if (kSanitized || size_bytes <= scratch_->size_bytes()) return;
  scratch_ = std::make_unique<ScratchArena>(size_bytes);
}

}  // namespace tenure
