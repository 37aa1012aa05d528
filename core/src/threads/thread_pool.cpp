#include "threads/thread_pool.hpp"

#include <chrono>
#include <cstddef>
#include <mutex>
#include <system_error>

#include "base/relax.hpp"
#include "tenure/status.hpp"

#if !defined(_WIN32)
#include <pthread.h>

#include <csignal>
#endif

namespace tenure {

namespace {

// How long a worker spins after its last slice. It costs a processor that long after each series of
// calls, and saves its waking when the next call comes within that time.
constexpr std::chrono::microseconds kSpinTime{100};
// A call that begins so soon after the last one ended is one of a series. Well below kSpinTime: the
// workers it wakes must still spin at the next call.
constexpr std::chrono::microseconds kSeriesGap{40};
// A call that has taken so long wakes workers: their waking costs it a few per cent of that.
constexpr std::chrono::microseconds kLongCall{100};

// Threads that are started meanwhile get no signals: the handlers are the program's, which knows
// nothing of our threads.
class SignalsBlocked {
 public:
#if defined(_WIN32)
  SignalsBlocked() noexcept {}
#else
  SignalsBlocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
#endif
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
#if !defined(_WIN32)
  sigset_t old_;
#endif
};

}  // namespace

ThreadPool::ThreadPool(Job& job, unsigned worker_count) : job_(job) {
  threads_.reserve(worker_count);
  // More threads than processors: the rest would spin in the way of those who work.
  const std::size_t spinning_count = Thread::hardware_concurrency();
  const SignalsBlocked blocked;
  try {
    while (threads_.size() < worker_count) {
      const bool spins = threads_.size() + 1 < spinning_count;
      threads_.emplace_back([this, spins] { work(spins); });
    }
  } catch (const std::system_error& error) {
    const std::size_t refused = threads_.size() + 2;
    stop();
    fail(TNR_STATUS_OUT_OF_MEMORY, "thread %zu of %u could not be started: %s", refused,
         worker_count + 1, error.what());
  } catch (...) {
    stop();
    throw;
  }
}

void ThreadPool::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);
  }
  wake_.notify_all();
  for (Thread& thread : threads_) thread.join();
}

void ThreadPool::run_job(std::uint64_t generation, Wake wake) noexcept {
  // The clock is read only where a worker may have to be woken: that is a tenth of a hot call.
  bool may_wake = has_parked();
  Clock::time_point begin{};
  if (may_wake) {
    begin = Clock::now();
    const Clock::time_point last_end = last_end_;
    if (wake == Wake::kAtOnce || begin - last_end < kSeriesGap) {
      wake_one();
      may_wake = false;
    }
  }
  const bool met_parked = begin != Clock::time_point{};
  std::uint32_t own_count = 0;
  while (job_.run_one(generation)) {
    ++own_count;
    if (may_wake && Clock::now() - begin >= kLongCall) {
      wake_one();
      may_wake = false;
    }
  }
  job_.wait(own_count);
  if (met_parked) last_end_ = Clock::now();
}

void ThreadPool::work(bool spins) noexcept {
  bool was_woken = false;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const std::uint64_t generation = spins ? spin() : job_.open_generation();
    if (generation == 0) {
      park();
      was_woken = true;
      continue;
    }
    // One wakes the next, so that the caller pays for one.
    if (was_woken && has_parked()) wake_one();
    was_woken = false;
    job_.help(generation);
  }
}

// The generation of a job that was opened within kSpinTime, else 0.
std::uint64_t ThreadPool::spin() const noexcept {
  constexpr unsigned kLooksPerClock = 32;
  const Clock::time_point end = Clock::now() + kSpinTime;
  do {
    for (unsigned i = 0; i < kLooksPerClock; ++i) {
      if (const std::uint64_t generation = job_.open_generation(); generation != 0) {
        return generation;
      }
      relax();
    }
  } while (!stopping_.load(std::memory_order_relaxed) && Clock::now() < end);
  return 0;
}

// Returns when woken, and sometimes before.
void ThreadPool::park() noexcept {
  std::unique_lock lock(mutex_);
  parked_.fetch_add(1, std::memory_order_seq_cst);
  if (!stopping_.load(std::memory_order_relaxed) && !job_.is_open()) wake_.wait(lock);
  parked_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tenure
