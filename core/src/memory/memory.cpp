#include "memory/memory.hpp"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "base/fork.hpp"
#include "memory/region/region.hpp"
#include "tenure/blob.hpp"

namespace tenure {

namespace {

std::size_t limit_of_process() {
  // A refusal leaves the lock as it is in a child: no reason to have no memory.
  prepare_for_fork();
  return cache_limit(std::getenv("TENURE_CACHE_BYTES"));
}

// Made at the first use, never destroyed: blobs may end in destructors of other statics.
RegionCache& cache() {
  static_assert(std::is_trivially_destructible_v<RegionCache>);
  static RegionCache instance(limit_of_process());
  return instance;
}

bool is_region(std::size_t size_bytes) {
  return !kSanitized && size_bytes >= kRegionThresholdBytes;
}

Memory take_region(std::size_t size_bytes) noexcept {
  Region region = cache().take(size_bytes);
  if (region.data == nullptr) region = map_region(size_bytes);
  return {region.data, region.data == nullptr ? nullptr : region.data + region.size_bytes};
}

Region region_of(Memory memory) noexcept {
  char* const data = static_cast<char*>(memory.data);
  return {data, static_cast<std::size_t>(static_cast<char*>(memory.origin) - data)};
}

Memory take_block(std::size_t size_bytes) noexcept {
#if !defined(_WIN32)  // which has no posix_memalign; nor do we use a sanitizer there
  if constexpr (kSanitized) {
    void* block = nullptr;
    if (posix_memalign(&block, kBlobAlignment, size_bytes) != 0) return {};
    return {block, block};
  }
#endif
  // Not aligned_alloc: glibc keeps its fast path for malloc.
  char* const block = static_cast<char*>(std::malloc(size_bytes + kBlobAlignment - 1));
  if (block == nullptr) return {};
  const std::size_t misaligned = -reinterpret_cast<std::uintptr_t>(block) % kBlobAlignment;
  return {block + misaligned, block};
}

Memory try_take(std::size_t size_bytes) noexcept {
  return is_region(size_bytes) ? take_region(size_bytes) : take_block(size_bytes);
}

}  // namespace

void require_object_size(std::size_t size_bytes) {
  // No object is larger, and there must be room to align it.
  constexpr std::size_t kMaxAllocation = PTRDIFF_MAX - (kBlobAlignment - 1);
  if (size_bytes > kMaxAllocation) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "size_bytes is %zu but must be at most %zu", size_bytes,
         kMaxAllocation);
  }
}

Memory take_memory(std::size_t size_bytes) {
  if (size_bytes == 0) return {};
  require_object_size(size_bytes);
  Memory memory = try_take(size_bytes);
  // Under a limit of the process, the cache may hold the bytes that are missing.
  if (memory.data == nullptr && trim_memory() != 0) memory = try_take(size_bytes);
  if (memory.data == nullptr) {
    fail(TNR_STATUS_OUT_OF_MEMORY, "%zu bytes could not be allocated", size_bytes);
  }
  return memory;
}

void give_memory(Memory memory, std::size_t size_bytes) noexcept {
  if (!is_region(size_bytes)) return std::free(memory.origin);
  cache().keep(region_of(memory));
}

Reservation reserve_memory(std::size_t max_bytes, std::size_t expected_bytes) noexcept {
  if (!is_region(max_bytes) || max_bytes > PTRDIFF_MAX / 2) return {};
  Region head = cache().take_near(expected_bytes, region_bytes(max_bytes));
  const auto [region, head_bytes] = reserve_region(max_bytes, head);
  if (head.data != nullptr) cache().keep(head);
  if (region.data == nullptr) return {};
  return {{region.data, region.data + region.size_bytes}, head_bytes};
}

Memory trim_reserved(Memory reserved, std::size_t size_bytes) {
  if (is_region(size_bytes)) {
    const Region region = shrink_region(region_of(reserved), size_bytes);
    return {region.data, region.data + region.size_bytes};
  }
  const Memory memory = take_memory(size_bytes);
  if (size_bytes != 0) std::memcpy(memory.data, reserved.data, size_bytes);
  give_reserved(reserved);
  return memory;
}

void give_reserved(Memory reserved) noexcept { unmap_region(region_of(reserved)); }

std::size_t trim_memory() noexcept {
  const std::size_t trimmed_bytes = cache().trim();
  retry_unmapping();
  return trimmed_bytes;
}

void lock_memory() noexcept { cache().lock(); }
void unlock_memory() noexcept { cache().unlock(); }

std::size_t cached_memory_bytes() noexcept { return cache().cached_bytes(); }

std::size_t cache_limit(const char* text) noexcept {
  if (text == nullptr) return kDefaultCacheBytes;
  const char* const end = text + std::strlen(text);
  std::size_t limit_bytes = 0;
  const auto [stop, error] = std::from_chars(text, end, limit_bytes);
  return error == std::errc{} && stop == end ? limit_bytes : kDefaultCacheBytes;
}

}  // namespace tenure
