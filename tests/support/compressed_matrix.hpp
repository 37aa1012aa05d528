// CSR and CSC matrices of any values, made row by row, for the tests of what computes with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "sparse_arrays.hpp"
#include "test_context.hpp"

namespace tenure::test {

template <class T>
inline constexpr tnr_dtype kDtypeOf = 0;
template <>
inline constexpr tnr_dtype kDtypeOf<float> = TNR_DTYPE_F32;
template <>
inline constexpr tnr_dtype kDtypeOf<double> = TNR_DTYPE_F64;
template <>
inline constexpr tnr_dtype kDtypeOf<std::int32_t> = TNR_DTYPE_I32;
template <>
inline constexpr tnr_dtype kDtypeOf<std::int64_t> = TNR_DTYPE_I64;

inline constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

// The rows of a matrix, as `major` sees them: for CSC its columns. I is the index type.
template <class T, class I>
class CompressedMatrix {
 public:
  CompressedMatrix(std::int64_t rows, std::int64_t cols) : cols_(cols) {
    offsets_.reserve(static_cast<std::size_t>(rows) + 1);
    offsets_.push_back(0);
  }

  void add(std::int64_t col, T value) {
    indices_.push_back(static_cast<I>(col));
    values_.push_back(value);
  }
  void end_row() { offsets_.push_back(static_cast<I>(indices_.size())); }

  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(offsets_.size()) - 1; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  std::vector<I>& offsets() { return offsets_; }
  std::vector<I>& indices() { return indices_; }
  std::vector<T>& values() { return values_; }
  [[nodiscard]] const std::vector<I>& offsets() const { return offsets_; }
  [[nodiscard]] const std::vector<I>& indices() const { return indices_; }
  [[nodiscard]] const std::vector<T>& values() const { return values_; }

  // Lent, unchecked; of CSC the rows here are its columns.
  [[nodiscard]] tnr_sparse_view view(std::uint32_t flags = 0,
                                     tnr_sparse_format format = TNR_SPARSE_FORMAT_CSR) const {
    const auto flat = [](const auto& array) {
      using Entry = typename std::remove_cvref_t<decltype(array)>::value_type;
      return flat_view(array.data(), kDtypeOf<Entry>, {static_cast<std::int64_t>(array.size())});
    };
    tnr_sparse_view view{};
    view.struct_size = sizeof view;
    view.format = format;
    view.flags = flags;
    view.rows = format == TNR_SPARSE_FORMAT_CSC ? cols_ : rows();
    view.cols = format == TNR_SPARSE_FORMAT_CSC ? rows() : cols_;
    view.block_rows = view.block_cols = 1;
    view.major = flat(offsets_);
    view.minor = flat(indices_);
    view.values = flat(values_);
    return view;
  }

 private:
  std::int64_t cols_;
  std::vector<I> offsets_;
  std::vector<I> indices_;
  std::vector<T> values_;
};

using Random = std::mt19937_64;

template <class T>
T random_value(Random& random) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(random() % 19) - 9);
  } else {
    // Some zeros of both signs, and thirds, whose sums depend on their order.
    constexpr T kSpecial[] = {T{0}, -T{0}, T{1}, T{-1}};
    const std::uint64_t kind = random() % 16;
    if (kind < 4) return kSpecial[kind];
    return static_cast<T>(static_cast<std::int64_t>(random() % 20001) - 10000) / T{3};
  }
}

// The distribution of entries in the rows of a matrix.
struct RowShape {
  const char* name;
  std::uint32_t flags;
  // Columns of a row.
  std::vector<std::int64_t> (*columns)(std::int64_t row, std::int64_t cols, Random& random);
};

namespace rows {

using Columns = std::vector<std::int64_t>;

inline Columns few(std::int64_t, std::int64_t cols, Random& random) {
  Columns columns;
  for (std::uint64_t i = random() % 6; cols > 0 && i > 0; --i) {
    columns.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols)));
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}
// Neither sorted nor unique.
inline Columns wild(std::int64_t, std::int64_t cols, Random& random) {
  Columns columns;
  for (std::uint64_t i = random() % 40; cols > 0 && i > 0; --i) {
    columns.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(cols)));
  }
  return columns;
}
inline Columns band(std::int64_t row, std::int64_t cols, Random&) {
  Columns columns;
  for (std::int64_t col = std::max<std::int64_t>(0, row - 3); col < std::min(cols, row + 4); ++col)
    columns.push_back(col);
  return columns;
}
inline Columns full(std::int64_t, std::int64_t cols, Random&) {
  Columns columns;
  for (std::int64_t col = 0; col < cols; ++col) columns.push_back(col);
  return columns;
}
inline Columns none(std::int64_t, std::int64_t, Random&) { return {}; }
// One full row, and a full column at each end.
inline Columns arrow(std::int64_t row, std::int64_t cols, Random& random) {
  if (row == 1) return full(row, cols, random);
  if (cols < 2) return none(row, cols, random);
  return {0, cols - 1};
}
inline Columns every_third(std::int64_t row, std::int64_t cols, Random&) {
  Columns columns;
  for (std::int64_t col = row % 3; col < cols; col += 3) columns.push_back(col);
  return columns;
}

}  // namespace rows

inline constexpr RowShape kRowShapes[] = {
    {"few", kCoalesced, rows::few},           {"wild", 0, rows::wild},
    {"band", kCoalesced, rows::band},         {"full", kCoalesced, rows::full},
    {"none", kCoalesced, rows::none},         {"arrow", kCoalesced, rows::arrow},
    {"third", kCoalesced, rows::every_third},
};

template <class T, class I>
CompressedMatrix<T, I> random_matrix(const RowShape& shape, std::int64_t rows, std::int64_t cols,
                                     Random& random) {
  CompressedMatrix<T, I> matrix(rows, cols);
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const std::int64_t col : shape.columns(row, cols, random)) {
      matrix.add(col, random_value<T>(random));
    }
    matrix.end_row();
  }
  return matrix;
}

}  // namespace tenure::test
