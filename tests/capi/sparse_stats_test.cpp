// The counters of operations on sparse matrices: bytes of offsets, indices and values.
#include <gtest/gtest.h>

#include <cstring>

#include "counted.hpp"
#include "sparse_arrays.hpp"
#include "sparse_calls.hpp"
#include "sparse_functions.hpp"
#include "tenure/tenure.h"

using tenure::test::added;
using tenure::test::bytes_of;
using tenure::test::counted;
using tenure::test::Counted;
using tenure::test::csr_model;
using tenure::test::f32;
using tenure::test::flat_view;
using tenure::test::read;
using tenure::test::sparse_functions;
using tenure::test::SparseArrays;
using tenure::test::SparseFunction;
using tenure::test::SparseOperands;
using tenure::test::status_of;
using tenure::test::thirds;

namespace {

// 3 by 4 with five entries: four offsets, and five indices and values, of 4 bytes each.
constexpr std::uint64_t kCsr = 16 + 20 + 20;
constexpr std::uint64_t kValues = 20;

class SparseStats : public testing::Test {
 protected:
  tnr_view floats(std::vector<std::int64_t> shape) const {
    return flat_view(memory, TNR_DTYPE_F32, std::move(shape));
  }
  tnr_view_mut out(std::vector<std::int64_t> shape) {
    return {flat_view(written, TNR_DTYPE_F32, std::move(shape))};
  }

  SparseArrays arrays{csr_model(), TNR_DTYPE_I32};
  const tnr_sparse_view& a = arrays.view();
  float memory[16] = {1, 0, 1, 1, 1, 1};
  float written[16] = {};
  const tnr_view b = floats({4});
  const tnr_scalar one = f32(1);
  const tnr_scalar zero = f32(0);
};

// A call reads its operands once and writes its result once. One without a result reads nothing.
TEST(SparseFunctions, CountUnderTheirOperations) {
  SparseArrays square(thirds(TNR_SPARSE_FORMAT_CSR, 4, 4), TNR_DTYPE_I32);
  for (const SparseFunction& function : sparse_functions()) {
    SCOPED_TRACE(function.name());
    SparseOperands with(square.view());
    const Counted actual = added(function.operation, [&] {
      EXPECT_EQ(function(nullptr, &square.view(), with), TNR_STATUS_OK);
    });
    if (function.has(SparseFunction::kAll)) with.read_bytes += bytes_of(square.view());
    const std::uint64_t read_bytes = with.written_bytes == 0 ? 0 : with.read_bytes;
    EXPECT_EQ(actual, (Counted{1, read_bytes, with.written_bytes}));
  }
}

TEST_F(SparseStats, CountPackedMatricesApart) {
  tnr_packed* packed = nullptr;
  constexpr std::uint64_t kBitmap = 4 * 8 + 3 * 8 + 5 * 4;  // offsets, a word for each row, values
  EXPECT_EQ(
      added(TNR_OPERATION_SPARSE_PACK, [&] { packed = tnr_packed_create(nullptr, &a, nullptr); }),
      (Counted{1, kCsr, kBitmap}));
  ASSERT_NE(packed, nullptr);
  const tnr_view_mut of_rows = out({3});
  const auto product = [&](const tnr_scalar& beta) {
    return counted(TNR_OPERATION_SPARSE_PACKED_MATMUL, [&] {
      EXPECT_EQ(tnr_packed_matmul(nullptr, &one, packed, &b, &beta, nullptr, &of_rows),
                TNR_STATUS_OK);
    });
  };
  EXPECT_EQ(product(zero), (Counted{1, kBitmap + 16, 12}));
  EXPECT_EQ(product(one), (Counted{1, kBitmap + 16 + 12, 12}));
  EXPECT_EQ(tnr_packed_release(packed), TNR_STATUS_OK);
}

// Operations inside another one count under their own names too.
TEST_F(SparseStats, CountOperationsInsideOperations) {
  const std::uint64_t casts = read(TNR_OPERATION_CAST).calls;
  EXPECT_EQ(added(TNR_OPERATION_SPARSE_PRUNE,
                  [&] {
                    EXPECT_EQ(status_of(tnr_sparse_top_k(nullptr, TNR_SPARSE_ORDER_VALUE, &a, 1,
                                                         nullptr)),
                              TNR_STATUS_OK);
                  }),
            (Counted{1, kCsr, 16 + 2 * 8}));
  EXPECT_EQ(read(TNR_OPERATION_CAST).calls, casts + 1);

  tnr_sparse* const held = tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSR, &a, nullptr);
  tnr_sparse_view view{};
  view.struct_size = sizeof view;
  ASSERT_EQ(tnr_sparse_view_of(held, &view), TNR_STATUS_OK);
  EXPECT_EQ(counted(TNR_OPERATION_UNARY,
                    [&] {
                      EXPECT_EQ(
                          status_of(tnr_sparse_unary(nullptr, TNR_UNARY_OP_NEG, &view, nullptr)),
                          TNR_STATUS_OK);
                    }),
            (Counted{1, kValues, kValues}));
  tnr_sparse_release(held);
}

TEST_F(SparseStats, CountTheRowsOfAView) {
  tnr_sparse_view last = a;  // whose three entries are those of the last row
  last.rows = 1;
  last.major = flat_view(arrays.major() + 8, TNR_DTYPE_I32, {2});
  const tnr_view_mut of_row = out({1});
  EXPECT_EQ(counted(TNR_OPERATION_SPARSE_MATMUL,
                    [&] {
                      EXPECT_EQ(tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &one, &last, &b,
                                                  &zero, nullptr, &of_row),
                                TNR_STATUS_OK);
                    }),
            (Counted{1, 8 + 3 * 8 + 16, 4}));
}

TEST_F(SparseStats, CountBlocks) {
  SparseArrays blocks(tenure::test::bsr_model(), TNR_DTYPE_I32);
  EXPECT_EQ(added(TNR_OPERATION_SPARSE_CONVERT,
                  [&] {
                    EXPECT_EQ(status_of(tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_CSR,
                                                           &blocks.view(), nullptr)),
                              TNR_STATUS_OK);
                  }),
            (Counted{1, 12 + 12 + 72, 20 + 18 * 8}));
}

TEST_F(SparseStats, CountNoByteWhereThereIsNothingToDoAndNoCallThatFails) {
  const tnr_view no_columns = floats({4, 0});
  const tnr_view_mut nothing = out({3, 0});
  EXPECT_EQ(counted(TNR_OPERATION_SPARSE_MATMUL,
                    [&] {
                      EXPECT_EQ(tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &one, &a,
                                                  &no_columns, &zero, nullptr, &nothing),
                                TNR_STATUS_OK);
                    }),
            (Counted{1, 0, 0}));
  const std::int32_t far = 4;
  std::memcpy(arrays.minor() + 16, &far, sizeof far);
  const tnr_view_mut of_rows = out({3});
  EXPECT_EQ(counted(TNR_OPERATION_SPARSE_MATMUL,
                    [&] {
                      EXPECT_EQ(tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &one, &a, &b,
                                                  &zero, nullptr, &of_rows),
                                TNR_STATUS_INVALID_ARGUMENT);
                    }),
            (Counted{0, 0, 0}));
}

TEST_F(SparseStats, TakeTime) {
  const tnr_view_mut into = out({3, 4});
  tnr_stats_time_start();
  const std::uint64_t dense = read(TNR_OPERATION_SPARSE_TO_DENSE).nanoseconds;
  const std::uint64_t converted = read(TNR_OPERATION_SPARSE_CONVERT).nanoseconds;
  for (int call = 0; call < 100; ++call) {
    EXPECT_EQ(tnr_sparse_to_dense(nullptr, &a, nullptr, &into), TNR_STATUS_OK);
    EXPECT_EQ(status_of(tnr_sparse_convert(nullptr, TNR_SPARSE_FORMAT_COO, &a, nullptr)),
              TNR_STATUS_OK);
  }
  tnr_stats_time_stop();
  EXPECT_GT(read(TNR_OPERATION_SPARSE_TO_DENSE).nanoseconds, dense);
  EXPECT_GT(read(TNR_OPERATION_SPARSE_CONVERT).nanoseconds, converted);
}

}  // namespace
