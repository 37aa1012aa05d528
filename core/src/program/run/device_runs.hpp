// The runs of a program on devices: work that is enqueued on the queue of a context.
//
//   what                is kept                              ends
//   ------------------  -----------------------------------  ------------------------------------
//   schedules           by layouts, for all devices          as those of the CPU
//   constants           once for each device                 with the program, in a queue's order
//   intermediate values in one block of each run             behind the run, in its queue's order
//   bound programs      by the caller                        with their handle, behind their runs
#pragma once

#include <memory>
#include <vector>

#include "base/concurrency.hpp"
#include "base/mutex.hpp"
#include "program/device/constants.hpp"
#include "program/graph.hpp"
#include "program/run/arguments.hpp"
#include "program/run/bound.hpp"
#include "program/run/bound_schedule.hpp"
#include "program/run/device_frame.hpp"
#include "tenure/context.hpp"

namespace tenure {

class DeviceRuns {
 public:
  // The graph of a program, which outlives this.
  DeviceRuns(const Graph& graph, const std::vector<bool>& needed,
             const std::uint32_t& disabled_passes) noexcept
      : graph_(graph), needed_(needed), disabled_passes_(disabled_passes) {}

  // Enqueues a run with at least one argument on a device. Throws as tnr_program_run().
  void run(const Context& context, const Arguments& arguments,
           const tnr_program_run_attributes& attributes) const;
  // Both throw as tnr_bound_create(). `program` is the handle of the program that this is of, which
  // a bound holds; a captured one does not.
  [[nodiscard]] std::unique_ptr<const Bound> bind(const Context& context, ProgramToken program,
                                                  const Arguments& arguments,
                                                  const tnr_bound_attributes& attributes) const;
  [[nodiscard]] std::unique_ptr<const Bound> capture(const Context& context,
                                                     const Arguments& arguments,
                                                     const tnr_bound_attributes& attributes) const;
  // The schedule for inputs that are on a device, with row-major outputs.
  [[nodiscard]] std::shared_ptr<const BoundSchedule> find_for(const tnr_view* const* inputs,
                                                              std::uint32_t input_count,
                                                              const tnr_device& device) const;

 private:
  // A schedule, and the frame of a run that is over.
  class Kept;
  class Lease;
  class BoundRuns;

  // The schedule, for arguments that are checked: runs and bindings begin with it.
  std::shared_ptr<const Kept> checked(const DeviceQueue& queue, const Arguments& arguments) const;
  // Enqueues a run of checked arguments.
  void enqueue(const Context& context, const Kept& kept, const DeviceConstants& constants,
               const Arguments& arguments, const tnr_program_run_attributes& attributes) const;
  std::shared_ptr<const Kept> find(const Arguments& arguments) const;
  // Refuses nodes that the context's device does not take, when it has no constants yet.
  std::shared_ptr<const DeviceConstants> constants_on(const Context& context,
                                                      const Schedule& schedule) const;

  static constexpr std::size_t kMostKept = 16;

  const Graph& graph_;
  const std::vector<bool>& needed_;
  const std::uint32_t& disabled_passes_;
  mutable Mutex mutex_;                                    // guards both
  mutable std::vector<std::shared_ptr<const Kept>> kept_;  // the one used last is the last
  mutable std::vector<std::shared_ptr<const DeviceConstants>> constants_;
};

}  // namespace tenure
