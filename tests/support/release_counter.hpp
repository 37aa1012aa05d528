// A release callback that counts how often it ran, for "exactly once".
#pragma once

#include <atomic>

namespace tenure::test {

class ReleaseCounter {
 public:
  // To be given to an adopt or a share together with context().
  static void callback(void* context) {
    static_cast<ReleaseCounter*>(context)->count_.fetch_add(1, std::memory_order_relaxed);
  }
  void* context() { return this; }
  int count() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int> count_{0};
};

}  // namespace tenure::test
