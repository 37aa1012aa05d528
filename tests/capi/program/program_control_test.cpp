// Control nodes, which select their computation in a run, compared with calls one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "failing_allocator.hpp"
#include "memory/memory.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

namespace {

using tenure::test::allocation_counts;
using tenure::test::AllocationFault;
using tenure::test::CGraph;
using tenure::test::Failing;
using tenure::test::Floats;
using tenure::test::rebuilt;
using tenure::test::Shape;
using tenure::test::view_over;

constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kSub = TNR_NODE_BINARY + TNR_BINARY_OP_SUB;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kDiv = TNR_NODE_BINARY + TNR_BINARY_OP_DIV;
constexpr std::uint32_t kGreater = TNR_NODE_COMPARE + TNR_COMPARE_OP_GT;

class CControl : public CGraph {
 protected:
  // A subgraph that `build` makes.
  std::uint32_t body(const std::function<void()>& build) {
    tnr_graph* const around = graph;
    graph = tnr_graph_create();
    build();
    std::uint32_t index = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_subgraph(around, graph, &index), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
    graph = around;
    return index;
  }
  void expect_body_refused(const std::function<void()>& build, const char* why) {
    tnr_graph* const around = graph;
    graph = tnr_graph_create();
    build();
    std::uint32_t index = 77;
    EXPECT_EQ(tnr_graph_add_subgraph(around, graph, &index), TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(tnr_last_error()->message, why), nullptr) << tnr_last_error()->message;
    EXPECT_EQ(index, 77u);
    EXPECT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
    graph = around;
  }
  void expect_refused(std::uint32_t code, const std::vector<std::uint32_t>& operands,
                      const std::vector<std::int64_t>& numbers, const char* why) {
    tnr_graph_info before = {};
    before.struct_size = sizeof before;
    ASSERT_EQ(tnr_graph_describe(graph, &before), TNR_STATUS_OK);
    std::uint32_t value = 77;
    EXPECT_EQ(add(code, operands, numbers, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT) << why;
    EXPECT_NE(std::strstr(tnr_last_error()->message, why), nullptr) << tnr_last_error()->message;
    EXPECT_EQ(value, 77u);
    tnr_graph_info after = before;
    ASSERT_EQ(tnr_graph_describe(graph, &after), TNR_STATUS_OK);
    EXPECT_EQ(std::memcmp(&before, &after, sizeof after), 0);
  }
  std::uint32_t largest(std::uint32_t value, std::uint32_t axes = 1) {
    return node(TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX, {value}, {}, nullptr, axes);
  }
  void expect_message(const char* part) {
    EXPECT_NE(std::strstr(tnr_last_error()->message, part), nullptr) << tnr_last_error()->message;
  }
};

TEST_F(CControl, CondComputesTheBranchThatIsTaken) {
  const std::uint32_t predicate = input({1, 1}, TNR_DTYPE_BOOL8);
  const std::uint32_t a = input({3}, TNR_DTYPE_I32);
  const std::uint32_t b = input({3}, TNR_DTYPE_I32);
  const auto in_both = [&](std::uint32_t code) {
    return body([&] {
      const std::uint32_t x = input({3}, TNR_DTYPE_I32);
      const std::uint32_t y = input({3}, TNR_DTYPE_I32);
      output(node(code, {x, y}));
      output(x);
    });
  };
  const std::int64_t divide = in_both(kDiv);
  const std::int64_t subtract = in_both(kSub);
  const std::uint32_t first = node(TNR_NODE_COND, {predicate, a, b}, {divide, subtract});
  output(node(kAdd, {first, first + 1}));
  for (const std::uint32_t disabled : {0u, 0xffu, 1u << 5, 1u << 6}) {
    const tnr_program* const made = program(disabled);
    const std::int32_t x[] = {7, 8, 9};
    std::int32_t y[] = {2, 0, -3};
    std::int32_t out[3] = {};
    std::uint8_t is_true = 0;
    const std::vector<tnr_view> inputs = {view_over(&is_true, {1, 1}, TNR_DTYPE_BOOL8),
                                          view_over(x, {3}, TNR_DTYPE_I32),
                                          view_over(y, {3}, TNR_DTYPE_I32)};
    const std::vector<tnr_view_mut> outputs = {{view_over(out, {3}, TNR_DTYPE_I32)}};
    ASSERT_EQ(run(made, inputs, outputs), TNR_STATUS_OK) << tnr_last_error()->message;
    EXPECT_EQ(std::vector(out, out + 3), (std::vector{12, 16, 21}));
    is_true = 255;  // any but 0
    EXPECT_EQ(run(made, inputs, outputs), TNR_STATUS_INVALID_ARGUMENT);
    expect_message("nodes[0], cond: subgraphs[0], nodes[0], div: ");
    y[1] = 4;
    ASSERT_EQ(run(made, inputs, outputs), TNR_STATUS_OK);
    EXPECT_EQ(std::vector(out, out + 3), (std::vector{10, 10, 6}));
  }
}

TEST_F(CControl, PassesOverBodiesAreCounted) {
  const auto chain = [&](bool has_more) {
    return body([&] {
      const std::uint32_t x = input({3}, TNR_DTYPE_F32);
      std::uint32_t y = node(kAdd, {node(kAdd, {x, x}), x});
      if (has_more) y = node(kAdd, {y, y});
      (void)node(kSub, {x, x});
      output(y);
    });
  };
  const std::int64_t first = chain(false);
  const std::int64_t second = chain(true);
  const std::uint32_t predicate = input({}, TNR_DTYPE_BOOL8);
  output(node(TNR_NODE_COND, {predicate, input({3}, TNR_DTYPE_F32)}, {first, second}));
  const float x[] = {1, 2, 3};
  const std::uint8_t is_true = 1;
  const tnr_view flag = view_over(&is_true, {}, TNR_DTYPE_BOOL8);
  const tnr_view array = view_over(x, {3});
  const tnr_view* const inputs[] = {&flag, &array};
  tnr_pass_info info = {};
  info.struct_size = sizeof info;
  const tnr_program* const made = program();
  for (std::uint32_t i = 0; i < 9; ++i) {
    ASSERT_EQ(tnr_program_describe_pass(made, inputs, 2, i, &info), TNR_STATUS_OK);
    const std::uint64_t expected = info.pass == TNR_PASS_FUSION      ? 1 + 2
                                   : info.pass == TNR_PASS_DEAD_CODE ? 1 + 1
                                                                     : 0;
    EXPECT_EQ(info.count, expected) << info.name;
  }
}

TEST_F(CControl, WhatAConstantBranchRefusesIsNoErrorUntilItIsTaken) {
  const std::int32_t zeros[] = {0, 0};
  const std::uint32_t predicate = input({}, TNR_DTYPE_BOOL8);
  const std::uint32_t a = input({2}, TNR_DTYPE_I32);
  const std::uint32_t fails = body([&] {
    (void)input({2}, TNR_DTYPE_I32);
    const std::uint32_t zero = constant(view_over(zeros, {2}, TNR_DTYPE_I32));
    output(node(kDiv, {zero, zero}));
  });
  const std::uint32_t same = body([&] { output(input({2}, TNR_DTYPE_I32)); });
  output(node(TNR_NODE_COND, {predicate, a}, {fails, same}));
  const tnr_program* const made = program();
  const std::int32_t x[] = {7, 8};
  std::int32_t out[2];
  std::uint8_t is_true = 0;
  const std::vector<tnr_view> inputs = {view_over(&is_true, {}, TNR_DTYPE_BOOL8),
                                        view_over(x, {2}, TNR_DTYPE_I32)};
  const std::vector<tnr_view_mut> outputs = {{view_over(out, {2}, TNR_DTYPE_I32)}};
  ASSERT_EQ(run(made, inputs, outputs), TNR_STATUS_OK);
  EXPECT_EQ(out[1], 8);
  is_true = 1;
  EXPECT_EQ(run(made, inputs, outputs), TNR_STATUS_INVALID_ARGUMENT);
}

// Newton's iteration for square roots, of as many numbers as a run has, until all are near.
class CNewton : public CControl {
 protected:
  static constexpr std::int64_t kMost = 100;
  static constexpr std::int64_t kLimit = 40;

  CNewton() {
    EXPECT_EQ(tnr_graph_add_extent(graph, "n", kMost, &n), TNR_STATUS_OK);
    const std::uint32_t a = input({n});
    const std::uint32_t guess = input({n});
    const auto state = [&] {
      std::int64_t same;
      EXPECT_EQ(tnr_graph_add_extent(graph, "n", kMost, &same), TNR_STATUS_OK);
      std::vector<std::uint32_t> values = {input({same}), input({}), input({same})};
      return values;
    };
    const std::uint32_t condition = body([&] {
      const auto values = state();
      const std::uint32_t error = node(kSub, {node(kMul, {values[0], values[0]}), values[2]});
      const std::uint32_t absolute = node(TNR_NODE_UNARY + TNR_UNARY_OP_ABS, {error});
      output(
          node(kGreater, {largest(node(TNR_NODE_CONCAT, {absolute, one()}, {0})), scalar(1e-3)}));
    });
    const std::uint32_t step = body([&] {
      const auto values = state();
      const std::uint32_t sum = node(kAdd, {values[0], node(kDiv, {values[2], values[0]})});
      output(node(kMul, {sum, scalar(0.5)}));
      output(node(kAdd, {values[1], scalar(1)}));
    });
    const std::uint32_t count = constant(zero.view());
    const std::uint32_t first =
        node(TNR_NODE_WHILE, {node(kMul, {guess, scalar(1)}), count, a}, {condition, step, kLimit});
    output(node(kAdd, {first, scalar(0)}));
    output(first + 1);
    output(first);
  }

  // A maximum of nothing is none.
  std::uint32_t one() { return constant(nothing.view()); }

  static void expect_of_calls(const Floats& a, const Floats& guess,
                              const std::vector<Floats>& results) {
    std::vector<float> x = guess.values;
    float count = 0;
    for (;; ++count) {
      float worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float square = x[i] * x[i];
        worst = std::max(worst, std::fabs(square - a.values[i]));
      }
      if (!(worst > 1e-3f)) break;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = (x[i] + a.values[i] / x[i]) * 0.5f;
    }
    EXPECT_EQ(results[0].values, x);
    EXPECT_EQ(results[1].values[0], count);
    EXPECT_EQ(results[2].values, x);
  }

  static std::vector<Floats> results_of(std::int64_t count) {
    return {Floats({count}), Floats(Shape{}), Floats({count})};
  }
  static std::vector<tnr_view_mut> outputs_of(std::vector<Floats>& results) {
    return {results[0].out(), results[1].out(), results[2].out()};
  }

  std::int64_t n = 0;
  Floats zero{Shape{}};
  Floats nothing{Shape{1}};
};

TEST_F(CNewton, HasTheBitsOfItsCallsWhateverPassesRun) {
  for (const std::uint32_t disabled : {0u, 0xffu, 1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 0x5au}) {
    SCOPED_TRACE(disabled);
    const tnr_program* const made = program(disabled);
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, kMost}) {
      for (const float from : {1.0f, 0.5f, 1.4142135f, 3.0f}) {
        Floats a({count}, 2, 0);
        if (count > 1) a.values[1] = from == 3 ? 9.0f : 2.0f;
        const Floats guess({count}, from, 0);
        Floats filled = guess;
        std::fill(filled.values.begin(), filled.values.end(), from);
        std::vector<Floats> results = results_of(count);
        ASSERT_EQ(run(made, {a.view(), filled.view()}, outputs_of(results)), TNR_STATUS_OK)
            << tnr_last_error()->message;
        expect_of_calls(a, filled, results);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_F(CNewton, EndsAtItsLimit) {
  const tnr_program* const made = program();
  const Floats a({2}, -1, 0);
  const Floats guess({2}, 0.3f, 0);
  std::vector<Floats> results = results_of(2);
  EXPECT_EQ(run(made, {a.view(), guess.view()}, outputs_of(results)), TNR_STATUS_INVALID_ARGUMENT);
  expect_message("while: a loop that does not end");
  expect_message("after 40 iterations");
}

TEST_F(CNewton, AllocatesNothingWhenItHasRun) {
  if (tenure::kSanitized) GTEST_SKIP() << "a sanitizer sees each piece of scratch memory by itself";
  const tnr_program* const made = program();
  const Floats a({50}, 2, 0);
  const Floats guess({50}, 1, 0);
  std::vector<Floats> results = results_of(50);
  const std::vector<tnr_view_mut> outs = outputs_of(results);
  const tnr_view views[] = {a.view(), guess.view()};
  const tnr_view* const inputs[] = {&views[0], &views[1]};
  const tnr_view_mut* const outputs[] = {&outs[0], &outs[1], &outs[2]};
  const auto again = [&] { return tnr_program_run(nullptr, made, inputs, 2, nullptr, outputs, 3); };
  ASSERT_EQ(again(), TNR_STATUS_OK);
  ASSERT_EQ(again(), TNR_STATUS_OK);
  tnr_status status;
  {
    const AllocationFault counted(Failing::kOne, tenure::test::kNone);
    status = again();
  }
  EXPECT_EQ(status, TNR_STATUS_OK);
  EXPECT_EQ(allocation_counts().asked, 0);
  expect_of_calls(a, guess, results);
}

TEST_F(CNewton, KeepsToABudgetAndTellsItsSteps) {
  const tnr_program* const made = program();
  const Floats a({50}, 2, 0);
  const Floats guess({50}, 1, 0);
  std::vector<Floats> results = results_of(50);
  const std::vector<tnr_view> inputs = {a.view(), guess.view()};
  const tnr_memory_plan plan = memory(made, inputs);
  EXPECT_GE(plan.peak_bytes, plan.live_bytes);
  EXPECT_EQ(run(made, inputs, outputs_of(results), plan.peak_bytes), TNR_STATUS_OK);
  EXPECT_EQ(run(made, inputs, outputs_of(results), plan.peak_bytes - 1), TNR_STATUS_OUT_OF_MEMORY);
  const tnr_view* const given[] = {&inputs[0], &inputs[1]};
  std::string names;
  for (std::uint32_t i = 0; i < plan.step_count; ++i) {
    tnr_step_info step = {};
    step.struct_size = sizeof step;
    ASSERT_EQ(tnr_program_describe_step(made, given, 2, i, &step), TNR_STATUS_OK);
    if (step.kind != TNR_STEP_KIND_CONTROL) continue;
    names += step.name;
    EXPECT_GT(step.written_bytes, 50 * sizeof(float)) << "of all results";
  }
  EXPECT_EQ(names, "while");
}

TEST_F(CNewton, RunsOnTwoThreadsAtOnce) {
  const tnr_program* const made = program();
  const auto work = [&](std::int64_t count) {
    const Floats a({count}, 2, 0);
    const Floats guess({count}, 1, 0);
    for (int repeat = 0; repeat < 50; ++repeat) {
      std::vector<Floats> results = results_of(count);
      ASSERT_EQ(run(made, {a.view(), guess.view()}, outputs_of(results)), TNR_STATUS_OK);
      expect_of_calls(a, guess, results);
    }
  };
  std::thread other([&] { work(33); });
  work(33);
  other.join();
}

TEST_F(CNewton, SurvivesEveryAllocationThatFails) {
  const Floats a({5}, 2, 0);
  const Floats guess({5}, 1, 0);
  const tnr_view views[] = {a.view(), guess.view()};
  const tnr_view* const inputs[] = {&views[0], &views[1]};
  bool has_failed = true;
  for (int first = 0; has_failed; ++first) {
    std::vector<Floats> results = results_of(5);
    const std::vector<tnr_view_mut> outs = outputs_of(results);
    const tnr_view_mut* const outputs[] = {&outs[0], &outs[1], &outs[2]};
    tnr_status status = TNR_STATUS_OK;
    tnr_program* made;
    tnr_graph* copy;
    std::uint32_t index = 0;
    {
      const AllocationFault fault(Failing::kOne, first);
      copy = tnr_graph_copy_subgraph(graph, 1);
      if (copy != nullptr) status = tnr_graph_add_subgraph(copy, copy, &index);
      made = tnr_program_create(nullptr, graph, nullptr);
      if (made != nullptr) status = tnr_program_run(nullptr, made, inputs, 2, nullptr, outputs, 3);
    }
    has_failed = allocation_counts().failed != 0;
    if (made == nullptr || status != TNR_STATUS_OK) {
      EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OUT_OF_MEMORY);
      EXPECT_TRUE(has_failed);
    } else {
      expect_of_calls(a, guess, results);
    }
    EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
    EXPECT_EQ(tnr_graph_release(copy), TNR_STATUS_OK);
  }
}

TEST_F(CNewton, IsListedAndBuiltAgain) {
  tnr_graph* const again = rebuilt(graph);
  ASSERT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
  graph = again;
  const Floats a({3}, 2, 0);
  const Floats guess({3}, 1, 0);
  std::vector<Floats> results = results_of(3);
  ASSERT_EQ(run(program(), {a.view(), guess.view()}, outputs_of(results)), TNR_STATUS_OK);
  expect_of_calls(a, guess, results);
}

TEST_F(CControl, BodiesMayHaveBodies) {
  // A loop of 3 iterations in one of 5.
  const std::uint32_t x = input({2});
  const auto below = [&](double bound) {
    return body([&] {
      const std::uint32_t values[] = {input({2}), input({})};
      (void)values[0];
      output(node(TNR_NODE_COMPARE + TNR_COMPARE_OP_LT, {values[1], scalar(bound)}));
    });
  };
  const Floats zero{Shape{}};
  const std::uint32_t condition = below(5);
  const std::uint32_t outer = body([&] {
    const std::uint32_t value = input({2});
    const std::uint32_t count = input({});
    const std::uint32_t inner_condition = below(3);
    const std::uint32_t inner = body([&] {
      const std::uint32_t a = input({2});
      const std::uint32_t b = input({});
      output(node(kAdd, {a, scalar(1)}));
      output(node(kAdd, {b, scalar(1)}));
    });
    output(node(TNR_NODE_WHILE, {value, constant(zero.view())}, {inner_condition, inner, 3}));
    output(node(kAdd, {count, scalar(1)}));
  });
  output(node(TNR_NODE_WHILE, {x, constant(zero.view())}, {condition, outer, 5}));
  for (const std::uint32_t disabled : {0u, 0xffu}) {
    const Floats given({2}, 1, 1);
    Floats out({2});
    ASSERT_EQ(run(program(disabled), {given.view()}, {out.out()}), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(out.values, (std::vector<float>{16, 17}));
  }
}

TEST_F(CControl, StridedStatesAndOutputsAreTaken) {
  const std::uint32_t x = input({2, 3});
  const std::uint32_t count = input({});
  const auto state = [&] { return std::vector{input({2, 3}), input({})}; };
  const std::uint32_t condition =
      body([&] { output(node(TNR_NODE_COMPARE + TNR_COMPARE_OP_LT, {state()[1], scalar(4)})); });
  const std::uint32_t step = body([&] {
    const auto values = state();
    output(node(kAdd, {values[0], values[0]}));
    output(node(kAdd, {values[1], scalar(1)}));
  });
  output(node(TNR_NODE_WHILE, {x, count}, {condition, step, 4}));
  for (const std::uint32_t disabled : {0u, 0xffu}) {
    const tnr_program* const made = program(disabled);
    for (const float from : {0.0f, 1.0f, 3.0f, 4.0f}) {
      const float numbers[] = {1, 2, 3, 4, 5, 6};
      tnr_view turned = view_over(numbers, {2, 3});
      turned.strides[0] = 1;
      turned.strides[1] = 2;
      float wide[12] = {};
      tnr_view gaps = view_over(wide, {2, 3});
      gaps.strides[0] = 6;
      gaps.strides[1] = 2;
      gaps.size_bytes = sizeof wide;
      ASSERT_EQ(run(made, {turned, view_over(&from, {})}, {{gaps}}), TNR_STATUS_OK)
          << tnr_last_error()->message;
      const float factor = std::exp2(4 - from);
      for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 3; ++column) {
          EXPECT_EQ(wide[row * 6 + column * 2], factor * numbers[row + column * 2]);
        }
      }
    }
  }
}

TEST_F(CControl, RefusesWhatIsNone) {
  const std::uint32_t yes = input({}, TNR_DTYPE_BOOL8);
  const std::uint32_t two = input({2}, TNR_DTYPE_BOOL8);
  const std::uint32_t x = input({2});
  const std::uint32_t other = input({3});
  const std::int64_t same = body([&] { output(input({2})); });
  const std::int64_t sum = body([&] { output(largest(input({2}))); });
  const std::int64_t pair = body([&] {
    const std::uint32_t a = input({2});
    output(a);
    output(a);
  });
  const std::int64_t verdict =
      body([&] { output(node(kGreater, {largest(input({2})), scalar(0)})); });
  expect_refused(TNR_NODE_COND, {yes, x}, {same, 9}, "numbers[1] is 9 but the graph has 4");
  expect_refused(TNR_NODE_COND, {yes, x}, {-1, same}, "numbers[0] is -1");
  expect_refused(TNR_NODE_COND, {yes, x}, {TNR_EXTENT, same}, "numbers[0] is");
  expect_refused(TNR_NODE_COND, {yes, x}, {same}, "number_count is 1");
  expect_refused(TNR_NODE_COND, {yes, x}, {same, sum}, "outputs[0] of the second body");
  expect_refused(TNR_NODE_COND, {yes, x}, {same, pair}, "the first body has 1 outputs");
  expect_refused(TNR_NODE_COND, {yes, other}, {same, same}, "inputs[0] of the first body");
  expect_refused(TNR_NODE_COND, {yes}, {same, same}, "the first body has 1 inputs");
  expect_refused(TNR_NODE_COND, {yes, scalar(1)}, {same, same}, "operands[1] is a scalar");
  expect_refused(TNR_NODE_COND, {yes, TNR_OPERAND_NONE}, {same, same}, "operands[1] is not given");
  expect_refused(TNR_NODE_COND, {two, x}, {same, same}, "must be a bool8 of one element");
  expect_refused(TNR_NODE_COND, {x, x}, {same, same}, "must be a bool8 of one element");
  expect_refused(TNR_NODE_WHILE, {x}, {verdict, same, 0}, "the limit of iterations is 0");
  expect_refused(TNR_NODE_WHILE, {x}, {same, same, 1}, "outputs[0] of the condition");
  expect_refused(TNR_NODE_WHILE, {x}, {pair, same, 1}, "the condition has 2 outputs");
  expect_refused(TNR_NODE_WHILE, {x}, {verdict, sum, 1}, "outputs[0] of the body");
  expect_refused(TNR_NODE_WHILE, {x}, {verdict, pair, 1}, "the body has 2 outputs");
  std::uint32_t index = 77;
  EXPECT_EQ(tnr_graph_add_subgraph(graph, graph, &index), TNR_STATUS_INVALID_ARGUMENT);
  expect_message("a graph is no body of its own");
  EXPECT_EQ(index, 77u);
  EXPECT_EQ(tnr_graph_copy_subgraph(graph, 4), nullptr);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_graph_add_subgraph(graph, nullptr, &index), TNR_STATUS_STALE_HANDLE);
  EXPECT_EQ(tnr_graph_add_subgraph(graph, graph, nullptr), TNR_STATUS_INVALID_ARGUMENT);
}

TEST_F(CControl, BodiesAreRefusedWhenTheyAreAdded) {
  expect_body_refused([&] { (void)input({2}); }, "the body has no output");
  expect_body_refused(
      [&] {
        const std::uint32_t a = input({2});
        output(a, a);
      },
      "updates inputs[0]");
  std::int64_t n;
  ASSERT_EQ(tnr_graph_add_extent(graph, "n", 5, &n), TNR_STATUS_OK);
  for (const auto& [name, maximum] : {std::pair{"m", 5}, std::pair{"n", 6}}) {
    expect_body_refused(
        [&] {
          std::int64_t number;
          ASSERT_EQ(tnr_graph_add_extent(graph, name, maximum, &number), TNR_STATUS_OK);
          output(input({number}));
        },
        "which the graph has not");
  }
}

TEST_F(CControl, GraphsAreNotDeeperThanIsSaid) {
  const std::function<void(int)> nest = [&](int depth) {
    const std::uint32_t a = input({2});
    if (depth > 0) (void)body([&] { nest(depth - 1); });
    output(a);
  };
  nest(TNR_MAX_SUBGRAPH_DEPTH);
  expect_body_refused([&] { nest(TNR_MAX_SUBGRAPH_DEPTH); }, "deep in the body");
}

TEST_F(CControl, ValuesOfBodiesCount) {
  const std::uint32_t yes = input({}, TNR_DTYPE_BOOL8);
  const std::uint32_t x = input({2});
  std::int64_t wide = body([&] {
    const std::uint32_t a = input({2});
    for (int i = 0; i < 20000; ++i) (void)scalar(1);
    output(a);
  });
  (void)node(TNR_NODE_COND, {yes, x}, {wide, wide});
  expect_refused(TNR_NODE_COND, {yes, x}, {wide, wide}, "with those of the graphs in its nodes");
}

}  // namespace
