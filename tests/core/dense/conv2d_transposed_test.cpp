// Transposed convolutions: each element of the images times a filter, added where it belongs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "expect_error.hpp"
#include "image_operands.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

tnr_conv2d_attributes plain() {
  tnr_conv2d_attributes with = {};
  with.struct_size = sizeof with;
  with.strides[0] = with.strides[1] = with.dilations[0] = with.dilations[1] = with.groups = 1;
  return with;
}

template <class T>
void expect_twin(Operand<T> a, Operand<T> weight, std::optional<Operand<T>> bias, Operand<T> out,
                 const tnr_conv2d_attributes& with, const Context& context) {
  Operand<T> expected = out;
  for_each_index(out.view,
                 [&](const Index& at) { expected.at(at) = bias ? bias->at({at[1]}) : T{0}; });
  const std::int64_t channels = a.view.shape[1] / with.groups;
  const std::int64_t filters = out.view.shape[1] / with.groups;
  for_each_index(a.view, [&](const Index& at) {
    const std::int64_t group = at[1] / channels;
    for (std::int64_t f = 0; f < filters; ++f) {
      for (std::int64_t i = 0; i < weight.view.shape[2]; ++i) {
        for (std::int64_t j = 0; j < weight.view.shape[3]; ++j) {
          const std::int64_t y = at[2] * with.strides[0] + i * with.dilations[0] - with.padding[0];
          const std::int64_t x = at[3] * with.strides[1] + j * with.dilations[1] - with.padding[2];
          if (y < 0 || y >= out.view.shape[2] || x < 0 || x >= out.view.shape[3]) continue;
          expected.at({at[0], group * filters + f, y, x}) += a.at(at) * weight.at({at[1], f, i, j});
        }
      }
    }
  });
  if (with.activation == TNR_UNARY_OP_RELU) {
    for_each_index(out.view,
                   [&](const Index& at) { expected.at(at) = std::max(expected.at(at), T{0}); });
  }
  if (with.flags == TNR_EPILOGUE_CLAMP) {
    for_each_index(out.view, [&](const Index& at) {
      expected.at(at) =
          std::clamp(expected.at(at), static_cast<T>(with.low), static_cast<T>(with.high));
    });
  }
  conv2d_transposed(context, a.view, weight.view, bias ? &bias->view : nullptr, with, out.out());
  for (std::size_t i = 0; i < out.memory.size(); ++i) {
    const bool agrees =
        out.memory[i] == expected.memory[i] || same(out.memory[i], expected.memory[i]);
    ASSERT_TRUE(agrees) << "a " << shape_text(4, a.view.shape).text << ", weight "
                        << shape_text(4, weight.view.shape).text << ", out "
                        << shape_text(4, out.view.shape).text << ", strides " << with.strides[0]
                        << " x " << with.strides[1] << ", dilations " << with.dilations[0] << " x "
                        << with.dilations[1] << ", groups " << with.groups << ": element " << i
                        << " of memory is " << out.memory[i] << ", not " << expected.memory[i];
  }
}

template <class T>
class Conv2dTransposed : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Conv2dTransposed, Floats);

// The filter repeats one element in 2^58 rows, too many for a loop. With a dilation of 1 each row
// of the result meets one of them, with a dilation of 3 every third row.
TYPED_TEST(Conv2dTransposed, FindsElementsOfAnyNumberOfRows) {
  using T = TypeParam;
  constexpr std::int64_t kRows = std::int64_t{1} << 58;
  for (const std::int64_t dilation : {1, 3}) {
    Operand<T> a({1, 1, 1, 1}, T{3});
    Operand<T> weight({1, 1, 1, 1}, T{2});
    Operand<T> out({1, 1, 4, 1}, T{7});
    tnr_view rows = weight.view;
    rows.shape[2] = kRows;
    rows.strides[2] = 0;
    tnr_conv2d_attributes with = plain();
    with.strides[0] = 4 * kRows;
    with.dilations[0] = dilation;
    with.padding[0] = dilation * (kRows - 1) + 1 - 4;
    conv2d_transposed(kDefaultContext, a.view, rows, nullptr, with, out.out());
    const T sum = 6;
    const std::vector<T> due =
        dilation == 1 ? std::vector<T>{sum, sum, sum, sum} : std::vector<T>{sum, 0, 0, sum};
    EXPECT_EQ(out.memory, due);
  }
}

TYPED_TEST(Conv2dTransposed, TakesAnyOperands) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  const auto one_of = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int round = 0; round < 700; ++round) {
    tnr_conv2d_attributes with = plain();
    with.groups = one_of({1, 1, 2, 5});
    with.activation = random() % 3 == 0 ? TNR_UNARY_OP_RELU : 0;
    if (random() % 4 == 0) {
      with.flags = TNR_EPILOGUE_CLAMP;
      with.low = -0.5;
      with.high = 1;
    }
    const std::int64_t channels = one_of({1, 1, 2, 3, 17});
    const std::int64_t filters = one_of({1, 1, 2, 3, 9});
    Shape a = {one_of({1, 2}), channels * with.groups, 0, 0};
    Shape weight = {a[1], filters, 0, 0};
    Shape out = {a[0], filters * with.groups, 0, 0};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      with.strides[axis] = one_of({1, 1, 2, 3, 4});
      with.dilations[axis] = one_of({1, 1, 2, 3});
      weight[2 + axis] = one_of({1, 2, 3, 4});
      a[2 + axis] = one_of({1, 2, 3, 7});
      const std::int64_t reach = (weight[2 + axis] - 1) * with.dilations[axis] + 1;
      const std::int64_t all = (a[2 + axis] - 1) * with.strides[axis] + reach;
      // At least one element of the result is left.
      with.padding[2 * axis] = below(random, std::min<std::int64_t>(all, 4));
      with.padding[2 * axis + 1] =
          below(random, std::min<std::int64_t>(all - with.padding[2 * axis], 3));
      out[2 + axis] = all - with.padding[2 * axis] - with.padding[2 * axis + 1] +
                      below(random, std::max(with.strides[axis], with.dilations[axis]));
    }
    const auto lay = [&](const Shape& shape, Access access) {
      return images<T>(shape, static_cast<ImageLayout>(round % 3), access, random);
    };
    Operand<T> image = lay(a, Access::kRead);
    Operand<T> filter = lay(weight, Access::kRead);
    std::optional<Operand<T>> bias;
    if (random() % 2 == 0) {
      bias.emplace(Shape{out[1]});
      fill_whole(*bias, random);
    }
    expect_twin(fill_whole(image, random), fill_whole(filter, random), bias,
                lay(out, Access::kWrite), with, round % 2 == 0 ? two : kDefaultContext);
    if (this->HasFatalFailure()) return;
  }
}

// The derivative of a convolution: <conv(x), y> is <x, transposed(y)>.
TYPED_TEST(Conv2dTransposed, IsTheTransposeOfAConvolution) {
  using T = TypeParam;
  Random random(2);
  tnr_conv2d_attributes with = plain();
  with.strides[0] = 2;
  with.strides[1] = 3;
  with.padding[0] = with.padding[3] = 1;
  with.dilations[1] = 2;
  Operand<T> x({2, 6, 9, 14});
  Operand<T> weight({8, 3, 3, 2});
  with.groups = 2;
  Operand<T> y({2, 8, 4, 5});
  fill_whole(x, random);
  fill_whole(weight, random);
  fill_whole(y, random);
  Operand<T> convolved({2, 8, 4, 5});
  Operand<T> transposed({2, 6, 9, 14});
  conv2d(kDefaultContext, x.view, weight.view, nullptr, with, convolved.out());
  conv2d_transposed(kDefaultContext, y.view, weight.view, nullptr, with, transposed.out());
  T left = 0;
  T right = 0;
  for (std::size_t i = 0; i < y.memory.size(); ++i) left += convolved.memory[i] * y.memory[i];
  for (std::size_t i = 0; i < x.memory.size(); ++i) right += x.memory[i] * transposed.memory[i];
  EXPECT_EQ(left, right);
}

TYPED_TEST(Conv2dTransposed, GivesTheBiasWhereThereIsNoChannel) {
  using T = TypeParam;
  const Operand<T> a({1, 0, 2, 2});
  const Operand<T> weight({0, 3, 2, 2});
  const Operand<T> bias(Shape{3}, T{5});
  Operand<T> out({1, 3, 3, 3});
  conv2d_transposed(kDefaultContext, a.view, weight.view, &bias.view, plain(), out.out());
  for (const T element : out.memory) EXPECT_EQ(element, 5);
}

// Steps so large that no two elements meet, and rows of the result that none reaches.
TYPED_TEST(Conv2dTransposed, TakesStridesBeyondTheKernel) {
  using T = TypeParam;
  Random random(3);
  tnr_conv2d_attributes with = plain();
  with.strides[0] = 1000;
  with.strides[1] = kMost;
  Operand<T> a({1, 2, 2, 1});
  Operand<T> weight({2, 3, 2, 2});
  const Operand<T> bias(Shape{3}, T{1});
  expect_twin(fill_whole(a, random), fill_whole(weight, random), std::optional(bias),
              Operand<T>({1, 3, 1500, 40}), with, kDefaultContext);
}

// ---- refusals -----------------------------------------------------------------------------------

struct RefusedTransposed : testing::Test {
  Operand<float> a{{2, 4, 5, 6}};
  Operand<float> weight{{4, 3, 3, 3}};
  Operand<float> bias{Shape{3}};
  Operand<float> out{{2, 3, 7, 8}, 7};
  tnr_conv2d_attributes with = plain();

  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& x,
              const tnr_view& y, const tnr_view& z, const tnr_view& added) {
    expect_error(status, words,
                 [&] { conv2d_transposed(kDefaultContext, x, y, &added, with, {z}); });
    for (const float element : out.memory) EXPECT_EQ(element, 7);
  }
};

TEST_F(RefusedTransposed, ShapesThatDoNotAgree) {
  const auto invalid = TNR_STATUS_INVALID_ARGUMENT;
  const auto of = [](const Shape& shape) { return Operand<float>(shape); };
  expect(invalid, {"a.shape[1] is 4 but must be 5, the filters of weight"}, a.view,
         of({5, 3, 3, 3}).view, out.view, bias.view);
  expect(invalid, {"weight.shape[1] is 2 but must be 3, the channels of out by groups"}, a.view,
         of({4, 2, 3, 3}).view, out.view, bias.view);
  expect(invalid, {"out.shape[2] is 8 but must be from 7 to 7 for the 5 rows of a"}, a.view,
         weight.view, of({2, 3, 8, 8}).view, bias.view);
  expect(invalid, {"weight's width of 3, dilated by 1, exceeds the 2 of out with its padding"},
         a.view, weight.view, of({2, 3, 7, 2}).view, bias.view);
  expect(invalid, {"bias.shape[0] is 4 but must be 3, the filters of out"}, a.view, weight.view,
         out.view, of(Shape{4}).view);
  with.groups = 2;
  expect(invalid, {"out.shape[1] is 3, which 2 groups do not divide"}, a.view, weight.view,
         out.view, bias.view);
}

TEST_F(RefusedTransposed, DtypesAndOverlap) {
  tnr_view integers = a.view;
  integers.dtype = TNR_DTYPE_I32;
  expect(TNR_STATUS_UNSUPPORTED, {"conv2d_transposed does not take i32"}, integers, weight.view,
         out.view, bias.view);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"weight.dtype is f64", "a.dtype is f32"}, a.view,
         Operand<double>({4, 3, 3, 3}).view, out.view, bias.view);
  Operand<float> one({1, 1, 1, 1});
  expect(TNR_STATUS_ALIASED, {"out is exactly a"}, one.view, Operand<float>({1, 1, 1, 1}).view,
         one.view, Operand<float>(Shape{1}).view);
}

}  // namespace
}  // namespace tenure::test
