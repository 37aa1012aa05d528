// Places in a block, against a plan that looks at all of them for each.
#include "program/memory_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "memory/traffic.hpp"
#include "tenure/tenure.h"

namespace tenure::test {
namespace {

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

// The lowest free place of each, in the order of `order`.
std::int64_t block_bytes(const std::vector<Lifetime>& lifetimes,
                         const std::vector<std::size_t>& order) {
  std::vector<std::int64_t> offsets(lifetimes.size());
  std::int64_t most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Lifetime& own = lifetimes[order[i]];
    const std::int64_t size = whole_lines(own.size_bytes);
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (std::size_t j = 0; j < i; ++j) {
      const Lifetime& other = lifetimes[order[j]];
      if (meet(own, other)) taken.emplace_back(offsets[order[j]], whole_lines(other.size_bytes));
    }
    std::ranges::sort(taken);
    std::int64_t& offset = offsets[order[i]];
    for (const auto& [begin, bytes] : taken) {
      if (begin - offset >= size) break;
      offset = std::max(offset, begin + bytes);
    }
    most = std::max(most, offset + size);
  }
  return most;
}

void expect_apart(const std::vector<Lifetime>& lifetimes, const MemoryPlan& plan) {
  for (std::size_t i = 0; i < lifetimes.size(); ++i) {
    const std::int64_t end = plan.offsets[i] + lifetimes[i].size_bytes;
    ASSERT_LE(end, plan.block_bytes);
    for (std::size_t j = 0; j < i; ++j) {
      if (!meet(lifetimes[i], lifetimes[j]) || lifetimes[i].size_bytes == 0) continue;
      ASSERT_TRUE(end <= plan.offsets[j] ||
                  plan.offsets[j] + lifetimes[j].size_bytes <= plan.offsets[i])
          << i << " and " << j;
    }
  }
}

TEST(MemoryPlan, IsTheSmallerOfTwoOrders) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    const auto below = [&](std::uint32_t bound) {
      return static_cast<std::uint32_t>(random() % bound);
    };
    std::vector<Lifetime> lifetimes(1 + below(80));
    for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {
      const std::uint32_t first = round % 3 == 0 ? i : below(40);
      lifetimes[i] = {below(8) == 0 ? 0 : below(2000), first,
                      first + below(round % 2 == 0 ? 4 : 40)};
    }
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return lifetimes[i].first; });
    const std::int64_t in_turn = block_bytes(lifetimes, order);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t i) { return lifetimes[i].size_bytes; });
    std::int64_t live_bytes = 0;
    for (const Lifetime& at : lifetimes) {
      std::int64_t sum = 0;
      for (const Lifetime& of : lifetimes) {
        if (of.first <= at.first && at.first <= of.last) sum += of.size_bytes;
      }
      live_bytes = std::max(live_bytes, sum);
    }
    const MemoryPlan plan = plan_memory(lifetimes, true);
    EXPECT_EQ(plan.block_bytes, std::min(in_turn, block_bytes(lifetimes, order)));
    EXPECT_EQ(plan.live_bytes, live_bytes);
    expect_apart(lifetimes, plan);
  }
}

// One lifetime for each value that a graph may have: each looks at few others.
TEST(MemoryPlan, TakesAsManyAsThereMayBe) {
  for (const bool ends : {true, false}) {
    std::vector<Lifetime> lifetimes(TNR_MAX_VALUES);
    for (std::uint32_t i = 0; i < lifetimes.size(); ++i) {
      lifetimes[i] = {64, i, ends ? i + 1 : TNR_MAX_VALUES};
    }
    const MemoryPlan plan = plan_memory(lifetimes, true);
    const std::int64_t most = ends ? 2 : TNR_MAX_VALUES;
    EXPECT_EQ(plan.block_bytes, 64 * most);
    EXPECT_EQ(plan.live_bytes, 64 * most);
  }
}

}  // namespace
}  // namespace tenure::test
