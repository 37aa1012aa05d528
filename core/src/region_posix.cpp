// Regions where there is mmap. The cache, which is the same everywhere, is in region.cpp.
#include "region.hpp"

#if !defined(_WIN32)

#include <sys/mman.h>

#include <cstdint>

namespace tenure {

namespace {

// `flags` beside those of memory of our own.
Region map_aligned(std::size_t region_size, int flags) noexcept {
  // A huge page more than needed has an aligned address in it; what lies around is given back.
  const std::size_t mapped_size = region_size + kHugePageBytes;
  void* const mapped = mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (mapped == MAP_FAILED) return {};
  char* const start = static_cast<char*>(mapped);
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(mapped) % kHugePageBytes;
  const std::size_t tail = kHugePageBytes - head;
  // A refusal leaves address space mapped that is never touched: no memory, and no reason to fail.
  if (head != 0) munmap(start, head);
  munmap(start + head + region_size, tail);
#ifdef MADV_HUGEPAGE
  // Advice: where there are no huge pages, small ones do the same more slowly.
  madvise(start + head, region_size, MADV_HUGEPAGE);
#endif
  return {start + head, region_size};
}

}  // namespace

Region map_region(std::size_t size_bytes) noexcept {
  return map_aligned(region_bytes(size_bytes), 0);
}

#if defined(__linux__)

Region reserve_region(std::size_t size_bytes, Region head) noexcept {
  const Region region = map_aligned(region_bytes(size_bytes), MAP_NORESERVE);
  if (region.data == nullptr || head.data == nullptr) return region;
  // Moves entries of page tables, a huge page or 2 MiB of small ones at a time.
  if (mremap(head.data, head.size_bytes, head.size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
             region.data) == MAP_FAILED) {
    unmap_region(region);
    return {};
  }
  return region;
}

#else

Region reserve_region(std::size_t, Region) noexcept { return {}; }

#endif

Region shrink_region(Region region, std::size_t size_bytes) noexcept {
  const std::size_t left = region_bytes(size_bytes);
  // Refused where it would be one mapping too many: then it stays as large as it is.
  if (left == region.size_bytes || munmap(region.data + left, region.size_bytes - left) != 0) {
    return region;
  }
  return {region.data, left};
}

void unmap_region(Region region) noexcept {
  if (region.data != nullptr) munmap(region.data, region.size_bytes);
}

}  // namespace tenure

#endif
