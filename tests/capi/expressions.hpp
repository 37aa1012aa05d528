// An expression of the C API that tests change: x * line + 2, to memory that is looked at.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "expect_status.hpp"
#include "layouts.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

inline constexpr std::uint32_t kV = TNR_OPERAND_VIEW;
inline constexpr std::uint32_t kS = TNR_OPERAND_SCALAR;
inline constexpr std::uint32_t kAdd = TNR_NODE_BINARY + TNR_BINARY_OP_ADD;
inline constexpr std::uint32_t kMul = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
inline constexpr std::uint32_t kSub = TNR_NODE_BINARY + TNR_BINARY_OP_SUB;
inline constexpr std::uint32_t kDiv = TNR_NODE_BINARY + TNR_BINARY_OP_DIV;
inline constexpr std::uint32_t kNeg = TNR_NODE_UNARY + TNR_UNARY_OP_NEG;
inline constexpr std::uint32_t kSum = TNR_NODE_REDUCE + TNR_REDUCE_OP_SUM;
inline constexpr std::uint32_t kMean = TNR_NODE_REDUCE + TNR_REDUCE_OP_MEAN;
inline constexpr std::uint32_t kMax = TNR_NODE_REDUCE + TNR_REDUCE_OP_MAX;
inline constexpr std::uint32_t kArgmax = TNR_NODE_REDUCE + TNR_REDUCE_OP_ARGMAX;
inline constexpr std::uint32_t kSoftmax = TNR_NODE_NORMALIZE + TNR_NORMALIZE_OP_SOFTMAX;
inline constexpr tnr_dtype kF32 = TNR_DTYPE_F32;

inline tnr_node node(std::uint32_t code, tnr_dtype dtype,
                     std::initializer_list<std::uint32_t> operands, std::uint32_t flags = 0,
                     std::uint32_t attributes = 0) {
  tnr_node made = {code,       dtype, {TNR_OPERAND_NONE, TNR_OPERAND_NONE, TNR_OPERAND_NONE},
                   attributes, flags, 0};
  std::copy(operands.begin(), operands.end(), made.operands);
  return made;
}

class Expressions : public testing::Test {
 protected:
  Expressions() { std::memset(written, kUntouched, sizeof written); }

  [[nodiscard]] tnr_expression given() const {
    tnr_expression expression = {};
    expression.struct_size = sizeof expression;
    expression.nodes = nodes.data();
    expression.views = views.data();
    expression.scalars = scalars.data();
    expression.attributes = attributes.data();
    expression.node_count = static_cast<std::uint32_t>(nodes.size());
    expression.view_count = static_cast<std::uint32_t>(views.size());
    expression.scalar_count = static_cast<std::uint32_t>(scalars.size());
    expression.attribute_count = static_cast<std::uint32_t>(attributes.size());
    return expression;
  }
  tnr_status evaluate(tnr_context* context = nullptr) {
    const tnr_expression expression = given();
    return tnr_evaluate(context, &expression, nullptr, &out);
  }
  // With and without an output alike.
  void expect_both_refuse(tnr_status status, std::initializer_list<std::string> words) {
    expect_refusal(status, words);
    const tnr_expression expression = given();
    expect_shape_refused(expression, status, words);
  }
  void expect_refusal(tnr_status status, std::initializer_list<std::string> words) {
    expect_refused(evaluate(), status, words);
    expect_untouched();
  }
  void expect_untouched() const {
    for (const unsigned char byte : written) ASSERT_EQ(byte, kUntouched);
  }
  static void expect_shape_refused(const tnr_expression& expression, tnr_status status,
                                   std::initializer_list<std::string> words) {
    tnr_dtype dtype = 7;
    std::uint32_t rank = 7;
    std::int64_t shape[TNR_MAX_RANK] = {7, 7};
    expect_refused(tnr_expression_shape(&expression, &dtype, &rank, shape), status, words);
    EXPECT_EQ(dtype, tnr_dtype{7});
    EXPECT_EQ(rank, 7u);
    EXPECT_EQ(shape[0], 7);
  }
  void expect_out(const std::vector<float>& expected) const {
    std::vector<float> found(expected.size());
    std::memcpy(found.data(), written, found.size() * sizeof(float));
    EXPECT_EQ(found, expected);
  }
  [[nodiscard]] tnr_view_mut output(tnr_dtype dtype, const Layout& layout) {
    return {view_of(written, sizeof written, 0, dtype, layout)};
  }

  static constexpr unsigned char kUntouched = 0x5A;
  float read[6] = {1, 2, 3, 4, 5, 6};
  std::int32_t whole[6] = {1, 2, 3, 4, 5, 0};
  alignas(8) unsigned char written[256];
  tnr_view table = view_of(read, sizeof read, 0, kF32, {{2, 3}, {3, 1}});
  tnr_view line = view_of(read, sizeof read, 0, kF32, {{3, 1}});
  tnr_view pair = view_of(read, sizeof read, 0, kF32, {{2, 1}});
  tnr_view integers = view_of(whole, sizeof whole, 0, TNR_DTYPE_I32, {{2, 3}, {3, 1}});
  tnr_view_mut out = output(kF32, {{2, 3}, {3, 1}});
  std::vector<const tnr_view*> views = {&table, &line};
  std::vector<tnr_scalar> scalars = {tnr_scalar_f64(2)};
  std::vector<const void*> attributes;
  std::vector<tnr_node> nodes = {node(kMul, kF32, {kV + 0, kV + 1}), node(kAdd, kF32, {0, kS + 0})};
};

}  // namespace tenure::test
