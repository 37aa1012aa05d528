#include "threads/job.hpp"

#include "base/relax.hpp"

namespace tenure {

std::uint64_t Job::open(SliceBody body, void* data, std::int64_t first,
                        std::uint32_t count) noexcept {
  body_ = body;
  data_ = data;
  end_ = first + count;
  count_ = count;
  finished_.store(0, std::memory_order_relaxed);
  // No other thread writes a word without unclaimed slices.
  const std::uint64_t last = generation_of(word_.load(std::memory_order_relaxed));
  const std::uint64_t generation = last == kLastGeneration ? 1 : last + 1;
  // Release: a thread that claims a slice sees the stores above. Sequentially consistent: a thread
  // that is about to park either sees the job, or the opener sees that it parks.
  word_.store(generation << kGenerationShift | count, std::memory_order_seq_cst);
  return generation;
}

bool Job::run_one(std::uint64_t generation) noexcept {
  // Acquire where a slice is claimed: nothing of the job is read before.
  std::uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    if (generation_of(word) != generation || unclaimed_of(word) == 0) return false;
  } while (!word_.compare_exchange_weak(word, word - 1, std::memory_order_acquire,
                                        std::memory_order_relaxed));
  // From here until the slice is reported the job cannot end, so its other fields do not change.
  body_(data_, end_ - unclaimed_of(word));
  return true;
}

void Job::help(std::uint64_t generation) noexcept {
  std::uint32_t own_count = 0;
  while (run_one(generation)) ++own_count;
  // Release: what the slices wrote. After this the job may be over, and another one be open.
  if (own_count != 0) finished_.fetch_add(own_count, std::memory_order_release);
}

void Job::wait(std::uint32_t own_count) const noexcept {
  const std::uint32_t expected = count_ - own_count;
  Backoff backoff;
  while (finished_.load(std::memory_order_acquire) != expected) backoff.pause();
}

}  // namespace tenure
