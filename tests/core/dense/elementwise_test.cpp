// Unary and binary arithmetic against the reference implementation, and each rule of
// docs/operations.md with literals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "arrays.hpp"
#include "c_library.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "expect_error.hpp"
#include "tenure/ops.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Runs `operation(out)` into every writable layout, and `expect(index, bytes)` for every element.
template <class Operation, class Expect>
void check(const Shape& shape, const NamedType& out_type, Random& random, double last_places,
           const std::string& what, const Operation& operation, const Expect& expect) {
  for (const Arrangement arrangement : kWritable) {
    Array out(out_type.dtype, shape, arrangement, random);
    operation(out.out());
    EXPECT_TRUE(out.gaps_are_intact()) << what << " into " << describe(out.view());
    for_each_index(out.view(), [&](const Index& index) {
      Byte expected[8];
      expect(index, expected);
      const Byte* const actual = out.broadcast_element(index, out.view().rank);
      const bool right = last_places == 0
                             ? is_same_element(out_type.type, actual, expected)
                             : reference::is_near(out_type.type, actual, expected, last_places);
      ASSERT_TRUE(right) << what << " into " << describe(out.view());
    });
  }
}

// The reference implementation rounds as IEEE 754 does, so that results that are rounded once are
// the same numbers.
double places_of(const kernels::OperationRow& operation) {
  return operation.last_places <= kernels::kRounded ? 0 : operation.last_places;
}

bool takes(const kernels::OperationRow& operation, Type type) {
  const unsigned part = type == Type::kBool8 ? kernels::kTruths
                        : is_float(type)     ? kernels::kFloats
                                             : kernels::kIntegers;
  return (operation.dtypes & part) != 0;
}

const NamedType& named(Type type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes),
                       [type](const NamedType& named) { return named.type == type; });
}

const NamedType& result_of(const kernels::OperationRow& operation, const NamedType& type) {
  return operation.gives == kernels::Gives::kTruth ? named(Type::kBool8) : type;
}

// The kernel tables have what the table of operations says, and nothing else.
TEST(Operations, TakeTheDtypesOfTheTable) {
  const auto expect = [](const kernels::OperationRow& operation, const NamedType& type,
                         const kernels::Elementwise& kernel) {
    EXPECT_EQ(kernel.kernel != nullptr, takes(operation, type.type))
        << operation.name << " of " << dtype_name(type.dtype);
  };
  for (const NamedType& type : kTypes) {
    const auto column = static_cast<unsigned>(type.type);
    for (unsigned row = 0; row < kernels::kUnaryCount; ++row) {
      expect(kernels::kUnaryRows[row], type, kernels::unary_kernels()[row][column]);
    }
    for (unsigned row = 0; row < kernels::kBinaryCount; ++row) {
      expect(kernels::kBinaryRows[row], type, kernels::binary_kernels()[row][column]);
    }
    for (unsigned row = 0; row < kernels::kTernaryCount; ++row) {
      expect(kernels::kTernaryRows[row], type, kernels::ternary_kernels()[row][column]);
    }
    for (unsigned row = 0; row < kernels::kCompareKernelCount; ++row) {
      expect(kernels::kCompareRows[row], type, kernels::compare_kernels()[row][column]);
    }
  }
}

// The reference implementation agrees with `keeps_zero` of the table, which decides whether sparse
// matrices are taken.
template <class Call>
void expect_zeros(const kernels::OperationRow& operation, const Call& call) {
  const Type type = takes(operation, Type::kF64)   ? Type::kF64
                    : takes(operation, Type::kI64) ? Type::kI64
                                                   : Type::kBool8;
  constexpr Byte kZero[8] = {};
  Byte result[8];
  std::memset(result, 9, sizeof result);
  call(type, kZero, result);
  Byte is_zero = 0;
  reference::compare(TNR_COMPARE_OP_EQ - 1, result_of(operation, named(type)).type, result, kZero,
                     &is_zero);
  EXPECT_EQ(is_zero != 0, operation.keeps_zero) << operation.name;
}

TEST(Operations, KeepZerosAsTheTableSays) {
  for (unsigned row = 0; row < kernels::kUnaryCount; ++row) {
    expect_zeros(kernels::kUnaryRows[row], [row](Type type, const Byte* zero, Byte* result) {
      reference::unary(row, type, zero, result);
    });
  }
  for (unsigned row = 0; row < kernels::kBinaryCount; ++row) {
    expect_zeros(kernels::kBinaryRows[row], [row](Type type, const Byte* zero, Byte* result) {
      reference::binary(row, type, zero, zero, result);
    });
  }
  for (unsigned row = 0; row < kernels::kTernaryCount; ++row) {
    expect_zeros(kernels::kTernaryRows[row], [row](Type type, const Byte* zero, Byte* result) {
      reference::ternary(row, type, zero, zero, zero, result);
    });
  }
  for (unsigned row = 0; row < kernels::kCompareCount; ++row) {
    expect_zeros(kernels::kCompareRows[row], [row](Type type, const Byte* zero, Byte* result) {
      reference::compare(row, type, zero, zero, result);
    });
  }
}

TEST(Unary, MatchesItsTwinOnEveryLayout) {
  Random random(1);
  for (const NamedType& type : kTypes) {
    for (unsigned row = 0; row < kernels::kUnaryCount; ++row) {
      const kernels::OperationRow& operation = kernels::kUnaryRows[row];
      if (!takes(operation, type.type)) continue;
      if (!has_right_reference(static_cast<tnr_unary_op>(row + 1))) continue;
      for (const Shape& shape : shapes()) {
        for (const Arrangement arrangement : kReadable) {
          Array a(type.dtype, shape, arrangement, random);
          fill_with_bits(a, random);
          check(
              shape, result_of(operation, type), random, places_of(operation),
              std::string(operation.name) + " of " + describe(a.view()),
              [&](const tnr_view_mut& out) {
                unary(kDefaultContext, static_cast<tnr_unary_op>(row + 1), a.view(), out);
              },
              [&](const Index& index, Byte* expected) {
                const Byte* const element = a.broadcast_element(index, a.view().rank);
                reference::unary(row, type.type, element, expected);
              });
        }
      }
    }
  }
}

// The shape an operand has before it broadcasts to `shape`: some extents 1, some axes missing.
Shape narrowed(const Shape& shape, Random& random) {
  Shape result(shape.begin() + static_cast<std::ptrdiff_t>(random() % (shape.size() + 1)),
               shape.end());
  for (std::int64_t& extent : result) {
    if (random() % 2 == 0) extent = 1;
  }
  return result;
}

void check_binary(unsigned row, const NamedType& type, const Shape& shape, Random& random,
                  const Array& a, const Array& b) {
  check(
      shape, type, random, places_of(kernels::kBinaryRows[row]),
      "binary " + std::to_string(row + 1) + " of " + describe(a.view()) + " and " +
          describe(b.view()),
      [&](const tnr_view_mut& out) {
        try {
          binary(kDefaultContext, static_cast<tnr_binary_op>(row + 1), a.view(), b.view(), out);
        } catch (const Error& error) {
          // The values nevertheless equal those of the reference implementation.
          ASSERT_NE(std::strstr(error.message(), "; out holds a mixture"), nullptr);
        }
      },
      [&](const Index& index, Byte* expected) {
        const auto rank = static_cast<std::uint32_t>(shape.size());
        reference::binary(row, type.type, a.broadcast_element(index, rank),
                          b.broadcast_element(index, rank), expected);
      });
}

TEST(Binary, MatchesItsTwinOnEveryLayout) {
  Random random(2);
  for (const NamedType& type : kTypes) {
    for (unsigned row = 0; row < kernels::kBinaryCount; ++row) {
      if (!takes(kernels::kBinaryRows[row], type.type)) continue;
      for (const Shape& shape : shapes()) {
        for (const Arrangement arrangement : kReadable) {
          Array a(type.dtype, shape, arrangement, random);
          Array b(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
          Array narrow(type.dtype, narrowed(shape, random), arrangement, random);
          fill_with_bits(a, random);
          fill_with_bits(b, random);
          fill_with_bits(narrow, random);
          check_binary(row, type, shape, random, a, b);
          check_binary(row, type, shape, random, a, narrow);
          check_binary(row, type, shape, random, narrow, b);
        }
      }
    }
  }
}

// A sum of products of f16 or bf16 is rounded to f32 before it is rounded to them.
double places_of_ternary(unsigned row, Type type) {
  const bool is_half = type == Type::kF16 || type == Type::kBF16;
  return row == TNR_TERNARY_OP_FMA - 1 && is_half ? 1 : 0;
}

TEST(Ternary, MatchesItsTwinOnEveryLayout) {
  Random random(24);
  for (const NamedType& type : kTypes) {
    for (unsigned row = 0; row < kernels::kTernaryCount; ++row) {
      if (!takes(kernels::kTernaryRows[row], type.type)) continue;
      if (row == TNR_TERNARY_OP_FMA - 1 && !has_right_fma()) continue;
      for (const Shape& shape : shapes()) {
        for (const Arrangement arrangement : kReadable) {
          const auto any = [&] { return kReadable[random() % std::size(kReadable)]; };
          Array a(type.dtype, shape, arrangement, random);
          Array b(type.dtype, narrowed(shape, random), any(), random);
          Array c(type.dtype, narrowed(shape, random), any(), random);
          for (Array* const array : {&a, &b, &c}) {
            // Far from 0 and 1 the reference implementation of an interpolation rounds less.
            if (row == TNR_TERNARY_OP_LERP - 1) {
              fill_with_numbers(*array, type.type, random, Nans::kSome);
            } else {
              fill_with_bits(*array, random);
            }
          }
          const auto rank = static_cast<std::uint32_t>(shape.size());
          check(
              shape, type, random, places_of_ternary(row, type.type),
              std::string(kernels::kTernaryRows[row].name) + " of " + describe(a.view()) + ", " +
                  describe(b.view()) + " and " + describe(c.view()),
              [&](const tnr_view_mut& out) {
                ternary(kDefaultContext, static_cast<tnr_ternary_op>(row + 1), a.view(), b.view(),
                        c.view(), out);
              },
              [&](const Index& index, Byte* expected) {
                reference::ternary(row, type.type, a.broadcast_element(index, rank),
                                   b.broadcast_element(index, rank),
                                   c.broadcast_element(index, rank), expected);
              });
        }
      }
    }
  }
}

template <class T>
void expect_interpolations(tnr_dtype dtype) {
  std::mt19937_64 random(25);
  std::uniform_real_distribution<T> number(-4, 4);
  std::uniform_real_distribution<T> weight(0, 1);
  constexpr std::size_t kCount = 10'000;
  Literal<T> a(dtype, std::vector<T>(kCount));
  Literal<T> b(dtype, std::vector<T>(kCount));
  Literal<T> t(dtype, std::vector<T>(kCount));
  Literal<T> out(dtype, std::vector<T>(kCount));
  for (std::size_t i = 0; i < kCount; ++i) {
    a.values[i] = number(random);
    b.values[i] = number(random);
    t.values[i] = i % 100 == 0 ? T{0} : i % 100 == 1 ? T{1} : weight(random);
  }
  ternary(kDefaultContext, TNR_TERNARY_OP_LERP, a.view, b.view, t.view, out.out());
  for (std::size_t i = 0; i < kCount; ++i) {
    const T x = a.values[i];
    const T y = b.values[i];
    const auto at = static_cast<long double>(t.values[i]);
    const long double exact =
        (1 - at) * static_cast<long double>(x) + at * static_cast<long double>(y);
    const T largest = std::max(std::fabs(x), std::fabs(y));
    const T place = std::nextafter(largest, T{8}) - largest;
    ASSERT_LE(std::fabs(static_cast<long double>(out.values[i]) - exact),
              static_cast<long double>(place))
        << x << " " << y << " " << t.values[i];
    ASSERT_TRUE(t.values[i] != 0 || out.values[i] == x);
    ASSERT_TRUE(t.values[i] != 1 || out.values[i] == y);
  }
}

TEST(Ternary, InterpolatesToAPlaceOfTheLargerAndExactlyAtTheEnds) {
  if (!has_right_fma()) GTEST_SKIP() << "fma() of the C library rounds twice";
  expect_interpolations<float>(TNR_DTYPE_F32);
  expect_interpolations<double>(TNR_DTYPE_F64);
}

// Equal ends give themselves, and an infinite one itself wherever it has a part of the result.
TEST(Ternary, InterpolatesToAnEndThatIsEqualOrInfinite) {
  const double ends[] = {kInfinity, -kInfinity, 0, 1, -3, 0.1, 60000, -60000, 5e-324, 1e-45};
  const double weights[] = {0, 1, 0.5, 0.3, 0.9, -1, 2, 10};
  Random random(26);
  for (const NamedType& type : kTypes) {
    if (!is_float(type.type)) continue;
    const Shape shape = {static_cast<std::int64_t>(std::size(ends)),
                         static_cast<std::int64_t>(std::size(ends)),
                         static_cast<std::int64_t>(std::size(weights))};
    Array operands[] = {{type.dtype, shape, Arrangement::kRowMajor, random},
                        {type.dtype, shape, Arrangement::kRowMajor, random},
                        {type.dtype, shape, Arrangement::kGaps, random}};
    Array out(type.dtype, shape, Arrangement::kRowMajor, random);
    std::size_t i = 0;
    for_each_index(out.view(), [&](const Index& at) {
      const double numbers[] = {ends[at[0]], ends[at[1]], weights[at[2]]};
      for (std::size_t k = 0; k < 3; ++k) {
        kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&numbers[k]), type.type,
                                 operands[k].elements()[i]);
      }
      ++i;
    });
    ternary(kDefaultContext, TNR_TERNARY_OP_LERP, operands[0].view(), operands[1].view(),
            operands[2].view(), out.out());
    const auto number = [&](Array& array, std::size_t at) {
      double value;
      kernels::reference::cast(type.type, array.elements()[at], Type::kF64,
                               reinterpret_cast<Byte*>(&value));
      return value;
    };
    for (std::size_t at = 0; at < i; ++at) {
      const double a = number(operands[0], at);
      const double b = number(operands[1], at);
      const double t = number(operands[2], at);
      const double found = number(out, at);
      SCOPED_TRACE(std::to_string(a) + " " + std::to_string(b) + " " + std::to_string(t) + " in " +
                   dtype_name(type.dtype));
      if (a == b || t == 0) {
        ASSERT_EQ(found, a);
      } else if (t == 1) {
        ASSERT_EQ(found, b);
      } else if (std::isinf(a) || std::isinf(b)) {
        const double due = (1 - t) * a + t * b;
        ASSERT_TRUE(std::isnan(due) ? std::isnan(found) : found == due) << found;
      } else if (0 < t && t < 1) {
        ASSERT_TRUE(std::isfinite(found));
      }
    }
  }
}

TEST(Ternary, KeepsNaNOfEqualEnds) {
  Literal<double> a(TNR_DTYPE_F64, {1, kNan, 1, kNan});
  Literal<double> b(TNR_DTYPE_F64, {1, 1, kNan, kNan});
  Literal<double> t(TNR_DTYPE_F64, {kNan, 1, 0, 0.5});
  Literal<double> out(TNR_DTYPE_F64, {9, 9, 9, 9});
  ternary(kDefaultContext, TNR_TERNARY_OP_LERP, a.view, b.view, t.view, out.out());
  for (const double number : out.values) EXPECT_TRUE(std::isnan(number));
}

TEST(Ternary, ClampsToTheUpperBoundWhereBoundsCross) {
  Literal<float> a(TNR_DTYPE_F32, {-4, 4, kNan, 0});
  Literal<float> low(TNR_DTYPE_F32, {1, 1, 0, kNan});
  Literal<float> high(TNR_DTYPE_F32, {-1, -1, 1, 1});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9, 9});
  ternary(kDefaultContext, TNR_TERNARY_OP_CLAMP, a.view, low.view, high.view, out.out());
  EXPECT_EQ(out.values[0], -1);
  EXPECT_EQ(out.values[1], -1);
  EXPECT_TRUE(std::isnan(out.values[2]) && std::isnan(out.values[3]));
}

TEST(Ternary, RefusesWhatItDoesNotTake) {
  Literal<float> a(TNR_DTYPE_F32, {1});
  Literal<std::int32_t> b(TNR_DTYPE_I32, {1});
  Literal<std::int32_t> out(TNR_DTYPE_I32, {9});
  const auto call = [&](tnr_ternary_op op, const tnr_view& x, const tnr_view& y) {
    return [&out, op, &x, &y] { ternary(kDefaultContext, op, x, y, y, out.out()); };
  };
  expect_error(TNR_STATUS_UNSUPPORTED, {"lerp does not take i32"},
               call(TNR_TERNARY_OP_LERP, b.view, b.view));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.dtype is f32 but out.dtype is i32"},
               call(TNR_TERNARY_OP_FMA, a.view, b.view));
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"99"},
               call(static_cast<tnr_ternary_op>(99), b.view, b.view));
  EXPECT_EQ(out.values[0], 9);
}

TEST(Binary, ShiftsByTheWidthOrMoreLeaveTheSign) {
  Literal<std::int8_t> a(TNR_DTYPE_I8, {-5, -5, -5, 5, 1, 1});
  Literal<std::int8_t> by(TNR_DTYPE_I8, {1, 8, -1, 100, 7, -128});
  Literal<std::int8_t> out(TNR_DTYPE_I8, {9, 9, 9, 9, 9, 9});
  binary(kDefaultContext, TNR_BINARY_OP_SHIFT_RIGHT, a.view, by.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int8_t>{-3, -1, -1, 0, 0, 0}));
  binary(kDefaultContext, TNR_BINARY_OP_SHIFT_LEFT, a.view, by.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int8_t>{-10, 0, 0, 0, -128, 0}));
}

TEST(Binary, RemaindersHaveTheSignOfTheDividend) {
  Literal<std::int64_t> a(TNR_DTYPE_I64, {7, -7, 7, -7, INT64_MIN});
  Literal<std::int64_t> b(TNR_DTYPE_I64, {3, 3, -3, -3, -1});
  Literal<std::int64_t> out(TNR_DTYPE_I64, {9, 9, 9, 9, 9});
  binary(kDefaultContext, TNR_BINARY_OP_REM, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int64_t>{1, -1, 1, -1, 0}));
  Literal<std::int64_t> zero(TNR_DTYPE_I64, {1, 0, 1, 1, 1});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b has an element 0"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_REM, a.view, zero.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b is 0"}, [&] {
    binary(kDefaultContext, TNR_BINARY_OP_REM, a.view, scalar_of(TNR_DTYPE_U8, std::uint8_t{0}),
           out.out());
  });
}

TEST(Binary, PowersOfIntegersWrapAndMustNotBeNegative) {
  Literal<std::int32_t> a(TNR_DTYPE_I32, {2, -3, 7, 0, 65536});
  Literal<std::int32_t> b(TNR_DTYPE_I32, {10, 3, 0, 0, 2});
  Literal<std::int32_t> out(TNR_DTYPE_I32, {9, 9, 9, 9, 9});
  binary(kDefaultContext, TNR_BINARY_OP_POW, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int32_t>{1024, -27, 1, 1, 0}));
  b.values[2] = -1;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b has a negative element"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_POW, a.view, b.view, out.out()); });
  out.values.assign(5, 9);
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b is negative"}, [&] {
    binary(kDefaultContext, TNR_BINARY_OP_POW, a.view, scalar_of(TNR_DTYPE_F64, -2.0), out.out());
  });
  EXPECT_EQ(out.values, (std::vector<std::int32_t>(5, 9)));
}

template <class T>
void expect_special_powers(tnr_dtype dtype) {
  constexpr T kNone = std::numeric_limits<T>::quiet_NaN();
  constexpr T kFar = std::numeric_limits<T>::infinity();
  std::vector<T> x;
  std::vector<T> y;
  const T numbers[] = {0,       -T{0}, 1,  -1,       2,    -2,    T{0.5},
                       T{-0.5}, 3,     -3, T{1e30f}, kFar, -kFar, kNone};
  for (const T left : numbers) {
    for (const T right : numbers) {
      x.push_back(left);
      y.push_back(right);
    }
  }
  const struct {
    tnr_binary_op op;
    T (*exact)(T, T);
  } cases[] = {{TNR_BINARY_OP_POW, [](T a, T b) { return std::pow(a, b); }},
               {TNR_BINARY_OP_ATAN2, [](T a, T b) { return std::atan2(a, b); }},
               {TNR_BINARY_OP_HYPOT, [](T a, T b) { return std::hypot(a, b); }}};
  Literal<T> a(dtype, x);
  Literal<T> b(dtype, y);
  Literal<T> out(dtype, std::vector<T>(x.size()));
  for (const auto& [op, exact] : cases) {
    binary(kDefaultContext, op, a.view, b.view, out.out());
    for (std::size_t i = 0; i < x.size(); ++i) {
      const T expected = exact(x[i], y[i]);
      const std::string what = std::string(kernels::kBinaryRows[op - 1].name) + " of " +
                               std::to_string(x[i]) + " and " + std::to_string(y[i]);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(out.values[i])) << what;
        continue;
      }
      EXPECT_EQ(std::signbit(out.values[i]), std::signbit(expected)) << what;
      const T places = static_cast<T>(4) * std::numeric_limits<T>::epsilon();
      EXPECT_TRUE(out.values[i] == expected ||
                  std::fabs(out.values[i] - expected) <= places * std::fabs(expected))
          << what << ": " << out.values[i];
    }
  }
}

TEST(Binary, FunctionsOfSpecialNumbersAreThoseOfC) {
  expect_special_powers<float>(TNR_DTYPE_F32);
  expect_special_powers<double>(TNR_DTYPE_F64);
}

// Quotients of a few bits and of all that a float has: within a vector, and by the C library.
template <class T>
void expect_remainders(tnr_dtype dtype) {
  std::mt19937_64 random(26);
  std::uniform_real_distribution<T> mantissa(1, 2);
  constexpr std::size_t kCount = 100'000;
  Literal<T> a(dtype, std::vector<T>(kCount));
  Literal<T> b(dtype, std::vector<T>(kCount));
  Literal<T> out(dtype, std::vector<T>(kCount));
  constexpr int kBits = std::numeric_limits<T>::digits;
  for (std::size_t i = 0; i < kCount; ++i) {
    const int exponent = static_cast<int>(random() % 200) - 100;
    b.values[i] = std::ldexp(mantissa(random), exponent);
    a.values[i] = std::ldexp(mantissa(random), exponent + static_cast<int>(random() % kBits) - 1);
    if (random() % 4 == 0) a.values[i] = b.values[i] * static_cast<T>(random() % 100);
    if (random() % 2 == 0) a.values[i] = -a.values[i];
  }
  binary(kDefaultContext, TNR_BINARY_OP_REM, a.view, b.view, out.out());
  for (std::size_t i = 0; i < kCount; ++i) {
    const T expected = std::fmod(a.values[i], b.values[i]);
    ASSERT_EQ(out.values[i], expected) << a.values[i] << " by " << b.values[i];
    ASSERT_EQ(std::signbit(out.values[i]), std::signbit(expected));
  }
}

TEST(Binary, RemaindersOfFloatsAreExact) {
  expect_remainders<float>(TNR_DTYPE_F32);
  expect_remainders<double>(TNR_DTYPE_F64);
}

// Outputs that are worth tiles, whose inputs are transposed in panels: whole tiles and parts.
TEST(Binary, LargeTransposedOperandsMatchTheirTwin) {
  Random random(21);
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[5], kTypes[8]}) {
    for (const Shape& shape : {Shape{259, 301}, Shape{3, 131, 263}}) {
      Array a(type.dtype, shape, Arrangement::kRowMajor, random);
      Array b(type.dtype, shape, Arrangement::kColumnMajor, random);
      fill_with_bits(a, random);
      fill_with_bits(b, random);
      check_binary(0, type, shape, random, a, b);
    }
  }
}

// Shapes of more elements than a panel holds. In two of them, a panel holds many rows.
const Shape kPanelShapes[] = {{4500}, {90, 40}, {900, 5}};
constexpr Arrangement kStrided[] = {Arrangement::kGaps, Arrangement::kReversed,
                                    Arrangement::kShuffled, Arrangement::kRepeated};

TEST(Binary, StridedOperandsOfSeveralPanelsMatchTheirTwin) {
  Random random(22);
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[3], kTypes[4], kTypes[9]}) {
    for (const Shape& shape : kPanelShapes) {
      for (const Arrangement arrangement : kStrided) {
        for (const unsigned row :
             {TNR_BINARY_OP_SUB - 1, TNR_BINARY_OP_DIV - 1, TNR_BINARY_OP_MAX - 1}) {
          Array a(type.dtype, shape, arrangement, random);
          Array b(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
          fill_with_bits(a, random);
          fill_with_bits(b, random);
          check_binary(row, type, shape, random, a, b);
        }
      }
    }
  }
}

// Adjacent ones are converted in registers: whole ones, short ones, and single elements.
TEST(Halves, OfEveryLengthMatchTheirTwin) {
  Random random(24);
  for (const NamedType& type : {kTypes[2], kTypes[3]}) {
    for (std::int64_t count = 1; count < 200; count += 1 + count / 70) {
      const Shape shape = {count};
      Array a(type.dtype, shape, Arrangement::kRowMajor, random);
      Array b(type.dtype, shape, Arrangement::kRowMajor, random);
      fill_with_bits(a, random);
      fill_with_bits(b, random);
      for (const unsigned row :
           {TNR_BINARY_OP_ADD - 1, TNR_BINARY_OP_SUB - 1, TNR_BINARY_OP_MUL - 1,
            TNR_BINARY_OP_DIV - 1, TNR_BINARY_OP_MIN - 1, TNR_BINARY_OP_MAX - 1}) {
        check_binary(row, type, shape, random, a, b);
      }
      for (const unsigned row :
           {TNR_UNARY_OP_SQRT - 1, TNR_UNARY_OP_ROUND - 1, TNR_UNARY_OP_SIGN - 1}) {
        check(
            shape, type, random, 0,
            "unary " + std::to_string(row + 1) + " of " + describe(a.view()),
            [&](const tnr_view_mut& out) {
              unary(kDefaultContext, static_cast<tnr_unary_op>(row + 1), a.view(), out);
            },
            [&](const Index& index, Byte* expected) {
              reference::unary(row, type.type, a.broadcast_element(index, 1), expected);
            });
      }
      if (HasFatalFailure()) return;
    }
  }
}

TEST(Unary, StridedOperandsOfSeveralPanelsMatchTheirTwin) {
  Random random(23);
  for (const NamedType& type : {kTypes[0], kTypes[1], kTypes[2], kTypes[3]}) {
    for (const Shape& shape : kPanelShapes) {
      for (const Arrangement arrangement : kStrided) {
        for (const unsigned row :
             {TNR_UNARY_OP_NEG - 1, TNR_UNARY_OP_EXP - 1, TNR_UNARY_OP_RELU - 1}) {
          Array a(type.dtype, shape, arrangement, random);
          fill_with_bits(a, random);
          check(
              shape, type, random, row == TNR_UNARY_OP_EXP - 1 ? 1 : 0,
              "unary " + std::to_string(row + 1) + " of " + describe(a.view()),
              [&](const tnr_view_mut& out) {
                unary(kDefaultContext, static_cast<tnr_unary_op>(row + 1), a.view(), out);
              },
              [&](const Index& index, Byte* expected) {
                reference::unary(row, type.type, a.broadcast_element(index, a.view().rank),
                                 expected);
              });
        }
      }
    }
  }
}

TEST(Binary, WithANumberOnEitherSideMatchesItsTwin) {
  Random random(3);
  for (const NamedType& type : kTypes) {
    if (type.type == Type::kBool8) continue;
    const double three = 3;
    Byte number[8] = {};
    Byte three_bytes[8];
    std::memcpy(three_bytes, &three, sizeof three);
    reference::cast(Type::kF64, three_bytes, type.type, number);
    const tnr_scalar scalar = scalar_of(TNR_DTYPE_F64, three);
    for (unsigned row = 0; row < kernels::kBinaryCount; ++row) {
      if (!takes(kernels::kBinaryRows[row], type.type)) continue;
      const auto op = static_cast<tnr_binary_op>(row + 1);
      for (const Arrangement arrangement : kReadable) {
        Array a(type.dtype, {5, 7}, arrangement, random);
        fill_with_numbers(a, type.type, random);
        for (Byte* const element : a.elements()) {
          Byte zero[8] = {};
          Byte is_zero = 0;
          reference::compare(0, type.type, element, zero, &is_zero);
          if (is_zero != 0) std::memcpy(element, number, reference::element_bytes(type.type));
        }
        const std::string what = "number and " + describe(a.view());
        check(
            {5, 7}, type, random, places_of(kernels::kBinaryRows[row]), what,
            [&](const tnr_view_mut& out) { binary(kDefaultContext, op, a.view(), scalar, out); },
            [&](const Index& index, Byte* expected) {
              reference::binary(row, type.type, a.broadcast_element(index, 2), number, expected);
            });
        check(
            {5, 7}, type, random, places_of(kernels::kBinaryRows[row]), what,
            [&](const tnr_view_mut& out) { binary(kDefaultContext, op, scalar, a.view(), out); },
            [&](const Index& index, Byte* expected) {
              reference::binary(row, type.type, number, a.broadcast_element(index, 2), expected);
            });
      }
    }
  }
}

TEST(Unary, IntegersWrap) {
  Literal<std::int8_t> a(TNR_DTYPE_I8, {-128, -1, 0, 127});
  Literal<std::int8_t> out(TNR_DTYPE_I8, {9, 9, 9, 9});
  unary(kDefaultContext, TNR_UNARY_OP_NEG, a.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int8_t>{-128, 1, 0, -127}));
  unary(kDefaultContext, TNR_UNARY_OP_ABS, a.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int8_t>{-128, 1, 0, 127}));
  unary(kDefaultContext, TNR_UNARY_OP_RELU, a.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int8_t>{0, 0, 0, 127}));

  Literal<std::uint16_t> unsigned_a(TNR_DTYPE_U16, {0, 1, 65535});
  Literal<std::uint16_t> unsigned_out(TNR_DTYPE_U16, {9, 9, 9});
  unary(kDefaultContext, TNR_UNARY_OP_NEG, unsigned_a.view, unsigned_out.out());
  EXPECT_EQ(unsigned_out.values, (std::vector<std::uint16_t>{0, 65535, 1}));
}

TEST(Unary, FloatsFollowIeee) {
  Literal<float> a(TNR_DTYPE_F32, {-4, -0.0f, 4, kNan});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9, 9});
  unary(kDefaultContext, TNR_UNARY_OP_SQRT, a.view, out.out());
  EXPECT_TRUE(std::isnan(out.values[0]));
  EXPECT_TRUE(std::signbit(out.values[1]));
  EXPECT_EQ(out.values[2], 2);
  EXPECT_TRUE(std::isnan(out.values[3]));
  unary(kDefaultContext, TNR_UNARY_OP_RELU, a.view, out.out());
  EXPECT_EQ(out.values[0], 0);
  EXPECT_EQ(out.values[2], 4);
  EXPECT_TRUE(std::isnan(out.values[3]));
}

TEST(Binary, IntegersWrap) {
  Literal<std::int32_t> a(TNR_DTYPE_I32, {2147483647, -2147483647 - 1, 65536});
  Literal<std::int32_t> b(TNR_DTYPE_I32, {1, -1, 65536});
  Literal<std::int32_t> out(TNR_DTYPE_I32, {9, 9, 9});
  binary(kDefaultContext, TNR_BINARY_OP_ADD, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int32_t>{-2147483647 - 1, 2147483647, 131072}));
  binary(kDefaultContext, TNR_BINARY_OP_SUB, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int32_t>{2147483646, -2147483647, 0}));
  binary(kDefaultContext, TNR_BINARY_OP_MUL, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int32_t>{2147483647, -2147483647 - 1, 0}));
}

TEST(Binary, DivisionTruncatesAndMinOverMinusOneWraps) {
  Literal<std::int64_t> a(TNR_DTYPE_I64, {7, -7, 7, -7, INT64_MIN});
  Literal<std::int64_t> b(TNR_DTYPE_I64, {2, 2, -2, -2, -1});
  Literal<std::int64_t> out(TNR_DTYPE_I64, {9, 9, 9, 9, 9});
  binary(kDefaultContext, TNR_BINARY_OP_DIV, a.view, b.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::int64_t>{3, -3, -3, 3, INT64_MIN}));
}

TEST(Binary, AnIntegerDivisorOfZeroIsFoundOnTheData) {
  Literal<std::uint8_t> a(TNR_DTYPE_U8, {6, 7, 8});
  Literal<std::uint8_t> b(TNR_DTYPE_U8, {2, 0, 4});
  Literal<std::uint8_t> out(TNR_DTYPE_U8, {9, 9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b has an element 0"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_DIV, a.view, b.view, out.out()); });
  EXPECT_EQ(out.values, (std::vector<std::uint8_t>{3, 0, 2}));
}

TEST(Binary, AnIntegerDivisorOfZeroGivenAsANumberLeavesTheOutputUntouched) {
  Literal<std::uint8_t> a(TNR_DTYPE_U8, {6, 7});
  Literal<std::uint8_t> out(TNR_DTYPE_U8, {9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b is 0"}, [&] {
    binary(kDefaultContext, TNR_BINARY_OP_DIV, a.view, scalar_of(TNR_DTYPE_U8, std::uint8_t{0}),
           out.out());
  });
  EXPECT_EQ(out.values, (std::vector<std::uint8_t>{9, 9}));
}

TEST(Binary, AFloatDividedByZeroIsInfinityOrNan) {
  Literal<float> a(TNR_DTYPE_F32, {1, -1, 0});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9});
  binary(kDefaultContext, TNR_BINARY_OP_DIV, a.view, scalar_of(TNR_DTYPE_F32, 0.0f), out.out());
  EXPECT_EQ(out.values[0], kInfinity);
  EXPECT_EQ(out.values[1], -kInfinity);
  EXPECT_TRUE(std::isnan(out.values[2]));
}

TEST(Binary, MinAndMaxPropagateNan) {
  Literal<float> a(TNR_DTYPE_F32, {kNan, 1, 2});
  Literal<float> b(TNR_DTYPE_F32, {1, kNan, 3});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9});
  binary(kDefaultContext, TNR_BINARY_OP_MIN, a.view, b.view, out.out());
  EXPECT_TRUE(std::isnan(out.values[0]));
  EXPECT_TRUE(std::isnan(out.values[1]));
  EXPECT_EQ(out.values[2], 2);
  binary(kDefaultContext, TNR_BINARY_OP_MAX, a.view, b.view, out.out());
  EXPECT_TRUE(std::isnan(out.values[0]));
  EXPECT_TRUE(std::isnan(out.values[1]));
  EXPECT_EQ(out.values[2], 3);
}

// ---- what operands may be ----

TEST(Binary, WorksInPlaceOnEitherInputAndOnBoth) {
  Random random(4);
  for (const Arrangement arrangement : kWritable) {
    Array a(TNR_DTYPE_I32, {6, 7}, arrangement, random);
    fill_with_numbers(a, Type::kI32, random);
    std::vector<std::int32_t> before;
    for (const Byte* element : a.elements()) {
      before.push_back(*reinterpret_cast<const std::int32_t*>(element));
    }
    binary(kDefaultContext, TNR_BINARY_OP_SUB, a.view(), scalar_of(TNR_DTYPE_I32, 5), a.out());
    binary(kDefaultContext, TNR_BINARY_OP_SUB, scalar_of(TNR_DTYPE_I32, 100), a.view(), a.out());
    binary(kDefaultContext, TNR_BINARY_OP_ADD, a.view(), a.view(), a.out());
    EXPECT_TRUE(a.gaps_are_intact());
    const std::vector<Byte*> elements = a.elements();
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(*reinterpret_cast<const std::int32_t*>(elements[i]), 2 * (100 - (before[i] - 5)));
    }
  }
}

TEST(Binary, RefusesAnOutputThatSharesSomeBytesWithAnInput) {
  std::vector<float> memory = {1, 2, 3, 4, 5, 6};
  const auto bytes = memory.size() * sizeof(float);
  const tnr_view a = view_of(memory.data(), bytes, 0, TNR_DTYPE_F32, {{5, 1}});
  const tnr_view_mut out{view_of(memory.data(), bytes, 4, TNR_DTYPE_F32, {{5, 1}})};
  const Literal<float> b(TNR_DTYPE_F32, {1, 1, 1, 1, 1});
  expect_error(TNR_STATUS_ALIASED, {"out shares bytes with a"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_ADD, a, b.view, out); });
  expect_error(TNR_STATUS_ALIASED, {"out shares bytes with b"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_ADD, b.view, a, out); });
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Binary, RefusesAnInputThatIsARepeatedPartOfTheOutput) {
  std::vector<float> memory = {1, 2, 3, 4};
  const tnr_view_mut out{view_of(memory.data(), 16, 0, TNR_DTYPE_F32, {{4, 1}})};
  const tnr_view first = view_of(memory.data(), 16, 0, TNR_DTYPE_F32, {{1, 1}});
  expect_error(TNR_STATUS_ALIASED, {"b"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_ADD, out.view, first, out); });
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4}));
}

TEST(Binary, InterleavedHalvesAreWrittenByTwoThreadsAtOnce) {
  constexpr std::int64_t kCount = 20000;
  std::vector<std::int16_t> memory(2 * kCount, 1);
  const auto bytes = memory.size() * sizeof(std::int16_t);
  const auto work = [&](std::int64_t first) {
    const tnr_view_mut half{view_of(memory.data(), bytes, first * 2, TNR_DTYPE_I16, {{kCount, 2}})};
    for (int i = 0; i < 50; ++i) {
      binary(kDefaultContext, TNR_BINARY_OP_ADD, half.view,
             scalar_of(TNR_DTYPE_I16, static_cast<std::int16_t>(first + 1)), half);
    }
  };
  std::thread other(work, 0);
  work(1);
  other.join();
  for (std::int64_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(memory[static_cast<std::size_t>(2 * i)], 51);
    ASSERT_EQ(memory[static_cast<std::size_t>(2 * i + 1)], 101);
  }
}

TEST(Binary, RefusesWhatDoesNotFitAndLeavesTheOutputUntouched) {
  const Literal<float> a(TNR_DTYPE_F32, {1, 2, 3});
  const Literal<float> b(TNR_DTYPE_F32, {1, 2});
  const Literal<double> other(TNR_DTYPE_F64, {1, 2, 3});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.shape[0] is 2", "out.shape[0] is 3"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_ADD, a.view, b.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype is f64", "out.dtype is f32"},
               [&] { binary(kDefaultContext, TNR_BINARY_OP_ADD, a.view, other.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.dtype is f64", "out.dtype is f32"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_NEG, other.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"op is 77"}, [&] {
    binary(kDefaultContext, static_cast<tnr_binary_op>(77), a.view, a.view, out.out());
  });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"op is 0"},
               [&] { unary(kDefaultContext, static_cast<tnr_unary_op>(0), a.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"op is -1"},
               [&] { unary(kDefaultContext, static_cast<tnr_unary_op>(-1), a.view, out.out()); });
  EXPECT_EQ(out.values, (std::vector<float>{9, 9, 9}));
}

TEST(Binary, RefusesAnInputOfHigherRank) {
  std::vector<float> memory(6, 1);
  const tnr_view a = view_of(memory.data(), 24, 0, TNR_DTYPE_F32, {{1, 3}, {3, 1}});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.rank is 2", "out.rank is 1"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_NEG, a, out.out()); });
}

TEST(Binary, RefusesAMalformedView) {
  const Literal<float> a(TNR_DTYPE_F32, {1, 2, 3});
  Literal<float> out(TNR_DTYPE_F32, {9, 9, 9});
  tnr_view beyond = a.view;
  beyond.shape[0] = 4;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a."},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_NEG, beyond, out.out()); });
  tnr_view_mut repeated = out.out();
  repeated.view.strides[0] = 0;
  expect_error(TNR_STATUS_ALIASED, {"out.strides[0]"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_NEG, a.view, repeated); });
  EXPECT_EQ(out.values, (std::vector<float>{9, 9, 9}));
}

TEST(Binary, TakesNoBoolAndNoForeignDtype) {
  constexpr tnr_dtype kFloat8 = 0x0001080a;  // DLPack's float8_e4m3fn
  for (const tnr_dtype dtype : {TNR_DTYPE_BOOL8, int{kFloat8}}) {
    std::vector<double> memory(4, 1.0);
    std::vector<double> result(4, 9.0);
    const tnr_view a = view_of(memory.data(), 32, 0, static_cast<tnr_dtype>(dtype), {{2, 1}});
    const tnr_view_mut out{view_of(result.data(), 32, 0, static_cast<tnr_dtype>(dtype), {{2, 1}})};
    expect_error(TNR_STATUS_UNSUPPORTED, {"add does not take"},
                 [&] { binary(kDefaultContext, TNR_BINARY_OP_ADD, a, a, out); });
    expect_error(TNR_STATUS_UNSUPPORTED, {"neg does not take"},
                 [&] { unary(kDefaultContext, TNR_UNARY_OP_NEG, a, out); });
    EXPECT_EQ(result, std::vector<double>(4, 9.0));
  }
  const Literal<std::int32_t> integers(TNR_DTYPE_I32, {4});
  expect_error(TNR_STATUS_UNSUPPORTED, {"sqrt does not take i32"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_SQRT, integers.view, integers.out()); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"exp does not take i32"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_EXP, integers.view, integers.out()); });
}

TEST(Binary, AnEmptyOutputNeedsNoMemory) {
  const tnr_view a = view_of(nullptr, 0, 0, TNR_DTYPE_F32, {{INT64_MAX, 1}, {0, INT64_MAX}});
  binary(kDefaultContext, TNR_BINARY_OP_ADD, a, a, {a});
  unary(kDefaultContext, TNR_UNARY_OP_EXP, a, {a});
}

}  // namespace
}  // namespace tenure::test
