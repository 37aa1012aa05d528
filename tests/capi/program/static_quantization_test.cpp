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

  Floats filters{{6, 8, 3, 3}, -0.7F, 0.31F};
};

TEST_F(StaticQuantizationTest, TheListIsInTheOrderOfTheGraph) {
  const std::uint32_t images = input({2, 8, 5, 5});
  const std::uint32_t filtered = node(TNR_NODE_CONV2D, {images, constant(filters.view())});
  const std::uint32_t rows = input({5, kDepth});
  const std::uint32_t product = matmul(rows, constant(weights.view()));
  const std::uint32_t other = matmul(node(kRelu, {rows}), constant(weights.view()));
  const std::vector<tnr_quantizable> all = listed({product, filtered}, {}, 3, 2);
  expect_entry(all[0], filtered, images, TNR_NODE_CONV2D);
  expect_entry(all[1], product, rows, TNR_NODE_MATMUL);
  EXPECT_EQ(all[2].result, 77u);
  // One that is cut, one that is queried, and one without those that are kept.
  expect_entry(listed({product, filtered}, {}, 1, 2)[0], filtered, images, TNR_NODE_CONV2D);
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

}  // namespace
