// Regions where there is mmap. The cache, which is the same everywhere, is in region.cpp.
#include "region.hpp"

#if !defined(_WIN32)

#include <sys/mman.h>

#include <cstdint>

namespace tenure {

Region map_region(std::size_t size_bytes) noexcept {
  const std::size_t region_size = region_bytes(size_bytes);
  // A huge page more than needed has an aligned address in it; what lies around is given back.
  const std::size_t mapped_size = region_size + kHugePageBytes;
  void* const mapped =
      mmap(nullptr, mapped_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
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

void unmap_region(Region region) noexcept {
  if (region.data != nullptr) munmap(region.data, region.size_bytes);
}

}  // namespace tenure

#endif
