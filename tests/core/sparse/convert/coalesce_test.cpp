// Compares coalescing, pruning and the largest entries of each row with lists of entries; under
// each instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "sparse_patterns.hpp"

namespace tenure::test {
namespace {

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC};
constexpr tnr_sparse_combine kCombines[] = {TNR_SPARSE_COMBINE_SUM, TNR_SPARSE_COMBINE_MIN,
                                            TNR_SPARSE_COMBINE_MAX, TNR_SPARSE_COMBINE_LAST};

float combined(tnr_sparse_combine combine, float a, float b) {
  switch (combine) {
    case TNR_SPARSE_COMBINE_SUM: return a + b;
    case TNR_SPARSE_COMBINE_MIN: return std::isnan(a) || a < b ? a : b;
    case TNR_SPARSE_COMBINE_MAX: return std::isnan(a) || a > b ? a : b;
    default: return b;
  }
}

// One entry after the other, in the order of the pattern.
std::vector<Entry> folded(const Pattern& pattern, tnr_sparse_combine combine,
                          tnr_sparse_format format) {
  std::vector<Entry> entries = pattern.entries;
  std::stable_sort(entries.begin(), entries.end(),
                   format == TNR_SPARSE_FORMAT_CSC ? is_left_of : precedes);
  std::vector<Entry> result;
  for (const Entry& entry : entries) {
    if (!result.empty() && result.back().row == entry.row && result.back().col == entry.col) {
      result.back().value = combined(combine, result.back().value, entry.value);
    } else {
      result.push_back(entry);
    }
  }
  return result;
}

void expect_coalesced(const Context& context, const Pattern& pattern, tnr_dtype index_dtype) {
  for (const tnr_sparse_format format : kFormats) {
    SparseArrays arrays(model_of(pattern, format), index_dtype);
    for (const tnr_sparse_combine combine : kCombines) {
      const Result result(sparse_coalesce(context, arrays.view(), combine));
      EXPECT_TRUE(result.is(TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE));
      EXPECT_EQ(result.view().format, format);
      EXPECT_EQ(result.view().minor.dtype, index_dtype);
      EXPECT_TRUE(result.entries() == folded(pattern, combine, format))
          << pattern.name << " in " << format << " by " << combine;
    }
  }
}

TEST(SparseCoalesce, FoldsDuplicatesInTheirOrder) {
  const TestContext threads(3);
  for (const Pattern& pattern : small_patterns()) {
    for (const tnr_dtype dtype : kIndexDtypes) expect_coalesced(threads, pattern, dtype);
  }
}

TEST(SparseCoalesce, LargeOnesAreTheSameForAnyNumberOfThreads) {
  Pattern pattern = random_pattern("large", 211, 200, 90'000, 41);
  // Sums that depend on the order of their terms.
  for (Entry& entry : pattern.entries) entry.value = 1.0f / entry.value;
  for (const unsigned count : {1u, 2u, 5u}) {
    expect_coalesced(TestContext(count), pattern, TNR_DTYPE_I32);
  }
}

// Rows or columns that no array has room for, nor one number for both; few entries for the rows,
// which are sorted, and many, which are counted.
TEST(SparseCoalesce, OfHugeExtents) {
  constexpr std::int64_t kHuge = INT64_MAX - 1;
  constexpr std::int64_t kExtents[][2] = {
      {std::int64_t{1} << 31, std::int64_t{1} << 31},
      {std::int64_t{1} << 62, std::int64_t{1} << 62},
      {kHuge, kHuge},
      {3, kHuge},
      {2, kHuge},
      {1, kHuge},
      {2000, kHuge},
      {kHuge, 3},
      {kHuge, 2000},
  };
  for (const auto& [rows, cols] : kExtents) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols));
    Pattern pattern = random_pattern("huge", rows, cols, 300, 43);
    for (std::size_t k = 0; k < pattern.entries.size(); k += 3) {
      pattern.entries[k] = pattern.entries[k / 2];
      pattern.entries[k].value = static_cast<float>(k);
    }
    // Compressed formats, with offsets, only along extents that are not huge.
    for (const tnr_sparse_format format : kFormats) {
      if (format == TNR_SPARSE_FORMAT_CSR && rows > 2000) continue;
      if (format == TNR_SPARSE_FORMAT_CSC && cols > 2000) continue;
      SparseArrays arrays(model_of(pattern, format), TNR_DTYPE_I64);
      for (const tnr_sparse_combine combine : kCombines) {
        const Result result(sparse_coalesce(kDefaultContext, arrays.view(), combine));
        EXPECT_TRUE(result.entries() == folded(pattern, combine, format)) << format;
      }
      SparseArrays coordinates(model_of(pattern, TNR_SPARSE_FORMAT_COO), TNR_DTYPE_I64);
      const Result sorted(sparse_convert(kDefaultContext, coordinates.view(),
                                         options_of(format, TNR_CONVERT_SORT)));
      std::vector<Entry> expected = pattern.entries;
      std::stable_sort(expected.begin(), expected.end(),
                       format == TNR_SPARSE_FORMAT_CSC ? is_left_of : precedes);
      EXPECT_TRUE(sorted.entries() == expected) << format;
      const Result grouped(
          sparse_convert(kDefaultContext, coordinates.view(), options_of(format, 0)));
      SparseArrays as_they_came(model_of(pattern, format), TNR_DTYPE_I64);
      EXPECT_TRUE(grouped.entries() == entries_of(as_they_came.view())) << format;
    }
  }
}

TEST(SparseCoalesce, CoalescedOnesAreCopied) {
  for (const SparseModel& model : {coo_model(), csr_model(), csc_model()}) {
    SparseArrays arrays(model, TNR_DTYPE_I64);
    const Result result(sparse_coalesce(kDefaultContext, arrays.view(), TNR_SPARSE_COMBINE_SUM));
    EXPECT_EQ(result.view().flags, arrays.view().flags);
    EXPECT_NE(result.view().values.data, arrays.view().values.data);
    EXPECT_TRUE(result.entries() == entries_of(arrays.view()));
  }
}

// Three entries of one position, in every dtype, folded by the kernels of dense tensors.
TEST(SparseCoalesce, EveryType) {
  Random random(42);
  for (const NamedType type : kTypes) {
    const std::size_t width = element_size(type.dtype);
    Array array(type.dtype, {3}, Arrangement::kRowMajor, random);
    fill_with_numbers(array, type.type, random);
    const auto elements = array.elements();
    SparseModel model{.rows = 1, .cols = 4, .major = {0, 3}, .minor = {2, 2, 2}};
    model.values.assign(3, 0);
    SparseArrays arrays(model, TNR_DTYPE_I32);
    arrays.view().values = array.view();
    for (const tnr_sparse_combine combine : kCombines) {
      if (type.type == Type::kBool8 && combine != TNR_SPARSE_COMBINE_LAST) {
        expect_error(TNR_STATUS_UNSUPPORTED, {"values of bool8"},
                     [&] { sparse_coalesce(kDefaultContext, arrays.view(), combine); });
        continue;
      }
      const Result result(sparse_coalesce(kDefaultContext, arrays.view(), combine));
      ASSERT_EQ(result.view().values.shape[0], 1);
      Byte expected[8];
      std::memcpy(expected, elements[0], width);
      for (const std::size_t i : {1u, 2u}) {
        if (combine == TNR_SPARSE_COMBINE_LAST) {
          std::memcpy(expected, elements[i], width);
        } else {
          constexpr unsigned kRows[] = {0, 4, 5};  // add, min, max
          kernels::reference::binary(kRows[combine - 1], type.type, expected, elements[i],
                                     expected);
        }
      }
      EXPECT_EQ(std::memcmp(result.view().values.data, expected, width), 0)
          << dtype_name(type.dtype) << " " << combine;
    }
  }
}

// 2048 and twice 1: each addition of 1 would round to 2048 by itself.
TEST(SparseCoalesce, SmallFloatsAreRoundedOnce) {
  SparseModel model{.rows = 1, .cols = 1, .major = {0, 3}, .minor = {0, 0, 0}};
  model.values.assign(3, 0);
  SparseArrays arrays(model, TNR_DTYPE_I32);
  const std::uint16_t values[3] = {0x6800, 0x3c00, 0x3c00};
  arrays.view().values = flat_view(values, TNR_DTYPE_F16, {3});
  const Result result(sparse_coalesce(kDefaultContext, arrays.view(), TNR_SPARSE_COMBINE_SUM));
  EXPECT_EQ(*static_cast<const std::uint16_t*>(result.view().values.data), 0x6801);
}

TEST(SparseCoalesce, NanWinsMinAndMax) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const bool is_first : {true, false}) {
    SparseModel model{.rows = 1, .cols = 1, .major = {0, 2}, .minor = {0, 0}};
    model.values = is_first ? std::vector<float>{nan, 1} : std::vector<float>{1, nan};
    SparseArrays arrays(model, TNR_DTYPE_I32);
    for (const tnr_sparse_combine combine : {TNR_SPARSE_COMBINE_MIN, TNR_SPARSE_COMBINE_MAX}) {
      const Result result(sparse_coalesce(kDefaultContext, arrays.view(), combine));
      EXPECT_TRUE(std::isnan(*static_cast<const float*>(result.view().values.data)));
    }
  }
}

TEST(SparseCoalesce, RefusesWhatItCannotDo) {
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"combine is 9"},
               [&] { sparse_coalesce(kDefaultContext, csr.view(), 9); });
  SparseArrays bsr(bsr_model(), TNR_DTYPE_I32);
  expect_error(TNR_STATUS_UNSUPPORTED, {"BSR", "CSR first"},
               [&] { sparse_coalesce(kDefaultContext, bsr.view(), TNR_SPARSE_COMBINE_SUM); });
  SparseModel wrong = csr_model();
  wrong.minor[0] = -1;
  SparseArrays lent(wrong, TNR_DTYPE_I32);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.col_indices[0] is -1"},
               [&] { sparse_coalesce(kDefaultContext, lent.view(), TNR_SPARSE_COMBINE_SUM); });
}

// ---- prune ----

SparseOptions predicate(tnr_sparse_predicate predicate) {
  SparseOptions options{};
  options.predicate = predicate;
  return options;
}
SparseOptions predicate(tnr_sparse_predicate of, float threshold) {
  SparseOptions options = predicate(of);
  options.threshold = scalar_of(TNR_DTYPE_F32, threshold);
  return options;
}

TEST(SparsePrune, KeepsWhatThePredicateNames) {
  const TestContext threads(3);
  std::vector<Pattern> patterns = small_patterns();
  patterns.push_back(random_pattern("large", 400, 300, 70'000, 43));
  for (Pattern& pattern : patterns) {
    for (std::size_t k = 0; k < pattern.entries.size(); ++k) {
      pattern.entries[k].value = static_cast<float>(static_cast<int>(k % 7) - 3);
    }
    for (const tnr_sparse_format format : kFormats) {
      SparseArrays arrays(model_of(pattern, format), TNR_DTYPE_I32);
      const auto expect_kept = [&](const SparseOptions& options, auto keeps) {
        std::vector<Entry> expected = entries_of(arrays.view());
        std::erase_if(expected, [&](const Entry& entry) { return !keeps(entry.value); });
        const Result result(sparse_prune(threads, arrays.view(), options));
        EXPECT_EQ(result.view().format, format);
        EXPECT_TRUE(result.entries() == expected) << pattern.name << " in " << format;
      };
      expect_kept(predicate(TNR_SPARSE_PREDICATE_NON_ZERO), [](float x) { return x != 0; });
      expect_kept(predicate(TNR_SPARSE_PREDICATE_GREATER, 1), [](float x) { return x > 1; });
      expect_kept(predicate(TNR_SPARSE_PREDICATE_MAGNITUDE_GREATER, 1),
                  [](float x) { return std::fabs(x) > 1; });
      expect_kept(predicate(TNR_SPARSE_PREDICATE_GREATER, 100), [](float) { return false; });
    }
  }
}

TEST(SparsePrune, KeepsNanFlagsAndRowRanges) {
  SparseModel model = csr_model();
  model.values[3] = std::numeric_limits<float>::quiet_NaN();
  SparseArrays arrays(model, TNR_DTYPE_I64);
  tnr_sparse_view range = arrays.view();  // the rows from the second on
  range.rows = 2;
  range.major.data = static_cast<const std::int64_t*>(range.major.data) + 1;
  range.major.shape[0] = 3;
  const Result result(
      sparse_prune(kDefaultContext, range, predicate(TNR_SPARSE_PREDICATE_GREATER, 4)));
  EXPECT_EQ(result.view().flags, model.flags);
  const auto entries = result.entries();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(std::isnan(entries[0].value) && entries[0].row == 1 && entries[0].col == 1);
  EXPECT_TRUE((entries[1] == Entry{1, 3, 5}));
}

TEST(SparsePrune, RefusesWhatItCannotDo) {
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  const auto expect_refused = [&](const tnr_sparse_view& view, const SparseOptions& options,
                                  tnr_status status, std::initializer_list<std::string> words) {
    expect_error(status, words, [&] { sparse_prune(kDefaultContext, view, options); });
  };
  SparseOptions options = predicate(TNR_SPARSE_PREDICATE_MASK);
  expect_refused(csr.view(), options, TNR_STATUS_INVALID_ARGUMENT, {"MASK", "dense"});
  options = predicate(9);
  expect_refused(csr.view(), options, TNR_STATUS_INVALID_ARGUMENT, {"9"});
  options = predicate(TNR_SPARSE_PREDICATE_GREATER, std::numeric_limits<float>::quiet_NaN());
  expect_refused(csr.view(), options, TNR_STATUS_INVALID_ARGUMENT, {"threshold"});
  SparseArrays bsr(bsr_model(), TNR_DTYPE_I32);
  options = predicate(TNR_SPARSE_PREDICATE_NON_ZERO);
  expect_refused(bsr.view(), options, TNR_STATUS_UNSUPPORTED, {"BSR"});
}

// ---- the largest of each row ----

std::vector<Entry> largest(const std::vector<Entry>& entries, std::size_t k,
                           tnr_sparse_order order) {
  std::map<std::int64_t, std::vector<Entry>> rows;
  for (const Entry& entry : entries) rows[entry.row].push_back(entry);
  const auto size = [&](const Entry& entry) {
    return order == TNR_SPARSE_ORDER_MAGNITUDE ? std::fabs(entry.value) : entry.value;
  };
  std::vector<Entry> result;
  for (auto& [row, of_row] : rows) {
    std::vector<std::size_t> ranks(of_row.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = i;
    std::stable_sort(ranks.begin(), ranks.end(), [&](std::size_t a, std::size_t b) {
      const float left = size(of_row[a]);
      const float right = size(of_row[b]);
      if (std::isnan(left) || std::isnan(right)) return !std::isnan(left);
      return left > right;
    });
    ranks.resize(std::min(k, ranks.size()));
    std::sort(ranks.begin(), ranks.end());
    for (const std::size_t rank : ranks) result.push_back(of_row[rank]);
  }
  return result;
}

TEST(SparseTopK, KeepsTheLargestOfEachRow) {
  const TestContext threads(3);
  std::vector<Pattern> patterns = small_patterns();
  patterns.push_back(random_pattern("large", 150, 300, 50'000, 44));
  for (Pattern& pattern : patterns) {
    for (std::size_t k = 0; k < pattern.entries.size(); ++k) {
      pattern.entries[k].value = static_cast<float>(static_cast<int>(k * 31 % 41) - 20);
    }
    SparseArrays arrays(model_of(pattern, TNR_SPARSE_FORMAT_CSR), TNR_DTYPE_I32);
    const auto entries = entries_of(arrays.view());
    for (const tnr_sparse_order order : {TNR_SPARSE_ORDER_VALUE, TNR_SPARSE_ORDER_MAGNITUDE}) {
      for (const std::int64_t k : {0, 1, 3, 40, 300}) {
        if (k > pattern.cols) continue;
        const Result result(sparse_top_k(threads, arrays.view(), k, order));
        EXPECT_TRUE(result.entries() == largest(entries, static_cast<std::size_t>(k), order))
            << pattern.name << ", " << k << " by " << order;
      }
    }
  }
}

TEST(SparseTopK, NanIsLessThanEverything) {
  SparseModel model{.rows = 1, .cols = 4, .major = {0, 4}, .minor = {0, 1, 2, 3}};
  const float nan = std::numeric_limits<float>::quiet_NaN();
  model.values = {nan, -INFINITY, -nan, 2};
  SparseArrays arrays(model, TNR_DTYPE_I32);
  const auto columns = [&](std::int64_t k) {
    const Result result(sparse_top_k(kDefaultContext, arrays.view(), k, TNR_SPARSE_ORDER_VALUE));
    std::vector<std::int64_t> found;
    for (const Entry& entry : result.entries()) found.push_back(entry.col);
    return found;
  };
  EXPECT_EQ(columns(1), (std::vector<std::int64_t>{3}));
  EXPECT_EQ(columns(2), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(columns(3), (std::vector<std::int64_t>{0, 1, 3}));
}

TEST(SparseTopK, RefusesWhatItCannotDo) {
  SparseArrays csr(csr_model(), TNR_DTYPE_I32);
  for (const std::int64_t k : {-1, 5}) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"k is " + std::to_string(k), "a.cols, which is 4"},
                 [&] { sparse_top_k(kDefaultContext, csr.view(), k, TNR_SPARSE_ORDER_VALUE); });
  }
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"order is 0"},
               [&] { sparse_top_k(kDefaultContext, csr.view(), 1, 0); });
  SparseArrays coo(coo_model(), TNR_DTYPE_I32);
  expect_error(TNR_STATUS_UNSUPPORTED, {"CSR alone"},
               [&] { sparse_top_k(kDefaultContext, coo.view(), 1, TNR_SPARSE_ORDER_VALUE); });
  const std::int64_t wide[5] = {};
  csr.view().values = flat_view(wide, TNR_DTYPE_I64, {5});
  expect_error(TNR_STATUS_UNSUPPORTED, {"values of i64"},
               [&] { sparse_top_k(kDefaultContext, csr.view(), 1, TNR_SPARSE_ORDER_VALUE); });
}

}  // namespace
}  // namespace tenure::test
