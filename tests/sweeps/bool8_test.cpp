// In a byte of bool8 any value except 0 is true. Every operation, on operands whose true bytes are
// 2, 3, 128 and 255 too: the same bytes come out as where they are 1, and results of bool8 are 0 or
// 1. The rule is in one place: a function that is no operation keeps the bytes that it is lent, and
// is named.
#include <gtest/gtest.h>

#include <set>

#include "sweep.hpp"

namespace tenure::sweeps {
namespace {

// A handle, or a view, over the bytes that were lent; and operations that leave elements of the
// output untouched (they write 0 or 1: core/dense/movement/indexed_test.cpp).
const std::set<std::string> kKeepBytes = {"tnr_sparse_create", "tnr_sparse_batch_at", "tnr_put",
                                          "tnr_scatter"};
// Checks write nothing, and their answer has the operand itself.
const std::set<std::string> kWriteNothing = {"tnr_sparse_check", "tnr_sparse_check_mut"};

const std::set<std::string> kGiveOtherDtypes = {"tnr_reduce", "tnr_cast", "tnr_nonzero"};

bool keeps_bytes(const Operation& operation) {
  return kKeepBytes.count(operation.function) + kWriteNothing.count(operation.function) != 0;
}

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR};

// A matrix of bool8, whose true bytes are what Truths says while it is made.
Subject subject_of(const Pattern& pattern, tnr_sparse_format format, tnr_dtype dtype) {
  const std::int64_t block = format == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
  return {pattern, {format, TNR_DTYPE_I32, dtype, block, block}};
}

void sweep(const std::vector<Operation>& operations, const Pattern& pattern,
           tnr_sparse_format format, tnr_dtype dtype) {
  const Subject plain = subject_of(pattern, format, dtype);
  const Truths are_wild(Truths::kWild);
  const Subject wild = subject_of(pattern, format, dtype);
  std::size_t turn = 0;
  for (const Operation& operation : operations) {
    if (keeps_bytes(operation)) continue;
    const Place& place = places()[turn++ % places().size()];
    const std::string name = wild.name(plain.true_flags());
    announce(name, operation, place);
    SCOPED_TRACE(operation.name() + " of " + name + ", " + place.name);
    const Answer of_wild = operation(wild.operands(place, plain.true_flags()));
    expect_sound(of_wild);
    // The dense operands too are made anew.
    const Truths are_plain(Truths::kOne);
    const Answer of_plain = operation(plain.operands(place, plain.true_flags()));
    EXPECT_EQ(difference(of_wild, of_plain), "") << "(of wild bytes, of 0 and 1)";
    if (dtype != TNR_DTYPE_BOOL8) continue;
    for (const Part& part : of_wild.parts) {
      if (part.name != "values" && part.name != "out") continue;
      if (kGiveOtherDtypes.count(operation.function) != 0) continue;
      for (const Byte byte : part.bytes) ASSERT_LE(byte, 1) << part.name;
    }
  }
}

TEST(Bool8, OfSparseMatrices) {
  for (const Pattern& pattern : small_patterns()) {
    for (const tnr_sparse_format format : kFormats) {
      sweep(sparse_operations(), pattern, format, TNR_DTYPE_BOOL8);
      sweep(sparse_operations(), coalesced(pattern, format), format, TNR_DTYPE_BOOL8);
    }
  }
}

TEST(Bool8, OfLargeMatrices) {
  for (const Pattern& pattern : large_patterns()) {
    for (const tnr_sparse_format format : kFormats) {
      if (!takes(pattern, format) || (pattern.format != 0 && !is_long())) continue;
      sweep(sparse_operations(), coalesced(pattern, format), format, TNR_DTYPE_BOOL8);
    }
  }
}

// With every dtype, since masks and conditions are bool8 wherever the elements are not.
TEST(Bool8, OfDenseOperands) {
  const Pattern shape{"dense", 37, 53, {{0, 0}}};
  for (const Constant& dtype : dtypes()) {
    sweep(dense_operations(), shape, TNR_SPARSE_FORMAT_COO, static_cast<tnr_dtype>(dtype.value));
    sweep(sparse_operations(), shape, TNR_SPARSE_FORMAT_CSR, static_cast<tnr_dtype>(dtype.value));
  }
}

}  // namespace
}  // namespace tenure::sweeps
