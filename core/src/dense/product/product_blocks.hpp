// Blocks of products of dense matrices. The sizes of the caches determine the parts that are packed
// at a time.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"

namespace tenure {

// Depths whose products are one sum; such sums are then added up. The bits of the result depend on
// this number, so it does not depend on the machine. Measured at 1024 and 2048 cubed (AMD EPYC,
// family 25, model 17): 0.93 of what the arithmetic allows, and 0.89 with blocks of 256.
inline constexpr std::int64_t kBlockDepth = 512;
// A block of the left factor stays in the second cache while it meets all panels of a block of the
// right one, which stays in the third.
inline constexpr std::int64_t kBlockBytes = std::int64_t{480} << 10;
inline constexpr std::int64_t kBlockColumns = 2048;
// Returns the rows of a block whose elements, or sums, have `bytes` bytes each.
constexpr std::int64_t block_rows(std::int64_t bytes) noexcept {
  return kBlockBytes / (kBlockDepth * bytes);
}

// Multiplications and additions of a call. Fewer stay with the caller, who needs some microseconds
// for them.
inline constexpr std::int64_t kWorthSharingWork = std::int64_t{1} << 18;
// A call of fewer wakes no thread that has parked, unless it is one of a series: a thread that has to
// be woken comes some 50 microseconds later, in which the caller does half of them.
inline constexpr std::int64_t kWorthWakingWork = std::int64_t{1} << 22;
constexpr Wake wake_for(std::int64_t work) noexcept {
  return work < kWorthWakingWork ? Wake::kWhenLong : Wake::kAtOnce;
}
// The multiplications and additions of a slice of a shared call, which keep a thread busy for some
// ten microseconds.
inline constexpr std::int64_t kSliceWork = std::int64_t{1} << 20;

constexpr std::int64_t parts_of(std::int64_t count, std::int64_t size) noexcept {
  return count / size + (count % size != 0 ? 1 : 0);
}

}  // namespace tenure
