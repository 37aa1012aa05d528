// Threads that the system refuses on demand. A program that links refused_threads.cpp has every
// pthread_create of it and of the C++ runtime pass through there.
#pragma once

namespace tenure::test {

// While it lives, the threads that this thread asks for are refused from number `first` on (the
// first has number 0).
class ThreadFault {
 public:
  explicit ThreadFault(int first) noexcept;
  ~ThreadFault();
  ThreadFault(const ThreadFault&) = delete;
  ThreadFault& operator=(const ThreadFault&) = delete;
};

// Threads that were started, by any thread, since the program began.
int started_threads() noexcept;

}  // namespace tenure::test
