// A graph made ready to run: rewritten once, scheduled once for each set of layouts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/concurrency.hpp"
#include "base/mutex.hpp"
#include "memory/handles.hpp"
#include "memory/memory.hpp"
#include "memory/scratch_arena.hpp"
#include "memory/slot_table.hpp"
#include "program/graph.hpp"
#include "program/schedule.hpp"
#include "tenure/program.hpp"

namespace tenure {

// What one run writes: the block of values, and views of all that steps name.
class Workspace {
 public:
  Workspace(const Graph& graph, const Schedule& schedule);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] const tnr_view& view(std::uint32_t place) const noexcept { return views_[place]; }
  // Places of inputs and outputs, for the memory of this run.
  void set_memory(const Schedule& schedule, const tnr_view* const* inputs,
                  const tnr_view_mut* const* outputs) noexcept;
  // The scratch memory of operations: as much as earlier runs asked for.
  [[nodiscard]] ScratchArena& scratch() noexcept { return *scratch_; }
  // Makes room for what the run asked for in vain.
  void keep_scratch() noexcept;
  // The operands of a step, in its order.
  [[nodiscard]] const tnr_view* const* pointers(std::size_t step) const noexcept {
    return pointers_.data() + first_pointer_[step];
  }
  [[nodiscard]] const OperandView* operands(std::size_t step) const noexcept {
    return operands_.data() + first_pointer_[step];
  }

 private:
  OwnedMemory block_;
  std::unique_ptr<ScratchArena> scratch_;
  std::vector<tnr_view> views_;          // by place
  std::vector<std::uint32_t> changing_;  // places of inputs and outputs
  std::vector<const tnr_view*> pointers_;
  std::vector<OperandView> operands_;
  std::vector<std::size_t> first_pointer_;  // by step
};

// A schedule and the layouts that it is for.
class Bound {
 public:
  Bound(const Graph& graph, const std::vector<bool>& needed, std::uint32_t disabled_passes,
        const tnr_view* const* inputs, std::uint32_t input_count,
        const tnr_view_mut* const* outputs, std::uint32_t output_count);
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;
  ~Bound();

  [[nodiscard]] bool is_for(const tnr_view* const* inputs,
                            const tnr_view_mut* const* outputs) const noexcept;
  [[nodiscard]] const Schedule& schedule() const noexcept { return schedule_; }
  // The peak of operations, in the runs so far.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return scratch_bytes_.load(std::memory_order_relaxed);
  }

  // The workspace that the last run left, or a new one.
  std::unique_ptr<Workspace> take_workspace(const Graph& graph) const;
  void give_workspace(std::unique_ptr<Workspace> workspace) const noexcept;

 private:
  std::vector<tnr_view> inputs_;   // layouts
  std::vector<tnr_view> outputs_;  // layouts
  Schedule schedule_;
  mutable Atomic<Workspace*> idle_{nullptr};
  mutable Atomic<std::size_t> scratch_bytes_{0};
};

class Program {
 public:
  // Throws as tnr_program_create().
  Program(const Context& context, const Graph& graph, const std::vector<ArrayType>& types,
          std::uint32_t disabled_passes);

  [[nodiscard]] ProgramShape output_shape(const tnr_view* const* inputs, std::uint32_t input_count,
                                          std::uint32_t output) const;
  [[nodiscard]] tnr_memory_plan memory(const tnr_view* const* inputs,
                                       std::uint32_t input_count) const;
  [[nodiscard]] tnr_step_info describe_step(const tnr_view* const* inputs,
                                            std::uint32_t input_count, std::uint32_t step) const;
  void run(const Context& context, const tnr_view* const* inputs, std::uint32_t input_count,
           const tnr_program_run_attributes& attributes, const tnr_view_mut* const* outputs,
           std::uint32_t output_count) const;

 private:
  void check_inputs(const tnr_view* const* inputs, std::uint32_t input_count) const;
  // With row-major outputs.
  std::shared_ptr<const Bound> find_for(const tnr_view* const* inputs,
                                        std::uint32_t input_count) const;
  std::shared_ptr<const Bound> find(const tnr_view* const* inputs, std::uint32_t input_count,
                                    const tnr_view_mut* const* outputs,
                                    std::uint32_t output_count) const;
  void check_outputs(const Schedule& schedule, const tnr_view* const* inputs,
                     const tnr_view_mut* const* outputs) const;
  void compute(const Context& context, const Schedule& schedule, const Workspace& workspace,
               const tnr_program_run_attributes& attributes) const;
  void compute_step(const Context& context, const Schedule& schedule, const Workspace& workspace,
                    std::size_t index, bool is_checked) const;

  // So many schedules are kept, those that were used last.
  static constexpr std::size_t kMostBound = 16;

  Graph graph_;
  std::vector<bool> needed_;  // by node
  std::uint32_t disabled_passes_;
  mutable Mutex mutex_;                                      // guards bound_
  mutable std::vector<std::shared_ptr<const Bound>> bound_;  // the one used last is the last
};

using ProgramHandles = Handles<Program, kProgramKind>;

}  // namespace tenure
