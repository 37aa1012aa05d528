#include "memory/region/region.hpp"

#include <algorithm>
#include <span>

namespace tenure {

namespace {

constexpr std::size_t round_up(std::size_t size_bytes, std::size_t unit_bytes) {
  return (size_bytes + unit_bytes - 1) / unit_bytes * unit_bytes;
}

constexpr std::size_t tolerated_waste(std::size_t size_bytes) { return size_bytes / 8; }

}  // namespace

std::size_t region_bytes(std::size_t size_bytes) noexcept {
  const std::size_t huge_pages = round_up(size_bytes, kHugePageBytes);
  if (huge_pages - size_bytes <= tolerated_waste(size_bytes)) return huge_pages;
  return round_up(size_bytes, kPieceBytes);
}

Region RegionCache::take(std::size_t size_bytes) noexcept {
  const std::size_t wanted = region_bytes(size_bytes);
  const std::lock_guard lock(mutex_);
  std::size_t best = kMaxRegions;
  std::size_t best_size = wanted + tolerated_waste(wanted) + 1;
  for (std::size_t i = count_; i-- > 0;) {
    const std::size_t size = regions_[i].size_bytes;
    if (size >= wanted && size < best_size) {
      best = i;
      best_size = size;
    }
  }
  if (best == kMaxRegions) return {};
  const Region region = regions_[best];
  remove(best, 1);
  return region;
}

Region RegionCache::take_near(std::size_t expected_bytes, std::size_t max_bytes) noexcept {
  const std::lock_guard lock(mutex_);
  std::size_t best = kMaxRegions;
  for (std::size_t i = count_; i-- > 0;) {
    const std::size_t size = regions_[i].size_bytes;
    if (size > max_bytes || size / 2 > expected_bytes) continue;
    if (best == kMaxRegions) {
      best = i;
      continue;
    }
    const std::size_t other = regions_[best].size_bytes;
    const bool is_enough = size >= expected_bytes;
    const bool is_better = is_enough ? other < expected_bytes || size < other : size > other;
    if (is_better && (is_enough || other < expected_bytes)) best = i;
  }
  if (best == kMaxRegions) return {};
  const Region region = regions_[best];
  remove(best, 1);
  return region;
}

void RegionCache::keep(Region region) noexcept {
  if (region.size_bytes > limit_bytes_) return unmap_region(region);
  Region evicted[kMaxRegions];
  std::size_t evicted_count = 0;
  {
    const std::lock_guard lock(mutex_);
    std::size_t left_bytes = cached_bytes_;
    while (count_ - evicted_count == kMaxRegions || left_bytes > limit_bytes_ - region.size_bytes) {
      evicted[evicted_count] = regions_[evicted_count];
      left_bytes -= regions_[evicted_count].size_bytes;
      ++evicted_count;
    }
    remove(0, evicted_count);
    regions_[count_++] = region;
    cached_bytes_ += region.size_bytes;
  }
  for (const Region old : std::span(evicted, evicted_count)) unmap_region(old);
}

std::size_t RegionCache::trim() noexcept {
  Region evicted[kMaxRegions];
  std::size_t evicted_count = 0;
  std::size_t evicted_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    std::copy_n(regions_, count_, evicted);
    evicted_count = count_;
    evicted_bytes = cached_bytes_;
    remove(0, count_);
  }
  for (const Region old : std::span(evicted, evicted_count)) unmap_region(old);
  return evicted_bytes;
}

std::size_t RegionCache::cached_bytes() noexcept {
  const std::lock_guard lock(mutex_);
  return cached_bytes_;
}

void RegionCache::remove(std::size_t first, std::size_t count) noexcept {
  for (std::size_t i = first; i < first + count; ++i) cached_bytes_ -= regions_[i].size_bytes;
  std::copy(regions_ + first + count, regions_ + count_, regions_ + first);
  count_ -= count;
}

}  // namespace tenure
