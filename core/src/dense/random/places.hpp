// Places of random numbers.
#pragma once

#include <cstdint>

namespace tenure {

// Throws INVALID_ARGUMENT where the last of so many places from `offset` on is beyond 2^64 - 1.
void require_places(std::uint64_t offset, std::int64_t count);

}  // namespace tenure
