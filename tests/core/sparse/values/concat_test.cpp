// Compares joined sparse matrices with lists of their entries.
#include <gtest/gtest.h>

#include <deque>

#include "compressed_matrix.hpp"
#include "dense_model.hpp"
#include "expect_error.hpp"
#include "sparse_patterns.hpp"
#include "tenure/sparse.hpp"

namespace {

using namespace tenure;
using namespace tenure::test;

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC};
constexpr tnr_sparse_join kJoins[] = {TNR_SPARSE_JOIN_ROWS, TNR_SPARSE_JOIN_COLS,
                                      TNR_SPARSE_JOIN_DIAGONAL};

// The patterns with one extent across the join, that of the first.
std::vector<Pattern> fitted(tnr_sparse_join join, std::vector<Pattern> patterns) {
  for (Pattern& pattern : patterns) {
    if (join == TNR_SPARSE_JOIN_ROWS) pattern.cols = patterns[0].cols;
    if (join == TNR_SPARSE_JOIN_COLS) pattern.rows = patterns[0].rows;
    std::erase_if(pattern.entries, [&](const Entry& entry) {
      return entry.row >= pattern.rows || entry.col >= pattern.cols;
    });
  }
  return patterns;
}

Pattern joined_of(tnr_sparse_join join, const std::vector<Pattern>& patterns) {
  Pattern all{"", 0, 0, {}};
  for (const Pattern& pattern : patterns) {
    const std::int64_t row = join == TNR_SPARSE_JOIN_COLS ? 0 : all.rows;
    const std::int64_t col = join == TNR_SPARSE_JOIN_ROWS ? 0 : all.cols;
    for (const Entry& entry : pattern.entries) {
      all.entries.push_back({row + entry.row, col + entry.col, entry.value});
    }
    all.rows = row + pattern.rows;
    all.cols = col + pattern.cols;
  }
  return all;
}

void expect_joined(tnr_sparse_join join, const std::vector<Pattern>& patterns,
                   tnr_sparse_format format, tnr_dtype index_dtype) {
  SCOPED_TRACE(testing::Message() << patterns.size() << " from " << patterns[0].name << " on, join "
                                  << join << ", format " << format);
  static const TestContext two(2);
  std::deque<SparseArrays> arrays;
  std::vector<tnr_sparse_view> views;
  std::uint32_t flags = kCoalesced;
  for (const Pattern& pattern : patterns) {
    SparseModel model = model_of(pattern, format);
    model.flags = flags_of(pattern, format);
    flags &= model.flags;
    views.push_back(arrays.emplace_back(model, index_dtype).view());
  }
  if (format == TNR_SPARSE_FORMAT_COO && join == TNR_SPARSE_JOIN_COLS && views.size() > 1) {
    flags &= ~static_cast<std::uint32_t>(TNR_SPARSE_SORTED);
  }
  const Pattern expected = joined_of(join, patterns);
  SparseArrays as_expected(model_of(expected, format), index_dtype);
  const Returned made(
      sparse_concat(two, join, views.data(), static_cast<std::uint32_t>(views.size())));
  EXPECT_TRUE(made.content() == content_of(as_expected.view()));
  EXPECT_EQ(made.view().flags, flags);
  EXPECT_EQ(made.view().rows, expected.rows);
  EXPECT_EQ(made.view().cols, expected.cols);
}

TEST(SparseConcat, IsAListOfAllEntries) {
  const std::vector<Pattern> small = small_patterns();
  for (const tnr_sparse_format format : kFormats) {
    for (const tnr_sparse_join join : kJoins) {
      for (std::size_t i = 0; i < small.size(); ++i) {
        for (std::size_t j = 0; j < small.size(); ++j) {
          expect_joined(join, fitted(join, {small[i], small[j]}), format,
                        kIndexDtypes[(i + j) % 2]);
        }
        for (const tnr_dtype dtype : kIndexDtypes) {
          expect_joined(join, {small[i]}, format, dtype);
          expect_joined(join, fitted(join, {small[i], small[0], small[6], small[3], small[11]}),
                        format, dtype);
        }
      }
    }
  }
}

// Two slices and more; and as many bytes as are stored past the caches.
TEST(SparseConcat, OfManyEntries) {
  std::vector<Pattern> large = large_patterns();
  large.push_back(coalesced(random_pattern("a million", 5000, 517, 1'000'000, 31), precedes));
  for (const tnr_sparse_format format : kFormats) {
    for (const tnr_sparse_join join : kJoins) {
      for (std::size_t i = 0; i < large.size(); ++i) {
        const Pattern& next = large[(i + 1) % large.size()];
        expect_joined(join, fitted(join, {large[i], next, large[0]}), format, TNR_DTYPE_I32);
      }
    }
  }
}

// Values of every width, as they are; a range of rows, whose first offset is not 0.
TEST(SparseConcat, TakesEveryWidthAndRangesOfRows) {
  const std::vector<std::int32_t> offsets = {1, 3, 4};
  const std::vector<std::int32_t> columns = {1, 2, 0, 2};
  std::vector<unsigned char> bytes(4 * 16);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i);
  for (const tnr_dtype dtype :
       {TNR_DTYPE_BOOL8, TNR_DTYPE_BF16, TNR_DTYPE_F32, TNR_DTYPE_I64, TNR_DTYPE_C128}) {
    CompressedMatrix<float, std::int32_t> shape(2, 3);
    tnr_sparse_view view = shape.view();
    view.rows = 2;
    view.major = flat_view(offsets.data(), TNR_DTYPE_I32, {3});
    view.minor = flat_view(columns.data(), TNR_DTYPE_I32, {4});
    view.values = flat_view(bytes.data(), dtype, {4});
    const tnr_sparse_view views[] = {view, view};
    const struct {
      tnr_sparse_join join;
      Indices major;
      Indices minor;
      std::vector<int> entries;
    } cases[] = {
        {TNR_SPARSE_JOIN_ROWS, {0, 2, 3, 5, 6}, {2, 0, 2, 2, 0, 2}, {1, 2, 3, 1, 2, 3}},
        {TNR_SPARSE_JOIN_COLS, {0, 4, 6}, {2, 0, 5, 3, 2, 5}, {1, 2, 1, 2, 3, 3}},
        {TNR_SPARSE_JOIN_DIAGONAL, {0, 2, 3, 5, 6}, {2, 0, 2, 5, 3, 5}, {1, 2, 3, 1, 2, 3}},
    };
    for (const auto& one : cases) {
      const Returned made(sparse_concat(kDefaultContext, one.join, views, 2));
      const SparseContent content = made.content();
      EXPECT_EQ(content.major, one.major);
      EXPECT_EQ(content.minor, one.minor);
      const auto width = static_cast<std::ptrdiff_t>(element_size(dtype));
      std::vector<unsigned char> expected;
      for (const int entry : one.entries) {
        expected.insert(expected.end(), bytes.begin() + entry * width,
                        bytes.begin() + (entry + 1) * width);
      }
      if (dtype == TNR_DTYPE_BOOL8) expected.assign(6, 1);
      EXPECT_EQ(content.values, expected);
    }
  }
}

TEST(SparseConcat, RefusesPartsThatDoNotAgree) {
  const auto join = [](tnr_sparse_join how, std::vector<tnr_sparse_view> views) {
    sparse_release(sparse_concat(kDefaultContext, how, views.data(),
                                 static_cast<std::uint32_t>(views.size())));
  };
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  SparseArrays csc(csc_model(), TNR_DTYPE_I32);
  SparseArrays bsr(bsr_model(), TNR_DTYPE_I32);
  SparseArrays wide(csr_model(), TNR_DTYPE_I64);
  const CompressedMatrix<double, std::int32_t> doubles(0, 4);
  const CompressedMatrix<float, std::int32_t> narrow(0, 3);
  SparseModel wrong_model = csr_model();
  wrong_model.minor[1] = 4;
  SparseArrays wrong(wrong_model, TNR_DTYPE_I32);
  const tnr_sparse_view& a = csr.view();
  const struct {
    tnr_status status;
    std::vector<std::string> words;
    tnr_sparse_join join;
    std::vector<tnr_sparse_view> parts;
  } cases[] = {
      {TNR_STATUS_INVALID_ARGUMENT, {"part_count is 0"}, TNR_SPARSE_JOIN_ROWS, {}},
      {TNR_STATUS_INVALID_ARGUMENT, {"join is 4", "no join"}, static_cast<tnr_sparse_join>(4), {a}},
      {TNR_STATUS_INVALID_ARGUMENT, {"join is 0"}, static_cast<tnr_sparse_join>(0), {a}},
      {TNR_STATUS_INVALID_ARGUMENT,
       {"parts[1].format is 3 but parts[0].format is 2"},
       TNR_SPARSE_JOIN_ROWS,
       {a, csc.view()}},
      {TNR_STATUS_INVALID_ARGUMENT,
       {"indices of parts[2] are i64 but those of parts[0] are i32"},
       TNR_SPARSE_JOIN_ROWS,
       {a, a, wide.view()}},
      {TNR_STATUS_INVALID_ARGUMENT,
       {"parts[1].values.dtype is f64 but parts[0].values.dtype is f32"},
       TNR_SPARSE_JOIN_DIAGONAL,
       {a, doubles.view()}},
      {TNR_STATUS_INVALID_ARGUMENT,
       {"parts[1].cols is 3 but parts[0].cols is 4"},
       TNR_SPARSE_JOIN_ROWS,
       {a, narrow.view()}},
      {TNR_STATUS_INVALID_ARGUMENT,
       {"parts[1].rows is 0 but parts[0].rows is 3"},
       TNR_SPARSE_JOIN_COLS,
       {a, narrow.view()}},
      {TNR_STATUS_INVALID_ARGUMENT,
       {"parts[1].col_indices[1] is 4"},
       TNR_SPARSE_JOIN_DIAGONAL,
       {a, wrong.view()}},
      {TNR_STATUS_UNSUPPORTED, {"parts[0].format is 4"}, TNR_SPARSE_JOIN_ROWS, {bsr.view()}},
  };
  for (const auto& one : cases) {
    for (const std::string& word : one.words) {
      expect_error(one.status, {word}, [&] { join(one.join, one.parts); });
    }
  }
}

// Extents and offsets beyond the indices, of matrices that take next to no memory.
TEST(SparseConcat, RefusesMoreThanIndicesCount) {
  CompressedMatrix<float, std::int32_t> filled(0, std::int64_t{1} << 31);
  filled.end_row();
  const CompressedMatrix<float, std::int64_t> wide(0, INT64_MAX - 1);
  const tnr_sparse_view narrows[] = {filled.view(), filled.view()};
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"cols of the result reach 4294967295 but i32 ends at"},
               [&] { sparse_concat(kDefaultContext, TNR_SPARSE_JOIN_COLS, narrows, 2); });
  const tnr_sparse_view wides[] = {wide.view(), wide.view()};
  expect_error(TNR_STATUS_INVALID_ARGUMENT,
               {"cols of the parts add up to 9223372036854775806 and 9223372036854775806"},
               [&] { sparse_concat(kDefaultContext, TNR_SPARSE_JOIN_DIAGONAL, wides, 2); });
  // A part of 2^20 entries at one place, 2^11 times.
  constexpr std::int64_t kCount = std::int64_t{1} << 20;
  const std::vector<std::int32_t> zeros(static_cast<std::size_t>(kCount));
  const std::int32_t offsets[] = {0, kCount};
  const std::vector<std::int8_t> values(static_cast<std::size_t>(kCount));
  tnr_sparse_view part = filled.view();
  part.cols = 1;
  part.major = flat_view(offsets, TNR_DTYPE_I32, {2});
  part.minor = flat_view(zeros.data(), TNR_DTYPE_I32, {kCount});
  part.values = flat_view(values.data(), TNR_DTYPE_I8, {kCount});
  const std::vector<tnr_sparse_view> parts(1 << 11, part);
  expect_error(
      TNR_STATUS_INVALID_ARGUMENT, {"offsets of the result reach 2147483648 but i32"},
      [&] { sparse_concat(kDefaultContext, TNR_SPARSE_JOIN_ROWS, parts.data(), 1 << 11); });
}

}  // namespace
