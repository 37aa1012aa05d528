// Every operation in a process whose TENURE_ISA names no instruction set: those that compute are
// refused for it and end no process, wherever in a call the first kernel is looked for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

// Before the first call: a process chooses once.
const int g_is_set = setenv("TENURE_ISA", "sse9", 1);

TEST(UnknownSet, IsRefusedByEveryOperationThatComputes) {
  ASSERT_EQ(g_is_set, 0);
  const Pattern square{"square", 4, 4, {{0, 0}, {1, 1}, {2, 2}, {3, 3}}};
  // Some take floats, some whole numbers, some truths, some none that are negative.
  const tnr_dtype dtypes[] = {TNR_DTYPE_F32, TNR_DTYPE_I32, TNR_DTYPE_U8, TNR_DTYPE_BOOL8};
  std::set<std::string> dense, refused;
  for (const tnr_dtype dtype : dtypes) {
    const Subject subject(square, {.format = TNR_SPARSE_FORMAT_CSR, .value_dtype = dtype});
    for (const auto* const list : {&sparse_operations(), &dense_operations()}) {
      for (const Operation& operation : *list) {
        const Place& place = places().front();
        announce(subject.name(kBothFlags), operation, place);
        const Answer answer = operation(subject.operands(place, kBothFlags));
        const bool is_for_the_set =
            answer.message.find("TENURE_ISA is \"sse9\"") != std::string::npos;
        if (is_for_the_set) refused.insert(operation.function);
        if (list != &dense_operations()) continue;
        dense.insert(operation.function);
        EXPECT_NE(answer.status, TNR_STATUS_OK) << operation.name() << " of " << dtype;
      }
    }
  }
  for (const std::string& function : dense) {
    EXPECT_EQ(refused.count(function), 1u) << function << " never looked for a kernel";
  }
  EXPECT_GT(refused.size(), dense.size());  // and sparse ones
}

}  // namespace
}  // namespace tenure::sweeps
