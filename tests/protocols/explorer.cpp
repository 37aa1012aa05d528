#include "explorer.hpp"

#include <cxxabi.h>
#include <ucontext.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <set>
#include <utility>

#include "memory_model.hpp"

namespace tenure::explore {

unsigned processor_count = 1;

namespace {

// ---- state: all of fixed size, because memory that is asked for meanwhile is the scenario's ----

enum class Next {
  kBegin,  // has not run: it will, to its first operation, before anything is chosen
  kLoad,
  kChange,  // of an atomic, or of a condition
  kLock,
  kJoin,
  kWait,   // for a notification
  kAwait,  // for something newer than it has read last
  kAwaitOrLeap,
  kEnd,
};

struct LateStore {
  const void* object = nullptr;
  std::uint64_t initial;
  std::uint64_t value;
  std::memory_order order;
};

struct Fiber {
  ucontext_t context;
  std::function<void()> body;
  Next next;
  const void* object;
  const void* mutex;  // of a wait
  unsigned joined;    // of a join
  bool is_spurious;   // woken without a notification
  bool has_leapt;     // past the time-out, and has not looked at the clock
  std::uint64_t now_us;
  LateStore late;
  // What the C++ runtime keeps for a thread: exceptions that are caught or under way.
  struct {
    void* caught;
    unsigned uncaught_count;
  } exceptions;
};

// A place where an execution can go on in `count` ways; of threads, in those of a set.
struct Choice {
  bool is_of_threads;
  unsigned current;
  unsigned count;
  unsigned possible;  // set of threads that are left to try after `current`
  unsigned asleep;    // set of threads whose next step has been tried
};

// Which threads have used an atomic while there were others, in any execution so far.
struct Usage {
  const void* object;
  unsigned threads;  // set
  bool is_written;
  bool is_shared;
};

struct Step {
  unsigned thread;
  const char* what;
  const void* object;
  std::uint64_t value;
  Place place;
};

constexpr std::size_t kStackBytes = 256 << 10;
constexpr unsigned kMaxChoices = 4096;
constexpr unsigned kMaxSteps = 4096;
constexpr std::size_t kArenaBytes = 4 << 20;
constexpr unsigned kMaxSaved = 512;
constexpr unsigned kMaxUsages = 4096;

struct Saved {
  void* address;
  std::size_t size_bytes;
  std::array<unsigned char, 128> bytes;
};

struct State {
  bool is_running = false;
  Limits limits;
  Mutant mutant;
  Memory memory;
  ucontext_t main;
  std::array<Fiber, kMaxThreads> fibers;
  unsigned fiber_count;
  unsigned joined_count;
  unsigned current;  // the thread that runs
  unsigned chosen;   // the last one that was not beginning
  unsigned preemption_count;
  unsigned spurious_left;
  unsigned notification_count;
  unsigned asleep;
  std::array<const void*, 8> held_mutexes;

  std::array<Choice, kMaxChoices> choices;
  unsigned choice_count = 0;
  unsigned depth;

  std::array<Usage, kMaxUsages> usages;
  bool must_restart;

  std::array<Step, kMaxSteps> steps;
  unsigned step_count;
  const char* failure;

  unsigned saved_count;
  std::array<Saved, kMaxSaved> saved;
  std::size_t arena_used;
};
State g;
alignas(64) char g_stacks[kMaxThreads][kStackBytes];
alignas(64) char g_arena[kArenaBytes];

// Memory of the explorer's own.
class Aside {
 public:
  Aside() : was_running_(g.is_running) { g.is_running = false; }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;
  ~Aside() { g.is_running = was_running_; }

 private:
  bool was_running_;
};

std::set<Mutant> g_mutants;  // of what has run
bool g_is_collecting = true;
std::array<bool, 64> g_collected_swaps;
std::array<std::array<std::uintptr_t, 4>, 1024> g_collected;

[[noreturn]] void leave() {
  setcontext(&g.main);
  std::abort();
}

// ---- choices ----

constexpr unsigned bit(unsigned thread) { return 1u << thread; }

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

// The set of threads of which one may run next; 0: all have ended.
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

// Whether another thread may do something to the atomic meanwhile. To begin with none does; when one
// is found to, the exploration begins anew, and from then on operations on it are steps.
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

void finish_late_store();

void step_to(Next next, const void* object) {
  Fiber& self = g.fibers[g.current];
  self.next = next;
  self.object = object;
  yield();
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

void note(const char* what, const void* object, std::uint64_t value, const Place& place) {
  if (!g.memory.is_consistent()) leave();
  if (g.step_count == kMaxSteps) fail_execution("an execution without end");
  g.steps[g.step_count++] = {g.current, what, object, value, place};
}

// ---- what is wrong on purpose ----

// The file's path below the folder of the core's sources; of a scenario's own file its name.
std::string name_of(const Place& place) {
  const std::string path = place.file_name();
  // As the compiler was told it, so that it may be relative.
  constexpr std::string_view kFolder = "/core/src/";
  const std::size_t folder = path.rfind(kFolder);
  return folder != std::string::npos ? path.substr(folder + kFolder.size())
                                     : path.substr(path.rfind('/') + 1);
}

bool is_mutated(const Place& place, Defect defect) {
  return g.mutant.defect == defect && g.mutant.site.line == place.line() &&
         g.mutant.site.column == place.column() && [&] {
           const Aside aside;
           return g.mutant.site.file == name_of(place);
         }();
}

void collect(const Place& place, std::initializer_list<Defect> defects) {
  if (!g_is_collecting) return;
  // The same again, nearly always.
  unsigned set = 0;
  for (Defect defect : defects) set |= 1u << static_cast<unsigned>(defect);
  const std::array<std::uintptr_t, 4> key = {reinterpret_cast<std::uintptr_t>(place.file_name()),
                                             place.line(), place.column(), set};
  auto& entry = g_collected[(key[0] + key[1] * 37 + key[2] * 101 + set) % g_collected.size()];
  if (entry == key) return;
  entry = key;
  const Aside aside;
  for (Defect defect : defects) {
    if (defect == Defect::kNone) continue;
    g_mutants.insert({{name_of(place), place.line(), place.column()}, defect});
  }
}

std::memory_order weaken(std::memory_order order, const Place& place) {
  const bool has_total_order = order == std::memory_order_seq_cst;
  if (g_is_collecting) {
    collect(place, {is_acquire(order) ? Defect::kNoAcquire : Defect::kNone,
                    is_release(order) ? Defect::kNoRelease : Defect::kNone,
                    has_total_order ? Defect::kNoTotalOrder : Defect::kNone});
  }
  if (g.mutant.defect == Defect::kNone) return order;
  const bool no_total_order = is_mutated(place, Defect::kNoTotalOrder);
  const bool no_acquire = is_mutated(place, Defect::kNoAcquire);
  const bool no_release = is_mutated(place, Defect::kNoRelease);
  if (!no_total_order && !no_acquire && !no_release) return order;
  const bool acquires = is_acquire(order) && !no_acquire;
  const bool releases = is_release(order) && !no_release;
  if (acquires && releases) return std::memory_order_acq_rel;
  if (acquires) return std::memory_order_acquire;
  return releases ? std::memory_order_release : std::memory_order_relaxed;
}

// A load or a store has one half only, whatever the order is called.
std::memory_order half(std::memory_order order, bool is_load, const Place& place) {
  if (order != std::memory_order_seq_cst) return weaken(order, place);
  collect(place, {Defect::kNoTotalOrder, is_load ? Defect::kNoAcquire : Defect::kNoRelease});
  if (is_mutated(place, is_load ? Defect::kNoAcquire : Defect::kNoRelease)) {
    return std::memory_order_relaxed;
  }
  if (!is_mutated(place, Defect::kNoTotalOrder)) return order;
  return is_load ? std::memory_order_acquire : std::memory_order_release;
}

void finish_late_store() {
  LateStore& late = g.fibers[g.current].late;
  if (late.object == nullptr) return;
  if (is_shared(late.object, true)) step_to(Next::kChange, late.object);
  g.memory.store(g.current, late.object, late.initial, late.value, late.order);
  late.object = nullptr;
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

void fail_execution(const char* text) {
  g.failure = text;
  leave();
}

bool is_running() noexcept { return g.is_running; }

bool is_swapped(unsigned swap) {
  if (!g.is_running) return false;
  if (g_is_collecting && !g_collected_swaps.at(swap)) {
    g_collected_swaps[swap] = true;
    const Aside aside;
    g_mutants.insert({{"", swap, 0}, Defect::kSwapped});
  }
  return g.mutant.defect == Defect::kSwapped && g.mutant.site.line == swap;
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

// ---- operations ----

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

// The next execution in depth-first order; false when there is none.
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
  // What is wrong on purpose may lead anywhere: the execution ends, and the next one can run.
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
  g_is_collecting = mutant.defect == Defect::kNone;
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

std::vector<Mutant> take_mutants() {
  std::vector<Mutant> mutants(g_mutants.begin(), g_mutants.end());
  g_mutants.clear();
  g_collected.fill({});
  g_collected_swaps.fill(false);
  return mutants;
}

const char* defect_name(Defect defect) {
  switch (defect) {
    case Defect::kNone: return "none";
    case Defect::kNoAcquire: return "no acquire";
    case Defect::kNoRelease: return "no release";
    case Defect::kNoTotalOrder: return "no total order";
    case Defect::kNoFailureAcquire: return "no acquire on failure";
    case Defect::kSplit: return "split";
    case Defect::kSwapped: return "swapped";
    default: return "late";
  }
}

}  // namespace tenure::explore

// ---- memory of an execution: gone with it, so that what is left behind or leaks costs nothing ----

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
