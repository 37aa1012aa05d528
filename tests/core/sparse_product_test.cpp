// The product of two sparse matrices beside its definition, bit by bit.
#include <gtest/gtest.h>

#include <map>

#include "compressed_matrix.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

// Row by row, each sum from 0 on in the order of a's entries.
template <class T, class I>
SparseContent product_of(const CompressedMatrix<T, I>& a, const CompressedMatrix<T, I>& b) {
  CompressedMatrix<T, I> result(a.rows(), b.cols());
  const auto at = [](const auto& array, std::int64_t i) {
    return array[static_cast<std::size_t>(i)];
  };
  for (std::int64_t row = 0; row < a.rows(); ++row) {
    std::map<std::int64_t, T> sums;
    for (std::int64_t k = at(a.offsets(), row); k < at(a.offsets(), row + 1); ++k) {
      const std::int64_t inner = at(a.indices(), k);
      for (std::int64_t i = at(b.offsets(), inner); i < at(b.offsets(), inner + 1); ++i) {
        sums[at(b.indices(), i)] += at(a.values(), k) * at(b.values(), i);
      }
    }
    for (const auto& [col, sum] : sums) result.add(col, sum);
    result.end_row();
  }
  return content_of(result.view());
}

template <class T, class I>
void expect_products() {
  Random random(7);
  const TestContext two(2);
  const TestContext five(5);
  constexpr std::int64_t kSizes[][3] = {{1, 1, 1},   {0, 3, 2},    {3, 0, 2},    {4, 5, 0},
                                        {17, 9, 64}, {40, 70, 33}, {60, 50, 150}};
  for (const auto& [rows, inner, cols] : kSizes) {
    for (const RowShape& a_shape : kRowShapes) {
      for (const RowShape& b_shape : kRowShapes) {
        SCOPED_TRACE(testing::Message() << rows << " by " << inner << " by " << cols << ", "
                                        << a_shape.name << " and " << b_shape.name);
        const auto a = random_matrix<T, I>(a_shape, rows, inner, random);
        const auto b = random_matrix<T, I>(b_shape, inner, cols, random);
        const SparseContent expected = product_of(a, b);
        const tnr_sparse_view a_view = a.view(a_shape.flags);
        const tnr_sparse_view b_view = b.view(b_shape.flags);
        const Returned result(sparse_product(kDefaultContext, a_view, b_view));
        EXPECT_EQ(result.view().flags, kCoalesced);
        EXPECT_EQ(result.view().rows, rows);
        EXPECT_EQ(result.view().cols, cols);
        EXPECT_TRUE(result.content() == expected);
        EXPECT_TRUE(Returned(sparse_product(two, a_view, b_view)).content() == expected);
        EXPECT_TRUE(Returned(sparse_product(five, a_view, b_view)).content() == expected);
        // The transposes, in the other order.
        const Returned transposed(sparse_product(two, b.view(b_shape.flags, TNR_SPARSE_FORMAT_CSC),
                                                 a.view(a_shape.flags, TNR_SPARSE_FORMAT_CSC)));
        EXPECT_EQ(transposed.view().rows, cols);
        EXPECT_TRUE(transposed.content() == expected);
      }
    }
  }
}

TEST(SparseProduct, IsItsDefinition) {
  expect_products<float, std::int32_t>();
  expect_products<double, std::int32_t>();
  expect_products<float, std::int64_t>();
  expect_products<double, std::int64_t>();
}

// Enough for several chunks, buffers that are full, and memory that is reserved.
TEST(SparseProduct, OfManyRowsHasTheSameBitsOnAnyThreads) {
  Random random(9);
  constexpr std::int64_t kSize = 1200;
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[1], kSize, kSize, random);
  auto b = random_matrix<float, std::int32_t>(kRowShapes[0], kSize, kSize, random);
  CompressedMatrix<float, std::int32_t> hubs(kSize, kSize);
  for (std::int64_t row = 0; row < kSize; ++row) {
    const auto columns =
        row % 40 == 7 ? rows::full(row, kSize, random) : rows::few(row, kSize, random);
    for (const std::int64_t col : columns) hubs.add(col, random_value<float>(random));
    hubs.end_row();
  }
  const TestContext three(3);
  for (const auto* right : {&b, &hubs}) {
    const SparseContent expected = product_of(a, *right);
    for (const Context* context : {&kDefaultContext, &static_cast<const Context&>(three)}) {
      const Returned result(sparse_product(*context, a.view(), right->view(kCoalesced)));
      EXPECT_TRUE(result.content() == expected);
    }
  }
}

TEST(SparseProduct, RowRangesMultiply) {
  Random random(11);
  const auto a = random_matrix<double, std::int32_t>(kRowShapes[1], 20, 30, random);
  const auto b = random_matrix<double, std::int32_t>(kRowShapes[1], 50, 40, random);
  tnr_sparse_view a_rows = a.view();
  a_rows.rows = 5;
  a_rows.major = flat_view(a.offsets().data() + 7, TNR_DTYPE_I32, {6});
  tnr_sparse_view b_rows = b.view();
  b_rows.rows = 30;
  b_rows.major = flat_view(b.offsets().data() + 13, TNR_DTYPE_I32, {31});
  const auto range = [](const auto& matrix, std::int64_t first, std::int64_t count) {
    CompressedMatrix<double, std::int32_t> part(count, matrix.cols());
    for (std::int64_t row = first; row < first + count; ++row) {
      const auto at = static_cast<std::size_t>(row);
      for (std::int32_t k = matrix.offsets()[at]; k < matrix.offsets()[at + 1]; ++k) {
        part.add(matrix.indices()[static_cast<std::size_t>(k)],
                 matrix.values()[static_cast<std::size_t>(k)]);
      }
      part.end_row();
    }
    return part;
  };
  EXPECT_TRUE(Returned(sparse_product(kDefaultContext, a_rows, b_rows)).content() ==
              product_of(range(a, 7, 5), range(b, 13, 30)));
}

TEST(SparseProduct, ZerosAndNaNStayEntries) {
  CompressedMatrix<float, std::int32_t> a(1, 2);
  a.add(0, 1.0f);
  a.add(1, -1.0f);
  a.end_row();
  CompressedMatrix<float, std::int32_t> b(2, 3);
  for (int row = 0; row < 2; ++row) {
    b.add(0, 5.0f);
    b.add(2, row == 0 ? NAN : -0.0f);
    b.end_row();
  }
  const Returned result(sparse_product(kDefaultContext, a.view(), b.view(kCoalesced)));
  const auto* const values = static_cast<const float*>(result.view().values.data);
  EXPECT_EQ(result.content().minor, (Indices{0, 2}));
  EXPECT_EQ(values[0], 0.0f);
  EXPECT_TRUE(std::isnan(values[1]));
}

// Flags decide what a result is, never which memory is touched.
TEST(SparseProduct, FalseFlagsTouchNothingElse) {
  Random random(3);
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[1], 60, 60, random);
  const Returned result(sparse_product(kDefaultContext, a.view(kCoalesced), a.view(kCoalesced)));
  EXPECT_EQ(result.view().rows, 60);
}

TEST(SparseProduct, RefusesWhatHasNoProduct) {
  Random random(5);
  const auto product = [](const tnr_sparse_view& a, const tnr_sparse_view& b) {
    sparse_release(sparse_product(kDefaultContext, a, b));
  };
  auto a = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 5, random);
  auto b = random_matrix<float, std::int32_t>(kRowShapes[3], 5, 6, random);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.cols is 5 but b.rows is 4"},
               [&] { product(a.view(), a.view()); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 2 and b.format 3", "convert"},
               [&] { product(a.view(), b.view(0, TNR_SPARSE_FORMAT_CSC)); });
  const auto wide = random_matrix<float, std::int64_t>(kRowShapes[3], 5, 6, random);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b's indices.dtype is i64", "it is i32"},
               [&] { product(a.view(), wide.view()); });
  const auto doubles = random_matrix<double, std::int32_t>(kRowShapes[3], 5, 6, random);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.values.dtype is f64", "a.values.dtype is f32"},
               [&] { product(a.view(), doubles.view()); });
  const auto integers = random_matrix<std::int32_t, std::int32_t>(kRowShapes[3], 4, 4, random);
  expect_error(TNR_STATUS_UNSUPPORTED, {"product does not take i32"},
               [&] { product(integers.view(), integers.view()); });
  b.indices()[7] = 6;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.col_indices[7] is 6", "6"},
               [&] { product(a.view(), b.view()); });
  b.indices()[7] = 0;
  a.offsets()[2] = 4;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.row_offsets[2] is 4 but the one before is 5"},
               [&] { product(a.view(), b.view()); });
  a.offsets()[2] = 10;
  a.indices()[19] = -1;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[19] is -1"},
               [&] { product(a.view(), b.view()); });
}

}  // namespace
