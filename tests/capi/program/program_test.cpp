// Programs through C: their results equal those of the calls of their nodes, with every set of
// passes; their refusals; and the memory that they report.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "expect_status.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

using tenure::test::CGraph;
using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::rebuilt;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kRelu = TNR_NODE_UNARY + TNR_UNARY_OP_RELU;
constexpr std::uint32_t kAllPasses = 0xff | TNR_PASS_RECOMPUTATION;

TEST_F(CGraph, ElementWiseNodesAreOneStep) {
  const Floats a({3, 5}, -1.5f, 0.25f);
  const Floats b({5}, 0.5f, 0.5f);
  Floats out({3, 5});
  const std::uint32_t x = input(a.shape);
  const std::uint32_t y = input(b.shape);
  output(node(kRelu, {node(kAdd, {node(kMul, {x, y}), scalar(0.5)})}));
  const tnr_program* const made = program();
  ASSERT_EQ(run(made, {a.view(), b.view()}, {out.out()}), TNR_STATUS_OK)
      << tnr_last_error()->message;
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    EXPECT_EQ(out.values[i], std::max(a.values[i] * b.values[i % 5] + 0.5f, 0.0f));
  }
  const tnr_memory_plan plan = memory(made, {a.view(), b.view()});
  EXPECT_EQ(plan.step_count, 1u);
  EXPECT_EQ(plan.peak_bytes, 0u);
  const tnr_memory_plan plain = memory(program(kAllPasses), {a.view(), b.view()});
  EXPECT_EQ(plain.step_count, 3u);
  EXPECT_EQ(plain.total_bytes, 2 * sizeof(float) * out.values.size());
}

// The count of each pass, by its bit.
std::map<std::uint32_t, std::uint64_t> pass_counts(const tnr_program* program,
                                                   const tnr_view& input, std::uint32_t is_on) {
  const tnr_view* const inputs[] = {&input};
  std::map<std::uint32_t, std::uint64_t> counts;
  tnr_pass_info info = {};
  info.struct_size = sizeof info;
  std::uint32_t index = 0;
  while (tnr_program_describe_pass(program, inputs, 1, index, &info) == TNR_STATUS_OK) {
    EXPECT_EQ(info.is_on, is_on) << info.name;
    EXPECT_GT(std::strlen(info.name), 0u);
    EXPECT_GT(std::strlen(info.counted), 0u);
    EXPECT_TRUE(counts.emplace(info.pass, info.count).second) << info.name;
    ++index;
  }
  expect_refused(tnr_program_describe_pass(program, inputs, 1, index, &info),
                 TNR_STATUS_INVALID_ARGUMENT, {"index is 10 but there are 10 passes"});
  expect_refused(tnr_program_describe_pass(program, nullptr, 1, 0, &info),
                 TNR_STATUS_INVALID_ARGUMENT, {"inputs is NULL"});
  return counts;
}

TEST_F(CGraph, EachPassTellsWhatItDid) {
  constexpr std::uint32_t kNeg = TNR_NODE_UNARY + TNR_UNARY_OP_NEG;
  constexpr std::uint32_t kScan = TNR_NODE_SCAN + TNR_SCAN_OP_SUM;
  const Floats a({2, 3, 4, 4}, -1, 0.25f);
  const Floats weights({4, 2}, 0.5f, 0.25f);
  const Floats bias({2}, 1, 1);
  const Floats filters({5, 3, 1, 1}, 0.5f, 0.25f);
  const std::uint32_t x = input(a.shape);
  const std::uint32_t kept = node(kMul, {constant(weights.view()), scalar(2)});
  // Both are one.
  const std::uint32_t sum = node(kAdd, {node(kNeg, {x}), node(kNeg, {x})});
  const std::uint32_t columns = node(TNR_NODE_RESHAPE, {sum}, {24, 4});
  const std::uint32_t product = node(TNR_NODE_MATMUL, {columns, kept});
  output(node(kRelu, {node(kAdd, {product, constant(bias.view())})}));
  (void)node(kNeg, {sum});
  const std::uint32_t image = node(TNR_NODE_CONV2D, {sum, constant(filters.view())});
  output(node(kScan, {node(kScan, {node(kScan, {image}, {1})}, {1})}, {1}));
  const std::uint32_t all = kAllPasses | TNR_PASS_PACKING;
  const auto counts = pass_counts(program(0, TNR_PASS_PACKING), a.view(), 1);
  const std::map<std::uint32_t, std::uint64_t> expected = {
      {TNR_PASS_COMMON_SUBEXPRESSIONS, 1},
      {TNR_PASS_CONSTANT_FOLDING, 1},
      {TNR_PASS_EPILOGUES, 2},
      {TNR_PASS_DEAD_CODE, 1},
      {TNR_PASS_PACKING, 2},
      {TNR_PASS_RECOMPUTATION, 0},
      {TNR_PASS_LAYOUT, 1},
      {TNR_PASS_FUSION, 1},
      {TNR_PASS_IN_PLACE, 2},
      {TNR_PASS_MEMORY, counts.at(TNR_PASS_MEMORY)},
  };
  EXPECT_EQ(counts, expected);
  for (const auto& [pass, count] : pass_counts(program(all), a.view(), 0)) EXPECT_EQ(count, 0u);
  // The pass counts the bytes that it saves in the block.
  const std::uint64_t apart =
      memory(program(TNR_PASS_MEMORY, TNR_PASS_PACKING), {a.view()}).peak_bytes;
  const std::uint64_t shared = memory(program(0, TNR_PASS_PACKING), {a.view()}).peak_bytes;
  EXPECT_EQ(counts.at(TNR_PASS_MEMORY), apart - shared);
}

// The time of a check does not grow with the number of windows, here more than any memory holds.
TEST_F(CGraph, PoolingsOfHugeExtentsAreChecked) {
  const std::uint32_t image = input({1, 1, 4, 4});
  tnr_pool2d_attributes of = {};
  of.struct_size = sizeof of;
  of.flags = TNR_POOL2D_ADAPTIVE;
  constexpr auto kPool = TNR_NODE_POOL2D + TNR_REDUCE_OP_MAX;
  const std::uint32_t adaptive = node(kPool, {image}, {std::int64_t{1} << 45, 3}, &of);
  of = {};
  of.struct_size = sizeof of;
  // A kernel with just enough elements, 8 apart, that each window reaches the image.
  of.kernel[0] = (std::int64_t{1} << 40) + 1;
  of.kernel[1] = 1;
  of.dilations[0] = 8;
  of.strides[0] = 8;
  of.padding[0] = of.padding[1] = std::int64_t{1} << 43;
  const std::uint32_t far = node(kPool, {image}, {}, &of);
  tnr_value_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tnr_graph_describe_value(graph, adaptive, &info), TNR_STATUS_OK);
  EXPECT_EQ(info.shape[2], std::int64_t{1} << 45);
  ASSERT_EQ(tnr_graph_describe_value(graph, far, &info), TNR_STATUS_OK);
  EXPECT_EQ(info.shape[2], (std::int64_t{1} << 40) + 1);
  of.padding[1] += 8;
  std::uint32_t value = 0;
  expect_refused(add(kPool, {image}, {}, &of, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"the windows of row 1099511627777 of out have no element"});
}

// The digits' network, with any number of images.
class CNetwork : public CGraph {
 protected:
  CNetwork() {
    EXPECT_EQ(tnr_graph_add_extent(graph, "images", 16, &images), TNR_STATUS_OK);
    const std::uint32_t x = input({images, 1, 8, 8});
    tnr_conv2d_attributes same = {};
    same.struct_size = sizeof same;
    for (std::int64_t& padding : same.padding) padding = 1;
    const std::uint32_t first = node(
        kRelu, {node(TNR_NODE_CONV2D, {x, constant(w1.view()), constant(b1.view())}, {}, &same)});
    const std::uint32_t second =
        node(kRelu, {node(TNR_NODE_CONV2D, {first, constant(w2.view())}, {}, &same)});
    tnr_pool2d_attributes halves = {};
    halves.struct_size = sizeof halves;
    halves.kernel[0] = halves.kernel[1] = 2;
    const std::uint32_t pooled = node(TNR_NODE_POOL2D + TNR_REDUCE_OP_MAX, {second}, {}, &halves);
    std::int64_t count = 0;
    EXPECT_EQ(tnr_graph_combine_extents(graph, TNR_EXTENT_OP_MUL, 6, 16, &count), TNR_STATUS_OK);
    const std::uint32_t flat = node(TNR_NODE_RESHAPE, {pooled}, {images, count});
    output(node(kAdd, {node(TNR_NODE_MATMUL, {flat, constant(w3.view())}), constant(b3.view())}));
  }

  // By calls, one by one.
  void expect_of_calls(const Floats& x, const Floats& result) {
    const std::int64_t n = x.shape[0];
    Floats first({n, 4, 8, 8});
    Floats second({n, 6, 8, 8});
    Floats pooled({n, 6, 4, 4});
    Floats product({n, 10});
    Floats sum({n, 10});
    tnr_conv2d_attributes same = {};
    same.struct_size = sizeof same;
    for (std::int64_t& padding : same.padding) padding = 1;
    tnr_pool2d_attributes halves = {};
    halves.struct_size = sizeof halves;
    halves.kernel[0] = halves.kernel[1] = 2;
    const tnr_view views[] = {x.view(),      w1.view(), b1.view(),      first.view(), w2.view(),
                              second.view(), w3.view(), product.view(), b3.view()};
    const tnr_view flat = view_over(pooled.values.data(), {n, 96});
    tnr_view_mut outs[] = {first.out(), second.out(), pooled.out(), product.out(), sum.out()};
    const tnr_scalar one = tnr_scalar_i64(1);
    const tnr_scalar zero = tnr_scalar_i64(0);
    ASSERT_EQ(tnr_conv2d(nullptr, &views[0], &views[1], &views[2], &same, &outs[0]), 0);
    ASSERT_EQ(tnr_unary(nullptr, TNR_UNARY_OP_RELU, &outs[0].view, nullptr, &outs[0]), 0);
    ASSERT_EQ(tnr_conv2d(nullptr, &views[3], &views[4], nullptr, &same, &outs[1]), 0);
    ASSERT_EQ(tnr_unary(nullptr, TNR_UNARY_OP_RELU, &outs[1].view, nullptr, &outs[1]), 0);
    ASSERT_EQ(tnr_pool2d(nullptr, TNR_REDUCE_OP_MAX, &views[5], &halves, &outs[2]), 0);
    ASSERT_EQ(tnr_matmul(nullptr, &one, &flat, &views[6], &zero, nullptr, &outs[3]), 0);
    ASSERT_EQ(tnr_binary(nullptr, TNR_BINARY_OP_ADD, &views[7], &views[8], nullptr, &outs[4]), 0);
    EXPECT_EQ(result.values, sum.values);
  }

  std::int64_t images = 0;
  Floats w1{{4, 1, 3, 3}, -0.5f, 0.125f};
  Floats b1{{4}, -0.25f, 0.25f};
  Floats w2{{6, 4, 3, 3}, -1.0f, 0.07f};
  Floats w3{{96, 10}, -0.7f, 0.013f};
  Floats b3{{10}, 0.1f, 0.1f};
};

TEST_F(CNetwork, HasTheBitsOfItsCallsWhateverPassesRun) {
  for (std::uint32_t disabled = 0; disabled <= kAllPasses; disabled = disabled * 2 + 1) {
    for (const std::uint32_t passes : {disabled, kAllPasses & ~disabled}) {
      const tnr_program* const made = program(passes, passes % 2 == 0 ? TNR_PASS_PACKING : 0);
      for (const std::int64_t n : {1, 3, 16, 0}) {
        const Floats x({n, 1, 8, 8}, 0.5f, 0.37f);
        Floats out({n, 10});
        ASSERT_EQ(run(made, {x.view()}, {out.out()}), TNR_STATUS_OK) << tnr_last_error()->message;
        expect_of_calls(x, out);
      }
    }
  }
}

std::uint64_t packed_bytes(const tnr_view& b, tnr_dtype a_dtype) {
  const tnr_factor_attributes attributes = {sizeof attributes, a_dtype, 0, nullptr};
  tnr_factor* const factor = tnr_factor_create(nullptr, &b, &attributes);
  tnr_factor_info info = {};
  info.struct_size = sizeof info;
  EXPECT_EQ(tnr_factor_describe(factor, &info), TNR_STATUS_OK);
  tnr_factor_release(factor);
  return info.size_bytes;
}

TEST_F(CNetwork, PacksItsWeightsWhereThatIsAskedFor) {
  const Floats x({3, 1, 8, 8}, 0.5f, 0.37f);
  const tnr_view inputs[] = {x.view()};
  EXPECT_EQ(memory(program(), {inputs[0]}).packed_bytes, 0u);
  EXPECT_EQ(memory(program(TNR_PASS_PACKING, TNR_PASS_PACKING), {inputs[0]}).packed_bytes, 0u);
  const tnr_program* const made = program(0, TNR_PASS_PACKING | TNR_PASS_FUSION);
  const tnr_memory_plan plan = memory(made, {inputs[0]});
  // The filters of the first convolution have one channel, and are too few to be a panel.
  EXPECT_GE(plan.packed_bytes, packed_bytes(w3.view(), TNR_DTYPE_F32) + w2.values.size() * 4);
  const tnr_view* const lent[] = {&inputs[0]};
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < plan.step_count; ++i) {
    tnr_step_info step = {};
    step.struct_size = sizeof step;
    ASSERT_EQ(tnr_program_describe_step(made, lent, 1, i, &step), TNR_STATUS_OK);
    if (std::strncmp(step.name, "packed", 6) == 0) names.emplace_back(step.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"packed conv2d", "packed matmul"}));
  Floats out({3, 10});
  ASSERT_EQ(run(made, {x.view()}, {out.out()}), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_of_calls(x, out);
}

// Products of bytes. One constant factor is packed for both dtypes of the other factor.
TEST_F(CGraph, PacksAConstantOnceForEachDtypeOfItsProducts) {
  const std::vector<std::int8_t> bytes(32 * 8, 3);
  const std::vector<std::int64_t> shape = {32, 8};
  tnr_view view;
  ASSERT_EQ(
      tnr_view_lend(bytes.data(), bytes.size(), 0, TNR_DTYPE_I8, 2, shape.data(), nullptr, &view),
      TNR_STATUS_OK);
  const std::uint32_t held = constant(view);
  const std::int64_t rows[] = {2, 32};
  std::uint32_t of[2];
  ASSERT_EQ(tnr_graph_add_input(graph, TNR_DTYPE_I8, 2, rows, &of[0]), TNR_STATUS_OK);
  ASSERT_EQ(tnr_graph_add_input(graph, TNR_DTYPE_U8, 2, rows, &of[1]), TNR_STATUS_OK);
  const std::uint32_t products[] = {node(TNR_NODE_MATMUL, {of[0], held}),
                                    node(TNR_NODE_MATMUL, {of[1], held}),
                                    node(TNR_NODE_MATMUL, {of[1], held})};
  output(node(kAdd, {node(kAdd, {products[0], products[1]}), products[2]}));
  const tnr_program* const made = program(TNR_PASS_COMMON_SUBEXPRESSIONS, TNR_PASS_PACKING);
  const std::vector<std::int8_t> ones(2 * 32, 1);
  tnr_view inputs[2];
  for (const int i : {0, 1}) {
    ASSERT_EQ(tnr_view_lend(ones.data(), ones.size(), 0, i == 0 ? TNR_DTYPE_I8 : TNR_DTYPE_U8, 2,
                            rows, nullptr, &inputs[i]),
              TNR_STATUS_OK);
  }
  EXPECT_EQ(memory(made, {inputs[0], inputs[1]}).packed_bytes,
            packed_bytes(view, TNR_DTYPE_I8) + packed_bytes(view, TNR_DTYPE_U8));
  std::vector<std::int32_t> sums(2 * 8);
  const std::int64_t out_shape[] = {2, 8};
  tnr_view_mut out;
  ASSERT_EQ(tnr_view_lend_mut(sums.data(), sums.size() * 4, 0, TNR_DTYPE_I32, 2, out_shape, nullptr,
                              &out),
            TNR_STATUS_OK);
  ASSERT_EQ(run(made, {inputs[0], inputs[1]}, {out}), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(sums, std::vector<std::int32_t>(2 * 8, 3 * 32 * 3));
}

TEST_F(CGraph, PacksNoConstantWhoseMemoryHasEnded) {
  std::vector<float> weights(8 * 8, 1.0f);
  tnr_blob* const blob = tnr_blob_borrow(weights.data(), weights.size() * sizeof(float));
  const std::int64_t shape[] = {8, 8};
  tnr_view view;
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 2, shape, nullptr, &view), TNR_STATUS_OK);
  output(node(TNR_NODE_MATMUL, {input({2, 8}), constant(view)}));
  ASSERT_NE(program(0, TNR_PASS_PACKING), nullptr);
  EXPECT_EQ(tnr_blob_end_borrow(blob), TNR_STATUS_BORROW_ESCAPED);
  const tnr_program_attributes attributes = {sizeof attributes, 0, TNR_PASS_PACKING, nullptr, 0};
  EXPECT_EQ(tnr_program_create(nullptr, graph, &attributes), nullptr);
  EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_STALE_VIEW) << tnr_last_error()->message;
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
}

TEST_F(CGraph, RefusesPassesThatItDoesNotKnow) {
  output(node(kRelu, {input({4})}));
  for (const bool enabled : {false, true}) {
    tnr_program_attributes attributes = {sizeof attributes, 0, 0, nullptr, 0};
    (enabled ? attributes.enabled_passes : attributes.disabled_passes) = 1024;
    EXPECT_EQ(tnr_program_create(nullptr, graph, &attributes), nullptr);
    EXPECT_EQ(tnr_last_error()->status, TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(tnr_last_error()->message,
                          enabled ? "enabled_passes is 0x400" : "disabled_passes is 0x400"),
              nullptr);
  }
}

TEST_F(CNetwork, PlansItsMemoryAndKeepsToABudget) {
  const tnr_program* const made = program();
  const Floats x({3, 1, 8, 8}, 0.5f, 0.37f);
  Floats out({3, 10});
  const tnr_memory_plan plan = memory(made, {x.view()});
  // Two convolutions with their activations, the pooling, the product with its bias; and the copy of
  // the pooled images to row-major order, where they lie channels-last.
  EXPECT_EQ(plan.step_count, 5u);
  EXPECT_GT(plan.total_bytes, plan.peak_bytes);
  EXPECT_GE(plan.peak_bytes, plan.live_bytes);
  EXPECT_EQ(plan.live_bytes, (3 * 4 * 64 + 3 * 6 * 64) * sizeof(float));
  EXPECT_EQ(run(made, {x.view()}, {out.out()}, plan.peak_bytes), TNR_STATUS_OK);
  Floats untouched({3, 10}, 1.5f, 0);
  expect_refused(run(made, {x.view()}, {untouched.out()}, plan.peak_bytes - 1),
                 TNR_STATUS_OUT_OF_MEMORY, {"budget"});
  EXPECT_EQ(untouched.values, std::vector<float>(30, 1.5f));
}

TEST_F(CNetwork, RunsOnSeveralThreadsAtOnce) {
  const tnr_program* const made = program();
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const Floats x({1 + t % 2, 1, 8, 8}, 0.1f * static_cast<float>(t), 0.37f);
      for (int i = 0; i < 50; ++i) {
        Floats out({1 + t % 2, 10});
        ASSERT_EQ(run(made, {x.view()}, {out.out()}), TNR_STATUS_OK);
        if (i == 0) expect_of_calls(x, out);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CNetwork, RefusesOtherShapes) {
  const tnr_program* const made = program();
  Floats out({3, 10});
  const Floats many({17, 1, 8, 8});
  expect_refused(run(made, {many.view()}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"images is at most 16"});
  const Floats wide({3, 1, 8, 9});
  expect_refused(run(made, {wide.view()}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"inputs[0].shape[3] is 9 but must be 8"});
  const Floats x({3, 1, 8, 8});
  Floats few({2, 10});
  expect_refused(run(made, {x.view()}, {few.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"the program gives f32 of shape [3, 10]"});
  expect_refused(run(made, {}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT, {"input_count is 0"});
  expect_refused(run(made, {x.view()}, {}), TNR_STATUS_INVALID_ARGUMENT, {"output_count is 0"});
}

TEST_F(CGraph, NodesAreRefusedWhenTheyAreAdded) {
  const std::uint32_t a = input({2, 3});
  const std::uint32_t b = input({4});
  std::uint32_t value = 77;
  expect_refused(add(kMul, {a, b}, {}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"nodes[0], mul: "});
  EXPECT_EQ(value, 77u);
  expect_refused(add(TNR_NODE_MATMUL, {a, a}, {}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"a has shape [2, 3], b [2, 3]"});
  expect_refused(add(kMul, {a, 99}, {}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"value is 99"});
  expect_refused(add(kMul, {a}, {}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"operand_count is 1"});
  expect_refused(add(0x00ff0000, {a}, {}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"names no operation"});
  expect_refused(add(kRelu, {a}, {}, nullptr, 1, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"flags is 0x1"});
  expect_refused(add(kRelu, {a}, {}, nullptr, 0, &value, TNR_DTYPE_F32),
                 TNR_STATUS_INVALID_ARGUMENT, {"dtype is f32 but must be 0"});
  expect_refused(add(TNR_NODE_RESHAPE, {a}, {7}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"nodes[0], reshape: "});
  expect_refused(add(TNR_NODE_RESHAPE, {a}, {TNR_EXTENT + 3}, nullptr, 0, &value),
                 TNR_STATUS_INVALID_ARGUMENT, {"there are 0 extents"});
  expect_refused(add(TNR_NODE_CONV2D, {a, b}, {}, nullptr, 0, &value), TNR_STATUS_INVALID_ARGUMENT,
                 {"a.rank is 2 but must be 4"});
  expect_refused(add(TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM, {a}, {}, nullptr, 4, &value),
                 TNR_STATUS_INVALID_ARGUMENT, {"sum"});
  EXPECT_EQ(tnr_program_create(nullptr, graph, nullptr), nullptr);
  EXPECT_STREQ(tnr_last_error()->message, "the graph has no output");
}

TEST_F(CGraph, AnOutputMayUpdateAnInput) {
  const std::uint32_t state = input({4});
  const std::uint32_t step = input({4});
  const std::uint32_t next = node(kAdd, {state, step});
  output(state);
  output(next, state);
  Floats held({4}, 1, 1);
  const Floats by({4}, 0.5f, 0);
  Floats before({4});
  for (const std::uint32_t disabled : {0u, kAllPasses}) {
    held = Floats({4}, -1, 1);
    const tnr_program* const made = program(disabled);
    for (int i = 0; i < 3; ++i) {
      ASSERT_EQ(run(made, {held.view(), by.view()}, {before.out(), held.out()}), TNR_STATUS_OK)
          << tnr_last_error()->message;
      for (std::size_t at = 0; at < 4; ++at) {
        EXPECT_EQ(before.values[at] + 0.5f, held.values[at]);
      }
    }
    EXPECT_EQ(held.values[0], 0.5f);
    expect_refused(run(made, {held.view(), by.view()}, {held.out(), before.out()}),
                   TNR_STATUS_ALIASED, {"outputs[0] shares a byte with inputs[0]"});
  }
}

TEST_F(CGraph, TwoOutputsMayExchangeTheirInputs) {
  const std::uint32_t a = input({2});
  const std::uint32_t b = input({2});
  output(b, a);
  output(a, b);
  Floats left({2}, 1, 0.5f);
  Floats right({2}, -1, 0.5f);
  ASSERT_EQ(run(program(), {left.view(), right.view()}, {left.out(), right.out()}), TNR_STATUS_OK);
  EXPECT_EQ(left.values, (std::vector<float>{-1, -0.5f}));
  EXPECT_EQ(right.values, (std::vector<float>{1, 1.5f}));
}

TEST_F(CGraph, ConstantsAreHeldOrCopied) {
  // Copied: the values may change afterwards.
  Floats copied({2}, 1, 1);
  const std::uint32_t c = constant(copied.view());
  copied.values = {9, 9};
  // Held: no copy, and the blob lives on.
  tnr_view_mut held = {};
  const std::int64_t shape[] = {2};
  tnr_blob* const blob = tnr_blob_alloc_view(nullptr, TNR_DTYPE_F32, 1, shape, &held);
  ASSERT_NE(blob, nullptr);
  auto* const data = static_cast<float*>(const_cast<void*>(held.view.data));
  data[0] = 10;
  data[1] = 20;
  const std::uint32_t d = constant(held.view);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  output(node(kAdd, {node(kMul, {input({2}), c}), d}));
  const tnr_program* const made = program();
  const Floats x({2}, 1, 1);
  Floats out({2});
  ASSERT_EQ(run(made, {x.view()}, {out.out()}), TNR_STATUS_OK);
  EXPECT_EQ(out.values, (std::vector<float>{11, 24}));
}

TEST_F(CGraph, ConstantsAreFoldedAndCommonNodesMerged) {
  const Floats c({8}, 1, 0.125f);
  const std::uint32_t x = input({8});
  const std::uint32_t k = constant(c.view());
  const std::uint32_t folded = node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {k}, {0});
  const std::uint32_t first = node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {x}, {0});
  const std::uint32_t second = node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {x}, {0});
  output(node(kMul, {node(kAdd, {first, folded}), second}));
  const Floats a({8}, 1, 1);
  Floats out({8});
  Floats plain({8});
  ASSERT_EQ(run(program(), {a.view()}, {out.out()}), TNR_STATUS_OK);
  ASSERT_EQ(run(program(kAllPasses), {a.view()}, {plain.out()}), TNR_STATUS_OK);
  EXPECT_EQ(out.values, plain.values);
  EXPECT_EQ(memory(programs[0], {a.view()}).step_count, 2u);
  EXPECT_EQ(memory(programs[1], {a.view()}).step_count, 5u);
}

TEST_F(CGraph, ErrorsOnTheDataNameTheNode) {
  const std::uint32_t x = input({3});
  const std::uint32_t indices = input({2}, TNR_DTYPE_I64);
  output(node(TNR_NODE_TAKE, {x, indices}, {0}));
  const Floats a({3}, 1, 1);
  Floats out({2});
  const std::int64_t beyond[] = {0, 3};
  expect_refused(run(program(), {a.view(), view_over(beyond, {2}, TNR_DTYPE_I64)}, {out.out()}),
                 TNR_STATUS_INVALID_ARGUMENT, {"nodes[0], take: "});
}

TEST_F(CGraph, HandlesThatLieAreRefused) {
  output(node(kRelu, {input({1})}));
  tnr_program* const made = tnr_program_create(nullptr, graph, nullptr);
  ASSERT_NE(made, nullptr);
  const Floats a({1});
  Floats out({1});
  EXPECT_EQ(tnr_program_retain(made), made);
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  EXPECT_EQ(run(made, {a.view()}, {out.out()}), TNR_STATUS_OK);
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_OK);
  expect_refused(run(made, {a.view()}, {out.out()}), TNR_STATUS_STALE_HANDLE, {"released"});
  EXPECT_EQ(tnr_program_release(made), TNR_STATUS_STALE_HANDLE);
  std::uint32_t value = 0;
  const auto* const garbage = reinterpret_cast<tnr_graph*>(0x1234);
  tnr_value_info info = {};
  info.struct_size = sizeof info;
  expect_refused(tnr_graph_describe_value(garbage, 0, &info), TNR_STATUS_STALE_HANDLE, {"graph"});
  expect_refused(tnr_graph_add_input(nullptr, TNR_DTYPE_F32, 0, nullptr, &value),
                 TNR_STATUS_STALE_HANDLE, {"graph"});
  EXPECT_EQ(tnr_graph_describe_value(graph, 1, &info), TNR_STATUS_OK);
  EXPECT_EQ(info.source, TNR_VALUE_SOURCE_NODE);
  EXPECT_EQ(info.rank, 1u);
}

// ---- listing -----------------------------------------------------------------------------------

TEST_F(CNetwork, IsListedAndBuiltAgain) {
  tnr_graph_info info = {};
  info.struct_size = sizeof info;
  ASSERT_EQ(tnr_graph_describe(graph, &info), TNR_STATUS_OK);
  EXPECT_EQ(info.input_count, 1u);
  EXPECT_EQ(info.constant_count, 5u);
  EXPECT_EQ(info.extent_count, 2u);
  EXPECT_EQ(info.node_count, 8u);
  tnr_graph* const again = rebuilt(graph);
  ASSERT_EQ(tnr_graph_release(graph), TNR_STATUS_OK);
  graph = again;
  const Floats x({3, 1, 8, 8}, 0.5f, 0.37f);
  Floats out({3, 10});
  ASSERT_EQ(run(program(), {x.view()}, {out.out()}), TNR_STATUS_OK);
  expect_of_calls(x, out);
}

TEST_F(CNetwork, DescribesItsSteps) {
  const tnr_program* const made = program();
  const Floats x({2, 1, 8, 8}, 0.5f, 0.37f);
  const tnr_view view = x.view();
  const tnr_view* const views[] = {&view};
  const tnr_memory_plan plan = memory(made, {view});
  std::vector<tnr_step_info> steps(plan.step_count);
  for (std::uint32_t i = 0; i < plan.step_count; ++i) {
    steps[i].struct_size = sizeof steps[i];
    ASSERT_EQ(tnr_program_describe_step(made, views, 1, i, &steps[i]), TNR_STATUS_OK);
    EXPECT_LE(steps[i].block_offset + steps[i].block_bytes, plan.peak_bytes);
    // Nothing else lies there while it is in use.
    for (std::uint32_t j = 0; j < i; ++j) {
      if (steps[j].last_use < i) continue;
      EXPECT_TRUE(steps[j].block_offset + steps[j].block_bytes <= steps[i].block_offset ||
                  steps[i].block_offset + steps[i].block_bytes <= steps[j].block_offset);
    }
  }
  EXPECT_STREQ(steps[0].name, "conv2d");
  EXPECT_EQ(steps[0].kind, TNR_STEP_KIND_OPERATION);
  EXPECT_EQ(steps[0].flops, 2u * 2 * 4 * 64 * 9);
  EXPECT_EQ(steps[0].read_bytes, sizeof(float) * (2 * 64 + 36 + 4));
  EXPECT_EQ(steps[0].written_bytes, sizeof(float) * 2 * 4 * 64);
  EXPECT_EQ(steps.back().output, 0u);
  EXPECT_EQ(steps.back().flops, 2u * 2 * 10 * 96);
  tnr_step_info none = {};
  none.struct_size = sizeof none;
  expect_refused(tnr_program_describe_step(made, views, 1, plan.step_count, &none),
                 TNR_STATUS_INVALID_ARGUMENT, {"step is 5 but the program has 5"});

  // Each step reads the result of the one before it, and the first one the input.
  std::vector<std::uint8_t> reads(plan.step_count + 1);
  for (std::uint32_t i = 0; i < plan.step_count; ++i) {
    ASSERT_EQ(tnr_program_describe_reads(made, views, 1, i, reads.data(), plan.step_count + 1),
              TNR_STATUS_OK);
    std::vector<std::uint8_t> expected(plan.step_count + 1);
    expected[i == 0 ? plan.step_count : i - 1] = 1;
    EXPECT_EQ(reads, expected) << i;
  }
  const auto refused_reads = [&](std::uint32_t step, std::uint8_t* to, std::uint32_t count,
                                 const char* words) {
    expect_refused(tnr_program_describe_reads(made, views, 1, step, to, count),
                   TNR_STATUS_INVALID_ARGUMENT, {words});
  };
  refused_reads(plan.step_count, reads.data(), 6, "step is 5 but the program has 5");
  refused_reads(0, reads.data(), 5, "read_count is 5 but must be 6");
  refused_reads(0, nullptr, 6, "reads is NULL");

  std::vector<std::uint64_t> times(plan.step_count);
  Floats out({2, 10});
  const tnr_view_mut written = out.out();
  const tnr_view_mut* const outputs[] = {&written};
  tnr_program_run_attributes timed = {sizeof timed, 0, times.data(), plan.step_count, 0, nullptr};
  ASSERT_EQ(tnr_program_run(nullptr, made, views, 1, &timed, outputs, 1), TNR_STATUS_OK);
  for (const std::uint64_t time : times) EXPECT_GT(time, 0u);
  timed.step_count = 4;
  expect_refused(tnr_program_run(nullptr, made, views, 1, &timed, outputs, 1),
                 TNR_STATUS_INVALID_ARGUMENT, {"step_count is 4 but must be 5"});
  timed = {sizeof timed, 0, nullptr, 0, TNR_RUN_BUDGET, nullptr};
  expect_refused(tnr_program_run(nullptr, made, views, 1, &timed, outputs, 1),
                 TNR_STATUS_OUT_OF_MEMORY, {"the budget is 0"});
  timed.flags = 16;
  expect_refused(tnr_program_run(nullptr, made, views, 1, &timed, outputs, 1),
                 TNR_STATUS_INVALID_ARGUMENT, {"flags is 0x10"});
}

TEST_F(CGraph, ResultDoesNotReplaceAValueThatTheCallReadsAgain) {
  const std::int64_t numbers[] = {2, 1, 0};
  const std::uint32_t x = input({3});
  const std::uint32_t square = node(TNR_NODE_UNARY + TNR_UNARY_OP_SQUARE, {x});
  const std::uint32_t indices = constant(view_over(numbers, {3}, TNR_DTYPE_I64));
  const std::uint32_t sum = node(TNR_NODE_PUT + TNR_BINARY_OP_ADD, {square, square, indices}, {0});
  output(node(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, {sum}));
  const Floats a({3}, 1, 0.5F);
  Floats out({3});
  ASSERT_EQ(run(program(), {a.view()}, {out.out()}), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(out.values, (std::vector<float>{-5, -4.5F, -5}));
}

}  // namespace
