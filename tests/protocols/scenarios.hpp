// Concurrent uses of the library by a few threads, and the invariants that hold in any order.
#pragma once

#include <functional>
#include <ostream>
#include <vector>

#include "base/concurrency.hpp"
#include "explorer.hpp"

namespace tenure::explore {

// Memory that is lent, adopted or computed: the explorer sees who uses it.
using Word = Handed<int>;
inline constexpr int kFresh = 7;
inline constexpr int kWritten = 8;
inline constexpr int kWrong = 9;  // as an index
inline constexpr int kFreed = -1;

struct Scenario {
  const char* name;
  unsigned thread_count;
  std::function<void()> run;
  // In the run of every day; a long one has no bound of two threads, and more of the rest.
  Limits limits = {};
};

// For GoogleTest, which else prints the bytes of a scenario, addresses among them.
inline void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

// For three threads, and for two with too many interleavings for every day.
inline constexpr Limits kThreePreemptions = {.max_preemptions = 3, .max_spurious = 0};
// For calls on a pool, whose threads park and are joined besides.
inline constexpr Limits kOnePreemption = {.max_preemptions = 1, .max_spurious = 0};
// Every interleaving, with no wake-up and no failure that has no cause.
inline constexpr Limits kNothingSpurious = {.max_spurious = 0};

// Each group in a source of its own.
std::vector<Scenario> blob_scenarios();
std::vector<Scenario> seal_scenarios();
std::vector<Scenario> table_scenarios();
std::vector<Scenario> context_scenarios();
std::vector<Scenario> job_scenarios();
std::vector<Scenario> all_scenarios();

}  // namespace tenure::explore
