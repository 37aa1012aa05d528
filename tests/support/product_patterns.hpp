// Sparse matrices of every format over patterns of every kind, for the tests of products.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "sparse_arrays.hpp"

namespace tenure::test {

// A pattern: positions in any order, some perhaps more than once.
struct Position {
  std::int64_t row;
  std::int64_t col;
};
struct Pattern {
  std::string name;
  std::int64_t rows;
  std::int64_t cols;
  std::vector<Position> positions;
};

inline Pattern scattered(std::int64_t rows, std::int64_t cols, std::int64_t count, Random& random) {
  Pattern pattern{"scattered", rows, cols, {}};
  for (std::int64_t i = 0; i < count; ++i) {
    pattern.positions.push_back(
        {static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(rows)),
         static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols))});
  }
  return pattern;
}

// Rows of every length from 0 to 40, so that each way to end a row is taken.
inline Pattern staircase() {
  Pattern pattern{"staircase", 41, 43, {}};
  for (std::int64_t row = 0; row < 41; ++row) {
    for (std::int64_t i = 0; i < row; ++i) pattern.positions.push_back({row, (i * 7 + row) % 43});
  }
  return pattern;
}

// One row is full, the others are empty.
inline Pattern one_row() {
  Pattern pattern{"one row", 30, 5000, {}};
  for (std::int64_t col = 0; col < 5000; ++col) pattern.positions.push_back({17, col});
  return pattern;
}

inline std::vector<Pattern> patterns() {
  Random random(3);
  std::vector<Pattern> all = {{"no rows", 0, 6, {}},
                              {"no columns", 6, 0, {}},
                              {"nothing", 0, 0, {}},
                              {"no entries", 7, 5, {}},
                              {"one", 1, 1, {{0, 0}}},
                              staircase(),
                              one_row(),
                              scattered(30, 25, 200, random),
                              scattered(6, 300, 900, random)};
  return all;
}

// A matrix of a pattern in one format, with numbers as values. In BSR each position of the pattern
// is that of a block.
class Matrix {
 public:
  Matrix(const Pattern& pattern, tnr_sparse_format format, tnr_dtype index_dtype,
         const NamedType& type, Random& random, std::int64_t block_rows = 1,
         std::int64_t block_cols = 1)
      : positions_(pattern.positions),
        block_rows_(block_rows),
        block_cols_(block_cols),
        values_(type.dtype, value_shape(format), Arrangement::kRowMajor, random) {
    fill_with_numbers(values_, type.type, random);
    values_bytes_ = values_.elements();
    const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
    const auto major_of = [&](const Position& p) { return is_csc ? p.col : p.row; };
    SparseModel model{.format = format,
                      .rows = pattern.rows * block_rows,
                      .cols = pattern.cols * block_cols,
                      .block_rows = block_rows,
                      .block_cols = block_cols};
    if (format != TNR_SPARSE_FORMAT_COO) {
      model.major.assign(static_cast<std::size_t>(is_csc ? pattern.cols : pattern.rows) + 1, 0);
      for (const Position& p : positions_) ++model.major[static_cast<std::size_t>(major_of(p)) + 1];
      std::partial_sum(model.major.begin(), model.major.end(), model.major.begin());
      // In the order of their rows, and of each in that of the pattern.
      std::vector<std::int64_t> next = model.major;
      for (const Position& p : pattern.positions) {
        positions_[static_cast<std::size_t>(next[static_cast<std::size_t>(major_of(p))]++)] = p;
      }
    }
    for (const Position& p : positions_) {
      if (format == TNR_SPARSE_FORMAT_COO) model.major.push_back(p.row);
      model.minor.push_back(is_csc ? p.row : p.col);
    }
    model.values.assign(positions_.size() * static_cast<std::size_t>(block_rows * block_cols), 0);
    arrays_ = std::make_unique<SparseArrays>(model, index_dtype);
    arrays_->view().values = values_.view();
  }

  tnr_sparse_view& view() { return arrays_->view(); }

  // Where each element of the values is.
  std::vector<Position> positions() const {
    std::vector<Position> all;
    for (const Position& p : positions_) {
      for (std::int64_t i = 0; i < block_rows_; ++i) {
        for (std::int64_t j = 0; j < block_cols_; ++j) {
          all.push_back({p.row * block_rows_ + i, p.col * block_cols_ + j});
        }
      }
    }
    return all;
  }
  const Byte* value(std::size_t at) const { return values_bytes_[at]; }

  // The values of the rows, of the transpose of columns, and the columns that they meet.
  struct Row {
    std::vector<const Byte*> values;
    std::vector<std::int64_t> cols;
  };
  std::vector<Row> rows(tnr_orientation orientation) {
    const bool as_is = orientation == TNR_ORIENTATION_AS_IS;
    std::vector<Row> result(static_cast<std::size_t>(as_is ? view().rows : view().cols));
    for (std::size_t k = 0; k < positions_.size(); ++k) {
      for (std::int64_t i = 0; i < block_rows_; ++i) {
        for (std::int64_t j = 0; j < block_cols_; ++j) {
          std::int64_t row = positions_[k].row * block_rows_ + i;
          std::int64_t col = positions_[k].col * block_cols_ + j;
          if (!as_is) std::swap(row, col);
          Row& to = result[static_cast<std::size_t>(row)];
          const std::int64_t at =
              (static_cast<std::int64_t>(k) * block_rows_ + i) * block_cols_ + j;
          to.values.push_back(values_bytes_[static_cast<std::size_t>(at)]);
          to.cols.push_back(col);
        }
      }
    }
    return result;
  }

 private:
  Shape value_shape(tnr_sparse_format format) const {
    const auto count = static_cast<std::int64_t>(positions_.size());
    return format == TNR_SPARSE_FORMAT_BSR ? Shape{count, block_rows_, block_cols_} : Shape{count};
  }

  std::vector<Position> positions_;
  std::int64_t block_rows_;
  std::int64_t block_cols_;
  Array values_;
  std::vector<Byte*> values_bytes_;
  std::unique_ptr<SparseArrays> arrays_;
};

inline tnr_scalar number(double value) { return scalar_of(TNR_DTYPE_F64, value); }

inline std::vector<Byte> element_of(Type type, double value) {
  std::vector<Byte> element(8);
  Byte bytes[8];
  std::memcpy(bytes, &value, sizeof value);
  kernels::reference::cast(Type::kF64, bytes, type, element.data());
  return element;
}

// The expected product: the elements of out, in order.
inline std::vector<Byte> expected_product(Matrix& a, tnr_orientation orientation,
                                          const NamedType& type, Array& b, Array& out, double alpha,
                                          double beta) {
  const std::vector<Byte*> b_elements = b.elements();
  const std::size_t width = element_size(type.dtype);
  std::vector<Byte> expected;
  for (const Byte* const element : out.elements())
    expected.insert(expected.end(), element, element + width);
  const std::vector<Byte> alpha_element = element_of(type.type, alpha);
  const std::vector<Byte> beta_element = element_of(type.type, beta);
  const std::vector<Matrix::Row> rows = a.rows(orientation);
  const tnr_view& to = out.view();
  const auto columns = static_cast<std::size_t>(to.rank == 1 ? 1 : to.shape[1]);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::vector<const Byte*> factors;
      for (const std::int64_t col : rows[row].cols)
        factors.push_back(b_elements[static_cast<std::size_t>(col) * columns + column]);
      kernels::reference::sum_of_products(type.type, rows[row].values.data(), factors.data(),
                                          static_cast<std::int64_t>(factors.size()),
                                          alpha_element.data(),
                                          beta == 0 ? nullptr : beta_element.data(),
                                          expected.data() + (row * columns + column) * width);
    }
  }
  return expected;
}

inline void expect_elements(Array& out, const NamedType& type, const std::vector<Byte>& expected) {
  const std::vector<Byte*> elements = out.elements();
  const std::size_t width = element_size(type.dtype);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    ASSERT_TRUE(is_same_element(type.type, elements[i], expected.data() + i * width))
        << "element " << i << " of " << describe(out.view());
  }
  EXPECT_TRUE(out.gaps_are_intact());
}

inline constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                                 TNR_SPARSE_FORMAT_CSC};
inline constexpr tnr_orientation kOrientations[] = {TNR_ORIENTATION_AS_IS,
                                                    TNR_ORIENTATION_TRANSPOSED};

}  // namespace tenure::test
