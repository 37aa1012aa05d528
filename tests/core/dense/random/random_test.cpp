// Random numbers follow their definition, wherever the elements are in memory and whichever thread
// computes them.
#include "tenure/random.hpp"

#include <gtest/gtest.h>

#include "arrays.hpp"
#include "expect_error.hpp"
#include "random_model.hpp"
#include "tenure/ops.hpp"
#include "test_context.hpp"

namespace tenure::test {
namespace {

// J. K. Salmon and M. A. Moraes, Random123: tests/kat_vectors.
TEST(Philox, HasTheWordsOfItsAuthors) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}),
            (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(
      philox_block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
      (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

struct Given {
  tnr_random_distribution distribution;
  tnr_random_attributes attributes = {};
};

Given uniform(double low, double high) {
  Given given = {TNR_RANDOM_DISTRIBUTION_UNIFORM};
  given.attributes.low = low;
  given.attributes.high = high;
  return given;
}
Given normal(double mean, double deviation) {
  Given given = {TNR_RANDOM_DISTRIBUTION_NORMAL};
  given.attributes.mean = mean;
  given.attributes.deviation = deviation;
  return given;
}
Given integers(std::int64_t least, std::int64_t bound) {
  Given given = {TNR_RANDOM_DISTRIBUTION_INTEGERS};
  given.attributes.least = least;
  given.attributes.bound = bound;
  return given;
}
Given bernoulli(double probability) {
  Given given = {TNR_RANDOM_DISTRIBUTION_BERNOULLI};
  given.attributes.probability = probability;
  return given;
}

// The element of a place.
using Model = std::function<void(std::uint64_t seed, std::uint64_t place, Byte* out)>;

template <class T>
Model model_of(const std::function<T(std::uint64_t, std::uint64_t)>& number) {
  return [=](std::uint64_t seed, std::uint64_t place, Byte* out) {
    const T value = number(seed, place);
    std::memcpy(out, &value, sizeof value);
  };
}

Model narrowed(Type type, const std::function<float(std::uint64_t, std::uint64_t)>& number) {
  return [=](std::uint64_t seed, std::uint64_t place, Byte* out) {
    const float value = number(seed, place);
    kernels::reference::cast(Type::kF32, reinterpret_cast<const Byte*>(&value), type, out);
  };
}

void expect_model(const Given& given, tnr_dtype dtype, const Model& model) {
  Random random(7);
  const std::size_t width = element_size(dtype);
  for (const Shape& shape : shapes()) {
    for (const Arrangement arrangement : kWritable) {
      Array out(dtype, shape, arrangement, random);
      const std::uint64_t seed = random();
      std::uint64_t place = random() >> random() % 64;
      if (place > UINT64_MAX - 1000) place = UINT64_MAX - 1000;
      tenure::random(kDefaultContext, given.distribution, seed, place, given.attributes, out.out());
      for (const Byte* const element : out.elements()) {
        Byte expected[8];
        model(seed, place++, expected);
        ASSERT_EQ(std::memcmp(element, expected, width), 0)
            << describe(out.view()) << " at place " << place - 1;
      }
      ASSERT_TRUE(out.gaps_are_intact()) << describe(out.view());
    }
  }
}

TEST(Random, UniformsAreThoseOfTheDefinition) {
  expect_model(uniform(0, 0), TNR_DTYPE_F32, model_of<float>([](auto seed, auto place) {
                 return static_cast<float>(word_of_place(seed, place) >> 8) * 0x1p-24f;
               }));
  expect_model(uniform(-3, 4.5), TNR_DTYPE_F32, model_of<float>([](auto seed, auto place) {
                 const float part = static_cast<float>(word_of_place(seed, place) >> 8) * 0x1p-24f;
                 const float scaled = part * 7.5f;
                 return std::min(scaled + -3.0f, std::nextafter(4.5f, 0.0f));
               }));
  expect_model(uniform(0, 1), TNR_DTYPE_F64, model_of<double>([](auto seed, auto place) {
                 return static_cast<double>(wide_word_of_place(seed, place) >> 11) * 0x1p-53;
               }));
  expect_model(uniform(0, 1), TNR_DTYPE_F16, narrowed(Type::kF16, [](auto seed, auto place) {
                 return static_cast<float>(word_of_place(seed, place) >> 21) * 0x1p-11f;
               }));
  expect_model(uniform(-1, 1), TNR_DTYPE_BF16, narrowed(Type::kBF16, [](auto seed, auto place) {
                 return static_cast<float>(word_of_place(seed, place) >> 24) * 0x1p-7f - 1;
               }));
}

TEST(Random, IntegersAreThoseOfTheDefinition) {
  const auto of = [](std::int64_t least, std::uint64_t count) {
    return [=](std::uint64_t seed, std::uint64_t place) {
      __extension__ using Wide = unsigned __int128;
      const Wide product = static_cast<Wide>(wide_word_of_place(seed, place)) * count;
      return static_cast<std::uint64_t>(least) + static_cast<std::uint64_t>(product >> 64);
    };
  };
  expect_model(integers(-5, 6), TNR_DTYPE_I32, model_of<std::int32_t>(of(-5, 11)));
  expect_model(integers(0, 256), TNR_DTYPE_U8, model_of<std::uint8_t>(of(0, 256)));
  expect_model(integers(0, 0), TNR_DTYPE_I8, model_of<std::int8_t>(of(-128, 256)));
  expect_model(integers(0, 0), TNR_DTYPE_U32, model_of<std::uint32_t>(of(0, 1ull << 32)));
  expect_model(integers(7, 65536), TNR_DTYPE_U16, model_of<std::uint16_t>(of(7, 65529)));
  expect_model(integers(-32768, -32767), TNR_DTYPE_I16, model_of<std::int16_t>(of(-32768, 1)));
  expect_model(integers(INT64_MIN, INT64_MAX), TNR_DTYPE_I64,
               model_of<std::int64_t>(of(INT64_MIN, UINT64_MAX)));
  expect_model(integers(3, 1ll << 61), TNR_DTYPE_U64,
               model_of<std::uint64_t>(of(3, (1ull << 61) - 3)));
  expect_model(integers(0, 0), TNR_DTYPE_U64, model_of<std::uint64_t>(wide_word_of_place));
}

TEST(Random, TruthsAreThoseOfTheDefinition) {
  for (const double probability : {0.0, 0x1p-32, 0.3, 1 - 0x1p-32, 1.0}) {
    expect_model(bernoulli(probability), TNR_DTYPE_BOOL8,
                 model_of<std::uint8_t>([=](auto seed, auto place) -> std::uint8_t {
                   return word_of_place(seed, place) < std::nearbyint(probability * 0x1p32);
                 }));
  }
}

template <class T>
std::vector<T> numbers_of(const Context& context, const Given& given, tnr_dtype dtype,
                          std::size_t count, std::uint64_t seed, std::uint64_t place) {
  Literal<T> out(dtype, std::vector<T>(count));
  tenure::random(context, given.distribution, seed, place, given.attributes, out.out());
  return out.values;
}

// Some numbers that one word of bits makes are far below the others, and all have the bound.
TEST(Random, NormalsAreWithinTheirBound) {
  constexpr std::size_t kCount = 200'000;
  constexpr std::uint64_t kFirst = (std::uint64_t{1} << 34) + 1;
  const auto floats =
      numbers_of<float>(kDefaultContext, normal(0, 0), TNR_DTYPE_F32, kCount, 3, kFirst);
  const auto doubles =
      numbers_of<double>(kDefaultContext, normal(0, 1), TNR_DTYPE_F64, kCount, 3, kFirst);
  const auto places = [](long double exact, long double found, int bits) {
    return std::fabs(found - exact) / std::ldexp(1.0L, std::ilogb(exact) + 1 - bits);
  };
  for (std::size_t i = 0; i < kCount; ++i) {
    ASSERT_LE(places(normal_of_place(3, kFirst + i), floats[i], 24), 5) << i;
    ASSERT_LE(places(wide_normal_of_place(3, kFirst + i), doubles[i], 53), 5) << i;
  }
}

TEST(Random, NormalsAreScaledWithTwoRoundings) {
  const auto plain = numbers_of<float>(kDefaultContext, normal(0, 1), TNR_DTYPE_F32, 1000, 9, 2);
  const auto scaled = numbers_of<float>(kDefaultContext, normal(3, 0.1), TNR_DTYPE_F32, 1000, 9, 2);
  const auto narrow =
      numbers_of<std::uint16_t>(kDefaultContext, normal(3, 0.1), TNR_DTYPE_F16, 1000, 9, 2);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const float product = plain[i] * 0.1f;
    ASSERT_EQ(scaled[i], product + 3.0f) << i;
    std::uint16_t expected = 0;
    kernels::reference::cast(Type::kF32, reinterpret_cast<const Byte*>(&scaled[i]), Type::kF16,
                             reinterpret_cast<Byte*>(&expected));
    ASSERT_EQ(narrow[i], expected) << i;
  }
}

// Outputs that are large enough to be streamed, with a first element that is not at the start of a
// line.
TEST(Random, OfManyAreTheSameForAnyThreads) {
  constexpr std::size_t kCount = (std::size_t{25} << 20) / 4;
  for (const Given& given : {uniform(0, 1), normal(0, 1)}) {
    const auto alone = numbers_of<float>(kDefaultContext, given, TNR_DTYPE_F32, kCount, 11, 5);
    for (const std::uint32_t threads : {1u, 2u, 3u}) {
      EXPECT_TRUE(alone ==
                  numbers_of<float>(TestContext(threads), given, TNR_DTYPE_F32, kCount, 11, 5));
    }
    // Any part of it by itself.
    Random random(1);
    for (int part = 0; part < 100; ++part) {
      const std::size_t first = random() % (kCount - 3000);
      const auto some =
          numbers_of<float>(kDefaultContext, given, TNR_DTYPE_F32, random() % 3000, 11, 5 + first);
      ASSERT_TRUE(
          std::equal(some.begin(), some.end(), alone.begin() + static_cast<std::ptrdiff_t>(first)));
    }
  }
  std::vector<std::uint16_t> halves(kCount * 2 + 1);
  const auto expected =
      numbers_of<std::uint16_t>(kDefaultContext, uniform(0, 1), TNR_DTYPE_F16, 1000, 2, 4);
  const tnr_view_mut out = {view_of(halves.data(), halves.size() * 2, 2, TNR_DTYPE_F16,
                                    {{static_cast<std::int64_t>(kCount * 2), 1}})};
  tenure::random(kDefaultContext, TNR_RANDOM_DISTRIBUTION_UNIFORM, 2, 4, {}, out);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), halves.begin() + 1));
}

// Every place has the largest random bits now and then: rounded they may not reach the bound.
TEST(Random, UniformsNeverReachTheirBound) {
  for (const auto& [low, high] : {std::pair{1.0, 1.0 + 0x1p-22},
                                  {-1e30, 1.0},
                                  {0.0, 0x1p-149},
                                  {-0x1p-100, 0.0},
                                  {1000.0, 1001.0}}) {
    for (const float number :
         numbers_of<float>(kDefaultContext, uniform(low, high), TNR_DTYPE_F32, 100'000, 1, 0)) {
      ASSERT_LT(number, high);
      ASSERT_GE(number, low);
    }
  }
}

TEST(Random, RefusesAttributesOutsideTheirBounds) {
  const auto refused = [](const Given& given, tnr_dtype dtype, tnr_status status,
                          std::initializer_list<std::string> words) {
    Literal<double> out(dtype, std::vector<double>(4, 7.0));
    out.view.size_bytes = 4 * element_size(dtype);
    expect_error(status, words, [&] {
      tenure::random(kDefaultContext, given.distribution, 1, 0, given.attributes, out.out());
    });
    EXPECT_EQ(out.values, std::vector<double>(4, 7.0));
  };
  constexpr tnr_status kInvalid = TNR_STATUS_INVALID_ARGUMENT;
  const double nan = std::nan("");
  refused(uniform(nan, 1), TNR_DTYPE_F32, kInvalid, {"attributes->low is nan"});
  refused(uniform(0, HUGE_VAL), TNR_DTYPE_F32, kInvalid, {"attributes->high is inf"});
  refused(uniform(0, 1e39), TNR_DTYPE_F32, kInvalid, {"attributes->high is 1e+39"});
  refused(uniform(2, 2), TNR_DTYPE_F64, kInvalid, {"attributes->high is 2 but must be above low"});
  refused(uniform(1, 1 + 1e-9), TNR_DTYPE_F32, kInvalid, {"must be above low"});
  refused(uniform(-3e38, 3e38), TNR_DTYPE_F32, kInvalid, {"its distance from low must be finite"});
  refused(uniform(0, 1), TNR_DTYPE_I32, TNR_STATUS_UNSUPPORTED, {"uniform does not take i32"});
  refused(normal(0, -1), TNR_DTYPE_F32, kInvalid, {"attributes->deviation is -1"});
  refused(normal(nan, 1), TNR_DTYPE_F32, kInvalid, {"attributes->mean is nan"});
  refused(normal(0, 1), TNR_DTYPE_BOOL8, TNR_STATUS_UNSUPPORTED, {"normal does not take bool8"});
  refused(integers(3, 3), TNR_DTYPE_I32, kInvalid, {"least is 3 and bound is 3"});
  refused(integers(-1, 3), TNR_DTYPE_U64, kInvalid, {"least is -1"});
  refused(integers(0, 129), TNR_DTYPE_I8, kInvalid, {"bound is 129", "<= 128"});
  refused(integers(0, 1), TNR_DTYPE_F32, TNR_STATUS_UNSUPPORTED, {"integers does not take f32"});
  refused(bernoulli(1.5), TNR_DTYPE_BOOL8, kInvalid, {"attributes->probability is 1.5"});
  refused(bernoulli(nan), TNR_DTYPE_BOOL8, kInvalid, {"attributes->probability is nan"});
  refused(bernoulli(0.5), TNR_DTYPE_U8, TNR_STATUS_UNSUPPORTED, {"bernoulli does not take u8"});
  refused({9}, TNR_DTYPE_F32, kInvalid, {"distribution is 9"});
  Literal<float> out(TNR_DTYPE_F32, {1, 2, 3});
  expect_error(kInvalid, {"offset is 18446744073709551614", "3 numbers"}, [&] {
    tenure::random(kDefaultContext, TNR_RANDOM_DISTRIBUTION_UNIFORM, 1, UINT64_MAX - 1, {},
                   out.out());
  });
  tenure::random(kDefaultContext, TNR_RANDOM_DISTRIBUTION_UNIFORM, 1, UINT64_MAX - 2, {},
                 out.out());
}

}  // namespace
}  // namespace tenure::test
