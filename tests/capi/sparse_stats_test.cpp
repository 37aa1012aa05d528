// The counters of operations on sparse matrices: bytes of offsets, indices and values.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "counted.hpp"
#include "sparse_arrays.hpp"
#include "sparse_calls.hpp"
#include "tenure/tenure.h"

using tenure::test::added;
using tenure::test::counted;
using tenure::test::Counted;
using tenure::test::csc_model;
using tenure::test::csr_model;
using tenure::test::f32;
using tenure::test::flat_view;
using tenure::test::options_of;
using tenure::test::read;
using tenure::test::SparseArrays;
using tenure::test::SparseModel;
using tenure::test::status_of;

namespace {

// 3 by 4 with five entries: four offsets, and five indices and values, of 4 bytes each.
constexpr std::uint64_t kCsr = 16 + 20 + 20;
constexpr std::uint64_t kCoo = 20 + 20 + 20;
constexpr std::uint64_t kCsc = 20 + 20 + 20;
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
  const tnr_sparse_view_mut a_mut = {a};
  float memory[16] = {1, 0, 1, 1, 1, 1};
  float written[16] = {};
  const tnr_view b = floats({4});
  const tnr_scalar one = f32(1);
  const tnr_scalar zero = f32(0);
};

TEST_F(SparseStats, CountEachFunctionUnderItsOperation) {
  // Columns of it are rows of a matrix that `a` can be multiplied with.
  SparseArrays transposed(csc_model(), TNR_DTYPE_I32);
  tnr_sparse_view& right = transposed.view();
  right.format = TNR_SPARSE_FORMAT_CSR;
  std::swap(right.rows, right.cols);
  // The first element of a matrix of 3 by 3.
  const std::int32_t offsets[] = {0, 1, 1, 1};
  const std::int32_t columns[] = {0};
  tnr_sparse_view square = a;
  square.cols = 3;
  square.major = flat_view(offsets, TNR_DTYPE_I32, {4});
  square.minor = flat_view(columns, TNR_DTYPE_I32, {1});
  square.values = flat_view(columns, TNR_DTYPE_I32, {1});
  const tnr_view dense = floats({3, 4});  // of which five are not 0
  const tnr_sparse_options csr = options_of(TNR_SPARSE_FORMAT_CSR);
  const tnr_sparse_options coo = options_of(TNR_SPARSE_FORMAT_COO);
  const tnr_sparse_options same = options_of(0);
  const tnr_view_mut into = out({3, 4});
  const tnr_view_mut of_rows = out({3});
  const tnr_view_mut of_cols = out({4});
  const tnr_view_mut entries = out({5});
  const tnr_view x = floats({3, 2});
  const tnr_view y = floats({2, 4});
  const tnr_view factors = floats({3});
  const float diagonal[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const tnr_view unit = flat_view(diagonal, TNR_DTYPE_F32, {3, 3});
  double norm = 0;
  const struct {
    tnr_operation operation;
    std::function<tnr_status()> call;
    Counted expected;
  } cases[] = {
      {TNR_OPERATION_SPARSE_FROM_DENSE,
       [&] { return status_of(tnr_sparse_from_dense(nullptr, &dense, &csr)); },
       {1, 48, kCsr}},
      {TNR_OPERATION_SPARSE_FROM_MATMUL,
       [&] { return status_of(tnr_sparse_from_matmul(nullptr, &one, &unit, &dense, nullptr)); },
       {1, 36 + 48, kCsr}},
      {TNR_OPERATION_SPARSE_TO_DENSE,
       [&] { return tnr_sparse_to_dense(nullptr, &a, nullptr, &into); },
       {1, kCsr, 48}},
      {TNR_OPERATION_SPARSE_CONVERT,
       [&] { return status_of(tnr_sparse_convert(nullptr, &a, &coo)); },
       {1, kCsr, kCoo}},
      {TNR_OPERATION_SPARSE_COALESCE,
       [&] { return status_of(tnr_sparse_coalesce(nullptr, TNR_SPARSE_COMBINE_SUM, &a, nullptr)); },
       {1, kCsr, kCsr}},
      {TNR_OPERATION_SPARSE_PRUNE,
       [&] { return status_of(tnr_sparse_prune(nullptr, &a, &same)); },
       {1, kCsr, kCsr}},
      // [[5 0 3], [0 0 0], [3 0 50]]
      {TNR_OPERATION_SPARSE_PRODUCT,
       [&] { return status_of(tnr_sparse_product(nullptr, &a, &right, nullptr)); },
       {1, kCsr + kCsc, 16 + 4 * 8}},
      {TNR_OPERATION_SPARSE_PRODUCT,
       [&] { return status_of(tnr_sparse_product_masked(nullptr, &a, &right, &square, nullptr)); },
       {1, kCsr + kCsc + 16 + 4, 16 + 8}},
      {TNR_OPERATION_SPARSE_CONVERT,
       [&] { return status_of(tnr_sparse_select(nullptr, &a, nullptr, nullptr, nullptr)); },
       {1, kCsr, kCsr}},
      {TNR_OPERATION_SPARSE_CONVERT,
       [&] { return status_of(tnr_sparse_slice(nullptr, &a, 0, 3, 0, 4, nullptr)); },
       {1, kCsr, kCsr}},
      {TNR_OPERATION_SPARSE_CONCAT,
       [&] {
         const tnr_sparse_view* const parts[] = {&a, &a};
         return status_of(tnr_sparse_concat(nullptr, TNR_SPARSE_JOIN_ROWS, parts, 2, nullptr));
       },
       {1, 2 * kCsr, 7 * 4 + 10 * 8}},
      {TNR_OPERATION_SPARSE_KRON,
       [&] { return status_of(tnr_sparse_kron(nullptr, &a, &a, nullptr)); },
       {1, 2 * kCsr, 10 * 4 + 25 * 8}},
      {TNR_OPERATION_SPARSE_TRIANGULAR,
       [&] { return status_of(tnr_sparse_triangular(nullptr, TNR_TRIANGLE_LOWER, &a, nullptr)); },
       {1, kCsr, 16 + 3 * 8}},
      {TNR_OPERATION_SPARSE_FROM_DENSE,
       [&] {
         return status_of(
             tnr_sparse_from_dense_top_k(nullptr, TNR_SPARSE_ORDER_VALUE, &dense, 1, nullptr));
       },
       {1, 48, 16 + 3 * 8}},
      {TNR_OPERATION_SPARSE_FROM_DENSE,
       [&] { return status_of(tnr_sparse_from_dense_dropout(nullptr, &dense, 0, 1, nullptr)); },
       {1, 48, kCsr}},
      {TNR_OPERATION_SPARSE_MATMUL,
       [&] {
         return tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &one, &a, &b, &zero, nullptr,
                                  &of_rows);
       },
       {1, kCsr + 16, 12}},
      {TNR_OPERATION_SPARSE_MATMUL,
       [&] {
         return tnr_sparse_matmul(nullptr, TNR_ORIENTATION_AS_IS, &one, &a, &b, &one, nullptr,
                                  &of_rows);
       },
       {1, kCsr + 16 + 12, 12}},
      {TNR_OPERATION_SPARSE_SDDMM,
       [&] { return tnr_sparse_sddmm(nullptr, &one, &a, &x, &y, nullptr, &entries); },
       {1, kCsr + 24 + 32, kValues}},
      {TNR_OPERATION_SPARSE_BINARY,
       [&] { return status_of(tnr_sparse_binary(nullptr, TNR_BINARY_OP_ADD, &a, &a, nullptr)); },
       {1, 2 * kCsr, kCsr}},
      {TNR_OPERATION_SPARSE_ACCUMULATE,
       [&] { return tnr_sparse_accumulate(nullptr, &a, nullptr, &into); },
       {1, kCsr + 48, 48}},
      {TNR_OPERATION_SPARSE_SCALE,
       [&] { return tnr_sparse_scale(nullptr, &factors, 0, nullptr, &a_mut); },
       {1, kCsr + 12, kValues}},
      {TNR_OPERATION_SPARSE_SOFTMAX,
       [&] { return tnr_sparse_softmax(nullptr, nullptr, &a_mut); },
       {1, kCsr, kValues}},
      {TNR_OPERATION_SPARSE_REDUCE,
       [&] { return tnr_sparse_reduce(nullptr, TNR_REDUCE_OP_SUM, &a, 1, nullptr, &of_cols); },
       {1, kCsr, 16}},
      {TNR_OPERATION_SPARSE_REDUCE,
       [&] { return tnr_sparse_norm(nullptr, TNR_SPARSE_NORM_KIND_ONE, &a, nullptr, &norm); },
       {1, kCsr, 8}},
      {TNR_OPERATION_SPARSE_REDUCE,
       [&] { return tnr_sparse_diagonal(nullptr, &a, nullptr, &of_rows); },
       {1, kCsr, 12}},
  };
  for (const auto& one_case : cases) {
    SCOPED_TRACE(one_case.operation);
    EXPECT_EQ(added(one_case.operation, [&] { EXPECT_EQ(one_case.call(), TNR_STATUS_OK); }),
              one_case.expected);
  }
}

// A function of two by two, in place: nothing is copied first.
TEST_F(SparseStats, CountASolution) {
  SparseArrays identity({.format = TNR_SPARSE_FORMAT_CSR,
                         .rows = 2,
                         .cols = 2,
                         .major = {0, 1, 2},
                         .minor = {0, 1},
                         .values = {1, 1}},
                        TNR_DTYPE_I64);
  const tnr_view_mut x = out({2});
  EXPECT_EQ(counted(TNR_OPERATION_SPARSE_SOLVE,
                    [&] {
                      EXPECT_EQ(tnr_sparse_solve(nullptr, &identity.view(), &x.view, nullptr, &x),
                                TNR_STATUS_OK);
                    }),
            (Counted{1, 24 + 16 + 8 + 8, 8}));
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

  const tnr_sparse_options csr = options_of(TNR_SPARSE_FORMAT_CSR);
  tnr_sparse* const held = tnr_sparse_convert(nullptr, &a, &csr);
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
  const tnr_sparse_options csr = options_of(TNR_SPARSE_FORMAT_CSR);
  EXPECT_EQ(added(TNR_OPERATION_SPARSE_CONVERT,
                  [&] {
                    EXPECT_EQ(status_of(tnr_sparse_convert(nullptr, &blocks.view(), &csr)),
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
  const tnr_sparse_options coo = options_of(TNR_SPARSE_FORMAT_COO);
  tnr_stats_time_start();
  const std::uint64_t dense = read(TNR_OPERATION_SPARSE_TO_DENSE).nanoseconds;
  const std::uint64_t converted = read(TNR_OPERATION_SPARSE_CONVERT).nanoseconds;
  for (int call = 0; call < 100; ++call) {
    EXPECT_EQ(tnr_sparse_to_dense(nullptr, &a, nullptr, &into), TNR_STATUS_OK);
    EXPECT_EQ(status_of(tnr_sparse_convert(nullptr, &a, &coo)), TNR_STATUS_OK);
  }
  tnr_stats_time_stop();
  EXPECT_GT(read(TNR_OPERATION_SPARSE_TO_DENSE).nanoseconds, dense);
  EXPECT_GT(read(TNR_OPERATION_SPARSE_CONVERT).nanoseconds, converted);
}

}  // namespace
