// Places of random numbers.
#pragma once

#include <cmath>
#include <cstdint>

namespace tenure {

// Throws INVALID_ARGUMENT where the last of `count` positions from `offset` on is beyond 2^64 - 1,
// or notes that and returns false.
[[nodiscard]] bool check_places(std::uint64_t offset, std::int64_t count);

// The random words of 32 bits below this are as many of all as a probability says.
inline std::uint64_t bound_of_words(double probability) noexcept {
  return static_cast<std::uint64_t>(std::nearbyint(std::ldexp(probability, 32)));
}

}  // namespace tenure
