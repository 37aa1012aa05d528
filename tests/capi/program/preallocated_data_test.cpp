// Preallocated programs with data-dependent shapes, and the data that they refuse: counts, indices
// and divisors. A run reports these errors without an allocation, a lock or a system call.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "bound_runs.hpp"
#include "expect_status.hpp"
#include "failing_allocator.hpp"
#include "found_graph.hpp"
#include "memory/memory.hpp"
#include "tenure/tenure.h"

using tenure::test::allocation_counts;
using tenure::test::AllocationFault;
using tenure::test::expect_refused;
using tenure::test::Failing;
using tenure::test::Floats;
using tenure::test::kNoFilter;
using tenure::test::kUntouched;
using tenure::test::Lent;
using tenure::test::lock_count;
using tenure::test::status_under_filter;
using tenure::test::untouched;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kSub = TNR_NODE_BINARY + TNR_BINARY_OP_SUB;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kDiv = TNR_NODE_BINARY + TNR_BINARY_OP_DIV;
constexpr std::uint32_t kMax = TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX;

// Boxes whose scores are high are scored anew by a product; while some of these exceed a bound,
// they are halved and the low ones dropped. A second selection of the scores must be as long;
// places are divided by a number, and one of the scores is taken by an index.
class CPreallocatedData : public tenure::test::FoundGraph {
 protected:
  static constexpr std::int64_t kBoxes = 24;
  static constexpr std::int64_t kMost = 12;

  CPreallocatedData() {
    const std::uint32_t boxes = input({kBoxes, 4});
    const std::uint32_t given = input({kBoxes});
    const std::uint32_t others = input({kBoxes});
    const std::uint32_t divisor = input({1}, TNR_DTYPE_I64);
    const std::uint32_t index = input({1}, TNR_DTYPE_I64);
    const std::int64_t hits = extent("hits", kMost);
    const std::uint32_t found = node(TNR_NODE_NONZERO, {positive(given)}, {hits});
    const std::uint32_t places = node(TNR_NODE_RESHAPE, {found}, {hits});
    const std::uint32_t kept = node(TNR_NODE_TAKE, {boxes, places}, {0});
    const std::uint32_t product = node(TNR_NODE_MATMUL, {kept, constant(w.view())});
    const std::uint32_t high = node(TNR_NODE_TAKE, {given, places}, {0});
    const std::uint32_t column = node(TNR_NODE_RESHAPE, {high}, {hits, 1});
    const std::uint32_t both = node(TNR_NODE_CONCAT, {product, column}, {1});
    const std::uint32_t summed = node(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {both}, {}, nullptr, 2);
    const std::int64_t goes_on = body([&] {
      output(node(TNR_NODE_REDUCE + TNR_REDUCE_OP_ANY, {above(input({kMost}), 4)}, {}, nullptr, 1));
    });
    const std::int64_t halves = body([&] {
      const std::uint32_t half = node(kMul, {input({kMost}), scalar(0.5)});
      output(node(TNR_NODE_MASKED_SELECT, {half, above(half, 0.25)}, {extent("left", kMost)}));
    });
    const std::uint32_t behind = node(TNR_NODE_WHILE, {summed}, {goes_on, halves, 8});
    output(node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {behind}, {0}));
    const std::uint32_t second =
        node(TNR_NODE_MASKED_SELECT, {others, positive(others)}, {extent("second", kMost)});
    output(node(kSub, {second, high}));
    output(node(kDiv, {places, divisor}));
    output(node(TNR_NODE_TAKE, {high, index}, {0}));
    made = program();
    bound = lent().preallocate(made);
    EXPECT_NE(bound, nullptr) << tnr_last_error()->message;
  }
  ~CPreallocatedData() override { EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK); }

  Lent lent() {
    return {{box.view(), score.view(), other.view(), view_over(&by, {1}, TNR_DTYPE_I64),
             view_over(&at, {1}, TNR_DTYPE_I64)},
            {sums.out(),
             differences.out(),
             {view_over(quotients.data(), {kMost}, TNR_DTYPE_I64)},
             one.out()}};
  }

  // The first scores are high, as many as these.
  void set_counts(std::int64_t first, std::int64_t second) {
    const auto set = [](Floats& of, std::int64_t count) {
      for (std::int64_t i = 0; i < kBoxes; ++i) {
        of.values[static_cast<std::size_t>(i)] =
            static_cast<float>((i % 2 == 0 ? i / 2 < count : count > 12 + i / 2) ? i + 1 : -i);
      }
    };
    set(score, first);
    set(other, second);
  }
  void reset() {
    std::ranges::fill(sums.values, kUntouched);
    std::ranges::fill(differences.values, kUntouched);
    std::ranges::fill(quotients, -7);
    one.values[0] = kUntouched;
  }

  // For each way through the program, what a run answers, and words of its message.
  void each_way(const std::function<void(tnr_status, const std::string&)>& visit) {
    const auto way = [&](const char* name, std::int64_t first, std::int64_t second,
                         const std::string& words) {
      SCOPED_TRACE(name);
      set_counts(first, second);
      reset();
      visit(words.empty() ? TNR_STATUS_OK : TNR_STATUS_INVALID_ARGUMENT, words);
    };
    by = 2;
    at = 0;
    for (std::int64_t count = 1; count <= kMost; ++count) way("as many", count, count, "");
    way("one is broadcast", 5, 1, "");
    way("and so is the other", 1, 7, "");
    way("more than the bound", kMost + 1, 3, "nodes[1], nonzero: 13 are found but hits is at most");
    way("all", kBoxes, 3, "nodes[1], nonzero: 24 are found but hits is at most 12");
    way("more in the second", 3, kMost + 2, "masked_select: 14 are found but second is at most");
    way("of other lengths", 3, 4, "sub: operands[1] has shape [3]");
    at = 4;
    way("a place that is there", 5, 5, "");
    way("and that is not", 4, 4, "take: indices[0] is 4 but must be at least 0 and less than 4");
    at = -1;
    way("a negative one", 4, 4, "take: indices[0] is -1");
    at = 0;
    way("none, of which one is taken", 0, 0, "take: indices[0] is 0 but");
    by = 0;
    way("divided by 0", 6, 6, "div: an integer is divided by an element 0");
    by = 1;
    score.values[0] = 4000;
    box.values.assign(box.values.size(), 1e9f);
    way("a loop that does not end", 6, 6, "while: a loop that does not end");
    box = Floats({kBoxes, 4}, -0.5f, 0.37f);
  }

  Floats w{{4, 3}, -0.25f, 0.375f};
  Floats box{{kBoxes, 4}, -0.5f, 0.37f};
  Floats score{{kBoxes}};
  Floats other{{kBoxes}};
  std::int64_t by = 2;
  std::int64_t at = 0;
  Floats sums = untouched({kMost});
  Floats differences = untouched({kMost});
  std::vector<std::int64_t> quotients = std::vector<std::int64_t>(kMost, -7);
  Floats one = untouched({1});
  tnr_program* made = nullptr;
  tnr_bound* bound = nullptr;
};

TEST_F(CPreallocatedData, HasTheBitsOfItsProgram) {
  each_way([&](tnr_status expected, const std::string& words) {
    const Lent of = lent();
    ASSERT_EQ(run(made, of.views, of.outs), expected) << tnr_last_error()->message;
    const std::string message = expected == TNR_STATUS_OK ? "" : tnr_last_error()->message;
    const std::vector<float> sum_bits = sums.values;
    const std::vector<float> difference_bits = differences.values;
    const std::vector<std::int64_t> quotient_bits = quotients;
    const std::vector<float> one_bits = one.values;
    reset();
    // The shapes of the results.
    std::int64_t shapes[4 * TNR_MAX_RANK];
    std::ranges::fill(shapes, 99);
    ASSERT_EQ(of.run(bound, shapes), expected) << tnr_last_error()->message;
    if (expected != TNR_STATUS_OK) {
      EXPECT_EQ(std::ranges::count(shapes, 99), std::ssize(shapes));
      const std::string said = tnr_last_error()->message;
      EXPECT_NE(said.find(words), std::string::npos) << said;
      // The message equals the program's, except that shapes have another message.
      if (words.find("has shape") == std::string::npos) {
        EXPECT_EQ(said, message);
      }
      return;
    }
    EXPECT_EQ(sums.values, sum_bits);
    EXPECT_EQ(differences.values, difference_bits);
    EXPECT_EQ(quotients, quotient_bits);
    EXPECT_EQ(one.values, one_bits);
    EXPECT_NE(one.values[0], kUntouched);
    const auto written = [](const auto& values, auto untouched_value) {
      return std::ranges::find(values, untouched_value) - values.begin();
    };
    EXPECT_EQ(shapes[0], written(sums.values, kUntouched));
    EXPECT_EQ(shapes[TNR_MAX_RANK], written(differences.values, kUntouched));
    EXPECT_EQ(shapes[2 * TNR_MAX_RANK], written(quotients, std::int64_t{-7}));
    EXPECT_EQ(shapes[3 * TNR_MAX_RANK], 1);
    EXPECT_EQ(shapes[1], 0);
  });
}

TEST_F(CPreallocatedData, GivesTheShapesOfARun) {
  constexpr std::uint32_t kCount = 4 * TNR_MAX_RANK;
  constexpr auto kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  std::int64_t shapes[kCount];
  std::ranges::fill(shapes, 99);
  set_counts(4, 4);
  Lent of = lent();
  const int before = lock_count();
  tnr_status status;
  {
    const AllocationFault counted(Failing::kOne, tenure::test::kNone);
    status = of.run(bound, shapes);
  }
  EXPECT_EQ(status, TNR_STATUS_OK);
  if (!tenure::kSanitized) {
    EXPECT_EQ(allocation_counts().asked, 0);
  }
  EXPECT_EQ(lock_count(), before);
  EXPECT_EQ(shapes[TNR_MAX_RANK], 4);
  EXPECT_EQ(std::ranges::count(shapes, 99), 0);
  // A run that is refused, in the data or before it begins, writes none.
  set_counts(4, 5);
  EXPECT_EQ(of.run(bound, shapes), kInvalid);
  EXPECT_EQ(shapes[TNR_MAX_RANK], 4);
  set_counts(2, 2);
  of.views[0].shape[0] = 1;
  EXPECT_EQ(of.run(bound, shapes), kInvalid);
  EXPECT_EQ(shapes[TNR_MAX_RANK], 4);
  EXPECT_EQ(lent().run(bound, shapes), TNR_STATUS_OK);
  EXPECT_EQ(shapes[TNR_MAX_RANK], 2);
}

TEST_F(CPreallocatedData, AllocatesNothingAndTakesNoLock) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer sees each piece of scratch memory by itself";
  each_way([&](tnr_status expected, const std::string&) {
    const Lent of = lent();
    const int before = lock_count();
    tnr_status status;
    {
      const AllocationFault counted(Failing::kOne, tenure::test::kNone);
      status = of.run(bound);
    }
    EXPECT_EQ(status, expected);
    EXPECT_EQ(allocation_counts().asked, 0);
    EXPECT_EQ(allocation_counts().live_change, 0);
    EXPECT_EQ(lock_count(), before);
  });
}

TEST_F(CPreallocatedData, MakesNoSystemCall) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer asks the system itself";
  if (status_under_filter([] { return 0; }) == kNoFilter) {
    GTEST_SKIP() << "the system lets no process filter its calls";
  }
  each_way([&](tnr_status expected, const std::string&) {
    const Lent of = lent();
    EXPECT_EQ(status_under_filter([&] { return of.run(bound) == expected ? 0 : 1; }), 0);
  });
}

TEST_F(CPreallocatedData, KnowsItsMemoryByTheBounds) {
  tnr_memory_plan plan = {};
  plan.struct_size = sizeof plan;
  ASSERT_EQ(tnr_bound_memory(bound, &plan), TNR_STATUS_OK);
  const Lent of = lent();
  const tnr_memory_plan before = memory(made, of.views);
  EXPECT_EQ(plan.peak_bytes, before.peak_bytes);
  EXPECT_EQ(plan.step_count, before.step_count);
  each_way([&](tnr_status expected, const std::string&) {
    const Lent again = lent();
    EXPECT_EQ(run(made, again.views, again.outs), expected);
  });
  EXPECT_LE(memory(made, of.views).scratch_bytes, plan.scratch_bytes);
}

TEST_F(CPreallocatedData, SurvivesEveryAllocationThatFails) {
  bool has_failed = true;
  for (int first = 0; has_failed; ++first) {
    Lent of = lent();
    tnr_bound* another;
    {
      const AllocationFault fault(Failing::kOne, first);
      another = of.preallocate(made);
    }
    has_failed = allocation_counts().failed != 0;
    if (another == nullptr) {
      EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OUT_OF_MEMORY);
      EXPECT_TRUE(has_failed);
    }
    EXPECT_EQ(tnr_bound_release(another), TNR_STATUS_OK);
  }
}

// Shapes that only functions which throw know.
class CPreallocatedShapes : public tenure::test::FoundGraph {};

TEST_F(CPreallocatedShapes, AreRefusedWhereTheyAreBound) {
  const std::int64_t hits = extent("hits", 6);
  const std::uint32_t x = input({12});
  const std::uint32_t some = selected(x, hits);
  const std::uint32_t images =
      node(TNR_NODE_RESHAPE, {node(TNR_NODE_CONCAT, {some, some}, {0})}, {1, 1, hits, 2});
  const std::uint32_t several =
      node(TNR_NODE_RESHAPE, {node(TNR_NODE_CONCAT, {some, some}, {0})}, {hits, 2, 1, 1});
  tnr_einsum_node_attributes squares = {};
  squares.struct_size = sizeof squares;
  std::ranges::copy("i,i->", squares.spec);
  const Floats w({3, 1, 1, 1}, 1, 1);
  const Floats v({3, 2, 1, 1}, 1, 1);
  const std::uint32_t sum_of_squares = node(TNR_NODE_EINSUM, {some, some}, {}, &squares);
  const std::uint32_t tall = node(TNR_NODE_CONV2D, {images, constant(w.view())});
  const std::uint32_t many = node(TNR_NODE_CONV2D, {several, constant(v.view())});
  tnr_graph* const all = graph;
  const Floats a({12}, 1, 0.25f);
  const auto preallocated = [&](std::uint32_t value, const tnr_view_mut& out) {
    graph = tenure::test::rebuilt(all);
    output(value);
    tnr_bound* const bound = Lent({a.view()}, {out}).preallocate(program());
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, all)), TNR_STATUS_OK);
    return bound;
  };
  Floats number({});
  Floats rows({1, 3, 6, 2});
  expect_refused(preallocated(sum_of_squares, number.out()), TNR_STATUS_UNSUPPORTED,
                 {"einsum: its shapes follow from what a run finds"});
  expect_refused(preallocated(tall, rows.out()), TNR_STATUS_UNSUPPORTED,
                 {"conv2d: an extent of operands[0] behind the first is what a run finds"});
  // So many images are none of them.
  Floats filtered = untouched({6, 3, 1, 1});
  tnr_bound* const bound = preallocated(many, filtered.out());
  ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
  const Lent of({a.view()}, {filtered.out()});
  EXPECT_EQ(of.run(bound), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(std::ranges::count(filtered.values, kUntouched), 3);
  EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
}

}  // namespace
