// Compares grouping entries by an index with one counting sort; under each instruction set.
#include "sparse/convert/group_by_key.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "sparse/convert/column_panels.hpp"
#include "sparse/convert/digit_sort.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse_patterns.hpp"

namespace tenure::test {
namespace {

using kernels::Byte;
using kernels::IndexType;
using Memory = std::vector<Byte>;

constexpr IndexType kIndexTypes[] = {IndexType::kI32, IndexType::kI64};

Memory packed(const std::vector<std::int64_t>& numbers, IndexType type) {
  Memory memory(numbers.size() * static_cast<std::size_t>(index_width(type)));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    put_index(memory.data(), type, static_cast<std::int64_t>(i), numbers[i]);
  }
  return memory;
}

// A pattern as group_by_key() takes it, by columns, with values of `width` bytes, from COO or from
// CSR. The first `skipped_rows` rows of CSR, and their entries, are left out.
struct Input {
  Input(const Pattern& pattern, tnr_sparse_format format, IndexType type, std::int64_t width,
        std::int64_t skipped_rows = 0) {
    const SparseModel model = model_of(pattern, format);
    const bool is_csr = format == TNR_SPARSE_FORMAT_CSR;
    std::vector<std::int64_t> major(model.major.begin() + skipped_rows, model.major.end());
    const std::int64_t first = is_csr ? major.front() : 0;
    majors = packed(major, type);
    keys = packed(model.minor, type);
    for (std::size_t k = 0; k < model.minor.size(); ++k) {
      const std::uint64_t id[2] = {k * 0x9E3779B97F4A7C15u + 1, k};
      const auto* const bytes = reinterpret_cast<const Byte*>(id);
      values.insert(values.end(), bytes, bytes + width);
    }
    from = {.count = static_cast<std::int64_t>(model.minor.size()) - first,
            .key_count = pattern.cols,
            .other_count = pattern.rows - skipped_rows,
            .index_type = type,
            .keys = keys.data() + first * index_width(type),
            .others = is_csr ? nullptr : majors.data(),
            .offsets = is_csr ? majors.data() : nullptr,
            .values = values.data() + first * width};
  }

  Memory majors;
  Memory keys;
  Memory values;
  Ungrouped from;
};

struct Output {
  Output(const Input& input, IndexType type, std::int64_t width)
      : offsets(static_cast<std::size_t>((input.from.key_count + 1) * index_width(type)), kCanary),
        others(static_cast<std::size_t>(input.from.count * index_width(type)), kCanary),
        values(static_cast<std::size_t>(input.from.count * width), kCanary),
        to{type, offsets.data(), others.data(), values.data()} {}

  static constexpr Byte kCanary = 0xA5;
  Memory offsets;
  Memory others;
  Memory values;
  Grouped to;
};

void expect_grouped(const Context& context, const Input& input, IndexType to, std::int64_t width,
                    const std::string& what) {
  Output expected(input, to, width);
  group_stepwise(input.from, expected.to, width);
  Output found(input, to, width);
  group_by_key(context, input.from, found.to, width, Within::kAsTheyCame);
  EXPECT_TRUE(found.offsets == expected.offsets) << what;
  EXPECT_TRUE(found.others == expected.others) << what;
  EXPECT_TRUE(found.values == expected.values) << what;
}

TEST(SparseGroupByKey, IsACountingSortForEveryTypeAndWidth) {
  const TestContext threads(3);
  for (const Pattern& pattern : small_patterns()) {
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR}) {
      for (const IndexType from : kIndexTypes) {
        for (const IndexType to : kIndexTypes) {
          for (const std::int64_t width : {1, 2, 4, 8, 16}) {
            const Input input(pattern, format, from, width);
            expect_grouped(threads, input, to, width,
                           pattern.name + " of " + std::to_string(width));
          }
        }
      }
    }
  }
}

TEST(SparseGroupByKey, IsTheSameByBucketsForAnyNumberOfThreads) {
  std::uint64_t turn = 0;
  for (const unsigned thread_count : {1u, 2u, 5u}) {
    const TestContext threads(thread_count);
    for (const Pattern& pattern : large_patterns()) {
      for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR}) {
        // Each type and width with each pattern would take minutes: each comes in turn.
        const std::int64_t width = std::int64_t{1} << turn % 5;
        const IndexType from = kIndexTypes[turn / 2 % 2];
        const IndexType to = kIndexTypes[turn / 3 % 2];
        ++turn;
        const Input input(pattern, format, from, width);
        expect_grouped(
            threads, input, to, width,
            pattern.name + " of " + std::to_string(width) + " on " + std::to_string(thread_count));
      }
    }
  }
}

TEST(SparseGroupByKey, RowsBeforeTheFirstAreNotLookedAt) {
  const Pattern pattern = large_patterns().front();
  for (const std::int64_t skipped : {1, 150, 299, 300}) {
    const Input input(pattern, TNR_SPARSE_FORMAT_CSR, IndexType::kI32, 4, skipped);
    expect_grouped(kDefaultContext, input, IndexType::kI32, 4, std::to_string(skipped));
  }
}

// Entries in the order of their others first, then grouped as they come: that is sorted.
void expect_sorted(const Context& context, const Pattern& pattern, tnr_sparse_format format,
                   IndexType from, IndexType to, std::int64_t width) {
  const Input input(pattern, format, from, width);
  Output by_key(input, to, width);
  group_stepwise(input.from, by_key.to, width);
  Output found(input, to, width);
  group_by_key(context, input.from, found.to, width, Within::kByOther);
  EXPECT_TRUE(found.offsets == by_key.offsets) << pattern.name;
  for (std::int64_t key = 0; key < input.from.key_count; ++key) {
    std::vector<std::int64_t> order;
    for (std::int64_t k = get_index(by_key.offsets.data(), to, key);
         k < get_index(by_key.offsets.data(), to, key + 1); ++k) {
      order.push_back(k);
    }
    const auto other = [&](std::int64_t k) { return get_index(by_key.others.data(), to, k); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int64_t a, std::int64_t b) { return other(a) < other(b); });
    std::int64_t at = get_index(by_key.offsets.data(), to, key);
    for (const std::int64_t k : order) {
      ASSERT_EQ(get_index(found.others.data(), to, at), other(k)) << pattern.name << " " << key;
      ASSERT_EQ(std::memcmp(found.values.data() + at * width, by_key.values.data() + k * width,
                            static_cast<std::size_t>(width)),
                0)
          << pattern.name << " " << key;
      ++at;
    }
  }
}

TEST(SparseGroupByKey, SortsWithinKeysForEveryTypeAndWidth) {
  const TestContext threads(3);
  std::uint64_t turn = 0;
  for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR}) {
    for (const std::int64_t width : {1, 2, 4, 8, 16}) {
      const IndexType from = kIndexTypes[turn % 2];
      const IndexType to = kIndexTypes[turn++ / 2 % 2];
      for (const Pattern& pattern : small_patterns()) {
        expect_sorted(threads, pattern, format, from, to, width);
      }
    }
  }
  for (const Pattern& pattern : large_patterns()) {
    const std::int64_t width = std::int64_t{1} << turn % 5;
    expect_sorted(threads, pattern, TNR_SPARSE_FORMAT_COO, kIndexTypes[turn % 2],
                  kIndexTypes[turn % 2], width);
    expect_sorted(kDefaultContext, pattern, TNR_SPARSE_FORMAT_COO, kIndexTypes[turn % 2],
                  kIndexTypes[turn % 2], width);
    ++turn;
  }
}

// Keys and others of more than 64 bits together, of one bit less where buckets take some of them,
// and of exactly as many.
TEST(SparseGroupByKey, IndicesThatNoNumberHasRoomFor) {
  const TestContext threads(3);
  for (const std::int64_t others : {std::int64_t{1} << 46, std::int64_t{1} << 47,
                                    std::int64_t{1} << 50, std::int64_t{1} << 51, INT64_MAX}) {
    for (const std::int64_t count : {1, 300, 150'000}) {
      Pattern pattern = random_pattern("huge", others, 70'000, count, 47);
      // Equal positions, which keep their order.
      for (std::size_t k = 0; k < pattern.entries.size(); k += 5) {
        pattern.entries[k] = pattern.entries[k / 2];
      }
      SCOPED_TRACE(std::to_string(others) + ", " + std::to_string(count));
      for (const std::int64_t width : {1, 8, 16}) {
        const Input input(pattern, TNR_SPARSE_FORMAT_COO, IndexType::kI64, width);
        expect_grouped(threads, input, IndexType::kI64, width, "of a huge extent");
        expect_sorted(threads, pattern, TNR_SPARSE_FORMAT_COO, IndexType::kI64, IndexType::kI64,
                      width);
      }
    }
  }
}

// Keys with cursors in several buckets, most of them without an entry.
TEST(SparseGroupByKey, FewEntriesOfManyKeys) {
  const TestContext threads(3);
  const std::int64_t keys = (std::int64_t{3} << 20) + 5;
  for (const std::int64_t count : {1, 300}) {
    const Pattern pattern = random_pattern("few", 50, keys, count, 53);
    for (const tnr_sparse_format format : {TNR_SPARSE_FORMAT_COO, TNR_SPARSE_FORMAT_CSR}) {
      const Input input(pattern, format, IndexType::kI32, 8);
      expect_grouped(threads, input, IndexType::kI32, 8, std::to_string(count));
    }
  }
}

// Sorts numbers of `bits` bits below others that all of them share, in three portions, one of them
// empty.
template <class P>
void expect_digits_sorted(std::int64_t count, unsigned bits, std::int64_t width,
                          kernels::PackedType type) {
  const P mask = static_cast<P>(~P{0} >> (8 * sizeof(P) - bits));
  std::uint64_t state = 7;
  std::vector<P> numbers;
  Memory values;
  for (std::int64_t k = 0; k < count; ++k) {
    state = state * 0x5851F42D4C957F2Du + 0x14057B7EF767814Fu;
    numbers.push_back(static_cast<P>((state >> 21 ^ state >> 43) & mask) |
                      static_cast<P>(P{5} & ~mask));
    const std::uint64_t id[2] = {static_cast<std::uint64_t>(k) * 0x9E3779B97F4A7C15u, 1};
    const auto* const bytes = reinterpret_cast<const Byte*>(id);
    values.insert(values.end(), bytes, bytes + width);
  }
  const auto portions = [&](const auto& body) {
    const auto portion = [&](std::int64_t begin, std::int64_t end) {
      body(end - begin, reinterpret_cast<const Byte*>(numbers.data() + begin),
           values.data() + begin * width);
    };
    portion(0, count / 3);
    portion(count / 3, count / 3);
    portion(count / 3, count);
  };
  const DigitSort sort(bits, type, sizeof(P), width);
  std::vector<std::uint64_t> scratch(static_cast<std::size_t>(sort.scratch_bytes(count)) / 8 + 1);
  const DigitSort::Entries found =
      sort.run(count, portions, reinterpret_cast<Byte*>(scratch.data()));
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return numbers[static_cast<std::size_t>(a)] < numbers[static_cast<std::size_t>(b)];
  });
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::int64_t k = order[at];
    const auto i = static_cast<std::int64_t>(at);
    ASSERT_EQ(std::memcmp(found.packed + at * sizeof(P), &numbers[static_cast<std::size_t>(k)],
                          sizeof(P)),
              0)
        << count << " of " << bits << " bits, " << width;
    ASSERT_EQ(std::memcmp(found.values + i * width, values.data() + k * width,
                          static_cast<std::size_t>(width)),
              0)
        << count << " of " << bits << " bits, " << width;
  }
}

TEST(DigitSort, IsAStableSort) {
  for (const std::int64_t count : {1, 100, 9000}) {
    for (const std::int64_t width : {1, 2, 4, 8, 16}) {
      for (const unsigned bits : {1u, 9u, 21u, 32u}) {
        expect_digits_sorted<std::uint32_t>(count, bits, width, kernels::PackedType::k32);
      }
      for (const unsigned bits : {1u, 33u, 64u}) {
        expect_digits_sorted<std::uint64_t>(count, bits, width, kernels::PackedType::k64);
      }
    }
  }
}

// Rows long enough for panels, of several panels and of one.
std::vector<Pattern> long_rows() {
  std::vector<Pattern> patterns = {
      coalesced(random_pattern("long rows", 50, 7000, 320'000, 31), precedes),
      coalesced(random_pattern("more rows", 1500, 1031, 420'000, 32), precedes),
      coalesced(random_pattern("one panel", 90, 513, 2'000, 33), precedes),
      coalesced(random_pattern("more columns than a panel has", 7, 40'000, 61'000, 34), precedes),
  };
  Pattern row = random_pattern("one row, with duplicates", 1, 30'000, 230'000, 35);
  std::stable_sort(row.entries.begin(), row.entries.end(), precedes);
  patterns.push_back(row);
  // Some rows end early, and some are empty.
  Pattern uneven = coalesced(random_pattern("uneven rows", 700, 2000, 400'000, 36), precedes);
  auto& entries = uneven.entries;
  entries.erase(std::remove_if(entries.begin(), entries.end(),
                               [](const Entry& e) { return e.row % 3 == 1 || e.col > 9 * e.row; }),
                entries.end());
  patterns.push_back(uneven);
  // A column that is a panel by itself, and too much for what a panel has room for.
  Pattern column = random_pattern("a dense column", 64, 300, 150'000, 37);
  for (std::size_t k = 0; k < column.entries.size(); ++k) {
    if (k % 4 != 0) column.entries[k].col = 77;
  }
  std::stable_sort(column.entries.begin(), column.entries.end(), precedes);
  patterns.push_back(column);
  return patterns;
}

void expect_panels(const Context& context, const Input& input, std::int64_t width,
                   const std::string& what) {
  const IndexType type = input.from.index_type;
  Output expected(input, type, width);
  group_stepwise(input.from, expected.to, width);
  Output found(input, type, width);
  ASSERT_TRUE(suits_panels(input.from, found.to, width)) << what;
  ASSERT_TRUE(group_by_panels(context, input.from, found.to, width)) << what;
  EXPECT_TRUE(found.offsets == expected.offsets) << what;
  EXPECT_TRUE(found.others == expected.others) << what;
  EXPECT_TRUE(found.values == expected.values) << what;
}

TEST(SparseGroupByKey, IsTheSameByPanelsForAnyNumberOfThreads) {
  std::uint64_t turn = 0;
  for (const unsigned thread_count : {1u, 2u, 5u}) {
    const TestContext threads(thread_count);
    for (const Pattern& pattern : long_rows()) {
      for (const IndexType type : kIndexTypes) {
        const std::int64_t width = std::int64_t{1} << turn++ % 5;
        const Input input(pattern, TNR_SPARSE_FORMAT_CSR, type, width);
        expect_panels(
            threads, input, width,
            pattern.name + " of " + std::to_string(width) + " on " + std::to_string(thread_count));
      }
    }
  }
}

TEST(SparseGroupByKey, PanelsSeeRowsWhoseKeysFall) {
  Pattern pattern = long_rows().front();
  std::reverse(pattern.entries.begin(), pattern.entries.end());
  for (const unsigned thread_count : {1u, 3u}) {
    const TestContext threads(thread_count);
    const Input input(pattern, TNR_SPARSE_FORMAT_CSR, IndexType::kI64, 16);
    Output found(input, IndexType::kI64, 16);
    EXPECT_FALSE(group_by_panels(threads, input.from, found.to, 16));
  }
  // One pair of entries of one row: the second entry is in an earlier panel.
  Pattern pair = long_rows().front();
  std::swap(pair.entries[100].col, pair.entries[6000].col);
  const Input input(pair, TNR_SPARSE_FORMAT_CSR, IndexType::kI32, 8);
  Output found(input, IndexType::kI32, 8);
  EXPECT_FALSE(group_by_panels(kDefaultContext, input.from, found.to, 8));
}

TEST(SparseGroupByKey, ShortRowsAndOtherIndicesDoNotSuitPanels) {
  const Pattern rows = coalesced(random_pattern("short", 5000, 5000, 14'000, 38), precedes);
  const Input input(rows, TNR_SPARSE_FORMAT_CSR, IndexType::kI32, 4);
  EXPECT_FALSE(suits_panels(input.from, Output(input, IndexType::kI32, 4).to, 4));
  const Input longer(long_rows().front(), TNR_SPARSE_FORMAT_CSR, IndexType::kI32, 4);
  EXPECT_TRUE(suits_panels(longer.from, Output(longer, IndexType::kI32, 4).to, 4));
  EXPECT_FALSE(suits_panels(longer.from, Output(longer, IndexType::kI64, 4).to, 4));
  const Input coordinates(long_rows().front(), TNR_SPARSE_FORMAT_COO, IndexType::kI32, 4);
  EXPECT_FALSE(suits_panels(coordinates.from, Output(coordinates, IndexType::kI32, 4).to, 4));
}

// So many entries that results go past the caches.
TEST(SparseGroupByKey, StreamsWhatIsLarge) {
  const TestContext threads(2);
  const Pattern pattern = random_pattern("streamed", 3000, 40'000, 1'060'000, 21);
  const Input input(pattern, TNR_SPARSE_FORMAT_COO, IndexType::kI64, 16);
  expect_grouped(threads, input, IndexType::kI64, 16, "16");
}

}  // namespace
}  // namespace tenure::test
