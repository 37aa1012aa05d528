#include "program/run/device_frame.hpp"

#include <algorithm>
#include <cinttypes>

#include "program/device/operations.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/status.hpp"

namespace tenure {

DeviceFrame::DeviceFrame(const Graph& graph, const Schedule& schedule,
                         const DeviceConstants& constants)
    : constants_(constants), views_(schedule.places.size()) {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const Placed& placed = schedule.places[i];
    views_[i] = placed.layout;
    views_[i].device = constants.device();
    if (placed.storage == Storage::kConstant) set_data(i, placed, constants.view(placed.index));
  }
  for (const Step& step : schedule.steps) {
    firsts_.push_back({operands_.size(), pointers_.size()});
    if (step.prepared != nullptr) {
      for (const std::uint32_t value : step.operands) pointers_.push_back(&views_[value]);
      continue;
    }
    // A node has scalars among its operands; the operands of an expression are only its views.
    const std::vector<std::uint32_t>& values =
        step.kind == Step::Kind::kCopy ? step.operands : graph.nodes[step.node].operands;
    for (std::size_t i = 0; i < std::max(values.size(), kMostFixedOperands); ++i) {
      const std::uint32_t value = i < values.size() ? values[i] : kNoValue;
      const tnr_scalar* const scalar =
          value < graph.values.size() ? graph.scalar_of(value) : nullptr;
      const bool is_view = value != kNoValue && scalar == nullptr;
      operands_.push_back({is_view ? &views_[value] : nullptr, scalar});
    }
  }
}

void DeviceFrame::set_data(std::size_t place, const Placed& placed,
                           const tnr_view& memory) noexcept {
  tnr_view& view = views_[place];
  view.base = memory.base;
  view.size_bytes = memory.size_bytes;
  view.data =
      is_empty(view) ? memory.base : static_cast<const char*>(memory.data) + placed.offset_bytes;
}

void DeviceFrame::set_memory(const Schedule& schedule, const Arguments& arguments,
                             const void* block) noexcept {
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const Placed& placed = schedule.places[i];
    switch (placed.storage) {
      case Storage::kInput: set_data(i, placed, *arguments.inputs[placed.index]); break;
      case Storage::kOutput: set_data(i, placed, arguments.outputs[placed.index]->view); break;
      case Storage::kBlock: {
        tnr_view memory{};
        memory.size_bytes = static_cast<std::uint64_t>(schedule.memory.sizes[placed.index]);
        memory.base = memory.data =
            static_cast<const char*>(block) + schedule.memory.offsets[placed.index];
        set_data(i, placed, memory);
        break;
      }
      case Storage::kNone:
      case Storage::kConstant: break;
    }
  }
}

void DeviceFrame::run_step(const Context& context, const Graph& graph, const Schedule& schedule,
                           std::size_t index) const {
  const Step& step = schedule.steps[index];
  const OperandView* const operands = operands_.data() + firsts_[index].operand;
  tnr_view_mut out = {views_[step.result]};
  // Whatever it shares a byte with, it is exactly: outputs were checked, and the block is planned.
  out.view.flags = TNR_VIEW_EXCLUSIVE;
  try {
    if (step.kind == Step::Kind::kCopy) return copy(context, *operands[0].view, out);
    if (step.prepared != nullptr) {
      return step.prepared->run_checked(context, pointers_.data() + firsts_[index].pointer, out);
    }
    const GraphNode& node = graph.nodes[step.node];
    find_device_run(node)(context, {node, step.numbers.data()}, operands, out);
  } catch (const Error& error) {
    if (step.node == kNoValue) throw;
    const GraphNode& node = graph.nodes[step.node];
    fail(error.status(), "nodes[%" PRIu32 "], %s: %s", node.number, operation_name(node),
         error.message());
  }
}

}  // namespace tenure
