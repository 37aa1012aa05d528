// The frame of a schedule on a device: views of all values, and the calls of its steps.
#pragma once

#include <cstddef>
#include <vector>

#include "program/device/constants.hpp"
#include "program/graph.hpp"
#include "program/run/arguments.hpp"
#include "program/schedule.hpp"
#include "tenure/context.hpp"

namespace tenure {

class DeviceFrame {
 public:
  // All nodes of the graph are on the constants' device. The constants outlive the frame.
  DeviceFrame(const Graph& graph, const Schedule& schedule, const DeviceConstants& constants);
  DeviceFrame(const DeviceFrame&) = delete;
  DeviceFrame& operator=(const DeviceFrame&) = delete;

  [[nodiscard]] const DeviceConstants& constants() const noexcept { return constants_; }
  // The memory of a run: `block` has the bytes of the schedule's memory.
  void set_memory(const Schedule& schedule, const Arguments& arguments, const void* block) noexcept;
  // Enqueues what the step does. Throws what the operation refuses, naming the node.
  void run_step(const Context& context, const Graph& graph, const Schedule& schedule,
                std::size_t step) const;

 private:
  struct Firsts {
    std::size_t operand;
    std::size_t pointer;
  };

  void set_data(std::size_t place, const Placed& placed, const tnr_view& memory) noexcept;

  const DeviceConstants& constants_;
  std::vector<tnr_view> views_;            // by place
  std::vector<OperandView> operands_;      // of the nodes of all steps
  std::vector<const tnr_view*> pointers_;  // of the launches among them
  std::vector<Firsts> firsts_;             // by step
};

}  // namespace tenure
