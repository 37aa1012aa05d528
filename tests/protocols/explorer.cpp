#include "explorer.hpp"

#include <cxxabi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "execution.hpp"

namespace tenure::explore {

unsigned processor_count = 1;

State g;
alignas(64) char g_stacks[kMaxThreads][kStackBytes];
alignas(64) char g_arena[kArenaBytes];

void leave() {
  setcontext(&g.main);
  std::abort();
}

void fail_execution(const char* text) {
  g.failure = text;
  leave();
}

bool is_running() noexcept { return g.is_running; }

void require(bool holds, const char* text) {
  if (!holds) fail_execution(text);
}

unsigned waiting_count() {
  unsigned count = 0;
  for (unsigned thread = 0; thread < g.fiber_count; ++thread) {
    if (g.fibers[thread].next == Next::kWait) ++count;
  }
  return count;
}

unsigned notification_count() { return g.notification_count; }

unsigned unjoined_count() { return g.fiber_count - g.joined_count - 1; }

// ---- executions ----

namespace {

void run_once(const std::function<void()>& scenario) {
  g.memory.reset();
  g.fiber_count = g.joined_count = g.current = g.chosen = 0;
  g.preemption_count = g.notification_count = g.asleep = g.depth = g.step_count = g.saved_count = 0;
  g.spurious_left = g.limits.max_spurious;
  g.held_mutexes.fill(nullptr);
  g.failure = nullptr;
  g.arena_used = 0;
  std::array<char, 16> exceptions;
  std::memcpy(exceptions.data(), abi::__cxa_get_globals(), exceptions.size());
  // By reference: a copy would ask for memory.
  add_fiber([&scenario] { scenario(); });
  g.is_running = true;
  swapcontext(&g.main, &g.fibers[0].context);
  g.is_running = false;
  std::memcpy(abi::__cxa_get_globals(), exceptions.data(), exceptions.size());
  while (g.saved_count != 0) {
    const Saved& saved = g.saved[--g.saved_count];
    std::memcpy(saved.address, saved.bytes.data(), saved.size_bytes);
  }
}

std::string describe_failure() {
  std::string text = std::string(g.failure) + "\n";
  for (unsigned i = 0; i < g.step_count; ++i) {
    const Step& step = g.steps[i];
    std::array<char, 256> line;
    std::snprintf(line.data(), line.size(), "  thread %u  %s:%u  %s %p: %#llx\n", step.thread,
                  name_of(step.place).c_str(), step.place.line(), step.what, step.object,
                  static_cast<unsigned long long>(step.value));
    text += line.data();
  }
  return text + "  thread " + std::to_string(g.current) + " fails";
}

}  // namespace

Outcome explore(const std::function<void()>& scenario, const Limits& limits, const Mutant& mutant) {
  Outcome outcome;
  // An injected defect may lead anywhere: the execution ends, and the next one can run.
  struct sigaction at_fault = {};
  struct sigaction before;
  at_fault.sa_handler = [](int) {
    if (g.is_running) fail_execution("an address is used where there is nothing");
    std::abort();
  };
  at_fault.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &at_fault, &before);
  std::set_terminate([] {
    if (g.is_running) fail_execution("an error leaves what never throws");
    std::abort();
  });
  g.limits = limits;
  g.mutant = mutant;
  g.choice_count = 0;
  g.usages.fill({});
  do {
    if (outcome.execution_count == limits.max_executions) {
      outcome.is_complete = false;
      break;
    }
    g.must_restart = false;
    run_once(scenario);
    if (g.must_restart) {
      g.choice_count = 0;
      outcome.execution_count = 0;
      continue;
    }
    ++outcome.execution_count;
    if (g.failure != nullptr) {
      outcome.failure = describe_failure();
      break;
    }
  } while (g.must_restart || advance());
  sigaction(SIGSEGV, &before, nullptr);
  return outcome;
}

}  // namespace tenure::explore

// ---- memory of an execution: gone with it, so that leaks cost nothing ----

namespace {

using tenure::explore::g;
using tenure::explore::g_arena;

void* allocate(std::size_t size_bytes, std::size_t alignment) {
  if (!g.is_running) {
    const std::size_t rounded = (size_bytes + alignment) / alignment * alignment;
    if (void* const data = std::aligned_alloc(alignment, rounded)) return data;
    throw std::bad_alloc();
  }
  const std::size_t begin = (g.arena_used + alignment - 1) / alignment * alignment;
  if (begin + size_bytes > sizeof(g_arena)) std::abort();
  g.arena_used = begin + size_bytes;
  return g_arena + begin;
}

void deallocate(void* data) noexcept {
  const char* const byte = static_cast<const char*>(data);
  if (byte < g_arena || byte >= g_arena + sizeof(g_arena)) std::free(data);
}

}  // namespace

void* operator new(std::size_t size_bytes) { return allocate(size_bytes, 16); }
void* operator new(std::size_t size_bytes, std::align_val_t alignment) {
  return allocate(size_bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { deallocate(data); }
void operator delete(void* data, std::size_t) noexcept { deallocate(data); }
void operator delete(void* data, std::align_val_t) noexcept { deallocate(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { deallocate(data); }
