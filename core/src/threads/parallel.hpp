// The partition of one call into slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "tenure/context.hpp"

namespace tenure {

// Work of fewer bytes, read and written together, stays with the caller: where they are in its
// cache they take it 3 us, and another thread begins half a microsecond later at best.
inline constexpr std::int64_t kWorthSharingBytes = std::int64_t{256} << 10;
// Bytes of one slice of shared work. They are many compared with the cost of a ticket: when no
// other thread comes, slices of a quarter of this size make an addition of 1 MiB 4 % slower, and
// slices of this size 2 %. They are few compared with the work that a thread that is kept waiting
// would leave undone.
inline constexpr std::int64_t kSliceBytes = std::int64_t{256} << 10;

// Returns the number of slices of work that reads and writes `bytes` bytes, or 1 where it stays
// with the caller.
inline std::int64_t slice_count_of(const Context& context, std::int64_t bytes) noexcept {
  if (context.thread_count() == 1 || bytes < kWorthSharingBytes) return 1;
  return std::max<std::int64_t>(2, bytes / kSliceBytes);
}

// Calls body(slice), which must not throw, once for each slice in [0, slice_count), on the
// context's threads; returns when all calls have.
template <class Body>
void for_each_slice(const Context& context, std::int64_t slice_count, Body&& body,
                    Wake wake = Wake::kWhenLong) noexcept {
  if (slice_count == 1) {
    body(std::int64_t{0});
    return;
  }
  using Plain = std::remove_reference_t<Body>;
  context.run_slices(
      slice_count,
      [](void* job, std::int64_t slice) noexcept { (*static_cast<Plain*>(job))(slice); },
      const_cast<void*>(static_cast<const void*>(std::addressof(body))), wake);
}

// Start of slice `slice` of `slice_count` in [0, count): sizes differ by one at most.
constexpr std::int64_t slice_begin(std::int64_t count, std::int64_t slice_count,
                                   std::int64_t slice) noexcept {
  const std::int64_t part = count / slice_count;
  return slice * part + std::min(slice, count % slice_count);
}

}  // namespace tenure
