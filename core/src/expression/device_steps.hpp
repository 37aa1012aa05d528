// An expression on a device: launches of fused nodes, and calls of the other operations.
//
// A result that no launch can keep to itself is a temporary in the device's memory: what a
// reduction or a normalization reads or gives amid the expression, what an operation reads or gives
// that the device does not fuse, and where an expression is longer than a launch takes, the result
// of one of its parts. It ends in the order of the queue after the last step that reads it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/kernel.hpp"
#include "expression/nodes.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {

class DeviceSteps {
 public:
  // Plans nodes that are computable, whose shapes are known. Throws UNSUPPORTED for a dtype that
  // the device does not compute.
  DeviceSteps(const Nodes& nodes, const tnr_device& device);

  // Runs checked nodes of the same kinds and shapes. `pins` are those of the views and
  // the output, which is not empty. Returns the findings in the data of all steps; throws
  // OUT_OF_MEMORY, DEVICE_ERROR.
  [[nodiscard]] kernels::Finding run(const DeviceQueue& queue, const Nodes& nodes,
                                     const AttributeReaders& readers, const tnr_view_mut& out,
                                     const Pins& pins) const;

 private:
  // The views of a fused step: one of the expression's, or a node that is a temporary.
  struct Leaf {
    From from;
    std::uint16_t index;
  };
  struct Fused {
    DeviceExpression expression;
    Leaf leaves[DeviceExpression::kMostViews];
  };
  // Writes the result of a node: by its fused expression, or by the operation of the node.
  struct Step {
    std::uint16_t node;
    std::unique_ptr<const Fused> fused;
    // Temporaries that no later step reads.
    std::vector<std::uint16_t> ended;
  };
  class Builder;
  class RunTemporaries;

  std::vector<Step> steps_;
};

}  // namespace tenure
