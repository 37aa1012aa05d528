// Compares tanh with the C library's in a wider type: its stated error, and its exact results.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "arrays.hpp"
#include "cpu/operations.hpp"
#include "last_places.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

template <class T>
std::vector<T> tanh_of(std::vector<T> values) {
  const tnr_dtype dtype = sizeof(T) == 8 ? TNR_DTYPE_F64 : TNR_DTYPE_F32;
  const auto count = static_cast<std::int64_t>(values.size());
  const tnr_view_mut out = {
      make_view(values.data(), values.size() * sizeof(T), 0, dtype, 1, &count, nullptr)};
  unary(kDefaultContext, TNR_UNARY_OP_TANH, out.view, out);
  return values;
}

constexpr double kAllowed = kernels::kUnaryRows[TNR_UNARY_OP_TANH - 1].last_places;
static_assert(kAllowed == 1);

template <class T, class Wide>
void expect_near(const std::vector<T>& values) {
  const std::vector<T> results = tanh_of(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Wide exact = std::tanh(static_cast<Wide>(values[i]));
    ASSERT_LE(last_places(results[i], exact), kAllowed) << "tanh of " << values[i];
    ASSERT_LE(std::fabs(results[i]), 1) << "tanh of " << values[i];
  }
}

TEST(Tanh, OfF32IsWithinItsBound) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits <= 0x7f800000; bits += 1511) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    values.push_back(bits % 2 == 0 ? value : -value);
  }
  expect_near<float, double>(values);
}

TEST(Tanh, OfF64IsWithinItsBound) {
  std::mt19937_64 random(71);
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> values;
  for (int i = 0; i < 400'000; ++i) {
    values.push_back(unit(random) * 40 - 20);
    values.push_back(unit(random) * 3 - 1.5);
    values.push_back(std::ldexp(unit(random) - 0.5, -static_cast<int>(random() % 1070)));
  }
  expect_near<double, long double>(values);
}

template <class T>
void expect_special_values() {
  using Limits = std::numeric_limits<T>;
  const T tiny = Limits::denorm_min();
  const T one_from =
      sizeof(T) == 8 ? 20 : 10;  // a little before, 1 is within the bound, but not sure
  const std::vector<T> exact = {0, tiny, 3 * tiny, Limits::min(), Limits::min() - tiny};
  for (const T value : exact) {
    for (const T x : {value, -value}) {
      const T result = tanh_of<T>({x})[0];
      EXPECT_EQ(result, x);
      EXPECT_EQ(std::signbit(result), std::signbit(x));
    }
  }
  for (const T value : {one_from, T(21), T(100), Limits::max(), Limits::infinity()}) {
    EXPECT_EQ(tanh_of<T>({value, -value}), (std::vector<T>{1, -1})) << value;
  }
  for (const T nan : {Limits::quiet_NaN(), -Limits::quiet_NaN()}) {
    EXPECT_TRUE(std::isnan(tanh_of<T>({nan})[0]));
  }
}

TEST(Tanh, KeepsZerosAndSubnormalsAndSaturates) {
  expect_special_values<float>();
  expect_special_values<double>();
}

// The loop of functions has one path for whole vectors, and one for the remainder and for strides.
TEST(Tanh, IsTheSameAtEveryLengthAndStep) {
  std::vector<float> values(131);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.07f * static_cast<float>(i) - 4;
  const std::vector<float> whole = tanh_of(values);
  for (std::size_t count = 0; count <= values.size(); ++count) {
    const std::vector<float> part(values.begin(), values.begin() + static_cast<long>(count));
    ASSERT_EQ(tanh_of(part),
              std::vector<float>(whole.begin(), whole.begin() + static_cast<long>(count)));
  }
  for (const std::int64_t step : {2, -1, 3}) {
    std::vector<float> spread(3 * values.size(), 77);
    const auto at = [&](std::size_t i) {
      const auto place = static_cast<std::int64_t>(i) * step;
      return static_cast<std::size_t>(step < 0 ? place + 130 : place);
    };
    for (std::size_t i = 0; i < values.size(); ++i) spread[at(i)] = values[i];
    const std::int64_t count = 131;
    const tnr_view_mut view = {make_view(spread.data(), spread.size() * sizeof(float),
                                         at(0) * sizeof(float), TNR_DTYPE_F32, 1, &count, &step)};
    unary(kDefaultContext, TNR_UNARY_OP_TANH, view.view, view);
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(spread[at(i)], whole[i]) << step;
  }
}

}  // namespace
}  // namespace tenure::test
