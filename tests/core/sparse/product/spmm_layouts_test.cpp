// Sparse times dense in every layout: bits depend on the numbers and the shapes only.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "product_patterns.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

// Numbers that no sum holds exactly.
void fill_unevenly(Array& array, const NamedType& type, Random& random) {
  std::normal_distribution<double> normal;
  for (Byte* const element : array.elements()) {
    const double value = is_float(type.type) ? normal(random) : normal(random) * 1e4;
    Byte bytes[8];
    std::memcpy(bytes, &value, sizeof value);
    kernels::reference::cast(Type::kF64, bytes, type.type, element);
  }
}

void copy_elements(Array& from, Array& to) {
  const std::vector<Byte*> elements = from.elements();
  const std::vector<Byte*> copies = to.elements();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::memcpy(copies[i], elements[i], element_size(from.view().dtype));
  }
}

// A product with a row-major `b` and `out`, and with each of the other layouts. Columns of 0:
// vectors.
void expect_same_bits(Matrix& a, tnr_orientation orientation, const NamedType& type,
                      std::int64_t columns, double beta, Random& random) {
  const bool as_is = orientation == TNR_ORIENTATION_AS_IS;
  const auto shape = [&](std::int64_t rows) {
    return columns == 0 ? Shape{rows} : Shape{rows, columns};
  };
  const Shape b_shape = shape(as_is ? a.view().cols : a.view().rows);
  const Shape out_shape = shape(as_is ? a.view().rows : a.view().cols);
  Array plain_b(type.dtype, b_shape, Arrangement::kRowMajor, random);
  Array before(type.dtype, out_shape, Arrangement::kRowMajor, random);
  Array plain_out(type.dtype, out_shape, Arrangement::kRowMajor, random);
  fill_unevenly(plain_b, type, random);
  fill_unevenly(before, type, random);
  copy_elements(before, plain_out);
  const auto multiply = [&](const Array& b, const Array& out) {
    sparse_matmul(kDefaultContext, number(3), a.view(), orientation, b.view(), number(beta),
                  out.out());
  };
  multiply(plain_b, plain_out);
  std::vector<Byte> expected;
  for (const Byte* const element : plain_out.elements()) {
    expected.insert(expected.end(), element, element + element_size(type.dtype));
  }
  for (const Arrangement b_lie : kWritable) {
    Array b(type.dtype, b_shape, b_lie, random);
    copy_elements(plain_b, b);
    for (const Arrangement out_lie : kWritable) {
      const bool is_plain = b_lie == Arrangement::kRowMajor || out_lie == Arrangement::kRowMajor;
      if (!is_plain && out_lie != b_lie) continue;
      Array out(type.dtype, out_shape, out_lie, random);
      copy_elements(before, out);
      multiply(b, out);
      SCOPED_TRACE("b is " + describe(b.view()));
      expect_elements(out, type, expected);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

struct Blocks {
  tnr_sparse_format format;
  std::int64_t rows;
  std::int64_t columns;
};
constexpr Blocks kAll[] = {{TNR_SPARSE_FORMAT_COO, 1, 1}, {TNR_SPARSE_FORMAT_CSR, 1, 1},
                           {TNR_SPARSE_FORMAT_CSC, 1, 1}, {TNR_SPARSE_FORMAT_BSR, 2, 2},
                           {TNR_SPARSE_FORMAT_BSR, 1, 4}, {TNR_SPARSE_FORMAT_BSR, 8, 1},
                           {TNR_SPARSE_FORMAT_BSR, 3, 2}};

// Fewer entries than `b` has rows, and more; few rows of `b`, and few of `out`.
std::vector<Pattern> few_and_many(Random& random) {
  return {scattered(9, 70, 60, random), scattered(20, 30, 200, random),
          scattered(300, 2, 200, random), scattered(2, 300, 200, random)};
}

TEST(SparseMatmulLayouts, HaveTheSameBits) {
  Random random(1);
  for (const Pattern& pattern : few_and_many(random)) {
    for (const auto& [format, block_rows, block_cols] : kAll) {
      for (const NamedType& type : kTypes) {
        if (type.type > Type::kI8 || type.type == Type::kBF16) continue;
        Matrix a(pattern, format, TNR_DTYPE_I32, type, random, block_rows, block_cols);
        const bool has_own_kernels = type.type <= Type::kF32;
        for (const tnr_orientation orientation : kOrientations) {
          SCOPED_TRACE(std::to_string(pattern.rows) + " by " + std::to_string(pattern.cols) +
                       ", format " + std::to_string(format) + ", orientation " +
                       std::to_string(orientation));
          for (const std::int64_t columns : {0, 1, 3, 17, 65}) {
            if (!has_own_kernels && columns > 3) continue;
            expect_same_bits(a, orientation, type, columns, columns % 2 == 0 ? 0 : 2, random);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// The last panel of columns, which may be one column, has these bits too.
TEST(SparseMatmulLayouts, ColumnsOfAMatrixHaveTheBitsOfAnyTwo) {
  Random random(2);
  const Pattern pattern = scattered(20, 30, 200, random);
  for (const auto& [format, block_rows, block_cols] : kAll) {
    if (format != TNR_SPARSE_FORMAT_CSR && format != TNR_SPARSE_FORMAT_BSR) continue;
    for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2]}) {
      Matrix a(pattern, format, TNR_DTYPE_I32, type, random, block_rows, block_cols);
      for (const std::int64_t columns : {5, 33, 65, 129}) {
        Array b(type.dtype, {a.view().cols, columns}, Arrangement::kRowMajor, random);
        Array out(type.dtype, {a.view().rows, columns}, Arrangement::kRowMajor, random);
        Array of_two(type.dtype, {a.view().rows, 2}, Arrangement::kRowMajor, random);
        fill_unevenly(b, type, random);
        const auto multiply = [&](const tnr_view& from, const tnr_view_mut& to) {
          sparse_matmul(kDefaultContext, number(1), a.view(), TNR_ORIENTATION_AS_IS, from,
                        number(0), to);
        };
        multiply(b.view(), out.out());
        for (std::int64_t first = 0; first + 2 <= columns; ++first) {
          multiply(slice(b.view(), 1, first, first + 2, 1), of_two.out());
          const std::vector<Byte*> elements = out.elements();
          const std::vector<Byte*> twins = of_two.elements();
          for (std::size_t i = 0; i < twins.size(); ++i) {
            const auto at =
                i / 2 * static_cast<std::size_t>(columns) + static_cast<std::size_t>(first) + i % 2;
            ASSERT_TRUE(is_same_element(type.type, twins[i], elements[at]))
                << columns << " columns, from " << first << " on, format " << format << " of "
                << dtype_name(type.dtype) << ": element " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
