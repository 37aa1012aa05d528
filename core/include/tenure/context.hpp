// Contexts: whose threads and whose memory a call uses.
#pragma once

#include <cstdint>

namespace tenure {

// The default context computes on the calling thread alone.
class Context {
 public:
  constexpr Context() noexcept = default;

  // Threads that work at one call, the caller among them; at least 1.
  [[nodiscard]] unsigned thread_count() const noexcept { return 1; }

  // Calls body(job, slice) once for each slice in [0, slice_count), in any order and on any of the
  // context's threads, the calling one among them; returns when all calls have. What the slices
  // wrote is visible to the caller.
  void run_slices(std::int64_t slice_count, void (*body)(void* job, std::int64_t slice) noexcept,
                  void* job) const noexcept {
    for (std::int64_t slice = 0; slice < slice_count; ++slice) body(job, slice);
  }
};

// What NULL names in the C API.
inline constexpr Context kDefaultContext;

}  // namespace tenure
