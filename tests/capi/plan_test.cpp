// Plans through C: made once, run on other memory of the same layouts, refused for any other.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "expect_status.hpp"
#include "memory/slot_table.hpp"
#include "tenure/blob.hpp"
#include "tenure/tenure.h"

using tenure::test::expect_refused;

namespace {

constexpr std::int64_t kRows = 3;
constexpr std::int64_t kColumns = 5;
constexpr std::int64_t kCount = kRows * kColumns;

tnr_view view_of(const float* data, std::int64_t row_stride = kColumns) {
  tnr_view view = {};
  view.data = view.base = data;
  view.size_bytes = static_cast<std::uint64_t>((kRows - 1) * row_stride + kColumns) * sizeof(float);
  view.dtype = TNR_DTYPE_F32;
  view.rank = 2;
  view.device.kind = TNR_DEVICE_KIND_CPU;
  view.shape[0] = kRows;
  view.shape[1] = kColumns;
  view.strides[0] = row_stride;
  view.strides[1] = 1;
  return view;
}

tnr_node node(std::uint32_t code, std::uint32_t a, std::uint32_t b = TNR_OPERAND_NONE,
              std::uint32_t flags = 0, std::uint32_t attributes = 0) {
  return {code, TNR_DTYPE_F32, {a, b, TNR_OPERAND_NONE}, attributes, flags, 0};
}

class CPlan : public testing::Test {
 protected:
  CPlan() {
    for (std::int64_t i = 0; i < kCount; ++i) {
      a_values[i] = static_cast<float>(i);
      b_values[i] = static_cast<float>(2 * i + 1);
    }
    expression.struct_size = sizeof expression;
    expression.nodes = nodes;
    expression.node_count = 2;
    expression.views = views;
    expression.view_count = 2;
    expression.scalars = &half;
    expression.scalar_count = 1;
  }

  tnr_plan* plan() { return tnr_plan_create(nullptr, &expression, nullptr, &out); }

  float a_values[kCount];
  float b_values[kCount];
  float out_values[kCount] = {};
  tnr_view a = view_of(a_values);
  tnr_view b = view_of(b_values);
  tnr_view_mut out = {view_of(out_values)};
  const tnr_view* views[2] = {&a, &b};
  tnr_scalar half = tnr_scalar_f64(0.5);
  // a * b + 0.5
  tnr_node nodes[2] = {
      node(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, TNR_OPERAND_VIEW, TNR_OPERAND_VIEW + 1),
      node(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, 0, TNR_OPERAND_SCALAR)};
  tnr_expression expression = {};
};

TEST_F(CPlan, RunsOnOtherMemoryOfTheSameLayouts) {
  tnr_plan* const made = plan();
  ASSERT_NE(made, nullptr);
  // The expression that it was made from may go: nothing of it is kept.
  std::memset(nodes, 0xff, sizeof nodes);
  half = tnr_scalar_f64(7);
  expression = {};
  std::vector<float> other(b_values, b_values + kCount);
  for (float& number : other) number = -number;
  const tnr_view other_view = view_of(other.data());
  const tnr_view* const others[] = {&other_view, &a};
  EXPECT_EQ(tnr_plan_run(nullptr, made, others, 2, nullptr, &out), TNR_STATUS_OK);
  for (std::int64_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(out_values[i], other[static_cast<std::size_t>(i)] * a_values[i] + 0.5f);
  }
  // In place.
  const tnr_view* const in_place[] = {&out.view, &a};
  const float first = out_values[1];
  EXPECT_EQ(tnr_plan_run(nullptr, made, in_place, 2, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(out_values[1], first * a_values[1] + 0.5f);
  EXPECT_EQ(tnr_plan_release(made), TNR_STATUS_OK);
}

TEST_F(CPlan, HasReductionsWithTheirAttributes) {
  tnr_reduce_attributes deviation = {sizeof deviation, 1, 0, 0};
  const void* const attributes[] = {&deviation};
  const std::uint32_t keep = 2 | TNR_NODE_KEEP_AXES;
  const tnr_node standardize[] = {
      node(TNR_NODE_REDUCE + TNR_REDUCE_OP_MEAN, TNR_OPERAND_VIEW, TNR_OPERAND_NONE, keep),
      node(TNR_NODE_REDUCE + TNR_REDUCE_OP_STD, TNR_OPERAND_VIEW, TNR_OPERAND_NONE, keep, 1),
      node(TNR_NODE_BINARY + TNR_BINARY_OP_SUB, TNR_OPERAND_VIEW, 0),
      node(TNR_NODE_BINARY + TNR_BINARY_OP_DIV, 2, 1)};
  expression.nodes = standardize;
  expression.node_count = 4;
  expression.attributes = attributes;
  expression.attribute_count = 1;
  expression.view_count = 1;
  ASSERT_EQ(tnr_evaluate(nullptr, &expression, nullptr, &out), TNR_STATUS_OK);
  const std::vector<float> expected(out_values, out_values + kCount);
  tnr_plan* const made = plan();
  ASSERT_NE(made, nullptr);
  deviation.ddof = 0;
  std::memset(out_values, 0, sizeof out_values);
  EXPECT_EQ(tnr_plan_run(nullptr, made, views, 1, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(std::vector<float>(out_values, out_values + kCount), expected);
  EXPECT_EQ(tnr_plan_release(made), TNR_STATUS_OK);
}

TEST_F(CPlan, RefusesOtherLayoutsAndCounts) {
  tnr_plan* const made = plan();
  const auto refused = [&](const tnr_view* first, const tnr_view_mut& to,
                           std::initializer_list<std::string> words) {
    const tnr_view* const given[] = {first, &b};
    expect_refused(tnr_plan_run(nullptr, made, given, 2, nullptr, &to), TNR_STATUS_INVALID_ARGUMENT,
                   words);
    EXPECT_EQ(out_values[0], 0);
  };
  std::vector<float> wide(3 * kCount);
  const tnr_view strided = view_of(wide.data(), kColumns + 1);
  tnr_view wider = a;
  wider.dtype = TNR_DTYPE_I32;
  tnr_view shorter = a;
  shorter.shape[0] = 2;
  tnr_view flat = a;
  flat.rank = 1;
  flat.shape[0] = kCount;
  flat.strides[0] = 1;
  tnr_view hostile = a;
  hostile.rank = 0xffff'ffff;
  refused(&strided, out, {"views[0] has the strides [6, 1]", "[5, 1]"});
  refused(&wider, out, {"views[0].dtype is i32", "f32"});
  refused(&shorter, out, {"views[0] has the shape [2, 5]", "[3, 5]"});
  refused(&flat, out, {"views[0] has the shape [15]"});
  refused(&hostile, out, {"views[0].rank is 4294967295"});
  refused(nullptr, out, {"views[0] is NULL"});
  refused(&a, {strided}, {"out has the strides"});
  expect_refused(tnr_plan_run(nullptr, made, views, 1, nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"view_count is 1", "made for 2"});
  expect_refused(tnr_plan_run(nullptr, made, nullptr, 2, nullptr, &out),
                 TNR_STATUS_INVALID_ARGUMENT, {"views is NULL"});
  expect_refused(tnr_plan_run(nullptr, made, views, 2, nullptr, nullptr),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  // The layout is the plan's, but the memory is too small, or partly the output's.
  tnr_view small = a;
  small.size_bytes -= 1;
  const tnr_view* given[] = {&small, &b};
  expect_refused(tnr_plan_run(nullptr, made, given, 2, nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"views[0]"});
  const tnr_view_mut late = {view_of(wide.data() + 1)};
  const tnr_view early = view_of(wide.data());
  given[0] = &early;
  expect_refused(tnr_plan_run(nullptr, made, given, 2, nullptr, &late), TNR_STATUS_ALIASED,
                 {"views[0]"});
  EXPECT_EQ(tnr_plan_release(made), TNR_STATUS_OK);
}

TEST_F(CPlan, RefusesToBeMadeAsAnEvaluationIs) {
  const auto refused = [&](tnr_status status, std::initializer_list<std::string> words) {
    EXPECT_EQ(plan(), nullptr);
    expect_refused(tnr_last_error()->status, status, words);
  };
  expression.node_count = 0;
  refused(TNR_STATUS_INVALID_ARGUMENT, {"node_count is 0"});
  expression.node_count = TNR_MAX_NODES + 1;
  refused(TNR_STATUS_INVALID_ARGUMENT, {"node_count is 257"});
  expression.node_count = 2;
  expression.view_count = TNR_MAX_EXPRESSION_VIEWS + 1;
  refused(TNR_STATUS_INVALID_ARGUMENT, {"view_count is 33"});
  expression.view_count = 1;
  refused(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0].operands[1]"});
  expression.view_count = 2;
  out.view.shape[0] = 2;
  refused(TNR_STATUS_INVALID_ARGUMENT, {"[3, 5]", "[2, 5]"});
  out.view.shape[0] = kRows;
  tnr_normalize_attributes scaled = {};
  scaled.struct_size = sizeof scaled;
  tnr_view weight = a;
  weight.rank = 1;
  weight.shape[0] = kColumns;
  weight.strides[0] = 1;
  scaled.weight = &weight;
  const void* const attributes[] = {&scaled};
  nodes[1] = node(TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_LAYER_NORM, 0, TNR_OPERAND_NONE, 2, 1);
  expression.attributes = attributes;
  expression.attribute_count = 1;
  refused(TNR_STATUS_UNSUPPORTED, {"nodes[1]", "weight"});
}

TEST_F(CPlan, RefusesWhatIsNoHandle) {
  tnr_plan* const made = plan();
  ASSERT_EQ(tnr_plan_release(made), TNR_STATUS_OK);
  expect_refused(tnr_plan_release(made), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(tnr_plan_retain(made), TNR_STATUS_STALE_HANDLE, {"released"});
  expect_refused(tnr_plan_run(nullptr, made, views, 2, nullptr, &out), TNR_STATUS_STALE_HANDLE,
                 {"plan is 0x", "released"});
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 64);
  expect_refused(tnr_plan_retain(reinterpret_cast<tnr_plan*>(blob)), TNR_STATUS_STALE_HANDLE,
                 {"which no plan was ever given"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(tnr_plan_release(nullptr), TNR_STATUS_OK);
  EXPECT_EQ(out_values[0], 0);
}

// A view's owner is asked in each run, not when the plan is made.
TEST_F(CPlan, AsksTheOwnersOfEachRun) {
  tnr_plan* const made = plan();
  tnr_blob* const blob = tnr_blob_copy(nullptr, a_values, sizeof a_values);
  tnr_view owned{};
  ASSERT_EQ(tnr_blob_view(blob, 0, TNR_DTYPE_F32, 2, a.shape, nullptr, &owned), TNR_STATUS_OK);
  const tnr_view* const given[] = {&owned, &b};
  EXPECT_EQ(tnr_plan_run(nullptr, made, given, 2, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(out_values[2], a_values[2] * b_values[2] + 0.5f);
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(tnr_plan_run(nullptr, made, given, 2, nullptr, &out), TNR_STATUS_STALE_VIEW,
                 {"views[0]"});
  EXPECT_EQ(tnr_plan_release(made), TNR_STATUS_OK);
}

// As if so many handles had been taken. A call holds the plan as a handle does.
TEST_F(CPlan, BusyAtTheLastHandle) {
  tnr_plan* const made = plan();
  tenure::BlobSlot& slot = *tenure::plan_table.find(reinterpret_cast<std::uint64_t>(made));
  slot.word.fetch_add(tenure::kMaxRefs - 1);
  expect_refused(tnr_plan_retain(made), TNR_STATUS_BUSY, {"has 16777215 handles"});
  expect_refused(tnr_plan_run(nullptr, made, views, 2, nullptr, &out), TNR_STATUS_BUSY,
                 {"16777215"});
  slot.word.fetch_sub(tenure::kMaxRefs - 1);
  EXPECT_EQ(tnr_plan_run(nullptr, made, views, 2, nullptr, &out), TNR_STATUS_OK);
  EXPECT_EQ(tnr_plan_release(made), TNR_STATUS_OK);
}

TEST_F(CPlan, IsRunByThreadsAtOnce) {
  tnr_plan* const made = plan();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      std::vector<float> own(kCount);
      const tnr_view_mut to = {view_of(own.data())};
      for (int round = 0; round < 500; ++round) {
        ASSERT_EQ(tnr_plan_run(nullptr, made, views, 2, nullptr, &to), TNR_STATUS_OK);
      }
      EXPECT_EQ(own[kCount - 1], a_values[kCount - 1] * b_values[kCount - 1] + 0.5f);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tnr_plan_release(made), TNR_STATUS_OK);
}

}  // namespace
