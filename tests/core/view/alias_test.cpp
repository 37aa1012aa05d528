// The alias decision: its order of questions, the layouts people make, and the end of its budget.
#include <gtest/gtest.h>

#include "layouts.hpp"
#include "tenure/view.hpp"
#include "view/alias_search.hpp"

namespace tenure::test {
namespace {

alignas(64) const std::byte memory[256]{};

// Nobody reads these bytes, so they need not exist: 4 GiB from an aligned address.
const void* const kWideBase = reinterpret_cast<const void*>(std::uintptr_t{1} << 32);
constexpr std::size_t kWideBytes = std::size_t{1} << 32;

tnr_view wide(std::int64_t offset_bytes, tnr_dtype dtype, const Layout& layout) {
  return view_of(kWideBase, kWideBytes, offset_bytes, dtype, layout);
}
tnr_view bytes(std::int64_t offset, const Layout& layout) {
  return view_of(memory, sizeof memory, offset, TNR_DTYPE_U8, layout);
}
tnr_view exclusive(tnr_view view) {
  view.flags = TNR_VIEW_EXCLUSIVE;
  return view;
}

TEST(AliasOf, AnswersNoneWhereNothingIsReached) {
  EXPECT_EQ(alias_of(bytes(0, {{0, 1}}), bytes(0, {{8, 1}})), Alias::kNone);
  EXPECT_EQ(alias_of(bytes(0, {{8, 1}}), bytes(0, {{0, 1}})), Alias::kNone);
  EXPECT_EQ(alias_of(bytes(0, {{0, 1}}), bytes(0, {{0, 1}})), Alias::kNone);
}

TEST(AliasOf, AnswersNoneForDisjointIntervals) {
  EXPECT_EQ(alias_of(bytes(0, {{8, 1}}), bytes(8, {{8, 1}})), Alias::kNone);
  EXPECT_EQ(alias_of(bytes(8, {{8, 1}}), bytes(0, {{8, 1}})), Alias::kNone);
  EXPECT_EQ(alias_of(bytes(7, {{8, -1}}), bytes(15, {{8, -1}})), Alias::kNone);
  EXPECT_EQ(alias_of(bytes(0, {{8, 1}}), bytes(7, {{8, 1}})), Alias::kPartial);
}

TEST(AliasOf, AnswersSameForExactlyTheSameView) {
  const tnr_view view = wide(64, TNR_DTYPE_F32, {{3, 7}, {2, -1}});
  EXPECT_EQ(alias_of(view, view), Alias::kSame);
  EXPECT_EQ(alias_of(exclusive(view), view), Alias::kSame);
  // The memory lent around it does not matter, and neither do strides that no index uses.
  tnr_view narrow = view;
  narrow.base = static_cast<const char*>(view.data) - 4;
  narrow.size_bytes = 60;
  EXPECT_EQ(alias_of(view, narrow), Alias::kSame);
  EXPECT_EQ(alias_of(bytes(9, {{1, 5}, {4, 2}}), bytes(9, {{1, -5}, {4, 2}})), Alias::kSame);
}

TEST(AliasOf, AnswersPartialForTheSameBytesOtherwise) {
  const tnr_view view = wide(0, TNR_DTYPE_F32, {{3, 2}, {2, 1}});
  EXPECT_EQ(alias_of(view, wide(0, TNR_DTYPE_F32, {{2, 1}, {3, 2}})), Alias::kPartial);
  EXPECT_EQ(alias_of(view, wide(0, TNR_DTYPE_F32, {{6, 1}})), Alias::kPartial);
  EXPECT_EQ(alias_of(view, wide(0, TNR_DTYPE_I32, {{3, 2}, {2, 1}})), Alias::kPartial);
  EXPECT_EQ(alias_of(view, wide(20, TNR_DTYPE_F32, {{3, -2}, {2, -1}})), Alias::kPartial);
  EXPECT_EQ(alias_of(view, wide(0, TNR_DTYPE_F32, {{3, 2}, {2, 0}})), Alias::kPartial);
}

TEST(AliasOf, BelievesAnExclusiveOutputButNotAnExclusiveInput) {
  const tnr_view out = bytes(0, {{8, 1}});
  const tnr_view in = bytes(4, {{8, 1}});
  EXPECT_EQ(alias_of(out, in), Alias::kPartial);
  EXPECT_EQ(alias_of(exclusive(out), in), Alias::kNone);
  EXPECT_EQ(alias_of(out, exclusive(in)), Alias::kPartial);
  const tnr_view shorter = bytes(0, {{4, 1}});  // from the same byte on
  EXPECT_EQ(alias_of(out, shorter), Alias::kPartial);
  EXPECT_EQ(alias_of(exclusive(out), shorter), Alias::kNone);
}

TEST(AliasOf, SeesBytesInsideLongerElements) {
  // One byte after the other: i32 at bytes 0-3 and 8-11.
  const tnr_view out = wide(0, TNR_DTYPE_I32, {{2, 2}});
  for (std::int64_t byte = 0; byte < 12; ++byte) {
    const Alias expected = byte < 4 || byte >= 8 ? Alias::kPartial : Alias::kNone;
    const tnr_view in = wide(byte, TNR_DTYPE_U8, {});
    EXPECT_EQ(alias_of(out, in), expected) << byte;
    EXPECT_EQ(alias_of(in, out), expected) << byte;
  }
}

TEST(AliasOf, DecidesTheLayoutsPeopleMake) {
  const auto expect_apart = [](const tnr_view& a, const tnr_view& b) {
    EXPECT_EQ(alias_of(a, b), Alias::kNone);
    EXPECT_EQ(alias_of(b, a), Alias::kNone);
  };
  const std::int64_t n = 4096;
  // Even against odd columns, and against themselves shifted by one column more.
  const Layout every_second_column = {{n, n}, {n / 2, 2}};
  expect_apart(wide(0, TNR_DTYPE_F32, every_second_column),
               wide(4, TNR_DTYPE_F32, every_second_column));
  EXPECT_EQ(alias_of(wide(0, TNR_DTYPE_F32, every_second_column),
                     wide(8, TNR_DTYPE_F32, {{n, n}, {n / 2 - 1, 2}})),
            Alias::kPartial);
  // Left and right halves of the columns, upper and lower halves of the rows.
  expect_apart(wide(0, TNR_DTYPE_F32, {{n, n}, {n / 2, 1}}),
               wide(n / 2 * 4, TNR_DTYPE_F32, {{n, n}, {n / 2, 1}}));
  expect_apart(wide(0, TNR_DTYPE_F32, {{n / 2, n}, {n, 1}}),
               wide(n / 2 * n * 4, TNR_DTYPE_F32, {{n / 2, n}, {n, 1}}));
  // Blocks mirrored about the diagonal, and two adjacent columns.
  expect_apart(wide(64 * 4, TNR_DTYPE_F32, {{64, n}, {64, 1}}),
               wide(64 * n * 4, TNR_DTYPE_F32, {{64, n}, {64, 1}}));
  expect_apart(wide(7 * 4, TNR_DTYPE_F32, {{n, n}}), wide(8 * 4, TNR_DTYPE_F32, {{n, n}}));
  // NHWC images of 32 x 224 x 224 x 64: the two halves of the channels, one of them mirrored.
  const std::int64_t w = 64;
  const std::int64_t h = 224 * w;
  const std::int64_t i = 224 * h;
  expect_apart(wide(0, TNR_DTYPE_F32, {{32, i}, {224, h}, {224, w}, {32, 1}}),
               wide(32 * 4, TNR_DTYPE_F32, {{32, i}, {224, h}, {224, w}, {32, 1}}));
  expect_apart(wide(0, TNR_DTYPE_F32, {{32, i}, {224, h}, {224, w}, {32, 1}}),
               wide((32 + 223 * w) * 4, TNR_DTYPE_F32, {{32, i}, {224, h}, {224, -w}, {32, 1}}));
  // Real and imaginary parts of c64.
  expect_apart(wide(0, TNR_DTYPE_F32, {{n, 2}}), wide(4, TNR_DTYPE_F32, {{n, 2}}));
  // A matrix and its transpose share everything.
  EXPECT_EQ(
      alias_of(wide(0, TNR_DTYPE_F32, {{n, n}, {n, 1}}), wide(0, TNR_DTYPE_F32, {{n, 1}, {n, n}})),
      Alias::kPartial);
}

struct Step {
  std::int64_t step;
  std::int64_t most;
};

AliasSearch search_of(const std::vector<Step>& steps) {
  AliasSearch search;
  for (const Step& step : steps) search.add_step(step.step, step.most);
  return search;
}

// The equations of the layouts above, for their cost: steps in bytes, both sides together.
TEST(AliasSearch, TakesFewNodesForTheLayoutsPeopleMake) {
  const std::int64_t row = 4096 * 4;
  const std::int64_t columns_reach = 4095 * row + 2047 * 8;
  AliasSearch columns = search_of({{row, 4095}, {8, 2047}, {row, 4095}, {8, 2047}});
  EXPECT_EQ(columns.solve(columns_reach + 4 - 3, columns_reach + 4 + 3), AliasSearch::Answer::kNo);
  EXPECT_EQ(columns.node_count(), 1u);

  const std::int64_t halves_reach = 4095 * row + 2047 * 4;
  AliasSearch halves = search_of({{row, 4095}, {4, 2047}, {row, 4095}, {4, 2047}});
  EXPECT_EQ(halves.solve(halves_reach + row / 2 - 3, halves_reach + row / 2 + 3),
            AliasSearch::Answer::kNo);
  EXPECT_EQ(halves.node_count(), 1u);

  const std::int64_t w = 256;
  const std::int64_t h = 224 * w;
  const std::int64_t i = 224 * h;
  const std::int64_t images_reach = 31 * i + 223 * h + 223 * w + 31 * 4;
  AliasSearch images =
      search_of({{i, 31}, {h, 223}, {w, 223}, {4, 31}, {i, 31}, {h, 223}, {w, 223}, {4, 31}});
  EXPECT_EQ(images.solve(images_reach + 128 - 3, images_reach + 128 + 3), AliasSearch::Answer::kNo);
  EXPECT_EQ(images.node_count(), 3u);
}

TEST(AliasSearch, AnswersWithoutSteps) {
  EXPECT_EQ(AliasSearch().solve(-3, 0), AliasSearch::Answer::kYes);
  EXPECT_EQ(AliasSearch().solve(0, 3), AliasSearch::Answer::kYes);
  EXPECT_EQ(AliasSearch().solve(1, 3), AliasSearch::Answer::kNo);
  EXPECT_EQ(AliasSearch().solve(-3, -1), AliasSearch::Answer::kNo);
}

TEST(AliasSearch, PrunesByRangeAndDivisor) {
  EXPECT_EQ(search_of({{10, 3}, {4, 2}}).solve(39, 50), AliasSearch::Answer::kNo);  // over 38
  EXPECT_EQ(search_of({{10, 3}, {4, 2}}).solve(38, 50), AliasSearch::Answer::kYes);
  EXPECT_EQ(search_of({{10, 3}, {4, 2}}).solve(-9, -1), AliasSearch::Answer::kNo);
  EXPECT_EQ(search_of({{10, 3}, {4, 2}}).solve(9, 9), AliasSearch::Answer::kNo);    // odd
  EXPECT_EQ(search_of({{10, 3}, {4, 2}}).solve(12, 13), AliasSearch::Answer::kNo);  // 8, 10, 14
  EXPECT_EQ(search_of({{10, 3}, {4, 2}}).solve(12, 14), AliasSearch::Answer::kYes);
}

TEST(AliasSearch, MergesEqualSteps) {
  // 5 * (0..2) and 5 * (0..3): every multiple up to 25.
  EXPECT_EQ(search_of({{5, 2}, {5, 3}}).solve(25, 25), AliasSearch::Answer::kYes);
  EXPECT_EQ(search_of({{5, 2}, {5, 3}}).solve(26, 30), AliasSearch::Answer::kNo);
  EXPECT_EQ(search_of({{5, 2}, {5, 3}}).solve(21, 24), AliasSearch::Answer::kNo);
}

// Six steps of about one length, without a common divisor, whose 24^6 sums are far apart.
const Layout kAdversaryA = {{24, 10'000'019}, {24, 9'999'991}, {24, 9'876'543}};
const Layout kAdversaryB = {{24, 10'123'457}, {24, 9'765'433}, {24, 9'654'319}};

TEST(AliasOf, SaysSoWhenTheBudgetEnds) {
  const tnr_view a = wide(0, TNR_DTYPE_U8, kAdversaryA);
  const tnr_view b = wide(1, TNR_DTYPE_U8, kAdversaryB);
  ASSERT_TRUE(is_valid_view(a) && is_valid_view(b));
  EXPECT_EQ(alias_of(a, b), Alias::kUndecided);
  EXPECT_EQ(alias_of(exclusive(a), b), Alias::kNone);
  EXPECT_EQ(alias_of(a, wide(0, TNR_DTYPE_U8, {{24, 10'000'019}, {24, 9'999'991}})),
            Alias::kPartial);
}

TEST(AliasSearch, StopsAtItsBudget) {
  AliasSearch search;
  std::int64_t reach = 0;
  for (const Axis& axis : kAdversaryA) search.add_step(axis.stride, axis.extent - 1);
  for (const Axis& axis : kAdversaryB) {
    search.add_step(axis.stride, axis.extent - 1);
    reach += axis.stride * (axis.extent - 1);
  }
  EXPECT_EQ(search.solve(reach + 1, reach + 1), AliasSearch::Answer::kUndecided);
  EXPECT_LE(search.node_count(), AliasSearch::kNodeBudget + 7);  // the way back up counts none
}

TEST(AliasOf, DoesNotComputeWithSpansThatNoMemoryHas) {
  const void* base = reinterpret_cast<const void*>(std::uintptr_t{64});
  const std::size_t size = INT64_MAX;
  const tnr_view a = view_of(base, size, 0, TNR_DTYPE_U8, {{2, INT64_MAX - 1}});
  const tnr_view b = view_of(base, size, 1, TNR_DTYPE_U8, {{2, INT64_MAX - 2}});
  ASSERT_TRUE(is_valid_view(a));
  ASSERT_TRUE(is_valid_view(b));
  EXPECT_EQ(alias_of(a, b), Alias::kUndecided);
}

}  // namespace
}  // namespace tenure::test
