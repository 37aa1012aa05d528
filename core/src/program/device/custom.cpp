#include "program/custom.hpp"

#include "program/device/calls.hpp"
#include "program/side_by_side.hpp"

namespace tenure {

void run_device_custom(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  const SideBySide views(call.node, operands);
  call.node.custom->compute_on_device(context, views.data(), call.numbers, out);
}

// The function itself is called by runs alone.
void try_device_custom(const Context& context, const GraphNode& node, const OperandType*,
                       tnr_dtype) {
  if (node.custom->has_device_function()) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "the custom operation has no compute_on_device: computed only on the CPU, not on %s",
       device_name(context).text);
}

}  // namespace tenure
