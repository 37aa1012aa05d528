// The state of the execution that runs. All of it has a fixed size, because memory that is
// allocated meanwhile belongs to the scenario. The sources and their questions:
//
//   explorer.cpp    one execution after the other, and the remains of each
//   schedule.cpp    which thread goes on, and which choices have been tried
//   operations.cpp  the effect of an operation of explored.hpp
//   defects.cpp     the defects of it that are made on purpose
#pragma once

#include <ucontext.h>

#include <array>
#include <functional>

#include "memory_model.hpp"

namespace tenure::explore {

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
  // The C++ runtime's state of a thread: exceptions that are caught or under way.
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
extern State g;
extern char g_stacks[kMaxThreads][kStackBytes];
extern char g_arena[kArenaBytes];

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

constexpr unsigned bit(unsigned thread) { return 1u << thread; }

// Ends the execution.
[[noreturn]] void leave();

// ---- schedule.cpp ----

// The thread that runs does something with `object` next; returns when it is its turn.
void step_to(Next next, const void* object);
// Whether another thread may do something to the atomic meanwhile.
bool is_shared(const void* object, bool writes);
unsigned add_fiber(std::function<void()> body);
// To the next execution in depth-first order; false when there is none.
bool advance();

// ---- operations.cpp ----

void finish_late_store();

// ---- defects.cpp ----

std::string name_of(const Place& place);
bool is_mutated(const Place& place, Defect defect);
// Adds the possible defects of an operation.
void collect(const Place& place, std::initializer_list<Defect> defects);
// The order of an update, and of a load or a store, as the mutant has it.
std::memory_order weaken(std::memory_order order, const Place& place);
std::memory_order half(std::memory_order order, bool is_load, const Place& place);

}  // namespace tenure::explore
