// Scalars: which numbers each dtype takes, and what the refusals say.
#include "dense/scalar.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "arrays.hpp"
#include "expect_error.hpp"

namespace tenure::test {
namespace {

template <class T>
T value_of(const Element& element) {
  T value;
  std::memcpy(&value, element.bytes, sizeof value);
  return value;
}

template <class Out, class T>
Out converted(tnr_dtype from, T value, tnr_dtype to) {
  return value_of<Out>(to_element(scalar_of(from, value), to, "b"));
}

template <class T>
void refused(tnr_dtype from, T value, tnr_dtype to, std::initializer_list<std::string> words) {
  expect_error(TNR_STATUS_INVALID_ARGUMENT, words,
               [&] { to_element(scalar_of(from, value), to, "b"); });
}

TEST(Scalar, EveryDtypeTakesOneFromEveryOther) {
  for (const NamedType& from : kTypes) {
    for (const NamedType& to : kTypes) {
      const double one = 1;
      tnr_scalar scalar{};
      scalar.dtype = from.dtype;
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&one), from.type,
                               scalar.bytes);
      Byte expected[8];
      kernels::reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&one), to.type, expected);
      const Element element = to_element(scalar, to.dtype, "b");
      EXPECT_TRUE(is_same_element(to.type, element.bytes, expected))
          << dtype_name(from.dtype) << " to " << dtype_name(to.dtype);
    }
  }
}

TEST(Scalar, IntegersTakeWholeNumbersInRange) {
  EXPECT_EQ(converted<std::int8_t>(TNR_DTYPE_I64, std::int64_t{-128}, TNR_DTYPE_I8), -128);
  EXPECT_EQ(converted<std::uint8_t>(TNR_DTYPE_F64, 255.0, TNR_DTYPE_U8), 255);
  EXPECT_EQ(converted<std::int64_t>(TNR_DTYPE_I64, INT64_MIN, TNR_DTYPE_I64), INT64_MIN);
  EXPECT_EQ(converted<std::uint64_t>(TNR_DTYPE_U64, UINT64_MAX, TNR_DTYPE_U64), UINT64_MAX);
  EXPECT_EQ(converted<std::int64_t>(TNR_DTYPE_F64, -0x1p63, TNR_DTYPE_I64), INT64_MIN);
  refused(TNR_DTYPE_I32, 300, TNR_DTYPE_U8, {"b is 300", "from 0 to 255"});
  refused(TNR_DTYPE_I32, -1, TNR_DTYPE_U8, {"b is -1", "from 0 to 255"});
  refused(TNR_DTYPE_I32, -129, TNR_DTYPE_I8, {"b is -129", "from -128 to 127"});
  refused(TNR_DTYPE_F64, 0.5, TNR_DTYPE_I32, {"b is 0.5", "whole number"});
  refused(TNR_DTYPE_F64, 0x1p63, TNR_DTYPE_I64,
          {"b is 9.2233720368547758e+18", "to 9223372036854775807"});
  refused(TNR_DTYPE_F64, 0x1p64, TNR_DTYPE_U64, {"18446744073709551615"});
  refused(TNR_DTYPE_F64, std::nan(""), TNR_DTYPE_I32, {"b is nan"});
  refused(TNR_DTYPE_F32, std::numeric_limits<float>::infinity(), TNR_DTYPE_I32, {"b is inf"});
}

TEST(Scalar, FloatsTakeIntegersThatTheyHoldExactly) {
  EXPECT_EQ(converted<float>(TNR_DTYPE_I32, 16777216, TNR_DTYPE_F32), 16777216.0f);
  EXPECT_EQ(converted<float>(TNR_DTYPE_I32, -16777218, TNR_DTYPE_F32), -16777218.0f);
  EXPECT_EQ(converted<double>(TNR_DTYPE_I64, INT64_MIN, TNR_DTYPE_F64), -0x1p63);
  EXPECT_EQ(converted<std::uint16_t>(TNR_DTYPE_I32, 65504, TNR_DTYPE_F16), 0x7bff);
  EXPECT_EQ(converted<std::uint16_t>(TNR_DTYPE_I32, -256, TNR_DTYPE_BF16), 0xc380);
  refused(TNR_DTYPE_I32, 16777217, TNR_DTYPE_F32, {"b is 16777217", "f32", "exactly"});
  refused(TNR_DTYPE_U64, UINT64_MAX, TNR_DTYPE_F64, {"b is 18446744073709551615", "f64"});
  refused(TNR_DTYPE_I32, 65536, TNR_DTYPE_F16, {"b is 65536", "f16"});
  refused(TNR_DTYPE_I32, -2049, TNR_DTYPE_F16, {"b is -2049", "f16"});
  refused(TNR_DTYPE_I32, 257, TNR_DTYPE_BF16, {"b is 257", "bf16"});
}

TEST(Scalar, FloatsRoundToNearestButNotToInfinity) {
  EXPECT_EQ(converted<float>(TNR_DTYPE_F64, 0.1, TNR_DTYPE_F32), 0.1f);
  EXPECT_EQ(converted<std::uint16_t>(TNR_DTYPE_F64, 65519.9, TNR_DTYPE_F16), 0x7bff);
  EXPECT_EQ(converted<float>(TNR_DTYPE_F64, 1e-60, TNR_DTYPE_F32), 0);
  refused(TNR_DTYPE_F64, 1e300, TNR_DTYPE_F32, {"1.0000000000000001e+300", "infinity in f32"});
  refused(TNR_DTYPE_F32, 65520.0f, TNR_DTYPE_F16, {"b is 65520", "infinity in f16"});
  EXPECT_EQ(
      converted<float>(TNR_DTYPE_F64, -std::numeric_limits<double>::infinity(), TNR_DTYPE_F32),
      -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(converted<float>(TNR_DTYPE_F64, std::nan(""), TNR_DTYPE_F32)));
}

TEST(Scalar, BoolTakesZeroAndOne) {
  EXPECT_EQ(converted<std::uint8_t>(TNR_DTYPE_BOOL8, std::uint8_t{7}, TNR_DTYPE_BOOL8), 1);
  EXPECT_EQ(converted<std::uint8_t>(TNR_DTYPE_F32, 0.0f, TNR_DTYPE_BOOL8), 0);
  refused(TNR_DTYPE_I32, 2, TNR_DTYPE_BOOL8, {"b is 2", "bool8"});
  refused(TNR_DTYPE_I32, -1, TNR_DTYPE_BOOL8, {"b is -1", "bool8"});
  refused(TNR_DTYPE_F32, 0.5f, TNR_DTYPE_BOOL8, {"b is 0.5", "bool8"});
}

struct Pair {
  double real;
  double imaginary;
};

TEST(Scalar, ComplexNumbersMeetComplexDtypesOnly) {
  const auto narrow = converted<std::complex<float>>(TNR_DTYPE_C128, Pair{1.5, -2}, TNR_DTYPE_C64);
  EXPECT_EQ(narrow, (std::complex<float>{1.5f, -2}));
  EXPECT_EQ(converted<std::complex<float>>(TNR_DTYPE_I32, 3, TNR_DTYPE_C64),
            (std::complex<float>{3, 0}));
  refused(TNR_DTYPE_C128, Pair{1.5, -2}, TNR_DTYPE_F64, {"b is 1.5-2i", "f64 is not complex"});
  refused(TNR_DTYPE_C128, Pair{1, 1e300}, TNR_DTYPE_C64, {"infinity in c64"});
}

TEST(Scalar, RefusesDtypesAndWordsItDoesNotKnow) {
  expect_error(TNR_STATUS_UNSUPPORTED, {"b.dtype is 0x0001080a"},
               [] { to_element(scalar_of(0x0001080a, 1.0f), TNR_DTYPE_F32, "b"); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"0x0001080a"},
               [] { to_element(scalar_of(TNR_DTYPE_F32, 1.0f), 0x0001080a, "b"); });
  tnr_scalar scalar = scalar_of(TNR_DTYPE_F32, 1.0f);
  scalar.reserved = 5;
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.reserved is 5", "0"},
               [&] { to_element(scalar, TNR_DTYPE_F32, "b"); });
}

}  // namespace
}  // namespace tenure::test
