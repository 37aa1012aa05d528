// Random numbers have the moments, the frequencies and the independence of their distributions. The
// seeds are fixed: a sum of squares is at most what chance exceeds once in a million times.
#include <gtest/gtest.h>

#include "arrays.hpp"
#include "tenure/ops.hpp"
#include "tenure/random.hpp"

namespace tenure::test {
namespace {

constexpr std::size_t kCount = 4'000'000;
constexpr double kMostDeviations = 4.9;  // of a normal number, once in a million times

template <class T>
std::vector<T> drawn(tnr_random_distribution distribution, tnr_dtype dtype, std::uint64_t seed,
                     std::uint64_t offset = 0, const tnr_random_attributes& attributes = {}) {
  Literal<T> out(dtype, std::vector<T>(kCount));
  tenure::random(kDefaultContext, distribution, seed, offset, attributes, out.out());
  return out.values;
}

// How many deviations the sum of squares over equally likely bins is above its mean.
double excess(const std::vector<std::int64_t>& counts) {
  std::int64_t all = 0;
  for (const std::int64_t count : counts) all += count;
  const double expected = static_cast<double>(all) / static_cast<double>(counts.size());
  double sum = 0;
  for (const std::int64_t count : counts) {
    const double beyond = static_cast<double>(count) - expected;
    sum += beyond * beyond / expected;
  }
  const double freedom = static_cast<double>(counts.size() - 1);
  return (sum - freedom) / std::sqrt(2 * freedom);
}

template <class T>
double correlation(const std::vector<T>& a, const std::vector<T>& b, std::size_t lag, double mean,
                   double variance) {
  double sum = 0;
  const std::size_t count = a.size() - lag;
  for (std::size_t i = 0; i < count; ++i) {
    sum += (static_cast<double>(a[i]) - mean) * (static_cast<double>(b[i + lag]) - mean);
  }
  return sum / variance / std::sqrt(static_cast<double>(count));  // in deviations
}

template <class T>
void expect_uniform(tnr_dtype dtype) {
  const auto numbers = drawn<T>(TNR_RANDOM_DISTRIBUTION_UNIFORM, dtype, 2026);
  constexpr std::size_t kBins = 1000;
  std::vector<std::int64_t> bins(kBins);
  std::vector<std::int64_t> pairs(kBins);
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto x = static_cast<double>(numbers[i]);
    ++bins[static_cast<std::size_t>(x * kBins)];
    if (i % 2 != 0) {
      const auto before = static_cast<double>(numbers[i - 1]);
      ++pairs[static_cast<std::size_t>(before * 25) * 40 + static_cast<std::size_t>(x * 40)];
    }
    sum += x - 0.5;
    squares += (x - 0.5) * (x - 0.5) - 1.0 / 12;
  }
  const double root = std::sqrt(static_cast<double>(kCount));
  EXPECT_LE(std::fabs(sum), kMostDeviations * std::sqrt(1.0 / 12) * root);
  EXPECT_LE(std::fabs(squares), kMostDeviations * std::sqrt(1.0 / 180) * root);
  EXPECT_LE(std::fabs(excess(bins)), kMostDeviations);
  EXPECT_LE(std::fabs(excess(pairs)), kMostDeviations);
  for (const std::size_t lag : {1u, 2u, 3u, 4u, 8u, 16u, 31u, 64u}) {
    EXPECT_LE(std::fabs(correlation(numbers, numbers, lag, 0.5, 1.0 / 12)), kMostDeviations) << lag;
  }
  // Another seed, near to the first; and the numbers behind.
  for (const auto& other : {drawn<T>(TNR_RANDOM_DISTRIBUTION_UNIFORM, dtype, 2027),
                            drawn<T>(TNR_RANDOM_DISTRIBUTION_UNIFORM, dtype, 2026, kCount)}) {
    EXPECT_LE(std::fabs(correlation(numbers, other, 0, 0.5, 1.0 / 12)), kMostDeviations);
  }
}

TEST(RandomStatistics, OfUniforms) {
  expect_uniform<float>(TNR_DTYPE_F32);
  expect_uniform<double>(TNR_DTYPE_F64);
}

template <class T>
void expect_normal(tnr_dtype dtype) {
  const auto numbers = drawn<T>(TNR_RANDOM_DISTRIBUTION_NORMAL, dtype, 77);
  constexpr std::size_t kBins = 500;
  std::vector<std::int64_t> bins(kBins);
  std::vector<std::int64_t> angles(64);
  double moments[5] = {};
  std::int64_t beyond_4 = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto x = static_cast<double>(numbers[i]);
    const double below = std::erfc(-x / std::sqrt(2.0)) / 2;
    ++bins[std::min(kBins - 1, static_cast<std::size_t>(below * kBins))];
    double power = 1;
    for (int n = 1; n <= 4; ++n) moments[n] += power *= x;
    beyond_4 += std::fabs(x) > 4 ? 1 : 0;
    if (i % 2 != 0) {
      const double turn = std::atan2(x, static_cast<double>(numbers[i - 1])) / 6.283185307179586;
      ++angles[static_cast<std::size_t>((turn + 1) * 64) % 64];
    }
  }
  const auto n = static_cast<double>(kCount);
  EXPECT_LE(std::fabs(moments[1]), kMostDeviations * std::sqrt(n));
  EXPECT_LE(std::fabs(moments[2] - n), kMostDeviations * std::sqrt(2 * n));
  EXPECT_LE(std::fabs(moments[3]), kMostDeviations * std::sqrt(15 * n));
  EXPECT_LE(std::fabs(moments[4] - 3 * n), kMostDeviations * std::sqrt(96 * n));
  const double expected = n * std::erfc(4 / std::sqrt(2.0));
  EXPECT_LE(std::fabs(static_cast<double>(beyond_4) - expected),
            kMostDeviations * std::sqrt(expected));
  EXPECT_LE(std::fabs(excess(bins)), kMostDeviations);
  EXPECT_LE(std::fabs(excess(angles)), kMostDeviations);
  for (const std::size_t lag : {1u, 2u, 3u, 4u, 8u, 16u}) {
    EXPECT_LE(std::fabs(correlation(numbers, numbers, lag, 0, 1)), kMostDeviations) << lag;
  }
}

TEST(RandomStatistics, OfNormals) {
  expect_normal<float>(TNR_DTYPE_F32);
  expect_normal<double>(TNR_DTYPE_F64);
}

TEST(RandomStatistics, OfIntegersAndTruths) {
  tnr_random_attributes attributes = {};
  attributes.least = -6;
  attributes.bound = 7;
  std::vector<std::int64_t> counts(13);
  for (const std::int8_t x :
       drawn<std::int8_t>(TNR_RANDOM_DISTRIBUTION_INTEGERS, TNR_DTYPE_I8, 5, 0, attributes)) {
    ASSERT_TRUE(x >= -6 && x < 7);
    ++counts[static_cast<std::size_t>(x + 6)];
  }
  EXPECT_LE(std::fabs(excess(counts)), kMostDeviations);
  attributes = {};
  attributes.probability = 0.2;
  double sum = 0;
  for (const std::uint8_t x :
       drawn<std::uint8_t>(TNR_RANDOM_DISTRIBUTION_BERNOULLI, TNR_DTYPE_BOOL8, 5, 0, attributes)) {
    sum += x - 0.2;
  }
  EXPECT_LE(std::fabs(sum), kMostDeviations * std::sqrt(0.16 * static_cast<double>(kCount)));
}

}  // namespace
}  // namespace tenure::test
