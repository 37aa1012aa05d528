// Regions where there is mmap. The cache, which is the same everywhere, is in region.cpp.
#include "memory/region/region.hpp"

#if !defined(_WIN32)

#include <atomic>
#include <cerrno>
#include <cstdint>

#include "base/system_calls.hpp"
#include "memory/region/remnants.hpp"

namespace tenure {

namespace {

using system_calls::Advice;
using system_calls::Backing;

Region map_aligned(std::size_t region_size, Backing backing) noexcept {
  // One huge page more than needed contains an aligned address; the memory around is given back.
  const std::size_t mapped_size = region_size + kHugePageBytes;
  char* const start = static_cast<char*>(system_calls::map(mapped_size, backing));
  if (start == nullptr) return {};
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(start) % kHugePageBytes;
  const std::size_t tail = kHugePageBytes - head;
  if (head != 0) unmap_own(start, head);
  unmap_own(start + head + region_size, tail);
  // Advice: where there are no huge pages, small ones do the same more slowly.
  system_calls::advise(start + head, region_size, Advice::kHugePages);
  return {start + head, region_size};
}

}  // namespace

Region map_region(std::size_t size_bytes) noexcept {
  return map_aligned(region_bytes(size_bytes), Backing::kMemory);
}

#if defined(__linux__)

namespace {

// After a refusal to move, some addresses may be ours or another thread's. They are left alone, and
// a process has such addresses only once: a system that has refused gets no second request.
constinit std::atomic<bool> g_moves{true};

// A request for a longer mapping finds the end of a mapping: EFAULT where these bytes are of
// several. A record of our own mappings would not do: a program may have split one (mbind,
// mprotect).
bool is_one_mapping(char* data, std::size_t size_bytes) noexcept {
  const system_calls::Error error =
      system_calls::extend(data, size_bytes, size_bytes + kPieceBytes);
  if (error == 0) unmap_own(data + size_bytes, kPieceBytes);
  return error != EFAULT;
}

// Bytes of these that belong to the first mapping, in whole pieces.
std::size_t first_mapping_bytes(char* data, std::size_t size_bytes) noexcept {
  if (is_one_mapping(data, size_bytes)) return size_bytes;
  std::size_t within = 0;  // pieces that are
  std::size_t beyond = size_bytes / kPieceBytes;
  while (beyond - within > 1) {
    const std::size_t middle = within + (beyond - within) / 2;
    (is_one_mapping(data, middle * kPieceBytes) ? within : beyond) = middle;
  }
  return within * kPieceBytes;
}

// A region of several mappings, as it is after it has grown beyond its head. Before Linux 6.17 they
// do not move at once.
struct Mappings {
  // To find one takes a system call for each halving of the rest. A head of more is given up; then
  // its pages are fresh once, and one mapping again.
  static constexpr int kMost = 4;
  std::size_t bytes[kMost];
  int count;  // 0: more, or their borders are not ours
};

Mappings mappings_of(Region region) noexcept {
  Mappings mappings = {};
  std::size_t at = 0;
  while (at < region.size_bytes) {
    const std::size_t bytes = first_mapping_bytes(region.data + at, region.size_bytes - at);
    if (bytes == 0 || mappings.count == Mappings::kMost) return {};
    mappings.bytes[mappings.count++] = bytes;
    at += bytes;
  }
  return mappings;
}

// Moves `head` to the first bytes of `region`. Returns false when refused: then all of the region
// that is certainly ours is unmapped, and the rest of the head too if a part of it has moved.
bool move_head(Region& head, const Mappings& mappings, Region region) noexcept {
  std::size_t moved = 0;
  for (int i = 0; i < mappings.count; ++i) {
    const std::size_t bytes = mappings.bytes[i];
    // Moves entries of page tables, a huge page or 2 MiB of small ones at a time.
    if (system_calls::move(head.data + moved, bytes, region.data + moved) != 0) {
      g_moves.store(false, std::memory_order_relaxed);
      // The place of this mapping may be a hole by now, or another thread's.
      const std::size_t behind = moved + bytes;
      unmap_own(region.data + behind, region.size_bytes - behind);
      if (moved != 0) {
        unmap_own(region.data, moved);
        unmap_own(head.data + moved, head.size_bytes - moved);
        head = {};
      }
      return false;
    }
    moved += bytes;
  }
  return true;
}

}  // namespace

ReservedRegion reserve_region(std::size_t size_bytes, Region& head) noexcept {
  if (head.data != nullptr && !g_moves.load(std::memory_order_relaxed)) return {};
  const Region region = map_aligned(region_bytes(size_bytes), Backing::kAddresses);
  if (region.data == nullptr || head.data == nullptr) return {region, 0};
  const Mappings mappings = mappings_of(head);
  if (mappings.count == 0) {
    unmap_region(head);
    head = {};
    return {region, 0};
  }
  if (!move_head(head, mappings, region)) return {};
  const std::size_t head_bytes = head.size_bytes;
  head = {};
  return {region, head_bytes};
}

#else

ReservedRegion reserve_region(std::size_t, Region&) noexcept { return {}; }

#endif

Region shrink_region(Region region, std::size_t size_bytes) noexcept {
  const std::size_t left = region_bytes(size_bytes);
  // Not unmap_own(): a refused part needs no list of its own, as the region still includes it.
  if (left == region.size_bytes ||
      system_calls::unmap(region.data + left, region.size_bytes - left) != 0) {
    return region;
  }
  return {region.data, left};
}

void unmap_region(Region region) noexcept {
  if (region.data != nullptr) unmap_own(region.data, region.size_bytes);
}

void retry_unmapping() noexcept { unmap_remnants(); }

}  // namespace tenure

#endif
