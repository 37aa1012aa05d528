// Programs that compute values again: the same bits, and plans within a budget.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "program_graph.hpp"

using tenure::test::CGraph;
using tenure::test::Floats;
using tenure::test::Shape;

namespace {

// The training step of a chain of layers: products, activations, normalizations and dropout.
class Chain : public CGraph {
 protected:
  static constexpr std::int64_t kRows = 64;
  static constexpr std::int64_t kWidth = 32;

  // Adds the layers and the gradients by all weights.
  void build(std::uint32_t layers) {
    std::uint32_t x = input({kRows, kWidth});
    given_.emplace_back(Shape{kRows, kWidth}, -1.0f, 0.37f);
    for (std::uint32_t i = 0; i < layers; ++i) {
      weights_.push_back(input({kWidth, kWidth}));
      given_.emplace_back(Shape{kWidth, kWidth}, -0.2f + 0.01f * static_cast<float>(i), 0.0113f);
      for (float& weight : given_.back().values) weight *= 0.2f;
    }
    const std::uint32_t seed = scalar_u64(7);
    for (std::uint32_t i = 0; i < layers; ++i) {
      firsts_.push_back(node_count());
      std::uint32_t y = node(TNR_NODE_MATMUL, {x, weights_[i]});
      y = node(TNR_NODE_UNARY + TNR_UNARY_OP_GELU, {y});
      y = node(TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX, {y}, {}, nullptr, 2);
      const tnr_random_attributes keep = {sizeof keep, 0, 0, 0, 0, 0.9, 0, 0};
      std::uint32_t mask = TNR_OPERAND_NONE;
      EXPECT_EQ(add(TNR_NODE_RANDOM + TNR_RANDOM_DISTRIBUTION_BERNOULLI, {seed, scalar_u64(i)},
                    {kRows, kWidth}, &keep, 0, &mask, TNR_DTYPE_BOOL8),
                TNR_STATUS_OK)
          << tnr_last_error()->message;
      y = node(TNR_NODE_SELECT, {mask, y, scalar(0)});
      x = node(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {x, y});
    }
    const std::uint32_t loss =
        node(TNR_NODE_REDUCE + TNR_REDUCE_OP_MEAN,
             {node(TNR_NODE_UNARY + TNR_UNARY_OP_SQUARE, {x})}, {}, nullptr, 3);
    std::vector<std::uint32_t> gradients(layers);
    ASSERT_EQ(tnr_graph_add_gradients(graph, loss, TNR_OPERAND_NONE, weights_.data(), layers,
                                      nullptr, gradients.data()),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    output(loss);
    for (const std::uint32_t gradient : gradients) output(gradient);
  }

  std::uint32_t scalar_u64(std::uint64_t number) {
    const tnr_scalar scalar = tnr_scalar_u64(number);
    std::uint32_t value = TNR_OPERAND_NONE;
    EXPECT_EQ(tnr_graph_add_scalar(graph, &scalar, &value), TNR_STATUS_OK);
    return value;
  }
  std::uint32_t node_count() {
    tnr_graph_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(tnr_graph_describe(graph, &info), TNR_STATUS_OK);
    return info.node_count;
  }

  std::vector<tnr_view> inputs() {
    std::vector<tnr_view> views;
    for (const Floats& floats : given_) views.push_back(floats.view());
    return views;
  }
  std::vector<float> results(const tnr_program* of) {
    std::vector<Floats> floats;
    floats.emplace_back(Shape{});
    for (std::size_t i = 0; i < weights_.size(); ++i) floats.emplace_back(Shape{kWidth, kWidth});
    std::vector<tnr_view_mut> outputs;
    for (Floats& each : floats) outputs.push_back(each.out());
    EXPECT_EQ(run(of, inputs(), outputs), TNR_STATUS_OK) << tnr_last_error()->message;
    std::vector<float> all;
    for (const Floats& each : floats) all.insert(all.end(), each.values.begin(), each.values.end());
    return all;
  }
  // nullptr: refused.
  tnr_program* within(std::uint64_t budget_bytes, std::uint32_t disabled_passes = 0) {
    const tnr_program_attributes attributes = {sizeof attributes, disabled_passes, 0, nullptr,
                                               budget_bytes};
    tnr_program* const made = tnr_program_create(nullptr, graph, &attributes);
    if (made != nullptr) programs.push_back(made);
    return made;
  }
  std::uint64_t copies(const tnr_program* of) {
    for (std::uint32_t i = 0;; ++i) {
      tnr_pass_info info = {};
      info.struct_size = sizeof info;
      std::vector<tnr_view> views = inputs();
      std::vector<const tnr_view*> given;
      for (const tnr_view& view : views) given.push_back(&view);
      if (tnr_program_describe_pass(of, given.data(), static_cast<std::uint32_t>(given.size()), i,
                                    &info) != TNR_STATUS_OK) {
        ADD_FAILURE() << "no pass of recomputation";
        return 0;
      }
      if (info.pass == TNR_PASS_RECOMPUTATION) return info.count;
    }
  }

  std::vector<Floats> given_;
  std::vector<std::uint32_t> weights_;
  std::vector<std::uint32_t> firsts_;  // nodes that begin a layer
};

TEST_F(Chain, PlansStayWithinEveryBudgetWithTheSameBits) {
  build(12);
  tnr_program* const whole = within(0);
  ASSERT_NE(whole, nullptr) << tnr_last_error()->message;
  const std::vector<float> expected = results(whole);
  const auto peak = memory(whole, inputs()).peak_bytes;
  EXPECT_EQ(copies(whole), 0u);
  std::uint64_t more_copies = 0;
  int met = 0;
  for (int i = 24; i-- > 0;) {
    const std::uint64_t budget = peak * static_cast<std::uint64_t>(i + 1) / 24;
    SCOPED_TRACE(budget);
    tnr_program* const small = within(budget);
    if (small == nullptr) {
      EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_OUT_OF_MEMORY);
      EXPECT_NE(std::string(tnr_last_error()->message).find("needs less than"), std::string::npos);
      continue;
    }
    ++met;
    EXPECT_LE(memory(small, inputs()).peak_bytes, budget);
    EXPECT_EQ(results(small), expected);
    EXPECT_GE(copies(small), more_copies);
    more_copies = copies(small);
  }
  EXPECT_GT(more_copies, 0u);
  EXPECT_GE(met, 14);  // a third of the peak and more
}

TEST_F(Chain, MarkedLayersAreComputedAgainWithoutABudget) {
  build(6);
  tnr_program* const whole = within(0);
  const std::vector<float> expected = results(whole);
  const auto peak = memory(whole, inputs()).peak_bytes;
  // Each layer is a region: its last node is kept.
  for (std::size_t i = 0; i < firsts_.size(); ++i) {
    ASSERT_EQ(tnr_graph_mark(graph, firsts_[i], 4, TNR_MARK_RECOMPUTE), TNR_STATUS_OK);
  }
  tnr_program* const marked = within(0);
  EXPECT_EQ(results(marked), expected);
  EXPECT_LT(memory(marked, inputs()).peak_bytes, peak);
  EXPECT_GT(copies(marked), 0u);
  EXPECT_EQ(copies(within(0, TNR_PASS_RECOMPUTATION)), 0u);
  ASSERT_EQ(tnr_graph_mark(graph, 0, node_count(), TNR_MARK_KEEP), TNR_STATUS_OK);
  tnr_program* const kept = within(0);
  EXPECT_EQ(copies(kept), 0u);
  EXPECT_EQ(memory(kept, inputs()).peak_bytes, peak);
  EXPECT_EQ(within(peak - 1), nullptr);
}

TEST_F(Chain, MarksAreRefusedWhereNothingHasThem) {
  build(1);
  EXPECT_EQ(tnr_graph_mark(graph, 0, node_count() + 1, 0), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_graph_mark(graph, UINT32_MAX, UINT32_MAX, 0), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_graph_mark(graph, 0, 1, TNR_MARK_KEEP | TNR_MARK_RECOMPUTE),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_graph_mark(graph, 0, 1, 16), TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(tnr_graph_mark(graph, 0, 0, 0), TNR_STATUS_OK);
}

// Copies of a long chain depend on each other: their number is not that of frames on the stack.
TEST_F(Chain, LongChainsAreCopied) {
  constexpr std::uint32_t kLength = 12000;
  const std::uint32_t x = input({2});
  std::uint32_t y = x;
  for (std::uint32_t i = 0; i < kLength; ++i) {
    y = node(TNR_NODE_UNARY + TNR_UNARY_OP_SIN, {y});
    y = node(TNR_NODE_RESHAPE, {y}, {2});
  }
  ASSERT_EQ(tnr_graph_mark(graph, 0, 2 * kLength, TNR_MARK_RECOMPUTE), TNR_STATUS_OK);
  const std::uint32_t sum = node(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {y}, {}, nullptr, 1);
  std::uint32_t gradient = 0;
  ASSERT_EQ(tnr_graph_add_gradients(graph, sum, TNR_OPERAND_NONE, &x, 1, nullptr, &gradient),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  output(gradient);
  given_.emplace_back(Shape{2}, 0.5f, 0.25f);
  tnr_program* const made = within(0);
  ASSERT_NE(made, nullptr) << tnr_last_error()->message;
  EXPECT_GT(copies(made), kLength / 2);
  Floats out({2});
  EXPECT_EQ(run(made, inputs(), {out.out()}), TNR_STATUS_OK) << tnr_last_error()->message;
}

using Copies = CGraph;

TEST_F(Copies, NodesWithAnotherCopyNumberAreNotMerged) {
  const std::uint32_t x = input({4});
  std::uint32_t values[3];
  for (std::uint32_t i = 0; i < 3; ++i) {
    tnr_graph_node same = {};
    same.struct_size = sizeof same;
    same.code = TNR_NODE_SCAN + TNR_SCAN_OP_SUM;
    same.operands = &x;
    same.operand_count = 1;
    const std::int64_t axis = 0;
    same.numbers = &axis;
    same.number_count = 1;
    same.copy = i / 2;
    ASSERT_EQ(tnr_graph_add_node(graph, &same, &values[i]), TNR_STATUS_OK);
    tnr_graph_node described = {};
    described.struct_size = sizeof described;
    ASSERT_EQ(tnr_graph_describe_node(graph, i, &described), TNR_STATUS_OK);
    EXPECT_EQ(described.copy, i / 2);
  }
  output(node(TNR_NODE_BINARY + TNR_BINARY_OP_ADD,
              {node(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, {values[0], values[1]}), values[2]}));
  Floats a({4}, 1, 1), out({4});
  tnr_program* const made = program();
  EXPECT_EQ(memory(made, {a.view()}).step_count, 3u);  // two scans, and the sums
  EXPECT_EQ(run(made, {a.view()}, {out.out()}), TNR_STATUS_OK);
}

}  // namespace
