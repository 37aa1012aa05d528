// From sparse to dense: the elements that a matrix was made of, with zeros for the rest; under each
// instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse_arrays.hpp"
#include "tenure/sparse.hpp"
#include "test_context.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_COO,
                                          TNR_SPARSE_FORMAT_CSC};

// Some elements, and zeros without a sign.
void fill_sparsely(Array& array, unsigned period, Random& random) {
  const std::size_t width = element_size(array.view().dtype);
  for (Byte* const element : array.elements()) {
    std::memset(element, 0, width);
    if (random() % period != 0) continue;
    element[0] = static_cast<Byte>(1 + random() % 100);
    element[width - 1] = static_cast<Byte>(random() % 60);
  }
}

std::vector<Byte> bytes_of(Array& array) {
  std::vector<Byte> bytes;
  for (const Byte* const element : array.elements()) {
    bytes.insert(bytes.end(), element, element + element_size(array.view().dtype));
  }
  return bytes;
}

void fill_with_ones(Array& array) {
  for (Byte* const element : array.elements()) {
    std::memset(element, 0xff, element_size(array.view().dtype));
  }
}

class SparseToDense : public testing::TestWithParam<NamedType> {};

TEST_P(SparseToDense, IsWhatItWasMadeOf) {
  const Shape shapes[] = {{0, 0}, {0, 5},   {5, 0},   {1, 1},   {1, 65},   {7, 3},
                          {3, 1}, {64, 64}, {5, 200}, {300, 7}, {40, 1030}};
  const tnr_dtype dtype = GetParam().dtype;
  Random random(3);
  for (const Shape& shape : shapes) {
    for (const tnr_sparse_format format : kFormats) {
      Array dense(dtype, shape, Arrangement::kRowMajor, random);
      fill_sparsely(dense, 1 + static_cast<unsigned>(random() % 9), random);
      SparseOptions options{};
      options.format = format;
      options.index_dtype = random() % 2 == 0 ? TNR_DTYPE_I32 : TNR_DTYPE_I64;
      const Returned matrix(sparse_from_dense(kDefaultContext, dense.view(), options));
      std::vector<Byte> expected = bytes_of(dense);
      if (dtype == TNR_DTYPE_BOOL8) {
        for (Byte& byte : expected) byte = byte != 0 ? 1 : 0;
      }
      for (const Arrangement arrangement : kWritable) {
        Array out(dtype, shape, arrangement, random);
        fill_with_ones(out);
        sparse_to_dense(kDefaultContext, matrix.view(), out.out());
        EXPECT_EQ(bytes_of(out), expected) << describe(out.view()) << ", format " << format;
        EXPECT_TRUE(out.gaps_are_intact()) << describe(out.view());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, SparseToDense, testing::ValuesIn(kTypes),
                         [](const auto& test) { return dtype_name(test.param.dtype); });

// Large enough to be streamed, in rows that are no whole lines, with and without gaps between them,
// and in rows that no buffer holds.
TEST(SparseToDenseOfMany, IsTheSameForAnyNumberOfThreads) {
  struct Case {
    std::int64_t rows;
    std::int64_t cols;
    std::int64_t gap;  // elements between two rows of the output
  };
  for (const Case& c : {Case{401, 8'003, 0}, Case{1'021, 3'101, 5}, Case{41, 80'003, 0}}) {
    std::vector<double> dense(static_cast<std::size_t>(c.rows * c.cols));
    Random random(1);
    for (std::size_t i = random() % 50; i < dense.size(); i += 1 + random() % 50) {
      dense[i] = static_cast<double>(i);
    }
    const std::int64_t pitch = c.cols + c.gap;
    std::vector<double> expected(static_cast<std::size_t>(c.rows * pitch), -1.0);
    for (std::int64_t row = 0; row < c.rows; ++row) {
      std::copy_n(dense.begin() + row * c.cols, c.cols, expected.begin() + row * pitch);
    }
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_COO}) {
      SparseOptions options{};
      options.format = format;
      const Returned matrix(sparse_from_dense(
          kDefaultContext, flat_view(dense.data(), TNR_DTYPE_F64, {c.rows, c.cols}), options));
      for (const unsigned threads : {1u, 3u}) {
        std::vector<double> out(expected.size(), -1.0);
        const tnr_view whole = flat_view(out.data(), TNR_DTYPE_F64, {c.rows, pitch});
        sparse_to_dense(TestContext(threads), matrix.view(), {slice(whole, 1, 0, c.cols, 1)});
        EXPECT_TRUE(out == expected) << c.cols << " columns, " << threads << " threads";
      }
    }
  }
}

// A matrix of literals, into 3 by 4 elements in row-major order.
std::vector<float> dense_of(const SparseModel& model, tnr_dtype index_dtype) {
  SparseArrays arrays(model, index_dtype);
  std::vector<float> out(static_cast<std::size_t>(model.rows * model.cols), 9.0f);
  const tnr_view view = flat_view(out.data(), TNR_DTYPE_F32, {model.rows, model.cols});
  sparse_to_dense(kDefaultContext, arrays.view(), {view});
  return out;
}

TEST(SparseToDenseOfLentViews, EveryFormat) {
  const std::vector<float> expected = {1, 0, 2, 0, 0, 0, 0, 0, 3, 4, 0, 5};
  for (const tnr_dtype dtype : kIndexDtypes) {
    for (SparseModel model : {coo_model(), csr_model(), csc_model()}) {
      EXPECT_EQ(dense_of(model, dtype), expected);
      model.flags = 0;
      EXPECT_EQ(dense_of(model, dtype), expected);
    }
  }
}

TEST(SparseToDenseOfLentViews, BlocksOfEachWidth) {
  for (const std::int64_t block_cols : {1, 2, 3, 4, 8, 16}) {
    SparseModel model{.format = TNR_SPARSE_FORMAT_BSR,
                      .rows = 4,
                      .cols = 3 * block_cols,
                      .major = {0, 1, 3},
                      .minor = {2, 0, 1},
                      .flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE,
                      .block_rows = 2,
                      .block_cols = block_cols};
    std::vector<float> expected(static_cast<std::size_t>(model.rows * model.cols));
    for (std::int64_t block = 0; block < 3; ++block) {
      for (std::int64_t i = 0; i < 2 * block_cols; ++i) {
        const float value = static_cast<float>(model.values.size() + 1);
        const std::int64_t row = (block == 0 ? 0 : 2) + i / block_cols;
        const std::int64_t column =
            model.minor[static_cast<std::size_t>(block)] * block_cols + i % block_cols;
        expected[static_cast<std::size_t>(row * model.cols + column)] = value;
        model.values.push_back(value);
      }
    }
    for (const std::uint32_t flags : {model.flags, 0u}) {
      model.flags = flags;
      EXPECT_EQ(dense_of(model, TNR_DTYPE_I32), expected) << block_cols;
    }
    // Column by column: elements of a block are not adjacent.
    SparseArrays arrays(model, TNR_DTYPE_I64);
    std::vector<float> out(expected.size(), 9.0f);
    tnr_view view = flat_view(out.data(), TNR_DTYPE_F32, {model.cols, model.rows});
    sparse_to_dense(kDefaultContext, arrays.view(), {transpose(view, 0, 1)});
    for (std::int64_t i = 0; i < model.rows * model.cols; ++i) {
      EXPECT_EQ(out[static_cast<std::size_t>(i % model.cols * model.rows + i / model.cols)],
                expected[static_cast<std::size_t>(i)]);
    }
  }
}

TEST(SparseToDenseOfLentViews, SeveralEntriesForOnePositionAreAddedUp) {
  const std::vector<float> expected = {0, 6, 0, 4};
  const SparseModel coo{.format = TNR_SPARSE_FORMAT_COO,
                        .rows = 2,
                        .cols = 2,
                        .major = {0, 1, 0, 0},
                        .minor = {1, 1, 1, 1},
                        .values = {1, 4, 2, 3}};
  EXPECT_EQ(dense_of(coo, TNR_DTYPE_I32), expected);
  const SparseModel sorted{.format = TNR_SPARSE_FORMAT_COO,
                           .rows = 2,
                           .cols = 2,
                           .major = {0, 0, 0, 1},
                           .minor = {1, 1, 1, 1},
                           .values = {1, 2, 3, 4},
                           .flags = TNR_SPARSE_SORTED};
  EXPECT_EQ(dense_of(sorted, TNR_DTYPE_I64), expected);
  const SparseModel csr{.format = TNR_SPARSE_FORMAT_CSR,
                        .rows = 2,
                        .cols = 2,
                        .major = {0, 3, 4},
                        .minor = {1, 1, 1, 1},
                        .values = {1, 2, 3, 4}};
  EXPECT_EQ(dense_of(csr, TNR_DTYPE_I32), expected);
  const SparseModel bsr{.format = TNR_SPARSE_FORMAT_BSR,
                        .rows = 2,
                        .cols = 2,
                        .major = {0, 2},
                        .minor = {0, 0},
                        .values = {0, 1, 0, 4, 0, 5, 0, 0},
                        .block_rows = 2,
                        .block_cols = 2};
  EXPECT_EQ(dense_of(bsr, TNR_DTYPE_I32), expected);
}

// 2048 + 1 + 1 + 1 is 2051 in f32, which f16 rounds to 2052; adding one by one it stays at 2048.
TEST(SparseToDenseOfLentViews, HalvesAreAddedUpAndRoundedOnce) {
  const std::vector<std::uint16_t> f16s = {0x6800, 0x3c00, 0x3c00, 0x3c00};   // 2048, 1, 1, 1
  const std::vector<std::uint16_t> bf16s = {0x4380, 0x3f80, 0x3f80, 0x3f80};  // 256, 1, 1, 1
  const SparseModel coo{.format = TNR_SPARSE_FORMAT_COO,
                        .rows = 1,
                        .cols = 2,
                        .major = {0, 0, 0, 0},
                        .minor = {1, 1, 1, 1},
                        .values = {1, 2, 3, 4},
                        .flags = TNR_SPARSE_SORTED};
  SparseModel csr = coo;
  csr.format = TNR_SPARSE_FORMAT_CSR;
  csr.major = {0, 4};
  SparseModel csc = csr;
  csc.format = TNR_SPARSE_FORMAT_CSC;
  csc.major = {0, 0, 4};
  csc.minor = {0, 0, 0, 0};
  SparseModel bsr = csr;
  bsr.format = TNR_SPARSE_FORMAT_BSR;
  bsr.block_rows = bsr.block_cols = 1;
  for (const SparseModel& model : {coo, csr, csc, bsr}) {
    for (const tnr_dtype index_dtype : kIndexDtypes) {
      for (const auto& [dtype, values, sum] :
           {std::tuple{TNR_DTYPE_F16, f16s, 0x6802}, {TNR_DTYPE_BF16, bf16s, 0x4382}}) {
        SparseArrays arrays(model, index_dtype);
        tnr_sparse_view view = arrays.view();
        view.values = model.format == TNR_SPARSE_FORMAT_BSR
                          ? flat_view(values.data(), dtype, {4, 1, 1})
                          : flat_view(values.data(), dtype, {4});
        for (const std::uint32_t flags : {model.flags, 0u}) {
          view.flags = flags;
          std::uint16_t out[2] = {9, 9};
          sparse_to_dense(kDefaultContext, view, {flat_view(out, dtype, {1, 2})});
          EXPECT_EQ(out[0], 0);
          EXPECT_EQ(out[1], sum) << model.format;
        }
      }
    }
  }
}

// The order that a flag claims decides which memory is written.
TEST(SparseToDenseOfLentViews, HalvesSaidToBeSortedStayInsideTheirMemory) {
  SparseModel model{.format = TNR_SPARSE_FORMAT_COO, .rows = 3000, .cols = 40};
  for (std::int64_t i = 0; i < 5000; ++i) {
    model.major.push_back((i * 1999) % 3000);
    model.minor.push_back(i % 2);
    model.values.push_back(1);
  }
  SparseArrays arrays(model, TNR_DTYPE_I32);
  const std::vector<std::uint16_t> ones(5000, 0x3c00);
  tnr_sparse_view view = arrays.view();
  view.values = flat_view(ones.data(), TNR_DTYPE_F16, {5000});
  view.flags = TNR_SPARSE_SORTED;
  std::vector<std::uint16_t> out(3000 * 40);
  const tnr_view_mut to = {flat_view(out.data(), TNR_DTYPE_F16, {3000, 40})};
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"sorted"},
               [&] { sparse_to_dense(kDefaultContext, view, to); });
}

TEST(SparseToDenseOfLentViews, RangesOfRows) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_sparse_view view = arrays.view();
  view.rows = 2;
  view.major = slice(view.major, 0, 1, 4, 1);
  std::vector<float> out(8, 9.0f);
  sparse_to_dense(kDefaultContext, view, {flat_view(out.data(), TNR_DTYPE_F32, {2, 4})});
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 0, 3, 4, 0, 5}));
}

TEST(SparseToDenseRefuses, WrongData) {
  for (SparseModel model : {coo_model(), csr_model(), csc_model()}) {
    model.minor[3] = 100;
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.", "indices[3] is 100"},
                 [&] { dense_of(model, TNR_DTYPE_I32); });
    model.minor[3] = -1;
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.", "indices[3] is -1"},
                 [&] { dense_of(model, TNR_DTYPE_I64); });
  }
  SparseModel model = csr_model();
  model.major[1] = 70;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.row_offsets[1] is 70"},
               [&] { dense_of(model, TNR_DTYPE_I32); });
  // Rows that fall although the flags claim that they rise: they decide which rows a thread writes.
  model = coo_model();
  std::reverse(model.major.begin(), model.major.end());
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a."}, [&] { dense_of(model, TNR_DTYPE_I32); });
}

TEST(SparseToDenseRefuses, OutputsThatDoNotFit) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  std::vector<float> out(20, 9.0f);
  const auto refused = [&](tnr_status status, std::initializer_list<std::string> words,
                           const tnr_view& view) {
    expect_error(status, words, [&] { sparse_to_dense(kDefaultContext, arrays.view(), {view}); });
  };
  refused(TNR_STATUS_INVALID_ARGUMENT, {"out.rank is 1", "2"},
          flat_view(out.data(), TNR_DTYPE_F32, {12}));
  refused(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 4", "a.rows is 3"},
          flat_view(out.data(), TNR_DTYPE_F32, {4, 4}));
  refused(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[1] is 5", "a.cols is 4"},
          flat_view(out.data(), TNR_DTYPE_F32, {3, 5}));
  refused(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is i32", "f32"},
          flat_view(out.data(), TNR_DTYPE_I32, {3, 4}));
  EXPECT_EQ(out, std::vector<float>(20, 9.0f));
  // Twelve elements from the values on.
  std::vector<float> values(12);
  tnr_sparse_view a = arrays.view();
  a.values = flat_view(values.data(), TNR_DTYPE_F32, {5});
  expect_error(TNR_STATUS_ALIASED, {"out shares bytes with a.values"}, [&] {
    sparse_to_dense(kDefaultContext, a, {flat_view(values.data(), TNR_DTYPE_F32, {3, 4})});
  });
}

TEST(SparseToDenseRefuses, SumsOfWhatCannotBeAdded) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_sparse_view a = arrays.view();
  a.flags = 0;
  std::vector<Byte> values(5);
  std::vector<Byte> out(12);
  a.values = flat_view(values.data(), TNR_DTYPE_BOOL8, {5});
  expect_error(TNR_STATUS_UNSUPPORTED, {"not said to be UNIQUE", "bool8"}, [&] {
    sparse_to_dense(kDefaultContext, a, {flat_view(out.data(), TNR_DTYPE_BOOL8, {3, 4})});
  });
}

}  // namespace
