// Every scenario, and what each is worth: an operation weakened or torn must make one of them fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios.hpp"
#include "swaps.hpp"

namespace tenure::explore {

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> all;
  for (const auto group :
       {blob_scenarios, seal_scenarios, table_scenarios, context_scenarios, job_scenarios}) {
    const std::vector<Scenario> more = group();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

namespace {

bool is_long_run() { return std::getenv("TENURE_PROTOCOLS_LONG") != nullptr; }

// Hours would not end some, which say so.
constexpr std::uint64_t kLongExecutions = 20'000'000;

Limits limits_of(const Scenario& scenario) {
  if (!is_long_run()) return scenario.limits;
  if (scenario.thread_count == 2) return {.max_executions = kLongExecutions};
  return {.max_preemptions = 4, .max_spurious = 1, .max_executions = kLongExecutions};
}

class Protocols : public testing::TestWithParam<Scenario> {};

TEST_P(Protocols, HoldInEveryOrder) {
  const Outcome outcome = explore(GetParam().run, limits_of(GetParam()));
  EXPECT_EQ(outcome.failure, "");
  EXPECT_GT(outcome.execution_count, 1u);
  EXPECT_TRUE(outcome.is_complete || is_long_run());
  std::printf("%llu executions%s\n", static_cast<unsigned long long>(outcome.execution_count),
              outcome.is_complete ? "" : ", cut off");
}

INSTANTIATE_TEST_SUITE_P(All, Protocols, testing::ValuesIn(all_scenarios()),
                         [](const auto& scenario) { return std::string(scenario.param.name); });

// ---- mutants ----

// Lines of a source of the library; none of a file that is not one.
std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream source(std::string(TENURE_CORE_SOURCES "/") + file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(source, line);) lines.push_back(line);
  return lines;
}

// Mutants that no scenario can tell from the unchanged code, and why that is right.
struct Spared {
  const char* file;
  const char* text;  // in the line of the operation
  Defect defect;
  [[maybe_unused]] const char* reason;
};
constexpr Spared kSpared[] = {
    {"memory/slot_table.cpp", "slot->context.store(", Defect::kNoRelease,
     "who reads it, reclaim, exchanges the word of the same life behind it"},
    {"memory/slot_table.cpp", "slot->context.store(", Defect::kLate,
     "the store of the word releases it"},
    {"memory/slot_table.cpp", "slot->device_word.store(", Defect::kLate, "the same"},
    {"memory/slot_table.cpp", "slot->data.store(", Defect::kLate, "the same"},
    {"memory/slot_table.cpp", "slot->size_bytes.store(", Defect::kLate, "the same"},
    {"memory/slot_table.cpp", "slot->tenure.store(", Defect::kLate, "the same"},
    {"memory/slot_table.cpp", "slot->device_word.store(", Defect::kNoRelease,
     "all blobs of the scenarios are the CPU's, in each of their lives"},
    {"memory/blob.cpp", "device_of_word(slot.device_word.load(std::memory_order_acquire))",
     Defect::kNoAcquire, "the same"},
    {"memory/slot_table.cpp", "slot->word.store(", Defect::kLate,
     "until it comes the token, which nobody has, is stale"},
    {"memory/slot_table.cpp", "slot.word.store(", Defect::kLate,
     "the exchange that puts the slot back releases it"},
    {"memory/slot_table.cpp", "chunk[i].next_free.store(", Defect::kLate, "the same"},
    {"memory/slot_table.cpp", "chunks_[chunk_count_].store(", Defect::kLate, "the same"},
    {"memory/slot_table.cpp", "free_.compare_exchange_weak(head, takes", Defect::kNoAcquire,
     "no head comes twice, as takes are counted: the load that found it has acquired it"},
    {"memory/blob.cpp", "is_borrowed(slot.tenure.load", Defect::kNoAcquire,
     "the exchange behind it succeeds on the word of the same life only"},
    {"memory/blob.cpp", "const tnr_tenure tenure = slot.tenure.load(std::memory_order_acquire)",
     Defect::kNoAcquire, "the same"},
    {"memory/blob.cpp", "adopted_with = slot.context.load", Defect::kNoAcquire, "the same"},
    {"memory/blob.cpp", "if (!may_write(slot.tenure.load(std::memory_order_acquire))) return;",
     Defect::kNoAcquire, "who seals and unseals holds a reference, and has acquired the content"},
    {"memory/blob.cpp", "slot.seals.compare_exchange_weak(seals", Defect::kNoRelease,
     "the update of the word behind it releases"},
    {"memory/blob.cpp", "slot.seals.store(pins_of(word)", Defect::kLate,
     "until it comes the seal is that of who is sealing"},
    {"memory/blob.cpp", "slot.seals.fetch_sub(1", Defect::kNoAcquire,
     "who unseals reads nothing that others wrote"},
    {"threads/lookback_scan.hpp", "words_[chunk].store(", Defect::kLate,
     "until it comes, those behind the chunk wait"},
    {"threads/context.cpp", "slot.word.store(std::uint64_t{generation}", Defect::kLate,
     "until it comes the handle, which nobody has, is stale"},
    {"threads/context_slot.cpp", "slot.word.store(", Defect::kLate, "the lock releases it"},
    {"threads/thread_pool.cpp", "stopping_.store(true", Defect::kLate, "the same"},
    {"threads/thread_pool.cpp", "parked_.fetch_add(1", Defect::kSplit,
     "it is changed under the lock only"},
    {"threads/thread_pool.cpp", "parked_.fetch_sub(1", Defect::kSplit, "the same"},
    {"threads/job.cpp", "finished_.store(0", Defect::kLate, "the store of the word releases it"},
    {"threads/job.hpp", "taken_.store(false", Defect::kLate,
     "until it comes others find the job taken, and work alone"},
    {"threads/context.cpp", "compare_exchange_weak(word, step(word)", Defect::kNoRelease,
     "the end of each use releases, and a use has done nothing before it begins"},
};

// nullptr: the mutant is not spared.
const Spared* find_spared(const Mutant& mutant, const std::string& line) {
  const auto* const found =
      std::find_if(std::begin(kSpared), std::end(kSpared), [&](const Spared& spared) {
        return spared.defect == mutant.defect && mutant.site.file == spared.file &&
               line.find(spared.text) != std::string::npos;
      });
  return found == std::end(kSpared) ? nullptr : found;
}

// Scenarios that run an operation where the mutant is, those of fewer executions first.
struct Use {
  std::uint64_t execution_count;
  std::size_t scenario;
};

// Executions that each mutant, and each swap, gets in the run of every day, of all scenarios
// together.
struct Budget {
  std::uint64_t daily;
  std::uint64_t most_of_one;  // scenario
};
constexpr Budget kOfAMutant = {30'000, 10'000};
constexpr Budget kOfASwap = {400'000, 110'000};

bool is_found(const Mutant& mutant, std::vector<Use> uses, const std::vector<Scenario>& scenarios,
              const Budget& budget) {
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
    return a.execution_count < b.execution_count;
  });
  std::uint64_t left = is_long_run() ? UINT64_MAX : budget.daily;
  // A little of each scenario first: most are found by their first executions, if at all.
  for (const std::uint64_t most : {std::uint64_t{300}, budget.most_of_one}) {
    for (const Use& use : uses) {
      Limits limits = scenarios[use.scenario].limits;
      limits.max_executions =
          std::min(left, is_long_run() ? 20 * use.execution_count + most : most);
      const Outcome outcome = explore(scenarios[use.scenario].run, limits, mutant);
      // A bound of the explorer's own proves nothing.
      if (!outcome.failure.empty() && outcome.failure.find("too many") == std::string::npos) {
        return true;
      }
      left -= std::min(left, outcome.execution_count);
      if (left == 0) return false;
    }
  }
  return false;
}

// The scenarios that run each mutant.
std::map<Mutant, std::vector<Use>> uses_of_mutants(const std::vector<Scenario>& scenarios) {
  std::map<Mutant, std::vector<Use>> uses;
  take_mutants();
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    Limits limits = scenarios[i].limits;
    limits.max_executions = is_long_run() ? 10'000 : 1'000;  // enough to run each operation
    const Outcome outcome = explore(scenarios[i].run, limits);
    for (const Mutant& mutant : take_mutants()) {
      uses[mutant].push_back({outcome.execution_count, i});
    }
  }
  return uses;
}

TEST(ProtocolMutants, EachIsFound) {
  const std::vector<Scenario> scenarios = all_scenarios();
  std::size_t found_count = 0;
  std::size_t spared_count = 0;
  std::set<const Spared*> unused;
  for (const Spared& spared : kSpared) unused.insert(&spared);
  std::string missed;
  for (const auto& [mutant, where] : uses_of_mutants(scenarios)) {
    if (mutant.defect == Defect::kSwapped) continue;
    const std::vector<std::string> lines = lines_of(mutant.site.file);
    if (mutant.site.line > lines.size()) continue;  // the scenario's own
    const std::string& line = lines[mutant.site.line - 1];
    if (const Spared* const spared = find_spared(mutant, line)) {
      ++spared_count;
      unused.erase(spared);
      continue;
    }
    if (is_found(mutant, where, scenarios, kOfAMutant)) {
      ++found_count;
      continue;
    }
    std::ostringstream what;
    what << mutant.site.file << ":" << mutant.site.line << ": " << defect_name(mutant.defect)
         << " makes no scenario fail:\n"
         << line << "\n";
    missed += what.str();
  }
  std::printf("%zu mutants found, %zu spared\n", found_count, spared_count);
  EXPECT_EQ(missed, "");
  for (const Spared* const spared : unused) {
    ADD_FAILURE() << "no mutant is spared by \"" << spared->text << "\" of " << spared->file;
  }
}

TEST(ProtocolSwaps, EachIsFound) {
  const std::vector<Scenario> scenarios = all_scenarios();
  std::map<Mutant, std::vector<Use>> uses = uses_of_mutants(scenarios);
  for (unsigned i = 0; i < std::size(kSwaps); ++i) {
    const Mutant swap = {{"", i, 0}, Defect::kSwapped};
    EXPECT_FALSE(uses[swap].empty()) << "no scenario runs " << kSwaps[i];
    EXPECT_TRUE(is_found(swap, uses[swap], scenarios, kOfASwap)) << kSwaps[i];
  }
  std::printf("%zu swaps\n", std::size(kSwaps));
}

}  // namespace

}  // namespace tenure::explore
