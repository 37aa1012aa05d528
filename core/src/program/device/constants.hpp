// The constants of a program in memory of a device, copied once.
#pragma once

#include <vector>

#include "program/graph.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"

namespace tenure {

// Their layouts there, by index, in memory that is not there yet: their own, or row-major order
// where their elements have gaps between them.
std::vector<tnr_view> device_layouts(const Graph& graph);

// In one blob, of the context that they are made by: it ends in the order of that one's queue.
class DeviceConstants {
 public:
  // Copies those of the graph of a program, and waits. Throws OUT_OF_MEMORY, DEVICE_ERROR, and
  // STALE_VIEW for one whose memory has ended.
  DeviceConstants(const Context& context, const Graph& graph);

  [[nodiscard]] const tnr_device& device() const noexcept { return device_; }
  // Without an owner: pin() keeps the memory. The view of a constant that nothing reads has the
  // layout of of_nothing().
  [[nodiscard]] const tnr_view& view(std::size_t index) const noexcept { return views_[index]; }
  // For the time of a run.
  void pin(Pins& pins) const { pins.add(memory_.view, "constants"); }

 private:
  class Memory {
   public:
    Memory() noexcept = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() {
      if (view.owner != 0) blob_drop(view.owner);
    }

    tnr_view view = {};  // without an owner where there is nothing
  };

  tnr_device device_;
  std::vector<tnr_view> views_;
  Memory memory_;
};

}  // namespace tenure
