// Integers with scales and zero points: rounding, ranges, and exact products.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/blob.hpp"
#include "tenure/factor.hpp"
#include "tenure/ops.hpp"
#include "tenure/quantize.hpp"
#include "test_context.hpp"

namespace tenure::test {

template <>
constexpr tnr_dtype kDtype<std::int8_t> = TNR_DTYPE_I8;
template <>
constexpr tnr_dtype kDtype<std::uint8_t> = TNR_DTYPE_U8;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class I>
constexpr int kLeast = std::is_signed_v<I> ? -128 : 0;

// The definition of tnr_quantize().
template <class I>
I rounded(float x, float scale, int zero) {
  if (std::isnan(x)) return static_cast<I>(zero);
  const double nearest = std::nearbyint(double{x / scale}) + zero;
  return static_cast<I>(std::clamp<double>(nearest, kLeast<I>, kLeast<I> + 255));
}

template <class I>
Operand<I>& fill_bytes(Operand<I>& to, Random& random) {
  for_each_index(to.view, [&](const Index& index) { to.at(index) = static_cast<I>(random()); });
  return to;
}
Operand<float>& fill_scales(Operand<float>& to, Random& random) {
  std::uniform_real_distribution<float> scales(0.001f, 0.1f);
  for_each_index(to.view, [&](const Index& index) { to.at(index) = scales(random); });
  return to;
}

// The index of the scale of an element.
Index scale_index(const tnr_view& scales, const tnr_view& of, const Index& index) {
  Index at = {};
  for (std::uint32_t axis = 0; axis < scales.rank; ++axis) {
    const std::uint32_t whole = of.rank - scales.rank + axis;
    at[axis] = index[whole] * scales.shape[axis] / std::max<std::int64_t>(of.shape[whole], 1);
  }
  return at;
}

struct Shapes {
  Shape numbers;
  Shape scales;
};
const Shapes kShapes[] = {
    {{}, {}},
    {{7}, {}},
    {{7}, {1}},
    {{64}, {2}},
    {{5, 96}, {3}},
    {{5, 96}, {5, 1}},
    {{5, 96}, {1, 96}},
    {{5, 96}, {5, 3}},
    {{6, 96}, {3, 4}},
    {{33, 70}, {33, 70}},
    {{2, 3, 64}, {3, 1}},
    {{2, 4, 66}, {2, 2, 11}},
    {{0, 4}, {1, 4}},
    {{3, 0}, {3, 1}},
};

template <class I>
class Quantize : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::uint8_t>;
TYPED_TEST_SUITE(Quantize, Integers);

TYPED_TEST(Quantize, RoundsTheQuotientByAnyScalesAndBack) {
  using I = TypeParam;
  Random random(1);
  for (const Shapes& shapes : kShapes) {
    for (int layout = 0; layout < 6; ++layout) {
      Operand<float> a(shapes.numbers, Access::kRead, random);
      a.fill(random);
      Operand<float> scales(shapes.scales, Access::kRead, random);
      fill_scales(scales, random);
      Operand<I> zeros(shapes.scales, Access::kRead, random);
      fill_bytes(zeros, random);
      Operand<I> out(shapes.numbers, Access::kWrite, random);
      Operand<float> back(shapes.numbers, Access::kWrite, random);
      const tnr_view* const given = layout % 2 == 0 ? &zeros.view : nullptr;
      quantize(kDefaultContext, a.view, scales.view, given, out.out());
      dequantize(kDefaultContext, out.view, scales.view, given, back.out());
      for_each_index(a.view, [&](const Index& index) {
        const Index at = scale_index(scales.view, a.view, index);
        const int zero = given == nullptr ? 0 : zeros.at(at);
        const float scale = scales.at(at);
        ASSERT_EQ(out.at(index), rounded<I>(a.at(index), scale, zero));
        ASSERT_EQ(back.at(index), static_cast<float>(out.at(index) - zero) * scale);
      });
    }
  }
}

TYPED_TEST(Quantize, SaturatesAndTakesNaNForTheZeroPoint) {
  using I = TypeParam;
  // Enough for whole vectors and a rest.
  const std::vector<float> cases = {0.5f,   1.5f,   2.5f,      -0.5f,      -1.5f,   1e30f, -1e30f,
                                    kNaN,   -kNaN,  kInfinity, -kInfinity, 0,       -0.0f, 1e-40f,
                                    127.4f, 127.5f, 254.5f,    255.5f,     -128.5f, -129};
  for (const int zero : {kLeast<I>, 0, 3, kLeast<I> + 255}) {
    Operand<float> a({61});
    for (std::size_t i = 0; i < a.memory.size(); ++i) a.memory[i] = cases[i % cases.size()];
    Operand<float> scale({}, 1.0f);
    Operand<I> point({}, static_cast<I>(zero));
    Operand<I> out({61});
    quantize(kDefaultContext, a.view, scale.view, &point.view, out.out());
    for (std::size_t i = 0; i < a.memory.size(); ++i) {
      EXPECT_EQ(out.memory[i], rounded<I>(a.memory[i], 1, zero)) << a.memory[i];
    }
  }
}

TYPED_TEST(Quantize, TakesNarrowFloatsForTheNumbersThatTheyAre) {
  using I = TypeParam;
  Random random(2);
  Operand<float> a({9, 70});
  a.fill(random);
  Operand<float> scales({9, 1});
  fill_scales(scales, random);
  for (const tnr_dtype dtype : {TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    std::vector<std::uint16_t> narrow(a.memory.size());
    tnr_view halves = a.view;
    halves.dtype = dtype;
    halves.base = halves.data = narrow.data();
    halves.size_bytes = 2 * narrow.size();
    cast(kDefaultContext, a.view, {halves});
    Operand<float> wide({9, 70});
    cast(kDefaultContext, halves, wide.out());
    Operand<I> out({9, 70});
    Operand<I> expected({9, 70});
    quantize(kDefaultContext, halves, scales.view, nullptr, out.out());
    quantize(kDefaultContext, wide.view, scales.view, nullptr, expected.out());
    EXPECT_EQ(out.memory, expected.memory);

    Operand<float> numbers({9, 70});
    std::vector<std::uint16_t> rounded_numbers(narrow.size());
    tnr_view wanted = halves;
    wanted.base = wanted.data = rounded_numbers.data();
    dequantize(kDefaultContext, out.view, scales.view, nullptr, numbers.out());
    cast(kDefaultContext, numbers.view, {wanted});
    dequantize(kDefaultContext, out.view, scales.view, nullptr, {halves});
    EXPECT_EQ(narrow, rounded_numbers);

    Operand<float> own({9, 1});
    Operand<float> own_of_wide({9, 1});
    Operand<I> zeros({9, 1});
    Operand<I> zeros_of_wide({9, 1});
    cast(kDefaultContext, wide.view, {halves});
    quantize_dynamic(kDefaultContext, halves, own.out(),
                     &static_cast<const tnr_view_mut&>(zeros.out()), out.out());
    quantize_dynamic(kDefaultContext, wide.view, own_of_wide.out(),
                     &static_cast<const tnr_view_mut&>(zeros_of_wide.out()), expected.out());
    EXPECT_EQ(out.memory, expected.memory);
    EXPECT_EQ(own.memory, own_of_wide.memory);
    EXPECT_EQ(zeros.memory, zeros_of_wide.memory);
  }
}

TYPED_TEST(Quantize, ChoosesScalesByTheRangeOfFiniteNumbers) {
  using I = TypeParam;
  Random random(3);
  for (const Shapes& shapes : kShapes) {
    for (int layout = 0; layout < 6; ++layout) {
      Operand<float> a(shapes.numbers, Access::kRead, random);
      a.fill(random);
      int count = 0;
      for_each_index(a.view, [&](const Index& index) {
        ++count;
        if (count % 7 == 0) a.at(index) = count % 2 == 0 ? kNaN : kInfinity;
      });
      Operand<float> scales(shapes.scales, Access::kWrite, random);
      Operand<I> zeros(shapes.scales, Access::kWrite, random);
      Operand<I> out(shapes.numbers, Access::kWrite, random);
      const bool has_zeros = std::is_unsigned_v<I> || layout % 2 == 0;
      const tnr_view_mut points = zeros.out();
      quantize_dynamic(kDefaultContext, a.view, scales.out(), has_zeros ? &points : nullptr,
                       out.out());

      Operand<float> least(shapes.scales);
      Operand<float> greatest(shapes.scales);
      for_each_index(a.view, [&](const Index& index) {
        const float x = a.at(index);
        if (!std::isfinite(x)) return;
        const Index at = scale_index(scales.view, a.view, index);
        least.at(at) = std::min(least.at(at), x);
        greatest.at(at) = std::max(greatest.at(at), x);
      });
      for_each_index(scales.view, [&](const Index& at) {
        float scale = has_zeros ? greatest.at(at) / 255 - least.at(at) / 255
                                : std::max(greatest.at(at), -least.at(at)) / 127;
        if (scale == 0) scale = 1;
        ASSERT_EQ(scales.at(at), scale);
        if (has_zeros) {
          const float zero = std::nearbyint(static_cast<float>(kLeast<I>) - least.at(at) / scale);
          ASSERT_EQ(zeros.at(at), static_cast<int>(zero));
        }
      });
      for_each_index(a.view, [&](const Index& index) {
        const Index at = scale_index(scales.view, a.view, index);
        const int value = has_zeros
                              ? rounded<I>(a.at(index), scales.at(at), zeros.at(at))
                              : std::max<int>(rounded<I>(a.at(index), scales.at(at), 0), -127);
        ASSERT_EQ(out.at(index), value);
      });
    }
  }
}

// ---- products ----

struct Product {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
};
constexpr Product kProducts[] = {{1, 1, 1},      {1, 40, 33},    {40, 1, 33},    {5, 9, 7},
                                 {3, 5, 0},      {14, 32, 64},   {15, 33, 65},   {29, 97, 257},
                                 {33, 70, 1030}, {241, 33, 129}, {17, 35, 2051}, {1030, 19, 70}};

// Sums of products of values less their zeros, and the steps that make them numbers.
template <class A, class B>
class Expected {
 public:
  Operand<A> a;
  Operand<B> b;
  Operand<float> a_scales;
  Operand<A> a_zeros;
  Operand<float> b_scales;
  Operand<B> b_zeros;
  Operand<float> bias;

  Expected(const Product& of, Random& random)
      : a({of.rows, of.depth}, Access::kRead, random),
        b({of.depth, of.columns}, Access::kRead, random),
        a_scales({of.rows, 1}, Access::kRead, random),
        a_zeros({of.rows, 1}, Access::kRead, random),
        b_scales({of.columns}, Access::kRead, random),
        b_zeros({of.columns}, Access::kRead, random),
        bias({of.columns}, Access::kRead, random) {
    fill_bytes(a, random);
    fill_bytes(b, random);
    fill_scales(a_scales, random);
    fill_bytes(a_zeros, random);
    fill_scales(b_scales, random);
    fill_bytes(b_zeros, random);
    bias.fill(random);
  }

  [[nodiscard]] float at(std::int64_t i, std::int64_t j, bool has_a_zeros, bool has_b_zeros) {
    std::int32_t sum = 0;
    for (std::int64_t k = 0; k < a.view.shape[1]; ++k) {
      sum += (a.at({i, k}) - (has_a_zeros ? a_zeros.at({i, 0}) : 0)) *
             (b.at({k, j}) - (has_b_zeros ? b_zeros.at({j}) : 0));
    }
    return static_cast<float>(sum) * (a_scales.at({i, 0}) * b_scales.at({j}));
  }
};

tnr_quantized_matmul_attributes attributes_of(const tnr_view* bias) {
  tnr_quantized_matmul_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.bias = bias;
  return attributes;
}

template <class A, class B>
void expect_exact_products(Random& random) {
  for (const Product& of : kProducts) {
    for (int variant = 0; variant < 8; ++variant) {
      Expected<A, B> expected(of, random);
      const tnr_view* const a_zeros = variant % 2 == 0 ? nullptr : &expected.a_zeros.view;
      const tnr_view* const b_zeros = variant / 2 % 2 == 0 ? nullptr : &expected.b_zeros.view;
      const tnr_view* const bias = variant / 4 == 0 ? nullptr : &expected.bias.view;
      auto attributes = attributes_of(bias);
      if (bias != nullptr) attributes.activation = TNR_UNARY_OP_RELU;
      Operand<float> out({of.rows, of.columns}, Access::kWrite, random);
      quantized_matmul(kDefaultContext, {expected.a.view, &expected.a_scales.view, a_zeros},
                       {expected.b.view, &expected.b_scales.view, b_zeros}, attributes, out.out());
      const FactorToken packed =
          factor_create(kDefaultContext, expected.b.view, expected.a.view.dtype);
      Operand<float> by_packed({of.rows, of.columns});
      const TestContext two(2);
      factor_quantized_matmul(two, {expected.a.view, &expected.a_scales.view, a_zeros}, packed,
                              &expected.b_scales.view, b_zeros, attributes, by_packed.out());
      factor_release(packed);
      for_each_index(out.view, [&](const Index& index) {
        float number = expected.at(index[0], index[1], a_zeros != nullptr, b_zeros != nullptr);
        if (bias != nullptr) number = std::max(number + expected.bias.at({index[1]}), 0.0f);
        ASSERT_EQ(out.at(index), number) << of.rows << " " << of.columns << " " << of.depth;
        ASSERT_EQ(by_packed.at(index), number);
      });
    }
  }
}

TEST(QuantizedMatmul, IsExactOfBytesOfAnySigns) {
  Random random(4);
  expect_exact_products<std::int8_t, std::int8_t>(random);
  expect_exact_products<std::uint8_t, std::int8_t>(random);
  expect_exact_products<std::int8_t, std::uint8_t>(random);
  expect_exact_products<std::uint8_t, std::uint8_t>(random);
}

TEST(QuantizedMatmul, IsExactOfTheLargestSums) {
  constexpr std::int64_t kDepth = 33025;
  Operand<std::uint8_t> a({2, kDepth}, 255);
  Operand<std::uint8_t> b({kDepth, 3}, 255);
  Operand<float> one({}, 1.0f);
  Operand<float> out({2, 3});
  quantized_matmul(kDefaultContext, {a.view, &one.view, nullptr}, {b.view, &one.view, nullptr},
                   attributes_of(nullptr), out.out());
  for (const float number : out.memory) EXPECT_EQ(number, 2147450625.0f);
  // The values less their zeros are as far from 0, and their products are too.
  Operand<std::uint8_t> low({2, kDepth}, 0);
  Operand<std::uint8_t> high({}, 255);
  quantized_matmul(kDefaultContext, {low.view, &one.view, &high.view}, {b.view, &one.view, nullptr},
                   attributes_of(nullptr), out.out());
  for (const float number : out.memory) EXPECT_EQ(number, -2147450625.0f);
}

TEST(QuantizedMatmul, QuantizesRowsOfFloats) {
  Random random(5);
  for (const Product& of : kProducts) {
    for (const Shape& batch : {Shape{}, Shape{2}, Shape{2, 1, 3}}) {
      Shape shape = batch;
      shape.push_back(of.rows);
      shape.push_back(of.depth);
      Operand<float> a(shape, Access::kRead, random);
      a.fill(random);
      Operand<std::int8_t> b({of.depth, of.columns});
      fill_bytes(b, random);
      Operand<float> b_scales({1, of.columns});
      fill_scales(b_scales, random);

      Operand<std::int8_t> rows(shape);
      shape.back() = 1;
      Operand<float> scales(shape);
      quantize_dynamic(kDefaultContext, a.view, scales.out(), nullptr, rows.out());
      shape.back() = of.columns;
      Operand<float> expected(shape);
      quantized_matmul(kDefaultContext, {rows.view, &scales.view, nullptr},
                       {b.view, &b_scales.view, nullptr}, attributes_of(nullptr), expected.out());
      Operand<float> out(shape, Access::kWrite, random);
      quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr},
                       {b.view, &b_scales.view, nullptr}, attributes_of(nullptr), out.out());
      for_each_index(out.view,
                     [&](const Index& index) { ASSERT_EQ(out.at(index), expected.at(index)); });
    }
  }
}

TEST(QuantizedMatmul, QuantizesRowsOfFloatsWithZeroPoints) {
  Random random(9);
  auto attributes = attributes_of(nullptr);
  attributes.flags = TNR_QUANTIZE_AFFINE_ROWS;
  for (const Product& of : kProducts) {
    Operand<float> a({of.rows, of.depth}, Access::kRead, random);
    a.fill(random);
    Operand<std::int8_t> b({of.depth, of.columns});
    fill_bytes(b, random);
    Operand<float> b_scales({1, of.columns});
    fill_scales(b_scales, random);
    Operand<std::uint8_t> rows({of.rows, of.depth});
    Operand<float> scales({of.rows, 1});
    Operand<std::uint8_t> zeros({of.rows, 1});
    const tnr_view_mut to_zeros = zeros.out();
    quantize_dynamic(kDefaultContext, a.view, scales.out(), &to_zeros, rows.out());
    const QuantizedFactor right = {b.view, &b_scales.view, nullptr};
    Operand<float> expected({of.rows, of.columns});
    quantized_matmul(kDefaultContext, {rows.view, &scales.view, &zeros.view}, right,
                     attributes_of(nullptr), expected.out());
    Operand<float> out({of.rows, of.columns}, Access::kWrite, random);
    quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, right, attributes, out.out());
    const FactorToken packed = factor_create(kDefaultContext, b.view, TNR_DTYPE_U8);
    Operand<float> by_packed({of.rows, of.columns});
    factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, packed, &b_scales.view,
                            nullptr, attributes, by_packed.out());
    factor_release(packed);
    for_each_index(out.view, [&](const Index& index) {
      ASSERT_EQ(out.at(index), expected.at(index)) << of.rows << " " << of.columns;
      ASSERT_EQ(by_packed.at(index), expected.at(index));
    });
  }
  Operand<std::int8_t> a({2, 4});
  Operand<std::int8_t> b({4, 3});
  Operand<float> one({}, 1.0f);
  Operand<float> out({2, 3});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"TNR_QUANTIZE_AFFINE_ROWS but a_scales is given"},
               [&] {
                 quantized_matmul(kDefaultContext, {a.view, &one.view, nullptr},
                                  {b.view, &one.view, nullptr}, attributes, out.out());
               });
}

TEST(QuantizedMatmul, RoundsItsResultToIntegersAndNarrowFloats) {
  Random random(6);
  Expected<std::uint8_t, std::int8_t> expected({37, 45, 70}, random);
  const QuantizedFactor a = {expected.a.view, &expected.a_scales.view, &expected.a_zeros.view};
  const QuantizedFactor b = {expected.b.view, &expected.b_scales.view, nullptr};
  auto attributes = attributes_of(&expected.bias.view);
  attributes.activation = TNR_UNARY_OP_TANH;
  Operand<float> numbers({37, 45});
  quantized_matmul(kDefaultContext, a, b, attributes, numbers.out());

  Operand<float> scale({1}, 0.01f);
  Operand<std::uint8_t> zero({1}, 100);
  Operand<std::uint8_t> wanted({37, 45});
  quantize(kDefaultContext, numbers.view, scale.view, &zero.view, wanted.out());
  auto of_integers = attributes;
  of_integers.out_scale = &scale.view;
  of_integers.out_zero = &zero.view;
  for (int layout = 0; layout < 4; ++layout) {
    Operand<std::uint8_t> out({37, 45}, Access::kWrite, random);
    quantized_matmul(kDefaultContext, a, b, of_integers, out.out());
    for_each_index(out.view,
                   [&](const Index& index) { ASSERT_EQ(out.at(index), wanted.at(index)); });
  }
  for (const tnr_dtype dtype : {TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    std::vector<std::uint16_t> narrow(numbers.memory.size());
    std::vector<std::uint16_t> rounded_numbers(narrow.size());
    tnr_view view = numbers.view;
    view.dtype = dtype;
    view.size_bytes = 2 * narrow.size();
    view.base = view.data = rounded_numbers.data();
    cast(kDefaultContext, numbers.view, {view});
    view.base = view.data = narrow.data();
    quantized_matmul(kDefaultContext, a, b, attributes, {view});
    EXPECT_EQ(narrow, rounded_numbers);
  }
}

// ---- convolutions ----

struct Images {
  Shape a;
  Shape weight;
  std::int64_t strides[2];
  std::int64_t padding[4];
  std::int64_t dilations[2];
  std::int64_t groups;
};
const Images kImages[] = {
    {{2, 5, 9, 7}, {6, 5, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 1},
    {{1, 8, 12, 13}, {4, 8, 3, 2}, {2, 3}, {0, 2, 1, 0}, {1, 2}, 1},
    {{3, 16, 5, 6}, {33, 16, 1, 1}, {0, 0}, {}, {0, 0}, 1},
    {{1, 6, 7, 7}, {9, 2, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}, 3},
    {{2, 6, 8, 5}, {6, 1, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, 6},
    {{1, 3, 40, 41}, {8, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}, {1, 1}, 1},
    {{1, 1, 2, 3}, {2, 1, 1, 1}, {1, 1}, {3, 4, 5, 6}, {1, 1}, 1},
    {{2, 0, 3, 3}, {4, 0, 2, 2}, {1, 1}, {}, {1, 1}, 1},
    {{0, 3, 4, 4}, {2, 3, 3, 3}, {1, 1}, {}, {1, 1}, 1},
};

tnr_quantized_conv2d_attributes attributes_of(const Images& of) {
  tnr_quantized_conv2d_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  std::copy_n(of.strides, 2, attributes.strides);
  std::copy_n(of.padding, 4, attributes.padding);
  std::copy_n(of.dilations, 2, attributes.dilations);
  attributes.groups = of.groups;
  return attributes;
}

Shape result_shape(const Images& of) {
  Shape shape = {of.a[0], of.weight[0], 0, 0};
  for (int axis = 0; axis < 2; ++axis) {
    const std::int64_t stride = std::max<std::int64_t>(of.strides[axis], 1);
    const std::int64_t dilation = std::max<std::int64_t>(of.dilations[axis], 1);
    const std::int64_t padded = of.a[2 + axis] + of.padding[2 * axis] + of.padding[2 * axis + 1];
    shape[2 + axis] = (padded - (of.weight[2 + axis] - 1) * dilation - 1) / stride + 1;
  }
  return shape;
}

// The sum of products of a window and a filter, by their values less their zeros.
template <class A, class B>
std::int32_t window_sum(const Images& of, const Index& at, Operand<A>& a, int a_zero,
                        Operand<B>& weight, int weight_zero) {
  std::int32_t sum = 0;
  const std::int64_t first = at[1] / (of.weight[0] / of.groups) * of.weight[1];
  const auto place = [&](int axis, std::int64_t i) {
    return at[2 + axis] * std::max<std::int64_t>(of.strides[axis], 1) +
           i * std::max<std::int64_t>(of.dilations[axis], 1) - of.padding[2 * axis];
  };
  for (std::int64_t i = 0; i < of.weight[2]; ++i) {
    const std::int64_t y = place(0, i);
    for (std::int64_t j = 0; j < of.weight[3] && y >= 0 && y < of.a[2]; ++j) {
      const std::int64_t x = place(1, j);
      for (std::int64_t c = 0; c < of.weight[1] && x >= 0 && x < of.a[3]; ++c) {
        sum +=
            (a.at({at[0], first + c, y, x}) - a_zero) * (weight.at({at[1], c, i, j}) - weight_zero);
      }
    }
  }
  return sum;
}

// Images whose channels are adjacent.
template <class T>
void make_channels_last(Operand<T>& image) {
  tnr_view& view = image.view;
  view.strides[1] = 1;
  view.strides[3] = view.shape[1];
  view.strides[2] = view.shape[1] * view.shape[3];
  view.strides[0] = view.strides[2] * view.shape[2];
}

template <class A, class B>
void expect_exact_convolutions(Random& random) {
  for (const Images& of : kImages) {
    for (int variant = 0; variant < 12; ++variant) {
      const bool has_channels_last = variant % 3 == 0;
      const auto image = [&](const Shape& shape, Access access, auto type) {
        using T = decltype(type);
        if (variant % 3 == 2) return Operand<T>(shape, access, random);
        Operand<T> plain(shape);
        if (has_channels_last) make_channels_last(plain);
        return plain;
      };
      auto a = image(of.a, Access::kRead, A());
      auto out = image(result_shape(of), Access::kWrite, 0.0f);
      fill_bytes(a, random);
      Operand<B> weight(of.weight, Access::kRead, random);
      fill_bytes(weight, random);
      Operand<float> scale({}, 0.01f);
      Operand<A> zero({}, static_cast<A>(random()));
      Operand<float> weight_scales({of.weight[0], 1, 1, 1}, Access::kRead, random);
      fill_scales(weight_scales, random);
      Operand<B> weight_zeros({of.weight[0], 1, 1, 1}, Access::kRead, random);
      fill_bytes(weight_zeros, random);
      Operand<float> bias({of.weight[0]}, Access::kRead, random);
      bias.fill(random);
      const bool has_zero = variant % 2 == 0;
      const bool has_weight_zeros = variant % 4 < 2;
      auto attributes = attributes_of(of);
      if (variant > 4) attributes.bias = &bias.view;
      const TestContext two(2);
      quantized_conv2d(
          variant < 6 ? kDefaultContext : two,
          {a.view, &scale.view, has_zero ? &zero.view : nullptr},
          {weight.view, &weight_scales.view, has_weight_zeros ? &weight_zeros.view : nullptr},
          attributes, out.out());
      for_each_index(out.view, [&](const Index& index) {
        const Index filter = {index[1], 0, 0, 0};
        const std::int32_t sum = window_sum(of, index, a, has_zero ? zero.at({}) : 0, weight,
                                            has_weight_zeros ? weight_zeros.at(filter) : 0);
        float number = static_cast<float>(sum) * (0.01f * weight_scales.at(filter));
        if (variant > 4) number += bias.at({index[1]});
        ASSERT_EQ(out.at(index), number) << "images " << &of - kImages << " variant " << variant;
      });
    }
  }
}

TEST(QuantizedConv2d, IsExactOfBytesOfAnySigns) {
  Random random(7);
  expect_exact_convolutions<std::int8_t, std::int8_t>(random);
  expect_exact_convolutions<std::uint8_t, std::int8_t>(random);
  expect_exact_convolutions<std::int8_t, std::uint8_t>(random);
  expect_exact_convolutions<std::uint8_t, std::uint8_t>(random);
}

TEST(QuantizedConv2d, RoundsItsResultToIntegersAndNarrowFloats) {
  Random random(8);
  const Images& of = kImages[0];
  Operand<std::uint8_t> a(of.a);
  fill_bytes(a, random);
  Operand<std::int8_t> weight(of.weight);
  fill_bytes(weight, random);
  Operand<float> one({}, 0.02f);
  Operand<std::uint8_t> zero({}, 90);
  const QuantizedFactor image = {a.view, &one.view, &zero.view};
  const QuantizedFactor filters = {weight.view, &one.view, nullptr};
  auto attributes = attributes_of(of);
  attributes.activation = TNR_UNARY_OP_RELU;
  Operand<float> numbers(result_shape(of));
  quantized_conv2d(kDefaultContext, image, filters, attributes, numbers.out());
  Operand<std::uint8_t> wanted(result_shape(of));
  quantize(kDefaultContext, numbers.view, one.view, &zero.view, wanted.out());
  for (const bool has_channels_last : {false, true}) {
    Operand<std::uint8_t> out(result_shape(of));
    if (has_channels_last) make_channels_last(out);
    auto to_bytes = attributes;
    to_bytes.out_scale = &one.view;
    to_bytes.out_zero = &zero.view;
    quantized_conv2d(kDefaultContext, image, filters, to_bytes, out.out());
    for_each_index(out.view,
                   [&](const Index& index) { ASSERT_EQ(out.at(index), wanted.at(index)); });
    std::vector<std::uint16_t> narrow(numbers.memory.size());
    std::vector<std::uint16_t> rounded_numbers(narrow.size());
    tnr_view view = numbers.view;
    view.dtype = TNR_DTYPE_BF16;
    view.size_bytes = 2 * narrow.size();
    view.base = view.data = rounded_numbers.data();
    cast(kDefaultContext, numbers.view, {view});
    view.base = view.data = narrow.data();
    quantized_conv2d(kDefaultContext, image, filters, attributes, {view});
    EXPECT_EQ(narrow, rounded_numbers);
  }
}

TEST(QuantizedConv2d, RefusesOperandsThatDoNotFit) {
  Operand<std::int8_t> a({1, 2, 3, 3});
  Operand<std::int8_t> weight({4, 2, 3, 3});
  Operand<float> one({}, 1.0f);
  Operand<float> out({1, 4, 1, 1});
  const QuantizedFactor image = {a.view, &one.view, nullptr};
  const QuantizedFactor filters = {weight.view, &one.view, nullptr};
  tnr_quantized_conv2d_attributes none = {};
  none.struct_size = sizeof none;
  const auto refuse = [&](std::initializer_list<std::string> words, const QuantizedFactor& of,
                          const QuantizedFactor& by, const tnr_quantized_conv2d_attributes& with,
                          const tnr_view_mut& to, tnr_status status = TNR_STATUS_INVALID_ARGUMENT) {
    expect_error(status, words, [&] { quantized_conv2d(kDefaultContext, of, by, with, to); });
  };
  Operand<float> floats({1, 2, 3, 3});
  refuse({"a.dtype is f32 but must be i8 or u8"}, {floats.view, &one.view, nullptr}, filters, none,
         out.out(), TNR_STATUS_UNSUPPORTED);
  Operand<float> two({2}, 1.0f);
  refuse({"a_scale has shape [2] but must have one element"}, {a.view, &two.view, nullptr}, filters,
         none, out.out());
  Operand<float> four({4}, 1.0f);
  refuse({"weight_scales has shape [4] but must broadcast to [4, 1, 1, 1]"}, image,
         {weight.view, &four.view, nullptr}, none, out.out());
  for (const float scale : {0.0f, -1.0f, kNaN, kInfinity}) {
    Operand<float> wrong({1}, scale);
    refuse({"a_scale has", "finite and above 0"}, {a.view, &wrong.view, nullptr}, filters, none,
           out.out());
    refuse({"weight_scales has", "finite and above 0"}, image, {weight.view, &wrong.view, nullptr},
           none, out.out());
  }
  auto with_bias = none;
  with_bias.bias = &two.view;
  refuse({"attributes->bias has shape [2]", "one extent of 4, as the filters of weight"}, image,
         filters, with_bias, out.out());
  Operand<std::int8_t> bytes({1, 4, 1, 1});
  refuse({"out.dtype is i8 but attributes->out_scale is NULL"}, image, filters, none, bytes.out());
  Operand<float> larger({1, 4, 2, 1});
  refuse({"out.shape[2] is 2 but must be 1"}, image, filters, none, larger.out());
  Operand<std::int8_t> deep({1, 33026, 1, 1});
  Operand<std::int8_t> long_filter({1, 33026, 1, 1});
  Operand<float> pixel({1, 1, 1, 1});
  refuse({"filters of 33026 elements", "33025 at most"}, {deep.view, &one.view, nullptr},
         {long_filter.view, &one.view, nullptr}, none, pixel.out());
  tnr_view aliased = a.view;
  aliased.shape[1] = 2;
  auto scaled = none;
  scaled.out_scale = &one.view;
  Operand<std::int8_t> square({2, 2, 1, 1});
  refuse({"out is exactly a"}, {aliased, &one.view, nullptr}, {square.view, &one.view, nullptr},
         scaled, {aliased}, TNR_STATUS_ALIASED);
}

// ---- refusals ----

TEST(Quantize, RefusesScalesThatAreNone) {
  Operand<float> a({2, 6});
  Operand<std::int8_t> out({2, 6});
  for (const float scale : {0.0f, -1.0f, kNaN, kInfinity}) {
    Operand<float> scales({2, 1}, 1.0f);
    scales.memory[1] = scale;
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"scales has", "finite and above 0"},
                 [&] { quantize(kDefaultContext, a.view, scales.view, nullptr, out.out()); });
    expect_error(TNR_STATUS_INVALID_ARGUMENT, {"scales has"},
                 [&] { dequantize(kDefaultContext, out.view, scales.view, nullptr, a.out()); });
  }
  Operand<float> four({4}, 1.0f);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"scales.shape[0] is 4 but must divide 6"},
               [&] { quantize(kDefaultContext, a.view, four.view, nullptr, out.out()); });
  Operand<float> deep({1, 1, 1}, 1.0f);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"scales.rank is 3 but must be 2 at most"},
               [&] { quantize(kDefaultContext, a.view, deep.view, nullptr, out.out()); });
  Operand<float> one({1}, 1.0f);
  Operand<std::int8_t> zeros({1, 1});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"zeros has shape [1, 1]", "scales, [1]"},
               [&] { quantize(kDefaultContext, a.view, one.view, &zeros.view, out.out()); });
  Operand<std::uint8_t> unsigned_zeros({1});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"zeros.dtype is u8", "i8"}, [&] {
    quantize(kDefaultContext, a.view, one.view, &unsigned_zeros.view, out.out());
  });
  expect_error(TNR_STATUS_UNSUPPORTED, {"out.dtype is f32 but must be i8 or u8"}, [&] {
    Operand<float> floats({2, 6});
    quantize(kDefaultContext, a.view, one.view, nullptr, floats.out());
  });
  Operand<std::uint8_t> unsigned_out({2, 6});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"u8", "zeros is NULL"}, [&] {
    quantize_dynamic(kDefaultContext, a.view, one.out(), nullptr, unsigned_out.out());
  });
  Operand<float> many({1, 1, 1, 1, 1, 2, 6, 4});
  Operand<float> groups({1, 1, 1, 1, 1, 2, 3, 2}, 1.0f);
  Operand<std::int8_t> many_out({1, 1, 1, 1, 1, 2, 6, 4});
  expect_error(TNR_STATUS_UNSUPPORTED, {"groups along 2 axes of numbers of rank 8"},
               [&] { quantize(kDefaultContext, many.view, groups.view, nullptr, many_out.out()); });
}

TEST(QuantizedMatmul, RefusesFactorsThatDoNotFit) {
  Operand<std::int8_t> a({2, 4});
  Operand<std::int8_t> b({4, 3});
  Operand<float> floats({2, 4});
  Operand<float> one({}, 1.0f);
  Operand<float> out({2, 3});
  const auto none = attributes_of(nullptr);
  const auto refuse = [&](std::initializer_list<std::string> words, const QuantizedFactor& left,
                          const QuantizedFactor& right, const tnr_quantized_matmul_attributes& with,
                          const tnr_view_mut& to, tnr_status status = TNR_STATUS_INVALID_ARGUMENT) {
    expect_error(status, words, [&] { quantized_matmul(kDefaultContext, left, right, with, to); });
  };
  const QuantizedFactor left = {a.view, &one.view, nullptr};
  const QuantizedFactor right = {b.view, &one.view, nullptr};
  refuse({"a has shape [2, 4], b [2, 4]"}, left, {a.view, &one.view, nullptr}, none, out.out());
  refuse({"a.dtype is i8 but must be f32"}, {a.view, nullptr, nullptr}, right, none, out.out(),
         TNR_STATUS_UNSUPPORTED);
  refuse({"a.dtype is f32 but must be i8"}, {floats.view, &one.view, nullptr}, right, none,
         out.out(), TNR_STATUS_UNSUPPORTED);
  Operand<std::int8_t> zero({});
  refuse({"a_zeros is given but a_scales is NULL"}, {floats.view, nullptr, &zero.view}, right, none,
         out.out());
  Operand<std::int8_t> integers({2, 3});
  refuse({"out.dtype is i8 but attributes->out_scale is NULL"}, left, right, none, integers.out());
  auto scaled = none;
  scaled.out_scale = &one.view;
  refuse({"out.dtype is f32 but attributes->out_scale is given"}, left, right, scaled, out.out());
  Operand<float> two({2}, 1.0f);
  refuse({"b_scales has shape [2] but must broadcast to [1, 3]"}, left,
         {b.view, &two.view, nullptr}, none, out.out());
  refuse({"a_scales has shape [2] but must broadcast to [2, 1]"}, {a.view, &two.view, nullptr},
         right, none, out.out());
  scaled.out_scale = &two.view;
  refuse({"attributes->out_scale has shape [2] but must have one element"}, left, right, scaled,
         integers.out());
  auto with_bias = none;
  with_bias.bias = &two.view;
  refuse({"attributes->bias has shape [2]", "one extent of 3"}, left, right, with_bias, out.out());
  Operand<std::int8_t> deep({2, 33026});
  Operand<std::int8_t> tall({33026, 3});
  refuse({"b.shape[0] is 33026 but must be 33025 at most"}, {deep.view, &one.view, nullptr},
         {tall.view, &one.view, nullptr}, none, out.out());
  const FactorToken packed = factor_create(kDefaultContext, b.view, TNR_DTYPE_U8);
  expect_error(
      TNR_STATUS_INVALID_ARGUMENT, {"packed for a left factor of u8 but must be for i8"}, [&] {
        factor_quantized_matmul(kDefaultContext, left, packed, &one.view, nullptr, none, out.out());
      });
  factor_release(packed);
}

// A scale of 0 is refused where it is read.
TEST(QuantizedMatmul, ReadsNoScaleOfAnOwnerThatIsGone) {
  Operand<std::int8_t> a({2, 4});
  Operand<std::int8_t> b({4, 3});
  Operand<float> one({}, 1.0f);
  Operand<float> out({2, 3});
  Operand<float> gone({}, 0.0f);
  Operand<std::int8_t> integers({2, 3});
  const BlobToken owner = blob_borrow(gone.memory.data(), sizeof(float));
  gone.view.owner = owner;
  blob_end_borrow(owner);
  const QuantizedFactor left = {a.view, &one.view, nullptr};
  const QuantizedFactor right = {b.view, &one.view, nullptr};
  const auto none = attributes_of(nullptr);
  expect_error(TNR_STATUS_STALE_VIEW, {"a_scales.owner"}, [&] {
    quantized_matmul(kDefaultContext, {a.view, &gone.view, nullptr}, right, none, out.out());
  });
  expect_error(TNR_STATUS_STALE_VIEW, {"b_scales.owner"}, [&] {
    quantized_matmul(kDefaultContext, left, {b.view, &gone.view, nullptr}, none, out.out());
  });
  auto scaled = none;
  scaled.out_scale = &gone.view;
  expect_error(TNR_STATUS_STALE_VIEW, {"attributes->out_scale.owner"},
               [&] { quantized_matmul(kDefaultContext, left, right, scaled, integers.out()); });
  expect_error(TNR_STATUS_STALE_VIEW, {"scales.owner"},
               [&] { quantize(kDefaultContext, out.view, gone.view, nullptr, integers.out()); });
  blob_release(owner);
}

}  // namespace
}  // namespace tenure::test
