// Compares products with a sparse result with the product and then the conversion.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "memory/memory.hpp"
#include "sparse_arrays.hpp"
#include "tenure/counters.hpp"
#include "tenure/ops.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

using Attributes = tnr_sparse_from_matmul_attributes;

// Factors of floats in eighths, whose sums have zeros and both signs.
Array& filled(Array& array, Random& random) {
  const tnr_dtype dtype = array.view().dtype;
  const bool is_pair = dtype == TNR_DTYPE_C64;
  const tnr_dtype part = is_pair ? TNR_DTYPE_F32 : dtype;
  const std::size_t width = element_size(part);
  for (const NamedType& type : kTypes) {
    if (type.dtype != part) continue;
    for (Byte* const element : array.elements()) {
      for (std::size_t at = 0; at < element_size(dtype); at += width) {
        const double value = static_cast<double>(random() % 9) / (is_float(type.type) ? 8 : 1);
        const double number = random() % 2 == 0 || type.type == Type::kU8 ? value : -value;
        Byte bytes[8];
        std::memcpy(bytes, &number, sizeof number);
        kernels::reference::cast(Type::kF64, bytes, type.type, element + at);
      }
    }
  }
  return array;
}

tnr_dtype result_of(tnr_dtype dtype) {
  return dtype == TNR_DTYPE_I8 || dtype == TNR_DTYPE_U8 ? tnr_dtype{TNR_DTYPE_I32} : dtype;
}

// The product in memory, and then its entries.
SparseContent plain(const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b,
                    const Attributes& attributes) {
  Random random(1);
  Array dense(result_of(a.dtype), {a.shape[0], b.shape[1]}, Arrangement::kRowMajor, random);
  matmul(kDefaultContext, alpha, a, b, scalar_of<std::uint8_t>(TNR_DTYPE_U8, 0), dense.out(),
         {.struct_size = 0,
          .bias = attributes.bias,
          .activation = attributes.activation,
          .flags = 0,
          .low = 0,
          .high = 0});
  SparseOptions options = options_of(TNR_SPARSE_FORMAT_CSR);
  options.index_dtype = attributes.index_dtype;
  options.predicate = attributes.predicate;
  options.flags = attributes.flags;
  options.threshold = attributes.threshold;
  return Returned(sparse_from_dense(kDefaultContext, dense.view(), options)).content();
}

const tnr_scalar kOne = scalar_of<std::uint8_t>(TNR_DTYPE_U8, 1);

TEST(SparseFromMatmul, IsTheProductConverted) {
  Random random(1);
  const TestContext two(2);
  constexpr std::int64_t kExtents[][3] = {{1, 1, 1},   {7, 9, 5},   {33, 40, 65}, {0, 5, 3},
                                          {5, 0, 3},   {5, 7, 0},   {0, 0, 0},    {130, 70, 600},
                                          {1, 500, 3}, {600, 1, 20}};
  for (const tnr_dtype dtype : {TNR_DTYPE_F32, TNR_DTYPE_F64, TNR_DTYPE_F16, TNR_DTYPE_BF16,
                                TNR_DTYPE_I8, TNR_DTYPE_U8, TNR_DTYPE_C64}) {
    const tnr_dtype result = result_of(dtype);
    for (const auto& [rows, columns, depth] : kExtents) {
      for (int i = 0; i < 6; ++i) {
        Array a(dtype, {rows, depth}, kReadable[random() % std::size(kReadable)], random);
        Array b(dtype, {depth, columns}, kReadable[random() % std::size(kReadable)], random);
        Array bias(result, {columns}, Arrangement::kGaps, random);
        filled(a, random);
        filled(b, random);
        filled(bias, random);
        Attributes with = {};
        if (random() % 2 == 0) with.bias = &bias.view();
        if (dtype != TNR_DTYPE_C64) {
          if (random() % 2 == 0) with.activation = TNR_UNARY_OP_RELU;
          with.predicate = static_cast<tnr_sparse_predicate>(random() % 3);
          if (with.predicate != TNR_SPARSE_PREDICATE_NON_ZERO) {
            with.threshold = scalar_of<std::int8_t>(TNR_DTYPE_I8, static_cast<std::int8_t>(i % 3));
          }
        }
        if (random() % 2 == 0) with.index_dtype = TNR_DTYPE_I64;
        if (with.predicate == TNR_SPARSE_PREDICATE_NON_ZERO && random() % 3 == 0) {
          with.flags = TNR_FROM_DENSE_KEEP_NEGATIVE_ZERO;
        }
        const tnr_scalar alpha = scalar_of<std::int8_t>(TNR_DTYPE_I8, i % 2 == 0 ? 1 : -2);
        const Returned matrix(sparse_from_matmul(i % 2 == 0 ? two : kDefaultContext, alpha,
                                                 a.view(), b.view(), with));
        EXPECT_TRUE(matrix.content() == plain(alpha, a.view(), b.view(), with))
            << describe(a.view()) << " by " << describe(b.view()) << ", predicate "
            << with.predicate << ", flags " << with.flags;
        EXPECT_EQ(matrix.view().format, TNR_SPARSE_FORMAT_CSR);
        EXPECT_EQ(matrix.view().flags, TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE);
        EXPECT_EQ(matrix.view().minor.dtype,
                  with.index_dtype == 0 ? tnr_dtype{TNR_DTYPE_I32} : with.index_dtype);
        EXPECT_EQ(matrix.view().rows, rows);
        EXPECT_EQ(matrix.view().cols, columns);
      }
    }
  }
}

// More rows than are there at a time, in memory that grows, or is refused that and counted first.
TEST(SparseFromMatmul, TakesBlocksOfRows) {
  Random random(2);
  constexpr std::int64_t kRows = 1300;
  constexpr std::int64_t kColumns = 4200;
  for (const std::int64_t depth : {0, 3, 40}) {
    Array a(TNR_DTYPE_F32, {kRows, depth}, Arrangement::kColumnMajor, random);
    Array b(TNR_DTYPE_F32, {depth, kColumns}, Arrangement::kRowMajor, random);
    Array bias(TNR_DTYPE_F32, {kColumns}, Arrangement::kRowMajor, random);
    filled(a, random);
    filled(b, random);
    filled(bias, random);
    Attributes with = {};
    with.bias = &bias.view();
    with.activation = TNR_UNARY_OP_RELU;
    const SparseContent expected = plain(kOne, a.view(), b.view(), with);
    for (const unsigned threads : {1u, 2u, 3u}) {
      const TestContext context(threads);
      const Returned matrix(sparse_from_matmul(context, kOne, a.view(), b.view(), with));
      EXPECT_TRUE(matrix.content() == expected) << depth << ", threads " << threads;
    }
  }
}

// All floats of `a` except one are negative, so that relu leaves one row: the result takes only the
// memory of its entries.
TEST(SparseFromMatmul, TakesNoMemoryForADenseResult) {
  Random random(3);
  constexpr std::int64_t kRows = 3000;
  constexpr std::int64_t kColumns = 2100;
  Array a(TNR_DTYPE_F32, {kRows, 1}, Arrangement::kRowMajor, random);
  Array b(TNR_DTYPE_F32, {1, kColumns}, Arrangement::kRowMajor, random);
  for (Byte* const element : a.elements()) {
    const float value = element == a.elements().front() ? 1 : -1;
    std::memcpy(element, &value, sizeof value);
  }
  for (Byte* const element : b.elements()) {
    const float value = 2;
    std::memcpy(element, &value, sizeof value);
  }
  Attributes with = {};
  with.activation = TNR_UNARY_OP_RELU;
  tnr_stats before{};
  before.struct_size = sizeof before;
  ASSERT_EQ(tnr_stats_read(&before), TNR_STATUS_OK);
  const Returned matrix(sparse_from_matmul(kDefaultContext, kOne, a.view(), b.view(), with));
  tnr_stats after = before;
  ASSERT_EQ(tnr_stats_read(&after), TNR_STATUS_OK);
  EXPECT_EQ(after.copied_bytes, before.copied_bytes);
  EXPECT_EQ(after.allocated_bytes - before.allocated_bytes, (kRows + 1 + 2 * kColumns) * 4u);
  EXPECT_EQ(blob_memory(matrix.view().values.owner).size_bytes, kColumns * 4u);
}

// ---- refusals -----------------------------------------------------------------------------------

struct RefusedFromMatmul : testing::Test {
  Random random{4};
  Array a{TNR_DTYPE_F32, {2, 3}, Arrangement::kRowMajor, random};
  Array b{TNR_DTYPE_F32, {3, 4}, Arrangement::kRowMajor, random};

  static void expect(tnr_status status, std::initializer_list<std::string> words,
                     const tnr_view& left, const tnr_view& right, const Attributes& with = {},
                     const tnr_scalar& alpha = kOne) {
    expect_error(status, words, [&] {
      static_cast<void>(sparse_from_matmul(kDefaultContext, alpha, left, right, with));
    });
  }
};

TEST_F(RefusedFromMatmul, ShapesAndDtypes) {
  const Array line(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"a.rank is 1 but must be 2"}, line.view(), b.view());
  expect(TNR_STATUS_INVALID_ARGUMENT, {"b.rank is 1 but must be 2"}, a.view(), line.view());
  expect(TNR_STATUS_INVALID_ARGUMENT,
         {"b.shape[0] is 2 but must be 3", "a has shape [2, 3], b [2, 3]"}, a.view(), a.view());
  const Array integers(TNR_DTYPE_I32, {2, 3}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_UNSUPPORTED, {"matmul does not take i32"}, integers.view(), b.view());
  const Array f64(TNR_DTYPE_F64, {3, 4}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype is f64", "a.dtype is f32"}, a.view(), f64.view());
  const Array c128(TNR_DTYPE_C128, {3, 3}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_UNSUPPORTED, {"from matmul does not take c128"}, c128.view(), c128.view());
}

TEST_F(RefusedFromMatmul, Attributes) {
  tnr_sparse_from_matmul_attributes with = {};
  with.predicate = TNR_SPARSE_PREDICATE_MASK;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->predicate is MASK"}, a.view(), b.view(), with);
  with.predicate = 7;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->predicate is 7"}, a.view(), b.view(), with);
  with = {};
  with.flags = 6;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->flags is 0x6"}, a.view(), b.view(), with);
  with = {};
  with.index_dtype = TNR_DTYPE_U32;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->index_dtype is u32"}, a.view(), b.view(), with);
  with = {};
  with.predicate = TNR_SPARSE_PREDICATE_GREATER;
  with.threshold = scalar_of(TNR_DTYPE_F64, std::nan(""));
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->threshold is NaN"}, a.view(), b.view(), with);
  with = {};
  with.activation = 1000;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->activation is 1000"}, a.view(), b.view(), with);
  with = {};
  const Array bias(TNR_DTYPE_F32, {3}, Arrangement::kRowMajor, random);
  with.bias = &bias.view();
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->bias has shape [3]"}, a.view(), b.view(), with);
  // Also where there is nothing to compute.
  const Array none(TNR_DTYPE_F32, {0, 3}, Arrangement::kRowMajor, random);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->bias has shape [3]"}, none.view(), b.view(),
         with);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"alpha"}, a.view(), b.view(), {},
         scalar_of(TNR_DTYPE_F64, 1e300));
}

// One number is repeated to any extent.
TEST_F(RefusedFromMatmul, MoreThanIndicesOrMemoryCount) {
  float number = 1;
  const auto huge = [&](std::int64_t rows, std::int64_t columns) {
    return view_of(&number, sizeof number, 0, TNR_DTYPE_F32, {{rows, 0}, {columns, 0}});
  };
  constexpr std::int64_t kFar = std::int64_t{1} << 40;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"use i64 indices"}, huge(1, 1), huge(1, kFar));
  tnr_sparse_from_matmul_attributes with = {};
  with.index_dtype = TNR_DTYPE_I64;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"more elements than 64 bits count"}, huge(kFar, 1),
         huge(1, kFar), with);
  expect(TNR_STATUS_OUT_OF_MEMORY, {}, huge(2, 1), huge(1, TNR_MAX_ELEMENTS / 2), with);
}

}  // namespace
