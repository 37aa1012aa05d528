// Strides that lead nowhere, of axes of one element and of empty views, are ignored. Every
// operation, on operands and outputs that have such strides: the same bytes come out whatever they
// are.
#include <gtest/gtest.h>

#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

// A product of one with a width, a sum of two, and their negatives overflow.
constexpr std::int64_t kStrides[] = {INT64_MIN, INT64_MAX, -1, 0, std::int64_t{1} << 60};

// Matrices of one row, of one column, of both, and of none.
std::vector<Pattern> thin_patterns() {
  return {{"one element", 1, 1, {{0, 0}}},
          {"one row", 1, 75, {{0, 3}, {0, 7}, {0, 74}}},
          {"one column", 75, 1, {{2, 0}, {9, 0}, {74, 0}}},
          {"no row", 0, 5, {}},
          {"no column", 5, 0, {}},
          {"one entry", 9, 9, {{4, 5}}},
          {"no entry", 9, 9, {}}};
}

// Gives visit(turn, call) a call() for each operation, with its operands made anew, and its turn.
template <class Visit>
void for_each_call(const std::vector<Operation>& operations, const Pattern& pattern,
                   const Storage& storage, const Visit& visit) {
  const Subject subject(pattern, storage);
  const std::string name = subject.name(subject.true_flags());
  std::size_t turn = 0;
  for (const Operation& operation : operations) {
    const Place& place = places()[turn++ % places().size()];
    SCOPED_TRACE(operation.name() + " of " + name + ", " + place.name);
    visit(turn, [&] {
      const Operands operands = subject.operands(place, subject.true_flags());
      announce(name, operation, place);
      return operation(operands);
    });
  }
}

void sweep(const std::vector<Operation>& operations, const Pattern& pattern,
           const Storage& storage) {
  for_each_call(operations, pattern, storage, [](std::size_t turn, const auto& call) {
    const Answer expected = call();
    expect_sound(expected);
    for (const std::int64_t stride : kStrides) {
      if (!is_long() && &stride != &kStrides[turn % std::size(kStrides)] && stride != INT64_MIN) {
        continue;
      }
      const IgnoredStrides ignored(stride);
      EXPECT_EQ(difference(expected, call()), "") << "stride " << stride;
    }
  });
}

// One element repeated by a stride of 0, so often that its bytes would not fit an i64. Where an
// operand has such an axis the call is refused.
void sweep_repeated(const std::vector<Operation>& operations, const Pattern& pattern,
                    const Storage& storage) {
  for_each_call(operations, pattern, storage, [](std::size_t, const auto& call) {
    for (const std::int64_t extent :
         {(std::int64_t{1} << 62) + 3, INT64_MAX, std::int64_t{1} << 59}) {
      const RepeatedElements repeated(extent);
      expect_sound(call());
    }
  });
}

TEST(Strides, OfElementsThatAreRepeated) {
  for (const Pattern& pattern : thin_patterns()) {
    if (pattern.rows == 0 || pattern.cols == 0) continue;
    for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BOOL8}) {
      for (const tnr_dtype index : kIndexDtypes) {
        sweep_repeated(sparse_operations(), pattern, {TNR_SPARSE_FORMAT_COO, index, dtype});
        sweep_repeated(sparse_operations(), pattern, {TNR_SPARSE_FORMAT_CSR, index, dtype});
      }
      sweep_repeated(dense_operations(), pattern, {TNR_SPARSE_FORMAT_COO, TNR_DTYPE_I32, dtype});
    }
  }
  expect_no_overrun();
}

TEST(Strides, OfAxesOfOneElementInSparseOperations) {
  for (const Pattern& pattern : thin_patterns()) {
    for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BOOL8}) {
      sweep(sparse_operations(), pattern, {TNR_SPARSE_FORMAT_COO, TNR_DTYPE_I32, dtype});
      sweep(sparse_operations(), pattern, {TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64, dtype});
      sweep(sparse_operations(), pattern, {TNR_SPARSE_FORMAT_CSC, TNR_DTYPE_I32, dtype});
      sweep(sparse_operations(), pattern, {TNR_SPARSE_FORMAT_BSR, TNR_DTYPE_I32, dtype, 1, 1});
      sweep(sparse_operations(), pattern, {TNR_SPARSE_FORMAT_BSR, TNR_DTYPE_I32, dtype, 2, 1});
    }
  }
  expect_no_overrun();
}

TEST(Strides, OfAxesOfOneElementInDenseOperations) {
  for (const Pattern& pattern : thin_patterns()) {
    for (const Constant& dtype : dtypes()) {
      sweep(dense_operations(), pattern,
            {TNR_SPARSE_FORMAT_COO, TNR_DTYPE_I32, static_cast<tnr_dtype>(dtype.value)});
    }
  }
  expect_no_overrun();
}

}  // namespace
}  // namespace tenure::sweeps
