// Runs a scenario of a few threads again and again, until every interleaving of their steps, and
// every value that each load may find, has been seen.
//
// The threads are fibers of one thread of the system, and switch only before an operation of
// explored.hpp. Each point where an execution could go on in more than one way is a choice; the
// next execution repeats all choices except the last that has an alternative. Among executions that
// differ only in the order of operations which do not touch the same object, one is run to its end
// ("sleep sets": P. Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems",
// LNCS 1032, 1996), unless the number of preemptions is bounded: the one kept might be over the
// bound. Operations on atomics that no other thread uses meanwhile, or that no thread writes, are
// no steps: a switch before them changes no result.
//
// memory_model.hpp says which values a load may find.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <string>
#include <vector>

namespace tenure::explore {

// At the same time, the one that starts the others among them.
inline constexpr unsigned kMaxThreads = 4;
inline constexpr unsigned kUnbounded = UINT32_MAX;

struct Limits {
  unsigned max_preemptions = kUnbounded;
  // In one execution: wake-ups without a cause, weak exchanges that fail without one, and how often
  // the clock leaps past every time-out.
  unsigned max_spurious = 1;
  std::uint64_t max_executions = UINT64_MAX;
};

// Defects that can be injected into the operation at one place of the sources as it runs.
enum class Defect {
  kNone,
  kNoAcquire,         // of a load, or of the reading half of an update
  kNoRelease,         // of a store, or of the writing half of an update
  kNoTotalOrder,      // sequentially consistent: acquire and release only
  kNoFailureAcquire,  // of an exchange that fails
  kSplit,             // an update becomes a load and a store
  kLate,              // a store comes after the thread's next operation
  kSwapped,           // two steps of swaps.cmake are exchanged
};
const char* defect_name(Defect defect);

struct Site {
  std::string file;   // without its folders; of a swap none
  unsigned line = 0;  // or its place in kSwaps
  unsigned column = 0;
  auto operator<=>(const Site&) const = default;
};

struct Mutant {
  Site site;
  Defect defect = Defect::kNone;
  auto operator<=>(const Mutant&) const = default;
};

struct Outcome {
  std::uint64_t execution_count = 0;
  bool is_complete = true;  // not cut off at max_executions
  std::string failure;      // with the steps that led to it; empty: none
};

// The scenario runs as thread 0, in memory that is as it was at each execution.
Outcome explore(const std::function<void()>& scenario, const Limits& limits = {},
                const Mutant& mutant = {});
// Every mutant that the operations run since the last call have room for; forgets them.
std::vector<Mutant> take_mutants();

// ---- for scenarios ----

// Ends the execution as failed, with the text. May be called by any thread.
void require(bool holds, const char* text);
// One of [0, count): all are tried.
unsigned choose(unsigned count);

// Threads that wait for a condition at this moment, and notifications of any so far.
unsigned waiting_count();
unsigned notification_count();
// Number of threads that were started and have not been joined.
unsigned unjoined_count();
// The result of Thread::hardware_concurrency(): with 1 processor no worker spins.
extern unsigned processor_count;

// ---- for explored.hpp ----

bool is_running() noexcept;

using Place = std::source_location;
// The new value of an update by the old one; `operand` is its argument.
using Change = std::uint64_t (*)(std::uint64_t old, std::uint64_t operand);

// `object` is an atomic's address, and `initial` is its value when the execution began or the
// atomic was constructed.
std::uint64_t load(const void* object, std::uint64_t initial, std::memory_order order,
                   const Place& place);
void store(const void* object, std::uint64_t initial, std::uint64_t value, std::memory_order order,
           const Place& place);
std::uint64_t update(const void* object, std::uint64_t initial, Change change,
                     std::uint64_t operand, std::memory_order order, const Place& place);
bool compare_exchange(const void* object, std::uint64_t initial, std::uint64_t& expected,
                      std::uint64_t desired, std::memory_order success, std::memory_order failure,
                      const Place& place);
// An atomic or plain object begins its life, perhaps where another was.
void construct(const void* object) noexcept;

void read_plain(const void* object);
// Before it is written.
void write_plain(void* object, std::size_t size_bytes);

void lock(const void* mutex);
void unlock(const void* mutex) noexcept;
void wait(const void* condition, const void* mutex);
void notify(const void* condition, bool all) noexcept;

unsigned start_thread(std::function<void()> body);
void join_thread(unsigned thread);

// Whether the steps of that place in kSwaps are exchanged.
bool is_swapped(unsigned swap);

// Returns when what the thread has loaded last has changed: in between it would load the same.
void await_change();
// Returns also without a change; then the clock has leapt.
void await_change_or_time_out();
std::uint64_t now_us();

}  // namespace tenure::explore
