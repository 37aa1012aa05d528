// Where threads meet before each round of a race.
#pragma once

#include <atomic>
#include <thread>

namespace tenure::test {

// Where threads wait until all have come, any number of times. They leave it as close together as
// can be, for races; std::barrier lets some sleep, and under Wine does not wake them.
class Meeting {
 public:
  explicit Meeting(unsigned thread_count) : thread_count_(thread_count) {}

  void arrive_and_wait() {
    const unsigned round = round_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == thread_count_) {
      arrived_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    while (round_.load(std::memory_order_acquire) == round) std::this_thread::yield();
  }

 private:
  const unsigned thread_count_;
  std::atomic<unsigned> arrived_ = 0;
  std::atomic<unsigned> round_ = 0;
};

}  // namespace tenure::test
