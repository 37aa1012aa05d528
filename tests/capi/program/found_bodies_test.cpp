// Bodies that find how many elements they give, and that take what the graph around them finds.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "expect_status.hpp"
#include "found_graph.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::kUntouched;
using tenure::test::rebuilt;
using tenure::test::untouched;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kSub = TNR_NODE_BINARY + TNR_BINARY_OP_SUB;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kNeg = TNR_NODE_UNARY + TNR_UNARY_OP_NEG;
constexpr std::uint32_t kAny = TNR_NODE_REDUCE + TNR_REDUCE_OP_ANY;
constexpr std::uint32_t kSum = TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM;
constexpr std::uint32_t kMax = TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX;
constexpr std::uint32_t kAllPasses = 0xff;
constexpr std::uint32_t kMasks[] = {
    0u,
    kAllPasses,
    TNR_PASS_FUSION,
    TNR_PASS_IN_PLACE,
    TNR_PASS_MEMORY,
    TNR_PASS_DEAD_CODE,
    kAllPasses & ~std::uint32_t{TNR_PASS_FUSION},
};

class CFoundBodies : public tenure::test::FoundGraph {
 protected:
  std::uint32_t any(std::uint32_t mask) { return node(kAny, {mask}, {}, nullptr, 1); }
  std::uint32_t flag_input() { return input({}, TNR_DTYPE_BOOL8); }
  tnr_view flag(bool is_true) {
    static constexpr std::uint8_t kValues[] = {0, 1};
    return view_over(&kValues[is_true ? 1 : 0], {}, TNR_DTYPE_BOOL8);
  }
  std::uint32_t number(float value) { return constant(view_over(&value, {})); }
};

// The positive ones of 8 elements.
std::vector<float> positive_of(const float (&a)[8]) {
  std::vector<float> some;
  std::copy_if(a, a + 8, std::back_inserter(some), [](float value) { return value > 0; });
  return some;
}

// Expects the elements of `expected` at the beginning of `out`, and nothing written behind them.
void expect_first(const Floats& out, const std::vector<float>& expected) {
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    EXPECT_EQ(out.values[i], i < expected.size() ? expected[i] : kUntouched) << i;
  }
}

constexpr float kSome[] = {1, -1, 2, 3, -1, -1, 5, -1};
constexpr float kNone[] = {-1, -1, -2, -3, -1, -1, -5, -1};
constexpr float kEach[] = {1, 9, 2, 3, 8, 7, 5, 4};

TEST_F(CFoundBodies, TakeWhatTheGraphAroundThemFinds) {
  const std::uint32_t x = input({8});
  const std::uint32_t decides = flag_input();
  const std::uint32_t some = selected(x, extent("hits", 8));
  const std::int64_t doubles = body([&] {
    const std::uint32_t of = input({8});
    const std::uint32_t column = node(TNR_NODE_RESHAPE, {of}, {extent("hits", 8), 1});
    const std::uint32_t pairs = node(TNR_NODE_CONCAT, {column, column}, {1});
    output(node(TNR_NODE_PERMUTE, {node(kMul, {pairs, scalar(2)})}, {1, 0}));
    output(node(kSum, {of}, {}, nullptr, 1));
  });
  const std::int64_t negates = body([&] {
    const std::uint32_t of = input({8});
    const std::uint32_t row = node(TNR_NODE_RESHAPE, {node(kNeg, {of})}, {1, extent("hits", 8)});
    output(node(TNR_NODE_CONCAT, {row, row}, {0}));
    output(node(kMax, {of}, {}, nullptr, 1));
  });
  const std::uint32_t taken = node(TNR_NODE_COND, {decides, some}, {doubles, negates});
  output(taken);
  output(node(kAdd, {node(kSum, {taken}, {}, nullptr, 2), scalar(1)}));
  output(taken + 1);
  for (const std::uint32_t disabled : kMasks) {
    const tnr_program* const made = program(disabled);
    for (const auto& [a, is_first] : {std::pair(&kSome, true), std::pair(&kEach, false),
                                      std::pair(&kNone, true), std::pair(&kSome, false)}) {
      const std::vector<float> found = positive_of(*a);
      // The caller's rows are far apart.
      Floats rows = untouched({2, 10});
      tnr_view_mut far = {rows.view()};
      far.view.shape[1] = 8;
      Floats sums = untouched({2});
      Floats one({});
      std::int64_t shapes[3 * TNR_MAX_RANK] = {};
      ASSERT_EQ(run(made, {view_over(*a, {8}), flag(is_first)}, {far, sums.out(), one.out()}, 0, 0,
                    shapes),
                TNR_STATUS_OK)
          << tnr_last_error()->message;
      EXPECT_EQ(shapes[0], 2);
      EXPECT_EQ(shapes[1], std::ssize(found));
      float sum = 0;
      for (const float value : found) sum += value;
      for (std::size_t i = 0; i < 20; ++i) {
        const std::size_t at = i % 10;
        EXPECT_EQ(rows.values[i], at < found.size() ? found[at] * (is_first ? 2 : -1) : kUntouched);
      }
      EXPECT_EQ(sums.values, (std::vector<float>(2, sum * (is_first ? 2 : -1) + 1)));
      EXPECT_EQ(one.values[0], is_first ? sum : *std::ranges::max_element(found));
    }
    // The branch's own node refuses a count.
    Floats rows({2, 8});
    Floats sums({2});
    Floats one({});
    expect_refused(
        run(made, {view_over(kNone, {8}), flag(false)}, {rows.out(), sums.out(), one.out()}),
        TNR_STATUS_INVALID_ARGUMENT, {"cond: subgraphs[1], nodes[3], max: "});
  }
}

TEST_F(CFoundBodies, FindByThemselves) {
  const std::uint32_t x = input({extent("n", 100)});
  const std::uint32_t decides = flag_input();
  // The first body gives all elements, the second one some of them, with a smaller maximum.
  const std::int64_t all = body([&] { output(node(kNeg, {input({extent("n", 100)})})); });
  const std::int64_t part = body([&] {
    const std::uint32_t of = input({extent("n", 100)});
    // The name of an extent of its own, which is none of the graph around it.
    output(selected(of, extent("few", 4)));
  });
  const std::uint32_t taken = node(TNR_NODE_COND, {decides, x}, {all, part});
  output(node(kMul, {taken, scalar(2)}));
  output(taken);
  tnr_graph* const again = rebuilt(graph);
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, again)), TNR_STATUS_OK);
  for (const std::uint32_t disabled : kMasks) {
    const tnr_program* const made = program(disabled);
    for (const bool is_all : {true, false, true}) {
      for (const auto* const a : {&kSome, &kNone}) {
        std::vector<float> expected(*a, *a + 8);
        for (float& value : expected) value = -value;
        if (!is_all) expected = positive_of(*a);
        Floats twice = untouched({8});
        Floats same = untouched({8});
        std::int64_t shapes[2 * TNR_MAX_RANK] = {};
        ASSERT_EQ(
            run(made, {view_over(*a, {8}), flag(is_all)}, {twice.out(), same.out()}, 0, 0, shapes),
            TNR_STATUS_OK)
            << tnr_last_error()->message;
        EXPECT_EQ(shapes[0], std::ssize(expected));
        EXPECT_EQ(shapes[TNR_MAX_RANK], std::ssize(expected));
        expect_first(same, expected);
        for (float& value : expected) value *= 2;
        expect_first(twice, expected);
      }
    }
    Floats twice({8});
    Floats same({8});
    expect_refused(run(made, {view_over(kEach, {8}), flag(false)}, {twice.out(), same.out()}),
                   TNR_STATUS_INVALID_ARGUMENT,
                   {"nodes[0], cond: subgraphs[1], nodes[1], masked_select: 8 are found but few is "
                    "at most 4"});
    ASSERT_EQ(run(made, {view_over(kSome, {8}), flag(false)}, {twice.out(), same.out()}),
              TNR_STATUS_OK);
  }
}

// Each iteration subtracts a step and keeps the rows that are still positive. Rows have two
// columns, so that the state's first part is no vector.
TEST_F(CFoundBodies, LoopsKeepFewerAndFewer) {
  const std::uint32_t x = input({8, 2});
  const std::uint32_t by = input({});
  const std::int64_t goes_on = body([&] {
    const std::uint32_t state = input({8, 2});
    (void)input({});
    (void)input({});
    output(any(any(above(state, 5))));
  });
  const std::int64_t keeps = body([&] {
    const std::uint32_t state = input({8, 2});
    const std::uint32_t rounds = input({});
    const std::uint32_t step = input({});
    const std::uint32_t less = node(kSub, {state, step});
    const std::uint32_t first =
        node(TNR_NODE_REDUCE + TNR_REDUCE_OP_ALL, {positive(less)}, {}, nullptr, 2);
    const std::int64_t left = extent("left", 8);
    const std::uint32_t places = node(TNR_NODE_NONZERO, {first}, {left});
    output(node(TNR_NODE_TAKE, {less, node(TNR_NODE_RESHAPE, {places}, {left})}, {0}));
    output(node(kAdd, {rounds, scalar(1)}));
  });
  const std::uint32_t behind = node(TNR_NODE_WHILE, {x, number(0), by}, {goes_on, keeps, 100});
  output(behind);
  output(node(kSum, {behind}, {}, nullptr, 1));
  output(behind + 1);
  Floats a({8, 2});
  for (std::size_t i = 0; i < 16; ++i) a.values[i] = static_cast<float>(i * 7 % 16);
  for (const std::uint32_t disabled : kMasks) {
    const tnr_program* const made = program(disabled);
    // None, one, two and some rounds; rows of the output are adjacent, or far apart.
    for (const float step : {11.0f, 8.0f, 5.0f, 3.0f, 2.5f, 40.0f, 1.0f, 0.5f}) {
      for (const bool is_far : {false, true}) {
        std::vector<float> expected = a.values;
        float rounds = 0;
        while (std::ranges::any_of(expected, [](float value) { return value > 5; })) {
          std::vector<float> left;
          for (std::size_t row = 0; row < expected.size(); row += 2) {
            const float first = expected[row] - step;
            const float second = expected[row + 1] - step;
            if (first > 0 && second > 0) left.insert(left.end(), {first, second});
          }
          expected = left;
          ++rounds;
        }
        Floats memory = untouched({8, is_far ? 3 : 2});
        tnr_view_mut rows = {memory.view()};
        rows.view.shape[1] = 2;
        Floats sums({2});
        Floats count({});
        std::int64_t shapes[3 * TNR_MAX_RANK] = {};
        ASSERT_EQ(run(made, {a.view(), view_over(&step, {})}, {rows, sums.out(), count.out()}, 0, 0,
                      shapes),
                  TNR_STATUS_OK)
            << tnr_last_error()->message;
        EXPECT_EQ(count.values[0], rounds);
        EXPECT_EQ(shapes[0], std::ssize(expected) / 2);
        float sum = 0;
        for (std::size_t i = 0; i < expected.size(); i += 2) sum += expected[i];
        EXPECT_EQ(sums.values[0], sum);
        for (std::size_t i = 0; i < memory.values.size(); ++i) {
          const std::size_t width = is_far ? 3 : 2;
          const std::size_t at = i / width * 2 + i % width;
          const bool is_found = i % width < 2 && at < expected.size();
          EXPECT_EQ(memory.values[i], is_found ? expected[at] : kUntouched);
        }
      }
    }
    // No round at all: the state as it began.
    const Floats small({8, 2}, 1, 0);
    Floats rows({8, 2});
    Floats sums({2});
    Floats count({});
    const float step = 1;
    ASSERT_EQ(
        run(made, {small.view(), view_over(&step, {})}, {rows.out(), sums.out(), count.out()}),
        TNR_STATUS_OK);
    EXPECT_EQ(rows.values, small.values);
    EXPECT_EQ(sums.values[0], 8);
    EXPECT_EQ(count.values[0], 0);
  }
}

TEST_F(CFoundBodies, LoopsRunAsOftenAsIsFound) {
  const std::uint32_t x = input({8});
  const std::int64_t hits = extent("hits", 8);
  const std::uint32_t some = selected(x, hits);
  const std::int64_t goes_on = body([&] {
    const std::uint32_t state = input({8});
    output(any(node(TNR_NODE_COMPARE + TNR_COMPARE_OP_LT, {state, scalar(40)})));
  });
  const std::int64_t doubles = body([&] { output(node(kMul, {input({8}), scalar(2)})); });
  output(node(TNR_NODE_WHILE, {some}, {goes_on, doubles, hits}));
  for (const std::uint32_t disabled : kMasks) {
    const tnr_program* const made = program(disabled);
    Floats out = untouched({8});
    // One that needs a single round, one that needs more than there are, and none.
    const float one[] = {39, -1, -1, -1, -1, -1, -1, -1};
    ASSERT_EQ(run(made, {view_over(one, {8})}, {out.out()}), TNR_STATUS_OK)
        << tnr_last_error()->message;
    expect_first(out, {78});
    expect_refused(run(made, {view_over(kSome, {8})}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT,
                   {"while: a loop that does not end: its condition holds after 4 iterations"});
    out = untouched({8});
    ASSERT_EQ(run(made, {view_over(kEach, {8})}, {out.out()}), TNR_STATUS_OK);
    EXPECT_EQ(out.values[0], 64);
    EXPECT_EQ(out.values[7], 256);
    out = untouched({8});
    ASSERT_EQ(run(made, {view_over(kNone, {8})}, {out.out()}), TNR_STATUS_OK);
    expect_first(out, {});
  }
}

TEST_F(CFoundBodies, AreWithinOthers) {
  // While some are above 4: those that are odd rounds' are halved, else all but the first are kept.
  const std::uint32_t x = input({8});
  const std::uint32_t some = selected(x, extent("hits", 8));
  const std::int64_t goes_on = body([&] {
    output(any(above(input({8}), 4)));
    (void)input({});
  });
  const std::int64_t round = body([&] {
    const std::uint32_t state = input({8});
    const std::uint32_t is_odd = input({});
    const std::int64_t kept = extent("kept", 8);
    const std::uint32_t above_one = node(TNR_NODE_MASKED_SELECT, {state, above(state, 1)}, {kept});
    const std::int64_t halves = body([&] {
      const std::uint32_t of = input({8});
      // An extent that the graph around it finds in this very round.
      const std::int64_t of_kept = extent("kept", 8);
      const std::int64_t rest = combined(TNR_EXTENT_OP_DIV_UP, of_kept, 2);
      output(node(TNR_NODE_SLICE, {of}, {0, 0, rest, 1}));
    });
    const std::int64_t subtracts = body([&] {
      const std::uint32_t of = input({8});
      output(selected(node(kSub, {of, scalar(1)}), extent("inner", 8)));
    });
    output(node(TNR_NODE_COND, {positive(is_odd), above_one}, {halves, subtracts}));
    output(node(kSub, {scalar(1), is_odd}));
  });
  const std::uint32_t behind = node(TNR_NODE_WHILE, {some, number(0)}, {goes_on, round, 50});
  output(behind);
  output(node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {behind}, {0}));
  tnr_graph* const again = rebuilt(graph);
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, again)), TNR_STATUS_OK);
  for (const std::uint32_t disabled : kMasks) {
    const tnr_program* const made = program(disabled);
    for (const auto* const a : {&kSome, &kEach, &kNone, &kEach}) {
      std::vector<float> expected = positive_of(*a);
      for (bool is_odd = false; std::ranges::any_of(expected, [](float v) { return v > 4; });
           is_odd = !is_odd) {
        std::erase_if(expected, [](float value) { return value <= 1; });
        if (is_odd) {
          expected.resize((expected.size() + 1) / 2);
        } else {
          for (float& value : expected) value -= 1;
          std::erase_if(expected, [](float value) { return value <= 0; });
        }
      }
      Floats out = untouched({8});
      Floats sums = untouched({8});
      ASSERT_EQ(run(made, {view_over(*a, {8})}, {out.out(), sums.out()}), TNR_STATUS_OK)
          << tnr_last_error()->message;
      expect_first(out, expected);
      std::vector<float> totals;
      float total = 0;
      for (const float value : expected) totals.push_back(total += value);
      expect_first(sums, totals);
    }
  }
}

TEST_F(CFoundBodies, HaveTheirMemoryByTheBounds) {
  const std::uint32_t x = input({extent("n", 1 << 20)});
  const std::uint32_t decides = flag_input();
  const std::int64_t sorts = body([&] {
    const std::uint32_t some = selected(input({1 << 20}), extent("hits", 1000));
    output(node(kSum, {node(TNR_NODE_SCAN + TNR_SCAN_OP_MAX, {some}, {0})}, {}, nullptr, 1));
  });
  const std::int64_t sums = body([&] { output(node(kSum, {input({1 << 20})}, {}, nullptr, 1)); });
  output(node(TNR_NODE_COND, {decides, x}, {sorts, sums}));
  const tnr_program* const made = program();
  const Floats few({10}, 1, 0.125f);
  const Floats many({5000}, -2, 0.001f);
  Floats sum({});
  for (const Floats* const a : {&few, &many}) {
    const std::uint64_t peak = memory(made, {a->view(), flag(true)}).peak_bytes;
    // The mask of the body and the selected elements, each in whole cache lines.
    const std::uint64_t mask_bytes = a == &few ? 64 : 5056;
    EXPECT_EQ(peak, mask_bytes + (a == &few ? 64 : 4032));
    for (const bool is_first : {true, false}) {
      EXPECT_EQ(run(made, {a->view(), flag(is_first)}, {sum.out()}, peak),
                is_first && a == &many ? TNR_STATUS_INVALID_ARGUMENT : TNR_STATUS_OK)
          << tnr_last_error()->message;
      EXPECT_EQ(run(made, {a->view(), flag(is_first)}, {sum.out()}, peak - 1),
                TNR_STATUS_OUT_OF_MEMORY);
    }
  }
}

TEST_F(CFoundBodies, ANodeIsNeededForTheCountThatABodyNames) {
  const std::int64_t hits = extent("hits", 8);
  const std::uint32_t x = input({8});
  (void)node(TNR_NODE_NONZERO, {positive(x)}, {hits});
  const std::int64_t first = body([&] {
    const std::int64_t half = combined(TNR_EXTENT_OP_DIV_UP, extent("hits", 8), 2);
    output(node(TNR_NODE_SLICE, {input({8})}, {0, 0, half, 1}));
  });
  const std::int64_t all = body([&] {
    (void)extent("hits", 8);
    output(input({8}));
  });
  const std::uint32_t decides = flag_input();
  output(node(TNR_NODE_COND, {decides, x}, {first, all}));
  for (const std::uint32_t disabled : kMasks) {
    const tnr_program* const made = program(disabled);
    Floats out = untouched({8});
    std::int64_t shape[TNR_MAX_RANK] = {};
    ASSERT_EQ(run(made, {view_over(kSome, {8}), flag(true)}, {out.out()}, 0, 0, shape),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(shape[0], 2);
    expect_first(out, {kSome[0], kSome[1]});
    ASSERT_EQ(run(made, {view_over(kSome, {8}), flag(false)}, {out.out()}, 0, 0, shape),
              TNR_STATUS_OK);
    EXPECT_EQ(shape[0], 8);
    EXPECT_EQ(out.values, std::vector<float>(kSome, kSome + 8));
  }
}

TEST_F(CFoundBodies, AreRefusedWhereTheyDoNotAgree) {
  constexpr auto kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  const std::int64_t hits = extent("hits", 8);
  const std::uint32_t x = input({8});
  const std::uint32_t decides = flag_input();
  const std::uint32_t some = selected(x, hits);
  const auto same = body([&] { output(input({8})); });
  const auto finds = body([&] { output(selected(input({8}), extent("own", 5))); });
  const auto column = body([&] {
    const std::int64_t own = extent("own", 8);
    output(node(TNR_NODE_RESHAPE, {selected(input({8}), own)}, {own, 1}));
  });
  const auto places = body([&] {
    const std::int64_t own = extent("own", 8);
    output(node(TNR_NODE_RESHAPE, {node(TNR_NODE_NONZERO, {input({8})}, {own})}, {own}));
  });
  const auto doubles = body([&] {
    const std::uint32_t of = input({8});
    output(node(TNR_NODE_CONCAT, {of, selected(of, extent("own", 8))}, {0}));
  });
  const auto shorter = body([&] { output(node(TNR_NODE_SLICE, {input({8})}, {0, 0, 7, 1})); });
  const auto mask = body([&] { output(any(positive(input({8})))); });
  const auto masks = body([&] {
    const std::int64_t own = extent("own", 1);
    const std::uint32_t of = positive(input({8}));
    output(node(TNR_NODE_MASKED_SELECT, {of, of}, {own}));
  });
  // Other dtypes and ranks, and other extents that are not data-dependent.
  expect_node_refused(TNR_NODE_COND, {decides, x}, {finds, column}, kInvalid,
                      {"outputs[0] of the second body is f32 of shape [8, 1] but must be f32 of"});
  expect_node_refused(TNR_NODE_COND, {decides, x}, {finds, places}, kInvalid,
                      {"outputs[0] of the second body is i64"});
  expect_node_refused(TNR_NODE_COND, {decides, x}, {same, shorter}, kInvalid,
                      {"outputs[0] of the second body is f32 of shape [7] but must be f32 of "
                       "shape [8]"});
  expect_node_refused(TNR_NODE_WHILE, {x}, {mask, shorter, 3}, kInvalid,
                      {"outputs[0] of the body is f32 of shape [7]"});
  // A state may shrink, and not grow.
  expect_node_refused(TNR_NODE_WHILE, {x}, {mask, doubles, 3}, kInvalid,
                      {"outputs[0] of the body may have shape [16] but the state begins with [8]"});
  // A verdict that is not there.
  const std::uint32_t verdict =
      node(TNR_NODE_MASKED_SELECT, {positive(x), positive(x)}, {extent("one", 1)});
  tnr_graph* const both = graph;
  const float one[] = {-1, -1, 4, -1, -1, -1, -1, -1};
  for (const auto& [words, is_loop] :
       {std::pair("cond: operands[0] has no element", false),
        std::pair("while: outputs[0] of the condition has no element", true)}) {
    graph = rebuilt(both);
    output(is_loop ? node(TNR_NODE_WHILE, {x}, {masks, finds, 3})
                   : node(TNR_NODE_COND, {verdict, some}, {same, finds}));
    const tnr_program* const made = program();
    Floats out = untouched({8});
    const tnr_view no = flag(false);
    expect_refused(run(made, {view_over(kNone, {8}), no}, {out.out()}), kInvalid, {words});
    if (!is_loop) {
      ASSERT_EQ(run(made, {view_over(one, {8}), no}, {out.out()}), TNR_STATUS_OK)
          << tnr_last_error()->message;
      expect_first(out, {4});
    }
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, both)), TNR_STATUS_OK);
  }

  // An extent that a body names is none that a node finds later; its own are.
  (void)extent("late", 4);
  const auto of_late = body([&] {
    (void)extent("late", 4);
    output(input({}));
  });
  const auto own_late = body([&] { output(selected(input({}), extent("later", 4))); });
  const std::uint32_t sum = node(kSum, {some}, {}, nullptr, 1);
  (void)node(TNR_NODE_COND, {decides, sum}, {of_late, of_late});
  (void)node(TNR_NODE_COND, {decides, sum}, {own_late, own_late});
  expect_node_refused(TNR_NODE_NONZERO, {x}, {TNR_EXTENT + 2}, kInvalid,
                      {"cond, takes late before it is found"});
  (void)node(TNR_NODE_NONZERO, {x}, {extent("later", 4)});
}

}  // namespace
