// Compares conversions among the formats with lists of entries; under each instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "expect_error.hpp"
#include "sparse/index_array.hpp"
#include "sparse_arrays.hpp"
#include "sparse_patterns.hpp"

namespace tenure::test {
namespace {

constexpr tnr_sparse_format kFormats[] = {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR,
                                          TNR_SPARSE_FORMAT_CSC};

SparseOptions blocks_of(std::int64_t rows, std::int64_t cols, tnr_dtype index_dtype = 0) {
  SparseOptions options = options_of(TNR_SPARSE_FORMAT_BSR, 0, index_dtype);
  options.block_rows = rows;
  options.block_cols = cols;
  return options;
}

// The entries in the order in which a format has those of `entries`.
std::vector<Entry> ordered(std::vector<Entry> entries, tnr_sparse_format from,
                           tnr_sparse_format to) {
  const auto by_row = [](const Entry& a, const Entry& b) { return a.row < b.row; };
  const auto by_col = [](const Entry& a, const Entry& b) { return a.col < b.col; };
  for (const tnr_sparse_format format : {from, to}) {
    if (format == TNR_SPARSE_FORMAT_CSR) std::stable_sort(entries.begin(), entries.end(), by_row);
    if (format == TNR_SPARSE_FORMAT_CSC) std::stable_sort(entries.begin(), entries.end(), by_col);
  }
  return entries;
}
std::vector<Entry> sorted(std::vector<Entry> entries, tnr_sparse_format to) {
  std::stable_sort(entries.begin(), entries.end(),
                   to == TNR_SPARSE_FORMAT_CSC ? is_left_of : precedes);
  return entries;
}

void expect_conversions(const Context& context, const Pattern& pattern, tnr_dtype from_dtype,
                        tnr_dtype to_dtype) {
  for (const tnr_sparse_format from : kFormats) {
    SparseArrays arrays(model_of(pattern, from), from_dtype);
    for (const tnr_sparse_format to : kFormats) {
      const std::string what =
          pattern.name + ", " + std::to_string(from) + " to " + std::to_string(to);
      const Result kept(sparse_convert(context, arrays.view(), options_of(to, 0, to_dtype)));
      EXPECT_EQ(kept.view().format, to);
      EXPECT_EQ(kept.view().rows, pattern.rows);
      EXPECT_EQ(kept.view().cols, pattern.cols);
      EXPECT_EQ(kept.view().minor.dtype, to_dtype == 0 ? from_dtype : to_dtype);
      EXPECT_FALSE(kept.is(TNR_SPARSE_UNIQUE)) << what;  // no flag claims it
      EXPECT_TRUE(kept.entries() == ordered(pattern.entries, from, to)) << what;
      const Result in_order(
          sparse_convert(context, arrays.view(), options_of(to, TNR_CONVERT_SORT, to_dtype)));
      EXPECT_TRUE(in_order.is(TNR_SPARSE_SORTED)) << what;
      // Duplicates stay in the order that the format had them in.
      EXPECT_TRUE(in_order.entries() == sorted(ordered(pattern.entries, from, from), to)) << what;
    }
  }
}

TEST(SparseConvert, KeepsEveryEntry) {
  const TestContext threads(3);
  for (const Pattern& pattern : small_patterns()) {
    for (const tnr_dtype from : kIndexDtypes) {
      for (const tnr_dtype to : std::initializer_list<tnr_dtype>{0, TNR_DTYPE_I32, TNR_DTYPE_I64}) {
        expect_conversions(threads, pattern, from, to);
      }
    }
  }
}

TEST(SparseConvert, KeepsEveryEntryOfLargeOnes) {
  const TestContext threads(3);
  const std::vector<Pattern> patterns = large_patterns();
  expect_conversions(threads, patterns[0], TNR_DTYPE_I32, TNR_DTYPE_I32);
  expect_conversions(threads, patterns[3], TNR_DTYPE_I64, TNR_DTYPE_I32);
}

TEST(SparseConvert, FlagsSayWhatIsKnown) {
  const std::uint32_t both = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  for (const tnr_sparse_format from : kFormats) {
    const Pattern pattern = coalesced(random_pattern("", 30, 40, 300, 31),
                                      from == TNR_SPARSE_FORMAT_CSC ? is_left_of : precedes);
    SparseModel model = model_of(pattern, from);
    model.flags = both;
    SparseArrays arrays(model, TNR_DTYPE_I32);
    for (const tnr_sparse_format to : kFormats) {
      const Result result(sparse_convert(kDefaultContext, arrays.view(), options_of(to)));
      const bool by_columns = from == TNR_SPARSE_FORMAT_CSC && to == TNR_SPARSE_FORMAT_COO;
      EXPECT_EQ(result.view().flags, by_columns ? TNR_SPARSE_UNIQUE : both) << from << " " << to;
    }
    const Result blocks(sparse_convert(kDefaultContext, arrays.view(), blocks_of(3, 4)));
    EXPECT_TRUE(blocks.is(both));
    const Result back(
        sparse_convert(kDefaultContext, blocks.view(), options_of(TNR_SPARSE_FORMAT_CSR)));
    EXPECT_TRUE(back.is(both));
  }
}

TEST(SparseConvert, RangeOfRowsIsAMatrix) {
  const Pattern pattern = random_pattern("", 50, 60, 2000, 32);
  SparseArrays arrays(model_of(pattern, TNR_SPARSE_FORMAT_CSR), TNR_DTYPE_I64);
  for (const auto& [begin, end] : {std::pair{0, 50}, {10, 20}, {49, 50}, {7, 7}}) {
    tnr_sparse_view range = arrays.view();
    range.rows = end - begin;
    range.major.data = static_cast<const std::int64_t*>(range.major.data) + begin;
    range.major.shape[0] = end - begin + 1;
    std::vector<Entry> expected;
    for (Entry entry : pattern.entries) {
      if (entry.row < begin || entry.row >= end) continue;
      entry.row -= begin;
      expected.push_back(entry);
    }
    for (const tnr_sparse_format to : kFormats) {
      const Result result(sparse_convert(kDefaultContext, range, options_of(to)));
      EXPECT_EQ(result.view().rows, end - begin);
      EXPECT_TRUE(result.entries() == ordered(expected, TNR_SPARSE_FORMAT_CSR, to));
    }
  }
}

// ---- blocks ----

// All elements of the blocks that have an entry.
std::vector<Entry> elements_of_blocks(const Pattern& pattern, std::int64_t rows,
                                      std::int64_t cols) {
  std::vector<Entry> blocks;
  for (const Entry& entry : pattern.entries)
    blocks.push_back({entry.row / rows, entry.col / cols, 0});
  std::sort(blocks.begin(), blocks.end(), precedes);
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  std::vector<Entry> elements;
  for (const Entry& block : blocks) {
    for (std::int64_t at = 0; at < rows * cols; ++at) {
      elements.push_back({block.row * rows + at / cols, block.col * cols + at % cols, 0});
    }
  }
  for (Entry& element : elements) {
    for (const Entry& entry : pattern.entries) {
      if (entry.row == element.row && entry.col == element.col) element.value = entry.value;
    }
  }
  return elements;
}

TEST(SparseConvert, BlocksHaveAllThatLiesInThem) {
  const TestContext threads(2);
  const Pattern pattern = coalesced(random_pattern("", 48, 80, 400, 33), is_left_of);
  for (const tnr_sparse_format from : kFormats) {
    for (const tnr_dtype dtype : kIndexDtypes) {
      SparseArrays arrays(model_of(pattern, from), dtype);
      for (const auto& [rows, cols] :
           {std::pair{1, 1}, {4, 4}, {16, 16}, {3, 5}, {2, 16}, {1, 8}}) {
        const Result blocks(sparse_convert(threads, arrays.view(), blocks_of(rows, cols)));
        EXPECT_TRUE(blocks.is(TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE));
        EXPECT_EQ(blocks.view().block_rows, rows);
        EXPECT_TRUE(blocks.entries() == elements_of_blocks(pattern, rows, cols));
        for (const tnr_sparse_format to : kFormats) {
          const Result back(sparse_convert(threads, blocks.view(), options_of(to)));
          const auto elements = elements_of_blocks(pattern, rows, cols);
          EXPECT_TRUE(back.entries() == sorted(elements, to)) << rows << " by " << cols;
        }
        // Blocks of other sizes hold the same elements, and may hold more zeros.
        const Result others(sparse_convert(threads, blocks.view(), blocks_of(8, 2, TNR_DTYPE_I64)));
        std::vector<Entry> entries = others.entries();
        std::erase_if(entries, [](const Entry& entry) { return entry.value == 0; });
        EXPECT_TRUE(sorted(entries, TNR_SPARSE_FORMAT_CSC) == pattern.entries);
        const Result copy(sparse_convert(threads, blocks.view(), blocks_of(rows, cols)));
        EXPECT_TRUE(copy.entries() == blocks.entries());
      }
    }
  }
}

TEST(SparseConvert, BlocksOfEveryWidth) {
  const Pattern pattern = coalesced(random_pattern("", 12, 20, 60, 34), precedes);
  SparseArrays arrays(model_of(pattern, TNR_SPARSE_FORMAT_CSR), TNR_DTYPE_I32);
  std::vector<unsigned char> memory(pattern.entries.size() * 16);
  for (std::size_t i = 0; i < memory.size(); ++i)
    memory[i] = static_cast<unsigned char>(i * 37 + 1);
  for (const tnr_dtype dtype :
       {TNR_DTYPE_I8, TNR_DTYPE_F16, TNR_DTYPE_F32, TNR_DTYPE_F64, TNR_DTYPE_C128}) {
    tnr_sparse_view view = arrays.view();
    view.values = flat_view(memory.data(), dtype, {view.minor.shape[0]});
    const Result blocks(sparse_convert(kDefaultContext, view, blocks_of(2, 4)));
    const Result back(
        sparse_convert(kDefaultContext, blocks.view(), options_of(TNR_SPARSE_FORMAT_CSR)));
    // The values in the order of the entries, with zeros in between.
    const std::size_t width = element_size(dtype);
    const auto* const values = static_cast<const unsigned char*>(back.view().values.data);
    std::size_t next = 0;
    for (std::int64_t row = 0; row < 12; ++row) {
      for (std::int64_t k = index_at(back.view().major, row);
           k < index_at(back.view().major, row + 1); ++k) {
        const std::vector<unsigned char> found(values + static_cast<std::size_t>(k) * width,
                                               values + static_cast<std::size_t>(k + 1) * width);
        std::vector<unsigned char> expected(width, 0);
        if (next < pattern.entries.size() && pattern.entries[next].row == row &&
            pattern.entries[next].col == index_at(back.view().minor, k)) {
          std::copy_n(memory.data() + next++ * width, width, expected.data());
        }
        EXPECT_EQ(found, expected) << dtype_name(dtype) << " " << row;
      }
    }
    EXPECT_EQ(next, pattern.entries.size());
  }
}

// The blocks of sorted entries, found by sorting: fast enough for large patterns.
std::vector<Entry> sorted_blocks(const Pattern& pattern, std::int64_t rows, std::int64_t cols) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<float>> blocks;
  for (const Entry& entry : pattern.entries) {
    std::vector<float>& block = blocks[{entry.row / rows, entry.col / cols}];
    block.resize(static_cast<std::size_t>(rows * cols));
    block[static_cast<std::size_t>(entry.row % rows * cols + entry.col % cols)] = entry.value;
  }
  std::vector<Entry> elements;
  for (const auto& [at, block] : blocks) {
    for (std::int64_t i = 0; i < rows * cols; ++i) {
      elements.push_back({at.first * rows + i / cols, at.second * cols + i % cols,
                          block[static_cast<std::size_t>(i)]});
    }
  }
  return elements;
}

TEST(SparseConvert, BlocksOfLargeMatricesForAnyNumberOfThreads) {
  const Pattern patterns[] = {
      // Each way to find blocks: nearly all there, few there, and so few that rows are walked.
      coalesced(random_pattern("dense", 48, 960, 15'000, 35), precedes),
      coalesced(random_pattern("sparse", 240, 960, 2'000, 36), precedes),
      coalesced(random_pattern("hypersparse", 480, 96'000, 1'000, 37), precedes),
  };
  for (const Pattern& pattern : patterns) {
    for (const tnr_dtype dtype : kIndexDtypes) {
      SparseArrays arrays(model_of(pattern, TNR_SPARSE_FORMAT_CSR), dtype);
      for (const auto& [rows, cols] : {std::pair{4, 4}, {16, 16}, {3, 5}, {2, 12}}) {
        const std::vector<Entry> expected = sorted_blocks(pattern, rows, cols);
        for (const unsigned count : {1u, 3u}) {
          const TestContext threads(count);
          const Result blocks(sparse_convert(threads, arrays.view(), blocks_of(rows, cols)));
          EXPECT_TRUE(blocks.entries() == expected) << pattern.name << " " << rows << " " << cols;
        }
      }
    }
  }
}

// So many that results go past the caches: block rows by way of a stage, and larger ones.
TEST(SparseConvert, BlocksThatAreStreamed) {
  constexpr std::int64_t kBlock = 16;
  constexpr std::int64_t kElements = kBlock * kBlock;
  constexpr std::int64_t kCols = 150;
  Pattern pattern{"", 80 * kBlock, kCols * kBlock, {}};
  for (std::int64_t row = 0; row < 80; ++row) {
    for (std::int64_t col = 0; col < kCols; col += row % 2 == 0 ? 1 : 3) {
      pattern.entries.push_back({row * kBlock + (row + col) % kBlock, col * kBlock + col % 7, 0});
    }
  }
  std::sort(pattern.entries.begin(), pattern.entries.end(), precedes);
  SparseArrays arrays(model_of(pattern, TNR_SPARSE_FORMAT_CSR), TNR_DTYPE_I32);
  using Value = std::array<double, 2>;
  std::vector<Value> values;
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::size_t, Value>> expected;
  for (const Entry& entry : pattern.entries) {
    values.push_back({static_cast<double>(values.size() + 1), -1.0});
    const std::int64_t element = entry.row % kBlock * kBlock + entry.col % kBlock;
    expected[{entry.row / kBlock, entry.col / kBlock}] = {static_cast<std::size_t>(element),
                                                          values.back()};
  }
  tnr_sparse_view view = arrays.view();
  view.values = flat_view(values.data(), TNR_DTYPE_C128, {view.minor.shape[0]});
  const TestContext threads(2);
  const Result blocks(sparse_convert(threads, view, blocks_of(kBlock, kBlock)));
  ASSERT_EQ(blocks.view().minor.shape[0], static_cast<std::int64_t>(expected.size()));
  const auto* found = static_cast<const Value*>(blocks.view().values.data);
  std::int64_t k = 0;
  for (const auto& [at, one] : expected) {
    EXPECT_EQ(index_at(blocks.view().minor, k++), at.second);
    std::vector<Value> block(kElements, Value{});
    block[one.first] = one.second;
    EXPECT_TRUE(std::equal(block.begin(), block.end(), found)) << at.first << " " << at.second;
    found += kElements;
  }
}

TEST(SparseConvert, BlocksOfRowsSaidToBeSortedStayInsideTheirMemory) {
  SparseModel model{.format = TNR_SPARSE_FORMAT_CSR, .rows = 2, .cols = 1 << 16};
  model.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  model.major = {0, 3, 5};
  model.minor = {40'009, 3, 40'008, 60'000, 2};
  model.values = {1, 2, 3, 4, 5};
  SparseArrays arrays(model, TNR_DTYPE_I32);
  const SparseToken made = sparse_convert(kDefaultContext, arrays.view(), blocks_of(2, 8));
  EXPECT_EQ(sparse_view(made).block_cols, 8);
  sparse_release(made);
}

// ---- refusals ----

void expect_refused(const tnr_sparse_view& view, const SparseOptions& options,
                    std::initializer_list<std::string> words,
                    tnr_status status = TNR_STATUS_INVALID_ARGUMENT) {
  expect_error(status, words, [&] { sparse_convert(kDefaultContext, view, options); });
}

TEST(SparseConvert, OptionsAreLookedAt) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  const tnr_sparse_view& view = arrays.view();
  expect_refused(view, options_of(7), {"format is 7, which names no format"});
  expect_refused(view, options_of(TNR_SPARSE_FORMAT_COO, 1), {"attributes->flags is 0x1", "0x2"});
  expect_refused(view, options_of(TNR_SPARSE_FORMAT_COO, 0, TNR_DTYPE_F32),
                 {"attributes->index_dtype is f32", "i32 or i64"});
  SparseOptions blocks = options_of(TNR_SPARSE_FORMAT_CSC);
  blocks.block_rows = 2;
  expect_refused(view, blocks, {"attributes->block_rows is 2 but must be 0", "only BSR"});
  expect_refused(view, blocks_of(2, 2), {"attributes->block_rows is 2", "divide rows, which is 3"});
  expect_refused(view, blocks_of(3, 3), {"attributes->block_cols is 3", "divide cols, which is 4"});
  expect_refused(view, blocks_of(3, 0), {"attributes->block_cols is 0", "at least 1"});
  expect_refused(view, blocks_of(17, 1), {"attributes->block_rows is 17", "at most 16"},
                 TNR_STATUS_UNSUPPORTED);
}

TEST(SparseConvert, LentIndicesAreChecked) {
  for (const tnr_sparse_format to : kFormats) {
    SparseModel model = csr_model();
    model.minor[3] = 4;
    SparseArrays beyond(model, TNR_DTYPE_I32);
    expect_refused(beyond.view(), options_of(to), {"a.col_indices[3] is 4", "below cols"});
    model = coo_model();
    model.major[1] = -1;
    SparseArrays negative(model, TNR_DTYPE_I64);
    expect_refused(negative.view(), options_of(to), {"a.row_indices[1] is -1"});
    model = csc_model();
    model.major[2] = 9;
    SparseArrays offsets(model, TNR_DTYPE_I64);
    expect_refused(offsets.view(), options_of(to), {"a.col_offsets[2] is 9"});
  }
}

TEST(SparseConvert, DuplicatesHaveNoRoomInBlocks) {
  Pattern pattern = coalesced(random_pattern("", 8, 8, 20, 35), precedes);
  const Entry twice = pattern.entries[7];
  pattern.entries.insert(pattern.entries.begin() + 7, twice);
  for (const tnr_sparse_format from : kFormats) {
    SparseArrays arrays(model_of(pattern, from), TNR_DTYPE_I32);
    expect_refused(arrays.view(), blocks_of(4, 4),
                   {"row " + std::to_string(twice.row) + " has two entries in column " +
                        std::to_string(twice.col),
                    "coalesce"});
  }
}

// Only the extents decide, so the test needs no memory of their size.
TEST(SparseConvert, IndexTypeThatIsTooNarrowIsRefused) {
  const std::int64_t many = std::int64_t{1} << 31;
  const Pattern pattern{"", 3, many + 1, {{0, 5, 1}, {2, many, 2}}};
  SparseArrays arrays(model_of(pattern, TNR_SPARSE_FORMAT_CSR), TNR_DTYPE_I64);
  for (const tnr_sparse_format to : kFormats) {
    expect_refused(arrays.view(), options_of(to, 0, TNR_DTYPE_I32),
                   {"cols of the result reach 2147483648", "i32 ends at 2147483647", "use i64"});
  }
  const Result wide(
      sparse_convert(kDefaultContext, arrays.view(), options_of(TNR_SPARSE_FORMAT_COO)));
  EXPECT_TRUE(wide.entries() == pattern.entries);
  // Just narrow enough.
  tnr_sparse_view fits = arrays.view();
  fits.cols = many;
  fits.minor.shape[0] = fits.values.shape[0] = 1;
  fits.rows = 2;
  fits.major.shape[0] = 3;
  const Result narrow(
      sparse_convert(kDefaultContext, fits, options_of(TNR_SPARSE_FORMAT_COO, 0, TNR_DTYPE_I32)));
  EXPECT_EQ(index_at(narrow.view().minor, 0), 5);
}

TEST(SparseConvert, WidthsWithoutAKernelAreUnsupported) {
  SparseArrays arrays(csr_model(), TNR_DTYPE_I32);
  tnr_sparse_view view = arrays.view();
  const unsigned char memory[15] = {};
  // Five elements of three bytes, as another library may have.
  view.values = flat_view(memory, TNR_DTYPE_U8, {15});
  view.values.dtype = 24 << 8 | 1 << 16 | 1;
  view.values.shape[0] = 5;
  expect_refused(view, options_of(TNR_SPARSE_FORMAT_CSC), {"3 bytes", "1, 2, 4, 8 and 16"},
                 TNR_STATUS_UNSUPPORTED);
}

}  // namespace
}  // namespace tenure::test
