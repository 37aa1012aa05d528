// Descriptions of steps and passes in numbers.
#pragma once

#include <cstdint>

#include "program/schedule.hpp"

namespace tenure {

tnr_step_info describe_step(const Graph& graph, const Schedule& schedule, std::uint32_t index);

// The pass's changes of the graph, which `counts` has, and of the schedule.
tnr_pass_info describe_pass(const PassCounts& counts, std::uint32_t disabled_passes,
                            const Schedule& schedule, std::uint32_t index) noexcept;

// For each step whether this one reads its result, and behind them the same for each input.
void describe_reads(const Schedule& schedule, std::uint32_t index, std::uint8_t* reads,
                    std::size_t read_count) noexcept;

}  // namespace tenure
