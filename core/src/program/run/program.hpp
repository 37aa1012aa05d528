// A graph made ready to run: rewritten once, scheduled once for each set of layouts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/concurrency.hpp"
#include "base/mutex.hpp"
#include "memory/handles.hpp"
#include "memory/slot_table.hpp"
#include "program/graph.hpp"
#include "program/run/bound_schedule.hpp"
#include "program/run/device_runs.hpp"
#include "program/run/workspace.hpp"
#include "tenure/program.hpp"

namespace tenure {

class Program {
 public:
  // A program of the graph in `built`. Throws as tnr_program_create().
  Program(const Context& context, std::shared_ptr<Body> built,
          const tnr_program_attributes& attributes);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  [[nodiscard]] ProgramShape output_shape(const tnr_view* const* inputs, std::uint32_t input_count,
                                          std::uint32_t output) const;
  [[nodiscard]] tnr_memory_plan memory(const tnr_view* const* inputs,
                                       std::uint32_t input_count) const;
  [[nodiscard]] tnr_step_info describe_step(const tnr_view* const* inputs,
                                            std::uint32_t input_count, std::uint32_t step) const;
  [[nodiscard]] tnr_pass_info describe_pass(const tnr_view* const* inputs,
                                            std::uint32_t input_count, std::uint32_t index) const;
  void describe_reads(const tnr_view* const* inputs, std::uint32_t input_count, std::uint32_t step,
                      std::uint8_t* reads, std::uint32_t read_count) const;
  void run(const Context& context, const Arguments& arguments,
           const tnr_program_run_attributes& attributes) const;
  // A run with refused_values(), of arguments that are not checked yet.
  void run_refusing(const Context& context, const Arguments& arguments,
                    const tnr_program_run_attributes& attributes) const;
  [[nodiscard]] const DeviceRuns& devices() const noexcept { return devices_; }

  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  // The constants of the graph and of its bodies.
  [[nodiscard]] const std::vector<const Constant*>& constants() const noexcept {
    return constants_;
  }
  // Bytes of constants that are packed.
  [[nodiscard]] std::uint64_t packed_bytes() const noexcept { return packed_bytes_; }
  // Throws UNSUPPORTED where a node throws for values of elements.
  void require_no_throwing_node() const { require_none(throwing_refusal_); }
  // The schedule for these layouts, of arguments that are checked.
  [[nodiscard]] std::shared_ptr<const BoundSchedule> bound_to(const Arguments& arguments) const;

 private:
  class Lease;

  // The schedule for these inputs, with row-major outputs.
  std::shared_ptr<const BoundSchedule> find_for(const tnr_view* const* inputs,
                                                std::uint32_t input_count) const;
  std::shared_ptr<const BoundSchedule> find(const Arguments& arguments) const;
  void give(std::unique_ptr<Workspace> workspace) const noexcept;
  void compute(const Context& context, const Arguments& arguments,
               const tnr_program_run_attributes& attributes) const;
  const Program& node_by_node(const Context& context) const;

  // The number of schedules that are kept: those that were used last.
  static constexpr std::size_t kMostBound = 16;

  Graph graph_;
  std::shared_ptr<const Body> simplified_;  // what node_by_node() computes
  std::vector<bool> needed_;                // by node
  std::vector<const Constant*> constants_;
  std::uint32_t disabled_passes_;
  std::uint64_t packed_bytes_;
  PassCounts counts_;         // of the passes over the graph
  Refusal throwing_refusal_;  // of a node that throws for values of elements
  mutable Mutex mutex_;       // guards bound_
  mutable std::vector<std::shared_ptr<const BoundSchedule>>
      bound_;                                            // the one used last is the last
  mutable std::shared_ptr<const Program> node_by_node_;  // mutex_ guards it
  // The workspace of the last run, with the schedule that it is for: a run with the same layouts
  // does not search for one. A run that takes it has it exclusively. No thread reads it in place,
  // as its owner may end it.
  mutable Atomic<Workspace*> idle_{nullptr};
  DeviceRuns devices_{graph_, needed_, disabled_passes_};
};

using ProgramHandles = Handles<Program, kProgramKind>;
// The handles of tokens that a tnr_program* holds.
inline constexpr ProgramHandles kProgramHandles(program_table, "program", "program");

}  // namespace tenure
