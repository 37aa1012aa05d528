// Convolutions that are refused: the message of each, and that the output stays as it is.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

tnr_conv2d_attributes plain_attributes() {
  tnr_conv2d_attributes given = {};
  given.struct_size = sizeof given;
  return given;
}

struct RefusedConv2d : testing::Test {
  Operand<float> a{{2, 4, 5, 6}};
  Operand<float> weight{{6, 4, 3, 3}};
  Operand<float> bias{Shape{6}};
  Operand<float> out{{2, 6, 3, 4}, 7};
  tnr_conv2d_attributes with = plain_attributes();

  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& x,
              const tnr_view& y, const tnr_view& z, const tnr_view& added) {
    expect_error(status, words, [&] { conv2d(kDefaultContext, x, y, &added, with, {z}); });
    for (const float element : out.memory) EXPECT_EQ(element, 7);
  }
  void expect_invalid(std::initializer_list<std::string> words) {
    expect(TNR_STATUS_INVALID_ARGUMENT, words, a.view, weight.view, out.view, bias.view);
    with = plain_attributes();
  }
};

TEST_F(RefusedConv2d, ShapesThatDoNotAgree) {
  const auto invalid = TNR_STATUS_INVALID_ARGUMENT;
  const auto of = [](const Shape& shape) { return Operand<float>(shape); };
  const Operand<float> channels = of({6, 3, 3, 3});
  expect(invalid,
         {"weight.shape[1] is 3 but must be 4, the channels of a by groups", "[6, 3, 3, 3]"},
         a.view, channels.view, out.view, bias.view);
  const Operand<float> none = of({6, 4, 3, 0});
  expect(invalid, {"weight.shape[3] is 0 but must be 1 at least"}, a.view, none.view, out.view,
         bias.view);
  const Operand<float> images = of({3, 6, 3, 4});
  expect(invalid, {"out.shape[0] is 3 but must be 2, the images of a"}, a.view, weight.view,
         images.view, bias.view);
  const Operand<float> filters = of({2, 5, 3, 4});
  expect(invalid, {"out.shape[1] is 5 but must be 6, the filters of weight"}, a.view, weight.view,
         filters.view, bias.view);
  const Operand<float> rows = of({2, 6, 5, 4});
  expect(invalid, {"out.shape[2] is 5 but must be 3, the rows at which weight fits into a"}, a.view,
         weight.view, rows.view, bias.view);
  const Operand<float> columns = of({2, 6, 3, 3});
  expect(invalid, {"out.shape[3] is 3 but must be 4, the columns at which weight fits into a"},
         a.view, weight.view, columns.view, bias.view);
  const Operand<float> biases = of(Shape{5});
  expect(invalid, {"bias.shape[0] is 5 but must be 6, the filters of weight"}, a.view, weight.view,
         out.view, biases.view);
}

TEST_F(RefusedConv2d, Ranks) {
  const auto invalid = TNR_STATUS_INVALID_ARGUMENT;
  const Operand<float> three({4, 5, 6});
  const Operand<float> two({6, 1});
  expect(invalid, {"a.rank is 3 but must be 4"}, three.view, weight.view, out.view, bias.view);
  expect(invalid, {"weight.rank is 3 but must be 4"}, a.view, three.view, out.view, bias.view);
  expect(invalid, {"out.rank is 3 but must be 4"}, a.view, weight.view, three.view, bias.view);
  expect(invalid, {"bias.rank is 2 but must be 1"}, a.view, weight.view, out.view, two.view);
}

TEST_F(RefusedConv2d, Groups) {
  with.groups = 3;
  expect_invalid({"a.shape[1] is 4, which 3 groups do not divide"});
  with.groups = 4;
  expect_invalid({"weight.shape[0] is 6, which 4 groups do not divide"});
  for (const std::int64_t groups : {std::int64_t{-1}, -kMost - 1}) {
    with.groups = groups;
    expect_invalid({"attributes->groups is " + std::to_string(groups) + " but must be 1 at least"});
  }
}

TEST_F(RefusedConv2d, NegativeAttributes) {
  for (unsigned i = 0; i < 2; ++i) {
    const std::string at = "[" + std::to_string(i) + "] is -2 but must be 0 at least";
    with.strides[i] = -2;
    expect_invalid({"attributes->strides" + at});
    with.dilations[i] = -2;
    expect_invalid({"attributes->dilations" + at});
  }
  for (unsigned i = 0; i < 4; ++i) {
    with.padding[i] = -1;
    expect_invalid({"attributes->padding[" + std::to_string(i) + "] is -1 but must be 0 at least"});
  }
}

TEST_F(RefusedConv2d, KernelsThatExceedTheImage) {
  with.dilations[0] = 3;
  expect_invalid({"weight's height of 3, dilated by 3, exceeds the 5 of a with its padding"});
  with.dilations[1] = 3;
  with.padding[0] = 2;
  expect_invalid({"weight's width of 3, dilated by 3, exceeds the 6 of a with its padding"});
  with.dilations[1] = kMost;
  expect_invalid({"weight's width of 3, dilated by 9223372036854775807, exceeds the 6 of a"});
}

TEST_F(RefusedConv2d, ExtentsThatOverflow) {
  with.padding[0] = kMost;
  expect_invalid({"the padded height of a exceeds 2^63 - 1"});
  with.padding[2] = kMost - 6;
  with.padding[3] = 1;
  expect_invalid({"the padded width of a exceeds 2^63 - 1"});
  with.padding[3] = kMost - 6;
  expect_invalid({"out.shape[3] is 4 but must be 9223372036854775805"});
  // A kernel that repeats one element: more bytes than there can be, and than there are.
  for (const std::int64_t side : {std::int64_t{1} << 29, std::int64_t{1} << 24}) {
    const tnr_view large = view_of(weight.memory.data(), weight.memory.size() * sizeof(float), 0,
                                   TNR_DTYPE_F32, {{1, 0}, {1, 0}, {side, 0}, {side, 0}});
    const Operand<float> image({1, 1, 1, 1});
    Operand<float> one({1, 1, 1, 1}, 7);
    with.padding[0] = with.padding[2] = side - 1;
    expect_error(TNR_STATUS_OUT_OF_MEMORY, {"bytes"},
                 [&] { conv2d(kDefaultContext, image.view, large, nullptr, with, one.out()); });
    EXPECT_EQ(one.memory[0], 7);
  }
}

TEST_F(RefusedConv2d, Activations) {
  for (const tnr_unary_op activation : {-1, 99}) {
    with.activation = activation;
    expect_invalid({"attributes->activation is " + std::to_string(activation) +
                    ", which names no unary operation"});
  }
}

TEST_F(RefusedConv2d, Bounds) {
  with.flags = 6;
  expect_invalid({"attributes->flags is 0x6 but only 0x1 is known"});
  with.flags = TNR_EPILOGUE_CLAMP;
  with.low = 6;
  with.high = 0;
  expect_invalid({"attributes->low is 6 and attributes->high is 0"});
}

TEST_F(RefusedConv2d, Dtypes) {
  tnr_view integers = a.view;
  integers.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_UNSUPPORTED, {"conv2d does not take i32"}, integers, weight.view, out.view,
         bias.view);
  const auto invalid = TNR_STATUS_INVALID_ARGUMENT;
  const Operand<double> wide_weight({6, 4, 3, 3});
  expect(invalid, {"weight.dtype is f64", "a.dtype is f32"}, a.view, wide_weight.view, out.view,
         bias.view);
  const Operand<double> wide_bias(Shape{6});
  expect(invalid, {"bias.dtype is f64", "a.dtype is f32"}, a.view, weight.view, out.view,
         wide_bias.view);
  const Operand<double> wide_out({2, 6, 3, 4});
  expect(invalid, {"out.dtype is f64", "a.dtype is f32"}, a.view, weight.view, wide_out.view,
         bias.view);
}

TEST_F(RefusedConv2d, Overlap) {
  Operand<float> all(Shape{2000}, 7);
  const auto in_all = [&](std::int64_t first, const Shape& shape) {
    Layout layout;
    std::int64_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
      layout.insert(layout.begin(), {shape[axis], stride});
    }
    return view_of(all.memory.data(), 8000, 4 * first, TNR_DTYPE_F32, layout);
  };
  const tnr_view to = in_all(500, {2, 6, 3, 4});
  expect(TNR_STATUS_ALIASED, {"out shares bytes with a"}, in_all(300, {2, 4, 5, 6}), weight.view,
         to, bias.view);
  expect(TNR_STATUS_ALIASED, {"out shares bytes with weight"}, a.view, in_all(643, {6, 4, 3, 3}),
         to, bias.view);
  expect(TNR_STATUS_ALIASED, {"out shares bytes with bias"}, a.view, weight.view, to,
         in_all(499, {6}));
  tnr_view twice = out.view;
  twice.strides[0] = 0;
  expect(TNR_STATUS_ALIASED, {"out"}, a.view, weight.view, twice, bias.view);
}

}  // namespace
}  // namespace tenure::test
