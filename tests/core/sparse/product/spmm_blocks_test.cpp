// Compares blocks times a vector with one plain loop: to the bit.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "product_patterns.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"

namespace tenure::test {
namespace {

template <class T>
std::vector<T> any_values(std::size_t count, Random& random) {
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(random() % 100'003) / T{3e4} - T{1.5};
  return values;
}

// Eight sums of a row's elements take turns, and meet in a tree: whatever the shape of the blocks,
// so that the sums are those of the same entries without blocks.
template <class T>
T row_sum(const std::vector<T>& values, const std::vector<std::int64_t>& cols,
          const std::vector<T>& x) {
  T sums[8] = {};
  for (std::size_t k = 0; k < values.size(); ++k) {
    sums[k % 8] += values[k] * x[static_cast<std::size_t>(cols[k])];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

// Rows of 0 to 40 blocks, so that each way to end a row is taken.
template <class T>
void expect_turns(const NamedType& type, tnr_dtype index_dtype, std::int64_t block_rows,
                  std::int64_t block_cols, Random& random) {
  Matrix a(staircase(), TNR_SPARSE_FORMAT_BSR, index_dtype, type, random, block_rows, block_cols);
  const std::int64_t count = a.view().values.shape[0] * block_rows * block_cols;
  const std::vector<T> values = any_values<T>(static_cast<std::size_t>(count), random);
  std::memcpy(const_cast<void*>(a.view().values.data), values.data(), values.size() * sizeof(T));
  const Literal<T> x(type.dtype, any_values<T>(static_cast<std::size_t>(a.view().cols), random));
  Literal<T> out(type.dtype, std::vector<T>(static_cast<std::size_t>(a.view().rows)));
  sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, x.view, number(0),
                out.out());
  const std::vector<Matrix::Row> rows = a.rows(TNR_ORIENTATION_AS_IS);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<T> of_row(rows[row].cols.size());
    for (std::size_t k = 0; k < of_row.size(); ++k) {
      std::memcpy(&of_row[k], rows[row].values[k], sizeof(T));
    }
    ASSERT_EQ(out.values[row], row_sum(of_row, rows[row].cols, x.values)) << row;
  }
}

TEST(SparseMatmulBlocks, ShapesOfTheirOwnTakeTurns) {
  Random random(51);
  const std::pair<std::int64_t, std::int64_t> shapes[] = {{2, 2}, {4, 4}, {8, 8}, {16, 16},
                                                          {1, 4}, {1, 8}, {4, 1}, {8, 1}};
  for (const auto& [rows, cols] : shapes) {
    SCOPED_TRACE("blocks of " + std::to_string(rows) + " by " + std::to_string(cols));
    for (const tnr_dtype index_dtype : kIndexDtypes) {
      expect_turns<double>(kTypes[0], index_dtype, rows, cols, random);
      expect_turns<float>(kTypes[1], index_dtype, rows, cols, random);
    }
  }
}

}  // namespace
}  // namespace tenure::test
