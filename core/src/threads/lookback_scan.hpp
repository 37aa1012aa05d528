// Prefix sums of the chunks' entry counts, while threads are still counting.
//
// The position of a chunk is known as soon as all counts before it are known, or one prefix sum and
// the counts after it: "decoupled look-back" (D. Merrill, M. Garland, "Single-pass Parallel Prefix
// Scan with Decoupled Look-back", NVIDIA, 2016).
#pragma once

#include <cstdint>
#include <memory>

#include "base/concurrency.hpp"
#include "base/relax.hpp"

namespace tenure {

// The number of entries before each chunk, as far as it is known.
class LookbackScan {
 public:
  explicit LookbackScan(std::int64_t chunk_count)
      : words_(new Atomic<std::uint64_t>[static_cast<std::size_t>(chunk_count)] {}) {}

  // Publishes the number of entries of the chunk, and returns the number of entries before it, once
  // the chunks before have been counted: other threads count them.
  std::int64_t add(std::int64_t chunk, std::int64_t count) noexcept {
    if (chunk == 0) return publish(0, kSum, count), 0;
    publish(chunk, kCount, count);
    std::int64_t before = 0;
    Backoff backoff;
    for (std::int64_t at = chunk - 1;;) {
      const std::uint64_t word = words_[at].load(std::memory_order_acquire);
      if (word == 0) {
        backoff.pause();
        continue;
      }
      before += static_cast<std::int64_t>(word >> kShift);
      if ((word & kSum) != 0) break;
      --at;
    }
    publish(chunk, kSum, before + count);
    return before;
  }
  // Entries of all chunks, when each has been added.
  [[nodiscard]] std::int64_t total(std::int64_t chunk_count) const noexcept {
    return static_cast<std::int64_t>(words_[chunk_count - 1].load(std::memory_order_relaxed) >>
                                     kShift);
  }

 private:
  static constexpr std::uint64_t kCount = 1;  // of only the chunk
  static constexpr std::uint64_t kSum = 2;    // of the chunk and all chunks before it
  static constexpr unsigned kShift = 2;

  void publish(std::int64_t chunk, std::uint64_t kind, std::int64_t count) noexcept {
    words_[chunk].store(static_cast<std::uint64_t>(count) << kShift | kind,
                        std::memory_order_release);
  }

  std::unique_ptr<Atomic<std::uint64_t>[]> words_;
};

}  // namespace tenure
