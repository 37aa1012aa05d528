// Which thread goes on: every way is tried, but those that differ only in the order of steps which
// mean nothing to each other.
#include <cxxabi.h>

#include <cstring>
#include <new>
#include <utility>

#include "execution.hpp"

namespace tenure::explore {

namespace {

Choice& add_choice(bool is_of_threads) {
  if (g.choice_count == kMaxChoices) fail_execution("too many choices in one execution");
  Choice& choice = g.choices[g.choice_count++];
  ++g.depth;
  choice = {.is_of_threads = is_of_threads, .current = 0, .count = 0, .possible = 0, .asleep = 0};
  return choice;
}

// Whether the order of the two threads' next steps means nothing.
bool are_independent(unsigned a, unsigned b) {
  const Fiber& one = g.fibers[a];
  const Fiber& other = g.fibers[b];
  const auto is_load = [](const Fiber& fiber) {
    return fiber.next == Next::kLoad || fiber.next == Next::kAwait ||
           fiber.next == Next::kAwaitOrLeap;
  };
  if (one.next == Next::kJoin || other.next == Next::kJoin) return true;
  if (one.mutex != nullptr && one.mutex == other.object) return false;
  if (other.mutex != nullptr && other.mutex == one.object) return false;
  return one.object != other.object || (is_load(one) && is_load(other));
}

bool is_held(const void* mutex) {
  for (const void* held : g.held_mutexes) {
    if (held == mutex) return true;
  }
  return false;
}

bool is_enabled(unsigned thread) {
  const Fiber& fiber = g.fibers[thread];
  switch (fiber.next) {
    case Next::kEnd: return false;
    case Next::kLock: return !is_held(fiber.object);
    case Next::kJoin: return g.fibers[fiber.joined].next == Next::kEnd;
    case Next::kWait: return g.spurious_left != 0;
    case Next::kAwait: return g.memory.has_newer(thread);
    default: return true;
  }
}

// The set of threads that may run next, one of them at a time; 0: all have ended.
unsigned find_enabled() {
  unsigned enabled = 0;
  bool all_have_ended = true;
  bool only_spurious = true;
  for (unsigned thread = 0; thread < g.fiber_count; ++thread) {
    all_have_ended = all_have_ended && g.fibers[thread].next == Next::kEnd;
    if (!is_enabled(thread)) continue;
    enabled |= bit(thread);
    only_spurious = only_spurious && g.fibers[thread].next == Next::kWait;
  }
  if (all_have_ended) return 0;
  if (only_spurious) fail_execution("every thread waits for another");
  return enabled;
}

unsigned pick_thread(unsigned enabled) {
  const bool is_bounded = g.limits.max_preemptions != kUnbounded;
  const Next next = g.fibers[g.chosen].next;
  const bool would_go_on = (enabled & bit(g.chosen)) != 0 && next != Next::kAwait &&
                           next != Next::kAwaitOrLeap && next != Next::kWait;
  if (would_go_on && g.preemption_count == g.limits.max_preemptions) enabled = bit(g.chosen);
  unsigned thread;
  if (g.depth < g.choice_count && (enabled & (enabled - 1)) != 0) {
    const Choice& choice = g.choices[g.depth++];
    if (!choice.is_of_threads) fail_execution("the scenario is not the same each time");
    g.asleep = choice.asleep;
    thread = choice.current;
  } else {
    const unsigned awake = enabled & ~g.asleep;
    if (awake == 0) leave();  // every way on from here has been seen
    thread = (awake & bit(g.chosen)) != 0 ? g.chosen : static_cast<unsigned>(__builtin_ctz(awake));
    if ((enabled & (enabled - 1)) != 0) {
      Choice& choice = add_choice(true);
      choice.current = thread;
      choice.possible = awake & ~bit(thread);
      choice.asleep = g.asleep;
    }
  }
  unsigned still_asleep = 0;
  for (unsigned other = 0; other < g.fiber_count && !is_bounded; ++other) {
    if ((g.asleep & bit(other)) != 0 && are_independent(other, thread)) still_asleep |= bit(other);
  }
  g.asleep = still_asleep;
  if (would_go_on && thread != g.chosen) ++g.preemption_count;
  g.chosen = thread;
  return thread;
}

// Lets the thread whose turn it is go on; returns when it is the caller's turn.
void yield() {
  unsigned next = kMaxThreads;
  for (unsigned thread = 0; thread < g.fiber_count; ++thread) {
    if (g.fibers[thread].next == Next::kBegin) next = thread;
  }
  if (next == kMaxThreads) {
    const unsigned enabled = find_enabled();
    if (enabled == 0) leave();
    next = pick_thread(enabled);
  }
  if (next == g.current) return;
  Fiber& from = g.fibers[g.current];
  Fiber& to = g.fibers[next];
  std::memcpy(&from.exceptions, abi::__cxa_get_globals(), sizeof(from.exceptions));
  std::memcpy(abi::__cxa_get_globals(), &to.exceptions, sizeof(to.exceptions));
  g.current = next;
  swapcontext(&from.context, &to.context);
}

void run_fiber() {
  try {
    g.fibers[g.current].body();
  } catch (...) {
    fail_execution("an error leaves a thread");
  }
  finish_late_store();
  g.fibers[g.current].next = Next::kEnd;
  yield();
}

}  // namespace

// Whether another thread may do something to the atomic meanwhile. To begin with none does; when
// one is found to, the exploration begins anew, and from then on operations on it are steps.
bool is_shared(const void* object, bool writes) {
  // One that has ended may, in another order, not have.
  if (unjoined_count() == 0) return false;
  unsigned place = (reinterpret_cast<std::uintptr_t>(object) >> 2) % kMaxUsages;
  while (g.usages[place].object != nullptr && g.usages[place].object != object) {
    place = (place + 1) % kMaxUsages;
  }
  Usage& usage = g.usages[place];
  usage.object = object;
  usage.threads |= bit(g.current);
  usage.is_written = usage.is_written || writes;
  const bool is_met = usage.is_written && (usage.threads & (usage.threads - 1)) != 0;
  if (is_met && !usage.is_shared) {
    usage.is_shared = true;
    g.must_restart = true;
    leave();
  }
  return is_met;
}

void step_to(Next next, const void* object) {
  Fiber& self = g.fibers[g.current];
  self.next = next;
  self.object = object;
  yield();
}

unsigned add_fiber(std::function<void()> body) {
  if (g.fiber_count == kMaxThreads) fail_execution("too many threads for the explorer");
  const unsigned thread = g.fiber_count++;
  Fiber& fiber = g.fibers[thread];
  // The one of the last execution lay in memory that is no more.
  new (&fiber.body) std::function<void()>(std::move(body));
  fiber.next = Next::kBegin;
  fiber.object = fiber.mutex = nullptr;
  fiber.is_spurious = fiber.has_leapt = false;
  fiber.now_us = 1000;
  fiber.late = {};
  fiber.exceptions = {};
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = g_stacks[thread];
  fiber.context.uc_stack.ss_size = kStackBytes;
  fiber.context.uc_link = nullptr;
  makecontext(&fiber.context, run_fiber, 0);
  return thread;
}

unsigned choose(unsigned count) {
  if (count == 1) return 0;
  if (g.depth < g.choice_count) {
    const Choice& choice = g.choices[g.depth++];
    if (choice.count != count) fail_execution("the scenario is not the same each time");
    return choice.current;
  }
  add_choice(false).count = count;
  return 0;
}

bool advance() {
  while (g.choice_count != 0) {
    Choice& choice = g.choices[g.choice_count - 1];
    if (choice.is_of_threads) {
      if (g.limits.max_preemptions == kUnbounded) choice.asleep |= bit(choice.current);
      if (choice.possible != 0) {
        choice.current = static_cast<unsigned>(__builtin_ctz(choice.possible));
        choice.possible &= choice.possible - 1;
        return true;
      }
    } else if (++choice.current < choice.count) {
      return true;
    }
    --g.choice_count;
  }
  return false;
}

}  // namespace tenure::explore
