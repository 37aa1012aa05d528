// Copies between layouts, block by block, against copying element by element.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dense/loops/permutation.hpp"
#include "layouts.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

using kernels::Byte;
using Random = std::mt19937_64;

constexpr Byte kCanary = 0xA5;

// Around the sides of tiles and lines, for every width.
constexpr std::int64_t kExtents[] = {1,  1,  2,  2,  3,  3,  4,  5,  7,  8,  9,  12, 15,  16,  17,
                                     20, 23, 31, 32, 33, 40, 47, 56, 63, 64, 65, 80, 100, 129, 257};

std::vector<std::int64_t> random_shape(Random& random, std::int64_t max_count) {
  std::vector<std::int64_t> shape(1 + random() % 6);
  std::int64_t count = 1;
  for (std::int64_t& extent : shape) {
    extent = kExtents[random() % std::size(kExtents)];
    if (extent * count > max_count) extent = 1 + static_cast<std::int64_t>(random() % 3);
    count *= extent;
  }
  std::shuffle(shape.begin(), shape.end(), random);
  return shape;
}

enum class Access { kRead, kWrite };

// Elements somewhere in memory that is otherwise full of canaries.
struct Side {
  std::vector<std::int64_t> steps;  // bytes
  std::int64_t start = 0;           // of the element at index 0, in `memory`
  std::vector<Byte> memory;

  Side(const std::vector<std::int64_t>& shape, std::int64_t width, Access access, Random& random) {
    std::vector<unsigned> order(shape.size());
    std::iota(order.begin(), order.end(), 0u);
    if (random() % 4 != 0) std::shuffle(order.begin(), order.end(), random);
    // One layout in two is dense; the others have gaps that are mostly lines or parts of them.
    const bool dense = random() % 2 == 0;
    std::int64_t next = width;
    std::int64_t size = width;
    steps.resize(shape.size());
    for (const unsigned axis : order) {
      if (!dense && random() % 3 == 0) next += width * static_cast<std::int64_t>(random() % 20);
      const bool repeats = access == Access::kRead && !dense && random() % 6 == 0;
      const bool descends = !dense && random() % 4 == 0;
      const std::int64_t reach = repeats ? 0 : (shape[axis] - 1) * next;
      steps[axis] = repeats ? 0 : descends ? -next : next;
      if (descends) start += reach;
      size += reach;
      if (!repeats) next *= shape[axis];
    }
    // Any place in a line that elements of this width can have, and some room at both ends.
    const std::int64_t lead = width * static_cast<std::int64_t>(1 + random() % 65);
    start += lead;
    memory.assign(static_cast<std::size_t>(size + lead + 130), kCanary);
  }

  // Without gaps, with the axes in this order, the innermost last, one element behind a line.
  void set_dense(const std::vector<std::int64_t>& shape, const std::vector<unsigned>& order,
                 std::int64_t width) {
    std::int64_t step = width;
    for (std::size_t i = order.size(); i-- > 0;) {
      steps[order[i]] = step;
      step *= shape[order[i]];
    }
    memory.assign(static_cast<std::size_t>(step + 2 * width + 256), kCanary);
    start =
        static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(memory.data()) % 64) + width;
  }
};

// Calls visit(offset in out, offset in in) for each element.
template <class Visit>
void for_each_element(const std::vector<std::int64_t>& shape, const Side& out, const Side& in,
                      const Visit& visit) {
  std::vector<std::int64_t> index(shape.size());
  for (;;) {
    std::int64_t to = out.start;
    std::int64_t from = in.start;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      to += index[axis] * out.steps[axis];
      from += index[axis] * in.steps[axis];
    }
    visit(to, from);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

std::string describe(const std::vector<std::int64_t>& shape, const Side& out, const Side& in,
                     std::int64_t width) {
  std::string text = "width " + std::to_string(width);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    text += " | " + std::to_string(shape[axis]) + ": " + std::to_string(in.steps[axis]) + " to " +
            std::to_string(out.steps[axis]);
  }
  return text;
}

Movement movement_of(const std::vector<std::int64_t>& shape, Side& out, const Side& in,
                     std::int64_t width) {
  Movement movement{Nest(2), out.memory.data() + out.start, in.memory.data() + in.start, width,
                    2 * width};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const std::int64_t steps[] = {out.steps[axis], in.steps[axis]};
    movement.nest.add(shape[axis], steps);
    movement.moved_bytes *= shape[axis];
  }
  return movement;
}

// Fills the input and copies. False where it was no case for blocks.
bool expect_as_elements(const Context& context, const std::vector<std::int64_t>& shape, Side& out,
                        Side& in, std::int64_t width, Stores stores, Random& random) {
  for (std::size_t at = 0; at + 8 <= in.memory.size(); at += 8) {
    const std::uint64_t bits = random();
    std::memcpy(in.memory.data() + at, &bits, 8);
  }
  std::vector<Byte> expected = out.memory;
  for_each_element(shape, out, in, [&](std::int64_t to, std::int64_t from) {
    std::memcpy(expected.data() + to, in.memory.data() + from, static_cast<std::size_t>(width));
  });
  if (!permute(context, movement_of(shape, out, in, width), stores)) return false;
  // All of the memory: the canaries in the gaps and at both ends too.
  EXPECT_TRUE(out.memory == expected) << describe(shape, out, in, width);
  return true;
}

// How many of the cases were cases for blocks.
int compare_with_elements(const Context& context, std::int64_t width, Stores stores, int cases,
                          std::int64_t max_bytes, Random& random) {
  int taken = 0;
  for (int i = 0; i < cases; ++i) {
    const std::vector<std::int64_t> shape = random_shape(random, max_bytes / width);
    Side in(shape, width, Access::kRead, random);
    Side out(shape, width, Access::kWrite, random);
    taken += expect_as_elements(context, shape, out, in, width, stores, random);
    if (testing::Test::HasFailure()) break;
  }
  return taken;
}

constexpr std::int64_t kWidths[] = {1, 2, 4, 8, 16, 3, 12, 40, 1000};

class Permute : public testing::TestWithParam<std::int64_t> {};

TEST_P(Permute, ThroughTheCachesMatchesElementByElement) {
  Random random(100 + GetParam());
  EXPECT_GT(compare_with_elements(kDefaultContext, GetParam(), Stores::kCached, 40, 40000, random),
            10);
}

TEST_P(Permute, PastTheCachesMatchesElementByElement) {
  Random random(200 + GetParam());
  EXPECT_GT(
      compare_with_elements(kDefaultContext, GetParam(), Stores::kStreamed, 40, 40000, random), 10);
}

// Large enough to be shared: slices begin and end at any block.
TEST_P(Permute, OnThreadsMatchesElementByElement) {
  const TestContext context(3);
  Random random(300 + GetParam());
  for (const Stores stores : {Stores::kCached, Stores::kStreamed}) {
    EXPECT_GT(compare_with_elements(context, GetParam(), stores, 3, 600000, random), 0);
  }
}

class PermuteLongColumns : public Permute {};

// Columns so long that several blocks make one, runs that end within lines and meet in them, rows
// whose lines evict each other, and axes between those of unit step.
TEST_P(PermuteLongColumns, MatchesElementByElement) {
  const std::int64_t width = GetParam();
  Random random(400 + width);
  const std::vector<std::vector<std::int64_t>> shapes = {
      {2, 33, 701}, {3, 2, 1030}, {7, 1024, 21}, {19, 5, 7, 40}, {66, 13, 31}, {5, 257, 16}};
  for (const std::vector<std::int64_t>& shape : shapes) {
    for (int i = 0; i < 3; ++i) {
      Side in(shape, width, Access::kRead, random);
      Side out(shape, width, Access::kWrite, random);
      expect_as_elements(kDefaultContext, shape, out, in, width, Stores::kStreamed, random);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OfWidth, Permute, testing::ValuesIn(kWidths),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(OfWidth, PermuteLongColumns, testing::Values(1, 2, 4, 8, 16),
                         testing::PrintToStringParamName());

class PermuteDense : public Permute {};

// Runs that end within lines, whose rest is read where the next run begins: along another axis,
// along the columns' own, behind a run of several blocks or of several axes, and at the ends of all
// axes.
TEST_P(PermuteDense, RunsReadOnIntoTheNext) {
  struct Case {
    std::vector<std::int64_t> shape;  // of the output
    std::vector<unsigned> in_order;   // its axes as the input has them, innermost last
  };
  const Case cases[] = {{{37, 6, 301}, {2, 1, 0}},       {{523, 301}, {1, 0}},
                        {{3, 523, 301}, {2, 0, 1}},      {{19, 3, 1301}, {2, 1, 0}},
                        {{41, 2, 28, 31}, {2, 1, 3, 0}}, {{2, 3, 43, 5, 129}, {4, 1, 3, 0, 2}}};
  const std::int64_t width = GetParam();
  tnr_context_options options{};
  options.struct_size = sizeof options;
  options.thread_count = 3;
  const ContextToken token = context_create(options);
  {
    const ContextUse threads(token);
    Random random(600 + width);
    for (const Case& test : cases) {
      Side in(test.shape, width, Access::kRead, random);
      Side out(test.shape, width, Access::kWrite, random);
      std::vector<unsigned> out_order(test.shape.size());
      std::iota(out_order.begin(), out_order.end(), 0u);
      in.set_dense(test.shape, test.in_order, width);
      out.set_dense(test.shape, out_order, width);
      EXPECT_TRUE(expect_as_elements(kDefaultContext, test.shape, out, in, width, Stores::kStreamed,
                                     random));
      EXPECT_TRUE(
          expect_as_elements(threads, test.shape, out, in, width, Stores::kStreamed, random));
    }
  }
  context_release(token);
}

INSTANTIATE_TEST_SUITE_P(OfWidth, PermuteDense, testing::Values(2, 4, 8, 16),
                         testing::PrintToStringParamName());

// More runs that end within lines than parts of lines can wait: some give way to others. Gaps after
// the runs keep them from being whole.
TEST(Copy, WritesPartsOfLinesThatWaitTooLong) {
  Random random(500);
  const std::vector<std::int64_t> shape = {9001, 403};
  Side in(shape, 4, Access::kRead, random);
  Side out(shape, 4, Access::kWrite, random);
  in.start = out.start = 64;
  in.steps = {4, 4 * shape[0]};
  out.steps = {4 * (shape[1] + 1), 4};
  in.memory.assign(static_cast<std::size_t>(4 * shape[0] * (shape[1] + 1) + 128), kCanary);
  out.memory = in.memory;
  EXPECT_TRUE(expect_as_elements(kDefaultContext, shape, out, in, 4, Stores::kStreamed, random));
}

// A row-major matrix of i32 into its transpose, through the operation, past the size from which
// results are streamed.
TEST(Copy, TransposesWhatNoCacheHolds) {
  constexpr std::int64_t kRows = 2051;
  constexpr std::int64_t kColumns = 1537;
  std::vector<std::int32_t> a(kRows * kColumns);
  std::iota(a.begin(), a.end(), 0);
  std::vector<std::int32_t> result(a.size());
  const std::size_t size_bytes = a.size() * sizeof(std::int32_t);
  ASSERT_EQ(stores_for(static_cast<std::int64_t>(2 * size_bytes)), stores_for(INT64_MAX));
  const tnr_view turned =
      view_of(a.data(), size_bytes, 0, TNR_DTYPE_I32, {{kColumns, 1}, {kRows, kColumns}});
  copy(kDefaultContext, turned,
       {view_of(result.data(), size_bytes, 0, TNR_DTYPE_I32, {{kColumns, kRows}, {kRows, 1}})});
  for (std::int64_t i = 0; i < kColumns; ++i) {
    for (std::int64_t j = 0; j < kRows; ++j) {
      ASSERT_EQ(result[static_cast<std::size_t>(i * kRows + j)],
                a[static_cast<std::size_t>(j * kColumns + i)]);
    }
  }
}

}  // namespace
}  // namespace tenure::test
