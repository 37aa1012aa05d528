// Compares sparse times a vector, where rows are alike or nearly so, with one plain loop: to the
// bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "product_patterns.hpp"
#include "sparse/index_array.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"
#include "tenure/sparse_voucher.hpp"

namespace tenure::test {
namespace {

// Adds rows of rising columns. Each row is the one above it, moved by one.
void add_alike(Pattern& pattern, std::int64_t rows, std::int64_t length, Random& random) {
  std::vector<std::int64_t> cols;
  for (std::int64_t i = 0; i < length; ++i) {
    const auto step = static_cast<std::int64_t>(random() % 3 == 0 ? random() % 50 : 0);
    cols.push_back((cols.empty() ? 0 : cols.back() + 1) + step);
  }
  for (std::int64_t i = 0; i < rows; ++i, ++pattern.rows) {
    for (const std::int64_t col : cols) pattern.positions.push_back({pattern.rows, col + i});
  }
}

// Rows of every length up to one that is not looked at, some more than are looked at together. The
// last ones are alike to the end of the arrays.
Pattern alike(Random& random) {
  Pattern pattern{"alike", 0, 0, {}};
  for (const std::int64_t length : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 16, 17, 27, 64, 65}) {
    for (const std::int64_t rows : {15, 16, 37}) add_alike(pattern, rows, length, random);
    pattern.rows += length % 3;  // empty ones
  }
  add_alike(pattern, 48, 5, random);
  for (const Position& p : pattern.positions) pattern.cols = std::max(pattern.cols, p.col + 1);
  return pattern;
}

// The pattern of alike() with a column changed, or an entry moved to another row, now and then.
Pattern nearly_alike(Random& random) {
  Pattern pattern = alike(random);
  pattern.name = "nearly alike";
  for (std::size_t k = random() % 300; k < pattern.positions.size(); k += random() % 300) {
    Position& p = pattern.positions[k];
    if (random() % 2 == 0) {
      p.col = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(pattern.cols));
    } else if (k > 0) {
      p.row = pattern.positions[k - 1].row;
    }
  }
  return pattern;
}

template <class T>
std::vector<T> any_values(std::size_t count, Random& random) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random() % 100'003) / T{3e4} - T{1.5};
  return values;
}

// Eight sums of a row take turns and meet in a tree.
template <class T>
std::vector<T> plain(const Pattern& pattern, const std::vector<T>& values,
                     const std::vector<T>& x) {
  std::vector<T> sums(static_cast<std::size_t>(pattern.rows));
  std::size_t k = 0;
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    T lanes[8] = {};
    for (int lane = 0; k < values.size() && pattern.positions[k].row == row; ++k, ++lane) {
      lanes[lane % 8] += values[k] * x[static_cast<std::size_t>(pattern.positions[k].col)];
    }
    sums[static_cast<std::size_t>(row)] = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                                          ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
  }
  return sums;
}

template <class T>
void expect_plain(const Pattern& pattern, const NamedType& type, Random& random) {
  const std::vector<T> x = any_values<T>(static_cast<std::size_t>(pattern.cols), random);
  std::vector<T> values = any_values<T>(pattern.positions.size(), random);
  const std::vector<T> sums = plain(pattern, values, x);
  const Literal<T> b(type.dtype, x);
  for (const tnr_dtype index_dtype : kIndexDtypes) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, index_dtype, type, random);
    a.view().values =
        flat_view(values.data(), type.dtype, {static_cast<std::int64_t>(values.size())});
    for (const auto& [adds, step, owner] : {std::tuple(false, 1, SparseToken{0}),
                                            {true, 3, SparseToken{0}},
                                            {true, 1, sparse_voucher()},
                                            {false, 3, sparse_voucher()}}) {
      SCOPED_TRACE(pattern.name + ", step " + std::to_string(step));
      a.view().owner = owner;
      std::vector<T> out = any_values<T>(sums.size() * static_cast<std::size_t>(step), random);
      std::vector<T> expected = out;
      for (std::size_t row = 0; row < sums.size(); ++row) {
        T& to = expected[row * static_cast<std::size_t>(step)];
        const T scaled = T{1.25} * sums[row];
        to = adds ? scaled + T{0.75} * to : scaled;
      }
      const tnr_view to =
          view_of(out.data(), out.size() * sizeof(T), 0, type.dtype, {{pattern.rows, step}});
      sparse_matmul(kDefaultContext, number(1.25), a.view(), TNR_ORIENTATION_AS_IS, b.view,
                    number(adds ? 0.75 : 0), {to});
      EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0);
    }
  }
}

TEST(SparseMatmulAlike, EveryLengthOfRow) {
  Random random(41);
  const Pattern pattern = alike(random);
  expect_plain<double>(pattern, kTypes[0], random);
  expect_plain<float>(pattern, kTypes[1], random);
}

TEST(SparseMatmulAlike, OneColumnOrLengthDiffers) {
  Random random(42);
  for (int i = 0; i < 10; ++i) {
    const Pattern pattern = nearly_alike(random);
    expect_plain<double>(pattern, kTypes[0], random);
    expect_plain<float>(pattern, kTypes[1], random);
  }
}

// Rows of no order, some of many entries, by an x that the first cache holds and one that it does
// not.
TEST(SparseMatmulAlike, NoneWithManyEntries) {
  Random random(43);
  for (const std::int64_t cols : {1000, 20'000}) {
    Pattern pattern{std::to_string(cols) + " columns", 90, cols, {}};
    for (std::int64_t row = 0; row < pattern.rows; ++row) {
      for (std::int64_t i = 0; i < row * 2; ++i) {
        const auto col = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols));
        pattern.positions.push_back({row, col});
      }
    }
    expect_plain<double>(pattern, kTypes[0], random);
    expect_plain<float>(pattern, kTypes[1], random);
  }
}

// Rows that have an entry for each line of x, of about one length and not: each four of them may go
// over x together. Their columns rise or not; the last ones end with the arrays.
Pattern long_rows(Random& random) {
  Pattern pattern{"long rows", 60, 8000, {}};
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    const auto some = static_cast<std::int64_t>(random() % 40);
    const std::int64_t length = row % 13 == 12 ? 3 : row % 17 == 16 ? 2049 : 1000 + some;
    for (std::int64_t i = 0; i < length; ++i) {
      const auto any = static_cast<std::int64_t>(random() % 8000);
      pattern.positions.push_back({row, row % 5 == 0 ? any : i * 8000 / length});
    }
  }
  return pattern;
}

TEST(SparseMatmulAlike, LongRows) {
  Random random(45);
  const Pattern pattern = long_rows(random);
  expect_plain<double>(pattern, kTypes[0], random);
  expect_plain<float>(pattern, kTypes[1], random);
}

// Rows of 0 to 40 entries, most of them of few, in every order of their lengths; the last ones end
// with the arrays, or are empty.
Pattern short_rows(Random& random, std::int64_t last_filled) {
  Pattern pattern{"short rows", 700, 300, {}};
  for (std::int64_t row = 0; row < last_filled; ++row) {
    const std::uint64_t most = row % 200 < 64 ? 1 : row % 11 == 0 ? 41 : 18;
    const auto length = static_cast<std::int64_t>(random() % most);
    for (std::int64_t i = 0; i < length; ++i) {
      pattern.positions.push_back({row, static_cast<std::int64_t>(random() % 300)});
    }
  }
  return pattern;
}

TEST(SparseMatmulAlike, ShortRows) {
  Random random(46);
  for (const std::int64_t last_filled : {700, 699, 650, 9, 0}) {
    const Pattern pattern = short_rows(random, last_filled);
    expect_plain<double>(pattern, kTypes[0], random);
    expect_plain<float>(pattern, kTypes[1], random);
  }
}

// A sum begins at 0, so that a sum of only -0 is 0, whatever the length of the row.
TEST(SparseMatmulAlike, SumsOfNegativeZeros) {
  Random random(47);
  const Pattern pattern = short_rows(random, 650);
  Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, kTypes[1], random);
  auto* const values = static_cast<float*>(const_cast<void*>(a.view().values.data));
  std::fill_n(values, a.view().values.shape[0], -1.0f);
  const Literal<float> zeros(TNR_DTYPE_F32, std::vector<float>(300));
  Literal<float> out(TNR_DTYPE_F32, std::vector<float>(700, 1.0f));
  sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, zeros.view, number(0),
                out.out());
  for (const float sum : out.values) ASSERT_EQ(std::bit_cast<std::uint32_t>(sum), 0u);
}

// An index that is wrong, in rows that are alike, long, or neither: it is found, and not used,
// wherever it is. Under a sanitizer nothing outside of the arrays is touched.
void expect_found(const Pattern& pattern, Random& random) {
  const Literal<float> b(TNR_DTYPE_F32,
                         any_values<float>(static_cast<std::size_t>(pattern.cols), random));
  std::vector<float> out(static_cast<std::size_t>(pattern.rows));
  const tnr_view to = flat_view(out.data(), TNR_DTYPE_F32, {pattern.rows});
  for (const tnr_dtype index_dtype : kIndexDtypes) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, index_dtype, kTypes[1], random);
    const auto multiply = [&] {
      sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, b.view, number(0),
                    {to});
    };
    auto* const indices = static_cast<Byte*>(const_cast<void*>(a.view().minor.data));
    const kernels::IndexType type = index_type(index_dtype);
    const std::int64_t count = a.view().minor.shape[0];
    for (std::int64_t k = 0; k < count; k += k < 2000 || k > count - 300 ? 1 : 17) {
      const std::int64_t right = get_index(indices, type, k);
      const std::int64_t wrong = k % 3 == 0 ? -1 : k % 3 == 1 ? pattern.cols : INT32_MAX;
      put_index(indices, type, k, wrong);
      expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.", std::to_string(wrong)}, multiply);
      put_index(indices, type, k, right);
    }
    EXPECT_NO_THROW(multiply());
  }
}

TEST(SparseMatmulAlike, WrongIndicesAreFound) {
  Random random(44);
  expect_found(nearly_alike(random), random);
  expect_found(long_rows(random), random);
  expect_found(short_rows(random, 700), random);
}

}  // namespace
}  // namespace tenure::test
