// Runs that refuse NaN, and infinities: the result of a node that has one.
#pragma once

#include <cstdint>

#include "program/schedule.hpp"
#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// Refuses a result of the step that has a value of those that the flags of a run refuse, unless the
// node has TNR_MARK_NON_FINITE. Says which element, and which operand has such a value already; the
// caller names the node. The step has no other node, and its operands are intact. `views` are those
// of places.
Refusal non_finite_refusal(const Context& context, std::uint32_t refused, const Graph& graph,
                           const Step& step, const tnr_view* views);

}  // namespace tenure
