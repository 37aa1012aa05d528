#include "base/fork.hpp"

#if defined(_WIN32)

namespace tenure {

bool prepare_for_fork() noexcept { return true; }  // there is no fork

}  // namespace tenure

#else

#include <atomic>

#include "base/mutex.hpp"
#include "base/system_calls.hpp"
#include "memory/memory.hpp"
#include "memory/slot_table.hpp"
#include "tenure/engine.hpp"
#include "threads/context_slot.hpp"

namespace tenure {

namespace {

// No thread that holds one of these locks takes another, so their order is free. The exception is
// the first: a thread holds it while it takes memory, and waits for it with none of the others.
void lock_all() {
  lock_engines();
  context_table.lock();
  slot_table.lock();
  sparse_table.lock();
  packed_table.lock();
  factor_table.lock();
  event_table.lock();
  kernel_table.lock();
  graph_table.lock();
  program_table.lock();
  bound_table.lock();
  lock_memory();
}

void unlock_all() {
  unlock_memory();
  bound_table.unlock();
  program_table.unlock();
  graph_table.unlock();
  kernel_table.unlock();
  event_table.unlock();
  factor_table.unlock();
  packed_table.unlock();
  sparse_table.unlock();
  slot_table.unlock();
  context_table.unlock();
  unlock_engines();
}

void start_child() {
  context_table.forget_threads();
  forget_devices();
  forget_engine_threads();
  unlock_all();
}

}  // namespace

bool prepare_for_fork() noexcept {
  static constinit Mutex mutex;
  static constinit std::atomic<bool> is_prepared{false};
  if (is_prepared.load(std::memory_order_acquire)) return true;
  const std::lock_guard lock(mutex);
  // Once: a second time every lock would be taken twice. But a refused registration is tried again.
  if (!is_prepared.load(std::memory_order_relaxed)) {
    is_prepared.store(system_calls::at_fork(lock_all, unlock_all, start_child) == 0,
                      std::memory_order_release);
  }
  return is_prepared.load(std::memory_order_relaxed);
}

}  // namespace tenure

#endif
