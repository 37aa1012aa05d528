// The operations of explored.hpp, each a step of its thread.
#include <cstring>

#include "execution.hpp"

namespace tenure::explore {

namespace {

void note(const char* what, const void* object, std::uint64_t value, const Place& place) {
  if (!g.memory.is_consistent()) leave();
  if (g.step_count == kMaxSteps) fail_execution("an execution without end");
  g.steps[g.step_count++] = {g.current, what, object, value, place};
}

// An operation on `object`: one that is late comes after it, unless it is on the same one.
class Operation {
 public:
  Operation(Next next, const void* object) {
    if (g.fibers[g.current].late.object == object) finish_late_store();
    is_followed_ = g.fibers[g.current].late.object != nullptr;
    if (is_shared(object, next != Next::kLoad)) step_to(next, object);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() {
    if (is_followed_) finish_late_store();
  }

 private:
  bool is_followed_;
};

}  // namespace

void finish_late_store() {
  LateStore& late = g.fibers[g.current].late;
  if (late.object == nullptr) return;
  if (is_shared(late.object, true)) step_to(Next::kChange, late.object);
  g.memory.store(g.current, late.object, late.initial, late.value, late.order);
  late.object = nullptr;
}

// ---- atomics and plain memory ----

std::uint64_t load(const void* object, std::uint64_t initial, std::memory_order order,
                   const Place& place) {
  const Operation operation(Next::kLoad, object);
  const std::uint64_t value = g.memory.load(g.current, object, initial, half(order, true, place));
  note("load", object, value, place);
  return value;
}

void store(const void* object, std::uint64_t initial, std::uint64_t value, std::memory_order order,
           const Place& place) {
  collect(place, {Defect::kLate});
  order = half(order, false, place);
  if (is_mutated(place, Defect::kLate)) {
    finish_late_store();
    g.fibers[g.current].late = {object, initial, value, order};
    return;
  }
  const Operation operation(Next::kChange, object);
  g.memory.store(g.current, object, initial, value, order);
  note("store", object, value, place);
}

std::uint64_t update(const void* object, std::uint64_t initial, Change change,
                     std::uint64_t operand, std::memory_order order, const Place& place) {
  collect(place, {Defect::kSplit});
  const Operation operation(Next::kChange, object);
  order = weaken(order, place);
  std::uint64_t old;
  if (is_mutated(place, Defect::kSplit)) {
    old = g.memory.load(g.current, object, initial, order);
    step_to(Next::kChange, object);
    g.memory.store(g.current, object, initial, change(old, operand), order);
  } else {
    old = g.memory.update(g.current, object, initial, change, operand, order);
  }
  note("update", object, change(old, operand), place);
  return old;
}

bool compare_exchange(const void* object, std::uint64_t initial, std::uint64_t& expected,
                      std::uint64_t desired, std::memory_order success, std::memory_order failure,
                      const Place& place) {
  collect(place, {Defect::kSplit, is_acquire(failure) ? Defect::kNoFailureAcquire : Defect::kNone});
  const Operation operation(Next::kChange, object);
  success = weaken(success, place);
  if (is_mutated(place, Defect::kNoFailureAcquire)) failure = std::memory_order_relaxed;
  bool exchanged;
  if (is_mutated(place, Defect::kSplit)) {
    const std::uint64_t old = g.memory.load(g.current, object, initial, success);
    exchanged = old == expected;
    expected = old;
    if (exchanged) {
      step_to(Next::kChange, object);
      g.memory.store(g.current, object, initial, desired, success);
    }
  } else {
    exchanged = g.memory.compare_exchange(g.current, object, initial, expected, desired, success,
                                          failure, g.spurious_left);
  }
  note(exchanged ? "exchange" : "exchange fails", object, exchanged ? desired : expected, place);
  return exchanged;
}

void construct(const void* object) noexcept {
  if (g.is_running) g.memory.construct(g.current, object);
}

void read_plain(const void* object) { g.memory.read_plain(g.current, object); }

void write_plain(void* object, std::size_t size_bytes) {
  g.memory.write_plain(g.current, object);
  const char* const byte = static_cast<const char*>(object);
  if (byte >= g_arena && byte < g_arena + kArenaBytes) return;
  if (byte >= g_stacks[0] && byte < g_stacks[0] + sizeof(g_stacks)) return;
  if (g.saved_count == kMaxSaved || size_bytes > sizeof(Saved::bytes)) {
    fail_execution("too much plain memory for the explorer");
  }
  Saved& saved = g.saved[g.saved_count++];
  saved.address = object;
  saved.size_bytes = size_bytes;
  std::memcpy(saved.bytes.data(), object, size_bytes);
}

// ---- mutexes, conditions, threads ----

void lock(const void* mutex) {
  finish_late_store();
  step_to(Next::kLock, mutex);
  g.memory.lock(g.current, mutex);
  for (const void*& held : g.held_mutexes) {
    if (held == nullptr) return void(held = mutex);
  }
  fail_execution("too many mutexes are held");
}

void unlock(const void* mutex) noexcept {
  finish_late_store();
  g.memory.unlock(g.current, mutex);
  for (const void*& held : g.held_mutexes) {
    if (held == mutex) held = nullptr;
  }
}

void wait(const void* condition, const void* mutex) {
  Fiber& self = g.fibers[g.current];
  finish_late_store();
  self.mutex = mutex;  // which is unlocked in the same step
  step_to(Next::kChange, condition);
  unlock(mutex);
  self.is_spurious = true;
  step_to(Next::kWait, condition);
  self.mutex = nullptr;
  if (self.is_spurious) {
    --g.spurious_left;
    return lock(mutex);
  }
  g.memory.lock(g.current, mutex);
  for (const void*& held : g.held_mutexes) {
    if (held == nullptr) return void(held = mutex);
  }
}

void notify(const void* condition, bool all) noexcept {
  finish_late_store();
  step_to(Next::kChange, condition);
  ++g.notification_count;
  std::array<unsigned, kMaxThreads> waiting;
  unsigned count = 0;
  for (unsigned thread = 0; thread < g.fiber_count; ++thread) {
    const Fiber& fiber = g.fibers[thread];
    if (fiber.next == Next::kWait && fiber.object == condition) waiting[count++] = thread;
  }
  if (count == 0) return;
  const unsigned one = all ? 0 : choose(count);
  for (unsigned i = 0; i < count; ++i) {
    if (!all && i != one) continue;
    Fiber& woken = g.fibers[waiting[i]];
    woken.is_spurious = false;
    woken.next = Next::kLock;
    woken.object = woken.mutex;
  }
}

unsigned start_thread(std::function<void()> body) {
  finish_late_store();
  const unsigned thread = add_fiber(std::move(body));
  g.memory.start_thread(thread, g.current);
  return thread;
}

void join_thread(unsigned thread) {
  finish_late_store();
  g.fibers[g.current].joined = thread;
  step_to(Next::kJoin, nullptr);
  g.memory.join_thread(g.current, thread);
  ++g.joined_count;
}

void await_change() {
  finish_late_store();
  step_to(Next::kAwait, g.memory.last_read(g.current));
  g.memory.pass_last_read(g.current);
}

void await_change_or_time_out() {
  Fiber& self = g.fibers[g.current];
  if (self.has_leapt) return;
  finish_late_store();
  step_to(Next::kAwaitOrLeap, g.memory.last_read(g.current));
  if (g.memory.has_newer(g.current) && choose(2) == 0) return g.memory.pass_last_read(g.current);
  self.has_leapt = true;
}

std::uint64_t now_us() {
  Fiber& self = g.fibers[g.current];
  self.now_us += 1;
  if (self.has_leapt) {
    self.now_us += 1000;
  } else if (g.spurious_left != 0 && choose(2) == 1) {
    --g.spurious_left;
    self.now_us += 1000;
  }
  self.has_leapt = false;
  return self.now_us;
}

}  // namespace tenure::explore
