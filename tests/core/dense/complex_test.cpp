// Operations on complex numbers: against their reference implementation on every layout, and their
// rules with literals. The reference implementation computes quotients in four times the digits.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "arrays.hpp"
#include "cpu/operations.hpp"
#include "expect_error.hpp"
#include "tenure/ops.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

struct ComplexType {
  tnr_dtype dtype;
  tnr_dtype part;
  Type part_type;
  std::size_t part_bytes;
};
constexpr ComplexType kComplexTypes[] = {{TNR_DTYPE_C64, TNR_DTYPE_F32, Type::kF32, 4},
                                         {TNR_DTYPE_C128, TNR_DTYPE_F64, Type::kF64, 8}};

constexpr tnr_unary_op kUnaryOps[] = {TNR_UNARY_OP_NEG,    TNR_UNARY_OP_CONJ,
                                      TNR_UNARY_OP_SQUARE, TNR_UNARY_OP_RECIPROCAL,
                                      TNR_UNARY_OP_ABS,    TNR_UNARY_OP_ARG};
constexpr tnr_binary_op kBinaryOps[] = {TNR_BINARY_OP_ADD, TNR_BINARY_OP_SUB, TNR_BINARY_OP_MUL,
                                        TNR_BINARY_OP_DIV};

bool gives_part(tnr_unary_op op) { return op == TNR_UNARY_OP_ABS || op == TNR_UNARY_OP_ARG; }
// Last places that each part may be off by.
double places_of(tnr_unary_op op) {
  if (op == TNR_UNARY_OP_ABS || op == TNR_UNARY_OP_RECIPROCAL) return 1;
  return op == TNR_UNARY_OP_ARG ? 2 : 0;
}
double places_of_two(tnr_binary_op op) { return op == TNR_BINARY_OP_DIV ? 1 : 0; }

// Small numbers, and of any exponent with zeros, infinities and NaN now and then.
void fill(Array& array, const ComplexType& type, Random& random) {
  for (Byte* const element : array.elements()) {
    for (std::size_t part = 0; part < 2; ++part) {
      double value = static_cast<double>(random() % 4001) / 1000 - 2;
      if (random() % 4 == 0) {
        const int range = type.part_bytes == 8 ? 2140 : 280;
        value = std::ldexp(value,
                           static_cast<int>(random() % static_cast<unsigned>(range)) - range / 2);
      }
      const double specials[] = {0.0, -0.0, INFINITY, -INFINITY, NAN};
      if (random() % 23 == 0) value = specials[random() % std::size(specials)];
      Byte bytes[8];
      std::memcpy(bytes, &value, sizeof value);
      reference::cast(Type::kF64, bytes, type.part_type, element + part * type.part_bytes);
    }
  }
}

// Whether each part is within `places` units in the last place of the other number's.
bool is_near_number(const ComplexType& type, const Byte* a, const Byte* b, std::size_t parts,
                    double places) {
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t at = part * type.part_bytes;
    if (!reference::is_near(type.part_type, a + at, b + at, places)) return false;
  }
  return true;
}

std::string text_of(const ComplexType& type, const Byte* number) {
  const auto text = [](auto value) {
    char digits[80];
    std::snprintf(digits, sizeof digits, "%.17g%+.17gi", static_cast<double>(value.real()),
                  static_cast<double>(value.imag()));
    return std::string(digits);
  };
  std::complex<float> narrow;
  std::complex<double> wide;
  if (type.part_bytes == 4) std::memcpy(&narrow, number, sizeof narrow);
  if (type.part_bytes == 8) std::memcpy(&wide, number, sizeof wide);
  return type.part_bytes == 4 ? text(narrow) : text(wide);
}

TEST(Complex, UnaryOperationsMatchTheirTwinsOnEveryLayout) {
  Random random(1);
  for (const ComplexType& type : kComplexTypes) {
    for (const tnr_unary_op op : kUnaryOps) {
      for (const Shape& shape : shapes()) {
        for (const Arrangement arrangement : kReadable) {
          Array a(type.dtype, shape, arrangement, random);
          Array out(gives_part(op) ? type.part : type.dtype, shape,
                    kWritable[random() % std::size(kWritable)], random);
          fill(a, type, random);
          unary(kDefaultContext, op, a.view(), out.out());
          EXPECT_TRUE(out.gaps_are_intact());
          for_each_index(out.view(), [&](const Index& index) {
            const auto rank = out.view().rank;
            const Byte* const from = a.broadcast_element(index, rank);
            Byte expected[16];
            reference::complex_unary(static_cast<unsigned>(op) - 1, type.part_type, from, expected);
            ASSERT_TRUE(is_near_number(type, out.broadcast_element(index, rank), expected,
                                       gives_part(op) ? 1 : 2, places_of(op)))
                << "op " << op << " of " << text_of(type, from) << " in " << describe(a.view());
          });
        }
      }
    }
  }
}

TEST(Complex, BinaryOperationsMatchTheirTwinsOnEveryLayout) {
  Random random(2);
  for (const ComplexType& type : kComplexTypes) {
    for (const tnr_binary_op op : kBinaryOps) {
      for (const Shape& shape : shapes()) {
        for (const Arrangement arrangement : kReadable) {
          Array a(type.dtype, shape, arrangement, random);
          Array b(type.dtype, shape, kReadable[random() % std::size(kReadable)], random);
          Array out(type.dtype, shape, kWritable[random() % std::size(kWritable)], random);
          fill(a, type, random);
          fill(b, type, random);
          binary(kDefaultContext, op, a.view(), b.view(), out.out());
          EXPECT_TRUE(out.gaps_are_intact());
          for_each_index(out.view(), [&](const Index& index) {
            const auto rank = out.view().rank;
            const Byte* const left = a.broadcast_element(index, rank);
            const Byte* const right = b.broadcast_element(index, rank);
            Byte expected[16];
            reference::complex_binary(static_cast<unsigned>(op) - 1, type.part_type, left, right,
                                      expected);
            const Byte* const found = out.broadcast_element(index, rank);
            ASSERT_TRUE(is_near_number(type, found, expected, 2, places_of_two(op)))
                << "op " << op << " of " << text_of(type, left) << " and " << text_of(type, right)
                << " gives " << text_of(type, found) << " and not " << text_of(type, expected);
          });
        }
      }
    }
  }
}

TEST(Complex, InPlaceAndWithANumberGiveTheSame) {
  Random random(3);
  for (const ComplexType& type : kComplexTypes) {
    for (const tnr_binary_op op : kBinaryOps) {
      for (const std::int64_t count : {1, 3, 8, 100}) {
        Array a(type.dtype, {count}, Arrangement::kRowMajor, random);
        Array b(type.dtype, {1}, Arrangement::kRowMajor, random);
        Array out(type.dtype, {count}, Arrangement::kRowMajor, random);
        Array again(type.dtype, {count}, Arrangement::kRowMajor, random);
        fill(a, type, random);
        fill(b, type, random);
        tnr_scalar number{};
        number.dtype = type.dtype;
        std::memcpy(number.bytes, b.view().data, 2 * type.part_bytes);
        const auto bytes = static_cast<std::size_t>(count) * 2 * type.part_bytes;
        const auto expect_same = [&](const char* what) {
          EXPECT_EQ(std::memcmp(again.view().data, out.view().data, bytes), 0) << what << " " << op;
        };
        binary(kDefaultContext, op, a.view(), b.view(), out.out());
        binary(kDefaultContext, op, a.view(), number, again.out());
        expect_same("a number on the right");
        copy(kDefaultContext, a.view(), again.out());
        binary(kDefaultContext, op, again.view(), b.view(), again.out());
        expect_same("in place");
        binary(kDefaultContext, op, b.view(), a.view(), out.out());
        binary(kDefaultContext, op, number, a.view(), again.out());
        expect_same("a number on the left");
      }
    }
  }
}

TEST(Complex, ComparesBothParts) {
  Random random(4);
  for (const ComplexType& type : kComplexTypes) {
    for (const Shape& shape : shapes()) {
      for (const Arrangement arrangement : kReadable) {
        Array a(type.dtype, shape, arrangement, random);
        Array b(type.dtype, shape, Arrangement::kShuffled, random);
        Array out(TNR_DTYPE_BOOL8, shape, kWritable[random() % std::size(kWritable)], random);
        fill(a, type, random);
        copy(kDefaultContext, a.view(), b.out());
        for (Byte* const element : b.elements()) {
          const Byte change[16] = {};
          if (random() % 3 == 0) {
            std::memcpy(element + random() % 2 * type.part_bytes, change, type.part_bytes);
          }
        }
        for (const tnr_compare_op op : {TNR_COMPARE_OP_EQ, TNR_COMPARE_OP_NE}) {
          compare(kDefaultContext, op, a.view(), b.view(), out.out());
          EXPECT_TRUE(out.gaps_are_intact());
          for_each_index(out.view(), [&](const Index& index) {
            const auto rank = out.view().rank;
            const bool equal = reference::complex_equal(
                type.part_type, a.broadcast_element(index, rank), b.broadcast_element(index, rank));
            ASSERT_EQ(*out.broadcast_element(index, rank),
                      equal == (op == TNR_COMPARE_OP_EQ) ? 1 : 0);
          });
        }
      }
    }
  }
}

// Every code is taken of complex numbers or not as the table of operations says.
TEST(Complex, TheTableSaysWhatIsTaken) {
  Random random(5);
  for (const ComplexType& type : kComplexTypes) {
    Array a(type.dtype, {3}, Arrangement::kRowMajor, random);
    Array out(type.dtype, {3}, Arrangement::kRowMajor, random);
    Array part(type.part, {3}, Arrangement::kRowMajor, random);
    Array truth(TNR_DTYPE_BOOL8, {3}, Arrangement::kRowMajor, random);
    const auto expect = [&](const kernels::OperationRow& row, const auto& call) {
      const bool is_taken = (row.dtypes & kernels::kComplex) != 0;
      const tnr_view_mut result = row.gives == kernels::Gives::kTruth  ? truth.out()
                                  : row.gives == kernels::Gives::kPart ? part.out()
                                                                       : out.out();
      fill(a, type, random);
      if (is_taken) return call(result);
      expect_error(TNR_STATUS_UNSUPPORTED, {row.name, "does not take"}, [&] { call(result); });
    };
    for (std::int32_t code = 1; code <= static_cast<std::int32_t>(kernels::kUnaryCount); ++code) {
      expect(kernels::kUnaryRows[code - 1], [&](const tnr_view_mut& result) {
        unary(kDefaultContext, static_cast<tnr_unary_op>(code), a.view(), result);
      });
    }
    for (std::int32_t code = 1; code <= static_cast<std::int32_t>(kernels::kBinaryCount); ++code) {
      expect(kernels::kBinaryRows[code - 1], [&](const tnr_view_mut& result) {
        binary(kDefaultContext, static_cast<tnr_binary_op>(code), a.view(), a.view(), result);
      });
    }
    for (std::int32_t code = 1; code <= static_cast<std::int32_t>(kernels::kCompareCount); ++code) {
      expect(kernels::kCompareRows[code - 1], [&](const tnr_view_mut& result) {
        compare(kDefaultContext, static_cast<tnr_compare_op>(code), a.view(), a.view(), result);
      });
    }
  }
}

// ---- quotients ----------------------------------------------------------------------------------

using Numbers = std::vector<std::complex<double>>;

Numbers quotients(const Numbers& a, const Numbers& b) {
  const Literal<std::complex<double>> left(TNR_DTYPE_C128, a);
  const Literal<std::complex<double>> right(TNR_DTYPE_C128, b);
  Literal<std::complex<double>> out(TNR_DTYPE_C128, Numbers(a.size(), {9, 9}));
  binary(kDefaultContext, TNR_BINARY_OP_DIV, left.view, right.view, out.out());
  return out.values;
}

TEST(ComplexQuotient, DoesNotOverflowInBetween) {
  EXPECT_EQ(quotients({{1e308, 1e308}, {1e308, -1e308}, {1e-320, 1e-320}, {1e300, 1e-300}, {0, 1}},
                      {{1e308, 1e308}, {1, 1}, {1e-310, 1e-310}, {2, 0}, {1e308, 0}}),
            (Numbers{{1, 0}, {0, -1e308}, {1e-320 / 1e-310, 0}, {5e299, 5e-301}, {0, 1e-308}}));
}

// Ten divisions that are hard for usual algorithms (Baudin and Smith, arXiv:1210.4539): each part
// is the nearest number, except one that is 2^1436 times smaller than the other and is 0.
TEST(ComplexQuotient, IsExactWhereOthersAreNot) {
  const auto two = [](int exponent) { return std::ldexp(1.0, exponent); };
  const Numbers a = {{1, 1},
                     {1, 1},
                     {two(1023), two(-1023)},
                     {two(1023), two(1023)},
                     {two(1020), two(-844)},
                     {two(-71), two(1021)},
                     {two(-347), two(-54)},
                     {two(-1074), two(-1074)},
                     {two(1015), two(-989)},
                     {two(-622), two(-1071)}};
  const Numbers b = {{1, two(1023)},           {two(-1023), two(-1023)},
                     {two(677), two(-677)},    {1, 1},
                     {two(656), two(-780)},    {two(1001), two(-323)},
                     {two(-1037), two(-1058)}, {two(-1073), two(-1074)},
                     {two(1023), two(1023)},   {two(-343), two(-798)}};
  const Numbers expected = {{two(-1023), -two(-1023)},
                            {two(1023), 0},
                            {two(346), -two(-1008)},
                            {two(1023), 0},
                            {two(364), 0},
                            {two(-1072), two(20)},
                            {3.8981256045591133e289, 8.174961907852353577e295},
                            {0.6, 0.2},
                            {0.001953125, -0.001953125},
                            {1.02951151789360578e-84, 6.97145987515076231e-220}};
  EXPECT_EQ(quotients(a, b), expected);
}

TEST(ComplexQuotient, HasTheRulesOfZerosInfinitiesAndNan) {
  const double inf = INFINITY;
  const auto is = [](double value, double expected) {
    return std::isnan(expected) ? std::isnan(value) : value == expected;
  };
  const struct {
    std::complex<double> a, b, expected;
  } kRules[] = {
      {{1, -2}, {0, 0}, {inf, -inf}},    {{0, 1}, {-0.0, 0}, {NAN, inf}},
      {{0, 0}, {0, 0}, {NAN, NAN}},      {{1, 2}, {inf, -inf}, {0, 0}},
      {{1, 2}, {inf, NAN}, {0, 0}},      {{1, 2}, {1e300, inf}, {0, 0}},
      {{inf, 1}, {1, 1}, {inf, -inf}},   {{inf, 1}, {1e308, 1e308}, {inf, -inf}},
      {{inf, 0}, {inf, 1}, {NAN, NAN}},  {{NAN, 1}, {1, 1}, {NAN, NAN}},
      {{1, 1}, {NAN, 1}, {NAN, NAN}},    {{1, 1}, {1, NAN}, {NAN, NAN}},
      {{inf, NAN}, {1, 1}, {inf, -inf}}, {{inf, inf}, {2, 0}, {inf, inf}},
      {{inf, 1}, {1, 0}, {inf, NAN}},
  };
  for (const auto& [a, b, expected] : kRules) {
    const std::complex<double> wide = quotients({a}, {b})[0];
    EXPECT_TRUE(is(wide.real(), expected.real()) && is(wide.imag(), expected.imag()))
        << a << " / " << b << " is " << wide;
    const Literal<std::complex<float>> left(TNR_DTYPE_C64, {std::complex<float>(a)});
    const Literal<std::complex<float>> right(TNR_DTYPE_C64, {std::complex<float>(b)});
    Literal<std::complex<float>> out(TNR_DTYPE_C64, {{9, 9}});
    if (std::abs(b.real()) > 1e38 && !std::isinf(b.real())) continue;
    binary(kDefaultContext, TNR_BINARY_OP_DIV, left.view, right.view, out.out());
    const std::complex<double> narrow(out.values[0]);
    EXPECT_TRUE(is(narrow.real(), expected.real()) && is(narrow.imag(), expected.imag()))
        << a << " / " << b << " of c64 is " << narrow;
  }
}

// A vector of numbers takes a shorter way where none is near the ends of the range.
TEST(ComplexQuotient, HasTheSameBitsBesideAnyOther) {
  Random random(8);
  for (int i = 0; i < 2'000; ++i) {
    const auto digits = [&] {
      const double value = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
      return std::ldexp(value, static_cast<int>(random() % 390) - 195);
    };
    Numbers a;
    Numbers b;
    for (int k = 0; k < 7; ++k) {
      a.emplace_back(digits(), digits());
      b.emplace_back(digits(), digits());
    }
    const Numbers plain = quotients(a, b);
    for (const std::size_t other : {std::size_t{1}, std::size_t{6}}) {
      Numbers with = a;
      Numbers by = b;
      with[other] = {1e300, 1};
      by[other] = {1e-300, random() % 2 == 0 ? NAN : 0};
      Numbers found = quotients(with, by);
      found[other] = plain[other];
      ASSERT_EQ(std::memcmp(found.data(), plain.data(), sizeof found[0] * found.size()), 0);
    }
  }
}

// Parts whose products cancel in every digit that a product of the type has.
TEST(ComplexQuotient, KeepsItsPlacesWhereProductsCancel) {
  Random random(6);
  const ComplexType& type = kComplexTypes[1];
  for (int i = 0; i < 20'000; ++i) {
    const auto digits = [&] { return std::ldexp(static_cast<double>(random() >> 11), -52) + 0.5; };
    const std::complex<double> b(digits(), digits());
    // A dividend close to a real multiple of b or of i b, so that one part of the quotient is tiny.
    const double factor = digits();
    std::complex<double> a(b.real() * factor, b.imag() * factor);
    if (random() % 2 == 0) a = {-a.imag(), a.real()};
    const std::complex<double> found = quotients({a}, {b})[0];
    std::complex<double> expected;
    reference::complex_binary(TNR_BINARY_OP_DIV - 1, Type::kF64, reinterpret_cast<const Byte*>(&a),
                              reinterpret_cast<const Byte*>(&b),
                              reinterpret_cast<Byte*>(&expected));
    ASSERT_TRUE(is_near_number(type, reinterpret_cast<const Byte*>(&found),
                               reinterpret_cast<const Byte*>(&expected), 2, 1))
        << a << " / " << b << " is " << found << " and not " << expected;
  }
}

// ---- sums ---------------------------------------------------------------------------------------

TEST(ComplexSum, IsThatOfEachPart) {
  Random random(7);
  for (const ComplexType& type : kComplexTypes) {
    for (const Shape& shape : shapes()) {
      for (const Arrangement arrangement : kReadable) {
        Array a(type.dtype, shape, arrangement, random);
        for (Byte* const element : a.elements()) {
          for (std::size_t part = 0; part < 2; ++part) {
            // Whole numbers, whose sums are exact.
            const double value = static_cast<double>(random() % 100) - 50;
            Byte bytes[8];
            std::memcpy(bytes, &value, sizeof value);
            reference::cast(Type::kF64, bytes, type.part_type, element + part * type.part_bytes);
          }
        }
        const auto rank = static_cast<std::uint32_t>(shape.size());
        const auto axes = static_cast<std::uint32_t>(random()) & ((1u << rank) - 1);
        Shape kept = shape;
        for (std::uint32_t axis = 0; axis < rank; ++axis) {
          if ((axes >> axis & 1) != 0) kept[axis] = 1;
        }
        for (const tnr_reduce_op op : {TNR_REDUCE_OP_SUM, TNR_REDUCE_OP_MEAN}) {
          Array out(type.dtype, kept, kWritable[random() % std::size(kWritable)], random);
          reduce(kDefaultContext, op, a.view(), axes, 0, out.out());
          EXPECT_TRUE(out.gaps_are_intact());
          for_each_index(out.view(), [&](const Index& result) {
            std::vector<const Byte*> parts[2];
            for_each_index(a.view(), [&](const Index& index) {
              for (std::uint32_t axis = 0; axis < rank; ++axis) {
                if ((axes >> axis & 1) == 0 && index[axis] != result[axis]) return;
              }
              const Byte* const element = a.broadcast_element(index, rank);
              parts[0].push_back(element);
              parts[1].push_back(element + type.part_bytes);
            });
            for (std::size_t part = 0; part < 2; ++part) {
              Byte expected[8];
              reference::reduce(static_cast<unsigned>(op) - 1, type.part_type, parts[part].data(),
                                static_cast<std::int64_t>(parts[part].size()), 0, expected);
              ASSERT_TRUE(reference::is_near(
                  type.part_type, out.broadcast_element(result, rank) + part * type.part_bytes,
                  expected, 1))
                  << "op " << op << " over axes " << axes << " of " << describe(a.view());
            }
          });
        }
      }
    }
  }
}

TEST(Complex, RefusesWhatDoesNotFitAndLeavesTheOutputUntouched) {
  const Literal<std::complex<float>> a(TNR_DTYPE_C64, {{1, 2}, {3, 4}});
  Literal<std::complex<float>> out(TNR_DTYPE_C64, {{9, 9}, {9, 9}});
  Literal<double> wide(TNR_DTYPE_F64, {9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is c64 but must be f32"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_ABS, a.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"out.dtype is f64 but must be f32"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_ARG, a.view, wide.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.dtype is c64 but out.dtype is f64"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_CONJ, a.view, wide.out()); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"conj does not take f64"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_CONJ, wide.view, wide.out()); });
  expect_error(TNR_STATUS_UNSUPPORTED, {"prod does not take c64"},
               [&] { reduce(kDefaultContext, TNR_REDUCE_OP_PROD, a.view, 0, 0, out.out()); });
  // The magnitudes would share bytes with the numbers.
  tnr_view_mut parts = out.out();
  parts.view.dtype = TNR_DTYPE_F32;
  expect_error(TNR_STATUS_ALIASED, {"out shares bytes with a"},
               [&] { unary(kDefaultContext, TNR_UNARY_OP_ABS, out.view, parts); });
  EXPECT_EQ(out.values, (std::vector<std::complex<float>>{{9, 9}, {9, 9}}));
  EXPECT_EQ(wide.values, (std::vector<double>{9, 9}));
}

}  // namespace
}  // namespace tenure::test
