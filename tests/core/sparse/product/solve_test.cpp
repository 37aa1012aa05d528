// Triangular systems, and entries added to dense memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compressed_matrix.hpp"
#include "expect_error.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

// A matrix of size n with entries on both sides of a diagonal that dominates; unsorted.
template <class T, class I>
CompressedMatrix<T, I> system_of(std::int64_t n, Random& random) {
  CompressedMatrix<T, I> matrix(n, n);
  for (std::int64_t row = 0; row < n; ++row) {
    matrix.add(row, static_cast<T>(20 + row % 7));
    for (const std::int64_t col : rows::few(row, n, random)) {
      if (col != row) matrix.add(col, static_cast<T>(random() % 9) - T{4});
    }
    matrix.end_row();
  }
  return matrix;
}

// Substitution with the transposed matrix as a dense one, whose triangle is the other one.
template <class T, class I>
std::vector<T> transposed_solution_of(const CompressedMatrix<T, I>& a, std::uint32_t flags,
                                      std::vector<T> x) {
  const auto n = static_cast<std::size_t>(a.rows());
  const bool is_upper = (flags & TNR_SOLVE_UPPER) == 0;
  std::vector<T> dense(n * n);
  for (std::size_t row = 0; row < n; ++row) {
    for (auto k = static_cast<std::size_t>(a.offsets()[row]);
         k < static_cast<std::size_t>(a.offsets()[row + 1]); ++k) {
      dense[static_cast<std::size_t>(a.indices()[k]) * n + row] += a.values()[k];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t row = is_upper ? n - 1 - i : i;
    for (std::size_t col = 0; col < n; ++col) {
      if (is_upper ? col > row : col < row) x[row] -= dense[row * n + col] * x[col];
    }
    if ((flags & TNR_SOLVE_UNIT_DIAGONAL) == 0) x[row] /= dense[row * n + row];
  }
  return x;
}

// Substitution by the definition, one column.
template <class T, class I>
std::vector<T> solution_of(const CompressedMatrix<T, I>& a, std::uint32_t flags, std::vector<T> x) {
  if ((flags & TNR_SOLVE_TRANSPOSED) != 0) return transposed_solution_of(a, flags, std::move(x));
  const auto n = static_cast<std::size_t>(a.rows());
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t row = (flags & TNR_SOLVE_UPPER) != 0 ? n - 1 - i : i;
    T sum{};
    T pivot{1};
    for (auto k = static_cast<std::size_t>(a.offsets()[row]);
         k < static_cast<std::size_t>(a.offsets()[row + 1]); ++k) {
      const auto col = static_cast<std::size_t>(a.indices()[k]);
      const bool counts = (flags & TNR_SOLVE_UPPER) != 0 ? col > row : col < row;
      if (counts) sum += a.values()[k] * x[col];
      if (col == row && (flags & TNR_SOLVE_UNIT_DIAGONAL) == 0) pivot = a.values()[k];
    }
    x[row] = (x[row] - sum) / pivot;
  }
  return x;
}

template <class T, class I>
void expect_solutions() {
  Random random(51);
  const TestContext three(3);
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{70}}) {
    const auto a = system_of<T, I>(n, random);
    for (const std::uint32_t flags : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
      for (const std::int64_t columns : {0, 1, 3, 16, 37}) {
        std::vector<T> b(static_cast<std::size_t>(n * columns));
        for (T& value : b) value = random_value<T>(random);
        std::vector<T> x(b.size(), T{7});
        const tnr_view b_view = flat_view(b.data(), kDtypeOf<T>, {n, columns});
        // The solution column-major, where the right-hand sides are row-major.
        const tnr_view_mut x_view{
            tenure::transpose(flat_view(x.data(), kDtypeOf<T>, {columns, n}), 0, 1)};
        sparse_solve(three, flags, a.view(), b_view, x_view);
        for (std::int64_t j = 0; j < columns; ++j) {
          std::vector<T> column;
          for (std::int64_t i = 0; i < n; ++i) {
            column.push_back(b[static_cast<std::size_t>(i * columns + j)]);
          }
          const std::vector<T> expected = solution_of(a, flags, column);
          T most{1};
          for (const T element : expected) most = std::max(most, std::abs(element));
          for (std::int64_t i = 0; i < n; ++i) {
            const T got = x[static_cast<std::size_t>(j * n + i)];
            const T due = expected[static_cast<std::size_t>(i)];
            // Products are subtracted in another order.
            const T room = (flags & TNR_SOLVE_TRANSPOSED) == 0
                               ? T{0}
                               : 100 * std::numeric_limits<T>::epsilon() * most;
            ASSERT_LE(std::abs(got - due), room) << n << ", flags " << flags << ", row " << i
                                                 << " of column " << j << " of " << columns;
          }
        }
      }
    }
  }
}

TEST(SparseSolve, IsSubstitution) {
  expect_solutions<float, std::int64_t>();
  expect_solutions<double, std::int32_t>();
}

TEST(SparseSolve, InPlaceOfRankOne) {
  Random random(53);
  const auto a = system_of<double, std::int32_t>(40, random);
  std::vector<double> x(40);
  for (double& value : x) value = random_value<double>(random);
  const std::vector<double> expected = solution_of(a, 0, x);
  const tnr_view view = flat_view(x.data(), TNR_DTYPE_F64, {40});
  sparse_solve(kDefaultContext, 0, a.view(), view, {view});
  EXPECT_EQ(x, expected);
}

TEST(SparseSolve, NamesTheRowWithoutPivot) {
  CompressedMatrix<float, std::int32_t> a(3, 3);
  a.add(0, 1.0f);
  a.end_row();
  a.add(0, 1.0f);
  a.end_row();
  a.add(2, 0.0f);
  a.end_row();
  std::vector<float> x(3, 1.0f);
  const tnr_view view = flat_view(x.data(), TNR_DTYPE_F32, {3});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"row 1", "mixture"},
               [&] { sparse_solve(kDefaultContext, 0, a.view(), view, {view}); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"row 2"},
               [&] { sparse_solve(kDefaultContext, TNR_SOLVE_UPPER, a.view(), view, {view}); });
  sparse_solve(kDefaultContext, TNR_SOLVE_UNIT_DIAGONAL, a.view(), view, {view});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"row 2"}, [&] {
    sparse_solve(kDefaultContext, TNR_SOLVE_TRANSPOSED, a.view(), view, {view});
  });
}

TEST(SparseSolve, Refusals) {
  Random random(2);
  auto a = system_of<float, std::int32_t>(4, random);
  const auto wide = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 5, random);
  std::vector<float> b(8, 1.0f);
  std::vector<float> x(8);
  const tnr_view b4 = flat_view(b.data(), TNR_DTYPE_F32, {4});
  const tnr_view x4 = flat_view(x.data(), TNR_DTYPE_F32, {4});
  const auto solve = [&](const tnr_sparse_view& matrix, std::uint32_t flags, const tnr_view& right,
                         const tnr_view& out) {
    sparse_solve(kDefaultContext, flags, matrix, right, {out});
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"flags is 0x8"}, [&] { solve(a.view(), 8, b4, x4); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.rows is 4 but a.cols is 5"},
               [&] { solve(wide.view(), 0, b4, x4); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 3"},
               [&] { solve(a.view(0, TNR_SPARSE_FORMAT_CSC), 0, b4, x4); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.rank is 2 but out.rank is 1"},
               [&] { solve(a.view(), 0, flat_view(b.data(), TNR_DTYPE_F32, {4, 2}), x4); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.shape[0] is 3 but out.shape[0] is 4"},
               [&] { solve(a.view(), 0, flat_view(b.data(), TNR_DTYPE_F32, {3}), x4); });
  const tnr_view b3 = flat_view(b.data(), TNR_DTYPE_F32, {3});
  const tnr_view x3 = flat_view(x.data(), TNR_DTYPE_F32, {3});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.shape[0] is 3 but a.rows is 4"},
               [&] { solve(a.view(), 0, b3, x3); });
  expect_error(TNR_STATUS_ALIASED, {"b"},
               [&] { solve(a.view(), 0, flat_view(x.data() + 1, TNR_DTYPE_F32, {4}), x4); });
  a.indices()[0] = 4;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[0] is 4"},
               [&] { solve(a.view(), 0, b4, x4); });
}

template <class T, class I>
void expect_accumulated() {
  Random random(61);
  const TestContext three(3);
  for (const RowShape& shape : kRowShapes) {
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC}) {
      const auto matrix = random_matrix<T, I>(shape, 110, 80, random);
      const bool is_csr = format == TNR_SPARSE_FORMAT_CSR;
      std::vector<T> expected(110 * 80);
      for (T& value : expected) value = random_value<T>(random);
      std::vector<T> out = expected;
      for (std::size_t row = 0; row < 110; ++row) {
        for (auto k = static_cast<std::size_t>(matrix.offsets()[row]);
             k < static_cast<std::size_t>(matrix.offsets()[row + 1]); ++k) {
          const auto col = static_cast<std::size_t>(matrix.indices()[k]);
          expected[is_csr ? row * 80 + col : col * 110 + row] += matrix.values()[k];
        }
      }
      sparse_accumulate(three, matrix.view(shape.flags, format),
                        {is_csr ? flat_view(out.data(), kDtypeOf<T>, {110, 80})
                                : flat_view(out.data(), kDtypeOf<T>, {80, 110})});
      EXPECT_EQ(std::memcmp(expected.data(), out.data(), out.size() * sizeof(T)), 0) << shape.name;
    }
  }
}

TEST(SparseAccumulate, AddsInTheOrderOfEntries) {
  expect_accumulated<float, std::int32_t>();
  expect_accumulated<double, std::int64_t>();
  expect_accumulated<std::int32_t, std::int32_t>();
}

TEST(SparseAccumulate, Refusals) {
  Random random(2);
  auto a = random_matrix<float, std::int32_t>(kRowShapes[3], 4, 5, random);
  std::vector<float> out(20);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 1"}, [&] {
    sparse_accumulate(kDefaultContext, a.view(), {flat_view(out.data(), TNR_DTYPE_F32, {20})});
  });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 5 but a.rows is 4"}, [&] {
    sparse_accumulate(kDefaultContext, a.view(), {flat_view(out.data(), TNR_DTYPE_F32, {5, 4})});
  });
  a.indices()[13] = 5;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[13] is 5"}, [&] {
    sparse_accumulate(kDefaultContext, a.view(), {flat_view(out.data(), TNR_DTYPE_F32, {4, 5})});
  });
}

}  // namespace
