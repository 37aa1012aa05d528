// Work that several threads share: slices, handed out by tickets.
//
// One 64-bit word says which job this is and how many of its slices are unclaimed:
//
//   generation:40 | unclaimed:24
//
// A thread claims a slice by compare-and-swap, so that a thread which comes late, or sleeps between
// reading the word and claiming, claims nothing: a job that is over has no unclaimed slices, and a
// later job has another generation. The thread that opened the job works too, and waits only for
// slices that other threads have claimed, which they are running at that moment.
//
// The memory of a Job is never given back, so that threads may look at it at any time. All but the
// word belongs to the one who has acquired the job, and to those who hold a claim on its slices.
#pragma once

#include <cstdint>

#include "base/concurrency.hpp"
#include "tenure/context.hpp"

namespace tenure {

class Job {
 public:
  // The most slices that have a ticket in one job.
  static constexpr std::uint32_t kMaxSlices = (1u << 24) - 1;
  // 2^40 jobs of a quarter of a microsecond are three days: a thread would have to sleep so long
  // between reading the word and claiming, and wake up at the very job and slice.
  static constexpr unsigned kGenerationBits = 40;
  static constexpr std::uint64_t kLastGeneration = (std::uint64_t{1} << kGenerationBits) - 1;

  constexpr Job() noexcept = default;

  // Whether the job was free; then it is the caller's until release().
  bool try_acquire() noexcept {
    return !taken_.load(std::memory_order_relaxed) &&
           !taken_.exchange(true, std::memory_order_acquire);
  }
  void release() noexcept { taken_.store(false, std::memory_order_release); }

  // Offers slices [first, first + count) of body(data, slice); returns the job's generation.
  // `count` is at most kMaxSlices.
  std::uint64_t open(SliceBody body, void* data, std::int64_t first, std::uint32_t count) noexcept;

  // Claims and runs a slice of the job of that generation; false when none is left to claim. help()
  // also reports the slices that it has run, as a thread other than the opener has to.
  bool run_one(std::uint64_t generation) noexcept;
  // Claims and runs slices until none is left.
  void help(std::uint64_t generation) noexcept;

  // Returns when others have finished all slices but the `own_count` that the opener has run.
  // No slice is unclaimed by then.
  void wait(std::uint32_t own_count) const noexcept;

  // The generation of the job that has slices to claim; 0, which no job has, when there is none.
  // Relaxed: claiming one acquires the job.
  [[nodiscard]] std::uint64_t open_generation() const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);
    return unclaimed_of(word) == 0 ? 0 : generation_of(word);
  }
  // Whether there is such a job, for a thread that has announced that it will park. Sequentially
  // consistent, like its announcement and the accesses of the opener: an acquire could read the
  // word from before, while the opener finds no announcement.
  [[nodiscard]] bool is_open() const noexcept {
    return unclaimed_of(word_.load(std::memory_order_seq_cst)) != 0;
  }

 private:
  static constexpr unsigned kGenerationShift = 64 - kGenerationBits;

  static constexpr std::uint64_t generation_of(std::uint64_t word) {
    return word >> kGenerationShift;
  }
  static constexpr std::uint32_t unclaimed_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word) & kMaxSlices;
  }

  // The line that those who look for work read.
  alignas(64) Atomic<std::uint64_t> word_{0};
  Handed<SliceBody> body_ = nullptr;
  Handed<void*> data_ = nullptr;
  Handed<std::int64_t> end_ = 0;  // behind the last slice
  Handed<std::uint32_t> count_ = 0;

  // The line that the opener waits on.
  alignas(64) Atomic<std::uint32_t> finished_{0};  // slices, by others than the opener
  Atomic<bool> taken_{false};
};

}  // namespace tenure
