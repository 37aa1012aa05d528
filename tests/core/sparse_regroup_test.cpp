// Grouping entries by an index, beside one counting sort; under each instruction set.
#include "sparse_regroup.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "index_array.hpp"
#include "sparse_kernels.hpp"
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

// A pattern as regroup() takes it, by columns, with values of a width: from COO or from CSR, of which
// the first entries may belong to rows that are not looked at.
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
  regroup_stepwise(input.from, expected.to, width);
  Output found(input, to, width);
  regroup(context, input.from, found.to, width);
  EXPECT_TRUE(found.offsets == expected.offsets) << what;
  EXPECT_TRUE(found.others == expected.others) << what;
  EXPECT_TRUE(found.values == expected.values) << what;
}

TEST(SparseRegroup, IsACountingSortForEveryTypeAndWidth) {
  const Threads threads(3);
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

TEST(SparseRegroup, IsTheSameByBucketsForAnyNumberOfThreads) {
  std::uint64_t turn = 0;
  for (const unsigned thread_count : {1u, 2u, 5u}) {
    const Threads threads(thread_count);
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

TEST(SparseRegroup, RowsBeforeTheFirstAreNotLookedAt) {
  const Pattern pattern = large_patterns().front();
  for (const std::int64_t skipped : {1, 150, 299, 300}) {
    const Input input(pattern, TNR_SPARSE_FORMAT_CSR, IndexType::kI32, 4, skipped);
    expect_grouped(kDefaultContext, input, IndexType::kI32, 4, std::to_string(skipped));
  }
}

// So many entries that results go past the caches.
TEST(SparseRegroup, StreamsWhatIsLarge) {
  const Threads threads(2);
  const Pattern pattern = random_pattern("streamed", 3000, 40'000, 1'060'000, 21);
  const Input input(pattern, TNR_SPARSE_FORMAT_COO, IndexType::kI64, 16);
  expect_grouped(threads, input, IndexType::kI64, 16, "16");
}

TEST(SparseRegroup, ShapesThatNoMemoryHasOffsetsForAreRefused) {
  const std::int64_t rows = std::int64_t{1} << 60;
  const Input input({"", 2, 2, {{1, 1, 1}}}, TNR_SPARSE_FORMAT_COO, IndexType::kI64, 4);
  Ungrouped from = input.from;
  from.key_count = from.other_count = rows;
  Byte offsets[8];
  EXPECT_THROW(regroup(kDefaultContext, from, {IndexType::kI64, offsets, nullptr, nullptr}, 4),
               Error);
}

}  // namespace
}  // namespace tenure::test
