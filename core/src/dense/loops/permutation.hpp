// Copies between two layouts of the same elements, block by block.
//
// A block is a box of elements, chosen so that it reads whole lines of the input and writes whole
// lines of the output. Large outputs are written past the caches: a block is gathered in a buffer,
// in the output's order, and sent to memory in long runs while the next one is gathered and the one
// after it is fetched.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "dense/loops/nest.hpp"
#include "memory/traffic.hpp"
#include "tenure/context.hpp"

namespace tenure {

// A copy: `nest` has the output as operand 0 and the input as operand 1, steps in bytes, and is not
// arranged yet.
struct Movement {
  Nest nest;
  kernels::Byte* out;
  const kernels::Byte* in;
  std::int64_t width_bytes;  // of an element
  std::int64_t moved_bytes;  // of the output and of as many of the input
};

// With fewer bytes the plan costs more than it saves.
inline constexpr std::int64_t kWorthPlanningBytes = 2048;

// Copies and returns true. Returns false where the strips of elementwise_call.hpp are faster. No
// extent is 0.
bool permute(const Context& context, const Movement& movement, Stores stores) noexcept;

}  // namespace tenure
