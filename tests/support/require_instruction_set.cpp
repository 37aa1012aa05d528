// Ends a test program as skipped where TENURE_ISA asks for what this processor lacks.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tenure/instruction_set.hpp"
#include "tenure/status.hpp"

namespace {

class RequireInstructionSet : public testing::Environment {
  void SetUp() override {
    try {
      std::printf("kernels: %s\n", tenure::instruction_set().name);
    } catch (const tenure::Error& error) {
      const bool is_skipped = error.status() == TNR_STATUS_UNSUPPORTED;
      std::printf("%s: %s\n", is_skipped ? "skipped" : "error", error.message());
      std::fflush(stdout);
      std::_Exit(is_skipped ? EXIT_SUCCESS : EXIT_FAILURE);
    }
  }
};

const testing::Environment* const g_environment =
    testing::AddGlobalTestEnvironment(new RequireInstructionSet);

}  // namespace
