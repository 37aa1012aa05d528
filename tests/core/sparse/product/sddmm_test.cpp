// Compares sampled products with one sum after the other.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "product_patterns.hpp"
#include "sparse_arrays.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

// Runs one call and compares its results; the numbers are small, so that sums are exact in any
// order.
void expect_samples(Matrix& a, const NamedType& type, std::int64_t length, Arrangement x_lie,
                    Arrangement y_lie, std::uint32_t flags, Random& random) {
  const tnr_sparse_view& view = a.view();
  Array x(type.dtype, {view.rows, length}, x_lie, random);
  Array y(type.dtype, {length, view.cols}, y_lie, random);
  Shape shape(view.values.shape, view.values.shape + view.values.rank);
  Array out(type.dtype, shape, Arrangement::kRowMajor, random);
  for (Array* const array : {&x, &y}) fill_with_numbers(*array, type.type, random);
  fill_with_numbers(out, type.type, random, Nans::kSome);
  sparse_sddmm(kDefaultContext, number(2), view, flags, x.view(), y.view(), out.out());
  const std::vector<Byte*> xs = x.elements();
  const std::vector<Byte*> ys = y.elements();
  const std::vector<Byte*> outs = out.elements();
  const std::vector<Byte> two = element_of(type.type, 2);
  const std::vector<Position> positions = a.positions();
  ASSERT_EQ(positions.size(), outs.size());
  for (std::size_t k = 0; k < positions.size(); ++k) {
    std::vector<const Byte*> left;
    std::vector<const Byte*> right;
    for (std::int64_t i = 0; i < length; ++i) {
      left.push_back(xs[static_cast<std::size_t>(positions[k].row * length + i)]);
      right.push_back(ys[static_cast<std::size_t>(i * view.cols + positions[k].col)]);
    }
    Byte expected[8] = {};
    if (flags == 0) {
      reference::sum_of_products(type.type, left.data(), right.data(), length, two.data(), nullptr,
                                 expected);
    } else {
      // A product of two numbers of eighths is exact in f64, as is that of integers in their own.
      const Type wide = is_float(type.type) ? Type::kF64 : type.type;
      std::vector<std::vector<Byte>> wides;
      for (auto* const side : {&left, &right}) {
        for (const Byte*& element : *side) {
          wides.emplace_back(8);
          reference::cast(type.type, element, wide, wides.back().data());
          element = wides.back().data();
        }
      }
      Byte sum[8] = {};
      const std::vector<Byte> wide_two = element_of(wide, 2);
      reference::sum_of_products(wide, left.data(), right.data(), length, wide_two.data(), nullptr,
                                 sum);
      Byte value[8] = {};
      reference::cast(type.type, a.value(k), wide, value);
      constexpr unsigned kMul = 2;
      Byte product[8] = {};
      reference::binary(kMul, wide, sum, value, product);
      reference::cast(wide, product, type.type, expected);
    }
    ASSERT_TRUE(is_same_element(type.type, outs[k], expected)) << "entry " << k;
  }
  EXPECT_TRUE(out.gaps_are_intact());
}

TEST(SparseSddmm, EveryFormatOverEveryPattern) {
  Random random(5);
  for (const Pattern& pattern : patterns()) {
    for (const tnr_sparse_format format : kFormats) {
      for (const tnr_dtype index_dtype : kIndexDtypes) {
        SCOPED_TRACE(pattern.name + ", format " + std::to_string(format));
        Matrix a(pattern, format, index_dtype, kTypes[1], random);
        expect_samples(a, kTypes[1], 3, Arrangement::kRowMajor, Arrangement::kColumnMajor, 0,
                       random);
      }
    }
  }
}

TEST(SparseSddmm, EveryTypeAndLength) {
  Random random(6);
  const Pattern pattern = scattered(9, 8, 20, random);
  for (const NamedType& type : kTypes) {
    if (type.type == Type::kBool8) continue;
    Matrix a(pattern, TNR_SPARSE_FORMAT_CSR, TNR_DTYPE_I32, type, random);
    for (const std::int64_t length : {0, 1, 31, 64, 77, 130}) {
      SCOPED_TRACE(length);
      expect_samples(a, type, length, Arrangement::kRowMajor, Arrangement::kColumnMajor, 0, random);
      expect_samples(a, type, length, Arrangement::kRowMajor, Arrangement::kRowMajor,
                     TNR_SDDMM_TIMES_VALUES, random);
    }
  }
}

TEST(SparseSddmm, EveryLayoutAndBlocks) {
  Random random(7);
  const Pattern pattern = scattered(5, 4, 9, random);
  for (const auto& [rows, cols] : {std::pair{1, 1}, std::pair{2, 3}, std::pair{4, 4}}) {
    Matrix a(pattern, TNR_SPARSE_FORMAT_BSR, TNR_DTYPE_I64, kTypes[0], random, rows, cols);
    for (const Arrangement x : kReadable) {
      for (const Arrangement y : kReadable) {
        expect_samples(a, kTypes[0], 19, x, y, TNR_SDDMM_TIMES_VALUES, random);
      }
    }
  }
}

// Rows that most entries do not name are read where they lie, elements apart or not.
TEST(SparseSddmm, FewEntriesInEveryLayout) {
  Random random(10);
  const Pattern pattern = scattered(90, 80, 7, random);
  for (const NamedType& type : kTypes) {
    if (type.type == Type::kBool8) continue;
    for (const tnr_sparse_format format : kFormats) {
      const std::int64_t block = format == TNR_SPARSE_FORMAT_BSR ? 2 : 1;
      Matrix a(pattern, format, TNR_DTYPE_I32, type, random, block, block);
      for (const std::int64_t length : {0, 1, 33, 257}) {
        SCOPED_TRACE("format " + std::to_string(format) + ", length " + std::to_string(length));
        expect_samples(a, type, length, Arrangement::kColumnMajor, Arrangement::kRowMajor, 0,
                       random);
        expect_samples(a, type, length, Arrangement::kReversed, Arrangement::kGaps, 0, random);
      }
    }
  }
}

TEST(SparseSddmm, SameBitsWhereRowsAreReadInPlace) {
  Random random(11);
  constexpr std::int64_t kLength = 700;
  const Pattern pattern = scattered(90, 90, 20, random);
  std::vector<float> adjacent(90 * kLength);
  std::vector<float> apart(adjacent.size());
  for (std::int64_t row = 0; row < 90; ++row) {
    for (std::int64_t i = 0; i < kLength; ++i) {
      const float value = static_cast<float>(random() % 100'003) / 3e4f - 1.5f;
      adjacent[static_cast<std::size_t>(row * kLength + i)] = value;
      apart[static_cast<std::size_t>(i * 90 + row)] = value;
    }
  }
  const tnr_view rows = flat_view(adjacent.data(), TNR_DTYPE_F32, {90, kLength});
  const tnr_view spaced_rows =
      transpose(flat_view(apart.data(), TNR_DTYPE_F32, {kLength, 90}), 0, 1);
  for (const tnr_sparse_format format : kFormats) {
    Matrix a(pattern, format, TNR_DTYPE_I32, kTypes[1], random);
    const auto result = [&](const tnr_view& x, const tnr_view& y, unsigned threads) {
      std::vector<float> out(20);
      sparse_sddmm(TestContext(threads), number(1), a.view(), 0, x, transpose(y, 0, 1),
                   {flat_view(out.data(), TNR_DTYPE_F32,
                              a.view().values.rank == 3 ? Shape{20, 1, 1} : Shape{20})});
      return out;
    };
    const std::vector<float> expected = result(rows, rows, 1);
    for (const unsigned threads : {1u, 2u}) {
      EXPECT_EQ(result(spaced_rows, spaced_rows, threads), expected) << format;
      EXPECT_EQ(result(spaced_rows, rows, threads), expected) << format;
      EXPECT_EQ(result(rows, spaced_rows, threads), expected) << format;
    }
  }
}

// Compressed rows take some entries at once, and coordinates one after the other.
template <class T>
void expect_bits_of_coordinates(const NamedType& type, std::int64_t length, Random& random) {
  const Pattern pattern = staircase();
  const auto any_numbers = [&random](std::int64_t count) {
    std::vector<T> numbers(static_cast<std::size_t>(count));
    for (T& number : numbers) number = static_cast<T>(random() % 100'003) / T{3e4} - T{1.5};
    return numbers;
  };
  std::vector<T> x = any_numbers(pattern.rows * length);
  std::vector<T> y = any_numbers(pattern.cols * length);
  const tnr_view x_view = flat_view(x.data(), type.dtype, {pattern.rows, length});
  const tnr_view y_view = flat_view(y.data(), type.dtype, {pattern.cols, length});
  const auto count = static_cast<std::int64_t>(pattern.positions.size());
  const auto result = [&](tnr_sparse_format format, tnr_dtype index_dtype, std::uint32_t flags) {
    Random same(3);
    Matrix a(pattern, format, index_dtype, type, same);
    std::vector<T> out(static_cast<std::size_t>(count));
    sparse_sddmm(kDefaultContext, number(0.75), a.view(), flags, x_view, transpose(y_view, 0, 1),
                 {flat_view(out.data(), type.dtype, {count})});
    return out;
  };
  for (const std::uint32_t flags : {0u, std::uint32_t{TNR_SDDMM_TIMES_VALUES}}) {
    const std::vector<T> expected = result(TNR_SPARSE_FORMAT_COO, TNR_DTYPE_I32, flags);
    for (const tnr_dtype index_dtype : kIndexDtypes) {
      EXPECT_EQ(result(TNR_SPARSE_FORMAT_CSR, index_dtype, flags), expected);
    }
  }
}

TEST(SparseSddmm, RowsHaveTheBitsOfCoordinates) {
  Random random(12);
  for (const std::int64_t length : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 64, 77, 130, 257}) {
    SCOPED_TRACE(length);
    expect_bits_of_coordinates<double>(kTypes[0], length, random);
    expect_bits_of_coordinates<float>(kTypes[1], length, random);
  }
}

TEST(SparseSddmm, SameBitsForAnyNumberOfThreadsAndInPlace) {
  Random random(8);
  const Pattern pattern = scattered(300, 200, 20'000, random);
  for (const tnr_sparse_format format : kFormats) {
    Matrix a(pattern, format, TNR_DTYPE_I32, kTypes[1], random);
    Array x(TNR_DTYPE_F32, {300, 70}, Arrangement::kRowMajor, random);
    Array y(TNR_DTYPE_F32, {70, 200}, Arrangement::kRowMajor, random);
    for (Array* const array : {&x, &y}) {
      for (Byte* const element : array->elements()) {
        const float value = static_cast<float>(random() % 100'003) / 3e4f - 1.5f;
        std::memcpy(element, &value, sizeof value);
      }
    }
    const auto result = [&](const Context& context) {
      Random same(1);
      Array out(TNR_DTYPE_F32, {20'000}, Arrangement::kRowMajor, same);
      sparse_sddmm(context, number(1), a.view(), TNR_SDDMM_TIMES_VALUES, x.view(), y.view(),
                   out.out());
      return out.snapshot();
    };
    const std::vector<Byte> serial = result(kDefaultContext);
    for (const unsigned threads : {2u, 3u, 8u}) {
      EXPECT_EQ(serial, result(TestContext(threads)));
    }
    sparse_sddmm(kDefaultContext, number(1), a.view(), TNR_SDDMM_TIMES_VALUES, x.view(), y.view(),
                 {a.view().values});
    EXPECT_EQ(std::memcmp(a.view().values.data, serial.data() + 4, 20'000 * 4), 0);
  }
}

// A range has the entries from its first offset to its last, and one result for each of them: in an
// output of their number, or in place, in only those values.
TEST(SparseSddmm, OfARangeIsOfItsEntriesAlone) {
  Random random(9);
  const Pattern pattern = scattered(40, 30, 500, random);
  for (const tnr_sparse_format format :
       {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC, TNR_SPARSE_FORMAT_BSR}) {
    const bool is_csc = format == TNR_SPARSE_FORMAT_CSC;
    const bool is_bsr = format == TNR_SPARSE_FORMAT_BSR;
    const std::int64_t block = is_bsr ? 2 : 1;
    Matrix a(pattern, format, TNR_DTYPE_I64, kTypes[1], random, block, block);
    Array x(TNR_DTYPE_F32, {a.view().rows, 5}, Arrangement::kRowMajor, random);
    Array y(TNR_DTYPE_F32, {5, a.view().cols}, Arrangement::kRowMajor, random);
    for (Array* const array : {&x, &y}) fill_with_numbers(*array, Type::kF32, random);
    const std::size_t width = static_cast<std::size_t>(block * block);
    std::vector<float> all(500 * width);
    const auto shape_of = [&](std::int64_t count) {
      return is_bsr ? std::vector<std::int64_t>{count, 2, 2} : std::vector<std::int64_t>{count};
    };
    sparse_sddmm(kDefaultContext, number(1), a.view(), TNR_SDDMM_TIMES_VALUES, x.view(), y.view(),
                 {flat_view(all.data(), TNR_DTYPE_F32, shape_of(500))});
    for (const auto& [first_row, end_row] :
         {std::pair{7, 21}, std::pair{0, 12}, std::pair{9, 30}, std::pair{8, 8}}) {
      SCOPED_TRACE(std::to_string(format) + ", rows from " + std::to_string(first_row));
      tnr_sparse_view range = a.view();
      range.major = slice(a.view().major, 0, first_row, end_row + 1, 1);
      (is_csc ? range.cols : range.rows) = (end_row - first_row) * block;
      const tnr_view x_part =
          is_csc ? x.view() : slice(x.view(), 0, first_row * block, end_row * block, 1);
      const tnr_view y_part =
          is_csc ? slice(y.view(), 1, first_row * block, end_row * block, 1) : y.view();
      const EntryRange entries = entry_range(range);
      const std::int64_t count = entries.last - entries.first;
      const auto first = static_cast<std::ptrdiff_t>(entries.first * block * block);
      const std::vector<float> expected(all.begin() + first,
                                        all.begin() + first + count * block * block);
      // An output of exactly these bytes, so that the address sanitizer sees a write past them.
      std::vector<float> out(expected.size(), -77.0f);
      sparse_sddmm(kDefaultContext, number(1), range, TNR_SDDMM_TIMES_VALUES, x_part, y_part,
                   {flat_view(out.data(), TNR_DTYPE_F32, shape_of(count))});
      EXPECT_EQ(out, expected);
      std::vector<float> whole(all.size());
      expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 500"}, [&] {
        sparse_sddmm(kDefaultContext, number(1), range, 0, x_part, y_part,
                     {flat_view(whole.data(), TNR_DTYPE_F32, shape_of(500))});
      });
      std::vector<float> values(all.size());
      std::memcpy(values.data(), a.view().values.data, values.size() * sizeof(float));
      std::vector<float> in_place = values;
      range.values = flat_view(in_place.data(), TNR_DTYPE_F32, shape_of(500));
      sparse_sddmm(kDefaultContext, number(1), range, TNR_SDDMM_TIMES_VALUES, x_part, y_part,
                   {slice(range.values, 0, entries.first, entries.last, 1)});
      std::copy(expected.begin(), expected.end(), values.begin() + first);
      EXPECT_EQ(in_place, values);
    }
  }
}

TEST(SparseSddmm, Refusals) {
  SparseArrays a(csr_model(), TNR_DTYPE_I32);
  std::vector<float> x(6);
  std::vector<float> y(8);
  std::vector<float> out(10);
  tnr_view x_view = flat_view(x.data(), TNR_DTYPE_F32, {3, 2});
  tnr_view y_view = flat_view(y.data(), TNR_DTYPE_F32, {2, 4});
  tnr_view out_view = flat_view(out.data(), TNR_DTYPE_F32, {5});
  const auto expect = [&](tnr_status status, std::initializer_list<std::string> words,
                          std::uint32_t flags = 0) {
    expect_error(status, words, [&] {
      sparse_sddmm(kDefaultContext, number(1), a.view(), flags, x_view, y_view, {out_view});
    });
  };
  expect(TNR_STATUS_INVALID_ARGUMENT, {"flags is 0x2"}, 2);
  x_view = flat_view(x.data(), TNR_DTYPE_F32, {2, 2});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"x.shape[0] is 2 but must be 3, the rows of a"});
  x_view = flat_view(x.data(), TNR_DTYPE_F32, {3, 1});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"y.shape[0] is 2 but must be 1, the columns of x"});
  x_view = flat_view(x.data(), TNR_DTYPE_F32, {3});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"x.rank is 1 but must be 2"});
  x_view = flat_view(x.data(), TNR_DTYPE_F32, {3, 2});
  y_view = flat_view(y.data(), TNR_DTYPE_F32, {2, 3});
  expect(TNR_STATUS_INVALID_ARGUMENT, {"y.shape[1] is 3 but must be 4, the columns of a"});
  y_view = flat_view(y.data(), TNR_DTYPE_F32, {2, 4});
  out_view = slice(flat_view(out.data(), TNR_DTYPE_F32, {10}), 0, 0, 10, 2);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out must be row-major"});
  out_view = flat_view(y.data(), TNR_DTYPE_F32, {5});
  expect(TNR_STATUS_ALIASED, {"y"});
  out_view = flat_view(a.minor(), TNR_DTYPE_F32, {5});
  expect(TNR_STATUS_ALIASED, {"col_indices"});
  Literal<std::uint8_t> truth(TNR_DTYPE_BOOL8, {1, 0, 1, 1, 1});
  a.view().values = truth.view;
  out_view = flat_view(out.data(), TNR_DTYPE_F32, {5});
  expect(TNR_STATUS_UNSUPPORTED, {"sddmm does not take bool8"});
}

// Every offset and index spoilt in turn: a message, and nothing outside of the arrays is touched.
TEST(SparseSddmm, LentIndicesAreChecked) {
  Random random(9);
  for (const SparseModel& model : {coo_model(), csr_model(), csc_model(), bsr_model()}) {
    for (const bool is_major : {true, false}) {
      const std::size_t count = is_major ? model.major.size() : model.minor.size();
      for (std::size_t at = 0; at < count; ++at) {
        for (const std::int64_t wrong : {-1, 1000}) {
          SparseModel spoilt = model;
          (is_major ? spoilt.major : spoilt.minor)[at] = wrong;
          SparseArrays a(spoilt, TNR_DTYPE_I32);
          Array x(TNR_DTYPE_F32, {model.rows, 5}, Arrangement::kRowMajor, random);
          Array y(TNR_DTYPE_F32, {5, model.cols}, Arrangement::kColumnMajor, random);
          const tnr_view& values = a.view().values;
          Array out(TNR_DTYPE_F32, Shape(values.shape, values.shape + values.rank),
                    Arrangement::kRowMajor, random);
          expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.", std::to_string(wrong)}, [&] {
            sparse_sddmm(kDefaultContext, number(1), a.view(), 0, x.view(), y.view(), out.out());
          });
          EXPECT_TRUE(out.gaps_are_intact());
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
