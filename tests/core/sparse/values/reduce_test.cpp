// Compares reductions, norms and diagonals of sparse matrices with those of the dense matrix.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compressed_matrix.hpp"
#include "expect_error.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

template <class T>
tnr_view_mut place(T& value) {
  return {flat_view(&value, kDtypeOf<T>, {})};
}
template <class T>
tnr_view_mut places(std::vector<T>& values) {
  return {flat_view(values.data(), kDtypeOf<T>, {static_cast<std::int64_t>(values.size())})};
}

// Integers, so that no order of additions shows.
template <class T, class I>
CompressedMatrix<T, I> whole_numbers(const RowShape& shape, std::int64_t rows, std::int64_t cols,
                                     Random& random) {
  auto matrix = random_matrix<T, I>(shape, rows, cols, random);
  for (T& value : matrix.values()) value = static_cast<T>(random_value<std::int32_t>(random));
  return matrix;
}

template <class T, class I>
std::vector<T> dense_of(const CompressedMatrix<T, I>& matrix) {
  std::vector<T> dense(static_cast<std::size_t>(matrix.rows() * matrix.cols()));
  for (std::int64_t row = 0; row < matrix.rows(); ++row) {
    const auto at = static_cast<std::size_t>(row);
    for (auto k = static_cast<std::size_t>(matrix.offsets()[at]);
         k < static_cast<std::size_t>(matrix.offsets()[at + 1]); ++k) {
      dense[static_cast<std::size_t>(row * matrix.cols() + matrix.indices()[k])] +=
          matrix.values()[k];
    }
  }
  return dense;
}

template <class T, class Out>
Out reduced(tnr_reduce_op op, const std::vector<T>& elements) {
  Out result{};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto element = static_cast<Out>(elements[i]);
    switch (op) {
      case TNR_REDUCE_OP_SUM: result += element; break;
      case TNR_REDUCE_OP_MIN: result = i == 0 ? element : std::min(result, element); break;
      case TNR_REDUCE_OP_MAX: result = i == 0 ? element : std::max(result, element); break;
      default: result += element != Out{0} ? 1 : 0;
    }
  }
  return result;
}

template <class T, class I, class Out>
void expect_reduction(tnr_reduce_op op) {
  Random random(41);
  const TestContext three(3);
  for (const RowShape& shape : kRowShapes) {
    if (op != TNR_REDUCE_OP_SUM && shape.flags != kCoalesced) continue;
    const auto matrix = whole_numbers<T, I>(shape, 90, 70, random);
    const std::vector<T> dense = dense_of(matrix);
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
      SCOPED_TRACE(testing::Message() << shape.name << ", op " << op << ", format " << format);
      const tnr_sparse_view view = matrix.view(shape.flags, format);
      Out all{};
      sparse_reduce(three, op, view, 3, place(all));
      EXPECT_EQ(all, (reduced<T, Out>(op, dense)));
      const bool is_csr = format == TNR_SPARSE_FORMAT_CSR;
      std::vector<Out> by_major(90);
      std::vector<Out> by_minor(70);
      sparse_reduce(three, op, view, is_csr ? 2 : 1, places(by_major));
      sparse_reduce(three, op, view, is_csr ? 1 : 2, places(by_minor));
      for (std::size_t i = 0; i < 90; ++i) {
        const auto first = dense.begin() + static_cast<std::ptrdiff_t>(i) * 70;
        EXPECT_EQ(by_major[i], (reduced<T, Out>(op, std::vector<T>(first, first + 70))));
      }
      for (std::size_t j = 0; j < 70; ++j) {
        std::vector<T> column;
        for (std::size_t i = 0; i < 90; ++i) column.push_back(dense[i * 70 + j]);
        EXPECT_EQ(by_minor[j], (reduced<T, Out>(op, column)));
      }
    }
  }
}

TEST(SparseReduce, IsThatOfTheDenseMatrix) {
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX}) {
    expect_reduction<float, std::int32_t, float>(op);
    expect_reduction<double, std::int64_t, double>(op);
    expect_reduction<std::int64_t, std::int32_t, std::int64_t>(op);
  }
  expect_reduction<std::int32_t, std::int32_t, std::int64_t>(TNR_REDUCE_OP_SUM);
  expect_reduction<std::int32_t, std::int32_t, std::int32_t>(TNR_REDUCE_OP_MAX);
  expect_reduction<float, std::int32_t, std::int64_t>(TNR_REDUCE_OP_COUNT);
}

// Entries enough for several slices and for many runs.
TEST(SparseReduce, SumsHaveTheSameBitsOnAnyThreads) {
  Random random(43);
  const TestContext four(4);
  const auto matrix = random_matrix<float, std::int32_t>(kRowShapes[1], 20'000, 500, random);
  float alone = 0;
  float together = 0;
  sparse_reduce(kDefaultContext, TNR_REDUCE_OP_SUM, matrix.view(), 3, place(alone));
  sparse_reduce(four, TNR_REDUCE_OP_SUM, matrix.view(), 3, place(together));
  EXPECT_EQ(std::memcmp(&alone, &together, sizeof(float)), 0);
  const auto norm = [&](const Context& context) {
    return sparse_norm(context, TNR_SPARSE_NORM_KIND_FROBENIUS, matrix.view(kCoalesced));
  };
  EXPECT_EQ(norm(kDefaultContext), norm(four));
  double exact = 0;
  for (const float value : matrix.values()) exact += static_cast<double>(value);
  EXPECT_NEAR(alone, exact, 1e-3 * std::abs(exact) + 1);
}

TEST(SparseReduce, OfLongRowsAndOfManyEntriesIsThatOfTheDenseMatrix) {
  Random random(47);
  const TestContext three(3);
  const auto matrix = whole_numbers<float, std::int32_t>(kRowShapes[3], 60, 700, random);
  const std::vector<float> dense = dense_of(matrix);
  for (const tnr_reduce_op op : {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX}) {
    float all = 0;
    sparse_reduce(three, op, matrix.view(kCoalesced), 3, place(all));
    EXPECT_EQ(all, (reduced<float, float>(op, dense))) << op;
    std::vector<float> rows(60);
    sparse_reduce(three, op, matrix.view(kCoalesced), 2, places(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto first = dense.begin() + static_cast<std::ptrdiff_t>(i) * 700;
      EXPECT_EQ(rows[i], (reduced<float, float>(op, std::vector<float>(first, first + 700))));
    }
  }
}

// Pairs that cancel, in rows whose lanes would add those of one sign.
TEST(SparseReduce, SumsAndNormsAtTheEndsOfTheRange) {
  for (const std::int64_t length : {2, 3, 40, 1000}) {
    CompressedMatrix<double, std::int32_t> matrix(1, 2 * length);
    for (std::int64_t i = 0; i < 2 * length; ++i) matrix.add(i, i % 2 == 0 ? 1.5e308 : -1.5e308);
    matrix.end_row();
    double all = 1;
    sparse_reduce(kDefaultContext, TNR_REDUCE_OP_SUM, matrix.view(kCoalesced), 3, place(all));
    EXPECT_EQ(all, 0) << length;
    std::vector<double> rows = {1};
    sparse_reduce(kDefaultContext, TNR_REDUCE_OP_SUM, matrix.view(kCoalesced), 2, places(rows));
    EXPECT_EQ(rows[0], 0) << length;
    for (const double size : {1e200, 1e-200, 1.0}) {
      std::fill(matrix.values().begin(), matrix.values().end(), -size);
      const double norm =
          sparse_norm(kDefaultContext, TNR_SPARSE_NORM_KIND_FROBENIUS, matrix.view(kCoalesced));
      const auto count = static_cast<double>(2 * length);
      EXPECT_NEAR(norm / size, std::sqrt(count), 1e-12 * count) << length;
    }
  }
}

// A row of any length, and a NaN or the extreme in any place of it.
TEST(SparseReduce, NoPlaceOfARowIsForgotten) {
  for (std::int64_t length = 1; length < 70; ++length) {
    CompressedMatrix<double, std::int64_t> matrix(1, length);
    for (std::int64_t k = 0; k < length; ++k) matrix.add(k, 1.0);
    matrix.end_row();
    for (std::size_t k = 0; k < static_cast<std::size_t>(length); ++k) {
      for (const tnr_reduce_op op : {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MIN, TNR_REDUCE_OP_MAX}) {
        for (const std::uint32_t axes : {2u, 3u}) {
          std::vector<double> row(1);
          double all = 0;
          const auto reduce = [&](double value) {
            matrix.values()[k] = value;
            sparse_reduce(kDefaultContext, op, matrix.view(kCoalesced), axes,
                          axes == 3 ? place(all) : places(row));
            matrix.values()[k] = 1.0;
            return axes == 3 ? all : row[0];
          };
          EXPECT_TRUE(std::isnan(reduce(NAN))) << k << " of " << length << ", " << op;
          const double value = op == TNR_REDUCE_OP_MIN ? -5.0 : 5.0;
          EXPECT_EQ(reduce(value), op == TNR_REDUCE_OP_SUM ? value + double(length - 1) : value);
        }
      }
    }
  }
}

TEST(SparseReduce, ZerosThatAreNotThereTakePart) {
  CompressedMatrix<double, std::int32_t> matrix(2, 2);
  matrix.add(0, 5.0);
  matrix.add(1, 3.0);
  matrix.end_row();
  matrix.add(1, NAN);
  matrix.end_row();
  std::vector<double> rows(2);
  sparse_reduce(kDefaultContext, TNR_REDUCE_OP_MIN, matrix.view(kCoalesced), 2, places(rows));
  EXPECT_EQ(rows[0], 3.0);
  EXPECT_TRUE(std::isnan(rows[1]));
  std::vector<double> columns(2);
  sparse_reduce(kDefaultContext, TNR_REDUCE_OP_MIN, matrix.view(kCoalesced), 1, places(columns));
  EXPECT_EQ(columns[0], 0.0);
  EXPECT_TRUE(std::isnan(columns[1]));
}

TEST(SparseReduce, Refusals) {
  Random random(2);
  auto a = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 5, random);
  float out = 0;
  std::vector<float> four(4);
  const auto reduce = [&](tnr_reduce_op op, std::uint32_t flags, std::uint32_t axes,
                          const tnr_view_mut& to) {
    sparse_reduce(kDefaultContext, op, a.view(flags), axes, to);
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"axes is 0x4"},
               [&] { reduce(TNR_REDUCE_OP_SUM, 0, 4, place(out)); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 1 but must be 0"},
               [&] { reduce(TNR_REDUCE_OP_SUM, 0, 3, places(four)); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 4 but a.cols is 5"},
               [&] { reduce(TNR_REDUCE_OP_SUM, 0, 1, places(four)); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is f32 but must be i64"},
               [&] { reduce(TNR_REDUCE_OP_COUNT, kCoalesced, 2, places(four)); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"op is 2"},
               [&] { reduce(TNR_REDUCE_OP_PROD, 0, 2, places(four)); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"must have UNIQUE", "coalesce"},
               [&] { reduce(TNR_REDUCE_OP_MAX, TNR_SPARSE_SORTED, 2, places(four)); });
  expect_error(TNR_STATUS_ALIASED, {"a.values"}, [&] {
    reduce(TNR_REDUCE_OP_SUM, 0, 2, {flat_view(a.values().data(), TNR_DTYPE_F32, {4})});
  });
  const CompressedMatrix<float, std::int32_t> empty(0, 3);
  expect_error(
      TNR_STATUS_INVALID_ARGUMENT, {"a has 0 rows and 3 cols", "max has no elements"}, [&] {
        sparse_reduce(kDefaultContext, TNR_REDUCE_OP_MAX, empty.view(kCoalesced), 3, place(out));
      });
  a.indices()[6] = 5;
  for (const std::uint32_t axes : {1u, 2u, 3u}) {
    std::vector<float> to(axes == 1 ? 5 : 4);
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[6] is 5"},
                 [&] { reduce(TNR_REDUCE_OP_SUM, 0, axes, axes == 3 ? place(out) : places(to)); });
  }
}

TEST(SparseNorm, OfRowsColumnsAndAll) {
  CompressedMatrix<float, std::int32_t> matrix(2, 3);
  matrix.add(0, -3.0f);
  matrix.add(2, 4.0f);
  matrix.end_row();
  matrix.add(2, -12.0f);
  matrix.end_row();
  const auto norm = [&](tnr_sparse_norm_kind kind, tnr_sparse_format format) {
    return sparse_norm(kDefaultContext, kind, matrix.view(kCoalesced, format));
  };
  EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_ONE, TNR_SPARSE_FORMAT_CSR), 16.0);
  EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_INFINITY, TNR_SPARSE_FORMAT_CSR), 12.0);
  EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_ONE, TNR_SPARSE_FORMAT_CSC), 12.0);
  EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_INFINITY, TNR_SPARSE_FORMAT_CSC), 16.0);
  EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_FROBENIUS, TNR_SPARSE_FORMAT_CSC), 13.0);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"4"},
               [&] { norm(static_cast<tnr_sparse_norm_kind>(4), TNR_SPARSE_FORMAT_CSR); });
  matrix.values()[1] = NAN;
  for (const auto kind :
       {TNR_SPARSE_NORM_KIND_ONE, TNR_SPARSE_NORM_KIND_INFINITY, TNR_SPARSE_NORM_KIND_FROBENIUS}) {
    EXPECT_TRUE(std::isnan(norm(kind, TNR_SPARSE_FORMAT_CSR)));
  }
  const CompressedMatrix<double, std::int32_t> empty(0, 0);
  EXPECT_EQ(sparse_norm(kDefaultContext, TNR_SPARSE_NORM_KIND_ONE, empty.view(kCoalesced)), 0.0);
}

// Small whole numbers, so that no order of additions shows.
TEST(SparseNorm, OfLongRowsAndManyEntriesIsThatOfAPlainLoop) {
  Random random(53);
  const TestContext three(3);
  for (const std::int64_t cols : {31, 32, 33, 700, 5000}) {
    CompressedMatrix<float, std::int32_t> matrix(40, cols);
    double squares = 0;
    double largest = 0;
    std::vector<double> columns(static_cast<std::size_t>(cols));
    for (std::int64_t row = 0; row < 40; ++row) {
      double sum = 0;
      for (std::int64_t column = row % 3; column < cols; ++column) {
        const auto value = static_cast<float>(random() % 2001) - 1000;
        matrix.add(static_cast<std::int32_t>(column), value);
        sum += std::abs(double{value});
        squares += double{value} * double{value};
        columns[static_cast<std::size_t>(column)] += std::abs(double{value});
      }
      matrix.end_row();
      largest = std::max(largest, sum);
    }
    const auto norm = [&](tnr_sparse_norm_kind kind) {
      return sparse_norm(three, kind, matrix.view(kCoalesced));
    };
    EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_INFINITY), largest) << cols;
    EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_ONE), *std::max_element(columns.begin(), columns.end()));
    EXPECT_EQ(norm(TNR_SPARSE_NORM_KIND_FROBENIUS), std::sqrt(squares)) << cols;
  }
}

TEST(SparseDiagonal, IsFoundInLongRows) {
  Random random(7);
  for (const RowShape& shape : {kRowShapes[2], kRowShapes[3], kRowShapes[6]}) {
    const auto matrix = whole_numbers<float, std::int32_t>(shape, 90, 70, random);
    const std::vector<float> dense = dense_of(matrix);
    std::vector<float> diagonal(70, -1);
    sparse_diagonal(matrix.view(shape.flags), places(diagonal));
    for (std::size_t i = 0; i < 70; ++i) EXPECT_EQ(diagonal[i], dense[i * 70 + i]);
  }
}

TEST(SparseDiagonal, AddsDuplicatesAndReadsZeros) {
  Random random(3);
  for (const RowShape& shape : kRowShapes) {
    const auto matrix = whole_numbers<double, std::int64_t>(shape, 30, 20, random);
    const std::vector<double> dense = dense_of(matrix);
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
      std::vector<double> diagonal(40, -1);
      tnr_view_mut out{flat_view(diagonal.data(), TNR_DTYPE_F64, {20})};
      out.view.strides[0] = 2;
      out.view.size_bytes = 40 * 8;
      sparse_diagonal(matrix.view(shape.flags, format), out);
      for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(diagonal[2 * i], dense[i * 20 + i]);
        EXPECT_EQ(diagonal[2 * i + 1], -1);
      }
    }
  }
  const CompressedMatrix<double, std::int32_t> empty(3, 0);
  std::vector<double> three(3);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 3", "is 0"},
               [&] { sparse_diagonal(empty.view(), places(three)); });
}

}  // namespace
