// Compares Kronecker products of sparse matrices with their definition.
#include <gtest/gtest.h>

#include "compressed_matrix.hpp"
#include "cpu/kernels/reference.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse_patterns.hpp"
#include "tenure/sparse.hpp"
#include "view/operand_checks.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC};

Pattern kron_of(const Pattern& a, const Pattern& b) {
  Pattern all{"", a.rows * b.rows, a.cols * b.cols, {}};
  for (const Entry& left : a.entries) {
    for (const Entry& right : b.entries) {
      all.entries.push_back(
          {left.row * b.rows + right.row, left.col * b.cols + right.col, left.value * right.value});
    }
  }
  return all;
}

void expect_kron(const Pattern& a, const Pattern& b, tnr_sparse_format format,
                 tnr_dtype index_dtype) {
  SCOPED_TRACE(a.name + " and " + b.name + ", format " + std::to_string(format));
  static const TestContext two(2);
  SparseModel a_model = model_of(a, format);
  SparseModel b_model = model_of(b, format);
  a_model.flags = flags_of(a, format);
  b_model.flags = flags_of(b, format);
  SparseArrays left(a_model, index_dtype);
  SparseArrays right(b_model, index_dtype);
  const Pattern expected = kron_of(a, b);
  SparseArrays as_expected(model_of(expected, format), index_dtype);
  const Returned made(sparse_kron(two, left.view(), right.view()));
  EXPECT_TRUE(made.content() == content_of(as_expected.view()));
  const std::uint32_t both = a_model.flags & b_model.flags;
  const bool is_sorted = a_model.flags == kCoalesced && (both & TNR_SPARSE_SORTED) != 0;
  EXPECT_EQ(made.view().flags, (is_sorted ? TNR_SPARSE_SORTED : 0u) | (both & TNR_SPARSE_UNIQUE));
  EXPECT_EQ(made.view().rows, expected.rows);
  EXPECT_EQ(made.view().cols, expected.cols);
}

TEST(SparseKron, IsItsDefinition) {
  std::vector<Pattern> patterns = small_patterns();
  std::erase_if(patterns, [](const Pattern& pattern) { return pattern.rows > 1000; });
  Pattern duplicates = random_pattern("sorted, with duplicates", 4, 6, 50, 8);
  std::stable_sort(duplicates.entries.begin(), duplicates.entries.end(), precedes);
  patterns.push_back(duplicates);
  for (const tnr_sparse_format format : kFormats) {
    for (const Pattern& a : patterns) {
      for (const Pattern& b : patterns) {
        if (a.entries.size() * b.entries.size() > 100'000) continue;
        expect_kron(a, b, format, a.entries.size() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64);
      }
    }
  }
}

// More products in a row than wait at a time, and more slices than one.
TEST(SparseKron, OfLongRows) {
  const Pattern line = coalesced(random_pattern("a line", 1, 3000, 9000, 41), precedes);
  const Pattern row = coalesced(random_pattern("rows", 3, 70, 300, 42), precedes);
  const Pattern identity{"identity", 3, 3, {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}}};
  for (const tnr_sparse_format format : kFormats) {
    for (const Pattern& other : {row, identity}) {
      expect_kron(line, other, format, TNR_DTYPE_I32);
      expect_kron(other, line, format, TNR_DTYPE_I64);
    }
  }
}

// Each product equals that of the kernels' reference implementation, for each dtype: floats round
// once, integers wrap.
TEST(SparseKron, MultipliesEveryDtype) {
  const std::int32_t offsets[] = {0, 2, 4};
  const std::int32_t columns[] = {0, 1, 0, 1};
  Random random(43);
  for (const tnr_dtype dtype :
       {TNR_DTYPE_F64, TNR_DTYPE_F32, TNR_DTYPE_F16, TNR_DTYPE_BF16, TNR_DTYPE_I8, TNR_DTYPE_I16,
        TNR_DTYPE_I32, TNR_DTYPE_I64, TNR_DTYPE_U8, TNR_DTYPE_U16, TNR_DTYPE_U32, TNR_DTYPE_U64}) {
    const std::size_t width = element_size(dtype);
    std::vector<unsigned char> values(8 * width);
    for (unsigned char& byte : values) byte = static_cast<unsigned char>(random());
    // Floats of an exponent that no product leaves.
    if ((dtype & 0xffu) == (TNR_DTYPE_F32 & 0xffu) || (dtype & 0xffu) == (TNR_DTYPE_BF16 & 0xffu)) {
      for (std::size_t k = 1; k <= 8; ++k) values[k * width - 1] = 0x3c;
    }
    const auto view = [&](std::size_t first) {
      CompressedMatrix<float, std::int32_t> shape(0, 2);
      tnr_sparse_view of = shape.view();
      of.rows = 2;
      of.major = flat_view(offsets, TNR_DTYPE_I32, {3});
      of.minor = flat_view(columns, TNR_DTYPE_I32, {4});
      of.values = flat_view(values.data() + first * width, dtype, {4});
      return of;
    };
    const Returned made(sparse_kron(kDefaultContext, view(0), view(4)));
    const SparseContent content = made.content();
    for (std::size_t k = 0; k < 16; ++k) {
      // Row k / 4 is (i, j), with the columns (0, 0), (0, 1), (1, 0), (1, 1).
      const std::size_t a = k / 8 * 2 + k % 4 / 2;
      const std::size_t b = 4 + k / 4 % 2 * 2 + k % 2;
      unsigned char expected[8];
      kernels::reference::binary(TNR_BINARY_OP_MUL - 1,
                                 static_cast<kernels::Type>(type_index(dtype)),
                                 values.data() + a * width, values.data() + b * width, expected);
      EXPECT_EQ(std::memcmp(content.values.data() + k * width, expected, width), 0)
          << dtype_name(dtype) << ' ' << k;
    }
  }
}

TEST(SparseKron, RefusesWhatHasNoProduct) {
  const auto multiply = [](const tnr_sparse_view& a, const tnr_sparse_view& b) {
    sparse_release(sparse_kron(kDefaultContext, a, b));
  };
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  SparseArrays csc(csc_model(), TNR_DTYPE_I32);
  SparseArrays coo(coo_model(), TNR_DTYPE_I32);
  SparseArrays bsr(bsr_model(), TNR_DTYPE_I32);
  SparseArrays wide(csr_model(), TNR_DTYPE_I64);
  const tnr_sparse_view& a = csr.view();
  const CompressedMatrix<double, std::int32_t> doubles(0, 4);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.format is 2 but b.format is 3"},
               [&] { multiply(a, csc.view()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.values.dtype is f64", "f32"},
               [&] { multiply(a, doubles.view()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b's indices", "i64"},
               [&] { multiply(a, wide.view()); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 1"}, [&] { multiply(coo.view(), a); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"b.format is 4"}, [&] { multiply(a, bsr.view()); });
  for (const tnr_dtype dtype : {TNR_DTYPE_BOOL8, TNR_DTYPE_C64}) {
    const std::vector<unsigned char> bytes(5 * 8);
    tnr_sparse_view other = a;
    other.values = flat_view(bytes.data(), dtype, {5});
    expect_error(TNR_STATUS_UNSUPPORTED, {"the Kronecker product does not take", dtype_name(dtype)},
                 [&] { multiply(other, other); });
  }
  SparseModel wrong = csr_model();
  wrong.minor[1] = 4;
  SparseArrays wrong_arrays(wrong, TNR_DTYPE_I32);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.col_indices[1] is 4"},
               [&] { multiply(a, wrong_arrays.view()); });
}

TEST(SparseKron, RefusesMoreThanIndicesCount) {
  CompressedMatrix<float, std::int32_t> narrow(1, 1 << 20);
  narrow.end_row();
  CompressedMatrix<float, std::int64_t> wide(1, std::int64_t{1} << 40);
  wide.end_row();
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"cols of the result reach 1099511627775 but i32"},
               [&] { sparse_kron(kDefaultContext, narrow.view(), narrow.view()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT,
               {"cols of a and b are 1099511627776 and 1099511627776, whose product is more than"},
               [&] { sparse_kron(kDefaultContext, wide.view(), wide.view()); });
  CompressedMatrix<float, std::int32_t> many(1, 1);
  for (int k = 0; k < 1 << 16; ++k) many.add(0, 1);
  many.end_row();
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"offsets of the result reach 4294967296 but i32"},
               [&] { sparse_kron(kDefaultContext, many.view(), many.view()); });
}

}  // namespace
