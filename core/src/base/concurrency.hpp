// Synchronisation primitives: atomics, mutexes, threads, the clock.
//
// In the library these are the standard's. tests/protocols/ compiles the sources that use them once
// more, with types of its own under the same names, which run every interleaving and every value
// that the memory orders allow a load to find.
#pragma once

#if defined(TENURE_EXPLORED)

#include "explored.hpp"

#else

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace tenure {

inline constexpr bool kExplored = false;

template <class T>
using Atomic = std::atomic<T>;
// No atomic, but handed from thread to thread: by the rules around it they use it one after the
// other, or only read it.
template <class T>
using Handed = T;

// For conditions; mutex.hpp has the one for global states.
using ConditionMutex = std::mutex;
using Condition = std::condition_variable;
using Thread = std::thread;
using Clock = std::chrono::steady_clock;

}  // namespace tenure

#endif
