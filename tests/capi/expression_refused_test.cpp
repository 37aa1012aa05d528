// Expressions that are refused: the message for each struct, array and node that is wrong. An
// expression that is refused before work leaves the output unchanged.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "cpu/operations.hpp"
#include "expect_status.hpp"
#include "expressions.hpp"
#include "layouts.hpp"
#include "sparse_calls.hpp"
#include "tenure/tenure.h"
#include "unseen.hpp"

namespace tenure::test {
namespace {

// ---- refused structs and arrays ----

TEST_F(Expressions, RefusePointersThatAreNull) {
  const tnr_expression expression = given();
  expect_refused(tnr_evaluate(nullptr, unseen<const tnr_expression*>(nullptr), nullptr, &out),
                 TNR_STATUS_INVALID_ARGUMENT, {"expression is NULL"});
  expect_refused(tnr_evaluate(nullptr, &expression, nullptr, unseen<const tnr_view_mut*>(nullptr)),
                 TNR_STATUS_INVALID_ARGUMENT, {"out is NULL"});
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t shape[TNR_MAX_RANK];
  expect_refused(tnr_expression_shape(unseen<const tnr_expression*>(nullptr), &dtype, &rank, shape),
                 TNR_STATUS_INVALID_ARGUMENT, {"expression is NULL"});
  expect_refused(tnr_expression_shape(&expression, unseen<tnr_dtype*>(nullptr), &rank, shape),
                 TNR_STATUS_INVALID_ARGUMENT, {"dtype is NULL"});
  expect_refused(tnr_expression_shape(&expression, &dtype, unseen<std::uint32_t*>(nullptr), shape),
                 TNR_STATUS_INVALID_ARGUMENT, {"rank is NULL"});
  expect_refused(tnr_expression_shape(&expression, &dtype, &rank, unseen<std::int64_t*>(nullptr)),
                 TNR_STATUS_INVALID_ARGUMENT, {"shape is NULL"});
  views[1] = nullptr;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"expression->views[1] is NULL"});
}

TEST_F(Expressions, RefuseSizesThatNoVersionHas) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{4097}}) {
    tnr_expression expression = given();
    expression.struct_size = size;
    const std::initializer_list<std::string> words = {
        "expression->struct_size is " + std::to_string(size), "must be at least"};
    expect_refused(tnr_evaluate(nullptr, &expression, nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                   words);
    expect_shape_refused(expression, TNR_STATUS_INVALID_ARGUMENT, words);
  }
  struct {
    tnr_expression known;
    std::uint64_t added = 0;
  } newer = {given()};
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(tnr_evaluate(nullptr, &newer.known, nullptr, &out), TNR_STATUS_OK);
  std::memset(written, kUntouched, sizeof written);
  newer.added = 3;
  expect_refused(tnr_evaluate(nullptr, &newer.known, nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"expression has 0x03 at offset " + std::to_string(sizeof newer.known)});
  expect_shape_refused(newer.known, TNR_STATUS_INVALID_ARGUMENT, {"expression has 0x03"});
  struct {
    tnr_extension known = {16};
    std::uint64_t added = 5;
  } with;
  const tnr_expression expression = given();
  expect_refused(tnr_evaluate(nullptr, &expression, &with.known, &out), TNR_STATUS_INVALID_ARGUMENT,
                 {"attributes has 0x05 at offset 8"});
  with.added = 0;
  expect_untouched();
  EXPECT_EQ(tnr_evaluate(nullptr, &expression, &with.known, &out), TNR_STATUS_OK);
}

TEST_F(Expressions, RefuseTooMany) {
  const tnr_expression right = given();
  const auto expect = [&](const tnr_expression& expression, const char* words) {
    expect_refused(tnr_evaluate(nullptr, &expression, nullptr, &out), TNR_STATUS_INVALID_ARGUMENT,
                   {words});
    expect_shape_refused(expression, TNR_STATUS_INVALID_ARGUMENT, {words});
    expect_untouched();
  };
  tnr_expression expression = right;
  expression.node_count = 0;
  expect(expression, "expression->node_count is 0 but at least 1");
  expression.node_count = 257;
  expect(expression, "expression->node_count is 257 but at most 256");
  expression = right;
  expression.view_count = 33;
  expect(expression, "expression->view_count is 33 but at most 32");
  expression = right;
  expression.scalar_count = 1025;
  expect(expression, "expression->scalar_count is 1025 but at most 1024");
  expression = right;
  expression.attribute_count = UINT32_MAX;
  expect(expression, "expression->attribute_count is 4294967295 but at most 1024");
  expression = right;
  expression.nodes = nullptr;
  expect(expression, "expression->nodes is NULL but node_count is 2");
  expression = right;
  expression.views = nullptr;
  expect(expression, "expression->views is NULL but view_count is 2");
  expression = right;
  expression.scalars = nullptr;
  expect(expression, "expression->scalars is NULL but scalar_count is 1");
  expression = right;
  expression.attributes = nullptr;
  expression.attribute_count = 4;
  expect(expression, "expression->attributes is NULL but attribute_count is 4");
}

TEST_F(Expressions, TakeAsManyAsTheySay) {
  views.assign(32, &table);
  nodes = {node(kNeg, kF32, {kV + 0})};
  while (nodes.size() < 256) {
    const auto last = static_cast<std::uint32_t>(nodes.size() - 1);
    nodes.push_back(node(TNR_NODE_BINARY + TNR_BINARY_OP_MAX, kF32, {last, kV + last % 32}));
  }
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({1, 2, 3, 4, 5, 6});
  nodes[0] = node(kNeg, kF32, {TNR_OPERAND_OUTPUT});
  std::memset(written, 0, sizeof written);
  ASSERT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
  expect_out({1, 2, 3, 4, 5, 6});
}

// ---- refused nodes ----

TEST_F(Expressions, RefuseKindsAndCodesThatAreUnknown) {
  for (const std::uint32_t code : {0u, 0x4u, 0x9'0001u, 0xffff'ffffu}) {
    nodes[1].code = code;
    expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1].code is 0x", "names no operation"});
  }
  for (const std::uint32_t kind : {TNR_NODE_UNARY, TNR_NODE_BINARY, TNR_NODE_TERNARY,
                                   TNR_NODE_COMPARE, TNR_NODE_REDUCE, TNR_NODE_NORMALIZE}) {
    for (const std::uint32_t op : {0u, 999u, 0xffffu}) {
      nodes = {node(kind + op, kF32, {kV + 0, kV + 0, kV + 0})};
      std::fill_n(nodes[0].operands, 3, TNR_OPERAND_NONE);
      const std::uint32_t count = kind == TNR_NODE_TERNARY                              ? 3
                                  : kind == TNR_NODE_BINARY || kind == TNR_NODE_COMPARE ? 2
                                                                                        : 1;
      std::fill_n(nodes[0].operands, count, kV);
      expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", std::to_string(op)});
      // The call also refuses a node that no other node uses.
      nodes.push_back(node(kNeg, kF32, {kV + 0}));
      expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", std::to_string(op)});
    }
  }
  nodes = {node(TNR_NODE_CAST + 1, kF32, {kV + 0})};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "cast"});
  nodes = {node(TNR_NODE_SELECT + 1, kF32, {kV + 0, kV + 0, kV + 0})};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "select"});
}

TEST_F(Expressions, RefuseFieldsThatMeanNothing) {
  nodes[1].reserved = 3;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1].reserved is 3 but must be 0"});
  nodes[1].reserved = 0;
  nodes[1].flags = TNR_NODE_KEEP_AXES;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1]: ", "flags are 0x100", "takes none"});
  nodes[1].flags = 0;
  nodes[1].attributes = 1;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1]: ", "attributes 1", "takes none"});
  nodes[1].attributes = 0;
  nodes[1].operands[2] = kV;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[1].operands[2] is 0x40000000", "must be TNR_OPERAND_NONE", "takes 2"});
  nodes = {node(kSum, kF32, {kV + 0}, 0x200)};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "flags are 0x200", "unknown"});
  nodes = {node(kSoftmax, kF32, {kV + 0}, 2 | TNR_NODE_KEEP_AXES)};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "keeps its axes"});
}

TEST_F(Expressions, RefuseOperandsThatAreNothing) {
  constexpr std::uint32_t kNothing[] = {1 /* itself */,
                                        2,
                                        255,
                                        kV + 2,
                                        kV + 0xffff,
                                        kS + 1,
                                        kS + 0x1000'0000,
                                        TNR_OPERAND_OUTPUT + 1,
                                        TNR_OPERAND_NONE};
  for (const std::uint32_t operand : kNothing) {
    nodes[1].operands[0] = operand;
    expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1].operands[0] is 0x", "names nothing",
                                                     "1 earlier nodes, 2 views and 1 scalars"});
  }
  nodes[1].operands[0] = 0;
  nodes[0].operands[1] = 1;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0].operands[1] is 0x00000001"});
}

TEST_F(Expressions, RefuseAnOutputWhereThereIsNone) {
  nodes[0].operands[0] = TNR_OPERAND_OUTPUT;
  expect_shape_refused(given(), TNR_STATUS_INVALID_ARGUMENT,
                       {"nodes[0].operands[0] is the output, of which this call has none"});
}

TEST_F(Expressions, RefuseDtypes) {
  nodes[1].dtype = TNR_DTYPE_F64;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[1].dtype is f64 but the operation gives f32"});
  nodes[1].dtype = 0xdeadbeef;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[1].dtype is"});
  nodes[1].dtype = kF32;
  views[1] = &integers;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0]: operands[1] has i32 but those before have f32"});
  views[1] = &line;
  nodes[1] = node(TNR_NODE_SELECT, kF32, {0, kV + 0, kV + 1});
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[1]: the condition is f32 but must be bool8"});
  nodes[1] = node(TNR_NODE_UNARY + TNR_UNARY_OP_LOGICAL_NOT, kF32, {0});
  expect_both_refuse(TNR_STATUS_UNSUPPORTED, {"nodes[1]: ", "f32"});
  out = output(TNR_DTYPE_F64, {{2, 3}, {3, 1}});
  nodes.pop_back();
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is f64", "the expression gives f32"});
}

TEST_F(Expressions, RefuseCastsThatTheCallRefuses) {
  constexpr tnr_dtype kForeign = (TNR_DTYPE_F64 & 0xffff) | 3 << 16;
  const tnr_view foreign = view_of(written + 128, 96, 0, kForeign, {{2, 1}});
  const tnr_view complex = view_of(written + 128, 96, 0, TNR_DTYPE_C64, {{2, 1}});
  views = {&foreign, &complex};
  for (const auto& [operand, to] :
       {std::pair{kV, kForeign}, std::pair{kV, kF32}, std::pair{kV + 1, tnr_dtype{TNR_DTYPE_C64}},
        std::pair{kV + 1, tnr_dtype{TNR_DTYPE_C128}}, std::pair{kV + 1, kF32}}) {
    nodes = {node(TNR_NODE_CAST, to, {operand})};
    expect_both_refuse(TNR_STATUS_UNSUPPORTED, {"nodes[0]: ", "cast"});
  }
  views[0] = &table;
  for (const tnr_dtype to : {tnr_dtype{0}, kForeign, tnr_dtype{0xffff'ffff}}) {
    nodes = {node(TNR_NODE_CAST, to, {kV + 0})};
    expect_both_refuse(TNR_STATUS_UNSUPPORTED, {"nodes[0]: ", "cast"});
  }
}

TEST_F(Expressions, RefuseScalarsThatTheDtypeCannotHold) {
  views = {&integers};
  scalars = {tnr_scalar_f64(2.5)};
  nodes = {node(kAdd, TNR_DTYPE_I32, {kV + 0, kS + 0})};
  out = output(TNR_DTYPE_I32, {{2, 3}, {3, 1}});
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: a scalar", "2.5", "whole number"});
  scalars[0] = tnr_scalar_i64(std::int64_t{1} << 40);
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0]: a scalar", "1099511627776", "2147483647"});
  scalars[0].dtype = 12345;
  expect_both_refuse(TNR_STATUS_UNSUPPORTED, {"nodes[0]: a scalar"});
  scalars[0] = tnr_scalar_i64(3);
  scalars[0].reserved = 1;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: a scalar", "reserved"});
}

TEST_F(Expressions, RefuseDivisorsAndPowersOfIntegers) {
  views = {&integers};
  out = output(TNR_DTYPE_I32, {{2, 3}, {3, 1}});
  scalars = {tnr_scalar_i64(0)};
  nodes = {node(kDiv, TNR_DTYPE_I32, {kV + 0, kS + 0})};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "0"});
  scalars[0] = tnr_scalar_i64(-1);
  nodes = {node(TNR_NODE_BINARY + TNR_BINARY_OP_POW, TNR_DTYPE_I32, {kV + 0, kS + 0})};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "negative"});
  // Found on the data, where the output holds a mixture.
  nodes = {node(kDiv, TNR_DTYPE_I32, {kV + 0, kV + 0})};
  expect_refused(evaluate(), TNR_STATUS_INVALID_ARGUMENT, {"by an element 0", "mixture"});
  nodes[0] = node(kDiv, TNR_DTYPE_I32, {kS + 0, kV + 0});
  nodes.push_back(node(kSum, TNR_DTYPE_I64, {0}, 3));
  out = output(TNR_DTYPE_I64, {});
  expect_refused(evaluate(), TNR_STATUS_INVALID_ARGUMENT, {"by an element 0", "mixture"});
  // An unused node is not computed, so that its data cause no error.
  nodes[1] = node(kSum, TNR_DTYPE_I64, {kV + 0}, 3);
  EXPECT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
}

TEST_F(Expressions, RefuseShapes) {
  views[1] = &pair;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0].operands[1] has the shape [2], which does not broadcast with "
                      "[2, 3]"});
  views[1] = &line;
  out = output(kF32, {{3, 3}, {3, 1}});
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"the shape [2, 3]", "[3, 3] of out"});
  out = output(kF32, {{3, 1}});
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"the shape [2, 3]", "[3] of out"});
  nodes.push_back(node(kSum, kF32, {1}, 1));
  out = output(kF32, {{2, 1}});
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[2]: out.shape[0] is 2 but must be 3"});
  nodes[2] = node(kSoftmax, kF32, {1}, 2);
  out = output(kF32, {{3, 3}, {3, 1}});
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"out.shape[0] is 3", "2"});
}

TEST_F(Expressions, RefuseMoreElementsThanAreCounted) {
  const tnr_view column = view_of(read, sizeof read, 0, kF32, {{std::int64_t{1} << 40, 0}, {1, 0}});
  const tnr_view row = view_of(read, sizeof read, 0, kF32, {{std::int64_t{1} << 40, 0}});
  views = {&column, &row};
  nodes = {node(kAdd, kF32, {kV + 0, kV + 1}), node(kSum, kF32, {0}, 3)};
  out = output(kF32, {});
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0] has the shape [1099511627776, 1099511627776], more than"});
  // And results of reductions that fit no memory.
  const tnr_view longest =
      view_of(read, sizeof read, 0, kF32, {{std::int64_t{1} << 58, 0}, {1, 0}});
  views = {&longest, &row};
  nodes = {node(kSum, kF32, {kV + 0}, 2 | TNR_NODE_KEEP_AXES), node(kNeg, kF32, {0}),
           node(kSum, kF32, {1}, 3)};
  expect_refusal(TNR_STATUS_OUT_OF_MEMORY, {"nodes[0]", "[288230376151711744, 1]"});
}

TEST_F(Expressions, RefuseReductionsThatDoNotComeBack) {
  const char* const words = "must be the last: it does not reduce the last axis and keep it";
  for (const tnr_node& first :
       {node(kSum, kF32, {kV + 0}, 2), node(kSum, kF32, {kV + 0}, 1 | TNR_NODE_KEEP_AXES),
        node(kSum, kF32, {kV + 0}, 3 | TNR_NODE_KEEP_AXES), node(kSoftmax, kF32, {kV + 0}, 2),
        node(kSum, kF32, {kV + 0}, TNR_NODE_KEEP_AXES)}) {
    nodes = {first, node(kNeg, kF32, {0})};
    expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                       {"nodes[1].operands[0] is node 0, which", words});
    nodes[1] = node(kSum, kF32, {0}, 1);
    expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {words});
  }
}

TEST_F(Expressions, RefuseAxes) {
  nodes = {node(kSum, kF32, {kV + 0}, 4)};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0].flags has axes 0x4 but its operand has 2"});
  nodes = {node(kSoftmax, kF32, {kV + 0}, 0x80)};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0].flags has axes 0x80 but its operand has 2"});
  const tnr_view cube = view_of(read, sizeof read, 0, kF32, {{1, 6}, {2, 3}, {3, 1}});
  views[0] = &cube;
  nodes = {node(kArgmax, TNR_DTYPE_I64, {kV + 0}, 6)};
  out = output(TNR_DTYPE_I64, {{1, 1}});
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0].flags names 2 of 3 axes but argmin and argmax take one or all"});
  nodes = {node(kSum, kF32, {kS + 0}, 0)};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: operands[0] is a scalar"});
}

// Reductions and normalizations take the same dtypes in an expression as in a call, except c64.
TEST_F(Expressions, RefuseDtypesAsTheCallsDo) {
  double memory[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (const tnr_dtype dtype : {TNR_DTYPE_F64, TNR_DTYPE_F16, TNR_DTYPE_BF16, TNR_DTYPE_U8,
                                TNR_DTYPE_I32, TNR_DTYPE_I64, TNR_DTYPE_BOOL8, TNR_DTYPE_C64}) {
    const tnr_view a = view_of(memory, sizeof memory, 0, dtype, {{4, 1}});
    views[0] = &a;
    for (const std::uint32_t kind : {TNR_NODE_REDUCE, TNR_NODE_NORMALIZE}) {
      for (std::uint32_t op = 1; op < 64; ++op) {
        tnr_reduce_attributes with = {};
        with.struct_size = sizeof with;
        const bool is_reduction = kind == TNR_NODE_REDUCE && op <= kernels::kReduceCount;
        const bool takes_power =
            is_reduction && kernels::kReduceRows[op - 1].attribute == kernels::Attribute::kPower;
        with.power = takes_power ? 2 : 0;
        attributes = {&with};
        const tnr_view_mut result = {
            view_of(written, sizeof written, 0, dtype, {{kind == TNR_NODE_REDUCE ? 1 : 4, 1}})};
        const tnr_status called =
            kind == TNR_NODE_REDUCE
                ? tnr_reduce(nullptr, static_cast<tnr_reduce_op>(op), &a, 1, &with, &result)
                : tnr_normalize(nullptr, static_cast<tnr_normalize_op>(op), &a, 1, nullptr,
                                &result);
        if (std::strstr(tnr_last_error()->message, "unknown") != nullptr) continue;
        nodes = {node(kind + op, dtype, {kV + 0}, 1, kind == TNR_NODE_REDUCE ? 1 : 0)};
        const tnr_expression expression = given();
        tnr_dtype of;
        std::uint32_t rank;
        std::int64_t shape[TNR_MAX_RANK];
        const tnr_status status = tnr_expression_shape(&expression, &of, &rank, shape);
        // Calls add complex numbers up, which expressions do not take.
        EXPECT_EQ(status == TNR_STATUS_UNSUPPORTED,
                  called == TNR_STATUS_UNSUPPORTED || dtype == TNR_DTYPE_C64)
            << std::hex << kind + op << " of " << tnr_dtype_name(dtype) << ": "
            << tnr_last_error()->message;
      }
    }
  }
}

TEST_F(Expressions, RefuseAttributes) {
  nodes = {node(kMean, kF32, {kV + 0}, 2, 1)};
  out = output(kF32, {{2, 1}});
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT,
                     {"nodes[0]: attributes is 1 but expression->attribute_count is 0"});
  attributes = {nullptr};
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: expression->attributes[0] is NULL"});
  nodes[0].attributes = UINT32_MAX;
  expect_both_refuse(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: attributes is 4294967295"});
  nodes[0].attributes = 1;
  tnr_reduce_attributes with = {};
  with.struct_size = sizeof with;
  with.ddof = 1;
  attributes = {&with};
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "ddof is 1", "must be 0"});
  with.ddof = 0;
  with.power = 3;
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "power is 3", "must be 0"});
  with.power = 0;
  with.struct_size = 3;
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "struct_size is 3"});
  tnr_normalize_attributes norm = {};
  norm.struct_size = sizeof norm;
  norm.weight = &line;
  attributes = {&norm};
  nodes[0] = node(kSoftmax, kF32, {kV + 0}, 2, 1);
  out = output(kF32, {{2, 3}, {3, 1}});
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "weight is given but softmax"});
  nodes[0].code = TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_RMS_NORM;
  norm.weight = &pair;
  expect_refusal(TNR_STATUS_INVALID_ARGUMENT, {"nodes[0]: ", "weight"});
  norm.weight = &line;
  EXPECT_EQ(evaluate(), TNR_STATUS_OK) << tnr_last_error()->message;
}

}  // namespace
}  // namespace tenure::test
