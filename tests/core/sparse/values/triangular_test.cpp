// Compares triangles of sparse matrices with a filter of their entries.
#include <gtest/gtest.h>

#include "compressed_matrix.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse_patterns.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_CSR, TNR_SPARSE_FORMAT_CSC};
constexpr tnr_triangle kTriangles[] = {TNR_TRIANGLE_LOWER, TNR_TRIANGLE_UPPER};

Pattern triangle_of(Pattern pattern, tnr_triangle part, std::int64_t diagonal) {
  std::erase_if(pattern.entries, [&](const Entry& entry) {
    const std::int64_t number = entry.col - entry.row;
    return part == TNR_TRIANGLE_LOWER ? number > diagonal : number < diagonal;
  });
  return pattern;
}

void expect_triangles(const Pattern& pattern, tnr_sparse_format format, tnr_dtype index_dtype,
                      std::initializer_list<std::int64_t> diagonals) {
  SCOPED_TRACE(pattern.name + ", format " + std::to_string(format));
  static const TestContext two(2);
  SparseModel model = model_of(pattern, format);
  model.flags = flags_of(pattern, format);
  SparseArrays arrays(model, index_dtype);
  for (const tnr_triangle part : kTriangles) {
    for (const std::int64_t diagonal : diagonals) {
      const Pattern expected = triangle_of(pattern, part, diagonal);
      SparseArrays as_expected(model_of(expected, format), index_dtype);
      const Returned made(sparse_triangular(two, part, arrays.view(), diagonal));
      EXPECT_TRUE(made.content() == content_of(as_expected.view())) << diagonal;
      EXPECT_EQ(made.view().flags, model.flags);
      EXPECT_EQ(made.view().rows, pattern.rows);
      EXPECT_EQ(made.view().cols, pattern.cols);
    }
  }
}

TEST(SparseTriangular, IsWhatAFilterKeeps) {
  for (const tnr_dtype dtype : kIndexDtypes) {
    for (const tnr_sparse_format format : kFormats) {
      for (const Pattern& pattern : small_patterns()) {
        expect_triangles(pattern, format, dtype,
                         {INT64_MIN, -301, -40, -3, -1, 0, 1, 5, 47, 300, INT64_MAX});
      }
      for (const Pattern& pattern : large_patterns()) {
        expect_triangles(pattern, format, dtype, {-100, 0, 12});
      }
    }
  }
}

// Sorted rows that are long enough to be searched in, with columns several times.
TEST(SparseTriangular, OfLongRowsWithDuplicates) {
  Pattern pattern = random_pattern("long rows", 7, 300, 7000, 21);
  std::stable_sort(pattern.entries.begin(), pattern.entries.end(), precedes);
  ASSERT_EQ(flags_of(pattern, TNR_SPARSE_FORMAT_CSR), TNR_SPARSE_SORTED);
  for (const tnr_sparse_format format : kFormats) {
    expect_triangles(pattern, format, TNR_DTYPE_I32, {-6, -2, 0, 1, 64, 150, 292, 299});
  }
}

// CSR with more columns than any array has elements: rows and diagonals whose sum overflows.
TEST(SparseTriangular, OfMoreColumnsThanMemoryHas) {
  constexpr std::int64_t kMost = INT64_MAX - 1;
  CompressedMatrix<double, std::int64_t> a(2, kMost);
  for (int row = 0; row < 2; ++row) {
    for (const std::int64_t col : {std::int64_t{0}, kMost / 2, kMost - 1}) a.add(col, 2.0);
    a.end_row();
  }
  for (const tnr_sparse_format format : kFormats) {
    const bool is_csr = format == TNR_SPARSE_FORMAT_CSR;
    const auto count = [&](tnr_triangle part, std::int64_t diagonal) {
      const Returned made(sparse_triangular(kDefaultContext, part, a.view(kCoalesced, format),
                                            is_csr ? diagonal : -diagonal));
      return made.view().minor.shape[0];
    };
    const tnr_triangle left = is_csr ? TNR_TRIANGLE_LOWER : TNR_TRIANGLE_UPPER;
    const tnr_triangle right = is_csr ? TNR_TRIANGLE_UPPER : TNR_TRIANGLE_LOWER;
    for (const auto& [diagonal, on_left] : {std::pair{INT64_MAX, 6},
                                            {kMost - 1, 6},
                                            {kMost - 2, 5},
                                            {std::int64_t{0}, 2},
                                            {std::int64_t{-1}, 1},
                                            {-INT64_MAX, 0}}) {
      EXPECT_EQ(count(left, diagonal), on_left) << diagonal;
      if (diagonal == INT64_MAX) continue;
      EXPECT_EQ(count(right, diagonal + 1), 6 - on_left) << diagonal;
    }
  }
}

// Values of every width, as they are; a range of rows, whose first offset is not 0.
TEST(SparseTriangular, TakesEveryWidthAndRangesOfRows) {
  const std::vector<std::int32_t> offsets = {1, 3, 4};
  const std::vector<std::int32_t> columns = {1, 2, 0, 0};
  std::vector<unsigned char> bytes(4 * 16);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  for (const tnr_dtype dtype :
       {TNR_DTYPE_BOOL8, TNR_DTYPE_BF16, TNR_DTYPE_F32, TNR_DTYPE_I64, TNR_DTYPE_C128}) {
    for (const std::uint32_t flags : {0u, 0u + TNR_SPARSE_UNIQUE}) {
      CompressedMatrix<float, std::int32_t> shape(2, 3);
      tnr_sparse_view view = shape.view(flags);
      view.rows = 2;
      view.major = flat_view(offsets.data(), TNR_DTYPE_I32, {3});
      view.minor = flat_view(columns.data(), TNR_DTYPE_I32, {4});
      view.values = flat_view(bytes.data(), dtype, {4});
      const Returned made(sparse_triangular(kDefaultContext, TNR_TRIANGLE_LOWER, view, 0));
      const SparseContent content = made.content();
      EXPECT_EQ(content.major, (Indices{0, 1, 2}));
      EXPECT_EQ(content.minor, (Indices{0, 0}));
      const std::size_t width = element_size(dtype);
      std::vector<unsigned char> expected(bytes.begin() + static_cast<std::ptrdiff_t>(2 * width),
                                          bytes.begin() + static_cast<std::ptrdiff_t>(4 * width));
      if (dtype == TNR_DTYPE_BOOL8) expected.assign(2, 1);
      EXPECT_EQ(content.values, expected);
    }
  }
}

TEST(SparseTriangular, RefusesWhatHasNoTriangle) {
  const auto of = [](const SparseModel& model, tnr_triangle part) {
    SparseArrays arrays(model, TNR_DTYPE_I32);
    sparse_release(sparse_triangular(kDefaultContext, part, arrays.view(), 0));
  };
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"part is 3", "no triangle"},
               [&] { of(csr_model(), static_cast<tnr_triangle>(3)); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 1", "convert"},
               [&] { of(coo_model(), TNR_TRIANGLE_LOWER); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"a.format is 4", "convert"},
               [&] { of(bsr_model(), TNR_TRIANGLE_LOWER); });
  SparseModel wrong = csr_model();
  wrong.minor[1] = 4;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[1] is 4"},
               [&] { of(wrong, TNR_TRIANGLE_UPPER); });
}

}  // namespace
