// Compares functions of the table of operations with their reference implementation in f64: the
// stated errors on numbers of every size, limits, and the same function as an activation of a
// product.
//
// functions_exhaustive.cpp tries every f32, and functions_f64.cpp tries f64 by the million.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "c_library.hpp"
#include "cpu/kernels/reference.hpp"
#include "cpu/operations.hpp"
#include "expect_error.hpp"
#include "last_places.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"

namespace tenure::test {
namespace {

using kernels::Byte;
using kernels::Type;

template <class T>
constexpr tnr_dtype kDtype = sizeof(T) == 8 ? TNR_DTYPE_F64 : TNR_DTYPE_F32;

template <class T>
tnr_view_mut row_of(std::vector<T>& values) {
  const std::int64_t shape[] = {1, static_cast<std::int64_t>(values.size())};
  return {make_view(values.data(), values.size() * sizeof(T), 0, kDtype<T>, 2, shape, nullptr)};
}

template <class T>
std::vector<T> results_of(tnr_unary_op op, std::vector<T> values) {
  const tnr_view_mut out = row_of(values);
  unary(kDefaultContext, op, out.view, out);
  return values;
}

double reference(tnr_unary_op op, double x) {
  double result = 0;
  kernels::reference::unary(static_cast<unsigned>(op - 1), Type::kF64,
                            reinterpret_cast<const Byte*>(&x), reinterpret_cast<Byte*>(&result));
  return result;
}

// Functions of floats with a bound above half a last place. Other tests compare the other functions
// with their reference implementation exactly.
std::vector<tnr_unary_op> functions() {
  std::vector<tnr_unary_op> list;
  for (unsigned row = 0; row < kernels::kUnaryCount; ++row) {
    const kernels::OperationRow& about = kernels::kUnaryRows[row];
    const auto op = static_cast<tnr_unary_op>(row + 1);
    if ((about.dtypes & kernels::kFloats) != 0 && about.last_places > kernels::kRounded &&
        has_right_reference(op)) {
      list.push_back(op);
    }
  }
  return list;
}

TEST(Functions, OfF32AreWithinTheirBounds) {
  std::vector<float> values;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 9973) {
    const auto word = static_cast<std::uint32_t>(bits);
    float value = 0;
    std::memcpy(&value, &word, sizeof value);
    values.push_back(value);
  }
  for (const tnr_unary_op op : functions()) {
    // Its slope is 0.01 as an f32.
    if (op == TNR_UNARY_OP_LEAKY_RELU) continue;
    const kernels::OperationRow& row = kernels::kUnaryRows[op - 1];
    const std::vector<float> results = results_of(op, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(last_places(results[i], reference(op, static_cast<double>(values[i]))),
                row.last_places)
          << row.name << " of " << values[i];
    }
  }
}

// The rounding of the reference implementation is half a place more.
TEST(Functions, OfF64AreWithinTheirBounds) {
  std::mt19937_64 random(72);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<double> values;
  for (int i = 0; i < 20'000; ++i) {
    for (const double reach : {1.0, 4.0, 40.0, 800.0}) values.push_back(unit(random) * reach);
    values.push_back(std::ldexp(unit(random), -static_cast<int>(random() % 1070)));
  }
  for (const tnr_unary_op op : functions()) {
    const kernels::OperationRow& row = kernels::kUnaryRows[op - 1];
    const std::vector<double> results = results_of(op, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto exact = static_cast<long double>(reference(op, values[i]));
      ASSERT_LE(last_places(results[i], exact), row.last_places + 0.5)
          << row.name << " of " << values[i];
    }
  }
}

template <class T>
void expect_limits() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr T kMost = std::numeric_limits<T>::max();
  const struct {
    tnr_unary_op op;
    T below;  // the limit at minus infinity
    T above;
  } limits[] = {
      {TNR_UNARY_OP_SIGMOID, 0, 1},          {TNR_UNARY_OP_SILU, -T{0}, kInfinity},
      {TNR_UNARY_OP_GELU, -T{0}, kInfinity}, {TNR_UNARY_OP_GELU_TANH, -T{0}, kInfinity},
      {TNR_UNARY_OP_SOFTPLUS, 0, kInfinity}, {TNR_UNARY_OP_HARDSWISH, -T{0}, kInfinity},
      {TNR_UNARY_OP_ELU, -1, kInfinity},     {TNR_UNARY_OP_SOFTSIGN, -1, 1},
      {TNR_UNARY_OP_EXP, 0, kInfinity},      {TNR_UNARY_OP_TANH, -1, 1},
  };
  for (const auto& [op, below, above] : limits) {
    const char* const name = kernels::kUnaryRows[op - 1].name;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const std::vector<T> results =
        results_of<T>(op, {-kInfinity, -kMost, kInfinity, kMost, nan, -nan, T{0}, -T{0}});
    for (const T result : {results[0], results[1]}) {
      EXPECT_EQ(result, below) << name;
      EXPECT_EQ(std::signbit(result), std::signbit(below)) << name;
    }
    EXPECT_EQ(results[2], above) << name;
    const bool grows_as_x = above == kInfinity && op != TNR_UNARY_OP_EXP;
    EXPECT_EQ(results[3], grows_as_x ? kMost : above) << name;
    EXPECT_TRUE(std::isnan(results[4]) && std::isnan(results[5])) << name;
    if (!kernels::kUnaryRows[op - 1].keeps_zero) continue;
    EXPECT_TRUE(results[6] == 0 && !std::signbit(results[6])) << name;
    EXPECT_TRUE(results[7] == 0 && std::signbit(results[7])) << name;
  }
}

TEST(Functions, GiveTheirLimitsAndKeepNansAndZeros) {
  expect_limits<float>();
  expect_limits<double>();
}

// Zeros, ends of the range, poles, and arguments near multiples of pi / 2.
template <class T>
void expect_special_numbers() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           T{0.5},
                           1,
                           1 + Limits::epsilon(),
                           1 - Limits::epsilon() / 2,
                           2,
                           10,
                           Limits::denorm_min(),
                           Limits::min(),
                           Limits::max(),
                           Limits::infinity(),
                           static_cast<T>(16367173.0 * 0x1p72),
                           static_cast<T>(1.57079632679489661923),
                           static_cast<T>(3.14159265358979323846),
                           static_cast<T>(1e22)};
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  for (const tnr_unary_op op : functions()) {
    if (op == TNR_UNARY_OP_LEAKY_RELU) continue;
    const kernels::OperationRow& row = kernels::kUnaryRows[op - 1];
    const std::vector<T> results = results_of(op, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double exact = reference(op, static_cast<double>(values[i]));
      if constexpr (sizeof(T) == 4) {
        EXPECT_LE(last_places(results[i], exact), row.last_places) << row.name << values[i];
      } else {
        EXPECT_LE(last_places(results[i], static_cast<long double>(exact)), row.last_places + 0.5)
            << row.name << " of " << values[i];
      }
      if (exact == 0) {
        EXPECT_EQ(std::signbit(results[i]), std::signbit(exact)) << row.name << " of " << values[i];
      }
    }
  }
}

TEST(Functions, OfSpecialNumbersAreThoseOfTheirTwin) {
  expect_special_numbers<float>();
  expect_special_numbers<double>();
}

// The f64 that is nearest to a multiple of pi / 2 (Kahan, "Minimizing q*m - n", 1983).
TEST(Functions, ReduceAnglesByAllDigitsOfPi) {
  const std::vector<double> angle = {6381956970095103.0 * 0x1p797};
  EXPECT_EQ(results_of(TNR_UNARY_OP_COS, angle)[0], -4.68716592425462761112e-19);
  EXPECT_EQ(results_of(TNR_UNARY_OP_SIN, angle)[0], 1);
  EXPECT_LE(last_places(results_of(TNR_UNARY_OP_TAN, angle)[0], -1 / 4.68716592425462761112e-19L),
            kernels::kUnaryRows[TNR_UNARY_OP_TAN - 1].last_places);
}

// Compares functions of two numbers with C's in a wider type: any bits, numbers near 1 to large
// powers, and points of all sizes.
template <class T, class Wide>
void expect_binary_bounds(std::size_t rounds) {
  std::mt19937_64 random(73);
  std::uniform_real_distribution<double> unit(-1, 1);
  const auto any = [&] {
    const std::uint64_t bits = random();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  const auto sized = [&](int most) {
    const int exponent = static_cast<int>(random() % static_cast<unsigned>(2 * most)) - most;
    return static_cast<T>(std::ldexp(unit(random), exponent));
  };
  std::vector<T> x;
  std::vector<T> y;
  const auto add = [&](T left, T right) {
    x.push_back(left);
    y.push_back(right);
  };
  for (std::size_t i = 0; i < rounds; ++i) {
    add(any(), any());
    add(sized(60), sized(6));
    add(std::fabs(sized(6)), sized(6));
    add(static_cast<T>(1 + unit(random) / 1024), sized(sizeof(T) == 4 ? 16 : 19));
    const T size = sized(sizeof(T) == 4 ? 120 : 1000);
    add(size * static_cast<T>(unit(random)), size * static_cast<T>(unit(random)));
  }
  const struct {
    tnr_binary_op op;
    Wide (*exact)(Wide, Wide);
  } cases[] = {{TNR_BINARY_OP_POW, [](Wide a, Wide b) { return std::pow(a, b); }},
               {TNR_BINARY_OP_ATAN2, [](Wide a, Wide b) { return std::atan2(a, b); }},
               {TNR_BINARY_OP_HYPOT, [](Wide a, Wide b) { return std::hypot(a, b); }}};
  std::vector<T> out(x.size());
  for (const auto& [op, exact] : cases) {
    const kernels::OperationRow& row = kernels::kBinaryRows[op - 1];
    binary(kDefaultContext, op, row_of(x).view, row_of(y).view, row_of(out));
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Wide expected = exact(static_cast<Wide>(x[i]), static_cast<Wide>(y[i]));
      const auto places = static_cast<double>(last_places(out[i], expected));
      worst = std::max(worst, places);
      ASSERT_LE(places, row.last_places) << row.name << " of " << x[i] << " and " << y[i];
    }
    testing::Test::RecordProperty(std::string(row.name) + (sizeof(T) == 4 ? "_f32" : "_f64"),
                                  std::to_string(worst));
  }
}

TEST(Functions, OfTwoNumbersAreWithinTheirBounds) {
  // C computes in f64, and in the 64 bits that x86 has.
  expect_binary_bounds<float, double>(100'000);
  if constexpr (std::numeric_limits<long double>::digits >= 64) {
    expect_binary_bounds<double, long double>(50'000);
  }
}

// The worst arguments of 10^8 f64 for each under several sets, and of former algorithms; the exact
// results are of arithmetic of 120 digits.
TEST(Functions, OfTheWorstThatWereFoundAreWithinTheirBounds) {
  const struct {
    tnr_unary_op op;
    double x;
    long double exact;
  } cases[] = {
      {TNR_UNARY_OP_EXP, -0x1.62787c601ce35p+9, 0x1.28ea5cea28e0a824p-1023L},
      {TNR_UNARY_OP_TANH, 0x1.743eee7b38efp-3, 0x1.703332e8257d8daep-3L},
      {TNR_UNARY_OP_SIGMOID, -0x1.62787c601ce35p+9, 0x1.28ea5cea28e0a824p-1023L},
      {TNR_UNARY_OP_SILU, -0x1.f1c2dce31ec88p+0, -0x1.f26d9cc64c78273p-3L},
      {TNR_UNARY_OP_GELU, -0x1.508ae57739bc2p-2, -0x1.f3b5a5ea9da3feb8p-4L},
      {TNR_UNARY_OP_GELU_TANH, -0x1.51ec94961a813p+4, -0x1.edb24330d9bce0cp-1015L},
      {TNR_UNARY_OP_SOFTPLUS, -0x1.6769825193d56p-1, 0x1.9c30f74de2b8573cp-2L},
      {TNR_UNARY_OP_ELU, -0x1.1c0df8002d494p-2, -0x1.f01ee3e8405151c6p-3L},
      {TNR_UNARY_OP_EXP2, -0x1.076a0280df7d3p+4, 0x1.735879c9789f4b36p-17L},
      {TNR_UNARY_OP_EXPM1, 0x1.630788b278348p-2, 0x1.a859975e1e0571fcp-2L},
      {TNR_UNARY_OP_LN, 0x1.6892cbe2abb9ep-1, -0x1.670b4b0f24f491acp-2L},
      {TNR_UNARY_OP_LOG2, 0x1.665f7f93ce78cp+0, 0x1.f0f747d5b19c224ep-2L},
      {TNR_UNARY_OP_LOG10, 0x1.522f1b89da118p+0, 0x1.ef42959c462f4cb8p-4L},
      {TNR_UNARY_OP_LOG1P, -0x1.2eb896abe9b8ap-2, -0x1.66db46cbaf1c714cp-2L},
      {TNR_UNARY_OP_ERF, 0x1.0ff010fa0133p+0, 0x1.bbe36e13ed21797ep-1L},
      {TNR_UNARY_OP_ERFC, 0x1.0a3232e6daf1p-1, 0x1.d94475dc5bf9dfdap-2L},
      {TNR_UNARY_OP_SIN, -0x1.b225af5636564p-1, -0x1.7ff5bde6518ad388p-1L},
      {TNR_UNARY_OP_COS, 0x1.f768e0d43c7c5p+8, 0x1.74ecefe5b55503b4p-1L},
      {TNR_UNARY_OP_TAN, 0x1.8b830069a8d58p-1, 0x1.f2f191085563beb2p-1L},
      {TNR_UNARY_OP_SIN, 0x1.93c05c9ed3cbcp+19, -0x1.065d73720c4f8efep-51L},
      {TNR_UNARY_OP_COS, -0x1.93c05c9ed3cbcp+18, -0x1.065d73720c4f8efep-52L},
      {TNR_UNARY_OP_TAN, -0x1.93c05c9ed3cbcp+18, 0x1.f39428ed72aa42a8p+51L},
      {TNR_UNARY_OP_ASIN, 0x1.01cc50b3278d4p-1, 0x1.0e294a450b724c6cp-1L},
      {TNR_UNARY_OP_ACOS, 0x1.23801ee22c7dap-1, 0x1.ee213cf71df01518p-1L},
      {TNR_UNARY_OP_ATAN, -0x1.bc98c43a10a4ep-2, -0x1.a372c42e0f40f15p-2L},
      {TNR_UNARY_OP_SINH, -0x1.69258d68aeecap-2, -0x1.70ae24e2df37f41cp-2L},
      {TNR_UNARY_OP_COSH, -0x1.3ebff332102cep+1, 0x1.84b40617fd04be1cp+2L},
      {TNR_UNARY_OP_ASINH, -0x1.02379bde28e94p-2, -0x1.ff1cbce933924fcp-3L},
      {TNR_UNARY_OP_ACOSH, 0x1.07c506ab94d48p+0, 0x1.f74e903ca2baf208p-3L},
      {TNR_UNARY_OP_ATANH, 0x1.12f40d752bb53p-54, 0x1.12f40d752bb53p-54L},
      {TNR_UNARY_OP_CBRT, 0x1.e872e8b1ea86p-2, 0x1.900bb735fccb8aaap-1L},
      {TNR_UNARY_OP_RSQRT, 0x1.3f551973ac4c8p+0, 0x1.ca6cd6c52d1a68p-1L},
      {TNR_UNARY_OP_EXP, -0x1.6234326f2041ap+9, 0x1.fa36131d85dfe6ap-1023L},
      {TNR_UNARY_OP_EXP2, -0x1.ff315e0ac559cp+9, 0x1.87e4b799b14c2638p-1023L},
      {TNR_UNARY_OP_EXPM1, 0x1.2940e01c54982p+5, 0x1.8592fe5dedbb7ff2p+53L},
      {TNR_UNARY_OP_LN, 0x1.67130a038af6bp-1, -0x1.6b4f67c5cd90324p-2L},
      {TNR_UNARY_OP_LOG2, 0x1.67fcd2cb52915p+0, 0x1.f79b4d5e050dd0dp-2L},
      {TNR_UNARY_OP_LOG10, 0x1.53fb24511d2f5p+0, 0x1.f8affd1bd6387228p-4L},
      {TNR_UNARY_OP_LOG1P, -0x1.2bf8cb1ee63c2p-2, -0x1.62f5ff6ba61e31e2p-2L},
      {TNR_UNARY_OP_SIGMOID, -0x1.6235f6b5ed5ffp+9, 0x1.f345b5b1a30da662p-1023L},
      {TNR_UNARY_OP_SILU, -0x1.f1a1a6aed56d8p+7, -0x1.fdc6d485dcaf293p-352L},
      {TNR_UNARY_OP_TANH, -0x1.677359245782p-5, -0x1.673856b4a5e4f5f6p-5L},
      {TNR_UNARY_OP_SINH, 0x1.63a3450971bdp-6, 0x1.63aa6b56abfd0fc6p-6L},
      {TNR_UNARY_OP_COSH, 0x1.fc1eedd4158d3p+0, 0x1.da94d9292b948c54p+1L},
      {TNR_UNARY_OP_ASINH, -0x1.30c1275379b57p+837, -0x1.22840da52f03afbcp+9L},
      {TNR_UNARY_OP_ACOSH, 0x1.2a318ff881db4p+803, 0x1.16b8b0e7606fdfbcp+9L},
      {TNR_UNARY_OP_ATANH, -0x1.3d4f8f23bf152p-54, -0x1.3d4f8f23bf152p-54L},
      {TNR_UNARY_OP_ELU, -0x1.680fbe0a4d61ep-4, -0x1.58b082126d903612p-4L},
      {TNR_UNARY_OP_CBRT, -0x1.b2b2a2487752p-1, -0x1.e4d0908744ac880ap-1L},
      {TNR_UNARY_OP_ASIN, -0x1.03739cb4eeb88p-1, -0x1.1013c279df06acccp-1L},
      {TNR_UNARY_OP_ACOS, 0x1.2290deb919298p-1, 0x1.ef440985d55313f6p-1L},
      {TNR_UNARY_OP_ATAN, -0x1.014acdc3e2b4bp-1, -0x1.dcd730b9e298294ap-2L},
      {TNR_UNARY_OP_SIN, 0x1.a21a548c1031p-1, 0x1.7528ce057ac8734ap-1L},
      {TNR_UNARY_OP_TAN, -0x1.dde1585809abdp+3, 0x1.f4aa38c44b215626p-1L},
  };
  for (const auto& [op, x, exact] : cases) {
    const kernels::OperationRow& row = kernels::kUnaryRows[op - 1];
    EXPECT_LE(last_places(results_of<double>(op, {x})[0], exact), row.last_places) << row.name;
  }
  const struct {
    tnr_binary_op op;
    double x;
    double y;
    long double exact;
  } pairs[] = {
      {TNR_BINARY_OP_POW, 0x1.0e11573e54aeap-54, 0x1.7c9b0b4f3040cp-2, 0x1.f1336e97fe61c7e2p-21L},
      {TNR_BINARY_OP_POW, 0x1.0822e07b0db9p+0, -0x1.5f64b91538efep+14, 0x1.d50e0a9e5963eee4p-1016L},
      {TNR_BINARY_OP_ATAN2, 0x1.5a976f5d7842p-4, 0x1.57021f77935f3p-3, 0x1.df0b8c43622f36a8p-2L},
      {TNR_BINARY_OP_ATAN2, 0x1.16995dec34d5p+1, 0x1.15a2cb3071cbcp+4, 0x1.ff1b5bef5a45c726p-4L},
      {TNR_BINARY_OP_HYPOT, 0x1.ea93389b43695p+2, 0x1.4b9b6293173ecp+4, 0x1.618f5ca787b898p+4L},
  };
  for (const auto& [op, x, y, exact] : pairs) {
    const kernels::OperationRow& row = kernels::kBinaryRows[op - 1];
    std::vector<double> left = {x};
    std::vector<double> right = {y};
    std::vector<double> out = {0};
    binary(kDefaultContext, op, row_of(left).view, row_of(right).view, row_of(out));
    EXPECT_LE(last_places(out[0], exact), row.last_places) << row.name;
  }
}

// Numbers that a function handles separately do not change the bits of adjacent numbers.
TEST(Functions, OfANumberDoNotDependOnItsNeighbours) {
  const float apart[] = {std::numeric_limits<float>::infinity(),
                         std::numeric_limits<float>::quiet_NaN(),
                         std::numeric_limits<float>::denorm_min(),
                         std::numeric_limits<float>::max(),
                         0x1p18f,
                         -1,
                         0,
                         100};
  std::vector<float> plain;
  std::vector<float> mixed;
  for (int i = 1; i <= 4000; ++i) {
    plain.push_back(static_cast<float>(i) * (i % 2 == 0 ? 0.01f : 31.7f));
    mixed.push_back(plain.back());
    mixed.push_back(apart[i % 8]);
  }
  for (const tnr_unary_op op : functions()) {
    const std::vector<float> expected = results_of(op, plain);
    const std::vector<float> results = results_of(op, mixed);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      const bool are_nan = std::isnan(results[2 * i]) && std::isnan(expected[i]);
      ASSERT_TRUE(are_nan || results[2 * i] == expected[i])
          << kernels::kUnaryRows[op - 1].name << " of " << plain[i];
    }
  }
}

// An activation applies the function to the product's own results, not to rounded copies.
template <class T>
void expect_activations() {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  std::vector<T> row = {std::numeric_limits<T>::quiet_NaN(), kInfinity, -kInfinity, 0, -3, 20};
  for (int i = 0; i < 64; ++i) row.push_back(static_cast<T>(i) / 8 - 5);
  std::vector<T> one = {1};
  std::vector<T> out(row.size());
  tnr_scalar scalars[] = {{kDtype<T>, 0, {}}, {kDtype<T>, 0, {}}};
  std::memcpy(scalars[0].bytes, one.data(), sizeof(T));
  for (tnr_unary_op op = 1; op <= static_cast<int>(kernels::kUnaryCount); ++op) {
    const kernels::OperationRow& operation = kernels::kUnaryRows[op - 1];
    tnr_matmul_attributes with = {};
    with.struct_size = sizeof with;
    with.activation = op;
    if ((operation.dtypes & kernels::kFloats) == 0 || operation.gives == kernels::Gives::kTruth) {
      expect_error(TNR_STATUS_UNSUPPORTED, {"attributes->activation"}, [&] {
        matmul(kDefaultContext, scalars[0], row_of(one).view, row_of(row).view, scalars[1],
               row_of(out), with);
      });
      continue;
    }
    matmul(kDefaultContext, scalars[0], row_of(one).view, row_of(row).view, scalars[1], row_of(out),
           with);
    const std::vector<T> expected = results_of(op, row);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const bool are_nan = std::isnan(out[i]) && std::isnan(expected[i]);
      ASSERT_TRUE(are_nan || out[i] == expected[i])
          << kernels::kUnaryRows[op - 1].name << " of " << row[i];
    }
  }
}

TEST(Functions, AreActivationsOfProducts) {
  expect_activations<float>();
  expect_activations<double>();
}

}  // namespace
}  // namespace tenure::test
