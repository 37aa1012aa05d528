#include "fork.hpp"

#if defined(_WIN32)

namespace tenure {

bool prepare_for_fork() noexcept { return true; }  // there is no fork

}  // namespace tenure

#else

#include <pthread.h>

#include "context_slot.hpp"
#include "memory.hpp"
#include "slot_table.hpp"

namespace tenure {

namespace {

// No thread that holds one of these asks for another, so their order is free.
void lock_all() {
  context_table.lock();
  slot_table.lock();
  sparse_table.lock();
  packed_table.lock();
  lock_memory();
}

void unlock_all() {
  unlock_memory();
  packed_table.unlock();
  sparse_table.unlock();
  slot_table.unlock();
  context_table.unlock();
}

void start_child() {
  context_table.forget_threads();
  unlock_all();
}

}  // namespace

bool prepare_for_fork() noexcept {
  static const bool prepared = pthread_atfork(lock_all, unlock_all, start_child) == 0;
  return prepared;
}

}  // namespace tenure

#endif
