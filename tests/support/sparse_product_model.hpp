// The product of two sparse matrices by its definition.
#pragma once

#include <map>

#include "compressed_matrix.hpp"
#include "dense_model.hpp"

namespace tenure::test {

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

// A matrix whose rows have the columns that columns(row) says.
template <class T, class I, class Columns>
CompressedMatrix<T, I> matrix_of(std::int64_t rows, std::int64_t cols, const Columns& columns,
                                 Random& random) {
  CompressedMatrix<T, I> matrix(rows, cols);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int64_t col : columns(row)) matrix.add(col, random_value<T>(random));
    matrix.end_row();
  }
  return matrix;
}

}  // namespace tenure::test
