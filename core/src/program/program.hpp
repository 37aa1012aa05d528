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
#include "program/frame.hpp"
#include "program/graph.hpp"
#include "program/schedule.hpp"
#include "tenure/program.hpp"

namespace tenure {

// What one run writes.
class Workspace {
 public:
  Workspace(const Graph& graph, const Schedule& schedule)
      : block_(static_cast<std::size_t>(schedule.memory.block_bytes)),
        scratch_(std::make_unique<ScratchArena>()),
        frame_(graph, schedule, block_.data()) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] Frame& frame() noexcept { return frame_; }
  // The scratch memory of operations: as much as earlier runs asked for.
  [[nodiscard]] ScratchArena& scratch() noexcept { return *scratch_; }
  // Makes room for what the run asked for in vain.
  void keep_scratch() noexcept;

 private:
  OwnedMemory block_;
  std::unique_ptr<ScratchArena> scratch_;
  Frame frame_;
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
  void compute(const Run& run, const Schedule& schedule, Frame& frame,
               std::uint64_t* step_nanoseconds) const;

  // So many schedules are kept, those that were used last.
  static constexpr std::size_t kMostBound = 16;

  Graph graph_;
  std::vector<bool> needed_;                // by node
  std::vector<const Constant*> constants_;  // with those of bodies
  std::uint32_t disabled_passes_;
  mutable Mutex mutex_;                                      // guards bound_
  mutable std::vector<std::shared_ptr<const Bound>> bound_;  // the one used last is the last
};

using ProgramHandles = Handles<Program, kProgramKind>;

}  // namespace tenure
