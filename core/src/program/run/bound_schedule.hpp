// A schedule, and the layouts of inputs and outputs that it is made for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/concurrency.hpp"
#include "program/graph.hpp"
#include "program/run/arguments.hpp"
#include "program/run/workspace.hpp"
#include "program/schedule.hpp"
#include "tenure/view.hpp"

namespace tenure {

class BoundSchedule {
 public:
  // The arguments are checked already. Without `outputs` the outputs are row-major. Throws
  // INVALID_ARGUMENT for inputs that the graph does not take, and for outputs of other types than
  // it gives.
  BoundSchedule(const Graph& graph, const std::vector<bool>& needed, std::uint32_t disabled_passes,
                const Arguments& arguments, const Target& target = {});
  BoundSchedule(const BoundSchedule&) = delete;
  BoundSchedule& operator=(const BoundSchedule&) = delete;
  ~BoundSchedule();

  // Whether checked arguments have the layouts.
  [[nodiscard]] bool is_for(const Arguments& arguments) const noexcept;
  // Whether unchecked arguments have the layouts and valid memory of the device: the answers of
  // inputs_refusal(), outputs_refusal() and is_for() in one walk.
  [[nodiscard]] bool takes(const Arguments& arguments,
                           const tnr_device& device = kCpu) const noexcept;
  // The reason where takes() is false, and that of arguments that alias each other.
  [[nodiscard]] Refusal refusal(const Graph& graph, const Arguments& arguments,
                                const tnr_device& device = kCpu) const noexcept;

  [[nodiscard]] const Schedule& schedule() const noexcept { return schedule_; }
  // The peak of operations, in the runs so far.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept {
    return scratch_bytes_.load(std::memory_order_relaxed);
  }
  void note_scratch(std::size_t bytes) const noexcept;

  // The workspace that was left, or a new one. It names its bound from give() of it on.
  std::unique_ptr<Workspace> take_workspace(const Graph& graph) const;
  void give_workspace(std::unique_ptr<Workspace> workspace) const noexcept;
  // Behind a run: notes its scratch memory, and makes room for as much in the next one.
  void settle(Workspace& workspace) const noexcept;

  struct Layout {
    tnr_view view;
    ByteReach reach;
  };
  [[nodiscard]] const std::vector<Layout>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::vector<Layout>& outputs() const noexcept { return outputs_; }

  // The memory of a run with this schedule, in a program with `packed_bytes` bytes of packed
  // constants.
  [[nodiscard]] tnr_memory_plan memory(std::uint64_t packed_bytes) const noexcept;

 private:
  static Layout layout_of(const tnr_view& view) noexcept;

  std::vector<Layout> inputs_;
  std::vector<Layout> outputs_;
  Schedule schedule_;
  mutable Atomic<Workspace*> idle_{nullptr};
  mutable Atomic<std::size_t> scratch_bytes_{0};
};

}  // namespace tenure
