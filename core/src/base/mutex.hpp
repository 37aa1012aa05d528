// A mutex that is ready before anything runs, for the library's few global states.
//
// std::mutex is one wherever its constructor is constexpr, as the standard asks; winpthreads, the
// threads of mingw, makes it at run time.
#pragma once

#include "base/concurrency.hpp"

namespace tenure {

#if defined(_WIN32)

// An SRWLOCK of Windows: a null pointer to begin with, and nothing to destroy.
class Mutex {
 public:
  constexpr Mutex() noexcept = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() noexcept;
  void unlock() noexcept;

 private:
  void* lock_ = nullptr;
};

#else

using Mutex = ConditionMutex;

#endif

}  // namespace tenure
