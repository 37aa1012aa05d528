// The sign of zeros in dense memory: a sum begins with its first entry, so that a single -0.0 keeps
// its sign, also where other positions of its row have several entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "product_patterns.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

// Small numbers, zeros of both signs above all.
void fill_with_zeros(Matrix& a, Type type, Random& random) {
  constexpr double kNumbers[] = {-0.0, -0.0, 0.0, 1, -1};
  for (std::size_t k = 0; k < a.positions().size(); ++k) {
    reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&kNumbers[random() % 5]), type,
                    const_cast<Byte*>(a.value(k)));
  }
}

// Each element the sum of its entries in their order, from the first of them on; 0.0 without any.
std::vector<Byte> sums_of(const Matrix& a, std::int64_t rows, std::int64_t cols, Type type,
                          std::size_t width) {
  std::vector<std::optional<double>> sums(static_cast<std::size_t>(rows * cols));
  const std::vector<Position> positions = a.positions();
  for (std::size_t k = 0; k < positions.size(); ++k) {
    double value;
    reference::cast(type, a.value(k), Type::kF64, reinterpret_cast<Byte*>(&value));
    auto& sum = sums[static_cast<std::size_t>(positions[k].row * cols + positions[k].col)];
    sum = sum ? *sum + value : value;
  }
  std::vector<Byte> elements(sums.size() * width);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const double sum = sums[i].value_or(0.0);
    reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&sum), type,
                    elements.data() + i * width);
  }
  return elements;
}

std::vector<Byte> bytes_of(Array& array) {
  std::vector<Byte> bytes;
  for (const Byte* const element : array.elements()) {
    bytes.insert(bytes.end(), element, element + element_size(array.view().dtype));
  }
  return bytes;
}

Pattern sorted(Pattern pattern) {
  std::stable_sort(pattern.positions.begin(), pattern.positions.end(),
                   [](const Position& a, const Position& b) {
                     return a.row != b.row ? a.row < b.row : a.col < b.col;
                   });
  return pattern;
}

void expect_sums(const Pattern& pattern, tnr_sparse_format format, std::uint32_t flags,
                 const NamedType& type, Random& random) {
  const std::int64_t block = format == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
  for (const tnr_dtype index_dtype : kIndexDtypes) {
    Matrix a(pattern, format, index_dtype, type, random, block, block);
    fill_with_zeros(a, type.type, random);
    a.view().flags = flags;
    const std::vector<Byte> expected =
        sums_of(a, a.view().rows, a.view().cols, type.type, element_size(type.dtype));
    for (const Arrangement arrangement : kWritable) {
      for (const unsigned threads : {1u, 2u}) {
        Array out(type.dtype, {a.view().rows, a.view().cols}, arrangement, random);
        sparse_to_dense(TestContext(threads), a.view(), out.out());
        EXPECT_EQ(bytes_of(out), expected) << pattern.name << ", format " << format << ", dtype "
                                           << type.dtype << ", " << describe(out.view());
      }
    }
  }
}

TEST(SparseToDenseZeros, KeepTheSignsOfSums) {
  Random random(31);
  const std::vector<Pattern> all = {
      scattered(9, 7, 40, random),
      scattered(3, 50, 90, random),
      {"beside two of a position", 1, 3, {{0, 0}, {0, 2}, {0, 0}}},
      {"two of a position", 2, 2, {{1, 1}, {1, 1}}},
  };
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[3]}) {
    for (const Pattern& pattern : all) {
      for (int round = 0; round < 8; ++round) {
        for (const tnr_sparse_format format : kFormats)
          expect_sums(pattern, format, 0, type, random);
        expect_sums(sorted(pattern), TNR_SPARSE_FORMAT_COO, TNR_SPARSE_SORTED, type, random);
        expect_sums(sorted(pattern), TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_SORTED, type, random);
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
