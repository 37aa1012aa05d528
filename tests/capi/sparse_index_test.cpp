// One offset or index out of range, at every place of a small matrix, in every function: each finds
// it, also where its result does not depend on it, and names the array, the place and the value.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "context_options.hpp"
#include "sparse_arrays.hpp"
#include "sparse_functions.hpp"
#include "tenure/tenure.h"

namespace tenure::test {
namespace {

// The functions, and the check itself.
std::vector<SparseFunction> checked_functions() {
  std::vector<SparseFunction> all = sparse_functions();
  all.push_back(
      {.function = "tnr_sparse_check",
       .traits = SparseFunction::kAll,
       .call = [](auto*, const tnr_sparse_view* a, auto*, auto&) { return tnr_sparse_check(a); }});
  return all;
}

struct Fault {
  bool is_major;
  std::size_t place;
  std::int64_t value;
};

// Every place with numbers below, just above and far above what may be there.
std::vector<Fault> faults_of(const SparseModel& model, tnr_dtype index_dtype) {
  const bool is_narrow = index_dtype == TNR_DTYPE_I32;
  const std::int64_t highest = is_narrow ? std::numeric_limits<std::int32_t>::max()
                                         : std::numeric_limits<std::int64_t>::max();
  const bool is_csc = model.format == TNR_SPARSE_FORMAT_CSC;
  const std::int64_t minor_extent = is_csc ? model.rows : model.cols / model.block_cols;
  const std::int64_t major_extent = model.format == TNR_SPARSE_FORMAT_COO
                                        ? model.rows
                                        : static_cast<std::int64_t>(model.minor.size()) + 1;
  std::vector<Fault> faults;
  for (const bool is_major : {false, true}) {
    const std::size_t count = (is_major ? model.major : model.minor).size();
    for (std::size_t place = 0; place < count; ++place) {
      const std::int64_t extent = is_major ? major_extent : minor_extent;
      for (const std::int64_t value : {std::int64_t{-1}, extent, highest, -highest - 1}) {
        faults.push_back({is_major, place, value});
      }
    }
  }
  return faults;
}

std::string array_of(tnr_sparse_format format, bool is_major) {
  if (format == TNR_SPARSE_FORMAT_COO) return is_major ? "row_indices" : "col_indices";
  if (format == TNR_SPARSE_FORMAT_CSC) return is_major ? "col_offsets" : "row_indices";
  return is_major ? "row_offsets" : "col_indices";
}

class SparseIndex : public testing::TestWithParam<tnr_sparse_format> {
 protected:
  // Every fault of a matrix in one function.
  void refuses_every(const SparseFunction& function, const SparseModel& model,
                     tnr_dtype index_dtype, tnr_context* context) {
    const auto call = [&](const SparseModel& of) {
      SparseArrays arrays(of, index_dtype);
      SparseOperands with(arrays.view());
      return function(context, &arrays.view(), with);
    };
    const bool is_empty = model.rows == 0 || model.cols == 0;
    const tnr_status answer = call(model);
    if (is_empty && answer != TNR_STATUS_OK) return;  // there is no least of no elements
    ASSERT_EQ(answer, TNR_STATUS_OK) << function.name() << ": " << tnr_last_error()->message;
    for (const Fault& fault : faults_of(model, index_dtype)) {
      SparseModel wrong = model;
      (fault.is_major ? wrong.major : wrong.minor)[fault.place] = fault.value;
      const std::string words = array_of(model.format, fault.is_major) + "[" +
                                std::to_string(fault.place) + "] is " + std::to_string(fault.value);
      const std::string what = function.name() + " of " + std::to_string(model.rows) + " by " +
                               std::to_string(model.cols) + ": " + words;
      ASSERT_STREQ(tnr_status_name(call(wrong)), "INVALID_ARGUMENT") << what;
      EXPECT_NE(std::string(tnr_last_error()->message).find(words), std::string::npos)
          << what << ", but: " << tnr_last_error()->message;
    }
  }
};

TEST_P(SparseIndex, OutOfRangeIsFoundAnywhere) {
  const tnr_context_options options = tenure::test::options(3);
  tnr_context* const threads = tnr_context_create(&options);
  for (const SparseFunction& function : checked_functions()) {
    if (!function.takes(GetParam())) continue;
    for (const auto& [rows, cols] : {std::pair{4, 4}, {4, 8}, {8, 4}, {0, 4}, {4, 0}, {0, 0}}) {
      if (function.has(SparseFunction::kSquare) && rows != cols) continue;
      for (const tnr_dtype index_dtype : kIndexDtypes) {
        refuses_every(function, thirds(GetParam(), rows, cols), index_dtype, nullptr);
        refuses_every(function, thirds(GetParam(), rows, cols), index_dtype, threads);
      }
    }
  }
  tnr_context_release(threads);
}

// Four entries at the corners of what hardly has an end. Most need memory that no machine has; none
// may take that for a fault of the library's own.
TEST_P(SparseIndex, NoExtentIsInternal) {
  const tnr_sparse_format format = GetParam();
  constexpr std::int64_t kOne = 1;
  for (const std::int64_t huge : {kOne << 60, kOne << 62, INT64_MAX - 1}) {
    SparseModel model = thirds(format, 2, 2);
    const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
    (is_csc ? model.rows : model.cols) = huge;
    model.minor.back() = huge / model.block_cols - 1;
    for (const bool has_two : {false, true}) {
      if (has_two) {
        if (format != TNR_SPARSE_FORMAT_COO) break;  // offsets for so many would be lent
        model.rows = huge;
        model.major.back() = huge - 1;
      }
      for (const SparseFunction& function : checked_functions()) {
        if (!function.takes(format) || function.has(SparseFunction::kSquare)) continue;
        SparseArrays arrays(model, TNR_DTYPE_I64);
        SparseOperands with(arrays.view());
        const tnr_status answer = function(nullptr, &arrays.view(), with);
        EXPECT_STRNE(tnr_status_name(answer), "INTERNAL")
            << function.name() << " of " << model.rows << " by " << model.cols << ": "
            << tnr_last_error()->message;
      }
    }
  }
}

// Batches of no matrices, whose extents no memory bounds.
TEST_P(SparseIndex, NoExtentOfABatchIsInternal) {
  const std::int64_t none = 0;
  for (const std::int64_t huge : {std::int64_t{1} << 60, INT64_MAX / 2 - 1, INT64_MAX - 1}) {
    const std::int64_t block = GetParam() == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
    SparseArrays arrays({.format = GetParam(),
                         .rows = huge,
                         .cols = huge,
                         .block_rows = block,
                         .block_cols = block},
                        TNR_DTYPE_I64);
    tnr_sparse_view a = arrays.view();
    a.batch_offsets = flat_view(&none, TNR_DTYPE_I64, {1});
    if (block == 2) a.values.shape[1] = a.values.shape[2] = 2;
    for (const SparseFunction& function : checked_functions()) {
      if (!function.has(SparseFunction::kAll)) continue;
      SparseOperands with(a);
      const tnr_status answer = function(nullptr, &a, with);
      EXPECT_STRNE(tnr_status_name(answer), "INTERNAL") << function.name();
      if (function.function == "tnr_sparse_to_dense") {
        EXPECT_EQ(answer, TNR_STATUS_OK) << tnr_last_error()->message;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryFormat, SparseIndex,
                         testing::Values(TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                         TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR));

}  // namespace
}  // namespace tenure::test
