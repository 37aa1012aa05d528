// Compares the product of two sparse matrices with its definition, bit by bit.
#include <gtest/gtest.h>

#include <cmath>

#include "expect_error.hpp"
#include "sparse_product_model.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

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

// Columns of a row of a grid's matrix: itself and its neighbours, up to `steps` steps away.
rows::Columns neighbours(std::int64_t row, std::int64_t side, std::int64_t steps) {
  const std::int64_t x = row % side;
  const std::int64_t y = row / side % side;
  const std::int64_t z = row / side / side;
  const auto ends = [=](std::int64_t at) {
    return std::pair(std::max<std::int64_t>(at - 1, 0), std::min(at + 1, side - 1));
  };
  rows::Columns columns;
  for (std::int64_t k = ends(z).first; k <= ends(z).second; ++k) {
    for (std::int64_t j = ends(y).first; j <= ends(y).second; ++j) {
      for (std::int64_t i = ends(x).first; i <= ends(x).second; ++i) {
        if (std::abs(k - z) + std::abs(j - y) + std::abs(i - x) <= steps) {
          columns.push_back((k * side + j) * side + i);
        }
      }
    }
  }
  return columns;
}

template <class T, class I>
void expect_product(const CompressedMatrix<T, I>& a, const CompressedMatrix<T, I>& b,
                    std::uint32_t flags) {
  const SparseContent expected = product_of(a, b);
  const TestContext three(3);
  EXPECT_TRUE(Returned(sparse_product(kDefaultContext, a.view(flags), b.view(flags))).content() ==
              expected);
  EXPECT_TRUE(Returned(sparse_product(three, a.view(flags), b.view(flags))).content() == expected);
}

// Rows that are the row before, moved along or not: stencils of 7 and 27 points, whose rows at the
// sides differ; triples of equal rows; what the first of them has twice, or not in order.
template <class T, class I>
void expect_repeated_rows() {
  Random random(21);
  constexpr std::int64_t kSide = 9;
  constexpr std::int64_t kRows = kSide * kSide * kSide;
  for (const std::int64_t steps : {1, 3}) {
    const auto grid = matrix_of<T, I>(
        kRows, kRows, [=](std::int64_t row) { return neighbours(row, kSide, steps); }, random);
    expect_product(grid, grid, kCoalesced);
    expect_product(grid, grid, 0);
  }
  const auto triples = matrix_of<T, I>(
      300, 300,
      [](std::int64_t row) {
        rows::Columns columns;
        for (std::int64_t col = std::max<std::int64_t>(row / 3 * 3 - 3, 0);
             col < std::min<std::int64_t>(row / 3 * 3 + 6, 300); ++col) {
          columns.push_back(col);
        }
        return columns;
      },
      random);
  expect_product(triples, triples, kCoalesced);
  const auto unsorted = matrix_of<T, I>(
      200, 240, [](std::int64_t row) { return rows::Columns{row + 30, row, row + 7, row + 2}; },
      random);
  const auto twice = matrix_of<T, I>(
      240, 250, [](std::int64_t row) { return rows::Columns{row, row + 9, row + 9, row + 1}; },
      random);
  expect_product(unsorted, twice, 0);
  const auto diagonal =
      matrix_of<T, I>(200, 240, [](std::int64_t row) { return rows::Columns{row}; }, random);
  expect_product(diagonal, twice, 0);
  // Rows of `a` with the same pattern, and rows of b that are all different, or sometimes empty.
  const auto wild = random_matrix<T, I>(kRowShapes[1], 240, 260, random);
  expect_product(unsorted, wild, 0);
  const auto few = random_matrix<T, I>(kRowShapes[0], 240, 260, random);
  expect_product(unsorted, few, 0);
  // Rows of b that are longer than a vector.
  const auto long_rows = matrix_of<T, I>(
      240, 300,
      [](std::int64_t row) {
        rows::Columns columns;
        for (std::int64_t i = 0; i < 37; ++i) columns.push_back(row + i + i % 3 * 5);
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        return columns;
      },
      random);
  expect_product(unsorted, long_rows, 0);
}

TEST(SparseProduct, RowsThatRepeatAreSummedAlike) {
  expect_repeated_rows<float, std::int32_t>();
  expect_repeated_rows<double, std::int32_t>();
  expect_repeated_rows<float, std::int64_t>();
  expect_repeated_rows<double, std::int64_t>();
}

// Each product is added only to its own sum, though others are computed together with it.
TEST(SparseProduct, OfRowsThatRepeatKeepsInfinityAndNaNApart) {
  CompressedMatrix<double, std::int32_t> a(40, 44);
  for (std::int64_t row = 0; row < 40; ++row) {
    for (const std::int64_t col : {row, row + 2, row + 4}) {
      a.add(col, row == 30 && col == 32 ? INFINITY : row == 35 && col == 35 ? NAN : 1.0);
    }
    a.end_row();
  }
  Random random(2);
  const auto b = matrix_of<double, std::int32_t>(
      44, 60, [](std::int64_t row) { return rows::Columns{row, row + 1, row + 8}; }, random);
  const Returned result(sparse_product(kDefaultContext, a.view(), b.view(kCoalesced)));
  const auto* const values = static_cast<const double*>(result.view().values.data);
  const SparseContent content = result.content();
  for (std::int64_t row : {30, 35}) {
    const std::int64_t odd = row == 30 ? 32 : 35;
    for (auto k = content.major[static_cast<std::size_t>(row)];
         k < content.major[static_cast<std::size_t>(row) + 1]; ++k) {
      const std::int64_t col = content.minor[static_cast<std::size_t>(k)];
      const bool is_reached = col == odd || col == odd + 1 || col == odd + 8;
      EXPECT_EQ(std::isfinite(values[k]), !is_reached) << row << ", " << col;
    }
  }
}

// So many columns that a place for each is not taken: for i64 more than any memory has.
template <class T, class I>
void expect_wide_products(std::int64_t cols) {
  Random random(31);
  const auto scattered = [&](std::int64_t count) {
    rows::Columns columns;
    for (std::int64_t i = 0; i < count; ++i) {
      columns.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols)));
    }
    return columns;
  };
  const auto a = random_matrix<T, I>(kRowShapes[1], 90, 50, random);
  // Up to 39 times 40 products, many of them in the same place.
  const auto b = matrix_of<T, I>(
      50, cols,
      [&](std::int64_t row) {
        auto columns = scattered(row % 5 == 0 ? 40 : row % 4);
        for (std::int64_t& col : columns) col = random() % 3 == 0 ? cols - 1 - col % 50 : col;
        return columns;
      },
      random);
  expect_product(a, b, 0);
  const auto shifted = matrix_of<T, I>(
      300, 310, [](std::int64_t row) { return rows::Columns{row, row + 3, row + 7}; }, random);
  const auto band = matrix_of<T, I>(
      310, cols,
      [=](std::int64_t row) { return rows::Columns{row, cols / 2 + row, cols - 310 + row}; },
      random);
  expect_product(shifted, band, kCoalesced);
}

TEST(SparseProduct, OfMillionsOfColumnsTakesWhatItsRowsNeed) {
  expect_wide_products<float, std::int32_t>(3'000'000);
  expect_wide_products<double, std::int32_t>(INT32_MAX);
  expect_wide_products<float, std::int64_t>(std::int64_t{1} << 40);
  expect_wide_products<double, std::int64_t>(INT64_MAX - 1);
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
  for (const std::int64_t size : {10, 60, 250}) {
    // Among them rows that look like runs by their first column, last column and count.
    const auto a = matrix_of<float, std::int32_t>(
        size, size,
        [&](std::int64_t row) {
          rows::Columns columns = rows::wild(row, size, random);
          const auto count = static_cast<std::int64_t>(columns.size());
          if (count > 1 && count <= size) columns.back() = columns[0] + count - 1;
          if (count > 1 && columns.back() >= size) columns.back() = size - 1;
          return columns;
        },
        random);
    const Returned result(sparse_product(kDefaultContext, a.view(kCoalesced), a.view(kCoalesced)));
    EXPECT_EQ(result.view().rows, size);
  }
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
