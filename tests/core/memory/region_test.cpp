#include "memory/region/region.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

using namespace tenure;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// A region of the test's own, with its first and last byte written.
Region mapped(std::size_t size_bytes) {
  const Region region = map_region(size_bytes);
  EXPECT_NE(region.data, nullptr);
  region.data[0] = 1;
  region.data[region.size_bytes - 1] = 1;
  return region;
}

TEST(Region, SizesWasteAnEighthAtMost) {
  EXPECT_EQ(region_bytes(1), 64u << 10);
  EXPECT_EQ(region_bytes(kMiB), kMiB);
  EXPECT_EQ(region_bytes(kMiB + 1), kMiB + (64u << 10));
  EXPECT_EQ(region_bytes(2 * kMiB - 1), 2 * kMiB);
  EXPECT_EQ(region_bytes(3 * kMiB), 3 * kMiB);
  EXPECT_EQ(region_bytes(64 * kMiB), 64 * kMiB);
  EXPECT_EQ(region_bytes(64 * kMiB + 1), 66 * kMiB);
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::size_t size = kMiB + random() % (100 * kMiB);
    const std::size_t rounded = region_bytes(size);
    EXPECT_GE(rounded, size);
    EXPECT_LE(rounded - size, size / 8);
    EXPECT_EQ(rounded % (64 << 10), 0u);
  }
  const std::size_t largest = PTRDIFF_MAX;
  EXPECT_GE(region_bytes(largest), largest);
}

TEST(Region, AreAlignedZeroedAndWhole) {
  // Many at once: a single region might be aligned by chance.
  std::vector<Region> regions;
  for (int i = 1; i <= 20; ++i) {
    const std::size_t size = kMiB + static_cast<std::size_t>(i) * 300'000;
    const Region region = map_region(size);
    ASSERT_NE(region.data, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region.data) % kHugePageBytes, 0u);
    EXPECT_EQ(region.size_bytes, region_bytes(size));
    for (std::size_t at = 0; at < region.size_bytes; at += 4096) {
      ASSERT_EQ(region.data[at], 0);
      region.data[at] = static_cast<char>(i);
    }
    regions.push_back(region);
  }
  for (std::size_t i = 0; i < regions.size(); ++i) {
    EXPECT_EQ(regions[i].data[0], static_cast<char>(i + 1));
    EXPECT_EQ(regions[i].data[regions[i].size_bytes - 4096], static_cast<char>(i + 1));
    unmap_region(regions[i]);
  }
}

TEST(Region, TooLargeIsNoRegion) {
  EXPECT_EQ(map_region(PTRDIFF_MAX).data, nullptr);
  EXPECT_EQ(map_region(std::size_t{1} << 60).data, nullptr);
}

TEST(Region, ReservedIsOfNothingUntilWrittenAndBeginsWithItsHead) {
  Region rest = mapped(3 * kMiB);
  const Region head = rest;
  const std::size_t size = 64 * kMiB;
  const auto [reserved, head_bytes] = reserve_region(size, rest);
  if (reserved.data == nullptr) {
    unmap_region(rest);
    GTEST_SKIP() << "memory cannot be moved here";
  }
  EXPECT_EQ(rest.data, nullptr);
  EXPECT_EQ(head_bytes, head.size_bytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(reserved.data) % kHugePageBytes, 0u);
  EXPECT_EQ(reserved.size_bytes, region_bytes(size));
  EXPECT_EQ(reserved.data[0], 1);
  EXPECT_EQ(reserved.data[head.size_bytes - 1], 1);
  EXPECT_EQ(reserved.data[head.size_bytes], 0);
  reserved.data[size - 1] = 2;
  const Region shrunk = shrink_region(reserved, 4 * kMiB + 1);
  EXPECT_EQ(shrunk.data, reserved.data);
  EXPECT_EQ(shrunk.size_bytes, region_bytes(4 * kMiB + 1));
  EXPECT_EQ(shrunk.data[head.size_bytes - 1], 1);
  unmap_region(shrunk);
  Region none;
  EXPECT_EQ(reserve_region(PTRDIFF_MAX / 2, none).region.data, nullptr);
}

TEST(RegionCache, TakesWhatIsNearAnExpectation) {
  RegionCache cache(256 * kMiB);
  const Region small = mapped(4 * kMiB);
  const Region middle = mapped(20 * kMiB);
  const Region large = mapped(64 * kMiB);
  for (const Region region : {middle, small, large}) cache.keep(region);
  EXPECT_EQ(cache.take_near(30 * kMiB, 40 * kMiB).data, middle.data);  // large is over the bound
  cache.keep(middle);
  EXPECT_EQ(cache.take_near(18 * kMiB, 128 * kMiB).data,
            middle.data);  // the smallest that is enough
  EXPECT_EQ(cache.take_near(18 * kMiB, 128 * kMiB).data, small.data);  // large is over twice of it
  EXPECT_EQ(cache.take_near(kMiB, 128 * kMiB).data, nullptr);
  EXPECT_EQ(cache.take_near(100 * kMiB, 128 * kMiB).data, large.data);
  cache.keep(small);
  cache.keep(middle);
  EXPECT_EQ(cache.take_near(100 * kMiB, 128 * kMiB).data, middle.data);  // the largest of less
  EXPECT_EQ(cache.cached_bytes(), 4 * kMiB);
  cache.trim();
  unmap_region(middle);
  unmap_region(large);
}

TEST(RegionCache, GivesBackWhatItKept) {
  RegionCache cache(64 * kMiB);
  EXPECT_EQ(cache.take(4 * kMiB).data, nullptr);
  const Region region = mapped(4 * kMiB);
  cache.keep(region);
  EXPECT_EQ(cache.cached_bytes(), 4 * kMiB);
  const Region again = cache.take(4 * kMiB);
  EXPECT_EQ(again.data, region.data);
  EXPECT_EQ(again.size_bytes, region.size_bytes);
  EXPECT_EQ(again.data[0], 1);  // the pages are the same
  EXPECT_EQ(cache.cached_bytes(), 0u);
  EXPECT_EQ(cache.take(4 * kMiB).data, nullptr);
  unmap_region(again);
}

TEST(RegionCache, TakesTheSmallestThatWastesAnEighthAtMost) {
  RegionCache cache(256 * kMiB);
  const Region small = mapped(16 * kMiB);
  const Region middle = mapped(18 * kMiB);
  const Region large = mapped(20 * kMiB);
  for (const Region region : {large, small, middle}) cache.keep(region);
  EXPECT_EQ(cache.take(14 * kMiB).data, nullptr);  // 16 is more than 15.75
  EXPECT_EQ(cache.take(22 * kMiB).data, nullptr);
  EXPECT_EQ(cache.take(16 * kMiB).data, small.data);
  EXPECT_EQ(cache.take(16 * kMiB).data, middle.data);  // 18 is an eighth more
  EXPECT_EQ(cache.take(16 * kMiB).data, nullptr);
  EXPECT_EQ(cache.cached_bytes(), 20 * kMiB);
  EXPECT_EQ(cache.trim(), 20 * kMiB);
  unmap_region(small);
  unmap_region(middle);
}

TEST(RegionCache, PrefersTheLastKeptOfEquals) {
  RegionCache cache(64 * kMiB);
  const Region first = mapped(2 * kMiB);
  const Region second = mapped(2 * kMiB);
  cache.keep(first);
  cache.keep(second);
  EXPECT_EQ(cache.take(2 * kMiB).data, second.data);
  EXPECT_EQ(cache.take(2 * kMiB).data, first.data);
  unmap_region(first);
  unmap_region(second);
}

TEST(RegionCache, BytesStayBoundedAndTheOldestGo) {
  RegionCache cache(10 * kMiB);
  const std::array<Region, 3> regions = {mapped(4 * kMiB), mapped(6 * kMiB), mapped(3 * kMiB)};
  cache.keep(regions[0]);
  cache.keep(regions[1]);
  EXPECT_EQ(cache.cached_bytes(), 10 * kMiB);
  cache.keep(regions[2]);
  EXPECT_EQ(cache.cached_bytes(), 9 * kMiB);
  EXPECT_EQ(cache.take(4 * kMiB).data, nullptr);
  cache.keep(mapped(10 * kMiB));
  EXPECT_EQ(cache.cached_bytes(), 10 * kMiB);
  cache.keep(mapped(12 * kMiB));  // more than all: unmapped, and nothing makes room for it
  EXPECT_EQ(cache.cached_bytes(), 10 * kMiB);
  EXPECT_EQ(cache.trim(), 10 * kMiB);
  EXPECT_EQ(cache.trim(), 0u);
  EXPECT_EQ(cache.cached_bytes(), 0u);
}

TEST(RegionCache, NumberStaysBounded) {
  RegionCache cache(SIZE_MAX);
  for (std::size_t i = 0; i < RegionCache::kMaxRegions + 5; ++i) cache.keep(mapped(kMiB));
  EXPECT_EQ(cache.cached_bytes(), RegionCache::kMaxRegions * kMiB);
  EXPECT_EQ(cache.trim(), RegionCache::kMaxRegions * kMiB);
}

TEST(RegionCache, LimitOfZeroKeepsNothing) {
  RegionCache cache(0);
  cache.keep(mapped(kMiB));
  EXPECT_EQ(cache.cached_bytes(), 0u);
  EXPECT_EQ(cache.take(kMiB).data, nullptr);
}

TEST(RegionCache, ThreadsThatTakeKeepAndTrimNeverShareARegion) {
  // Whoever has a region writes its own mark into it: a region given to two threads, or unmapped
  // in use, shows in the marks, to ThreadSanitizer or as a fault.
  constexpr int kRounds = 2000;
  RegionCache cache(12 * kMiB);
  std::atomic<int> recycled{0};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(thread);
      for (int round = 0; round < kRounds; ++round) {
        const std::size_t size = kMiB * (1 + random() % 4);
        Region region = cache.take(size);
        if (region.data != nullptr) recycled.fetch_add(1, std::memory_order_relaxed);
        if (region.data == nullptr) region = map_region(size);
        ASSERT_NE(region.data, nullptr);
        ASSERT_GE(region.size_bytes, size);
        int* const mark = reinterpret_cast<int*>(region.data + size - sizeof(int));
        *mark = static_cast<int>(thread) * kRounds + round;
        EXPECT_LE(cache.cached_bytes(), 12 * kMiB);
        EXPECT_EQ(*mark, static_cast<int>(thread) * kRounds + round);
        cache.keep(region);
        if (random() % 64 == 0) cache.trim();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(recycled.load(), 0);
  cache.trim();
  EXPECT_EQ(cache.cached_bytes(), 0u);
}

}  // namespace
