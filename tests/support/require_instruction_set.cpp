// Ends a test program as skipped where TENURE_ISA asks for a set that this processor lacks. A program
// that ctest runs once more is also skipped under the best set, under which it has run.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string_view>

#include "tenure/instruction_set.hpp"
#include "tenure/status.hpp"

namespace {

std::string_view best_set() {
  const std::span<const tenure::InstructionSet> sets = tenure::instruction_sets();
  auto set = sets.rbegin();
  while (!set->is_supported()) ++set;
  return set->name;
}

[[noreturn]] void end(bool is_skipped, const char* reason) {
  std::printf("%s: %s\n", is_skipped ? "skipped" : "error", reason);
  std::fflush(stdout);
  std::_Exit(is_skipped ? EXIT_SUCCESS : EXIT_FAILURE);
}

class RequireInstructionSet : public testing::Environment {
  void SetUp() override {
    try {
      const char* const name = tenure::instruction_set().name;
      if (std::getenv("TENURE_TEST_AGAIN") != nullptr && name == best_set())
        end(true, "TENURE_ISA names the best set");
      std::printf("kernels: %s\n", name);
    } catch (const tenure::Error& error) {
      end(error.status() == TNR_STATUS_UNSUPPORTED, error.message());
    }
  }
};

const testing::Environment* const g_environment =
    testing::AddGlobalTestEnvironment(new RequireInstructionSet);

}  // namespace
