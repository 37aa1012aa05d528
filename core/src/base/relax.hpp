// Waiting for another thread that is running.
#pragma once

#include <chrono>
#include <thread>

#include "base/concurrency.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace tenure {

#if defined(TENURE_EXPLORED)

inline void relax() { explore::await_change_or_time_out(); }

class Backoff {
 public:
  void pause() { explore::await_change(); }
};

#else

// Tells the processor that this is a loop which waits: the other thread of the core goes first.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits a little longer each time: the one waited for may have been taken off its processor, and
// may need this one.
class Backoff {
 public:
  void pause() noexcept {
    if (round_ < kRelaxed) {
      relax();
    } else if (round_ < kYielded) {
      std::this_thread::yield();
    } else {
      // A thread of real-time priority yields to no other.
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      return;
    }
    ++round_;
  }

 private:
  static constexpr unsigned kRelaxed = 4000;  // tens of microseconds, a slice
  static constexpr unsigned kYielded = kRelaxed + 1000;
  unsigned round_ = 0;
};

#endif

}  // namespace tenure
