// Compares the product of two sparse matrices at the entries of a third with the whole product.
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "sparse_product_model.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

// The entries of the whole product that the mask has, in its order and as often.
template <class T, class I, class M>
SparseContent masked_product_of(const CompressedMatrix<T, I>& a, const CompressedMatrix<T, I>& b,
                                const CompressedMatrix<M, I>& mask) {
  const SparseContent all = product_of(a, b);
  CompressedMatrix<T, I> result(mask.rows(), mask.cols());
  for (std::size_t row = 0; row < static_cast<std::size_t>(mask.rows()); ++row) {
    std::map<std::int64_t, T> sums;
    for (auto k = static_cast<std::size_t>(all.major[row]);
         k < static_cast<std::size_t>(all.major[row + 1]); ++k) {
      T value;
      std::memcpy(&value, all.values.data() + k * sizeof value, sizeof value);
      sums[all.minor[k]] = value;
    }
    for (auto k = static_cast<std::size_t>(mask.offsets()[row]);
         k < static_cast<std::size_t>(mask.offsets()[row + 1]); ++k) {
      const auto found = sums.find(mask.indices()[k]);
      if (found != sums.end()) result.add(found->first, found->second);
    }
    result.end_row();
  }
  return content_of(result.view());
}

// A mask of `rows` rows, with 60 columns that b has and 60 that it may not have in each row (none
// where b is empty).
template <class T, class I>
CompressedMatrix<T, I> masked_columns(const CompressedMatrix<T, I>& b, std::int64_t rows,
                                      Random& random) {
  CompressedMatrix<T, I> mask(rows, b.cols());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int k = 0; k < 60 && !b.indices().empty(); ++k) {
      mask.add(b.indices()[random() % b.indices().size()], T{1});
      mask.add(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(b.cols())), T{1});
    }
    mask.end_row();
  }
  return mask;
}

template <class T, class I>
void expect_masked_products() {
  Random random(13);
  const TestContext three(3);
  constexpr std::int64_t kSizes[][3] = {{1, 1, 1},   {0, 3, 2},    {3, 0, 2},    {4, 5, 0},
                                        {17, 9, 64}, {40, 70, 33}, {60, 50, 150}};
  for (const auto& [rows, inner, cols] : kSizes) {
    for (const RowShape& shape : kRowShapes) {
      for (const RowShape& mask_shape : kRowShapes) {
        SCOPED_TRACE(testing::Message() << rows << " by " << inner << " by " << cols << ", "
                                        << shape.name << " under " << mask_shape.name);
        const auto a = random_matrix<T, I>(shape, rows, inner, random);
        const auto b = random_matrix<T, I>(kRowShapes[1], inner, cols, random);
        const auto mask = random_matrix<std::int32_t, I>(mask_shape, rows, cols, random);
        const SparseContent expected = masked_product_of(a, b, mask);
        const tnr_sparse_view views[] = {a.view(shape.flags), b.view(),
                                         mask.view(mask_shape.flags)};
        const Returned result(sparse_product_masked(kDefaultContext, views[0], views[1], views[2]));
        EXPECT_EQ(result.view().flags, mask_shape.flags);
        EXPECT_TRUE(result.content() == expected);
        const Returned shared(sparse_product_masked(three, views[0], views[1], views[2]));
        EXPECT_TRUE(shared.content() == expected);
        // The transposes, in the other order.
        const Returned transposed(sparse_product_masked(
            three, b.view(0, TNR_SPARSE_FORMAT_CSC), a.view(shape.flags, TNR_SPARSE_FORMAT_CSC),
            mask.view(mask_shape.flags, TNR_SPARSE_FORMAT_CSC)));
        EXPECT_EQ(transposed.view().rows, cols);
        EXPECT_TRUE(transposed.content() == expected);
      }
    }
  }
}

TEST(SparseProductMasked, IsThePartOfTheProductThatTheMaskHas) {
  expect_masked_products<float, std::int32_t>();
  expect_masked_products<double, std::int64_t>();
}

// Enough for several chunks, buffers that are full, and memory that is reserved.
TEST(SparseProductMasked, OfManyRowsIsTheSameOnAnyThreads) {
  Random random(19);
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[1], 1300, 200, random);
  const auto b = random_matrix<float, std::int32_t>(kRowShapes[1], 200, 180, random);
  const auto mask = random_matrix<float, std::int32_t>(kRowShapes[6], 1300, 180, random);
  const SparseContent expected = masked_product_of(a, b, mask);
  for (const std::uint32_t threads : {1u, 2u, 5u}) {
    const TestContext context(threads);
    const Returned result(
        sparse_product_masked(context, a.view(), b.view(), mask.view(kCoalesced)));
    EXPECT_TRUE(result.content() == expected);
  }
}

// Too many for a map of all, and few of them wanted.
TEST(SparseProductMasked, OfManyColumnsIsThePartThatTheMaskHas) {
  Random random(23);
  constexpr std::int64_t kCols = 100'000;
  const auto a = random_matrix<float, std::int32_t>(kRowShapes[1], 70, 40, random);
  const auto b = random_matrix<float, std::int32_t>(kRowShapes[0], 40, kCols, random);
  auto mask = masked_columns(b, 70, random);
  const Returned result(sparse_product_masked(kDefaultContext, a.view(), b.view(), mask.view()));
  EXPECT_TRUE(result.content() == masked_product_of(a, b, mask));
  EXPECT_GT(result.view().minor.shape[0], 0);
}

// More columns than there is memory.
TEST(SparseProductMasked, TakesWhatTheMaskNeeds) {
  Random random(17);
  constexpr std::int64_t kCols = INT64_MAX - 1;
  const auto columns = [&](std::int64_t row) {
    return rows::Columns{row, kCols / 2 + row % 7, kCols - 1 - row % 5};
  };
  const auto a = random_matrix<double, std::int64_t>(kRowShapes[1], 60, 50, random);
  const auto b = matrix_of<double, std::int64_t>(50, kCols, columns, random);
  const auto mask = matrix_of<double, std::int64_t>(60, kCols, columns, random);
  const Returned result(
      sparse_product_masked(kDefaultContext, a.view(), b.view(), mask.view(kCoalesced)));
  EXPECT_TRUE(result.content() == masked_product_of(a, b, mask));
  EXPECT_GT(result.view().minor.shape[0], 0);
}

TEST(SparseProductMasked, RefusesWhatDoesNotFitTogether) {
  Random random(5);
  const auto product = [](const tnr_sparse_view& a, const tnr_sparse_view& b,
                          const tnr_sparse_view& mask) {
    sparse_release(sparse_product_masked(kDefaultContext, a, b, mask));
  };
  const auto matrix = [&](std::int64_t rows, std::int64_t cols) {
    return random_matrix<float, std::int32_t>(kRowShapes[3], rows, cols, random);
  };
  const auto a = matrix(4, 5);
  const auto b = matrix(5, 6);
  auto mask = matrix(4, 6);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.cols is 5 but b.rows is 4"},
               [&] { product(a.view(), a.view(), mask.view()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"mask.rows is 5 but a.rows is 4"},
               [&] { product(a.view(), b.view(), b.view()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"mask.cols is 5 but b.cols is 6"},
               [&] { product(a.view(), b.view(), a.view()); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 2, b.format 2 and mask.format 3", "convert"},
               [&] { product(a.view(), b.view(), mask.view(0, TNR_SPARSE_FORMAT_CSC)); });
  const auto wide = random_matrix<float, std::int64_t>(kRowShapes[3], 4, 6, random);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"mask's indices.dtype is i64", "it is i32"},
               [&] { product(a.view(), b.view(), wide.view()); });
  const auto integers = random_matrix<std::int32_t, std::int32_t>(kRowShapes[3], 4, 4, random);
  expect_error(TNR_STATUS_UNSUPPORTED, {"product does not take i32"},
               [&] { product(integers.view(), integers.view(), integers.view()); });
  mask.indices()[7] = 6;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"mask.col_indices[7] is 6"},
               [&] { product(a.view(), b.view(), mask.view()); });
}

}  // namespace
