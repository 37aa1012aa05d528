// Copy, cast, fill and select against their reference implementation, and their rules with
// literals.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "arrays.hpp"
#include "cpu/kernels/number.hpp"
#include "expect_error.hpp"
#include "tenure/ops.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

// DLPack's {code, bits, lanes} of some types that no operation but movement takes.
constexpr tnr_dtype kFloat8 = 0x0001080a;
constexpr tnr_dtype kThreeBytes = 0x00030801;  // u8 x 3
constexpr tnr_dtype kFourFloats = 0x00042002;  // f32 x 4
constexpr tnr_dtype kFiveShorts = 0x00051000;  // i16 x 5
constexpr tnr_dtype kMoved[] = {TNR_DTYPE_U8,  TNR_DTYPE_F16,  TNR_DTYPE_F32,
                                TNR_DTYPE_C64, TNR_DTYPE_C128, kFloat8,
                                kThreeBytes,   kFourFloats,    kFiveShorts};

TEST(Copy, MovesElementsOfEveryWidthOnEveryLayout) {
  Random random(21);
  for (const tnr_dtype dtype : kMoved) {
    for (const Shape& shape : shapes()) {
      for (const Arrangement from : kReadable) {
        for (const Arrangement to : kWritable) {
          Array a(dtype, shape, from, random);
          Array out(dtype, shape, to, random);
          fill_with_bits(a, random);
          copy(kDefaultContext, a.view(), out.out());
          EXPECT_TRUE(out.gaps_are_intact());
          for_each_index(out.view(), [&](const Index& index) {
            const auto rank = out.view().rank;
            ASSERT_EQ(0, std::memcmp(out.broadcast_element(index, rank),
                                     a.broadcast_element(index, rank), element_size(dtype)))
                << describe(a.view()) << " to " << describe(out.view());
          });
        }
      }
    }
  }
}

TEST(Copy, Broadcasts) {
  std::vector<std::int16_t> memory = {1, 2, 3};
  const tnr_view row = view_of(memory.data(), 6, 0, TNR_DTYPE_I16, {{3, 1}});
  std::vector<std::int16_t> result(6, 9);
  copy(kDefaultContext, row, {view_of(result.data(), 12, 0, TNR_DTYPE_I16, {{2, 3}, {3, 1}})});
  EXPECT_EQ(result, (std::vector<std::int16_t>{1, 2, 3, 1, 2, 3}));
}

TEST(Copy, OfBoolGivesZeroOrOneAlsoInPlace) {
  Literal<std::uint8_t> a(TNR_DTYPE_BOOL8, {0, 1, 2, 255});
  Literal<std::uint8_t> out(TNR_DTYPE_BOOL8, {9, 9, 9, 9});
  const std::vector<std::uint8_t> expected = {0, 1, 1, 1};
  copy(kDefaultContext, a.view, out.out());
  EXPECT_EQ(out.values, expected);
  cast(kDefaultContext, a.view, out.out());
  EXPECT_EQ(out.values, expected);
  copy(kDefaultContext, a.view, a.out());
  EXPECT_EQ(a.values, expected);
}

TEST(Copy, InPlaceKeepsEveryByte) {
  Random random(22);
  Array a(TNR_DTYPE_F32, {5, 6}, Arrangement::kReversed, random);
  fill_with_bits(a, random);
  const std::vector<Byte> before = a.snapshot();
  copy(kDefaultContext, a.view(), a.out());
  cast(kDefaultContext, a.view(), a.out());
  EXPECT_EQ(a.snapshot(), before);
}

TEST(Copy, RefusesAnotherDtypeAndAnOverlap) {
  std::vector<float> memory = {1, 2, 3, 4};
  const tnr_view a = view_of(memory.data(), 16, 0, TNR_DTYPE_F32, {{3, 1}});
  const tnr_view_mut shifted{view_of(memory.data(), 16, 4, TNR_DTYPE_F32, {{3, 1}})};
  const tnr_view_mut reversed{view_of(memory.data(), 16, 8, TNR_DTYPE_F32, {{3, -1}})};
  const tnr_view_mut integers{view_of(memory.data(), 16, 0, TNR_DTYPE_I32, {{3, 1}})};
  expect_error(TNR_STATUS_ALIASED, {"a"}, [&] { copy(kDefaultContext, a, shifted); });
  expect_error(TNR_STATUS_ALIASED, {"a"}, [&] { copy(kDefaultContext, a, reversed); });
  expect_error(TNR_STATUS_ALIASED, {"a"}, [&] { cast(kDefaultContext, a, integers); });
  Literal<std::int32_t> out(TNR_DTYPE_I32, {9, 9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"a.dtype is f32", "out.dtype is i32"},
               [&] { copy(kDefaultContext, a, out.out()); });
  EXPECT_EQ(memory, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(out.values, (std::vector<std::int32_t>{9, 9, 9}));
}

TEST(Cast, MatchesItsTwinBetweenAllPairsOnEveryLayout) {
  Random random(23);
  for (const NamedType& from : kTypes) {
    for (const NamedType& to : kTypes) {
      for (const Shape& shape : {Shape{}, Shape{0}, Shape{33}, Shape{3, 2, 17}, Shape{400}}) {
        for (const Arrangement arrangement : kReadable) {
          Array a(from.dtype, shape, arrangement, random);
          Array out(to.dtype, shape, kWritable[random() % std::size(kWritable)], random);
          fill_with_bits(a, random);
          if (random() % 2 == 0) fill_with_numbers(a, from.type, random, Nans::kSome);
          cast(kDefaultContext, a.view(), out.out());
          EXPECT_TRUE(out.gaps_are_intact());
          for_each_index(out.view(), [&](const Index& index) {
            Byte expected[8];
            const auto rank = out.view().rank;
            reference::cast(from.type, a.broadcast_element(index, rank), to.type, expected);
            ASSERT_TRUE(is_same_element(to.type, out.broadcast_element(index, rank), expected))
                << describe(a.view()) << " to " << describe(out.view());
          });
        }
      }
    }
  }
}

TEST(Cast, FromFloatsSaturatesAndNanGivesZero) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Literal<double> a(TNR_DTYPE_F64, {-1.9, 1.9, 300, -300, infinity, -infinity, std::nan(""),
                                          9.3e18, -9.3e18, 1.9e19});
  Literal<std::int8_t> narrow(TNR_DTYPE_I8, std::vector<std::int8_t>(10, 9));
  cast(kDefaultContext, a.view, narrow.out());
  EXPECT_EQ(narrow.values,
            (std::vector<std::int8_t>{-1, 1, 127, -128, 127, -128, 0, 127, -128, 127}));
  Literal<std::uint64_t> wide(TNR_DTYPE_U64, std::vector<std::uint64_t>(10, 9));
  cast(kDefaultContext, a.view, wide.out());
  EXPECT_EQ(wide.values, (std::vector<std::uint64_t>{0, 1, 300, 0, UINT64_MAX, 0, 0,
                                                     9300000000000000000u, 0, UINT64_MAX}));
  Literal<std::int64_t> signed_wide(TNR_DTYPE_I64, std::vector<std::int64_t>(10, 9));
  cast(kDefaultContext, a.view, signed_wide.out());
  EXPECT_EQ(signed_wide.values, (std::vector<std::int64_t>{-1, 1, 300, -300, INT64_MAX, INT64_MIN,
                                                           0, INT64_MAX, INT64_MIN, INT64_MAX}));
}

TEST(Cast, BetweenIntegersKeepsTheLowBits) {
  const Literal<std::int32_t> a(TNR_DTYPE_I32, {-1, 256, 65535, -32769});
  Literal<std::uint8_t> bytes(TNR_DTYPE_U8, {9, 9, 9, 9});
  cast(kDefaultContext, a.view, bytes.out());
  EXPECT_EQ(bytes.values, (std::vector<std::uint8_t>{255, 0, 255, 255}));
  Literal<std::uint64_t> wide(TNR_DTYPE_U64, {9, 9, 9, 9});
  cast(kDefaultContext, a.view, wide.out());
  EXPECT_EQ(wide.values, (std::vector<std::uint64_t>{UINT64_MAX, 256, 65535, UINT64_MAX - 32768}));
}

TEST(Cast, ToBoolIsWhetherTheValueIsNotZero) {
  const Literal<float> a(TNR_DTYPE_F32, {0, -0.0f, 0.5f, std::nanf("")});
  Literal<std::uint8_t> out(TNR_DTYPE_BOOL8, {9, 9, 9, 9});
  cast(kDefaultContext, a.view, out.out());
  EXPECT_EQ(out.values, (std::vector<std::uint8_t>{0, 0, 1, 1}));
}

// Every f16 and bf16 there is, both ways.
TEST(Cast, WidensEveryHalfAndBringsItBack) {
  for (const NamedType& half : {kTypes[2], kTypes[3]}) {
    std::vector<std::uint16_t> every(65536);
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::uint16_t>(i);
    const Literal<std::uint16_t> a(half.dtype, every);
    Literal<float> wide(TNR_DTYPE_F32, std::vector<float>(every.size()));
    Literal<std::uint16_t> back(half.dtype, std::vector<std::uint16_t>(every.size()));
    cast(kDefaultContext, a.view, wide.out());
    cast(kDefaultContext, wide.view, back.out());
    for (std::size_t i = 0; i < every.size(); ++i) {
      Byte expected[4];
      const auto* const element = reinterpret_cast<const Byte*>(&every[i]);
      reference::cast(half.type, element, Type::kF32, expected);
      ASSERT_TRUE(
          is_same_element(Type::kF32, reinterpret_cast<const Byte*>(&wide.values[i]), expected))
          << i;
      ASSERT_TRUE(
          is_same_element(half.type, element, reinterpret_cast<const Byte*>(&back.values[i])))
          << i;
    }
  }
}

// Between every two neighbours among the halves: their middle, and the f64 numbers adjacent to it.
// Through f32 an adjacent number would be rounded to the middle first, and then to even.
TEST(Cast, RoundsToHalvesOnce) {
  for (const NamedType& half : {kTypes[2], kTypes[3]}) {
    std::vector<double> values;
    for (std::uint32_t bits = 0; bits < 0x8000; ++bits) {
      const std::uint16_t neighbours[] = {static_cast<std::uint16_t>(bits),
                                          static_cast<std::uint16_t>(bits + 1)};
      double low;
      double high;
      reference::cast(half.type, reinterpret_cast<const Byte*>(&neighbours[0]), Type::kF64,
                      reinterpret_cast<Byte*>(&low));
      reference::cast(half.type, reinterpret_cast<const Byte*>(&neighbours[1]), Type::kF64,
                      reinterpret_cast<Byte*>(&high));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = low + (high - low) / 2;
      for (const double value :
           {middle, std::nextafter(middle, low), std::nextafter(middle, high)}) {
        values.push_back(value);
        values.push_back(-value);
      }
    }
    const Literal<double> a(TNR_DTYPE_F64, values);
    Literal<std::uint16_t> out(half.dtype, std::vector<std::uint16_t>(values.size()));
    cast(kDefaultContext, a.view, out.out());
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint16_t expected;
      reference::cast(Type::kF64, reinterpret_cast<const Byte*>(&values[i]), half.type,
                      reinterpret_cast<Byte*>(&expected));
      ASSERT_EQ(out.values[i], expected) << values[i];
    }
  }
}

TEST(Cast, RoundsWideIntegersToHalvesOnce) {
  Random random(24);
  std::vector<std::int64_t> values = {INT64_MAX, INT64_MIN, 65519, 65520, -65519, -65520, 0};
  for (int i = 0; i < 20000; ++i) {
    // A middle between two bf16 or f16, far up, with a bit far below that decides.
    const auto shift = static_cast<int>(random() % 50);
    const std::int64_t middle = static_cast<std::int64_t>((random() % 4096) | 1) << shift;
    values.push_back(middle + static_cast<std::int64_t>(random() % 3) - 1);
    values.push_back(static_cast<std::int64_t>(random()));
  }
  const Literal<std::int64_t> a(TNR_DTYPE_I64, values);
  tnr_view as_unsigned = a.view;
  as_unsigned.dtype = TNR_DTYPE_U64;
  for (const NamedType& half : {kTypes[2], kTypes[3]}) {
    Literal<std::uint16_t> out(half.dtype, std::vector<std::uint16_t>(values.size()));
    for (const Type type : {Type::kI64, Type::kU64}) {
      cast(kDefaultContext, type == Type::kI64 ? a.view : as_unsigned, out.out());
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t expected;
        reference::cast(type, reinterpret_cast<const Byte*>(&values[i]), half.type,
                        reinterpret_cast<Byte*>(&expected));
        ASSERT_EQ(out.values[i], expected) << values[i];
      }
    }
  }
}

TEST(Cast, OfComplexIsToComplexOnly) {
  const Literal<float> parts(TNR_DTYPE_F32, {1.5f, -2.5f, 3, 4});
  tnr_view a = parts.view;
  a.dtype = TNR_DTYPE_C64;
  a.shape[0] = 2;
  std::vector<double> wide(4, 9);
  const tnr_view_mut out{view_of(wide.data(), 32, 0, TNR_DTYPE_C128, {{2, 1}})};
  cast(kDefaultContext, a, out);
  EXPECT_EQ(wide, (std::vector<double>{1.5, -2.5, 3, 4}));
  std::vector<float> back(4, 9);
  const tnr_view_mut narrow{view_of(back.data(), 16, 8, TNR_DTYPE_C64, {{2, -1}})};
  cast(kDefaultContext, out.view, narrow);
  EXPECT_EQ(back, (std::vector<float>{3, 4, 1.5f, -2.5f}));

  Literal<double> reals(TNR_DTYPE_F64, {9, 9});
  expect_error(TNR_STATUS_UNSUPPORTED, {"cast does not take c64 to f64"},
               [&] { cast(kDefaultContext, a, reals.out()); });
  EXPECT_EQ(reals.values, (std::vector<double>{9, 9}));
  tnr_view foreign = parts.view;
  foreign.dtype = kFourFloats;
  foreign.shape[0] = 1;
  expect_error(TNR_STATUS_UNSUPPORTED, {"cast does not take unknown to unknown"},
               [&] { cast(kDefaultContext, foreign, {foreign}); });
}

// The real part is what a cast to its dtype gives, rounded once; the other is 0.
TEST(Cast, OfRealToComplex) {
  Random random(27);
  for (const NamedType& from : kTypes) {
    for (const auto& [to, part] :
         {std::pair{TNR_DTYPE_C64, kTypes[1]}, std::pair{TNR_DTYPE_C128, kTypes[0]}}) {
      const std::size_t width = element_size(part.dtype);
      for (const Shape& shape : shapes()) {
        const Arrangement arrangement = kReadable[random() % std::size(kReadable)];
        Array a(from.dtype, shape, arrangement, random);
        fill_with_bits(a, random);
        Array out(to, shape, kWritable[random() % std::size(kWritable)], random);
        cast(kDefaultContext, a.view(), out.out());
        EXPECT_TRUE(out.gaps_are_intact());
        const std::vector<Byte*> given = a.elements();
        const std::vector<Byte*> made = out.elements();
        for (std::size_t i = 0; i < made.size(); ++i) {
          Byte expected[16] = {};
          reference::cast(from.type, given[i], part.type, expected);
          ASSERT_TRUE(is_same_element(part.type, made[i], expected)) << describe(out.view());
          ASSERT_EQ(std::memcmp(made[i] + width, expected + width, width), 0);
        }
      }
    }
  }
}

// Apart means from the whole of it, not from the part that is written.
TEST(Cast, OfOnePartOfTheOutputIsRefused) {
  float memory[4] = {1, 2, 3, 4};
  const tnr_view_mut out{view_of(memory, 16, 0, TNR_DTYPE_C64, {{2, 1}})};
  const tnr_view imaginary = view_of(memory, 16, 4, TNR_DTYPE_F32, {{2, 2}});
  expect_error(TNR_STATUS_ALIASED, {"a"}, [&] { cast(kDefaultContext, imaginary, out); });
  EXPECT_EQ(memory[2], 3);
}

TEST(Fill, SetsEveryElementAndNothingElse) {
  Random random(25);
  for (const NamedType& type : kTypes) {
    const std::int32_t one = 1;
    Byte expected[8];
    reference::cast(Type::kI32, reinterpret_cast<const Byte*>(&one), type.type, expected);
    for (const Shape& shape : shapes()) {
      for (const Arrangement arrangement : kWritable) {
        Array out(type.dtype, shape, arrangement, random);
        fill(kDefaultContext, scalar_of(TNR_DTYPE_I32, one), out.out());
        EXPECT_TRUE(out.gaps_are_intact());
        for (const Byte* const element : out.elements()) {
          ASSERT_TRUE(is_same_element(type.type, element, expected)) << describe(out.view());
        }
      }
    }
  }
}

TEST(Fill, TakesComplexAndRefusesForeignDtypes) {
  std::vector<double> memory(4, 9);
  fill(kDefaultContext, scalar_of(TNR_DTYPE_F32, 1.5f),
       {view_of(memory.data(), 32, 0, TNR_DTYPE_C128, {{2, 1}})});
  EXPECT_EQ(memory, (std::vector<double>{1.5, 0, 1.5, 0}));
  expect_error(TNR_STATUS_UNSUPPORTED, {"0x0001080a"}, [&] {
    fill(kDefaultContext, scalar_of(TNR_DTYPE_F32, 1.5f),
         {view_of(memory.data(), 32, 0, kFloat8, {{2, 1}})});
  });
  EXPECT_EQ(memory, (std::vector<double>{1.5, 0, 1.5, 0}));
}

TEST(Select, MatchesItsDefinitionOnEveryLayout) {
  Random random(26);
  for (const tnr_dtype dtype : kMoved) {
    for (const Shape& shape : shapes()) {
      for (const Arrangement arrangement : kReadable) {
        Array condition(TNR_DTYPE_BOOL8, shape, arrangement, random);
        Array a(dtype, shape, kReadable[random() % std::size(kReadable)], random);
        Array b(dtype, shape, kReadable[random() % std::size(kReadable)], random);
        Array out(dtype, shape, kWritable[random() % std::size(kWritable)], random);
        for (Byte* const element : condition.elements()) *element = random() % 2 == 0 ? 0 : 3;
        fill_with_bits(a, random);
        fill_with_bits(b, random);
        select(kDefaultContext, condition.view(), a.view(), b.view(), out.out());
        EXPECT_TRUE(out.gaps_are_intact());
        for_each_index(out.view(), [&](const Index& index) {
          const auto rank = out.view().rank;
          const Array& chosen = *condition.broadcast_element(index, rank) != 0 ? a : b;
          ASSERT_EQ(0, std::memcmp(out.broadcast_element(index, rank),
                                   chosen.broadcast_element(index, rank), element_size(dtype)))
              << describe(out.view());
        });
      }
    }
  }
}

TEST(Select, BroadcastsAndMayWriteOverAnyInput) {
  const Literal<std::uint8_t> condition(TNR_DTYPE_BOOL8, {1, 0, 5});
  const Literal<std::int32_t> one(TNR_DTYPE_I32, {7});
  Literal<std::int32_t> a(TNR_DTYPE_I32, {1, 2, 3});
  select(kDefaultContext, condition.view, one.view, a.view, a.out());
  EXPECT_EQ(a.values, (std::vector<std::int32_t>{7, 2, 7}));
  select(kDefaultContext, condition.view, a.view, one.view, a.out());
  EXPECT_EQ(a.values, (std::vector<std::int32_t>{7, 7, 7}));
  Literal<std::uint8_t> truth(TNR_DTYPE_BOOL8, {4, 0, 6});
  select(kDefaultContext, truth.view, truth.view, condition.view, truth.out());
  EXPECT_EQ(truth.values, (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(Select, RefusesWhatDoesNotFitAndLeavesTheOutputUntouched) {
  const Literal<std::uint8_t> condition(TNR_DTYPE_BOOL8, {1, 0});
  const Literal<std::uint8_t> bytes(TNR_DTYPE_U8, {1, 0});
  const Literal<float> a(TNR_DTYPE_F32, {1, 2});
  const Literal<double> b(TNR_DTYPE_F64, {1, 2});
  Literal<float> out(TNR_DTYPE_F32, {9, 9});
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"condition.dtype is u8", "must be bool8"},
               [&] { select(kDefaultContext, bytes.view, a.view, a.view, out.out()); });
  expect_error(TNR_STATUS_INVALID_ARGUMENT, {"b.dtype is f64", "out.dtype is f32"},
               [&] { select(kDefaultContext, condition.view, a.view, b.view, out.out()); });
  EXPECT_EQ(out.values, (std::vector<float>{9, 9}));
}

}  // namespace
}  // namespace tenure::test
