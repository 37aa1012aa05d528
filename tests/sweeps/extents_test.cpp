// Extents from 2^31 to 2^63 - 1 with a few entries: an answer, or a status with its reason; never
// INTERNAL, and memory by the entries. Operations whose results cannot be smaller than an extent
// are OUT_OF_MEMORY, and are named here.
#include <gtest/gtest.h>

#include <set>

#include "failing_allocator.hpp"
#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

constexpr std::int64_t kExtents[] = {std::int64_t{1} << 31,
                                     (std::int64_t{1} << 31) + 2,
                                     std::int64_t{1} << 33,
                                     std::int64_t{1} << 40,
                                     std::int64_t{1} << 60,
                                     (std::int64_t{1} << 61) - 2,
                                     INT64_MAX / 2 - 1,
                                     INT64_MAX - 1,
                                     INT64_MAX};

constexpr std::size_t kMostBytesOfBlock = std::size_t{16} << 20;
constexpr long kMostBytes = 64L << 20;

// Whose result has offsets for each row or column of a format, or each row or column of a sum, or
// which copy a factor of as many rows.
const std::set<std::string> kOfExtents = {
    "tnr_factor_matmul",     "tnr_factor_quantized_matmul", "tnr_sparse_convert",
    "tnr_sparse_from_dense", "tnr_sparse_from_dense_top_k", "tnr_sparse_from_dense_dropout",
    "tnr_sparse_from_matmul"};

void run(const Operation& operation, const std::string& name, const Place& place,
         const Operands& with) {
  announce(name, operation, place);
  SCOPED_TRACE(operation.name() + " of " + name + ", " + place.name);
  const std::size_t held_before = place.filled != nullptr ? place.filled->held_bytes() : 0;
  long peak = 0;
  Answer answer;
  {
    const test::LimitedAllocations limited(kMostBytesOfBlock);
    {
      const test::AllocationFault counting(test::Failing::kOne, test::kNone);
      answer = operation(with);
    }
    peak = test::allocation_counts().peak_bytes;
  }
  expect_sound(answer);
  EXPECT_LE(peak, kMostBytes);
  const bool is_refused = answer.status == TNR_STATUS_OUT_OF_MEMORY;
  const std::string message = answer.message;
  answer = Answer();
  if (place.filled != nullptr) {
    EXPECT_EQ(place.filled->held_bytes(), held_before) << "not all was given back";
  }
  if (kOfExtents.count(operation.function) != 0) return;
  EXPECT_FALSE(is_refused) << message;
}

// Few positions in such a matrix, at its ends.
Pattern corners(std::int64_t rows, std::int64_t cols) {
  Pattern pattern{std::to_string(rows) + " x " + std::to_string(cols), rows, cols, {}};
  if (rows == 0 || cols == 0) return pattern;
  pattern.positions = {{rows - 1, cols - 1}, {0, 0}, {rows / 2, cols / 2}, {0, cols - 1}, {0, 0}};
  return pattern;
}

// The huge matrix as the first factor, and as the second factor of a small one.
void sweep(const Pattern& huge, const Pattern& small, const Storage& storage) {
  const Matrix a(huge, storage);
  const Matrix other(small, storage);
  const std::string name = "'" + huge.name + "' as " + storage.name();
  for (const std::uint32_t flags : {std::uint32_t{0}, kBothFlags}) {
    const tnr_sparse_view view = a.view(flags);
    if (tnr_sparse_check(&view) != TNR_STATUS_OK) continue;
    for (const Place& place : places()) {
      // The short sweep takes a hook on one thread, and two threads without one.
      if (!is_long() && (&place - places().data()) % 2 == 0) continue;
      if (place.filled != nullptr) place.filled->set_limit(kMostBytesOfBlock);
      Operands with;
      with.context = place.context;
      with.a = view;
      with.right = other.view(flags);
      with.mask = view;
      for (const Operation& operation : sparse_operations()) run(operation, name, place, with);
      if (huge.rows == 0 || huge.cols == 0) {
        for (const Operation& operation : dense_operations()) run(operation, name, place, with);
      }
      with.a = other.view(flags);
      with.right = with.mask = view;
      for (const Operation& operation : sparse_operations()) {
        const bool is_of_two = operation.function == "tnr_sparse_product" ||
                               operation.function == "tnr_sparse_product_masked" ||
                               operation.function == "tnr_sparse_binary";
        if (is_of_two) run(operation, "one by " + name, place, with);
      }
      if (place.filled != nullptr) place.filled->set_limit(SIZE_MAX);
    }
  }
}

bool fits(std::int64_t extent, tnr_dtype index_dtype) {
  return index_dtype == TNR_DTYPE_I64 || extent <= std::int64_t{1} << 31;
}

TEST(Extents, OfFewEntries) {
  for (const std::int64_t extent : kExtents) {
    for (const tnr_dtype index : kIndexDtypes) {
      if (!fits(extent, index)) continue;
      const Pattern small = corners(3, 3);
      sweep(corners(extent, extent), small, {TNR_SPARSE_FORMAT_COO, index});
      sweep(corners(extent, 3), small, {TNR_SPARSE_FORMAT_COO, index});
      sweep(corners(3, extent), small, {TNR_SPARSE_FORMAT_COO, index});
      sweep(corners(3, extent), small, {TNR_SPARSE_FORMAT_CSR, index});
      sweep(corners(extent, 3), small, {TNR_SPARSE_FORMAT_CSC, index});
      sweep(corners(2, extent / 4), corners(2, 2),
            {TNR_SPARSE_FORMAT_BSR, index, TNR_DTYPE_F32, 2, 4});
    }
  }
}

TEST(Extents, OfNothing) {
  for (const std::int64_t extent : kExtents) {
    const bool is_first_or_last = extent == kExtents[0] || extent == INT64_MAX;
    if (!is_long() && !is_first_or_last && extent != std::int64_t{1} << 60) continue;
    const Pattern small = corners(0, 3);
    sweep(corners(extent, 0), small, {TNR_SPARSE_FORMAT_COO, TNR_DTYPE_I64});
    sweep(corners(0, extent), small, {TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I64});
    sweep(corners(extent, 0), corners(3, 0), {TNR_SPARSE_FORMAT_CSC, TNR_DTYPE_I64});
  }
}

}  // namespace
}  // namespace tenure::sweeps
