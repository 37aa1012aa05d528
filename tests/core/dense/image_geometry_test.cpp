// Where the first window without an element is, against a walk over all of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <random>

#include "dense/image/geometry.hpp"

namespace tenure {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

WindowGeometry along(unsigned axis, std::int64_t in, std::int64_t kernel, std::int64_t stride,
                     std::int64_t dilation, std::int64_t before, std::int64_t count) {
  WindowGeometry g = {};
  g.in[axis] = in;
  g.kernel[axis] = kernel;
  g.strides[axis] = stride;
  g.dilations[axis] = dilation;
  g.padding[axis] = before;
  g.out[axis] = count;
  return g;
}

std::optional<std::int64_t> walked(const WindowGeometry& g, unsigned axis) {
  for (std::int64_t i = 0; i < g.out[axis]; ++i) {
    bool has = false;
    for (std::int64_t k = 0; k < g.kernel[axis] && !has; ++k) {
      const std::int64_t at = i * g.strides[axis] + k * g.dilations[axis] - g.padding[axis];
      has = at >= 0 && at < g.in[axis];
    }
    if (!has) return i;
  }
  return std::nullopt;
}

TEST(FirstEmptyWindow, IsTheOneThatAWalkFinds) {
  std::mt19937 random(1);
  int found = 0;
  int around = 0;
  int none = 0;
  for (int round = 0; round < 300'000; ++round) {
    const auto below = [&](int bound) { return static_cast<std::int64_t>(random()) % bound; };
    const int size = round % 3 == 0 ? 8 : round % 3 == 1 ? 40 : 300;
    const unsigned axis = random() % 2;
    const WindowGeometry g = along(axis, below(size / 3), 1 + below(6), 1 + below(size),
                                   1 + below(size), below(2 * size), below(size));
    const std::optional<std::int64_t> due = walked(g, axis);
    ASSERT_EQ(first_empty_window(g, WindowSpacing::kByStrides, axis), due)
        << "image " << g.in[axis] << ", kernel " << g.kernel[axis] << ", stride " << g.strides[axis]
        << ", dilation " << g.dilations[axis] << ", padding " << g.padding[axis] << ", windows "
        << g.out[axis];
    ++(due ? found : none);
    if (due && *due > 0 && *due * g.strides[axis] < g.padding[axis]) ++around;
  }
  EXPECT_GT(found, 10'000);
  EXPECT_GT(around, 1'000);
  EXPECT_GT(none, 10'000);
}

TEST(FirstEmptyWindow, IsNoneOfWindowsThatCoverImagesEvenly) {
  for (std::int64_t in = 0; in < 12; ++in) {
    for (std::int64_t count = 0; count < 30; ++count) {
      const WindowGeometry g = along(kWidth, in, 1, 1, 1, 0, count);
      const auto found = first_empty_window(g, WindowSpacing::kAdaptive, kWidth);
      EXPECT_EQ(found.has_value(), in == 0 && count > 0) << in << " into " << count;
      EXPECT_EQ(found.value_or(0), 0);
    }
  }
}

// Nobody could walk there. The first is known from how the extents were chosen.
TEST(FirstEmptyWindow, IsFoundAmongAnyNumberOfWindows) {
  const auto first = [](const WindowGeometry& g) {
    return first_empty_window(g, WindowSpacing::kByStrides, kHeight);
  };
  EXPECT_EQ(first(along(kHeight, kMost, 1, 1, 1, 0, kMost)), std::nullopt);
  EXPECT_EQ(first(along(kHeight, kMost - 1, 1, 1, 1, 0, kMost)), kMost - 1);
  EXPECT_EQ(first(along(kHeight, 5, 1, 1, 1, kMost - 5, kMost)), 0);
  EXPECT_EQ(first(along(kHeight, 1, kMost / 4, 1, 1, kMost / 4 - 1, kMost / 4)), std::nullopt);
  EXPECT_EQ(first(along(kHeight, 1, kMost / 4, 1, 1, kMost / 4 - 1, kMost / 2)), kMost / 4);
  // Places two apart, and an image of one element: every second window steps over it.
  constexpr std::int64_t kEven = std::int64_t{1} << 60;
  EXPECT_EQ(first(along(kHeight, 1, kEven / 2, 2, 2, kEven - 2, kEven / 2)), std::nullopt);
  EXPECT_EQ(first(along(kHeight, 1, kEven / 2, 1, 2, kEven - 2, kEven)), 1);
  // Places a prime apart, and an image that just fits between two: one rest of the prime steps over
  // it.
  constexpr std::int64_t kPrime = 2'305'843'009'213'693'951;  // 2^61 - 1
  EXPECT_EQ(first(along(kHeight, kPrime - 1, 2, 1, kPrime, kPrime, kPrime)), kPrime - 1);
  EXPECT_EQ(first(along(kHeight, kPrime - 1, 2, kPrime - 1, kPrime, kPrime, 2)), 1);
  EXPECT_EQ(first(along(kHeight, kPrime - 5, 3, 1, kPrime, 2 * kPrime, 5)), std::nullopt);
  EXPECT_EQ(first(along(kHeight, kPrime - 1, 4, 2, kPrime, 3 * kPrime, kPrime)), (kPrime - 1) / 2);
  // kInverse times kStep is -1 modulo the prime kSmaller.
  constexpr std::int64_t kSmaller = 2'147'483'647;  // 2^31 - 1
  constexpr std::int64_t kStep = 1'000'003;
  constexpr std::int64_t kInverse = 623693952;
  static_assert((kInverse * kStep + 1) % kSmaller == 0);
  constexpr std::int64_t kRounds = kInverse * kStep / kSmaller + 2;
  const auto windows = [&](std::int64_t count) {
    return along(kHeight, kSmaller - 1, kRounds + 1, kStep, kSmaller, kRounds * kSmaller, count);
  };
  EXPECT_EQ(first(windows(kInverse + 1)), kInverse);
  EXPECT_EQ(first(windows(kInverse)), std::nullopt);
}

TEST(Inverse, TimesTheValueIsOne) {
  for (std::int64_t by = 1; by < 60; ++by) {
    for (std::int64_t value = 1; value < 100; ++value) {
      if (std::gcd(value, by) != 1) continue;
      const std::int64_t inverse = inverse_of(value, by);
      EXPECT_TRUE(inverse >= 0 && inverse < by) << inverse << " modulo " << by;
      EXPECT_EQ(value * inverse % by, 1 % by) << value << " modulo " << by;
    }
  }
  __extension__ using Wide = __int128;
  constexpr std::int64_t kPrime = 2'305'843'009'213'693'951;  // 2^61 - 1
  const std::int64_t value = kMost / 3;
  const Wide product = Wide{value} * inverse_of(value, kPrime);
  EXPECT_EQ(static_cast<std::int64_t>(product % kPrime), 1);
}

}  // namespace
}  // namespace tenure
