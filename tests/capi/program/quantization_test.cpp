// Graphs whose products are quantized, compared with the calls that they stand for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "quantized_graph.hpp"

using tenure::test::F32;
using tenure::test::Floats;
using tenure::test::I8;
using tenure::test::kAdd;
using tenure::test::kColumns;
using tenure::test::kDepth;
using tenure::test::kRelu;
using tenure::test::QuantizationTest;
using tenure::test::Shape;
using tenure::test::Values;
using tenure::test::view_over;

namespace {

constexpr auto kTanh = TNR_NODE_UNARY | TNR_UNARY_OP_TANH;
// The result of the calls, for a matrix of weights of any strides.
std::vector<float> by_calls(const Floats& x, const tnr_view& weights, const tnr_view* bias,
                            tnr_unary_op activation) {
  const std::int64_t depth = weights.shape[0];
  const std::int64_t columns = weights.shape[1];
  std::vector<signed char> integers(static_cast<std::size_t>(depth * columns));
  Floats scales({1, columns});
  const tnr_view_mut values = {view_over(integers.data(), {depth, columns}, I8)};
  const tnr_view_mut of_scales = scales.out();
  EXPECT_EQ(tnr_quantize_dynamic(nullptr, &weights, nullptr, &of_scales, nullptr, &values),
            TNR_STATUS_OK);
  Floats result({x.shape[0], columns});
  tnr_quantized_matmul_attributes with = {};
  with.struct_size = sizeof with;
  with.bias = bias;
  with.activation = activation;
  with.flags = TNR_QUANTIZE_AFFINE_ROWS;
  const tnr_view a = x.view();
  const tnr_view_mut out = result.out();
  EXPECT_EQ(tnr_quantized_matmul(nullptr, &a, nullptr, nullptr, &values.view, &of_scales.view,
                                 nullptr, &with, &out),
            TNR_STATUS_OK);
  return result.values;
}

TEST_F(QuantizationTest, ProductsAreThoseOfCallsWithTheirEpilogue) {
  const std::uint32_t product = matmul(input({5, kDepth}), constant(weights.view()));
  const std::uint32_t count = node_count();
  const std::uint32_t same = node(kRelu, {node(kAdd, {product, constant(bias.view())})});
  output(quantized(same));
  // The bias and the activation are its own, and its factor is a constant of integers.
  EXPECT_EQ(codes_from(count + 2), Values{TNR_NODE_QUANTIZED_MATMUL});
  const tnr_view of_bias = bias.view();
  const std::vector<float> expected = by_calls(x, weights.view(), &of_bias, TNR_UNARY_OP_RELU);
  EXPECT_TRUE(std::ranges::any_of(expected, [](float number) { return number > 1; }));
  for (const std::uint32_t disabled : {0, TNR_PASS_EPILOGUES, TNR_PASS_CONSTANT_FOLDING}) {
    for (const std::uint32_t enabled : {0, TNR_PASS_PACKING}) {
      EXPECT_EQ(result(x, {5, kColumns}, disabled, enabled), expected) << disabled;
    }
  }
  EXPECT_NE(by_calls(x, weights.view(), nullptr, 0), expected);
}

TEST_F(QuantizationTest, TheEpilogueOfANodeIsKept) {
  tnr_matmul_attributes with = {};
  with.struct_size = sizeof with;
  with.activation = TNR_UNARY_OP_TANH;
  const std::uint32_t product =
      node(TNR_NODE_MATMUL, {input({5, kDepth}), constant(weights.view()), constant(bias.view())},
           {}, &with);
  output(quantized(product));
  const tnr_view of_bias = bias.view();
  EXPECT_EQ(result(x, {5, kColumns}), by_calls(x, weights.view(), &of_bias, TNR_UNARY_OP_TANH));
}

TEST_F(QuantizationTest, AFactorMayBeANodeOfConstants) {
  const Floats stored({kColumns, kDepth}, -0.7F, 0.31F);
  const std::uint32_t factor = node(TNR_NODE_PERMUTE, {constant(stored.view())}, {1, 0});
  output(quantized(node(kTanh, {matmul(input({5, kDepth}), factor)})));
  tnr_view transposed = stored.view();
  std::swap(transposed.shape[0], transposed.shape[1]);
  std::swap(transposed.strides[0], transposed.strides[1]);
  const std::vector<float> product = by_calls(x, transposed, nullptr, TNR_UNARY_OP_TANH);
  EXPECT_EQ(result(x, {5, kColumns}), product);
  EXPECT_EQ(result(x, {5, kColumns}, 0, TNR_PASS_PACKING), product);
}

TEST_F(QuantizationTest, OnlyWhatLeadsFromAProductIsCopied) {
  const std::uint32_t of = input({5, kDepth});
  const std::uint32_t before = node(kTanh, {of});
  const std::uint32_t first = matmul(before, constant(weights.view()));
  const Floats square({kColumns, kColumns}, 0.2F, 0.13F);
  const std::uint32_t kept = matmul(first, constant(square.view()));
  const std::uint32_t count = node_count();
  Values all;
  ASSERT_EQ(add_quantized({kept, before, of}, {kept}, all), TNR_STATUS_OK);
  EXPECT_EQ(all[1], before);
  EXPECT_EQ(all[2], of);
  EXPECT_EQ(codes_from(count), (Values{TNR_NODE_QUANTIZED_MATMUL, TNR_NODE_MATMUL}));
}

TEST_F(QuantizationTest, ProductsThatSaveNothingOrAreNotExactStay) {
  const auto product = [&](std::int64_t rows, std::int64_t columns) {
    const Floats factor({rows, columns}, 0.1F, 0.01F);
    return matmul(input({1, rows}), constant(factor.view()));
  };
  const char* const message =
      "there is nothing to quantize: a product of f32 by a constant matrix of 64 to 33025 rows and "
      "of "
      "64 columns at least, or a convolution by constant filters of 128 to 33025 elements and more "
      "than one channel, 32 in each group at least, that is not kept";
  for (const std::uint32_t small : {product(63, 64), product(64, 63), product(33026, 64)}) {
    expect_refused({small}, {}, message);
  }
  for (const std::uint32_t large : {product(64, 64), product(33025, 64)}) {
    EXPECT_NE(quantized(large), large);
    expect_refused({large}, {large}, message);
  }
  // A factor that a run gives.
  expect_refused({matmul(input({1, 64}), input({64, 64}))}, {}, message);
  // A product of constants is folded as it is.
  const Floats square({64, 64}, 0.1F, 0.01F);
  const std::uint32_t factor = constant(square.view());
  expect_refused({matmul(factor, factor)}, {}, message);
}

TEST_F(QuantizationTest, AGraphThatIsBuiltAgainComputesTheSame) {
  output(quantized(matmul(input({5, kDepth}), constant(weights.view()))));
  const std::vector<float> first = result(x, {5, kColumns});
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, tenure::test::rebuilt(graph))), TNR_STATUS_OK);
  EXPECT_EQ(result(x, {5, kColumns}), first);
}

TEST_F(QuantizationTest, AProgramReleasesTheConstantsThatItHasQuantized) {
  int released = 0;
  tnr_blob* const blob = tnr_blob_share(
      weights.values.data(), weights.values.size() * 4,
      [](void* counter) { ++*static_cast<int*>(counter); }, &released);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  tnr_view view = weights.view();
  view.owner = reinterpret_cast<std::uint64_t>(blob);
  output(quantized(matmul(input({5, kDepth}), constant(view))));
  const tnr_program* const made = program();
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, nullptr)), TNR_STATUS_OK);
  EXPECT_EQ(released, 1);
  Floats out({5, kColumns}, 77, 0);
  EXPECT_EQ(run(made, {x.view()}, {out.out()}), TNR_STATUS_OK);
  EXPECT_EQ(out.values, by_calls(x, weights.view(), nullptr, 0));
}

TEST_F(QuantizationTest, NoGradientLeadsThroughIntegers) {
  const std::uint32_t of = input({5, kDepth});
  const std::uint32_t sum = node(TNR_NODE_REDUCE | TNR_REDUCE_OP_SUM,
                                 {quantized(matmul(of, constant(weights.view())))}, {}, nullptr, 3);
  std::uint32_t gradient = 77;
  EXPECT_EQ(tnr_graph_add_gradients(graph, sum, TNR_OPERAND_NONE, &of, 1, nullptr, &gradient),
            TNR_STATUS_UNSUPPORTED);
  EXPECT_NE(std::string(tnr_last_error()->message).find("quantized_matmul"), std::string::npos)
      << tnr_last_error()->message;
  EXPECT_NE(std::string(tnr_last_error()->message).find("have no gradient"), std::string::npos)
      << tnr_last_error()->message;
}

TEST_F(QuantizationTest, AWrongScaleIsRefusedInARun) {
  std::vector<signed char> integers(static_cast<std::size_t>(kDepth * kColumns), 1);
  const std::uint32_t of = input({5, kDepth});
  const std::uint32_t scales = input({kColumns});
  std::uint32_t product = TNR_OPERAND_NONE;
  ASSERT_EQ(add(TNR_NODE_QUANTIZED_MATMUL,
                {of, constant(view_over(integers.data(), {kDepth, kColumns}, I8)), TNR_OPERAND_NONE,
                 scales},
                {}, nullptr, 0, &product, F32),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  output(product);
  const tnr_program* const made = program();
  Floats out({5, kColumns}, 77, 0);
  Floats given({kColumns}, 0.5F, 0);
  EXPECT_EQ(run(made, {x.view(), given.view()}, {out.out()}), TNR_STATUS_OK);
  for (const float wrong : {0.0F, -1.0F, INFINITY, NAN}) {
    given.values[3] = wrong;
    EXPECT_EQ(run(made, {x.view(), given.view()}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tnr_last_error()->message).find("every scale must be finite and above 0"),
              std::string::npos)
        << tnr_last_error()->message;
  }
}

TEST_F(QuantizationTest, WeightsOfFourBitsHaveTheBitsOfTheCall) {
  constexpr std::int64_t kRows = 192;
  const Floats factor({kRows, kColumns}, -0.7F, 0.31F);
  const Floats given({5, kRows}, 0.11F, 0.37F);
  for (const std::uint32_t group : {32u, 64u}) {
    release_all();
    graph = tnr_graph_create();
    const std::uint32_t product =
        node(TNR_NODE_MATMUL, {input({5, kRows}), constant(factor.view()), constant(bias.view())});
    tnr_graph_quantize_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.weight_group = group;
    std::uint32_t of = 0;
    ASSERT_EQ(tnr_graph_quantize(graph, &product, 1, &attributes, &of), TNR_STATUS_OK);
    EXPECT_EQ(codes_from(1), Values{TNR_NODE_QUANTIZED_MATMUL});
    output(of);
    std::vector<signed char> integers(kRows * kColumns);
    const tnr_view_mut values = {view_over(integers.data(), {kRows, kColumns}, I8)};
    Floats scales({kRows / group, kColumns});
    const tnr_view_mut of_scales = scales.out();
    const tnr_view weights_view = factor.view();
    const tnr_quantize_dynamic_attributes four = {sizeof four, 4, 0};
    ASSERT_EQ(tnr_quantize_dynamic(nullptr, &weights_view, &four, &of_scales, nullptr, &values),
              TNR_STATUS_OK);
    Floats expected({5, kColumns});
    tnr_quantized_matmul_attributes with = {};
    with.struct_size = sizeof with;
    const tnr_view of_bias = bias.view();
    with.bias = &of_bias;
    const tnr_view a = given.view();
    const tnr_view_mut out = expected.out();
    ASSERT_EQ(tnr_quantized_matmul(nullptr, &a, nullptr, nullptr, &values.view, &of_scales.view,
                                   nullptr, &with, &out),
              TNR_STATUS_OK);
    EXPECT_EQ(result(given, {5, kColumns}), expected.values);
    EXPECT_EQ(result(given, {5, kColumns}, TNR_PASS_CONSTANT_FOLDING), expected.values);
    EXPECT_EQ(result(given, {5, kColumns}, 0, TNR_PASS_PACKING), expected.values);
  }
}

TEST_F(QuantizationTest, GroupsTakeNoOtherScalesNorZeros) {
  const std::uint32_t numbers = input({5, 64});
  const std::uint32_t bytes = input({64, 3}, I8);
  const std::uint32_t unsigned_bytes = input({64, 3}, TNR_DTYPE_U8);
  const std::uint32_t rows = input({5, 64}, I8);
  const std::uint32_t scales = input({2, 3});
  const std::uint32_t zeros = input({2, 3}, I8);
  const std::uint32_t row_scales = input({5, 1});
  constexpr std::uint32_t kNone = TNR_OPERAND_NONE;
  const auto refuse = [&](const Values& operands, std::uint32_t flags, const char* message) {
    tnr_matmul_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.flags = flags;
    std::uint32_t value = 0;
    EXPECT_EQ(add(TNR_NODE_QUANTIZED_MATMUL, operands, {}, &attributes, 0, &value, F32),
              TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tnr_last_error()->message).find(message), std::string::npos)
        << tnr_last_error()->message;
  };
  refuse({rows, bytes, row_scales, scales}, 0, "a_scales is given but b_scales has groups");
  refuse({numbers, bytes, kNone, scales, kNone, zeros}, 0,
         "b_zeros is given but b_scales has groups");
  refuse({numbers, bytes, kNone, scales}, TNR_QUANTIZE_AFFINE_ROWS,
         "TNR_QUANTIZE_AFFINE_ROWS is given but b_scales has groups");
  refuse({numbers, unsigned_bytes, kNone, scales}, 0, "b is u8 but weights of 4 bits must be i8");
}

TEST_F(QuantizationTest, RefusalsNameTheValueAndTheBound) {
  const std::uint32_t of = input({5, kDepth});
  const std::uint32_t other = node(kTanh, {of});
  const std::uint32_t product = matmul(of, constant(weights.view()));
  expect_refused({product, 9}, {}, "of[1] is 9 but the graph has 4 values");
  expect_refused({product}, {of, 4}, "keep[1] is 4 but the graph has 4 values");
  expect_refused({product}, {other}, "keep[0] is value 1, which no value of `of` depends on");
  tnr_graph_quantize_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.keep_count = 1;
  std::uint32_t result = 77;
  EXPECT_EQ(tnr_graph_quantize(graph, &product, 1, &attributes, &result),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message, "attributes->keep is NULL");
  attributes.keep_count = 0;
  attributes.range_count = 1;
  EXPECT_EQ(tnr_graph_quantize(graph, &product, 1, &attributes, &result),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message, "attributes->ranges is NULL");
  attributes.range_count = 0;
  attributes.weight_group = 16;
  EXPECT_EQ(tnr_graph_quantize(graph, &product, 1, &attributes, &result),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message,
               "attributes->weight_group is 16 but must be 0, 32, 64 or 128");
  attributes.weight_group = 32;
  attributes.range_count = 1;
  const tnr_value_range range = {product, 0, 1};
  attributes.ranges = &range;
  EXPECT_EQ(tnr_graph_quantize(graph, &product, 1, &attributes, &result),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message,
               "attributes->range_count is 1 but must be 0 with a weight_group, by which each run "
               "quantizes rows");
  attributes.range_count = 0;
  // The group divides no number of rows of the factor.
  EXPECT_EQ(tnr_graph_quantize(graph, &product, 1, &attributes, &result),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(tnr_last_error()->message).find("there is nothing to quantize"),
            std::string::npos);
  EXPECT_EQ(tnr_graph_quantize(nullptr, &product, 1, nullptr, &result), TNR_STATUS_STALE_HANDLE);
  EXPECT_EQ(result, 77u);
}

}  // namespace
