// e^x, under every instruction set that runs here: within one place of the exact value on a sample
// of f32 (functions_exhaustive.cpp takes all of them), on f64 where it is hardest, and at every border.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "arrays.hpp"
#include "cpu/dispatch.hpp"
#include "dense/loops/strip_runner.hpp"
#include "last_places.hpp"
#include "tenure/instruction_set.hpp"

namespace tenure::test {
namespace {

namespace reference = kernels::reference;

constexpr unsigned kExpRow = 3;
constexpr long double kLn2 = 0.693147180559945309417232121458176568L;

template <class T>
constexpr Type kTypeOf = sizeof(T) == 8   ? Type::kF64
                         : sizeof(T) == 4 ? Type::kF32
                                          : Type::kF16;

void run(const InstructionSet& set, Type type, const void* in, void* out, std::size_t count) {
  const auto step = static_cast<std::int64_t>(reference::element_bytes(type));
  const kernels::StripInput sources[] = {{static_cast<const Byte*>(in), step, step}};
  run_strip(Operation(kernels::unary_kernels.of(set)[kExpRow][static_cast<unsigned>(type)]),
            dense_strip(static_cast<std::int64_t>(count), static_cast<Byte*>(out), step, sources));
}

// e^x of each by each set, as sets differ within the bound of the function.
template <class T>
std::vector<std::vector<T>> exp_of(const std::vector<T>& in, Type type = kTypeOf<T>) {
  std::vector<std::vector<T>> results;
  for (const InstructionSet& set : instruction_sets()) {
    if (!set.is_supported()) continue;
    std::vector<T>& out = results.emplace_back(in.size());
    run(set, type, in.data(), out.data(), in.size());
  }
  return results;
}

template <class Wide, class T>
void expect_within_one_place(const std::vector<T>& in) {
  Wide worst = 0;
  T worst_at = 0;
  for (const std::vector<T>& out : exp_of(in)) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Wide places = last_places(out[i], std::exp(static_cast<Wide>(in[i])));
      if (!(places <= worst)) {
        worst = places;
        worst_at = in[i];
      }
    }
  }
  EXPECT_LE(worst, 1) << "at " << worst_at;
  testing::Test::RecordProperty("worst", std::to_string(worst));
}

// `count` numbers on either side of `middle`, each the next one of its type.
template <class T>
void add_around(std::vector<T>& numbers, T middle, int count) {
  T above = middle;
  T below = middle;
  numbers.push_back(middle);
  for (int i = 0; i < count; ++i) {
    numbers.push_back(above = std::nextafter(above, std::numeric_limits<T>::infinity()));
    numbers.push_back(below = std::nextafter(below, -std::numeric_limits<T>::infinity()));
  }
}

// Where the algorithm changes its mind or the format ends: around 0, around every odd half multiple
// of ln 2, where |r| is largest, and around the logarithms of the ends of the format.
template <class T>
std::vector<T> borders(int count) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> result;
  const int lowest = Limits::min_exponent - Limits::digits - 2;
  for (int n = lowest; n <= Limits::max_exponent; ++n) {
    add_around(result, static_cast<T>((static_cast<long double>(n) + 0.5L) * kLn2), count);
    add_around(result, static_cast<T>(static_cast<long double>(n) * kLn2), count);
  }
  for (int exponent = Limits::min_exponent - Limits::digits; exponent < 0; exponent += 7) {
    add_around(result, std::ldexp(T{1}, exponent), count);
    add_around(result, -std::ldexp(T{1}, exponent), count);
  }
  add_around(result, static_cast<T>(std::log(static_cast<long double>(Limits::max()))), count);
  add_around(result, static_cast<T>(std::log(static_cast<long double>(Limits::min()))), count);
  add_around(result, static_cast<T>(std::log(static_cast<long double>(Limits::denorm_min()))),
             count);
  return result;
}

TEST(Exp, OfEvery8191stF32IsWithinOnePlace) {
  std::vector<float> in;
  for (std::uint64_t bits = 0; bits <= 0xffffffffu; bits += 8191) {
    const auto low = static_cast<std::uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof value);
    in.push_back(value);
  }
  expect_within_one_place<double>(in);
}

TEST(Exp, AtTheBordersOfF32IsWithinOnePlace) {
  expect_within_one_place<double>(borders<float>(100));
}

TEST(Exp, AtTheBordersOfF64IsWithinOnePlace) {
  expect_within_one_place<long double>(borders<double>(12));
}

TEST(Exp, OfRandomF64IsWithinOnePlace) {
  Random random(1);
  std::vector<double> in;
  std::uniform_real_distribution<double> everywhere(-746, 710);
  std::uniform_real_distribution<double> one_period(-0.35, 0.35);
  std::uniform_real_distribution<double> subnormal(-745.2, -708.3);
  for (int i = 0; i < 20'000; ++i) {
    in.push_back(everywhere(random));
    in.push_back(one_period(random));
    in.push_back(subnormal(random));
    const std::uint64_t bits = random();
    double any;
    std::memcpy(&any, &bits, sizeof any);
    in.push_back(any);
  }
  expect_within_one_place<long double>(in);
}

template <class T>
void expect_special_values() {
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity();
  const T nan = Limits::quiet_NaN();
  const T tiny = Limits::denorm_min();
  const std::vector<T> in = {
      0,    -T{0}, tiny, -tiny, infinity, -infinity, nan, Limits::max(), Limits::lowest(),
      1000, -1000};
  const std::vector<T> expected = {1, 1, 1, 1, infinity, 0, nan, infinity, 0, infinity, 0};
  for (const std::vector<T>& out : exp_of(in)) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (std::isnan(expected[i])) {
        EXPECT_TRUE(std::isnan(out[i]));
      } else {
        EXPECT_EQ(out[i], expected[i]) << in[i];
        EXPECT_FALSE(std::signbit(out[i])) << in[i];
      }
    }
  }
}

TEST(Exp, OfSpecialValuesIsExact) {
  expect_special_values<float>();
  expect_special_values<double>();
}

// Every payload that has a bit set, of either sign, in the quiet and the signalling half.
TEST(Exp, OfEveryKindOfNaNIsNaN) {
  std::vector<float> in;
  for (unsigned place = 0; place < 23; ++place) {
    for (const std::uint32_t rest : {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u}) {
      const std::uint32_t bits = rest | 1u << place;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      in.push_back(value);
    }
  }
  for (const std::vector<float>& out : exp_of(in)) {
    for (const float result : out) EXPECT_TRUE(std::isnan(result));
  }
}

// The last finite result, the last normal one, and the last that is not 0; f64 as published.
TEST(Exp, EndsWhereTheFormatEnds) {
  for (const std::vector<float>& narrow :
       exp_of<float>({0x1.62e42ep+6f, 0x1.62e430p+6f, -0x1.9fe368p+6f, -0x1.9fe36ap+6f})) {
    EXPECT_LT(narrow[0], std::numeric_limits<float>::infinity());
    EXPECT_EQ(narrow[1], std::numeric_limits<float>::infinity());
    EXPECT_EQ(narrow[2], std::numeric_limits<float>::denorm_min());
    EXPECT_EQ(narrow[3], 0);
  }
  for (const std::vector<double>& wide :
       exp_of<double>({0x1.62e42fefa39efp+9, 0x1.62e42fefa39f0p+9, -0x1.74910d52d3051p+9,
                       -0x1.74910d52d3053p+9})) {
    EXPECT_LT(wide[0], std::numeric_limits<double>::infinity());
    EXPECT_EQ(wide[1], std::numeric_limits<double>::infinity());
    EXPECT_EQ(wide[2], std::numeric_limits<double>::denorm_min());
    EXPECT_EQ(wide[3], 0);
  }
}

// Through f32, rounded from there: for every number of the two formats.
TEST(Exp, OfEvery16BitFloatIsThatOfF32Rounded) {
  for (const Type type : {Type::kF16, Type::kBF16}) {
    std::vector<std::uint16_t> in(1u << 16);
    std::vector<float> wide(in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<std::uint16_t>(i);
      reference::cast(type, reinterpret_cast<const Byte*>(&in[i]), Type::kF32,
                      reinterpret_cast<Byte*>(&wide[i]));
    }
    const auto of_sets = exp_of(in, type);
    const auto wide_of_sets = exp_of(wide);
    for (std::size_t set = 0; set < of_sets.size(); ++set) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        std::uint16_t expected = 0;
        reference::cast(Type::kF32, reinterpret_cast<const Byte*>(&wide_of_sets[set][i]), type,
                        reinterpret_cast<Byte*>(&expected));
        ASSERT_TRUE(is_same_element(type, reinterpret_cast<const Byte*>(&of_sets[set][i]),
                                    reinterpret_cast<const Byte*>(&expected)))
            << "bits " << i;
      }
    }
  }
}

}  // namespace
}  // namespace tenure::test
