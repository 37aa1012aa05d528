// Regions: mappings of their own for large memory, and the cache that recycles them.
//
// A fresh region costs a page fault for each page on its first touch (the kernel clears it), which
// for large results is several times the work of the operation that writes them. Hence both: huge
// pages, so that there are 512 times fewer faults, and recycling, so that there are none.
#pragma once

#include <cstddef>

#include "base/mutex.hpp"

namespace tenure {

// Size and alignment of a huge page on x86-64, and on aarch64 with pages of 4 KiB.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

// Regions are multiples of it: whole pages everywhere.
inline constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

// data is aligned to kHugePageBytes, or NULL for no region.
struct Region {
  char* data = nullptr;
  std::size_t size_bytes = 0;
};

// Bytes of the region for `size_bytes` bytes of content: whole huge pages where they waste at most
// an eighth, else multiples of kPieceBytes. `size_bytes` is at most PTRDIFF_MAX.
std::size_t region_bytes(std::size_t size_bytes) noexcept;

// Maps region_bytes(size_bytes) bytes, which read as zeros; no region when refused. Requests huge
// pages; where they are refused the region has small ones.
Region map_region(std::size_t size_bytes) noexcept;
// Unmaps the region now, or where the system refuses as soon as it unmaps another. Its memory,
// except for one piece, is given back now.
void unmap_region(Region region) noexcept;
// Unmaps the regions that were refused so far.
void retry_unmapping() noexcept;

struct ReservedRegion {
  Region region;
  std::size_t head_bytes = 0;  // the first bytes, which were those of `head`
};
// map_region() for content that may turn out to need far less: only addresses are set aside for it.
// The region begins with the memory of `head`, which is then used up; `head` may be no region, and
// is no larger. No region when refused, or where the system cannot move memory; then `head` is as
// it was, or no region.
ReservedRegion reserve_region(std::size_t size_bytes, Region& head) noexcept;
// The first region_bytes(size_bytes) bytes of a reserved region that has these; the rest is
// unmapped. The whole region where the system refuses.
Region shrink_region(Region region, std::size_t size_bytes) noexcept;

// Keeps unused regions, with the bytes they hold, up to a bound. The lock is held for bookkeeping
// only, and nothing is allocated.
class RegionCache {
 public:
  // The search looks at all, so few: half a KiB.
  static constexpr std::size_t kMaxRegions = 32;

  // `limit_bytes` of 0 keeps nothing.
  constexpr explicit RegionCache(std::size_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}
  RegionCache(const RegionCache&) = delete;
  RegionCache& operator=(const RegionCache&) = delete;

  // The smallest kept region for `size_bytes` bytes of content, if it is no more than an eighth
  // larger than a fresh one; no region otherwise. Among equals the last kept, which is most likely
  // in the processor's caches.
  Region take(std::size_t size_bytes) noexcept;

  // The smallest kept region of at least `expected_bytes`, if it is no more than twice that, else
  // the largest of less; of no more than `max_bytes` in any case. No region if the cache has no
  // such one.
  Region take_near(std::size_t expected_bytes, std::size_t max_bytes) noexcept;

  // Keeps the region, and unmaps the oldest ones that then exceed the bounds.
  void keep(Region region) noexcept;

  // Unmaps all; returns how many bytes.
  std::size_t trim() noexcept;

  std::size_t cached_bytes() noexcept;

  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  void remove(std::size_t first, std::size_t count) noexcept;

  const std::size_t limit_bytes_;
  Mutex mutex_;                       // guards all below
  Region regions_[kMaxRegions] = {};  // the oldest first
  std::size_t count_ = 0;
  std::size_t cached_bytes_ = 0;
};

}  // namespace tenure
