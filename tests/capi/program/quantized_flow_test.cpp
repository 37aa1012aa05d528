// Quantized graphs in which integers flow from node to node, and numbers of channels that become
// parts of constants.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "quantized_graph.hpp"

using tenure::test::F32;
using tenure::test::Floats;
using tenure::test::kAdd;
using tenure::test::kRelu;
using tenure::test::plain_convolution;
using tenure::test::PlainScale;
using tenure::test::Ranges;
using tenure::test::Shape;
using tenure::test::U8;
using tenure::test::Values;

namespace {

constexpr std::uint32_t kMul = TNR_NODE_BINARY | TNR_BINARY_OP_MUL;

class QuantizedFlowTest : public tenure::test::QuantizationTest {
 protected:
  // The dtypes of the nodes from this one on that are products or convolutions of integers.
  [[nodiscard]] std::vector<tnr_dtype> dtypes_from(std::uint32_t first) const {
    std::vector<tnr_dtype> dtypes;
    for (; first < node_count(); ++first) {
      tnr_graph_node node = {};
      node.struct_size = sizeof node;
      EXPECT_EQ(tnr_graph_describe_node(graph, first, &node), TNR_STATUS_OK);
      if (node.code == TNR_NODE_QUANTIZED_CONV2D || node.code == TNR_NODE_QUANTIZED_MATMUL) {
        dtypes.push_back(node.dtype);
      }
    }
    return dtypes;
  }
  // A new graph, and its input of images.
  std::uint32_t begun() {
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, tnr_graph_create())), TNR_STATUS_OK);
    return input({2, 32, 5, 4});
  }

  Floats filters{{32, 32, 3, 3}, -0.7F, 0.31F};
  Floats images{{2, 32, 5, 4}, -0.9F, 0.37F};
};

TEST_F(QuantizedFlowTest, IntegersGoFromNodeToNode) {
  const Floats of_bias({32}, 0.4F, -0.17F);
  const Floats factor({640, 70}, 0.21F, 0.17F);
  // Two convolutions, and a product of what the second one gives. `shown` are values that are
  // outputs, too, so that they are numbers.
  struct Chain {
    std::uint32_t of;
    std::uint32_t first;
    std::uint32_t flat;
    std::uint32_t last;
  };
  const auto chain = [&]() -> Chain {
    const std::uint32_t of = begun();
    const std::uint32_t by = constant(filters.view());
    const std::uint32_t first = node(kRelu, {conv2d(of, by, constant(of_bias.view()))});
    const std::uint32_t turned = node(TNR_NODE_PERMUTE, {conv2d(first, by)}, {0, 2, 3, 1});
    const std::uint32_t flat = node(TNR_NODE_RESHAPE, {turned}, {2, 640});
    return {of, first, flat, matmul(flat, constant(factor.view()))};
  };
  const auto ranges_of = [](const Chain& of) -> Ranges {
    return {{of.of, -1, 2}, {of.first, 0, 9}, {of.flat, -30, 25}};
  };
  const Chain fused = chain();
  std::uint32_t count = node_count();
  output(quantized(fused.last, {}, ranges_of(fused)));
  EXPECT_EQ(dtypes_from(count), (std::vector<tnr_dtype>{U8, U8, F32}));
  EXPECT_EQ(codes_from(count),
            (Values{TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_CONV2D, TNR_NODE_QUANTIZED_CONV2D,
                    TNR_NODE_PERMUTE, TNR_NODE_RESHAPE, TNR_NODE_QUANTIZED_MATMUL}));
  std::vector<std::vector<float>> results;
  for (const std::uint32_t disabled : {0, TNR_PASS_LAYOUT}) {
    for (const std::uint32_t enabled : {0, TNR_PASS_PACKING}) {
      results.push_back(result(images, {2, 70}, disabled, enabled));
    }
  }
  for (const std::vector<float>& of : results) EXPECT_EQ(of, results[0]);

  // With the numbers in between as outputs each node gives f32, which is quantized: the same bits.
  const Chain shown = chain();
  count = node_count();
  Values made;
  ASSERT_EQ(add_quantized({shown.last, shown.first, shown.flat}, {}, made, ranges_of(shown)),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(dtypes_from(count), (std::vector<tnr_dtype>{F32, F32, F32}));
  for (const std::uint32_t value : made) output(value);
  Floats last({2, 70}, 77, 0);
  Floats first({2, 32, 5, 4}, 77, 0);
  Floats flat({2, 640}, 77, 0);
  ASSERT_EQ(run(program(), {images.view()}, {last.out(), first.out(), flat.out()}), TNR_STATUS_OK);
  EXPECT_EQ(last.values, results[0]);
  EXPECT_EQ(first.values,
            plain_convolution(images, PlainScale::of(-1, 2), filters, of_bias.values.data(), true));
  const std::vector<float> then =
      plain_convolution(first, PlainScale::of(0, 9), filters, nullptr, false);
  EXPECT_EQ(flat.values[32 * 4 + 5], then[5 * 20 + 4]);
  EXPECT_TRUE(std::ranges::any_of(last.values, [](float number) { return number != 0; }));
}

TEST_F(QuantizedFlowTest, NumbersStayWhereAnotherNodeReadsThem) {
  const auto dtypes = [&](const auto& add_reader, const Ranges& more) {
    const std::uint32_t of = begun();
    const std::uint32_t by = constant(filters.view());
    const std::uint32_t first = node(kRelu, {conv2d(of, by)});
    const std::uint32_t last = add_reader(first, conv2d(first, by));
    const std::uint32_t count = node_count();
    Ranges ranges = {{of, -1, 2}};
    ranges.insert(ranges.end(), more.begin(), more.end());
    for (tnr_value_range& range : ranges) {
      if (range.value == 77) range.value = first;
    }
    (void)quantized(last, {}, ranges);
    return dtypes_from(count);
  };
  const auto alone = [](std::uint32_t, std::uint32_t then) { return then; };
  const auto added = [&](std::uint32_t first, std::uint32_t then) {
    return node(kAdd, {first, then});
  };
  EXPECT_EQ(dtypes(alone, {{77, 0, 9}}), (std::vector<tnr_dtype>{U8, F32}));
  // One without a range, and a sum of the numbers.
  EXPECT_EQ(dtypes(alone, {}), (std::vector<tnr_dtype>{F32, F32}));
  EXPECT_EQ(dtypes(added, {{77, 0, 9}}), (std::vector<tnr_dtype>{F32, F32}));
  // Two views by different scales.
  const Floats factor({640, 70}, 0.21F, 0.17F);
  for (const float other : {5.0F, 9.0F}) {
    const std::uint32_t of = begun();
    const std::uint32_t first = conv2d(of, constant(filters.view()));
    const std::uint32_t flat[] = {node(TNR_NODE_RESHAPE, {first}, {2, 640}),
                                  node(TNR_NODE_RESHAPE, {first}, {2, 640})};
    const std::uint32_t by = constant(factor.view());
    const std::uint32_t last = node(kAdd, {matmul(flat[0], by), matmul(flat[1], by)});
    const std::uint32_t count = node_count();
    (void)quantized(last, {}, {{of, -1, 2}, {flat[0], -9, 9}, {flat[1], -9, other}});
    EXPECT_EQ(dtypes_from(count)[0], other == 9 ? U8 : F32);
  }
}

TEST_F(QuantizedFlowTest, BatchNormsBecomePartsOfFilters) {
  const Floats mean({32}, 0.3F, 0.21F);
  const Floats var({32}, 0.5F, 0.04F);
  const Floats scale({32}, 0.9F, -0.23F);
  const Floats shift({32}, -0.2F, 0.11F);
  const Floats given_bias({32}, 0.4F, -0.17F);
  tnr_batch_norm_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.eps = 0.25;
  // The folded constants by their definition, in f64.
  Floats folded = filters;
  Floats of_bias({32});
  for (std::size_t filter = 0; filter < 32; ++filter) {
    const double factor =
        double{scale.values[filter]} / std::sqrt(double{var.values[filter]} + 0.25);
    for (std::size_t k = 0; k < 288; ++k) {
      float& weight = folded.values[filter * 288 + k];
      weight = static_cast<float>(weight * factor);
    }
    of_bias.values[filter] = static_cast<float>(
        given_bias.values[filter] * factor + shift.values[filter] - mean.values[filter] * factor);
  }
  const std::uint32_t of = begun();
  const std::uint32_t convolved = conv2d(of, constant(filters.view()), constant(given_bias.view()));
  const std::uint32_t normed = node(TNR_NODE_BATCH_NORM,
                                    {convolved, constant(mean.view()), constant(var.view()),
                                     constant(scale.view()), constant(shift.view())},
                                    {}, &attributes);
  const std::uint32_t count = node_count();
  output(quantized(node(kRelu, {normed}), {}, {{of, -1, 2}}));
  EXPECT_EQ(codes_from(count + 1), (Values{TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_CONV2D}));
  const std::vector<float> result_of = result(images, {2, 32, 5, 4});
  const std::vector<float> expected =
      plain_convolution(images, PlainScale::of(-1, 2), folded, of_bias.values.data(), true);
  ASSERT_EQ(result_of.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    // The bias is rounded from f64 in another order.
    EXPECT_NEAR(result_of[i], expected[i], 1e-6F * (1 + std::abs(expected[i])));
  }
  EXPECT_TRUE(std::ranges::any_of(expected, [](float number) { return number > 1; }));
}

TEST_F(QuantizedFlowTest, NumbersOfChannelsBecomePartsOfConstants) {
  const Floats scale({32, 1, 1}, 0.9F, -0.23F);
  const Floats shift({1, 32, 1, 1}, -0.2F, 0.11F);
  Floats folded = filters;
  for (std::size_t i = 0; i < folded.values.size(); ++i) {
    folded.values[i] = static_cast<float>(double{folded.values[i]} * double{scale.values[i / 288]});
  }
  const std::uint32_t of = begun();
  const std::uint32_t convolved = conv2d(of, constant(filters.view()));
  // The operands on both sides.
  const std::uint32_t scaled = node(kMul, {constant(scale.view()), convolved});
  const std::uint32_t moved = node(kAdd, {scaled, constant(shift.view())});
  const std::uint32_t count = node_count();
  output(quantized(moved, {}, {{of, -1, 2}}));
  EXPECT_EQ(codes_from(count), (Values{TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_CONV2D}));
  EXPECT_EQ(result(images, {2, 32, 5, 4}),
            plain_convolution(images, PlainScale::of(-1, 2), folded, shift.values.data(), false));

  // A number of each pixel, one of each column of a product, and one that something else reads.
  const Floats pixels({5, 4}, 0.9F, -0.23F);
  const std::uint32_t images_in = begun();
  const std::uint32_t by_pixel =
      node(kMul, {conv2d(images_in, constant(filters.view())), constant(pixels.view())});
  std::uint32_t before = node_count();
  (void)quantized(by_pixel);
  EXPECT_EQ(codes_from(before), (Values{TNR_NODE_QUANTIZED_CONV2D, kMul}));
  const Floats columns({tenure::test::kColumns}, 0.3F, 0.07F);
  const std::uint32_t rows = input({5, tenure::test::kDepth});
  const std::uint32_t product = matmul(rows, constant(weights.view()));
  const std::uint32_t both = node(kMul, {product, constant(columns.view())});
  before = node_count();
  (void)quantized(both);
  EXPECT_EQ(codes_from(before), Values{TNR_NODE_QUANTIZED_MATMUL});
  before = node_count();
  (void)quantized(node(kAdd, {both, product}));
  EXPECT_EQ(codes_from(before + 1), (Values{TNR_NODE_QUANTIZED_MATMUL, kMul, kAdd}));
}

TEST_F(QuantizedFlowTest, NoNumbersOfChannelsAreFoldedThatAreNotFinite) {
  const Floats mean({32}, 0.3F, 0.21F);
  Floats var({32}, 0.5F, 0.13F);
  var.values[3] = -1;
  const std::uint32_t of = begun();
  const std::uint32_t normed =
      node(TNR_NODE_BATCH_NORM,
           {conv2d(of, constant(filters.view())), constant(mean.view()), constant(var.view())});
  const std::uint32_t count = node_count();
  (void)quantized(normed);
  EXPECT_EQ(codes_from(count), (Values{TNR_NODE_QUANTIZED_CONV2D, TNR_NODE_BATCH_NORM}));
}

TEST_F(QuantizedFlowTest, KeptNodesKeepTheirNumbers) {
  const std::uint32_t of = begun();
  const std::uint32_t by = constant(filters.view());
  const std::uint32_t first = conv2d(of, by);
  const std::uint32_t relu = node(kRelu, {first});
  const std::uint32_t last = conv2d(relu, by);
  const std::uint32_t count = node_count();
  output(quantized(last, {first}, {{of, -1, 2}, {relu, 0, 9}}));
  // The first convolution is shared, and its activation stands behind it.
  EXPECT_EQ(codes_from(count), (Values{TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_CONV2D}));
  const std::uint32_t all = node_count();
  output(quantized(last, {last}, {{of, -1, 2}}));
  EXPECT_EQ(codes_from(all),
            (Values{TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_CONV2D, TNR_NODE_CONV2D}));
}

}  // namespace
