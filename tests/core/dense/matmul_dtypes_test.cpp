// Products of narrow floats, bytes and complex numbers; biases and activations of all.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "expect_error.hpp"
#include "strided_floats.hpp"
#include "tenure/instruction_set.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

struct F16 {
  std::uint16_t bits;
};
struct BF16 {
  std::uint16_t bits;
};

}  // namespace

template <>
constexpr tnr_dtype kDtype<F16> = TNR_DTYPE_F16;
template <>
constexpr tnr_dtype kDtype<BF16> = TNR_DTYPE_BF16;
template <>
constexpr tnr_dtype kDtype<std::int8_t> = TNR_DTYPE_I8;
template <>
constexpr tnr_dtype kDtype<std::uint8_t> = TNR_DTYPE_U8;
template <>
constexpr tnr_dtype kDtype<std::int32_t> = TNR_DTYPE_I32;
template <>
constexpr tnr_dtype kDtype<std::complex<float>> = TNR_DTYPE_C64;
template <>
constexpr tnr_dtype kDtype<std::complex<double>> = TNR_DTYPE_C128;

namespace {

struct Extents {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t depth;
};
// Remainders of panels, blocks of depths of every dtype, and rows whose sums are kept in turns.
constexpr Extents kExtents[] = {{1, 1, 1},      {1, 1, 0},       {3, 5, 0},      {1, 40, 33},
                                {40, 1, 33},    {5, 9, 7},       {14, 32, 64},   {15, 33, 65},
                                {29, 97, 257},  {70, 41, 515},   {33, 70, 1030}, {241, 33, 129},
                                {1030, 19, 70}, {20, 2090, 300}, {17, 35, 2051}};

// The elements of a view, row-major, as another dtype.
template <class To, class From>
Operand<To> converted(const Operand<From>& from) {
  Operand<To> to(Shape(from.view.shape, from.view.shape + from.view.rank));
  cast(kDefaultContext, from.view, to.out());
  return to;
}

template <class T>
void fill_from_floats(Operand<T>& to, Random& random) {
  Operand<float> numbers(Shape(to.view.shape, to.view.shape + to.view.rank));
  numbers.fill(random);
  if (to.view.rank == 0) return;
  // Elements that repeat are written by a view that does not.
  for_each_index(to.view, [&](const Index& index) {
    Operand<float> one({1}, numbers.at(index));
    Operand<T> narrow({1});
    cast(kDefaultContext, one.view, narrow.out());
    to.at(index) = narrow.memory[0];
  });
}

// ---- narrow floats ------------------------------------------------------------------------------

template <class T>
class NarrowMatmul : public testing::Test {};
using Halves = testing::Types<F16, BF16>;
TYPED_TEST_SUITE(NarrowMatmul, Halves);

// Whether sums of bf16 are those of f32 to the bit: the processor's own products round in other
// places, and take subnormal numbers for 0.
template <class T>
bool sums_like_f32() {
#if defined(__x86_64__)
  return std::is_same_v<T, F16> || (instruction_set().capabilities & kernels::kBF16) == 0;
#else
  return true;
#endif
}

float widened(BF16 number) {
  const std::uint32_t bits = static_cast<std::uint32_t>(number.bits) << 16;
  float wide;
  std::memcpy(&wide, &bits, sizeof wide);
  return wide;
}

// `wide` is the sum before it is rounded, and `magnitudes` the sum of the magnitudes of its terms.
template <class T>
void expect_rounded(T result, T expected, float wide, float magnitudes, std::int64_t depth) {
  if (sums_like_f32<T>()) {
    ASSERT_EQ(result.bits, expected.bits);
  } else if constexpr (std::is_same_v<T, BF16>) {
    const float bound =
        (static_cast<float>(2 * depth) + 8) * (std::numeric_limits<float>::epsilon() * magnitudes +
                                               std::numeric_limits<float>::min()) +
        0x1p-8f * std::fabs(wide);
    ASSERT_LE(std::fabs(widened(result) - wide), bound);
  }
}

// Sums are those of f32, of the same operands: rounded once.
TYPED_TEST(NarrowMatmul, RoundsTheProductsOfF32) {
  using T = TypeParam;
  Random random(1);
  const TestContext two(2);
  for (const Extents& of : kExtents) {
    for (int layout = 0; layout < 4; ++layout) {
      SCOPED_TRACE(testing::Message()
                   << of.rows << " x " << of.columns << " x " << of.depth << ", layout " << layout);
      Operand<T> a({of.rows, of.depth}, Access::kRead, random);
      Operand<T> b({of.depth, of.columns}, Access::kRead, random);
      Operand<T> out({of.rows, of.columns}, Access::kWrite, random);
      fill_from_floats(a, random);
      fill_from_floats(b, random);
      const float alpha = layout % 2 == 0 ? 1.0f : 0.3f;
      const float beta = layout < 2 ? 0.0f : -1.25f;
      if (beta != 0) fill_from_floats(out, random);
      Operand<float> wide_a = converted<float>(a);
      Operand<float> wide_b = converted<float>(b);
      Operand<float> wide = converted<float>(out);
      Operand<float> magnitudes = wide;
      matmul(kDefaultContext, number(alpha), wide_a.view, wide_b.view, number(beta), wide.out());
      for (Operand<float>* operand : {&wide_a, &wide_b, &magnitudes}) {
        unary(kDefaultContext, TNR_UNARY_OP_ABS, operand->view, operand->out());
      }
      matmul(kDefaultContext, number(alpha), wide_a.view, wide_b.view, number(std::fabs(beta)),
             magnitudes.out());
      Operand<T> expected = converted<T>(wide);
      matmul(layout % 2 == 0 ? two : kDefaultContext, number(alpha), a.view, b.view, number(beta),
             out.out());
      for_each_index(out.view, [&](const Index& index) {
        expect_rounded(out.at(index), expected.at(index), wide.at(index), magnitudes.at(index),
                       of.depth);
      });
      if (this->HasFatalFailure()) return;
    }
  }
}

// Every pair of every panel counts, also where a last depth has no partner.
TYPED_TEST(NarrowMatmul, SumsSmallNumbersExactly) {
  using T = TypeParam;
  Random random(12);
  for (const std::int64_t depth : {1, 2, 63, 64, 65, 127}) {
    Operand<float> a({33, depth});
    Operand<float> b({depth, 47});
    for (Operand<float>* operand : {&a, &b}) {
      for (float& element : operand->memory) element = static_cast<float>(below(random, 3) - 1);
    }
    Operand<float> wide({33, 47});
    matmul(kDefaultContext, number(1.0f), a.view, b.view, number(0.0f), wide.out());
    Operand<T> out({33, 47});
    matmul(kDefaultContext, number(1.0f), converted<T>(a).view, converted<T>(b).view, number(0.0f),
           out.out());
    EXPECT_EQ(converted<float>(out).memory, wide.memory) << depth;
  }
}

TYPED_TEST(NarrowMatmul, KeepsNaNAndInfinity) {
  using T = TypeParam;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Operand<float> a({2, 3}, 1.0f);
  Operand<float> b({3, 2}, 1.0f);
  a.at({0, 1}) = std::numeric_limits<float>::quiet_NaN();
  a.at({1, 2}) = -kInfinity;
  Operand<T> out({2, 2});
  matmul(kDefaultContext, number(1.0f), converted<T>(a).view, converted<T>(b).view, number(0.0f),
         out.out());
  const Operand<float> wide = converted<float>(out);
  EXPECT_TRUE(std::isnan(wide.memory[0]) && std::isnan(wide.memory[1]));
  EXPECT_EQ(wide.memory[2], -kInfinity);
  EXPECT_EQ(wide.memory[3], -kInfinity);
}

// ---- bytes --------------------------------------------------------------------------------------

template <class A, class B>
void expect_exact_sums(std::uint64_t seed) {
  Random random(seed);
  const TestContext two(2);
  for (const Extents& of : kExtents) {
    for (int layout = 0; layout < 4; ++layout) {
      Operand<A> a({of.rows, of.depth}, Access::kRead, random);
      Operand<B> b({of.depth, of.columns}, Access::kRead, random);
      Operand<std::int32_t> out({of.rows, of.columns}, Access::kWrite, random);
      for (A& element : a.memory) element = static_cast<A>(random());
      for (B& element : b.memory) element = static_cast<B>(random());
      for (std::int32_t& element : out.memory) element = static_cast<std::int32_t>(random());
      // The largest sums, which 16 bits do not hold.
      if (layout == 0)
        a.memory.assign(a.memory.size(), std::numeric_limits<A>::min() == 0 ? 255 : -128);
      if (layout == 0)
        b.memory.assign(b.memory.size(), std::numeric_limits<B>::min() == 0 ? 255 : -128);
      const std::int32_t alpha = layout % 2 == 0 ? 1 : -3;
      const std::int32_t beta = layout < 2 ? 0 : 7;
      Operand<std::int32_t> before = out;
      matmul(layout % 2 == 0 ? two : kDefaultContext, number(alpha), a.view, b.view, number(beta),
             out.out());
      for_each_index(out.view, [&](const Index& index) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < of.depth; ++k) {
          sum += std::int64_t{a.at({index[0], k})} * b.at({k, index[1]});
        }
        const auto expected =
            static_cast<std::uint32_t>(alpha * sum + std::int64_t{beta} * before.at(index));
        ASSERT_EQ(static_cast<std::uint32_t>(out.at(index)), expected)
            << of.rows << " x " << of.columns << " x " << of.depth << ", layout " << layout;
      });
    }
  }
}

TEST(ByteMatmul, SumsExactly) {
  expect_exact_sums<std::int8_t, std::int8_t>(2);
  expect_exact_sums<std::uint8_t, std::uint8_t>(3);
}
TEST(ByteMatmul, TakesFactorsOfEitherSign) {
  expect_exact_sums<std::uint8_t, std::int8_t>(4);
  expect_exact_sums<std::int8_t, std::uint8_t>(5);
}

// ---- left factors whose depths are adjacent -----------------------------------------------------

// A whole number, or one from 1/4 to 4 of either sign.
template <class T>
T any_number(Random& random) {
  if constexpr (std::is_same_v<T, BF16>) {
    const std::uint64_t sign = random() % 2 == 0 ? 0x8000 : 0;
    return {static_cast<std::uint16_t>((0x3e80 + random() % 0x200) | sign)};
  } else {
    return static_cast<T>(random());
  }
}
template <class T>
void fill_with_numbers(Operand<T>& to, Random& random) {
  for (T& element : to.memory) element = any_number<T>(random);
}

// Computes one product twice, to the same bits: with the left factor's rows in place, some bytes
// apart and the last one at the end of its memory, and with its columns adjacent, so that it is
// packed.
template <class A, class B, class Out>
void expect_the_bits_of_packed_rows(const Extents& of, const Out& alpha, const Out& beta,
                                    Random& random) {
  Operand<A> rows({of.rows, of.depth});
  const std::int64_t step = of.depth + below(random, 70);
  rows.lay({of.rows, of.depth}, {step, 1}, 0, (of.rows - 1) * step + of.depth, {});
  Operand<A> columns({of.rows, of.depth});
  columns.lay({of.rows, of.depth}, {1, of.rows}, 0, of.rows * of.depth, {});
  Operand<B> b({of.depth, of.columns});
  Operand<Out> kept({of.rows, of.columns});
  fill_with_numbers(rows, random);
  fill_with_numbers(b, random);
  fill_with_numbers(kept, random);
  for_each_index(rows.view, [&](const Index& at) { columns.at(at) = rows.at(at); });
  const TestContext two(2);
  Operand<Out> expected = kept;
  matmul(kDefaultContext, number(alpha), columns.view, b.view, number(beta), expected.out());
  for (const Context& context : {Context(kDefaultContext), Context(two)}) {
    Operand<Out> out = kept;
    matmul(context, number(alpha), rows.view, b.view, number(beta), out.out());
    ASSERT_EQ(std::memcmp(out.memory.data(), expected.memory.data(),
                          expected.memory.size() * sizeof(Out)),
              0)
        << of.rows << " x " << of.columns << " x " << of.depth << ", rows " << step << " apart";
  }
}

// Every remainder of tiles of rows, and of a register's depths.
template <class A, class B, class Out>
void expect_the_bits_of_packed_rows(const Out& one, const Out& zero, const Out& other) {
  Random random(31);
  for (std::int64_t rows = 1; rows <= 67; ++rows) {
    const std::int64_t columns = 1 + below(random, 70);
    expect_the_bits_of_packed_rows<A, B, Out>({rows, columns, 1 + below(random, 200)}, one, zero,
                                              random);
    expect_the_bits_of_packed_rows<A, B, Out>({rows, columns, 1 + below(random, 200)}, other, other,
                                              random);
  }
  for (const std::int64_t depth : {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 2100}) {
    expect_the_bits_of_packed_rows<A, B, Out>({50, 64, depth}, one, zero, random);
  }
  // More rows than are read by every panel, and blocks that threads share.
  expect_the_bits_of_packed_rows<A, B, Out>({600, 100, 90}, one, zero, random);
  expect_the_bits_of_packed_rows<A, B, Out>({130, 300, 1100}, one, other, random);
}

TEST(BF16Matmul, ReadsRowsWhereTheyLie) {
  // 1, 0 and -3.
  expect_the_bits_of_packed_rows<BF16, BF16, BF16>({0x3f80}, {0}, {0xc040});
}
TEST(ByteMatmul, ReadsRowsWhereTheyLie) {
  expect_the_bits_of_packed_rows<std::uint8_t, std::int8_t, std::int32_t>(1, 0, -3);
  expect_the_bits_of_packed_rows<std::int8_t, std::uint8_t, std::int32_t>(1, 0, -3);
  expect_the_bits_of_packed_rows<std::int8_t, std::int8_t, std::int32_t>(1, 0, -3);
  expect_the_bits_of_packed_rows<std::uint8_t, std::uint8_t, std::int32_t>(1, 0, -3);
}

// ---- right factors, and sums ---------------------------------------------------------------------

// Panels of adjacent columns, of adjacent depths and of neither are the same.
template <class A, class B, class Out>
void expect_the_bits_of_any_columns(const Out& one, const Out& zero) {
  Random random(32);
  for (const std::int64_t columns : {31, 32, 63, 64, 95, 97, 128, 161, 256}) {
    const Extents of = {1 + below(random, 40), columns, 1 + below(random, 300)};
    Operand<A> a({of.rows, of.depth});
    fill_with_numbers(a, random);
    Operand<B> rows({of.depth, of.columns});
    const std::int64_t step = of.columns + below(random, 9);
    rows.lay({of.depth, of.columns}, {step, 1}, 0, (of.depth - 1) * step + of.columns, {});
    fill_with_numbers(rows, random);
    Operand<B> along({of.depth, of.columns});
    along.lay({of.depth, of.columns}, {1, of.depth}, 0, of.depth * of.columns, {});
    Operand<B> apart({of.depth, of.columns});
    apart.lay({of.depth, of.columns}, {2 * of.columns, 2}, 0, 2 * of.depth * of.columns, {});
    for_each_index(rows.view, [&](const Index& at) { along.at(at) = apart.at(at) = rows.at(at); });
    Operand<Out> expected({of.rows, of.columns});
    matmul(kDefaultContext, number(one), a.view, apart.view, number(zero), expected.out());
    for (const Operand<B>* b : {&rows, &along}) {
      Operand<Out> out({of.rows, of.columns});
      matmul(kDefaultContext, number(one), a.view, b->view, number(zero), out.out());
      ASSERT_EQ(std::memcmp(out.memory.data(), expected.memory.data(),
                            expected.memory.size() * sizeof(Out)),
                0)
          << of.rows << " x " << of.columns << " x " << of.depth;
    }
  }
}
TEST(BF16Matmul, PacksColumnsOfAnyLayout) {
  expect_the_bits_of_any_columns<BF16, BF16, BF16>({0x3f80}, {0});
}
TEST(ByteMatmul, PacksColumnsOfAnyLayout) {
  expect_the_bits_of_any_columns<std::uint8_t, std::int8_t, std::int32_t>(1, 0);
  expect_the_bits_of_any_columns<std::int8_t, std::uint8_t, std::int32_t>(1, 0);
}

// Elements that kernels round as they leave the registers, and those whose sums are kept for bounds
// that bound nothing.
TYPED_TEST(NarrowMatmul, RoundsSumsAsKeptOnes) {
  using T = TypeParam;
  Random random(33);
  tnr_matmul_attributes bounded = {};
  bounded.struct_size = sizeof bounded;
  bounded.flags = TNR_EPILOGUE_CLAMP;
  bounded.low = -std::numeric_limits<double>::infinity();
  bounded.high = std::numeric_limits<double>::infinity();
  const auto scalar = [](float value) {
    tnr_scalar made = {.dtype = TNR_DTYPE_F32, .reserved = 0, .bytes = {}};
    std::memcpy(made.bytes, &value, sizeof value);
    return made;
  };
  // One turn in three takes any bits at all, with subnormal numbers, infinities and NaN among them;
  // the other turns take only numbers.
  for (int turn = 0; turn < 60; ++turn) {
    const Extents of = {1 + below(random, 70), 1 + below(random, 70), 1 + below(random, 90)};
    Operand<T> a({of.rows, of.depth});
    Operand<T> b({of.depth, of.columns});
    Operand<T> kept({of.rows, of.columns});
    for (Operand<T>* operand : {&a, &b, &kept}) {
      for (T& element : operand->memory) {
        element.bits = static_cast<std::uint16_t>(turn % 3 == 0 ? random() : random() % 0x4000);
      }
    }
    const tnr_scalar alpha = scalar(turn % 2 == 0 ? 1.0f : -0.3f);
    const tnr_scalar beta = scalar(turn % 4 < 2 ? 0.0f : 1e-3f);
    Operand<T> out = kept;
    Operand<T> expected = kept;
    matmul(kDefaultContext, alpha, a.view, b.view, beta, out.out());
    matmul(kDefaultContext, alpha, a.view, b.view, beta, expected.out(), bounded);
    ASSERT_EQ(std::memcmp(out.memory.data(), expected.memory.data(), out.memory.size() * sizeof(T)),
              0)
        << of.rows << " x " << of.columns << " x " << of.depth << ", turn " << turn;
  }
}

// ---- complex numbers ----------------------------------------------------------------------------

template <class T>
class ComplexMatmul : public testing::Test {};
using Complexes = testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(ComplexMatmul, Complexes);

TYPED_TEST(ComplexMatmul, StaysWithinItsBound) {
  using T = TypeParam;
  using Real = typename T::value_type;
  using Wide = std::complex<long double>;
  Random random(6);
  const TestContext two(2);
  std::normal_distribution<Real> normal;
  const auto fill = [&](Operand<T>& operand) {
    for (T& element : operand.memory) element = {normal(random), normal(random)};
  };
  const T kAlphas[] = {{1, 0}, {static_cast<Real>(-0.4), 0}, {static_cast<Real>(0.6), 2}, {0, 1}};
  for (const Extents& of : kExtents) {
    if (of.rows * of.columns * of.depth > 3000000) continue;  // slow, and nothing new
    for (std::size_t layout = 0; layout < 8; ++layout) {
      Operand<T> a({of.rows, of.depth}, Access::kRead, random);
      Operand<T> b({of.depth, of.columns}, Access::kRead, random);
      Operand<T> out({of.rows, of.columns}, Access::kWrite, random);
      fill(a);
      fill(b);
      const T alpha = kAlphas[layout % 4];
      const T beta = layout < 4 ? T{0, 0} : layout % 2 == 0 ? T{2, 0} : T{1, -1};
      if (beta == T{0, 0}) {
        constexpr Real kNaN = std::numeric_limits<Real>::quiet_NaN();
        out.memory.assign(out.memory.size(), T{kNaN, kNaN});
      } else {
        fill(out);
      }
      Operand<T> before = out;
      matmul(layout % 2 == 0 ? two : kDefaultContext, number(alpha), a.view, b.view, number(beta),
             out.out());
      const long double eps = std::numeric_limits<Real>::epsilon();
      for_each_index(out.view, [&](const Index& index) {
        Wide exact = 0;
        long double magnitudes = 0;
        const auto add = [&](const Wide& x, const Wide& y, const Wide& scale) {
          exact += scale * x * y;
          magnitudes += (std::fabs(x.real()) + std::fabs(x.imag())) *
                        (std::fabs(y.real()) + std::fabs(y.imag())) *
                        (std::fabs(scale.real()) + std::fabs(scale.imag()));
        };
        for (std::int64_t k = 0; k < of.depth; ++k) {
          add(a.at({index[0], k}), b.at({k, index[1]}), alpha);
        }
        if (beta != T{0, 0}) add(before.at(index), 1, beta);
        const Wide error = Wide(out.at(index)) - exact;
        const long double bound = (2 * static_cast<long double>(of.depth) + 8) * eps * magnitudes;
        ASSERT_LE(std::fabs(error.real()), bound)
            << of.rows << " x " << of.columns << " x " << of.depth << ", layout " << layout;
        ASSERT_LE(std::fabs(error.imag()), bound)
            << of.rows << " x " << of.columns << " x " << of.depth << ", layout " << layout;
      });
      // Between the elements nothing is written.
      std::vector<bool> is_element(out.memory.size());
      for_each_index(out.view, [&](const Index& index) {
        is_element[static_cast<std::size_t>(&out.at(index) - out.memory.data())] = true;
      });
      for (std::size_t i = 0; i < is_element.size(); ++i) {
        if (is_element[i]) continue;
        ASSERT_EQ(std::memcmp(&out.memory[i], &before.memory[i], sizeof(T)), 0);
      }
    }
  }
}

// The parts of a number are added up in the same order wherever it lies.
TYPED_TEST(ComplexMatmul, GivesTheSameBitsInAnyLayout) {
  using T = TypeParam;
  Random random(16);
  std::normal_distribution<typename T::value_type> normal;
  const auto fill = [&](Operand<T>& operand) {
    for_each_index(operand.view,
                   [&](const Index& at) { operand.at(at) = {normal(random), normal(random)}; });
  };
  for (const T alpha : {T{1, 0}, T{static_cast<typename T::value_type>(-0.4), 0}, T{1, 2}}) {
    for (const T beta : {T{0, 0}, T{3, 0}}) {
      for (const std::int64_t columns : {1, 41}) {
        Operand<T> a({37, 600});
        Operand<T> b({600, columns});
        Operand<T> kept({37, columns});
        fill(a);
        fill(b);
        fill(kept);
        Operand<T> expected = kept;
        matmul(kDefaultContext, number(alpha), a.view, b.view, number(beta), expected.out());
        for (int layout = 0; layout < 8; ++layout) {
          Operand<T> out({37, columns}, Access::kWrite, random);
          for_each_index(out.view, [&](const Index& at) { out.at(at) = kept.at(at); });
          matmul(kDefaultContext, number(alpha), a.view, b.view, number(beta), out.out());
          for_each_index(out.view, [&](const Index& at) {
            ASSERT_EQ(std::memcmp(&out.at(at), &expected.at(at), sizeof(T)), 0)
                << columns << " columns, strides " << shape_text(2, out.view.strides).text;
          });
        }
      }
    }
  }
}

// ---- bias and activation ------------------------------------------------------------------------

template <class T>
class MatmulEpilogue : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(MatmulEpilogue, Floats);

// NaN is neither less nor greater.
template <class T>
T clamped(T number, const tnr_matmul_attributes& with) {
  if (number < static_cast<T>(with.low)) return static_cast<T>(with.low);
  return number > static_cast<T>(with.high) ? static_cast<T>(with.high) : number;
}

// The product, and then operations of the library, one by one: the same bits.
TYPED_TEST(MatmulEpilogue, IsTheOperationsOneByOne) {
  using T = TypeParam;
  Random random(7);
  const TestContext two(2);
  for (const Extents& of : kExtents) {
    for (const tnr_unary_op activation :
         {tnr_unary_op{0}, TNR_UNARY_OP_RELU, TNR_UNARY_OP_TANH, TNR_UNARY_OP_NEG}) {
      for (const bool has_bias : {false, true}) {
        Operand<T> a({of.rows, of.depth}, Access::kRead, random);
        Operand<T> b({of.depth, of.columns}, Access::kRead, random);
        Operand<T> bias({of.columns}, Access::kRead, random);
        Operand<T> out({of.rows, of.columns}, Access::kWrite, random);
        a.fill(random);
        b.fill(random);
        bias.fill(random);
        out.fill(random);
        const T beta = random() % 2 == 0 ? T{0} : T{0.5};
        Operand<T> expected = out;
        matmul(kDefaultContext, number(T{1.5}), a.view, b.view, number(beta), expected.out());
        if (has_bias) {
          binary(kDefaultContext, TNR_BINARY_OP_ADD, expected.view, bias.view, expected.out());
        }
        if (activation != 0) unary(kDefaultContext, activation, expected.view, expected.out());
        tnr_matmul_attributes with = {};
        with.bias = has_bias ? &bias.view : nullptr;
        with.activation = activation;
        if (random() % 2 == 0) {
          with.flags = TNR_EPILOGUE_CLAMP;
          with.low = random() % 2 == 0 ? -0.3 : 0.2;
          with.high = random() % 3 == 0 ? std::numeric_limits<double>::infinity() : 0.7;
          for_each_index(expected.view, [&](const Index& index) {
            expected.at(index) = clamped(expected.at(index), with);
          });
        }
        matmul(random() % 2 == 0 ? two : kDefaultContext, number(T{1.5}), a.view, b.view,
               number(beta), out.out(), with);
        for (std::size_t i = 0; i < out.memory.size(); ++i) {
          ASSERT_TRUE(same(out.memory[i], expected.memory[i]))
              << of.rows << " x " << of.columns << " x " << of.depth << ", activation "
              << activation << ", bias " << has_bias << ": element " << i << " is " << out.memory[i]
              << ", not " << expected.memory[i];
        }
      }
    }
  }
}

TYPED_TEST(NarrowMatmul, AppliesItsEpilogueToSums) {
  using T = TypeParam;
  Random random(8);
  Operand<T> a({37, 90});
  Operand<T> b({90, 41});
  Operand<T> bias({41});
  Operand<T> out({37, 41});
  for (Operand<T>* operand : {&a, &b, &bias}) fill_from_floats(*operand, random);
  Operand<float> wide({37, 41});
  const Operand<float> wide_bias = converted<float>(bias);
  tnr_matmul_attributes with = {};
  with.activation = TNR_UNARY_OP_TANH;
  with.bias = &wide_bias.view;
  matmul(kDefaultContext, number(1.0f), converted<float>(a).view, converted<float>(b).view,
         number(0.0f), wide.out(), with);
  with.bias = &bias.view;
  matmul(kDefaultContext, number(1.0f), a.view, b.view, number(0.0f), out.out(), with);
  const Operand<T> expected = converted<T>(wide);
  for (std::size_t i = 0; i < out.memory.size(); ++i) {
    // Magnitudes of tanh, whose derivative is 1 at most.
    expect_rounded(out.memory[i], expected.memory[i], wide.memory[i], 300, 90);
  }
}

TYPED_TEST(MatmulEpilogue, ClampsWithinBoundsAndLeavesNaN) {
  using T = TypeParam;
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();
  const T given[] = {-kInfinity, -2, T{-0.5}, 0, 3, 7, kInfinity, kNaN};
  Operand<T> a({8, 1});
  std::copy(std::begin(given), std::end(given), a.memory.begin());
  const Operand<T> one({1, 1}, T{1});
  const auto run = [&](tnr_unary_op activation, double low, double high) {
    tnr_matmul_attributes with = {};
    with.activation = activation;
    with.flags = TNR_EPILOGUE_CLAMP;
    with.low = low;
    with.high = high;
    Operand<T> out({8, 1});
    matmul(kDefaultContext, number(T{1}), a.view, one.view, number(T{0}), out.out(), with);
    EXPECT_TRUE(std::isnan(out.memory[7]));
    out.memory.pop_back();
    return out.memory;
  };
  EXPECT_EQ(run(0, 0, 6), (std::vector<T>{0, 0, 0, 0, 3, 6, 6}));
  EXPECT_EQ(run(0, -1, 6), (std::vector<T>{-1, -1, T{-0.5}, 0, 3, 6, 6}));
  EXPECT_EQ(run(0, 4, 4), (std::vector<T>(7, T{4})));
  EXPECT_EQ(run(0, -kInfinity, 1), (std::vector<T>{-kInfinity, -2, T{-0.5}, 0, 1, 1, 1}));
  EXPECT_EQ(run(TNR_UNARY_OP_RELU, -1, 6), (std::vector<T>{0, 0, 0, 0, 3, 6, 6}));
  EXPECT_EQ(run(TNR_UNARY_OP_RELU, 1, 6), (std::vector<T>{1, 1, 1, 1, 3, 6, 6}));
  EXPECT_EQ(run(TNR_UNARY_OP_RELU, -3, -1), (std::vector<T>(7, T{-1})));
  EXPECT_EQ(run(TNR_UNARY_OP_NEG, -3, 1), (std::vector<T>{1, 1, T{0.5}, 0, -3, -3, -3}));
}

TYPED_TEST(MatmulEpilogue, TakesABiasOfNoColumns) {
  using T = TypeParam;
  const Operand<T> a({4, 3});
  const Operand<T> b({3, 0});
  const Operand<T> bias(Shape{0});
  Operand<T> out({4, 0});
  tnr_matmul_attributes with = {};
  with.bias = &bias.view;
  with.activation = TNR_UNARY_OP_TANH;
  matmul(kDefaultContext, number(T{1}), a.view, b.view, number(T{0}), out.out(), with);
}

// Bounds of the sums, which are rounded once.
TYPED_TEST(NarrowMatmul, ClampsItsSums) {
  using T = TypeParam;
  Random random(12);
  Operand<T> a({19, 40});
  Operand<T> b({40, 21});
  fill_from_floats(a, random);
  fill_from_floats(b, random);
  for (const tnr_unary_op activation : {tnr_unary_op{0}, TNR_UNARY_OP_NEG}) {
    tnr_matmul_attributes with = {};
    with.activation = activation;
    Operand<T> free({19, 21});
    matmul(kDefaultContext, number(1.0f), a.view, b.view, number(0.0f), free.out(), with);
    with.flags = TNR_EPILOGUE_CLAMP;
    with.low = -0.3;
    with.high = 0.7;
    Operand<T> out({19, 21});
    matmul(kDefaultContext, number(1.0f), a.view, b.view, number(0.0f), out.out(), with);
    Operand<float> expected = converted<float>(free);
    for (float& element : expected.memory) element = clamped(element, with);
    EXPECT_EQ(converted<float>(out).memory, converted<float>(converted<T>(expected)).memory);
  }
}

TEST(ByteMatmul, ClampsItsSums) {
  const Operand<std::int8_t> one({1, 1}, 1);
  Operand<std::int8_t> a({5, 1});
  a.memory = {-128, -3, 0, 5, 127};
  const auto run = [&](double low, double high) {
    tnr_matmul_attributes with = {};
    with.flags = TNR_EPILOGUE_CLAMP;
    with.low = low;
    with.high = high;
    Operand<std::int32_t> out({5, 1});
    matmul(kDefaultContext, number<std::int32_t>(1), a.view, one.view, number<std::int32_t>(0),
           out.out(), with);
    return out.memory;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(run(-2, 100), (std::vector<std::int32_t>{-2, -2, 0, 5, 100}));
  EXPECT_EQ(run(-kInfinity, 0), (std::vector<std::int32_t>{-128, -3, 0, 0, 0}));
  EXPECT_EQ(run(0, kInfinity), (std::vector<std::int32_t>{0, 0, 0, 5, 127}));
}

TEST(ByteMatmul, AddsABiasAndCutsBelowZero) {
  Random random(9);
  Operand<std::uint8_t> a({31, 50});
  Operand<std::int8_t> b({50, 37});
  Operand<std::int32_t> bias({37});
  Operand<std::int32_t> out({31, 37});
  for (auto& element : a.memory) element = static_cast<std::uint8_t>(random());
  for (auto& element : b.memory) element = static_cast<std::int8_t>(random());
  for (auto& element : bias.memory) element = static_cast<std::int32_t>(random() % 100000) - 50000;
  tnr_matmul_attributes with = {};
  with.bias = &bias.view;
  with.activation = TNR_UNARY_OP_RELU;
  matmul(kDefaultContext, number<std::int32_t>(1), a.view, b.view, number<std::int32_t>(0),
         out.out(), with);
  for_each_index(out.view, [&](const Index& index) {
    std::int32_t sum = bias.at({index[1]});
    for (std::int64_t k = 0; k < 50; ++k) sum += a.at({index[0], k}) * b.at({k, index[1]});
    ASSERT_EQ(out.at(index), std::max(sum, 0));
  });
}

TYPED_TEST(ComplexMatmul, AddsABias) {
  using T = TypeParam;
  using Real = typename T::value_type;
  Random random(10);
  // Whole numbers: every sum is exact.
  const auto fill = [&](Operand<T>& operand) {
    for (T& element : operand.memory) {
      element = {static_cast<Real>(below(random, 19) - 9),
                 static_cast<Real>(below(random, 19) - 9)};
    }
  };
  for (int layout = 0; layout < 8; ++layout) {
    Operand<T> a({23, 30}, Access::kRead, random);
    Operand<T> b({30, 37}, Access::kRead, random);
    Operand<T> bias({37}, Access::kRead, random);
    Operand<T> out({23, 37}, Access::kWrite, random);
    fill(a);
    fill(b);
    fill(bias);
    const T alpha = layout % 2 == 0 ? T{1, 0} : T{2, -1};
    tnr_matmul_attributes with = {};
    with.bias = &bias.view;
    matmul(kDefaultContext, number(alpha), a.view, b.view, number(T{0, 0}), out.out(), with);
    for_each_index(out.view, [&](const Index& index) {
      T sum = 0;
      for (std::int64_t k = 0; k < 30; ++k) sum += a.at({index[0], k}) * b.at({k, index[1]});
      ASSERT_EQ(out.at(index), alpha * sum + bias.at({index[1]}));
    });
  }
}

TYPED_TEST(MatmulEpilogue, FollowsEveryProductOfABatch) {
  using T = TypeParam;
  Random random(11);
  const TestContext two(2);
  for (const auto& shape : {Shape{70, 20, 30}, Shape{3, 102, 110}}) {
    Operand<T> a(shape);
    Operand<T> b({shape[2], 33});
    Operand<T> bias({33});
    Operand<T> out({shape[0], shape[1], 33});
    a.fill(random);
    b.fill(random);
    bias.fill(random);
    Operand<T> expected = out;
    matmul(kDefaultContext, number(T{1}), a.view, b.view, number(T{0}), expected.out());
    binary(kDefaultContext, TNR_BINARY_OP_ADD, expected.view, bias.view, expected.out());
    tnr_matmul_attributes with = {};
    with.bias = &bias.view;
    matmul(two, number(T{1}), a.view, b.view, number(T{0}), out.out(), with);
    for (std::size_t i = 0; i < out.memory.size(); ++i) {
      ASSERT_TRUE(same(out.memory[i], expected.memory[i])) << i;
    }
  }
}

// ---- refused ------------------------------------------------------------------------------------

class RefusedProduct : public testing::Test {
 protected:
  void expect(tnr_status status, std::initializer_list<std::string> words, const tnr_view& a,
              const tnr_view& b, const tnr_view& out, const tnr_matmul_attributes& with = {},
              const tnr_scalar& alpha = number(1.0f)) {
    expect_error(status, words, [&] {
      matmul(kDefaultContext, alpha, a, b, number(0.0f), tnr_view_mut{out}, with);
    });
  }

  Operand<float> floats_{{4, 4}};
  Operand<float> out_{{4, 4}};
  Operand<std::uint8_t> bytes_{{4, 4}};
  Operand<std::int32_t> sums_{{4, 4}};
  Operand<std::complex<float>> complex_{{4, 4}};
  Operand<std::complex<float>> complex_out_{{4, 4}};
};

TEST_F(RefusedProduct, DtypesThatDoNotMeet) {
  expect(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype", "f32", "u8"}, bytes_.view, floats_.view,
         sums_.view);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype", "i32"}, bytes_.view, bytes_.view, out_.view);
  expect(TNR_STATUS_UNSUPPORTED, {"matmul", "i32"}, sums_.view, sums_.view, sums_.view);
}

TEST_F(RefusedProduct, Biases) {
  Operand<float> five({5});
  Operand<float> square({4, 4});
  Operand<double> wide({4});
  tnr_matmul_attributes with = {};
  with.bias = &five.view;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->bias", "[5]", "4", "[4, 4]"}, floats_.view,
         floats_.view, out_.view, with);
  with.bias = &square.view;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->bias", "[4, 4]"}, floats_.view, floats_.view,
         out_.view, with);
  with.bias = &wide.view;
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->bias", "f64", "f32"}, floats_.view,
         floats_.view, out_.view, with);
  tnr_view row = out_.view;
  row.rank = 1;
  with.bias = &row;
  expect(TNR_STATUS_ALIASED, {"attributes->bias"}, floats_.view, floats_.view, out_.view, with);
}

TEST_F(RefusedProduct, Activations) {
  tnr_matmul_attributes with = {};
  with.activation = tnr_unary_op{1000};
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->activation", "1000"}, floats_.view,
         floats_.view, out_.view, with);
  with.activation = TNR_UNARY_OP_TANH;
  expect(TNR_STATUS_UNSUPPORTED, {"activation", "i32"}, bytes_.view, bytes_.view, sums_.view, with);
  with.activation = TNR_UNARY_OP_RELU;
  const tnr_scalar one = number(std::complex<float>(1));
  expect(TNR_STATUS_UNSUPPORTED, {"activation", "c64"}, complex_.view, complex_.view,
         complex_out_.view, with, one);
}

TEST_F(RefusedProduct, Bounds) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  tnr_matmul_attributes with = {};
  const auto set = [&](std::uint32_t flags, double low, double high) {
    with.flags = flags;
    with.low = low;
    with.high = high;
  };
  const auto of_floats = [&](tnr_status status, std::initializer_list<std::string> parts) {
    expect(status, parts, floats_.view, floats_.view, out_.view, with);
  };
  set(2, 0, 6);
  of_floats(TNR_STATUS_INVALID_ARGUMENT, {"attributes->flags is 0x2", "0x1"});
  set(TNR_EPILOGUE_CLAMP, 2, 1.5);
  of_floats(TNR_STATUS_INVALID_ARGUMENT, {"low is 2", "high is 1.5"});
  set(TNR_EPILOGUE_CLAMP, kNaN, 1);
  of_floats(TNR_STATUS_INVALID_ARGUMENT, {"low is nan", "high is 1"});
  set(TNR_EPILOGUE_CLAMP, 0, kNaN);
  of_floats(TNR_STATUS_INVALID_ARGUMENT, {"low is 0", "high is nan"});
  set(TNR_EPILOGUE_CLAMP, 0, 1e39);
  of_floats(TNR_STATUS_INVALID_ARGUMENT, {"attributes->high is 9.99", "infinity in f32"});
  set(TNR_EPILOGUE_CLAMP, 0.5, 6);
  expect(TNR_STATUS_INVALID_ARGUMENT, {"attributes->low is 0.5", "whole"}, bytes_.view, bytes_.view,
         sums_.view, with);
  const tnr_scalar one = number(std::complex<float>(1));
  expect(TNR_STATUS_UNSUPPORTED, {"TNR_EPILOGUE_CLAMP does not take c64"}, complex_.view,
         complex_.view, complex_out_.view, with, one);
}

TEST_F(RefusedProduct, ScalarsThatAreNotWhole) {
  expect(TNR_STATUS_INVALID_ARGUMENT, {"alpha", "0.5"}, bytes_.view, bytes_.view, sums_.view, {},
         number(0.5f));
}

}  // namespace
}  // namespace tenure::test
