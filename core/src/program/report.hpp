// What a step of a run does, in numbers.
#pragma once

#include <cstdint>

#include "program/schedule.hpp"

namespace tenure {

tnr_step_info describe_step(const Graph& graph, const Schedule& schedule, std::uint32_t index);

}  // namespace tenure
