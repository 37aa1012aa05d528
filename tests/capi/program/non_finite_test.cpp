// Runs that refuse NaN and infinities name the first node that gives one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "expect_status.hpp"
#include "found_graph.hpp"
#include "tenure/tenure.h"

namespace {

using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::FoundGraph;
using tenure::test::Shape;
using tenure::test::view_over;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t kLog = TNR_NODE_UNARY + TNR_UNARY_OP_LN;
constexpr std::uint32_t kSqrt = TNR_NODE_UNARY + TNR_UNARY_OP_SQRT;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kSub = TNR_NODE_BINARY + TNR_BINARY_OP_SUB;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;

class CNonFinite : public FoundGraph {
 protected:
  static Floats floats(const Shape& shape, const std::vector<float>& values) {
    Floats made(shape);
    made.values = values;
    return made;
  }
  // Runs into one output of the inputs' shape.
  tnr_status run_one(const tnr_program* made, const Floats& x,
                     std::uint32_t flags = TNR_RUN_REFUSE_NAN) {
    Floats out(x.shape);
    const tnr_status status = run(made, {x.view()}, {out.out()}, 0, flags);
    results = out.values;
    return status;
  }

  std::vector<float> results;
};

TEST_F(CNonFinite, NamesTheNodeInAFusedChain) {
  const std::uint32_t x = input({2, 2});
  const std::uint32_t shifted = node(kAdd, {x, scalar(1)});
  const std::uint32_t y = node(kLog, {shifted});
  output(node(kMul, {y, y}));
  const Floats good = floats({2, 2}, {0, 1, 2, 3});
  for (const std::uint32_t disabled : {0u, 0x2ffu}) {
    const tnr_program* const made = program(disabled);
    ASSERT_EQ(run_one(made, good, 0), TNR_STATUS_OK);
    const std::vector<float> expected = results;
    for (int i = 0; i < 2; ++i) {
      ASSERT_EQ(run_one(made, good), TNR_STATUS_OK) << tnr_last_error()->message;
      EXPECT_EQ(results, expected);
    }
    expect_refused(run_one(made, floats({2, 2}, {0, 1, -3, 3})), TNR_STATUS_INVALID_ARGUMENT,
                   {"nodes[1], ln: the result, value 3, f32 of shape [2, 2], has a NaN at [1, 0]; "
                    "all operands are finite"});
    expect_refused(run_one(made, floats({2, 2}, {0, kNan, -3, 3})), TNR_STATUS_INVALID_ARGUMENT,
                   {"nodes[0], add: the result, value 2, f32 of shape [2, 2], has a NaN at [0, 1]; "
                    "operands[0] is inputs[0] and has a NaN at [0, 1]"});
    // The logarithm of 0 is no NaN.
    const Floats infinite = floats({2, 2}, {0, -1, 2, 3});
    EXPECT_EQ(run_one(made, infinite), TNR_STATUS_OK) << tnr_last_error()->message;
    expect_refused(run_one(made, infinite, TNR_RUN_REFUSE_NON_FINITE), TNR_STATUS_INVALID_ARGUMENT,
                   {"nodes[1], ln: ", "has an infinity at [0, 1]; all operands are finite"});
  }
}

TEST_F(CNonFinite, LooksAtEveryElementOfAnyLayout) {
  const std::uint32_t x = input({3, 5, 7});
  output(node(kSub, {x, x}));
  const tnr_program* const made = program();
  for (const bool is_transposed : {false, true}) {
    for (std::size_t at = 0; at < 105; ++at) {
      Floats given({3, 5, 7}, 0.25f, 0.125f);
      given.values[at] = kInfinity;
      Floats out({3, 5, 7});
      tnr_view_mut to = out.out();
      if (is_transposed) {
        const std::int64_t strides[] = {1, 3, 15};
        std::copy_n(strides, 3, to.view.strides);
      }
      const std::string index = "[" + std::to_string(at / 35) + ", " + std::to_string(at / 7 % 5) +
                                ", " + std::to_string(at % 7) + "]";
      expect_refused(run(made, {given.view()}, {to}, 0, TNR_RUN_REFUSE_NAN),
                     TNR_STATUS_INVALID_ARGUMENT,
                     {"has a NaN at " + index, "operands[0] is inputs[0] and has an infinity"});
    }
  }
}

TEST_F(CNonFinite, LargeResultsOnSeveralThreads) {
  constexpr std::int64_t kCount = 1 << 19;
  output(node(kSqrt, {input({kCount})}));
  const tnr_program* const made = program();
  tnr_context_options wanted = {};
  wanted.struct_size = sizeof wanted;
  wanted.thread_count = 3;
  tnr_context* const context = tnr_context_create(&wanted);
  ASSERT_NE(context, nullptr) << tnr_last_error()->message;
  Floats given({kCount}, 1, 0);
  Floats out({kCount});
  tnr_program_run_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.flags = TNR_RUN_REFUSE_NAN;
  const tnr_view in = given.view();
  const tnr_view_mut to = out.out();
  const tnr_view* const inputs[] = {&in};
  const tnr_view_mut* const outputs[] = {&to};
  const auto run_now = [&] {
    return tnr_program_run(context, made, inputs, 1, &attributes, outputs, 1);
  };
  ASSERT_EQ(run_now(), TNR_STATUS_OK) << tnr_last_error()->message;
  given.values[kCount - 1] = -1;
  given.values[kCount - 70000] = -1;
  expect_refused(run_now(), TNR_STATUS_INVALID_ARGUMENT,
                 {"has a NaN at [" + std::to_string(kCount - 70000) + "]"});
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(CNonFinite, NamesTheIterationOfALoop) {
  const std::int64_t condition = body([&] {
    const std::uint32_t x = input({});
    output(node(TNR_NODE_COMPARE + TNR_COMPARE_OP_GT, {x, scalar(-100)}));
  });
  const std::int64_t iteration =
      body([&] { output(node(kSqrt, {node(kSub, {input({}), scalar(1)})})); });
  const std::uint32_t x = input({});
  output(node(TNR_NODE_WHILE, {x}, {condition, iteration, 5}));
  const tnr_program* const made = program();
  // 9, 2.83, 1.35, 0.59
  expect_refused(
      run_one(made, floats({}, {9})), TNR_STATUS_INVALID_ARGUMENT,
      {"nodes[0], while: iteration 3, subgraphs[1], nodes[1], sqrt: the result, value 3, "
       "f32 of shape [], has a NaN at []"});
  expect_refused(run_one(made, floats({}, {kNan})), TNR_STATUS_INVALID_ARGUMENT,
                 {"nodes[0], while: ", "operands[0] is inputs[0] and has a NaN"});
}

TEST_F(CNonFinite, UpdatedInputsAreUntouched) {
  const std::uint32_t w = input({2});
  const std::uint32_t x = input({2});
  output(node(kMul, {w, x}), w);
  output(node(kLog, {x}));
  const tnr_program* const made = program();
  Floats weights = floats({2}, {2, 3});
  const Floats negative = floats({2}, {5, -1});
  Floats out({2});
  expect_refused(run(made, {weights.view(), negative.view()}, {weights.out(), out.out()}, 0,
                     TNR_RUN_REFUSE_NAN),
                 TNR_STATUS_INVALID_ARGUMENT, {"ln: "});
  EXPECT_EQ(weights.values, (std::vector<float>{2, 3}));
  const Floats positive = floats({2}, {5, 1});
  ASSERT_EQ(run(made, {weights.view(), positive.view()}, {weights.out(), out.out()}, 0,
                TNR_RUN_REFUSE_NAN),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(weights.values, (std::vector<float>{10, 3}));
}

TEST_F(CNonFinite, MarkedNodesMayGiveThem) {
  const std::uint32_t x = input({2});
  const std::uint32_t y = node(kLog, {x});
  output(node(TNR_NODE_SELECT, {positive(x), y, scalar(0)}));
  const Floats given = floats({2}, {1, -1});
  expect_refused(run_one(program(), given), TNR_STATUS_INVALID_ARGUMENT, {"nodes[0], ln: "});
  ASSERT_EQ(tnr_graph_mark(graph, 0, 1, TNR_MARK_NON_FINITE), TNR_STATUS_OK);
  // Later marks leave it.
  ASSERT_EQ(tnr_graph_mark(graph, 0, 1, TNR_MARK_KEEP), TNR_STATUS_OK);
  tnr_graph_node described = {};
  described.struct_size = sizeof described;
  ASSERT_EQ(tnr_graph_describe_node(graph, 0, &described), TNR_STATUS_OK);
  EXPECT_EQ(described.marks, std::uint32_t{TNR_MARK_NON_FINITE | TNR_MARK_KEEP});
  EXPECT_EQ(run_one(program(), given), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(results, (std::vector<float>{0, 0}));
}

TEST_F(CNonFinite, GradientsNameTheNodeThatTheyDerive) {
  const std::uint32_t x = input({2});
  const std::uint32_t root = node(kSqrt, {x});
  const std::uint32_t loss =
      node(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {node(kMul, {root, scalar(0)})}, {}, nullptr, 1);
  std::uint32_t gradient = 0;
  ASSERT_EQ(tnr_graph_add_gradients(graph, loss, TNR_OPERAND_NONE, &x, 1, nullptr, &gradient),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  output(gradient);
  const tnr_program* const made = program();
  // 0 / 0 of its derivative
  expect_refused(run_one(made, floats({2}, {1, 0})), TNR_STATUS_INVALID_ARGUMENT,
                 {": in the derivative of nodes[0], sqrt: the result, value ", "a NaN at [1]"});
  EXPECT_EQ(run_one(made, floats({2}, {1, 4})), TNR_STATUS_OK) << tnr_last_error()->message;
}

TEST_F(CNonFinite, RefusalsOfRuns) {
  const std::uint32_t x = input({2});
  output(node(kLog, {x}));
  const tnr_program* const made = program();
  const Floats given = floats({2}, {1, -1});
  Floats out({2});
  const tnr_view in = given.view();
  const tnr_view_mut to = out.out();
  const tnr_view* const inputs[] = {&in};
  const tnr_view_mut* const outputs[] = {&to};
  std::uint64_t times[1] = {};
  tnr_program_run_attributes attributes = {sizeof attributes,  0,      times, 1,
                                           TNR_RUN_REFUSE_NAN, nullptr};
  expect_refused(tnr_program_run(nullptr, made, inputs, 1, &attributes, outputs, 1),
                 TNR_STATUS_UNSUPPORTED, {"a run with step_nanoseconds does not look at results"});
  attributes.step_nanoseconds = nullptr;
  attributes.step_count = 0;
  attributes.budget_bytes = 0;
  for (const std::uint32_t way : {0u, std::uint32_t{TNR_BOUND_PREALLOCATED}}) {
    const tnr_bound_attributes of_bound = {sizeof of_bound, 0, way, 0};
    tnr_bound* const bound = tnr_bound_create(nullptr, made, inputs, 1, &of_bound, outputs, 1);
    ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
    const tnr_status status = tnr_bound_run(nullptr, bound, inputs, 1, &attributes, outputs, 1);
    if (way == 0) {
      expect_refused(status, TNR_STATUS_INVALID_ARGUMENT, {"nodes[0], ln: ", "a NaN at [1]"});
    } else {
      expect_refused(status, TNR_STATUS_UNSUPPORTED, {"a preallocated run does not look"});
    }
    EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
  }
  attributes.flags = 16;
  expect_refused(tnr_program_run(nullptr, made, inputs, 1, &attributes, outputs, 1),
                 TNR_STATUS_INVALID_ARGUMENT, {"flags is 0x10 but only 0xf is known"});
}

}  // namespace
