// Rows without entries, of which a matrix of a huge extent mostly consists.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/bisect.hpp"

namespace tenure {

// The first row of [row, end) that has entries, or `end`. Offsets do not fall, so how many of the next
// ones are the same says where it is, without a branch that nobody can predict; where it is far, steps
// that grow find it in as many looks as the number of rows passed by has bits.
template <class Offsets>
std::int64_t first_filled_row(const Offsets& offsets, std::int64_t row, std::int64_t end) noexcept {
  constexpr std::int64_t kAtOnce = 8;
  constexpr std::int64_t kNear = 8 * kAtOnce;
  if (row >= end) return end;
  const auto first = offsets[row];
  if (offsets[row + 1] != first) return row;
  for (const std::int64_t far = std::min(end, row + kNear) - kAtOnce; row <= far;) {
    std::int64_t same = 0;
    for (std::int64_t i = 1; i <= kAtOnce; ++i) same += offsets[row + i] == first ? 1 : 0;
    row += same;
    if (same < kAtOnce) return row;
  }
  for (std::int64_t step = kAtOnce; row < end; step *= 2) {
    const std::int64_t stop = row + std::min(step, end - row);
    if (offsets[stop] != first) {
      return first_where(row, stop - 1, [&](std::int64_t at) { return offsets[at + 1] != first; });
    }
    row = stop;
  }
  return end;
}

}  // namespace tenure
