// Nodes with data-dependent shapes: the results that depend on the count, with every set of
// passes, and the refused uses of such an extent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "expect_status.hpp"
#include "found_graph.hpp"
#include "program_graph.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;
using tenure::test::Floats;
using tenure::test::kUntouched;
using tenure::test::rebuilt;
using tenure::test::Shape;
using tenure::test::untouched;
using tenure::test::view_over;

namespace {

constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
constexpr std::uint32_t kSum = TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM;
constexpr std::uint32_t kMax = TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX;
constexpr std::uint32_t kAllPasses = 0xff;

using CFound = tenure::test::FoundGraph;

TEST_F(CFound, ElementsAreSelectedAndComputedOn) {
  const std::int64_t n = extent("n", 100);
  const std::int64_t hits = extent("hits", 40);
  const std::uint32_t x = input({n});
  const std::uint32_t some = selected(x, hits);
  const std::uint32_t twice = node(kMul, {some, scalar(2)});
  output(node(kAdd, {twice, node(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, {some})}));
  output(node(kSum, {twice}, {}, nullptr, 1));
  output(some);
  for (const std::uint32_t disabled :
       {0u, kAllPasses, std::uint32_t{TNR_PASS_FUSION}, std::uint32_t{TNR_PASS_IN_PLACE}}) {
    const tnr_program* const made = program(disabled);
    // More, fewer, none and again more of them, in the memory of one workspace.
    for (const float first : {-1.5f, 1.0f, -9.0f, -0.5f}) {
      Floats a({12}, first, 0.25f);
      std::vector<float> expected;
      for (const float value : a.values) {
        if (value > 0) expected.push_back(value);
      }
      Floats out = untouched({12});
      Floats same = untouched({12});
      Floats sum = untouched({});
      std::int64_t shapes[3 * TNR_MAX_RANK];
      std::ranges::fill(shapes, 99);
      ASSERT_EQ(run(made, {a.view()}, {out.out(), sum.out(), same.out()}, 0, 0, shapes),
                TNR_STATUS_OK)
          << tnr_last_error()->message;
      const auto count = static_cast<std::int64_t>(expected.size());
      EXPECT_EQ(shapes[0], count);
      EXPECT_EQ(shapes[1], 0);
      EXPECT_EQ(shapes[8], 0);
      EXPECT_EQ(shapes[16], count);
      float total = 0;
      for (std::size_t i = 0; i < 12; ++i) {
        const bool is_found = i < expected.size();
        EXPECT_EQ(out.values[i], is_found ? expected[i] : kUntouched);
        EXPECT_EQ(same.values[i], is_found ? expected[i] : kUntouched);
        if (is_found) total += 2 * expected[i];
      }
      EXPECT_EQ(sum.values[0], total);
    }
  }
}

TEST_F(CFound, RowsAreTakenByTheirPlacesAndMultiplied) {
  const std::int64_t n = extent("n", 9);
  const std::int64_t hits = extent("hits", 9);
  const std::uint32_t x = input({n, 3});
  const std::uint32_t keeps = input({n}, TNR_DTYPE_BOOL8);
  const Floats w({3, 2}, 0.5f, 0.25f);
  const std::uint32_t places = node(TNR_NODE_NONZERO, {keeps}, {hits});
  const std::uint32_t rows =
      node(TNR_NODE_TAKE, {x, node(TNR_NODE_RESHAPE, {places}, {hits})}, {0});
  const std::uint32_t product = node(TNR_NODE_MATMUL, {rows, constant(w.view())});
  output(places);
  output(product);
  output(node(TNR_NODE_PERMUTE, {product}, {1, 0}));
  // Elements that a reshape moves, and another that a slice has parted.
  const std::int64_t twice = combined(TNR_EXTENT_OP_MUL, hits, 2);
  output(node(TNR_NODE_RESHAPE, {node(TNR_NODE_PERMUTE, {product}, {1, 0})}, {twice}));
  output(node(TNR_NODE_RESHAPE, {node(TNR_NODE_SLICE, {rows}, {1, 0, 2, 1})}, {twice}));
  const Floats a({5, 3}, -1.75f, 0.5f);
  for (const std::uint32_t disabled : {0u, kAllPasses, std::uint32_t{TNR_PASS_MEMORY}}) {
    const tnr_program* const made = program(disabled, TNR_PASS_PACKING);
    for (const std::vector<std::uint8_t>& mask :
         {std::vector<std::uint8_t>{0, 1, 0, 1, 1}, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 0}}) {
      std::vector<std::size_t> kept;
      for (std::size_t i = 0; i < mask.size(); ++i) {
        if (mask[i] != 0) kept.push_back(i);
      }
      std::int64_t found[5] = {-7, -7, -7, -7, -7};
      Floats rows_out = untouched({5, 2});
      Floats columns = untouched({2, 5});
      Floats moved = untouched({10});
      Floats parted = untouched({10});
      // The caller's rows of the first one are far apart.
      Floats memory = untouched({5, 4});
      tnr_view_mut far = {memory.view()};
      far.view.shape[1] = 2;
      std::int64_t shapes[5 * TNR_MAX_RANK] = {};
      ASSERT_EQ(run(made, {a.view(), view_over(mask.data(), {5}, TNR_DTYPE_BOOL8)},
                    {{view_over(found, {5, 1}, TNR_DTYPE_I64)},
                     far,
                     columns.out(),
                     moved.out(),
                     parted.out()},
                    0, 0, shapes),
                TNR_STATUS_OK)
          << tnr_last_error()->message;
      const std::size_t count = kept.size();
      EXPECT_EQ(shapes[0], static_cast<std::int64_t>(count));
      EXPECT_EQ(shapes[1], 1);
      EXPECT_EQ(shapes[17], static_cast<std::int64_t>(count));
      EXPECT_EQ(shapes[24], static_cast<std::int64_t>(2 * count));
      for (std::size_t i = 0; i < 5; ++i) {
        const bool is_found = i < count;
        EXPECT_EQ(found[i], is_found ? static_cast<std::int64_t>(kept[i]) : -7);
        for (std::size_t j = 0; j < 2; ++j) {
          float expected = kUntouched;
          if (is_found) {
            expected = 0;
            for (std::size_t k = 0; k < 3; ++k) {
              expected += a.values[kept[i] * 3 + k] * w.values[k * 2 + j];
            }
            EXPECT_EQ(moved.values[j * count + i], expected);
            EXPECT_EQ(parted.values[i * 2 + j], a.values[kept[i] * 3 + j]);
          }
          EXPECT_EQ(memory.values[i * 4 + j], expected);
          EXPECT_EQ(memory.values[i * 4 + 2 + j], kUntouched);
          EXPECT_EQ(columns.values[j * 5 + i], expected);
        }
      }
      for (std::size_t i = 2 * count; i < 10; ++i) EXPECT_EQ(moved.values[i], kUntouched);
    }
  }
}

TEST_F(CFound, PlacesHaveAColumnForEachAxis) {
  const std::int64_t hits = extent("hits", 100);
  const std::uint32_t x = input({2, 3});
  const std::uint32_t one = input({});
  output(node(TNR_NODE_NONZERO, {x}, {hits}));
  output(node(TNR_NODE_NONZERO, {one}, {extent("ones", 1)}));
  const float a[] = {0, 5, 0, -1, 0, 2};
  const float b = 4;
  std::int64_t out[12];
  std::fill_n(out, 12, -7);
  std::int64_t shapes[2 * TNR_MAX_RANK];
  const tnr_program* const made = program();
  // Memory for no more than there are elements.
  ASSERT_EQ(run(made, {view_over(a, {2, 3}), view_over(&b, {})},
                {{view_over(out, {6, 2}, TNR_DTYPE_I64)}, {view_over(out, {1, 0}, TNR_DTYPE_I64)}},
                0, 0, shapes),
            TNR_STATUS_OK)
      << tnr_last_error()->message;
  EXPECT_EQ(std::vector(out, out + 8), (std::vector<std::int64_t>{0, 1, 1, 0, 1, 2, -7, -7}));
  EXPECT_EQ(std::vector(shapes, shapes + 3), (std::vector<std::int64_t>{3, 2, 0}));
  EXPECT_EQ(std::vector(shapes + 8, shapes + 11), (std::vector<std::int64_t>{1, 0, 0}));
}

TEST_F(CFound, MoreThanTheBoundIsRefusedByItsNode) {
  const std::int64_t hits = extent("hits", 2);
  const std::uint32_t x = input({5});
  output(node(kMul, {selected(x, hits), scalar(2)}));
  const tnr_program* const made = program();
  Floats out = untouched({2});
  const float two[] = {1, -1, 2, -2, -3};
  const float three[] = {1, -1, 2, -2, 3};
  std::int64_t shape[TNR_MAX_RANK] = {};
  EXPECT_EQ(run(made, {view_over(two, {5})}, {out.out()}, 0, 0, shape), TNR_STATUS_OK);
  EXPECT_EQ(shape[0], 2);
  expect_refused(run(made, {view_over(three, {5})}, {out.out()}, 0, 0, shape),
                 TNR_STATUS_INVALID_ARGUMENT,
                 {"nodes[1], masked_select: 3 are found but hits is at most 2"});
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(run(made, {view_over(two, {5})}, {out.out()}), TNR_STATUS_OK);
  EXPECT_EQ(out.values[1], 4);
  Floats large({5});
  expect_refused(run(made, {view_over(two, {5})}, {large.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"outputs[0]", "[5]", "[2]"});
}

TEST_F(CFound, MemoryIsThatOfTheBound) {
  const std::int64_t n = extent("n", 1 << 20);
  const std::int64_t hits = extent("hits", 1000);
  const std::uint32_t x = input({n});
  const std::uint32_t some = node(TNR_NODE_SCAN + TNR_SCAN_OP_MAX, {selected(x, hits)}, {0});
  output(node(kSum, {some}, {}, nullptr, 1));
  const tnr_program* const made = program();
  const Floats few({10}, 1, 0.125f);
  const Floats many({5000}, -2, 0.001f);
  // The mask and the selected elements. The maxima are stored in the memory of the latter.
  EXPECT_EQ(memory(made, {few.view()}).live_bytes, 10u + 40u);
  EXPECT_EQ(memory(made, {many.view()}).live_bytes, 5000u + 4000u);
  Floats sum({});
  const std::uint64_t peak = memory(made, {few.view()}).peak_bytes;
  EXPECT_EQ(run(made, {few.view()}, {sum.out()}, peak), TNR_STATUS_OK);
  EXPECT_EQ(run(made, {few.view()}, {sum.out()}, peak - 1), TNR_STATUS_OUT_OF_MEMORY);
}

TEST_F(CFound, CountsOfTwoNodesAreEachTheirOwn) {
  const std::int64_t first = extent("first", 6);
  const std::int64_t second = extent("second", 6);
  const std::uint32_t x = input({6});
  const std::uint32_t y = input({6});
  const std::uint32_t a = node(TNR_NODE_UNARY + TNR_UNARY_OP_ABS, {selected(x, first)});
  const std::uint32_t b = node(TNR_NODE_UNARY + TNR_UNARY_OP_ABS, {selected(y, second)});
  output(node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {node(kAdd, {a, b})}, {0}));
  const float one[] = {-1, -1, 7, -1, -1, -1};
  const float three[] = {1, -1, 2, -2, 3, -1};
  const float again[] = {-1, 10, 20, -2, 30, -1};
  for (const std::uint32_t disabled : {0u, kAllPasses, std::uint32_t{TNR_PASS_FUSION}}) {
    const tnr_program* const made = program(disabled);
    const auto sums = [&](const float* left, const float* right) {
      Floats out = untouched({6});
      EXPECT_EQ(run(made, {view_over(left, {6}), view_over(right, {6})}, {out.out()}),
                TNR_STATUS_OK)
          << tnr_last_error()->message;
      out.values.resize(4);
      return out.values;
    };
    EXPECT_EQ(sums(three, again), (std::vector<float>{11, 33, 66, kUntouched}));
    // One is broadcast, as in a call.
    EXPECT_EQ(sums(one, again), (std::vector<float>{17, 44, 81, kUntouched}));
    EXPECT_EQ(sums(again, one), (std::vector<float>{17, 44, 81, kUntouched}));
    Floats out({6});
    const float two[] = {1, -1, 2, -2, -3, -1};
    expect_refused(run(made, {view_over(two, {6}), view_over(three, {6})}, {out.out()}),
                   TNR_STATUS_INVALID_ARGUMENT, {"nodes[6], add: ", "[2]", "[3]"});
  }
}

// In more than the caches hold of one strip, so that a result in an operand's place would be read
// again.
TEST_F(CFound, WhatIsBroadcastToAnotherCountKeepsItsMemory) {
  constexpr std::size_t kCount = 40000;
  const std::uint32_t x = input({kCount});
  const std::uint32_t y = input({kCount});
  const std::uint32_t a = selected(x, extent("first", kCount));
  const std::uint32_t b = selected(y, extent("second", kCount));
  output(node(TNR_NODE_SCAN + TNR_SCAN_OP_MAX, {node(kAdd, {a, b})}, {0}));
  const tnr_program* const made = program();
  Floats one({kCount}, -1, 0);
  one.values[77] = 5;
  const Floats all({kCount}, 1, 0);
  for (const bool is_first : {true, false}) {
    Floats out({kCount});
    const Floats& left = is_first ? one : all;
    const Floats& right = is_first ? all : one;
    ASSERT_EQ(run(made, {left.view(), right.view()}, {out.out()}), TNR_STATUS_OK);
    EXPECT_EQ(out.values, std::vector<float>(kCount, 6));
  }
}

TEST_F(CFound, ElementsAreMovedWhereFewerDoNotLieSideBySide) {
  const std::int64_t hits = extent("hits", 8);
  const std::uint32_t x = input({8});
  const std::uint32_t column = node(TNR_NODE_RESHAPE, {selected(x, hits)}, {hits, 1});
  const std::uint32_t pairs = node(TNR_NODE_CONCAT, {column, column}, {1});
  // In row-major order, although its operand is not.
  const std::uint32_t rows =
      node(TNR_NODE_UNARY + TNR_UNARY_OP_NEG, {node(TNR_NODE_PERMUTE, {pairs}, {1, 0})});
  output(node(TNR_NODE_RESHAPE, {rows}, {combined(TNR_EXTENT_OP_MUL, hits, 2)}));
  const Floats all({8}, 1, 0);
  // The mask, the elements, pairs of them, rows, and an output.
  EXPECT_EQ(memory(program(), {all.view()}).step_count, 5u);
  // All of 8, but half of 4: the parts of both rows lie apart.
  const std::int64_t part = combined(TNR_EXTENT_OP_DIV, combined(TNR_EXTENT_OP_MUL, hits, hits), 8);
  output(node(TNR_NODE_RESHAPE, {node(TNR_NODE_SLICE, {rows}, {1, 0, part, 1})},
              {combined(TNR_EXTENT_OP_MUL, part, 2)}));
  const float half[] = {1, -1, 2, -1, 3, -1, 4, -1};
  for (const std::uint32_t disabled : {0u, kAllPasses}) {
    const tnr_program* const made = program(disabled);
    Floats out = untouched({16});
    Floats parts = untouched({16});
    ASSERT_EQ(run(made, {all.view()}, {out.out(), parts.out()}), TNR_STATUS_OK);
    EXPECT_EQ(parts.values, std::vector<float>(16, -1));
    std::int64_t shapes[2 * TNR_MAX_RANK] = {};
    ASSERT_EQ(run(made, {view_over(half, {8})}, {out.out(), parts.out()}, 0, 0, shapes),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(shapes[0], 8);
    EXPECT_EQ(shapes[TNR_MAX_RANK], 4);
    EXPECT_EQ(std::vector(out.values.begin(), out.values.begin() + 8),
              (std::vector<float>{-1, -2, -3, -4, -1, -2, -3, -4}));
    EXPECT_EQ(std::vector(parts.values.begin(), parts.values.begin() + 5),
              (std::vector<float>{-1, -2, -1, -2, -1}));
  }
}

TEST_F(CFound, APartIsNoPlaceForAResult) {
  const std::int64_t hits = extent("hits", 8);
  const std::uint32_t x = input({8});
  const std::uint32_t row = node(TNR_NODE_RESHAPE, {selected(x, hits)}, {1, hits});
  const std::uint32_t rows = node(TNR_NODE_CONCAT, {row, row}, {0});
  // All of 8, but half of 4: both are parts of rows then.
  const std::int64_t part = combined(TNR_EXTENT_OP_DIV, combined(TNR_EXTENT_OP_MUL, hits, hits), 8);
  const std::uint32_t seen = node(TNR_NODE_SLICE, {rows}, {1, 0, part, 1});
  const float nine[] = {9, 9};
  const std::int64_t first = 0;
  const std::uint32_t changed = node(
      TNR_NODE_PUT,
      {seen, constant(view_over(nine, {2, 1})), constant(view_over(&first, {1}, TNR_DTYPE_I64))},
      {1});
  output(node(kSum, {changed}, {}, nullptr, 2));
  const tnr_program* const made = program();
  const float half[] = {1, -1, 2, -1, 3, -1, 4, -1};
  Floats sums({2});
  ASSERT_EQ(run(made, {view_over(half, {8})}, {sums.out()}), TNR_STATUS_OK);
  EXPECT_EQ(sums.values, (std::vector<float>{11, 11}));
}

TEST_F(CFound, OutputsOfTheCallersHaveAnyStrides) {
  const std::uint32_t x = input({4});
  output(selected(x, extent("hits", 4)));
  const float a[] = {1, -1, 2, 3};
  Floats out = untouched({8});
  tnr_view_mut apart = {out.view()};
  apart.view.shape[0] = 4;
  apart.view.strides[0] = 2;
  ASSERT_EQ(run(program(), {view_over(a, {4})}, {apart}), TNR_STATUS_OK);
  EXPECT_EQ(out.values, (std::vector<float>{1, kUntouched, 2, kUntouched, 3, kUntouched, kUntouched,
                                            kUntouched}));
}

TEST_F(CFound, ANodeIsNeededForItsCountAlone) {
  const std::int64_t hits = extent("hits", 8);
  const std::uint32_t x = input({8});
  (void)node(TNR_NODE_NONZERO, {positive(x)}, {hits});
  const std::int64_t half = combined(TNR_EXTENT_OP_DIV_UP, hits, 2);
  output(node(TNR_NODE_SLICE, {x}, {0, 0, half, 1}));
  for (const std::uint32_t disabled : {0u, std::uint32_t{TNR_PASS_DEAD_CODE}}) {
    const tnr_program* const made = program(disabled);
    const float a[] = {1, -2, 3, 4, -5, 6, 7, -8};
    Floats out = untouched({4});
    std::int64_t shape[TNR_MAX_RANK] = {};
    ASSERT_EQ(run(made, {view_over(a, {8})}, {out.out()}, 0, 0, shape), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(shape[0], 3);
    EXPECT_EQ(out.values, (std::vector<float>{1, -2, 3, kUntouched}));
  }
}

TEST_F(CFound, WhatACountLeadsToIsRefusedByTheNodeThatItLeadsTo) {
  const std::int64_t hits = extent("hits", 8);
  const std::uint32_t x = input({8});
  const std::uint32_t some = selected(x, hits);
  output(node(kMax, {some}, {}, nullptr, 1));
  const tnr_program* const largest = program();
  Floats out({});
  const Floats none({8}, -1, 0);
  const Floats all({8}, 1, 0);
  EXPECT_EQ(run(largest, {all.view()}, {out.out()}), TNR_STATUS_OK);
  expect_refused(run(largest, {none.view()}, {out.out()}), TNR_STATUS_INVALID_ARGUMENT,
                 {"nodes[2], max: "});
  EXPECT_EQ(run(largest, {all.view()}, {out.out()}), TNR_STATUS_OK);

  // More where fewer are found: no memory is planned for it.
  const std::int64_t rest = combined(TNR_EXTENT_OP_SUB, 8, hits);
  const std::uint32_t others = node(TNR_NODE_SLICE, {x}, {0, 0, rest, 1});
  output(others);
  const tnr_program* const more = program();
  Floats empty({0});
  EXPECT_EQ(run(more, {all.view()}, {out.out(), empty.out()}), TNR_STATUS_OK);
  const float half[] = {1, -1, 1, -1, 1, -1, 1, -1};
  expect_refused(run(more, {view_over(half, {8})}, {out.out(), empty.out()}),
                 TNR_STATUS_INVALID_ARGUMENT, {"nodes[3], slice: ", "[4]", "[0]"});

  // An extent that the count does not allow, which is that of the node that finds it.
  const std::int64_t without = combined(TNR_EXTENT_OP_SUB, hits, 5);
  output(node(TNR_NODE_SLICE, {some}, {0, 0, without, 1}));
  const tnr_program* const fewer = program();
  Floats three({3});
  EXPECT_EQ(run(fewer, {all.view()}, {out.out(), empty.out(), three.out()}), TNR_STATUS_OK);
  expect_refused(run(fewer, {view_over(half, {8})}, {out.out(), empty.out(), three.out()}),
                 TNR_STATUS_INVALID_ARGUMENT, {"nodes[1], masked_select: ", "4 and 5"});
}

TEST_F(CFound, AnExtentIsFoundOnceAndBeforeItIsTaken) {
  constexpr auto kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  const std::int64_t n = extent("n", 8);
  const std::int64_t hits = extent("hits", 8);
  const std::int64_t more = extent("more", 8);
  const std::int64_t sum = combined(TNR_EXTENT_OP_ADD, hits, 1);
  const std::uint32_t x = input({n});
  const std::uint32_t mask = positive(x);
  for (const std::int64_t number :
       {std::int64_t{5}, std::int64_t{-1}, sum, TNR_EXTENT + 77, INT64_MAX}) {
    expect_node_refused(TNR_NODE_NONZERO, {mask}, {number}, kInvalid,
                        {"node->numbers[0]", "must be a named extent"});
  }
  expect_node_refused(TNR_NODE_NONZERO, {mask}, {n}, kInvalid, {"inputs[0] has n"});
  (void)node(TNR_NODE_BROADCAST, {constant(Floats({1}).view())},
             {combined(TNR_EXTENT_OP_MUL, more, 2)});
  expect_node_refused(TNR_NODE_NONZERO, {mask}, {more}, kInvalid,
                      {"nodes[1], broadcast, takes more before it is found"});
  (void)node(TNR_NODE_NONZERO, {mask}, {hits});
  expect_node_refused(TNR_NODE_NONZERO, {mask}, {hits}, kInvalid,
                      {"nodes[2], nonzero, finds hits already"});
  std::uint32_t value = 77;
  const std::int64_t shape[] = {2, sum};
  expect_refused(tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &value), kInvalid,
                 {"nodes[2], nonzero, finds an extent of the input"});
  expect_node_refused(TNR_NODE_NONZERO, {scalar(1)}, {extent("free", 8)}, kInvalid, {"a scalar"});
  const std::int64_t free = extent("other", 8);
  expect_node_refused(TNR_NODE_MASKED_SELECT, {x, x}, {free}, kInvalid, {"mask.dtype is f32"});
  expect_node_refused(TNR_NODE_MASKED_SELECT, {x, input({3}, TNR_DTYPE_BOOL8)}, {free}, kInvalid,
                      {"nodes[3], masked_select: shape[0] is 8", "is 3"});
  expect_node_refused(TNR_NODE_NONZERO, {input({2}, TNR_DTYPE_C64)}, {free}, TNR_STATUS_UNSUPPORTED,
                      {"nonzero", "c64"});
  // Nothing that was refused has the extent.
  EXPECT_NE(node(TNR_NODE_NONZERO, {mask}, {free}), 77u);
  output(mask);
  const tnr_program_attributes attributes = {sizeof attributes, 0, 0, nullptr, 0};
  expect_refused(tnr_program_create(nullptr, graph, &attributes), kInvalid,
                 {"the extent more is that of no input and of no node"});
}

TEST_F(CFound, NoInputIsUpdatedByIt) {
  const std::uint32_t x = input({8});
  const std::uint32_t first = input({8});
  output(node(kAdd, {first, x}), first);
  const std::uint32_t some = selected(x, extent("hits", 8));
  const std::uint32_t part = node(TNR_NODE_SLICE, {some}, {0, 0, 8, 1});
  // Also of nodes that were added behind an output.
  for (const std::uint32_t value : {part, node(kAdd, {part, part})}) {
    expect_refused(tnr_graph_add_output(graph, value, x), TNR_STATUS_INVALID_ARGUMENT,
                   {"the output that updates an input", "nodes[2], masked_select"});
    expect_refused(tnr_graph_add_output(graph, node(kAdd, {value, x}), x),
                   TNR_STATUS_INVALID_ARGUMENT, {"nodes[2], masked_select"});
  }
  // A value without an axis has one size, whatever is found.
  const std::uint32_t total = input({});
  output(node(kAdd, {total, node(kSum, {some}, {}, nullptr, 1)}), total);
  float of = 10;
  const float a[] = {1, -1, 2, -1, -1, -1, -1, -1};
  const tnr_view_mut state = {view_over(&of, {})};
  float added[8] = {};
  const tnr_view_mut sums = {view_over(added, {8})};
  ASSERT_EQ(run(program(), {view_over(a, {8}), sums.view, state.view}, {sums, state}),
            TNR_STATUS_OK);
  EXPECT_EQ(of, 13);
}

TEST_F(CFound, IsListedAndBuiltAgain) {
  const std::int64_t n = extent("n", 100);
  const std::int64_t hits = extent("hits", 40);
  const std::uint32_t x = input({n});
  const std::uint32_t some = selected(x, hits);
  output(node(TNR_NODE_SLICE, {some}, {0, 0, combined(TNR_EXTENT_OP_DIV, hits, 2), 1}));
  tnr_graph* const again = rebuilt(graph);
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, again)), TNR_STATUS_OK);
  const float a[] = {1, -1, 2, 3, -1, 4};
  Floats out = untouched({3});
  std::int64_t shape[TNR_MAX_RANK] = {};
  ASSERT_EQ(run(program(), {view_over(a, {6})}, {out.out()}, 0, 0, shape), TNR_STATUS_OK);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(out.values, (std::vector<float>{1, 2, kUntouched}));
}

TEST_F(CFound, AnyNumberOfThreadsFindTheirOwn) {
  const std::uint32_t x = input({64});
  const std::uint32_t some = selected(x, extent("hits", 64));
  output(node(TNR_NODE_SCAN + TNR_SCAN_OP_SUM, {node(kMul, {some, some})}, {0}));
  const tnr_program* const made = program();
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([made, thread] {
      for (std::size_t round = 0; round < 200; ++round) {
        const std::size_t count = (thread * 17 + round * 5) % 65;
        Floats a({64}, -1, 0);
        std::fill_n(a.values.begin(), count, 1.0f);
        Floats out = untouched({64});
        std::int64_t shape[TNR_MAX_RANK] = {};
        ASSERT_EQ(run(made, {a.view()}, {out.out()}, 0, 0, shape), TNR_STATUS_OK);
        ASSERT_EQ(shape[0], static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < 64; ++i) {
          ASSERT_EQ(out.values[i], i < count ? static_cast<float>(i + 1) : kUntouched);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
