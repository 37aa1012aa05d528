// Regions on Windows. The cache, which is the same everywhere, is in region.cpp.
#include "memory/region/region.hpp"

#if defined(_WIN32)

#include <cstdint>

#include "base/system_calls.hpp"

namespace tenure {

// Large pages take a privilege that programs do not have by default, so regions have none. Part of
// a reservation cannot be given back: the pages around the aligned part stay reserved, which takes
// address space and no memory.
Region map_region(std::size_t size_bytes) noexcept {
  const std::size_t region_size = region_bytes(size_bytes);
  void* const reserved = system_calls::reserve(region_size + kHugePageBytes);
  if (reserved == nullptr) return {};
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(reserved) % kHugePageBytes;
  char* const data = static_cast<char*>(reserved) + head;
  if (!system_calls::commit(data, region_size)) {
    system_calls::release(reserved);
    return {};
  }
  return {data, region_size};
}

ReservedRegion reserve_region(std::size_t, Region&) noexcept { return {}; }
Region shrink_region(Region region, std::size_t) noexcept { return region; }

void unmap_region(Region region) noexcept {
  if (region.data == nullptr) return;
  void* const reserved = system_calls::reservation_of(region.data);
  if (reserved != nullptr) system_calls::release(reserved);
}

// All of a reservation is released, which is not refused for want of anything.
void retry_unmapping() noexcept {}

}  // namespace tenure

#endif
