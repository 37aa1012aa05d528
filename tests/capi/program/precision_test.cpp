// Mixed precision: products in f16 and bf16 between casts, compared with nodes that tests write.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "program_kinds.hpp"

using tenure::test::CGraph;
using tenure::test::doubled;
using tenure::test::elements_of;
using tenure::test::Floats;
using tenure::test::kind_cases;
using tenure::test::KindCase;
using tenure::test::KindOperand;
using tenure::test::Shape;
using tenure::test::view_over;

namespace {

constexpr auto F32 = TNR_DTYPE_F32;
constexpr auto F16 = TNR_DTYPE_F16;
constexpr auto BF16 = TNR_DTYPE_BF16;
constexpr auto kGelu = TNR_NODE_UNARY | TNR_UNARY_OP_GELU;
constexpr auto kRelu = TNR_NODE_UNARY | TNR_UNARY_OP_RELU;
constexpr auto kTanh = TNR_NODE_UNARY | TNR_UNARY_OP_TANH;
constexpr auto kAdd = TNR_NODE_BINARY | TNR_BINARY_OP_ADD;
constexpr auto kMul = TNR_NODE_BINARY | TNR_BINARY_OP_MUL;
constexpr auto kSum = TNR_NODE_REDUCE | TNR_REDUCE_OP_SUM;
constexpr auto kSoftmax = TNR_NODE_NORMALIZE | TNR_NORMALIZE_OP_SOFTMAX;

using Values = std::vector<std::uint32_t>;

bool is_product(const KindCase& of) {
  switch (of.code) {
    case TNR_NODE_MATMUL:
    case TNR_NODE_CONV2D:
    case TNR_NODE_CONV2D_TRANSPOSED:
    case TNR_NODE_CONV2D_FILTERS: return true;
    default: return of.code == TNR_NODE_EINSUM && of.operands.size() > 1;
  }
}

class PrecisionTest : public CGraph {
 protected:
  tnr_status add_lowered(const Values& of, tnr_dtype dtype, const Values& keep, Values& lowered) {
    tnr_precision_attributes attributes = {};
    attributes.struct_size = sizeof attributes;
    attributes.keep = keep.data();
    attributes.keep_count = static_cast<std::uint32_t>(keep.size());
    lowered.assign(of.size(), 77);
    return tnr_graph_add_mixed_precision(graph, of.data(), static_cast<std::uint32_t>(of.size()),
                                         dtype, &attributes, lowered.data());
  }
  std::uint32_t lowered(std::uint32_t of, tnr_dtype dtype = BF16, const Values& keep = {}) {
    Values values;
    EXPECT_EQ(add_lowered({of}, dtype, keep, values), TNR_STATUS_OK) << tnr_last_error()->message;
    return values[0];
  }
  void expect_refused(const Values& of, tnr_dtype dtype, const Values& keep, const char* message) {
    const std::uint32_t count = node_count();
    Values values;
    EXPECT_EQ(add_lowered(of, dtype, keep, values), TNR_STATUS_INVALID_ARGUMENT);
    EXPECT_STREQ(tnr_last_error()->message, message);
    for (const std::uint32_t value : values) EXPECT_EQ(value, 77u);
    EXPECT_EQ(node_count(), count);
  }
  std::uint32_t cast(std::uint32_t value, tnr_dtype dtype) {
    std::uint32_t result = TNR_OPERAND_NONE;
    EXPECT_EQ(add(TNR_NODE_CAST, {value}, {}, nullptr, 0, &result, dtype), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return result;
  }
  std::uint32_t matmul(std::uint32_t a, std::uint32_t b) { return node(TNR_NODE_MATMUL, {a, b}); }
  std::uint32_t sum(std::uint32_t value) { return node(kSum, {value}, {}, nullptr, 3); }

  [[nodiscard]] tnr_graph_info info() const {
    tnr_graph_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(tnr_graph_describe(graph, &info), TNR_STATUS_OK);
    return info;
  }
  [[nodiscard]] std::uint32_t node_count() const { return info().node_count; }
  [[nodiscard]] tnr_graph_node node_at(std::uint32_t index) const {
    tnr_graph_node node = {};
    node.struct_size = sizeof node;
    EXPECT_EQ(tnr_graph_describe_node(graph, index, &node), TNR_STATUS_OK);
    return node;
  }
  [[nodiscard]] tnr_value_info value_at(std::uint32_t value) const {
    tnr_value_info info = {};
    info.struct_size = sizeof info;
    EXPECT_EQ(tnr_graph_describe_value(graph, value, &info), TNR_STATUS_OK);
    return info;
  }
  // The codes of the nodes from this one on.
  [[nodiscard]] std::vector<std::uint32_t> codes_from(std::uint32_t first) const {
    std::vector<std::uint32_t> codes;
    for (; first < node_count(); ++first) codes.push_back(node_at(first).code);
    return codes;
  }

  // Runs the program of all outputs so far, which are f32 of these shapes.
  std::vector<Floats> results(const std::vector<tnr_view>& inputs, const std::vector<Shape>& shapes,
                              std::uint32_t disabled_passes = 0) {
    std::vector<Floats> results;
    std::vector<tnr_view_mut> outputs;
    for (const Shape& shape : shapes) results.emplace_back(shape, 77, 0);
    for (Floats& result : results) outputs.push_back(result.out());
    EXPECT_EQ(run(program(disabled_passes), inputs, outputs), TNR_STATUS_OK)
        << tnr_last_error()->message;
    return results;
  }
};

TEST_F(PrecisionTest, ProductsOfEachKindTakeAndGiveTheNarrowDtype) {
  std::size_t products = 0;
  std::size_t changed = 0;
  for (const tnr_dtype dtype : {BF16, F16}) {
    for (const KindCase& of : kind_cases()) {
      SCOPED_TRACE(of.name);
      EXPECT_EQ(tnr_graph_release(std::exchange(graph, tnr_graph_create())), TNR_STATUS_OK);
      const tnr_custom_operation own = doubled();
      std::uint32_t index = 0;
      ASSERT_EQ(tnr_graph_add_custom(graph, &own, &index), TNR_STATUS_OK);
      Values operands;
      Values rounded;
      std::vector<std::vector<unsigned char>> bytes;
      std::vector<tnr_view> views;
      bool is_f32 = true;
      for (const KindOperand& operand : of.operands) {
        rounded.push_back(TNR_OPERAND_NONE);
        if (!operand.is_given() || operand.is_scalar) {
          operands.push_back(operand.is_given() ? scalar(operand.numbers[0]) : TNR_OPERAND_NONE);
          continue;
        }
        is_f32 &= operand.dtype == F32;
        operands.push_back(input(operand.shape, operand.dtype));
        std::vector<double> numbers = operand.numbers;
        for (double& number : numbers) number *= operand.dtype == F32 ? 1.01 : 1;
        bytes.push_back(elements_of(numbers, operand.shape, operand.dtype));
        views.push_back(view_over(bytes.back().data(), operand.shape, operand.dtype));
      }
      std::uint32_t direct = TNR_OPERAND_NONE;
      ASSERT_EQ(
          add(of.code, operands, of.numbers, of.attributes.get(), of.flags, &direct, of.dtype),
          TNR_STATUS_OK);
      const std::uint32_t count = node_count();
      const std::uint32_t found = lowered(direct, dtype);
      if (!is_product(of) || !is_f32) {
        EXPECT_EQ(found, direct);
        EXPECT_EQ(node_count(), count);
        continue;
      }
      ++products;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i] != TNR_OPERAND_NONE) rounded[i] = cast(operands[i], dtype);
      }
      const std::uint32_t expected =
          cast(node(of.code, rounded, of.numbers, of.attributes.get(), of.flags), F32);
      const tnr_value_info shape = value_at(found);
      EXPECT_EQ(shape.dtype, F32);
      for (const std::uint32_t value : {found, expected, direct}) output(value);
      const Shape extents(shape.shape, shape.shape + shape.rank);
      const std::vector<Floats> all = results(views, {extents, extents, extents});
      EXPECT_EQ(all[0].values, all[1].values);
      changed += all[0].values != all[2].values;
    }
  }
  EXPECT_GE(products, 10u);
  EXPECT_GE(changed, products / 2);
}

TEST_F(PrecisionTest, OnlyWhatLeadsFromAProductIsCopied) {
  const std::uint32_t x = input({4, 3});
  const std::uint32_t w = input({3, 3});
  const std::uint32_t y = node(kTanh, {x});
  const std::uint32_t product = matmul(y, w);
  const std::uint32_t result = node(kGelu, {product});
  ASSERT_EQ(tnr_graph_mark(graph, 1, 1, TNR_MARK_KEEP), TNR_STATUS_OK);
  const std::uint32_t count = node_count();
  Values all;
  ASSERT_EQ(add_lowered({result, y, x, result}, BF16, {}, all), TNR_STATUS_OK);
  EXPECT_EQ(all[1], y);
  EXPECT_EQ(all[2], x);
  EXPECT_EQ(all[3], all[0]);
  EXPECT_EQ(codes_from(count), (std::vector<std::uint32_t>{TNR_NODE_CAST, TNR_NODE_CAST,
                                                           TNR_NODE_MATMUL, TNR_NODE_CAST, kGelu}));
  EXPECT_EQ(node_at(count).operands[0], y);
  EXPECT_EQ(node_at(count + 2).marks, TNR_MARK_KEEP);
  EXPECT_EQ(node_at(count + 3).marks, TNR_MARK_RECOMPUTE);
  // No product of f32 is left in it.
  EXPECT_EQ(lowered(all[0]), all[0]);
}

TEST_F(PrecisionTest, ViewsReluAndMaximaPassNarrowValuesOn) {
  const std::uint32_t x = input({4, 6});
  const std::uint32_t w = input({6, 6});
  std::uint32_t value = matmul(x, w);
  value = node(TNR_NODE_RESHAPE, {value}, {6, 4});
  value = node(kRelu, {value});
  value = node(TNR_NODE_PERMUTE, {value}, {1, 0});
  value = matmul(value, w);
  const std::uint32_t count = node_count();
  output(lowered(value));
  EXPECT_EQ(codes_from(count), (std::vector<std::uint32_t>{
                                   TNR_NODE_CAST, TNR_NODE_CAST, TNR_NODE_MATMUL, TNR_NODE_RESHAPE,
                                   kRelu, TNR_NODE_PERMUTE, TNR_NODE_MATMUL, TNR_NODE_CAST}));
}

TEST_F(PrecisionTest, ABiasIsAddedBeforeTheOneRounding) {
  const std::uint32_t a = input({1, 2});
  const std::uint32_t b = input({2, 1});
  const std::uint32_t bias = input({1});
  output(lowered(node(kAdd, {matmul(a, b), bias})));
  const Floats ones({1, 2}, 1, 0);
  Floats factor({2, 1});
  factor.values = {256, 1};
  const Floats one({1}, 1, 0);
  // 257 rounds to 256 in bf16, and so does 256 + 1.
  EXPECT_EQ(results({ones.view(), factor.view(), one.view()}, {{1, 1}})[0].values[0], 258);
}

TEST_F(PrecisionTest, KeptValuesAreComputedInF32) {
  const std::uint32_t x = input({5, 7});
  const std::uint32_t w = input({7, 7});
  const std::uint32_t first = matmul(x, w);
  const std::uint32_t second = matmul(node(kTanh, {first}), w);
  output(lowered(second, BF16, {second, first}));
  output(second);
  output(lowered(second, BF16, {second}));
  output(matmul(node(kTanh, {cast(matmul(cast(x, BF16), cast(w, BF16)), F32)}), w));
  const Floats a({5, 7}, 0.11F, 0.37F);
  const Floats b({7, 7}, -1, 0.23F);
  const std::vector<Floats> all = results({a.view(), b.view()}, {{5, 7}, {5, 7}, {5, 7}, {5, 7}});
  EXPECT_EQ(all[0].values, all[1].values);
  EXPECT_EQ(all[2].values, all[3].values);
  EXPECT_NE(all[1].values, all[2].values);
}

TEST_F(PrecisionTest, GradientsByF32AreNearThoseOfTheGraph) {
  const std::vector<Shape> shapes = {{6, 8}, {8, 12}, {12}, {12, 5}};
  Values by;
  for (const Shape& shape : shapes) by.push_back(input(shape));
  const std::uint32_t hidden = node(kGelu, {node(kAdd, {matmul(by[0], by[1]), by[2]})});
  const std::uint32_t scores = node(kSoftmax, {matmul(hidden, by[3])}, {}, nullptr, 2);
  const std::uint32_t loss = sum(node(kMul, {scores, scores}));
  std::vector<Shape> result_shapes;
  for (const std::uint32_t of : {loss, lowered(loss, BF16), lowered(loss, F16)}) {
    Values gradients(by.size());
    ASSERT_EQ(tnr_graph_add_gradients(graph, of, TNR_OPERAND_NONE, by.data(), 4, nullptr,
                                      gradients.data()),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    for (std::size_t i = 0; i < by.size(); ++i) {
      EXPECT_EQ(value_at(gradients[i]).dtype, F32);
      output(gradients[i]);
      result_shapes.push_back(shapes[i]);
    }
  }
  std::vector<Floats> inputs;
  std::vector<tnr_view> views;
  for (const Shape& shape : shapes) inputs.emplace_back(shape, -0.9F, 0.317F);
  for (const Floats& of : inputs) views.push_back(of.view());
  for (const std::uint32_t disabled : {0, TNR_PASS_EPILOGUES | TNR_PASS_FUSION}) {
    const std::vector<Floats> all = results(views, result_shapes, disabled);
    for (std::size_t i = 0; i < by.size(); ++i) {
      double size = 0;
      double bf16 = 0;
      double f16 = 0;
      for (std::size_t j = 0; j < all[i].values.size(); ++j) {
        const auto off = [&](std::size_t k) {
          return std::pow(all[i].values[j] - all[k + i].values[j], 2.0);
        };
        size += std::pow(all[i].values[j], 2.0);
        bf16 += off(4);
        f16 += off(8);
      }
      EXPECT_GT(size, 1e-6);
      EXPECT_LT(std::sqrt(bf16 / size), 0.06) << i;
      EXPECT_LT(std::sqrt(f16 / size), 0.008) << i;
      EXPECT_LT(f16, bf16) << i;
    }
  }
}

class PrecisionInBodiesTest : public PrecisionTest {
 protected:
  // The number of a body that `build` makes.
  template <class Build>
  std::int64_t body(const Build& build) {
    tnr_graph* const around = std::exchange(graph, tnr_graph_create());
    build();
    tnr_graph* const made = std::exchange(graph, around);
    std::uint32_t index = 77;
    EXPECT_EQ(tnr_graph_add_subgraph(graph, made, &index), TNR_STATUS_OK)
        << tnr_last_error()->message;
    EXPECT_EQ(tnr_graph_release(made), TNR_STATUS_OK);
    return index;
  }
  std::uint32_t rounded_tanh(std::uint32_t x, std::uint32_t w) {
    return node(kTanh, {cast(matmul(cast(x, BF16), cast(w, BF16)), F32)});
  }
};

TEST_F(PrecisionInBodiesTest, ProductsInBranchesAreLowered) {
  const std::uint32_t flag = input({}, TNR_DTYPE_BOOL8);
  const std::uint32_t x = input({4, 4});
  const std::uint32_t w = input({4, 4});
  const auto branch = [&](bool has_product) {
    return body([&] {
      const std::uint32_t a = input({4, 4});
      const std::uint32_t b = input({4, 4});
      output(node(kTanh, {has_product ? matmul(a, b) : a}));
    });
  };
  const std::uint32_t direct = node(TNR_NODE_COND, {flag, x, w}, {branch(true), branch(false)});
  for (const std::uint32_t value :
       {lowered(direct), direct, lowered(direct, BF16, {direct}), rounded_tanh(x, w)}) {
    output(value);
    Values gradients(2);
    const Values by = {x, w};
    const std::uint32_t of = sum(value);
    ASSERT_EQ(tnr_graph_add_gradients(graph, of, TNR_OPERAND_NONE, by.data(), 2, nullptr,
                                      gradients.data()),
              TNR_STATUS_OK)
        << tnr_last_error()->message;
    output(gradients[1]);
  }
  const Floats a({4, 4}, 0.11F, 0.37F);
  const Floats b({4, 4}, -1, 0.23F);
  for (const bool taken : {true, false}) {
    const std::vector<Floats> all =
        results({view_over(&taken, {}, TNR_DTYPE_BOOL8), a.view(), b.view()},
                std::vector<Shape>(8, {4, 4}));
    EXPECT_EQ(all[4].values, all[2].values);
    EXPECT_EQ(all[5].values, all[3].values);
    if (!taken) {
      EXPECT_EQ(all[0].values, all[2].values);
      continue;
    }
    EXPECT_NE(all[0].values, all[2].values);
    EXPECT_EQ(all[0].values, all[6].values);
    EXPECT_EQ(all[1].values, all[7].values);
  }
}

TEST_F(PrecisionInBodiesTest, ProductsInLoopsAreLowered) {
  const auto inputs = [&] { return Values{input({4, 4}), input({}), input({4, 4})}; };
  const std::int64_t condition =
      body([&] { output(node(TNR_NODE_COMPARE | TNR_COMPARE_OP_LT, {inputs()[1], scalar(3)})); });
  const std::int64_t iteration = body([&] {
    const Values given = inputs();
    output(node(kTanh, {matmul(given[0], given[2])}));
    output(node(kAdd, {given[1], scalar(1)}));
  });
  const std::uint32_t x = input({4, 4});
  const std::uint32_t w = input({4, 4});
  const float zero = 0;
  output(lowered(
      node(TNR_NODE_WHILE, {x, constant(view_over(&zero, {})), w}, {condition, iteration, 5})));
  output(rounded_tanh(rounded_tanh(rounded_tanh(x, w), w), w));
  const Floats a({4, 4}, 0.11F, 0.37F);
  const Floats b({4, 4}, -1, 0.23F);
  const std::vector<Floats> all = results({a.view(), b.view()}, {{4, 4}, {4, 4}});
  EXPECT_EQ(all[0].values, all[1].values);
}

TEST_F(PrecisionTest, ExtentsThatANodeBehindAProductFindsAreFoundAgain) {
  std::int64_t rows = 0;
  std::int64_t found = 0;
  ASSERT_EQ(tnr_graph_add_extent(graph, "rows", 8, &rows), TNR_STATUS_OK);
  ASSERT_EQ(tnr_graph_add_extent(graph, "found", 64, &found), TNR_STATUS_OK);
  const std::uint32_t x = input({rows, 4});
  const std::uint32_t w = input({4, 4});
  const std::uint32_t product = matmul(x, w);
  const std::uint32_t mask = node(TNR_NODE_COMPARE | TNR_COMPARE_OP_GT, {product, scalar(256.5)});
  const std::uint32_t taken = node(TNR_NODE_MASKED_SELECT, {product, mask}, {found});
  const float one = 1;
  const std::uint32_t ones = node(TNR_NODE_BROADCAST, {constant(view_over(&one, {}))}, {found});
  for (const std::uint32_t of : {ones, taken}) {
    const std::uint32_t total = node(kSum, {of}, {}, nullptr, 1);
    output(total);
    output(lowered(total));
  }
  // Rows of 257, 258, 258 and 256: the first one is 256 in bf16.
  Floats a({2, 4}, 1, 0);
  Floats b({4, 4}, 0, 0);
  std::fill_n(b.values.begin(), 4, 256.0F);
  b.values[4] = 1;
  b.values[5] = b.values[6] = 2;
  b.values[7] = 0;
  a.values[3] = a.values[7] = 0;
  for (const std::uint32_t disabled : {0, TNR_PASS_COMMON_SUBEXPRESSIONS}) {
    const std::vector<Floats> all = results({a.view(), b.view()}, {{}, {}, {}, {}}, disabled);
    EXPECT_EQ(all[0].values[0], 6);
    EXPECT_EQ(all[1].values[0], 4);
    EXPECT_EQ(all[2].values[0], 2 * 257 + 4 * 258);
    EXPECT_EQ(all[3].values[0], 4 * 258);
  }
}

TEST_F(PrecisionTest, AGraphThatIsBuiltAgainComputesTheSame) {
  const std::uint32_t x = input({4, 6});
  const Floats weight({6, 6}, -0.7F, 0.31F);
  const std::uint32_t w = constant(weight.view());
  output(lowered(node(kSoftmax, {matmul(node(kGelu, {matmul(x, w)}), w)}, {}, nullptr, 2)));
  const Floats a({4, 6}, 0.11F, 0.37F);
  const Floats first = results({a.view()}, {{4, 6}})[0];
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, tenure::test::rebuilt(graph))), TNR_STATUS_OK);
  EXPECT_EQ(results({a.view()}, {{4, 6}})[0].values, first.values);
}

TEST_F(PrecisionTest, AProgramReleasesTheConstantsThatItHasRounded) {
  const Floats weight({64, 64}, -0.7F, 0.31F);
  int released = 0;
  tnr_blob* const blob = tnr_blob_share(
      weight.values.data(), weight.values.size() * 4,
      [](void* counter) { ++*static_cast<int*>(counter); }, &released);
  ASSERT_NE(blob, nullptr) << tnr_last_error()->message;
  tnr_view view = weight.view();
  view.owner = reinterpret_cast<std::uint64_t>(blob);
  const std::uint32_t x = input({2, 64});
  output(lowered(matmul(x, constant(view))));
  const tnr_program* const made = program();
  EXPECT_EQ(tnr_blob_release(blob), TNR_STATUS_OK);
  EXPECT_EQ(released, 0);
  EXPECT_EQ(tnr_graph_release(std::exchange(graph, nullptr)), TNR_STATUS_OK);
  EXPECT_EQ(released, 1);
  const Floats a({2, 64}, 0.11F, 0.37F);
  Floats out({2, 64});
  EXPECT_EQ(run(made, {a.view()}, {out.out()}), TNR_STATUS_OK);
  EXPECT_NE(out.values[0], 0);
}

TEST_F(PrecisionTest, RefusalsNameTheValueAndTheBound) {
  const std::uint32_t x = input({4, 4});
  const std::uint32_t other = node(kTanh, {x});
  const std::uint32_t product = matmul(x, x);
  expect_refused({product}, F32, {}, "dtype is f32 but must be bf16 or f16");
  expect_refused({product}, TNR_DTYPE_I8, {}, "dtype is i8 but must be bf16 or f16");
  expect_refused({product, 9}, BF16, {}, "of[1] is 9 but the graph has 3 values");
  expect_refused({product}, BF16, {x, 3}, "keep[1] is 3 but the graph has 3 values");
  expect_refused({product}, BF16, {x, other},
                 "keep[1] is value 1, which no value of `of` depends on");
  tnr_precision_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.keep_count = 1;
  std::uint32_t result = 77;
  EXPECT_EQ(tnr_graph_add_mixed_precision(graph, &product, 1, BF16, &attributes, &result),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_STREQ(tnr_last_error()->message, "attributes->keep is NULL");
  attributes.keep_count = 0;
  attributes.reserved = 1;
  EXPECT_EQ(tnr_graph_add_mixed_precision(graph, &product, 1, BF16, &attributes, &result),
            TNR_STATUS_INVALID_ARGUMENT);
  EXPECT_EQ(result, 77u);
  EXPECT_EQ(tnr_graph_add_mixed_precision(graph, nullptr, 0, BF16, nullptr, nullptr),
            TNR_STATUS_OK);
}

}  // namespace
