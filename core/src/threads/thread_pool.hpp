// The threads of a context: they wait for its job to be opened, and help.
//
// A worker that has helped spins for a while, because calls often follow one another, and then
// parks. Parked workers are not woken for every call: to wake one costs the caller microseconds and
// the worker arrives tens of microseconds later, when a small call is over. They are woken
//   - by a call that follows the one before it closely, so that the next ones find them spinning;
//   - by a call that has gone on for longer than a wake-up matters.
// Nobody waits for a worker to arrive.
#pragma once

#include <cstdint>
#include <vector>

#include "base/concurrency.hpp"
#include "threads/job.hpp"

namespace tenure {

class ThreadPool {
 public:
  // Throws OUT_OF_MEMORY, naming the thread that was refused (the caller is thread 1), or
  // std::bad_alloc; then none is left.
  ThreadPool(Job& job, unsigned worker_count);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  // Joins the workers. No call uses the pool any more.
  ~ThreadPool() { stop(); }

  // Works at the open job of that generation as its opener, and returns when all of it is done.
  void run_job(std::uint64_t generation, Wake wake) noexcept;

 private:
  void stop() noexcept;
  void work(bool spins) noexcept;
  std::uint64_t spin() const noexcept;
  void park() noexcept;
  bool has_parked() const noexcept { return parked_.load(std::memory_order_seq_cst) != 0; }
  // Without the lock: a worker that is about to wait misses this call, and a worker that was taken
  // off its processor with the lock in its hands delays none.
  void wake_one() noexcept { wake_.notify_one(); }

  Job& job_;
  Handed<Clock::time_point> last_end_{};  // of a job that met parked workers; its opener's

  // Apart from what only the opener writes.
  alignas(64) Atomic<unsigned> parked_{0};
  Atomic<bool> stopping_{false};
  ConditionMutex mutex_;  // of the threads that park
  Condition wake_;
  std::vector<Thread> threads_;
};

}  // namespace tenure
