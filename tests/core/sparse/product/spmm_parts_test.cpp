// Compares sparse times many columns with one plain loop, to the bit, where b, or the sums of a
// transposed product, are so large that rows are computed over one part of them after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "context_options.hpp"
#include "product_patterns.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"
#include "tenure/sparse_voucher.hpp"

namespace tenure::test {
namespace {

// Rows of 0 to 799 entries; each has as many in each part as make it worth the while.
Pattern dense_enough(bool is_sorted, Random& random) {
  Pattern pattern{is_sorted ? "sorted" : "unsorted", 520, 9000, {}};
  for (std::int64_t row = 0; row < pattern.rows; ++row) {
    std::vector<std::int64_t> cols;
    for (std::uint64_t i = random() % 800; row % 50 != 7 && i > 0; --i) {
      cols.push_back(static_cast<std::int64_t>(random() % 9000));
    }
    if (is_sorted) std::sort(cols.begin(), cols.end());
    for (const std::int64_t col : cols) pattern.positions.push_back({row, col});
  }
  return pattern;
}

Pattern transposed(const Pattern& pattern) {
  Pattern turned{pattern.name + ", transposed", pattern.cols, pattern.rows, {}};
  for (const Position& p : pattern.positions) turned.positions.push_back({p.col, p.row});
  return turned;
}

template <class T>
std::vector<T> any_numbers(std::int64_t count, Random& random) {
  std::vector<T> numbers(static_cast<std::size_t>(count));
  for (T& number : numbers) number = static_cast<T>(random() % 100'003) / T{3e4} - T{1.5};
  return numbers;
}

// Entries in their order; then alpha and beta.
template <class T>
std::vector<T> plain(const Pattern& pattern, const std::vector<T>& values, const T* b,
                     std::int64_t columns, T beta, const std::vector<T>& out) {
  std::vector<T> sums(out.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Position& p = pattern.positions[k];
    for (std::int64_t j = 0; j < columns; ++j) {
      sums[static_cast<std::size_t>(p.row * columns + j)] += values[k] * b[p.col * columns + j];
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    sums[i] = beta == 0 ? T{1.25} * sums[i] : T{1.25} * sums[i] + beta * out[i];
  }
  return sums;
}

template <class T>
void expect_plain(const NamedType& type, tnr_dtype index_dtype, const Pattern& pattern,
                  std::int64_t columns, T beta, Random& random,
                  tnr_orientation orientation = TNR_ORIENTATION_AS_IS) {
  SCOPED_TRACE(pattern.name + ", " + std::to_string(columns) + " columns");
  const Pattern product = orientation == TNR_ORIENTATION_AS_IS ? pattern : transposed(pattern);
  std::vector<T> values =
      any_numbers<T>(static_cast<std::int64_t>(pattern.positions.size()), random);
  // Where lines do not begin: one element further than the allocation.
  std::vector<T> b_elements = any_numbers<T>(product.cols * columns + 1, random);
  const tnr_view b = flat_view(b_elements.data() + 1, type.dtype, {product.cols, columns});
  const std::vector<T> before = any_numbers<T>(product.rows * columns, random);
  const std::vector<T> expected =
      plain(product, values, b_elements.data() + 1, columns, beta, before);
  const ContextToken token = context_create(options(2));
  Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, index_dtype, type, random);
  a.view().values =
      flat_view(values.data(), type.dtype, {static_cast<std::int64_t>(values.size())});
  const auto expect_on = [&](const Context& context, SparseToken owner) {
    a.view().owner = owner;
    std::vector<T> out = before;
    const tnr_view to = flat_view(out.data(), type.dtype, {product.rows, columns});
    sparse_matmul(context, number(1.25), a.view(), orientation, b,
                  number(static_cast<double>(beta)), {to});
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), out.size() * sizeof(T)), 0);
  };
  expect_on(kDefaultContext, 0);
  expect_on(kDefaultContext, sparse_voucher());
  expect_on(ContextUse(token), sparse_voucher());
  context_release(token);
}

TEST(SparseMatmulParts, SumsAreInTheOrderOfEntries) {
  Random random(51);
  for (const bool is_sorted : {true, false}) {
    const Pattern pattern = dense_enough(is_sorted, random);
    expect_plain<double>(kTypes[0], kIndexDtypes[is_sorted], pattern, 32, 0, random);
    expect_plain<float>(kTypes[1], kIndexDtypes[!is_sorted], pattern, 64, 0, random);
  }
}

// Columns beyond a panel, and an out that is read.
TEST(SparseMatmulParts, MoreColumns) {
  Random random(52);
  const Pattern pattern = dense_enough(true, random);
  expect_plain<float>(kTypes[1], TNR_DTYPE_I32, pattern, 67, 0, random);
  expect_plain<float>(kTypes[1], TNR_DTYPE_I64, pattern, 64, 0.5f, random);
}

// Sums that the entries of many rows go to.
TEST(SparseMatmulParts, TransposedSumsAreInTheOrderOfEntries) {
  Random random(53);
  for (const bool is_sorted : {true, false}) {
    const Pattern pattern = dense_enough(is_sorted, random);
    expect_plain<double>(kTypes[0], kIndexDtypes[is_sorted], pattern, 43, 0, random,
                         TNR_ORIENTATION_TRANSPOSED);
    expect_plain<float>(kTypes[1], kIndexDtypes[!is_sorted], pattern, 67, 0.5f, random,
                        TNR_ORIENTATION_TRANSPOSED);
  }
}

}  // namespace
}  // namespace tenure::test
