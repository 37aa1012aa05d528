// Regions on Windows. The cache, which is the same everywhere, is in region.cpp.
#include "region.hpp"

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <cstdint>

namespace tenure {

// Large pages take a privilege that programs do not have by default, so there are none. Part of a
// reservation cannot be given back: what lies around the aligned part stays reserved, which is
// address space and no memory.
Region map_region(std::size_t size_bytes) noexcept {
  const std::size_t region_size = region_bytes(size_bytes);
  void* const reserved =
      VirtualAlloc(nullptr, region_size + kHugePageBytes, MEM_RESERVE, PAGE_NOACCESS);
  if (reserved == nullptr) return {};
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(reserved) % kHugePageBytes;
  char* const data = static_cast<char*>(reserved) + head;
  if (VirtualAlloc(data, region_size, MEM_COMMIT, PAGE_READWRITE) == nullptr) {
    VirtualFree(reserved, 0, MEM_RELEASE);
    return {};
  }
  return {data, region_size};
}

Region reserve_region(std::size_t, Region) noexcept { return {}; }
Region shrink_region(Region region, std::size_t) noexcept { return region; }

void unmap_region(Region region) noexcept {
  if (region.data == nullptr) return;
  MEMORY_BASIC_INFORMATION found;
  VirtualQuery(region.data, &found, sizeof found);
  VirtualFree(found.AllocationBase, 0, MEM_RELEASE);
}

}  // namespace tenure

#endif
