#include "program/custom.hpp"

#include "program/device/calls.hpp"
#include "program/side_by_side.hpp"

namespace tenure {

void run_device_custom(const Context& context, const NodeCall& call, const OperandView* operands,
                       const tnr_view_mut& out) {
  const SideBySide views(call.node, operands);
  call.node.custom->compute_on_device(context, views.data(), call.numbers, out);
}

}  // namespace tenure
