// The choice between stores through the caches and streaming stores past them.
#pragma once

#include <cstdint>

namespace tenure {

inline constexpr std::int64_t kLineBytes = 64;  // of a cache

// Up to the end of the last line that they touch, if the first byte begins one.
template <class Count>
constexpr Count whole_lines(Count bytes) noexcept {
  constexpr auto kLine = static_cast<Count>(kLineBytes);
  return (bytes + kLine - 1) / kLine * kLine;
}

// Stores of results: into the caches, which first read the lines from memory; or past them, which
// saves that reading but leaves the next operation to find nothing there.
enum class Stores : std::uint8_t { kCached, kStreamed };

// Bytes read and written by one call from which on results are streamed: three quarters of a last
// cache of 32 MiB. Measured there (AMD EPYC, family 25, model 17): one input and an output are even
// at 28 MiB, two inputs and an output at 14; an earlier change would take from the next operation
// what a cache still holds. A constant, as what a shared cache leaves to us is not told anyway.
inline constexpr std::int64_t kStreamedBytes = std::int64_t{24} << 20;

// A dense output smaller than this is never streamed: no operation moves more than 17 bytes (a
// comparison of f64) for one of its output.
inline constexpr std::uint64_t kAlwaysCachedBytes = std::uint64_t{1} << 20;

constexpr Stores stores_for(std::int64_t moved_bytes) noexcept {
#if defined(__x86_64__)
  return moved_bytes >= kStreamedBytes ? Stores::kStreamed : Stores::kCached;
#else
  static_cast<void>(moved_bytes);  // no such stores that every compiler knows
  return Stores::kCached;
#endif
}

}  // namespace tenure
