// The sweeps miss nothing: their lists have every function that takes or makes a sparse matrix, or
// computes, and every constant that such a function may be called with.
#include "operations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "header.hpp"

namespace tenure::sweeps {
namespace {

const std::set<std::string>& listed() {
  static const std::set<std::string> functions = [] {
    std::set<std::string> names;
    for (const Operation& operation : sparse_operations()) names.insert(operation.function);
    for (const Operation& operation : dense_operations()) names.insert(operation.function);
    return names;
  }();
  return functions;
}

bool is_of_sparse(const Declaration& declaration) {
  for (const char* const word :
       {"tnr_sparse", "tnr_sparse_view", "tnr_sparse_view_mut", "tnr_packed"}) {
    if (declaration.mentions(word)) return true;
  }
  return declaration.function.rfind("tnr_sparse_", 0) == 0;
}

// Functions that run with a context, and write memory that they are lent. Functions of views give
// it away, or describe it; the bytes of a program's packed constants are no numbers.
bool is_of_dense(const Declaration& declaration) {
  return declaration.mentions("tnr_context") && declaration.mentions("tnr_view_mut") &&
         declaration.function.rfind("tnr_view_", 0) != 0 &&
         declaration.function != "tnr_blob_copy_packed";
}

TEST(Operations, EveryOneThatComputesIsListed) {
  std::set<std::string> declared;
  for (const Declaration& declaration : exported_functions()) {
    if (!is_of_sparse(declaration) && !is_of_dense(declaration)) continue;
    declared.insert(declaration.function);
    EXPECT_EQ(listed().count(declaration.function), 1u)
        << declaration.function
        << " is in no sweep: give it a row in operations.cpp or dense_operations.cpp";
  }
  EXPECT_EQ(listed(), declared);
}

TEST(Operations, EveryCodeOfTheirParametersIsWalked) {
  (void)listed();
  const std::vector<std::string> walked = types_asked_for();
  for (const Declaration& declaration : exported_functions()) {
    if (listed().count(declaration.function) == 0) continue;
    for (const std::string& type : code_types()) {
      if (!declaration.mentions(type)) continue;
      EXPECT_TRUE(std::find(walked.begin(), walked.end(), type) != walked.end())
          << declaration.function << " takes a " << type << ", whose constants nobody walks";
    }
  }
}

// An operation that fails on everything would be swept to no end.
TEST(Operations, EachSucceedsOnSomeMatrix) {
  const Pattern square{
      "square", 8, 8, {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}}};
  std::set<std::string> failing;
  std::set<std::string> succeeding;
  // Some take floats, some whole numbers, some none that are negative.
  const Storage storages[] = {{.format = TNR_SPARSE_FORMAT_COO},
                              {.format = TNR_SPARSE_FORMAT_CSR},
                              {.format = TNR_SPARSE_FORMAT_CSR, .value_dtype = TNR_DTYPE_I32},
                              {.format = TNR_SPARSE_FORMAT_CSR, .value_dtype = TNR_DTYPE_U8}};
  for (const Storage& storage : storages) {
    const Matrix a(square, storage);
    constexpr std::uint32_t kTrue = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
    const Operands with = {.a = a.view(kTrue), .right = a.view(kTrue), .mask = a.view(kTrue)};
    std::vector<Operation> all = sparse_operations();
    all.insert(all.end(), dense_operations().begin(), dense_operations().end());
    for (const Operation& operation : all) {
      const Answer answer = operation(with);
      (answer.status == TNR_STATUS_OK ? succeeding : failing).insert(operation.function);
      EXPECT_EQ(answer.fault, "") << operation.name();
      EXPECT_EQ(answer.false_flags, "") << operation.name();
    }
  }
  for (const std::string& function : failing) {
    EXPECT_EQ(succeeding.count(function), 1u) << function << " was refused each time";
  }
}

}  // namespace
}  // namespace tenure::sweeps
