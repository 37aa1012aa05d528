// Graphs whose left operands have ranges, and lists of what can be quantized.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "quantized_graph.hpp"

using tenure::test::F32;
using tenure::test::Floats;
using tenure::test::kColumns;
using tenure::test::kDepth;
using tenure::test::kRelu;
using tenure::test::plain_convolution;
using tenure::test::PlainScale;
using tenure::test::PlainWeights;
using tenure::test::Ranges;
using tenure::test::Shape;
using tenure::test::U8;
using tenure::test::Values;

namespace {

class StaticQuantizationTest : public tenure::test::QuantizationTest {
 protected:
  // Lists with room for this many.
  std::vector<tnr_quantizable> listed(const Values& of, const Values& keep, std::uint32_t room,
                                      std::uint32_t expected_count) {
    const tnr_graph_quantize_attributes attributes = attributes_of(keep, {});
    std::vector<tnr_quantizable> found(room, tnr_quantizable{77, 77, 77, 77});
    std::uint32_t count = 77;
    EXPECT_EQ(tnr_graph_quantizable(graph, of.data(), static_cast<std::uint32_t>(of.size()),
                                    &attributes, room, found.data(), &count),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(count, expected_count);
    return found;
  }
  // The list is refused, and leaves everything as it is.
  void expect_no_list(const Values& of, const Values& keep, const Ranges& ranges,
                      const std::string& message) {
    const tnr_graph_quantize_attributes attributes = attributes_of(keep, ranges);
    tnr_quantizable found = {77, 77, 77, 77};
    std::uint32_t count = 77;
    EXPECT_EQ(tnr_graph_quantizable(graph, of.data(), static_cast<std::uint32_t>(of.size()),
                                    &attributes, 1, &found, &count),
              TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tnr_last_error()->message).find(message), std::string::npos)
        << tnr_last_error()->message;
    EXPECT_EQ(count, 77u);
    EXPECT_EQ(found.result, 77u);
  }
  static void expect_entry(const tnr_quantizable& entry, std::uint32_t result,
                           std::uint32_t operand, std::uint32_t code) {
    EXPECT_EQ(entry.result, result);
    EXPECT_EQ(entry.operand, operand);
    EXPECT_EQ(entry.code, code);
    EXPECT_EQ(entry.reserved, 0u);
  }

  // The products of the rows of `x` by the plain definition.
  [[nodiscard]] std::vector<float> plain_product(const PlainScale& by, const Floats& of) const {
    std::vector<float> result;
    for (std::int64_t row = 0; row < of.shape[0]; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        std::vector<float> numbers;
        for (std::size_t k = 0; k < kDepth; ++k) {
          numbers.push_back(weights.values[k * kColumns + column]);
        }
        const PlainWeights integers(numbers);
        std::int64_t sum = 0;
        for (std::size_t k = 0; k < kDepth; ++k) {
          const float number = of.values[static_cast<std::size_t>(row * kDepth) + k];
          sum += (by.u8(number) - by.zero) * std::int64_t{integers.values[k]};
        }
        result.push_back(static_cast<float>(sum) * (by.scale * integers.scale));
      }
    }
    return result;
  }

  Floats filters{{32, 16, 3, 3}, -0.7F, 0.31F};
  Floats images{{2, 16, 5, 4}, -0.9F, 0.37F};
};

TEST_F(StaticQuantizationTest, TheListIsInTheOrderOfTheGraph) {
  const std::uint32_t pixels = input({2, 16, 5, 5});
  const std::uint32_t filtered = node(TNR_NODE_CONV2D, {pixels, constant(filters.view())});
  const std::uint32_t rows = input({5, kDepth});
  const std::uint32_t product = matmul(rows, constant(weights.view()));
  const std::uint32_t other = matmul(node(kRelu, {rows}), constant(weights.view()));
  const std::vector<tnr_quantizable> all = listed({product, filtered}, {}, 3, 2);
  expect_entry(all[0], filtered, pixels, TNR_NODE_CONV2D);
  expect_entry(all[1], product, rows, TNR_NODE_MATMUL);
  EXPECT_EQ(all[2].result, 77u);
  // One that is cut, one that is queried, and one without those that are kept.
  expect_entry(listed({product, filtered}, {}, 1, 2)[0], filtered, pixels, TNR_NODE_CONV2D);
  (void)listed({product, filtered, other}, {}, 0, 3);
  expect_entry(listed({product, filtered}, {filtered}, 1, 1)[0], product, rows, TNR_NODE_MATMUL);
  (void)listed({filtered}, {filtered}, 1, 0);
  (void)listed({}, {}, 1, 0);
}

TEST_F(StaticQuantizationTest, ListsAreRefusedAsQuantizationIs) {
  const std::uint32_t of = input({5, kDepth});
  const std::uint32_t product = matmul(of, constant(weights.view()));
  expect_no_list({9}, {}, {}, "of[0] is 9 but the graph has 3 values");
  expect_no_list({of}, {product}, {}, "keep[0] is value 2, which no value of `of` depends on");
  expect_no_list({product}, {}, {{of, 1, 0}}, "ranges[0], of value 0, is 1 to 0");
  std::uint32_t count = 77;
  // A number that compilers do not know: they refuse to pass it with NULL.
  const volatile std::uint32_t one = 1;
  EXPECT_EQ(tnr_graph_quantizable(graph, nullptr, one, nullptr, 0, nullptr, &count),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message, "of is NULL");
  EXPECT_EQ(tnr_graph_quantizable(graph, &product, 1, nullptr, 1, nullptr, &count),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message, "found is NULL");
  EXPECT_EQ(tnr_graph_quantizable(graph, &product, 1, nullptr, 0, nullptr, nullptr),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message, "found_count is NULL");
  EXPECT_EQ(tnr_graph_quantizable(nullptr, &product, 1, nullptr, 0, nullptr, &count),
            TNR_STATUS_STALE_HANDLE);
  EXPECT_EQ(count, 77u);
}

TEST_F(StaticQuantizationTest, RangesAreFiniteAndOfLeftOperands) {
  const std::uint32_t of = input({5, kDepth});
  const std::uint32_t product = matmul(of, constant(weights.view()));
  const float infinity = std::numeric_limits<float>::infinity();
  for (const tnr_value_range& range : {tnr_value_range{of, NAN, 1},
                                       {of, 0, NAN},
                                       {of, -infinity, 0},
                                       {of, 0, infinity},
                                       {of, 0.5F, 0.25F}}) {
    expect_refused({product}, {}, "ranges[0], of value 0, is ", {range});
    EXPECT_NE(std::string(tnr_last_error()->message).find("but must have finite ends"),
              std::string::npos);
  }
  expect_refused({product}, {}, "ranges[1] is of value 0, which another range is of",
                 {{of, 0, 1}, {of, 0, 1}});
  for (const std::uint32_t other : {product, std::uint32_t{1}, std::uint32_t{99}}) {
    expect_refused({product}, {},
                   "ranges[0] is of value " + std::to_string(other) +
                       ", which is not the left operand of a product or a convolution that can be "
                       "quantized",
                   {{other, 0, 1}});
  }
  // One of a node that is kept does no harm.
  const std::uint32_t second = matmul(node(kRelu, {of}), constant(weights.view()));
  EXPECT_NE(quantized(node(tenure::test::kAdd, {product, second}), {product}, {{of, 0, 1}}),
            product);
}

TEST_F(StaticQuantizationTest, RowsAreQuantizedByTheirRange) {
  // One that needs 0 added on either side, one around it, one of zeros, and one that is exceeded.
  for (const auto& [low, high] : std::vector<std::pair<float, float>>{
           {0.25F, 2}, {-2, -0.5F}, {-1.5F, 2}, {0, 0}, {-0.125F, 0.5F}}) {
    const std::uint32_t of = input({5, kDepth});
    const std::uint32_t product = matmul(of, constant(weights.view()));
    const std::uint32_t count = node_count();
    output(quantized(product, {}, {{of, low, high}}));
    EXPECT_EQ(codes_from(count), (Values{TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_MATMUL}));
    const std::vector<float> expected = plain_product(PlainScale::of(low, high), x);
    for (const std::uint32_t enabled : {0, TNR_PASS_PACKING}) {
      EXPECT_EQ(result(x, {5, kColumns}, 0, enabled), expected) << low << " to " << high;
    }
    EXPECT_EQ(tnr_graph_release(std::exchange(graph, tnr_graph_create())), TNR_STATUS_OK);
  }
}

TEST_F(StaticQuantizationTest, RowsMayBeAnyNumberOfThem) {
  std::int64_t rows = 0;
  ASSERT_EQ(tnr_graph_add_extent(graph, "rows", 9, &rows), TNR_STATUS_OK);
  const std::uint32_t of = input({rows, kDepth});
  output(quantized(matmul(of, constant(weights.view())), {}, {{of, -1, 2}}));
  for (const std::int64_t count : {1, 3, 9}) {
    const Floats given({count, kDepth}, 0.11F, 0.37F);
    EXPECT_EQ(result(given, {count, kColumns}), plain_product(PlainScale::of(-1, 2), given));
  }
}

TEST_F(StaticQuantizationTest, ConvolutionsTakeOneScale) {
  const Floats of_bias({32}, 0.4F, -0.17F);
  const auto convolution = [&] {
    const std::uint32_t of = input({2, 16, 5, 4});
    return std::pair(of,
                     node(kRelu, {conv2d(of, constant(filters.view()), constant(of_bias.view()))}));
  };
  const auto [of, relu] = convolution();
  const std::uint32_t count = node_count();
  output(quantized(relu, {}, {{of, -0.75F, 2}}));
  EXPECT_EQ(codes_from(count), (Values{TNR_NODE_QUANTIZE, TNR_NODE_QUANTIZED_CONV2D}));
  const std::vector<float> expected =
      plain_convolution(images, PlainScale::of(-0.75F, 2), filters, of_bias.values.data(), true);
  for (const std::uint32_t disabled : {0, TNR_PASS_LAYOUT}) {
    for (const std::uint32_t enabled : {0, TNR_PASS_PACKING}) {
      EXPECT_EQ(result(images, {2, 32, 5, 4}, disabled, enabled), expected) << disabled;
    }
  }
  // Without a range the images of a run decide.
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, tnr_graph_create())), TNR_STATUS_OK);
  const std::uint32_t second = convolution().second;
  const std::uint32_t more = node_count();
  output(quantized(second));
  EXPECT_EQ(codes_from(more), Values{TNR_NODE_QUANTIZED_CONV2D});
  const auto [low, high] = std::ranges::minmax(images.values);
  const std::vector<float> dynamic =
      plain_convolution(images, PlainScale::of(low, high), filters, of_bias.values.data(), true);
  EXPECT_NE(dynamic, expected);
  EXPECT_EQ(result(images, {2, 32, 5, 4}), dynamic);
  EXPECT_EQ(result(images, {2, 32, 5, 4}, 0, TNR_PASS_PACKING), dynamic);
}

TEST_F(StaticQuantizationTest, ConvolutionsThatSaveNothingStay) {
  const auto refuses = [&](const Shape& shape, std::int64_t groups) {
    const std::uint32_t of = input({1, shape[1] * groups, 12, 12});
    const Floats given(shape, 0.1F, 0.01F);
    tnr_conv2d_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.groups = groups;
    const std::uint32_t made = node(TNR_NODE_CONV2D, {of, constant(given.view())}, {}, &attributes);
    Values ignored;
    return add_quantized({made}, {}, ignored) != TNR_STATUS_OK;
  };
  EXPECT_TRUE(refuses({32, 127, 1, 1}, 1));
  EXPECT_FALSE(refuses({32, 128, 1, 1}, 1));
  EXPECT_TRUE(refuses({31, 16, 3, 3}, 1));
  EXPECT_TRUE(refuses({62, 16, 3, 3}, 2));
  EXPECT_FALSE(refuses({64, 16, 3, 3}, 2));
  EXPECT_TRUE(refuses({128, 1, 12, 12}, 4));
  EXPECT_TRUE(refuses({32, 33026, 1, 1}, 1));
  EXPECT_FALSE(refuses({32, 33025, 1, 1}, 1));
}

TEST_F(StaticQuantizationTest, OneOperandIsQuantizedOnce) {
  const std::uint32_t of = node(kRelu, {input({5, kDepth})});
  const std::uint32_t factor = constant(weights.view());
  const Floats other({kDepth, kColumns}, 0.3F, 0.13F);
  const std::uint32_t sum =
      node(tenure::test::kAdd,
           {node(tenure::test::kAdd, {matmul(of, factor), matmul(of, constant(other.view()))}),
            matmul(of, factor)});
  const std::uint32_t count = node_count();
  output(quantized(sum, {}, {{of, 0, 2}}));
  Values codes = codes_from(count);
  EXPECT_EQ(std::ranges::count(codes, std::uint32_t{TNR_NODE_QUANTIZE}), 1);
  EXPECT_EQ(std::ranges::count(codes, std::uint32_t{TNR_NODE_QUANTIZED_MATMUL}), 3);
}

TEST_F(StaticQuantizationTest, ContextsAndBoundProgramsGiveTheSameBits) {
  const std::uint32_t of = input({2, 16, 5, 4});
  output(quantized(conv2d(of, constant(filters.view())), {}, {{of, -0.75F, 2}}));
  const std::vector<float> expected =
      plain_convolution(images, PlainScale::of(-0.75F, 2), filters, nullptr, false);
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = 2;
  tnr_context* const context = tnr_context_create(&options);
  ASSERT_NE(context, nullptr) << tnr_last_error()->message;
  const tnr_program* const made = program(0, TNR_PASS_PACKING);
  const tnr_view given = images.view();
  const tnr_view* const inputs[] = {&given};
  for (const std::uint32_t flags : {0u, std::uint32_t{TNR_BOUND_PREALLOCATED}}) {
    Floats out({2, 32, 5, 4}, 77, 0);
    const tnr_view_mut to = out.out();
    const tnr_view_mut* const outputs[] = {&to};
    const tnr_bound_attributes attributes = {sizeof attributes, 0, flags, 0};
    tnr_bound* const bound = tnr_bound_create(context, made, inputs, 1, &attributes, outputs, 1);
    ASSERT_NE(bound, nullptr) << tnr_last_error()->message;
    EXPECT_EQ(tnr_bound_run(context, bound, inputs, 1, nullptr, outputs, 1), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(out.values, expected) << flags;
    EXPECT_EQ(tnr_bound_release(bound), TNR_STATUS_OK);
  }
  EXPECT_EQ(tnr_context_release(context), TNR_STATUS_OK);
}

TEST_F(StaticQuantizationTest, NodesOfConvolutionsNameWhatDoesNotFit) {
  enum : std::uint8_t { kA, kWeight, kAScale, kScales, kAZero, kZeros, kBias, kOutScale, kOutZero };
  constexpr std::uint32_t kNone = TNR_OPERAND_NONE;
  const std::uint32_t bytes = input({1, 8, 5, 4}, U8);
  const std::uint32_t numbers = input({1, 8, 5, 4});
  const std::uint32_t by = input({6, 8, 3, 3}, tenure::test::I8);
  const std::uint32_t one = input({1});
  const std::uint32_t zero = input({1}, U8);
  const std::uint32_t many = input({6, 1, 1, 1});
  const std::uint32_t more = input({7, 1, 1, 1});
  const std::uint32_t halves = input({1, 8, 5, 4}, TNR_DTYPE_I32);
  const std::uint32_t deep = input({1, 33026, 1, 1}, tenure::test::I8);
  const std::uint32_t deep_images = input({1, 33026, 1, 1}, U8);
  const Values fits = {bytes, by, one, many, zero, kNone, kNone, one, zero};
  std::uint32_t made = kNone;
  ASSERT_EQ(add(TNR_NODE_QUANTIZED_CONV2D, fits, {}, nullptr, 0, &made, U8), TNR_STATUS_OK)
      << tnr_last_error()->message;
  struct Wrong {
    std::vector<std::pair<unsigned, std::uint32_t>> changed;
    tnr_dtype dtype;
    const char* message;
  };
  const std::vector<Wrong> all = {
      {{{kAScale, kNone}}, U8, "a.dtype is u8"},
      {{{kA, numbers}}, U8, "a.dtype is f32"},
      {{{kA, numbers}, {kAScale, kNone}}, U8, "a_zero is given but a_scale is not"},
      {{{kA, halves}}, U8, "a.dtype is i32"},
      {{{kWeight, numbers}}, U8, "weight.dtype is f32"},
      {{{kA, zero}}, U8, "a.rank is 1 but must be 4"},
      {{{kScales, more}}, U8, "scales has shape [7, 1, 1, 1] but must broadcast to [6, 1, 1, 1]"},
      {{{kScales, kNone}}, U8, "scales is not given but must be an array"},
      {{{kScales, zero}}, U8, "scales.dtype is u8 but must be f32"},
      {{{kAScale, many}}, U8, "a_zero has shape [1] but its scales have [6, 1, 1, 1]"},
      {{{kAScale, many}, {kAZero, kNone}},
       U8,
       "a_scale has shape [6, 1, 1, 1] but must broadcast to"},
      {{{kAZero, one}}, U8, "a_zero.dtype is f32 but must be u8"},
      {{{kZeros, zero}}, U8, "zeros.dtype is u8 but must be i8"},
      {{{kBias, many}}, U8, "bias has shape [6, 1, 1, 1] but must have one extent of 6"},
      {{{kOutScale, kNone}}, U8, "node.dtype is u8 but out_scale is not given"},
      {{{kOutScale, kNone}}, F32, "out_zero is given but out_scale is not"},
      {{}, F32, "node.dtype is f32 but out_scale is given"},
      {{{kOutScale, kNone}, {kOutZero, kNone}}, TNR_DTYPE_I32, "node.dtype is i32"},
      {{{kA, deep_images}, {kWeight, deep}, {kScales, one}},
       U8,
       "weight has filters of 33026 elements but they must have 33025 at most"},
  };
  for (const Wrong& wrong : all) {
    Values operands = fits;
    for (const auto& [at, value] : wrong.changed) operands[at] = value;
    EXPECT_NE(add(TNR_NODE_QUANTIZED_CONV2D, operands, {}, nullptr, 0, &made, wrong.dtype),
              TNR_STATUS_OK)
        << wrong.message;
    EXPECT_NE(std::string(tnr_last_error()->message).find(wrong.message), std::string::npos)
        << tnr_last_error()->message << "\nnot: " << wrong.message;
  }
}

TEST_F(StaticQuantizationTest, AWrongScaleOfAConvolutionIsRefusedInARun) {
  const std::uint32_t of = input({2, 8, 5, 4}, U8);
  const std::uint32_t scale = input({1});
  std::vector<signed char> integers(static_cast<std::size_t>(6 * 8 * 9), 1);
  const Floats scales({6, 1, 1, 1}, 0.5F, 0);
  std::uint32_t made = TNR_OPERAND_NONE;
  ASSERT_EQ(
      add(TNR_NODE_QUANTIZED_CONV2D,
          {of, constant(tenure::test::view_over(integers.data(), {6, 8, 3, 3}, tenure::test::I8)),
           scale, constant(scales.view())},
          {}, nullptr, 0, &made, F32),
      TNR_STATUS_OK)
      << tnr_last_error()->message;
  output(made);
  const tnr_program* const program_of = program(0, TNR_PASS_PACKING);
  const std::vector<unsigned char> bytes(static_cast<std::size_t>(2 * 8 * 20), 3);
  const tnr_view of_bytes = tenure::test::view_over(bytes.data(), {2, 8, 5, 4}, U8);
  Floats out({2, 6, 3, 2}, 77, 0);
  Floats given({1}, 0.25F, 0);
  EXPECT_EQ(run(program_of, {of_bytes, given.view()}, {out.out()}), TNR_STATUS_OK);
  EXPECT_EQ(out.values, std::vector<float>(72, 8 * 9 * 3 * 0.125F));
  for (const float wrong : {0.0F, -1.0F, INFINITY, NAN}) {
    given.values[0] = wrong;
    EXPECT_EQ(run(program_of, {of_bytes, given.view()}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_NE(std::string(tnr_last_error()->message).find("every scale must be finite and above 0"),
              std::string::npos)
        << tnr_last_error()->message;
  }
}

}  // namespace
