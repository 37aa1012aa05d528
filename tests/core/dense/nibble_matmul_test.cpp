// Products by weights of 4 bits: by their definition, for any rows, threads and instruction set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/blob.hpp"
#include "tenure/factor.hpp"
#include "tenure/ops.hpp"
#include "tenure/quantize.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {

template <>
constexpr tnr_dtype kDtype<std::int8_t> = TNR_DTYPE_I8;
template <>
constexpr tnr_dtype kDtype<std::uint8_t> = TNR_DTYPE_U8;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

tnr_quantized_matmul_attributes attributes_of(const tnr_view* bias) {
  tnr_quantized_matmul_attributes attributes = {};
  attributes.struct_size = sizeof attributes;
  attributes.bias = bias;
  return attributes;
}

Operand<std::int8_t>& fill_nibbles(Operand<std::int8_t>& to, Random& random) {
  for_each_index(to.view, [&](const Index& index) {
    to.at(index) = static_cast<std::int8_t>(static_cast<int>(random() % 16) - 8);
  });
  return to;
}
Operand<float>& fill_scales(Operand<float>& to, Random& random) {
  std::uniform_real_distribution<float> scales(0.001f, 0.1f);
  for_each_index(to.view, [&](const Index& index) { to.at(index) = scales(random); });
  return to;
}

class Factor {
 public:
  Factor(const tnr_view& b, const tnr_view& scales)
      : token_(factor_create(kDefaultContext, b, 0, &scales)) {}
  Factor(const Factor&) = delete;
  Factor& operator=(const Factor&) = delete;
  ~Factor() { factor_release(token_); }
  operator FactorToken() const { return token_; }  // NOLINT: as the token

 private:
  FactorToken token_;
};

struct Product {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
  std::int64_t group;
};
// Rows of one tile and of several, and of more than a block; panels that are whole or not.
constexpr Product kProducts[] = {{1, 1, 32, 32},    {1, 8, 64, 32},     {2, 32, 128, 128},
                                 {3, 33, 192, 64},  {4, 40, 96, 32},    {5, 64, 256, 128},
                                 {6, 31, 64, 64},   {7, 7, 320, 32},    {13, 95, 384, 128},
                                 {98, 70, 128, 32}, {200, 33, 256, 64}, {31, 160, 512, 64}};

// A row as tnr_quantize_dynamic() makes integers of each of its groups.
struct Row {
  std::vector<int> values;
  std::vector<float> scales;

  Row(const std::vector<float>& numbers, std::int64_t group) {
    for (std::size_t first = 0; first < numbers.size(); first += static_cast<std::size_t>(group)) {
      float most = 0;
      for (std::int64_t i = 0; i < group; ++i) {
        const float x = std::fabs(numbers[first + static_cast<std::size_t>(i)]);
        if (std::isfinite(x)) most = std::max(most, x);
      }
      const float scale = most / 127 > 0 ? most / 127 : 1;
      scales.push_back(scale);
      for (std::int64_t i = 0; i < group; ++i) {
        const float x = numbers[first + static_cast<std::size_t>(i)];
        const float nearest = std::isnan(x) ? 0 : std::nearbyint(x / scale);
        values.push_back(static_cast<int>(std::clamp(nearest, -127.0f, 127.0f)));
      }
    }
  }
};

float expected(const Row& row, Operand<std::int8_t>& b, Operand<float>& scales, std::int64_t j) {
  const std::int64_t groups = scales.view.shape[0];
  const std::int64_t group = b.view.shape[0] / groups;
  float total = 0;
  for (std::int64_t g = 0; g < groups; ++g) {
    std::int32_t sum = 0;
    for (std::int64_t k = g * group; k < (g + 1) * group; ++k) {
      sum += row.values[static_cast<std::size_t>(k)] * b.at({k, j});
    }
    const float scale = row.scales[static_cast<std::size_t>(g)] * scales.at({g, j});
    const float term = static_cast<float>(sum) * scale;
    total = total + term;
  }
  return total;
}

Row row_of(Operand<float>& a, std::int64_t i, std::int64_t group) {
  std::vector<float> numbers;
  for (std::int64_t k = 0; k < a.view.shape[1]; ++k) numbers.push_back(a.at({i, k}));
  return {numbers, group};
}

TEST(NibbleMatmul, IsTheSumOfExactGroups) {
  Random random(1);
  for (const Product& of : kProducts) {
    Operand<float> a({of.rows, of.depth}, Access::kRead, random);
    a.fill(random);
    Operand<std::int8_t> b({of.depth, of.columns}, Access::kRead, random);
    fill_nibbles(b, random);
    Operand<float> scales({of.depth / of.group, of.columns}, Access::kRead, random);
    fill_scales(scales, random);
    const Factor packed(b.view, scales.view);
    const auto none = attributes_of(nullptr);
    const QuantizedFactor left = {a.view, nullptr, nullptr};
    Operand<float> out({of.rows, of.columns}, Access::kWrite, random);
    factor_quantized_matmul(kDefaultContext, left, packed, nullptr, nullptr, none, out.out());
    Operand<float> by_two({of.rows, of.columns});
    const TestContext two(2);
    factor_quantized_matmul(two, left, packed, nullptr, nullptr, none, by_two.out());
    // One group is the scale of a whole column, by which integers of 8 bits give the same numbers.
    Operand<float> by_values({of.rows, of.columns});
    quantized_matmul(kDefaultContext, left, {b.view, &scales.view, nullptr}, none, by_values.out());
    for (std::int64_t i = 0; i < of.rows; ++i) {
      const Row row = row_of(a, i, of.group);
      for (std::int64_t j = 0; j < of.columns; ++j) {
        const float number = expected(row, b, scales, j);
        ASSERT_EQ(out.at({i, j}), number) << i << " " << j << " of " << of.rows << " " << of.columns
                                          << " " << of.depth << " " << of.group;
        ASSERT_EQ(by_two.at({i, j}), number);
        ASSERT_EQ(by_values.at({i, j}), number);
      }
    }
  }
}

TEST(NibbleMatmul, IsTheSameForEachNumberOfRows) {
  Random random(2);
  Operand<float> a({23, 256});
  a.fill(random);
  Operand<std::int8_t> b({256, 70});
  fill_nibbles(b, random);
  Operand<float> scales({8, 70});
  fill_scales(scales, random);
  const Factor packed(b.view, scales.view);
  const auto none = attributes_of(nullptr);
  Operand<float> all({23, 70});
  factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, packed, nullptr, nullptr,
                          none, all.out());
  for (std::int64_t rows = 1; rows < 23; ++rows) {
    tnr_view some = a.view;
    some.shape[0] = rows;
    Operand<float> out({rows, 70});
    factor_quantized_matmul(kDefaultContext, {some, nullptr, nullptr}, packed, nullptr, nullptr,
                            none, out.out());
    for_each_index(out.view,
                   [&](const Index& index) { ASSERT_EQ(out.at(index), all.at(index)) << rows; });
  }
}

// All values at an end, by rows at an end: the largest sums of each kind of product.
TEST(NibbleMatmul, IsExactOfTheLargestSums) {
  for (const int value : {-8, 7}) {
    for (const float number : {-3.0f, 3.0f}) {
      for (const std::int64_t group : {32, 64, 128}) {
        Operand<float> a({3, 256}, number);
        Operand<std::int8_t> b({256, 40}, static_cast<std::int8_t>(value));
        Operand<float> scales({256 / group, 40}, 0.5f);
        const Factor packed(b.view, scales.view);
        Operand<float> out({3, 40});
        factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, packed, nullptr,
                                nullptr, attributes_of(nullptr), out.out());
        const Row row(std::vector<float>(256, number), group);
        for (const float got : out.memory) ASSERT_EQ(got, expected(row, b, scales, 0));
      }
    }
  }
}

TEST(NibbleMatmul, TakesNaNForZeroAndBoundsInfinities) {
  Random random(3);
  Operand<float> a({4, 64});
  a.fill(random);
  a.at({0, 3}) = kNaN;
  a.at({0, 40}) = kInfinity;
  for (std::int64_t k = 0; k < 64; ++k) {
    a.at({1, k}) = kNaN;
    a.at({2, k}) = k % 2 == 0 ? kInfinity : -kInfinity;
    a.at({3, k}) = 0;
  }
  Operand<std::int8_t> b({64, 9});
  fill_nibbles(b, random);
  Operand<float> scales({2, 9});
  fill_scales(scales, random);
  const Factor packed(b.view, scales.view);
  Operand<float> out({4, 9});
  factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, packed, nullptr, nullptr,
                          attributes_of(nullptr), out.out());
  for (std::int64_t i = 0; i < 4; ++i) {
    const Row row = row_of(a, i, 32);
    for (std::int64_t j = 0; j < 9; ++j) {
      ASSERT_EQ(out.at({i, j}), expected(row, b, scales, j)) << i;
    }
  }
}

TEST(NibbleMatmul, TakesBatchesNarrowNumbersAndAnEpilogue) {
  Random random(4);
  Operand<float> numbers({2, 3, 128}, Access::kRead, random);
  numbers.fill(random);
  Operand<std::int8_t> b({128, 50});
  fill_nibbles(b, random);
  Operand<float> scales({2, 50});
  fill_scales(scales, random);
  Operand<float> bias({50});
  bias.fill(random);
  const Factor packed(b.view, scales.view);
  auto attributes = attributes_of(&bias.view);
  attributes.activation = TNR_UNARY_OP_RELU;
  attributes.flags = TNR_EPILOGUE_CLAMP;
  attributes.low = -1;
  attributes.high = 2;
  Operand<float> out({2, 3, 50}, Access::kWrite, random);
  factor_quantized_matmul(kDefaultContext, {numbers.view, nullptr, nullptr}, packed, nullptr,
                          nullptr, attributes, out.out());
  for_each_index(out.view, [&](const Index& index) {
    std::vector<float> row;
    for (std::int64_t k = 0; k < 128; ++k) row.push_back(numbers.at({index[0], index[1], k}));
    const float sum = expected(Row(row, 64), b, scales, index[2]);
    ASSERT_EQ(out.at(index), std::clamp(sum + bias.at({index[2]}), 0.0f, 2.0f));
  });
  for (const tnr_dtype dtype : {TNR_DTYPE_F16, TNR_DTYPE_BF16}) {
    const std::int64_t shape[] = {2, 3, 128};
    const std::int64_t out_shape[] = {2, 3, 50};
    std::vector<std::uint16_t> halves(2 * 3 * 128);
    std::vector<std::uint16_t> results(2 * 3 * 50);
    const tnr_view_mut a = {
        make_view(halves.data(), halves.size() * 2, 0, dtype, 3, shape, nullptr)};
    const tnr_view_mut to = {
        make_view(results.data(), results.size() * 2, 0, dtype, 3, out_shape, nullptr)};
    cast(kDefaultContext, numbers.view, a);
    factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, packed, nullptr, nullptr,
                            attributes, to);
    // The rounded numbers in f32 give the same, which is rounded once.
    Operand<float> rounded({2, 3, 128});
    cast(kDefaultContext, a.view, rounded.out());
    factor_quantized_matmul(kDefaultContext, {rounded.view, nullptr, nullptr}, packed, nullptr,
                            nullptr, attributes, out.out());
    std::vector<std::uint16_t> wanted(results.size());
    const tnr_view_mut to_wanted = {
        make_view(wanted.data(), wanted.size() * 2, 0, dtype, 3, out_shape, nullptr)};
    cast(kDefaultContext, out.view, to_wanted);
    EXPECT_EQ(results, wanted);
  }
  Operand<float> scale({}, 0.05f);
  Operand<std::int8_t> integers({2, 3, 50});
  Operand<std::int8_t> wanted({2, 3, 50});
  attributes.out_scale = &scale.view;
  factor_quantized_matmul(kDefaultContext, {numbers.view, nullptr, nullptr}, packed, nullptr,
                          nullptr, attributes, integers.out());
  attributes.out_scale = nullptr;
  factor_quantized_matmul(kDefaultContext, {numbers.view, nullptr, nullptr}, packed, nullptr,
                          nullptr, attributes, out.out());
  quantize(kDefaultContext, out.view, scale.view, nullptr, wanted.out());
  EXPECT_EQ(integers.memory, wanted.memory);
}

TEST(NibbleMatmul, TakesScalesOfF16) {
  Random random(5);
  Operand<std::int8_t> b({64, 11});
  fill_nibbles(b, random);
  Operand<float> a({2, 64});
  a.fill(random);
  Operand<float> wide({2, 11});
  fill_scales(wide, random);
  std::vector<std::uint16_t> halves(22);
  const std::int64_t shape[] = {2, 11};
  const tnr_view_mut narrow = {
      make_view(halves.data(), halves.size() * 2, 0, TNR_DTYPE_F16, 2, shape, nullptr)};
  cast(kDefaultContext, wide.view, narrow);
  cast(kDefaultContext, narrow.view, wide.out());
  Operand<float> by_narrow({2, 11});
  Operand<float> by_wide({2, 11});
  const auto none = attributes_of(nullptr);
  factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, Factor(b.view, narrow.view),
                          nullptr, nullptr, none, by_narrow.out());
  factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, Factor(b.view, wide.view),
                          nullptr, nullptr, none, by_wide.out());
  EXPECT_EQ(by_narrow.memory, by_wide.memory);
}

TEST(NibbleMatmul, TakesHalfAByteForAValue) {
  Operand<std::int8_t> b({1024, 256});
  Operand<float> scales({32, 256}, 1.0f);
  const Factor packed(b.view, scales.view);
  const tnr_factor_info info = factor_describe(packed);
  EXPECT_EQ(info.dtype, TNR_DTYPE_I8);
  EXPECT_EQ(info.a_dtype, TNR_DTYPE_I8);
  EXPECT_EQ(info.size_bytes, 1024u * 256u / 2 + 32u * 256u * 4u);
  EXPECT_LE(static_cast<double>(info.size_bytes), 0.16 * 4 * 1024 * 256);
}

TEST(NibbleMatmul, GivesNothingOfNothing) {
  Operand<float> a({0, 64});
  Operand<std::int8_t> b({64, 5});
  Operand<float> scales({2, 5}, 1.0f);
  Operand<float> out({0, 5});
  const auto none = attributes_of(nullptr);
  factor_quantized_matmul(kDefaultContext, {a.view, nullptr, nullptr}, Factor(b.view, scales.view),
                          nullptr, nullptr, none, out.out());
  Operand<float> some({2, 64});
  Operand<std::int8_t> no_columns({64, 0});
  Operand<float> no_scales({2, 0});
  Operand<float> empty({2, 0});
  factor_quantized_matmul(kDefaultContext, {some.view, nullptr, nullptr},
                          Factor(no_columns.view, no_scales.view), nullptr, nullptr, none,
                          empty.out());
}

TEST(NibbleMatmul, RefusesFactorsThatDoNotFit) {
  Operand<std::int8_t> b({96, 3});
  Operand<float> scales({3, 3}, 1.0f);
  const auto refuse = [](std::initializer_list<std::string> words, const tnr_view& of,
                         const tnr_view& with, tnr_status status = TNR_STATUS_INVALID_ARGUMENT,
                         tnr_dtype a_dtype = 0) {
    expect_error(status, words,
                 [&] { factor_release(factor_create(kDefaultContext, of, a_dtype, &with)); });
  };
  b.at({70, 2}) = 8;
  refuse({"b[70, 2] is 8 but values of 4 bits must be from -8 to 7"}, b.view, scales.view);
  b.at({70, 2}) = -9;
  refuse({"b[70, 2] is -9"}, b.view, scales.view);
  b.at({70, 2}) = 7;
  for (const float scale : {0.0f, -1.0f, kNaN, kInfinity}) {
    scales.at({1, 1}) = scale;
    refuse({"attributes->group_scales has ", "finite and above 0"}, b.view, scales.view);
  }
  scales.at({1, 1}) = 1;
  for (const Shape& shape : {Shape{1, 3}, Shape{6, 3}, Shape{2, 3}, Shape{3, 1}, Shape{3}}) {
    const Operand<float> other(shape, 1.0f);
    refuse({"attributes->group_scales has shape ", "a group of 32, 64 or 128"}, b.view, other.view);
  }
  Operand<std::int8_t> nothing({0, 3});
  Operand<float> no_scales({0, 3});
  refuse({"a group of 32, 64 or 128"}, nothing.view, no_scales.view);
  Operand<std::uint8_t> bytes({96, 3});
  refuse({"b.dtype is u8"}, bytes.view, scales.view);
  refuse({"attributes->a_dtype u8"}, b.view, scales.view, TNR_STATUS_INVALID_ARGUMENT,
         TNR_DTYPE_U8);
  Operand<std::int8_t> integers({3, 3}, std::int8_t{1});
  refuse({"attributes->group_scales.dtype is i8 but must be f32 or f16"}, b.view, integers.view,
         TNR_STATUS_UNSUPPORTED);
}

TEST(NibbleMatmul, RefusesOperandsThatDoNotFit) {
  Operand<std::int8_t> b({64, 3});
  Operand<float> scales({2, 3}, 1.0f);
  Operand<float> a({2, 64});
  Operand<float> one({}, 1.0f);
  Operand<std::int8_t> zero({});
  Operand<float> out({2, 3});
  Operand<std::int8_t> bytes({2, 64});
  const Factor packed(b.view, scales.view);
  const auto none = attributes_of(nullptr);
  const QuantizedFactor left = {a.view, nullptr, nullptr};
  const auto refuse = [&](std::initializer_list<std::string> words, const QuantizedFactor& of,
                          const tnr_view* b_scales, const tnr_view* b_zeros,
                          const tnr_quantized_matmul_attributes& with, const tnr_view_mut& to,
                          tnr_status status = TNR_STATUS_INVALID_ARGUMENT) {
    expect_error(status, words, [&] {
      factor_quantized_matmul(kDefaultContext, of, packed, b_scales, b_zeros, with, to);
    });
  };
  refuse({"b_scales is given but b has scales of its own"}, left, &scales.view, nullptr, none,
         out.out());
  refuse({"b_zeros is given but must be NULL"}, left, nullptr, &zero.view, none, out.out());
  refuse({"a_scales is given but must be NULL"}, {bytes.view, &one.view, nullptr}, nullptr, nullptr,
         none, out.out());
  refuse({"a_zeros is given but a_scales is NULL"}, {a.view, nullptr, &zero.view}, nullptr, nullptr,
         none, out.out());
  refuse({"a.dtype is i8 but must be f32"}, {bytes.view, nullptr, nullptr}, nullptr, nullptr, none,
         out.out(), TNR_STATUS_UNSUPPORTED);
  auto affine = none;
  affine.flags = TNR_QUANTIZE_AFFINE_ROWS;
  refuse({"TNR_QUANTIZE_AFFINE_ROWS but b has weights of 4 bits"}, left, nullptr, nullptr, affine,
         out.out());
  Operand<float> other({2, 32});
  refuse({"a has shape [2, 32], b [64, 3] and out [2, 3]"}, {other.view, nullptr, nullptr}, nullptr,
         nullptr, none, out.out());
  tnr_view_mut part = a.out();
  part.view.shape[1] = 3;
  refuse({"out", "a"}, left, nullptr, nullptr, none, part, TNR_STATUS_ALIASED);
  auto scaled = none;
  Operand<float> none_scale({}, 0.0f);
  scaled.out_scale = &none_scale.view;
  Operand<std::int8_t> integers({2, 3});
  refuse({"attributes->out_scale has 0"}, left, nullptr, nullptr, scaled, integers.out());
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b has weights of 4 bits"}, [&] {
    const tnr_scalar of_bytes = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
    Operand<std::int32_t> sums({2, 3});
    factor_matmul(kDefaultContext, of_bytes, bytes.view, packed, of_bytes, sums.out());
  });
  const FactorToken of_eight = factor_create(kDefaultContext, b.view);
  expect_error(
      TNR_STATUS_INVALID_ARGUMENT, {"b_scales is NULL but b has no scales of its own"}, [&] {
        factor_quantized_matmul(kDefaultContext, left, of_eight, nullptr, nullptr, none, out.out());
      });
  factor_release(of_eight);
  const auto refuse_values = [&](std::initializer_list<std::string> words,
                                 const QuantizedFactor& right) {
    expect_error(TNR_STATUS_INVALID_ARGUMENT, words,
                 [&] { quantized_matmul(kDefaultContext, left, right, none, out.out()); });
  };
  Operand<std::int8_t> zeros({2, 3});
  refuse_values({"b_zeros is given but must be NULL"}, {b.view, &scales.view, &zeros.view});
  Operand<std::uint8_t> unsigned_b({64, 3});
  refuse_values({"b.dtype is u8 but weights of 4 bits must be i8"},
                {unsigned_b.view, &scales.view, nullptr});
  scales.at({1, 0}) = 0;
  refuse_values({"b_scales has 0 but every scale"}, {b.view, &scales.view, nullptr});
  scales.at({1, 0}) = 1;
  b.at({5, 1}) = 100;
  refuse_values({"b[5, 1] is 100"}, {b.view, &scales.view, nullptr});
}

TEST(NibbleMatmul, QuantizesToFourBits) {
  Random random(6);
  Operand<float> a({96, 5}, Access::kRead, random);
  a.fill(random);
  a.at({3, 1}) = kNaN;
  a.at({4, 1}) = kInfinity;
  Operand<float> scales({3, 5}, Access::kWrite, random);
  Operand<std::int8_t> values({96, 5}, Access::kWrite, random);
  quantize_dynamic(kDefaultContext, a.view, scales.out(), nullptr, values.out(), 4);
  for (std::int64_t j = 0; j < 5; ++j) {
    for (std::int64_t g = 0; g < 3; ++g) {
      float most = 0;
      for (std::int64_t k = 32 * g; k < 32 * g + 32; ++k) {
        if (std::isfinite(a.at({k, j}))) most = std::max(most, std::fabs(a.at({k, j})));
      }
      ASSERT_EQ(scales.at({g, j}), most / 7);
      for (std::int64_t k = 32 * g; k < 32 * g + 32; ++k) {
        const float x = a.at({k, j});
        const float nearest = std::isnan(x) ? 0 : std::nearbyint(x / scales.at({g, j}));
        ASSERT_EQ(values.at({k, j}), static_cast<int>(std::clamp(nearest, -7.0f, 7.0f)));
      }
    }
  }
  Operand<std::uint8_t> bytes({96, 5});
  Operand<std::uint8_t> zeros({3, 5});
  const tnr_view_mut points = zeros.out();
  expect_error(
      TNR_STATUS_INVALID_ARGUMENT, {"attributes->bits is 4 but out is u8 with zeros"},
      [&] { quantize_dynamic(kDefaultContext, a.view, scales.out(), &points, bytes.out(), 4); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"attributes->bits is 3 but must be 4 or 8"}, [&] {
    quantize_dynamic(kDefaultContext, a.view, scales.out(), nullptr, values.out(), 3);
  });
}

}  // namespace
}  // namespace tenure::test
