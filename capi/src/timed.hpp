// The boundary of functions that compute: guarded(), and the time of the call if timing is on.
#pragma once

#include <cstdint>

#include "boundary.hpp"
#include "tenure/counters.hpp"

namespace tenure::capi {

// The time that has passed since a moment of the past, never 0.
[[gnu::cold]] std::int64_t nanoseconds_now() noexcept;
// Counts the time of a call that began at `start`, if it succeeded.
[[gnu::cold]] void count_time_since(std::int64_t start, tnr_operation operation,
                                    tnr_status status) noexcept;

// guarded() for functions that compute.
template <class Body>
tnr_status run(tnr_operation operation, const Body& body) noexcept {
  std::int64_t start = 0;
  if (g_timing.load(std::memory_order_relaxed) == Timing::kOn) [[unlikely]]
    start = nanoseconds_now();
  const tnr_status status = guarded(body);
  if (start != 0) [[unlikely]]
    count_time_since(start, operation, status);
  return status;
}

// Like run(), for functions that return a handle: NULL on failure.
template <class Body>
auto run_pointer(tnr_operation operation, const Body& body) noexcept -> decltype(body()) {
  decltype(body()) result = nullptr;
  run(operation, [&] { result = body(); });
  return result;
}

}  // namespace tenure::capi
