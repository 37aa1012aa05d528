// The memory that one run of a program writes: the block of values, and scratch memory of
// operations.
#pragma once

#include <memory>

#include "memory/memory.hpp"
#include "memory/scratch_arena.hpp"
#include "program/graph.hpp"
#include "program/run/arguments.hpp"
#include "program/run/frame.hpp"
#include "program/schedule.hpp"

namespace tenure {

class BoundSchedule;

class Workspace {
 public:
  Workspace(const Graph& graph, const Schedule& schedule)
      : block_(static_cast<std::size_t>(schedule.memory.block_bytes)),
        scratch_(std::make_unique<ScratchArena>()),
        frame_(graph, schedule, block_.data()) {}
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  // Computes the outputs from the inputs, whose owners are pinned. Throws what operations find on
  // the data, naming the node, and what those of users answer; refuses as run_steps().
  Refusal compute(const ProgramRun& run, const Graph& graph, const Schedule& schedule,
                  const Arguments& arguments, const tnr_program_run_attributes& attributes);
  // Writes the extents of the last run, one output after another. Does nothing where `shapes` is
  // nullptr.
  void write_shapes(const Graph& graph, const Schedule& schedule,
                    std::int64_t* shapes) const noexcept;

  // The most that operations had at once in the last run.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept { return scratch_->peak_bytes(); }
  // Makes room for what the last run asked for in vain. Throws OUT_OF_MEMORY.
  void grow_scratch() { grow_scratch(scratch_bytes()); }
  void grow_scratch(std::size_t size_bytes);

  // The schedule that the workspace is for; nullptr while that schedule holds the workspace.
  std::shared_ptr<const BoundSchedule> bound;

 private:
  OwnedMemory block_;
  std::unique_ptr<ScratchArena> scratch_;
  Frame frame_;
};

}  // namespace tenure
