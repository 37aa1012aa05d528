// The boundary of functions that compute: guarded(), and the time of the call if timing is on.
#pragma once

#include <chrono>

#include "boundary.hpp"
#include "tenure/counters.hpp"

namespace tenure::capi {

template <class Body>
[[gnu::cold, gnu::noinline]] tnr_status run_timed(tnr_operation operation,
                                                  const Body& body) noexcept {
  using std::chrono::duration_cast, std::chrono::nanoseconds, std::chrono::steady_clock;
  const auto start = steady_clock::now();
  const tnr_status status = guarded(body);
  const auto taken = duration_cast<nanoseconds>(steady_clock::now() - start);
  if (status == TNR_STATUS_OK) count_time(operation, static_cast<std::uint64_t>(taken.count()));
  return status;
}

// guarded() for functions that compute.
template <class Body>
tnr_status run(tnr_operation operation, const Body& body) noexcept {
  if (g_timing.load(std::memory_order_relaxed) == Timing::kOn) [[unlikely]]
    return run_timed(operation, body);
  return guarded(body);
}

// Like run(), for functions that return a handle: NULL on failure.
template <class Body>
auto run_pointer(tnr_operation operation, const Body& body) noexcept -> decltype(body()) {
  decltype(body()) result = nullptr;
  run(operation, [&] { result = body(); });
  return result;
}

}  // namespace tenure::capi
