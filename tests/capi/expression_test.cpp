// Expressions through C: each line of the contract of tnr_evaluate and tnr_expression_shape, with the
// memory that they are lent. expression_refused_test.cpp has what else is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "counted.hpp"
#include "expect_status.hpp"
#include "expressions.hpp"
#include "layouts.hpp"
#include "sparse_calls.hpp"
#include "tenure/tenure.h"

namespace tenure::test {
namespace {

// ---- results ----

TEST_F(Expressions, AreComputed) {
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({3, 6, 11, 6, 12, 20});
  nodes.push_back(node(kSum, kF32, {1}, 1 << 1));
  out = output(kF32, {{2, 1}});
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({20, 38});
  nodes = {node(kMean, kF32, {kV + 0}, 1 << 1 | TNR_NODE_KEEP_AXES), node(kSub, kF32, {kV + 0, 0})};
  out = output(kF32, {{2, 3}, {3, 1}});
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({-1, 0, 1, -1, 0, 1});
}

TEST_F(Expressions, GiveEveryKind) {
  scalars.push_back(tnr_scalar_f64(3));
  const std::uint32_t condition = 0;
  nodes = {node(TNR_NODE_COMPARE + TNR_COMPARE_OP_GT, TNR_DTYPE_BOOL8, {kV + 0, kS + 1}),
           node(TNR_NODE_SELECT, kF32, {condition, kV + 0, kS + 0}),
           node(TNR_NODE_TERNARY + TNR_TERNARY_OP_FMA, kF32, {1, kS + 1, kV + 1}),
           node(TNR_NODE_CAST, TNR_DTYPE_I32, {2}),
           node(kNeg, TNR_DTYPE_I32, {3}),
           node(TNR_NODE_CAST, kF32, {4})};
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({-7, -8, -9, -13, -17, -21});
}

TEST_F(Expressions, ReadWhatTheOutputHolds) {
  std::memcpy(written, read, sizeof read);
  nodes = {node(kMul, kF32, {TNR_OPERAND_OUTPUT, kV + 1}),
           node(kAdd, kF32, {0, TNR_OPERAND_OUTPUT})};
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({2, 6, 12, 8, 15, 24});
}

TEST_F(Expressions, MayBeOfAViewThatIsExactlyTheOutput) {
  std::memcpy(written, read, sizeof read);
  const tnr_view same = out.view;
  views = {&same, &line};
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({3, 6, 11, 6, 12, 20});
  // Also where it is normalized, and where it is reduced amid the expression.
  std::memcpy(written, read, sizeof read);
  nodes = {node(kMax, kF32, {kV + 0}, 1 << 1 | TNR_NODE_KEEP_AXES), node(kSub, kF32, {kV + 0, 0})};
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({-2, -1, 0, -2, -1, 0});
  const float equal[6] = {4, 4, 4, 4, 4, 4};
  std::memcpy(written, equal, sizeof equal);
  nodes = {node(kSub, kF32, {kV + 0, kS + 0}), node(kSoftmax, kF32, {0}, 1 << 0)};
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
}

TEST_F(Expressions, OfScalarsFillTheOutput) {
  scalars = {f32(2)};  // whose dtype is that of the node
  nodes = {node(kAdd, kF32, {kS + 0, kS + 0})};
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({4, 4, 4, 4, 4, 4});
  views.clear();
  out = output(kF32, {});
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
}

TEST_F(Expressions, BroadcastToTheOutput) {
  nodes = {node(kNeg, kF32, {kV + 1})};
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({-1, -2, -3, -1, -2, -3});
}

TEST_F(Expressions, HaveAShape) {
  tnr_dtype dtype = 0;
  std::uint32_t rank = 0;
  std::int64_t shape[TNR_MAX_RANK] = {};
  const auto expect = [&](tnr_dtype of, std::vector<std::int64_t> extents) {
    std::fill_n(shape, TNR_MAX_RANK, 9);
    const tnr_expression expression = given();
    ASSERT_EQ(tnr_expression_shape(&expression, &dtype, &rank, shape), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(dtype, of);
    EXPECT_EQ(rank, extents.size());
    extents.resize(TNR_MAX_RANK);
    EXPECT_TRUE(std::equal(extents.begin(), extents.end(), shape));
  };
  expect(kF32, {2, 3});
  nodes.push_back(node(TNR_NODE_REDUCE + TNR_REDUCE_OP_COUNT, TNR_DTYPE_I64, {2}, 1));
  nodes[2] = node(kArgmax, TNR_DTYPE_I64, {1}, 1);
  expect(TNR_DTYPE_I64, {3});
  nodes[2].flags |= TNR_NODE_KEEP_AXES;
  expect(TNR_DTYPE_I64, {1, 3});
  nodes[2] = node(kSum, kF32, {1}, 3);
  expect(kF32, {});
  nodes[2] = node(kSoftmax, kF32, {1}, 2);
  expect(kF32, {2, 3});
  views[0] = &integers;
  nodes = {node(kSum, TNR_DTYPE_I64, {kV + 0}, 0)};
  expect(TNR_DTYPE_I64, {2, 3});
  const tnr_view nothing = view_of(read, 0, 0, kF32, {{0, 1}, {3, 1}});
  views[0] = &nothing;
  nodes = {node(kNeg, kF32, {kV + 0})};
  expect(kF32, {0, 3});
  // The call reads no element: the view is of memory that cannot be accessed.
  tnr_view far =
      view_of(reinterpret_cast<const void*>(std::uintptr_t{4096}), 24, 0, kF32, {{6, 1}});
  views[0] = &far;
  expect(kF32, {6});
}

TEST_F(Expressions, OfNothing) {
  const tnr_view nothing = view_of(read, 0, 0, kF32, {{2, 1}, {0, 1}});
  views = {&nothing, &pair};
  nodes = {node(kAdd, kF32, {kV + 0, kS + 0}), node(kSum, kF32, {0}, 2)};
  out = output(kF32, {{2, 1}});
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({0, 0});
  std::memset(written, kUntouched, sizeof written);
  nodes[1] = node(kMax, kF32, {0}, 2);
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1]", "[2, 0]", "max", "needs one"});
  // Amid the expression too.
  nodes[1].flags |= TNR_NODE_KEEP_AXES;
  nodes.push_back(node(kNeg, kF32, {1}));
  out = output(kF32, {{2, 1}, {1, 1}});
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1]", "[2, 0]", "max", "needs one"});
  // Nobody needs it where the result is empty.
  nodes = {node(kMax, kF32, {kV + 0}, 1)};
  out = output(kF32, {{0, 1}});
  EXPECT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_untouched();
}

// ---- memory that is lent ----

TEST_F(Expressions, RefuseViewsThatAreNone) {
  tnr_view wrong = line;
  views[1] = &wrong;
  const auto expect = [&](const tnr_view& view, std::initializer_list<std::string> words) {
    wrong = view;
    expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, words);
    wrong = line;
  };
  tnr_view view = line;
  view.rank = 9;
  expect(view, {"views[1]", "rank", "9"});
  view = line;
  view.shape[0] = -1;
  expect(view, {"views[1]", "-1"});
  view = line;
  view.size_bytes = 8;
  expect(view, {"views[1]"});
  view = line;
  view.flags = 0x80;
  expect(view, {"views[1]", "flags"});
  view = line;
  view.device.kind = 2;
  wrong = view;
  expect_both_refuse(TNR_STATUS_UNSUPPORTED, {"views[1]"});
  // Also of one that no node names.
  wrong = line;
  wrong.rank = 9;
  nodes = {node(kNeg, kF32, {kV + 0})};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"views[1]", "rank"});
  views.pop_back();
  out.view.shape[0] = 1000;
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"out"});
}

TEST_F(Expressions, RefuseOwnersThatAreStale) {
  tnr_blob* const blob = tnr_blob_alloc(nullptr, 256);
  const std::int64_t extents[] = {2, 3};
  tnr_view owned = {};
  tnr_view_mut owned_out = {};
  ASSERT_EQ(tnr_blob_view(blob, 0, kF32, 2, extents, nullptr, &owned), TNR_STATUS_OK);
  ASSERT_EQ(tnr_blob_view_mut(blob, 64, kF32, 2, extents, nullptr, &owned_out), TNR_STATUS_OK);
  const tnr_view_mut kept = out;
  views[0] = &owned;
  out = owned_out;
  for (const bool is_small : {true, false}) {
    // Where it is not small and dense, another way.
    if (!is_small) views[1] = &line;
    if (is_small) nodes[0] = node(kMul, kF32, {kV + 0, kV + 0});
    ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  }
  ASSERT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  expect_refused(evaluate(), TNR_STATUS_STALE_VIEW, {"out"});
  out = kept;
  expect_refusal(TNR_STATUS_STALE_VIEW, {"views[0]"});
  views = {&owned};
  expect_refusal(TNR_STATUS_STALE_VIEW, {"views[0]"});
  owned.owner = 77;
  expect_refusal(TNR_STATUS_STALE_VIEW, {"views[0]"});
  // A factor of a normalization has an owner too.
  tnr_normalize_attributes norm = {};
  norm.struct_size = sizeof norm;
  norm.weight = &owned;
  owned.rank = 1;
  owned.shape[0] = 3;
  owned.strides[0] = 1;
  attributes = {&norm};
  views = {&table};
  nodes = {node(TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_RMS_NORM, kF32, {kV + 0}, 2, 1)};
  expect_refusal(TNR_STATUS_STALE_VIEW, {"weight"});
}

TEST_F(Expressions, RefuseOutputsThatNobodyMayWrite) {
  tnr_blob* const blob = tnr_blob_share(written, sizeof written, nullptr, nullptr);
  const std::int64_t extents[] = {2, 3};
  tnr_view shared = {};
  ASSERT_EQ(tnr_blob_view(blob, 0, kF32, 2, extents, nullptr, &shared), TNR_STATUS_OK);
  out = {shared};
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"out"});
  nodes = {node(kNeg, kF32, {kV + 0})};
  views = {&table};
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"out"});
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  out = output(kF32, {{2, 3}, {0, 1}});
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"out"});
}

TEST_F(Expressions, RefuseContextsThatAreReleased) {
  tnr_context_options options = {};
  options.struct_size = sizeof options;
  options.thread_count = 2;
  tnr_context* const context = tnr_context_create(&options);
  ASSERT_EQ(evaluate(context), TNR_STATUS_OK) << tnr_last_error()->message;
  std::memset(written, kUntouched, sizeof written);
  ASSERT_EQ(tnr_context_release(context), TNR_STATUS_OK);
  expect_refused(evaluate(context), TNR_STATUS_STALE_HANDLE, {"context"});
  expect_untouched();
}

TEST_F(Expressions, RefuseOutputsThatShareBytes) {
  float memory[12] = {};
  const tnr_view first = view_of(memory, sizeof memory, 0, kF32, {{2, 3}, {3, 1}});
  out = {view_of(memory, sizeof memory, 4, kF32, {{2, 3}, {3, 1}})};
  views = {&first, &line};
  expect_refused(evaluate(), TNR_STATUS_ALIASED, {"views[0]", "out"});
  nodes = {node(kNeg, kF32, {kV + 0})};
  views = {&first};
  expect_refused(evaluate(), TNR_STATUS_ALIASED, {"views[0]", "out"});
  // A transposed view of the output's memory.
  const tnr_view across = view_of(memory, sizeof memory, 4, kF32, {{2, 1}, {3, 2}});
  views = {&across};
  expect_refused(evaluate(), TNR_STATUS_ALIASED, {"views[0]", "out"});
  // Also of a view that no node names.
  scalars = {f32(2)};
  nodes = {node(kAdd, kF32, {kS + 0, kS + 0})};
  expect_refused(evaluate(), TNR_STATUS_ALIASED, {"views[0]", "out"});
  for (const float number : memory) EXPECT_EQ(number, 0);
  // Elements that lie between.
  const tnr_view odd = view_of(memory, sizeof memory, 4, kF32, {{6, 2}});
  out = {view_of(memory, sizeof memory, 0, kF32, {{6, 2}})};
  views = {&odd};
  nodes = {node(kAdd, kF32, {kV + 0, kS + 0})};
  EXPECT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  EXPECT_EQ(memory[0], 2);
  EXPECT_EQ(memory[1], 0);
}

TEST_F(Expressions, RefuseToReduceIntoAnOperand) {
  float memory[4] = {1, 2, 3, 4};
  const tnr_view square = view_of(memory, sizeof memory, 0, kF32, {{2, 2}, {2, 1}});
  const tnr_view row = view_of(memory, sizeof memory, 0, kF32, {{2, 1}});
  out = {row};
  views = {&square, &row};
  nodes = {node(kAdd, kF32, {kV + 1, kS + 0}), node(kSum, kF32, {0}, 0)};
  views[0] = &line;
  expect_refused(evaluate(), TNR_STATUS_ALIASED, {"views[1]"});
  // The output as an operand of a reduction: some rows are written before other rows are read.
  float other[4] = {1, 2, 3, 4};
  const tnr_view apart = view_of(other, sizeof other, 0, kF32, {{2, 2}, {2, 1}});
  views = {&apart};
  nodes = {node(kAdd, kF32, {kV + 0, TNR_OPERAND_OUTPUT}), node(kSum, kF32, {0}, 2)};
  expect_refused(evaluate(), TNR_STATUS_ALIASED, {"the output is an operand", "reduction"});
  EXPECT_EQ(memory[0], 1);
  // Not of an output without elements.
  const tnr_view nothing = view_of(read, 0, 0, kF32, {{0, 1}, {0, 1}});
  views = {&nothing};
  out = output(kF32, {{0, 1}});
  EXPECT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
}

// ---- counters ----

TEST_F(Expressions, AreCounted) {
  const auto count = [&] {
    return counted(TNR_OPERATION_EVALUATE,
                   [&] { EXPECT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message; });
  };
  EXPECT_EQ(count(), (Counted{1, 36, 24}));
  views = {&table};
  nodes = {node(kMul, kF32, {kV + 0, TNR_OPERAND_OUTPUT})};
  EXPECT_EQ(count(), (Counted{1, 48, 24}));
  out = output(kF32, {{2, 4}, {3, 1}});
  EXPECT_EQ(count(), (Counted{1, 48, 24}));
  nodes = {node(kMul, kF32, {kV + 0, kV + 0}), node(kSum, kF32, {0}, 3)};
  out = output(kF32, {});
  EXPECT_EQ(count(), (Counted{1, 24, 4}));
  const tnr_view nothing = view_of(read, 0, 0, kF32, {{0, 1}, {3, 1}});
  views = {&nothing};
  nodes.pop_back();
  out = output(kF32, {{0, 3}, {3, 1}});
  EXPECT_EQ(count(), (Counted{1, 0, 0}));
  nodes[0].code = 0;
  EXPECT_EQ(counted(TNR_OPERATION_EVALUATE, [&] { EXPECT_NE(evaluate(), TNR_STATUS_OK); }),
            (Counted{0, 0, 0}));
}

}  // namespace
}  // namespace tenure::test
