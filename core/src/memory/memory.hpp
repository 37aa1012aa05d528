// The allocator of allocated and copied blobs.
//
//   size              from                                            aligned to
//   ----------------  ----------------------------------------------  ----------
//   0                 nowhere: NULL                                   -
//   less than 1 MiB   malloc, a little more than asked for            64 bytes
//   1 MiB and more    a region: huge pages, recycled (region.hpp)     2 MiB
//
// Under a sanitizer all of it comes from posix_memalign, to the byte, so that a use after the end
// and a byte past it stay visible.
#pragma once

#include <cstddef>

namespace tenure {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// From here on a page fault costs more than the system calls of a mapping.
inline constexpr std::size_t kRegionThresholdBytes = std::size_t{1} << 20;

// The cache's size unless TENURE_CACHE_BYTES says otherwise: two results of 256 MiB, between which
// a chain of operations alternates. No more than that, as the rest of the process cannot use these
// bytes.
inline constexpr std::size_t kDefaultCacheBytes = std::size_t{512} << 20;

struct Memory {
  void* data = nullptr;
  // The release argument: the pointer from malloc, or the end of the region.
  void* origin = nullptr;
};

// Throws OUT_OF_MEMORY for more bytes than an object can have, alignment included: wherever the
// memory would come from.
void require_object_size(std::size_t size_bytes);

// Throws OUT_OF_MEMORY, after the cache has been emptied to no avail. The bytes are undefined: they
// may be those of a blob that has ended.
Memory take_memory(std::size_t size_bytes);
// `size_bytes` is the size that take_memory() got.
void give_memory(Memory memory, std::size_t size_bytes) noexcept;

// Memory from take_memory(), given back with the object.
class OwnedMemory {
 public:
  // Throws as take_memory().
  explicit OwnedMemory(std::size_t size_bytes)
      : size_bytes_(size_bytes), memory_(take_memory(size_bytes)) {}
  OwnedMemory(const OwnedMemory&) = delete;
  OwnedMemory& operator=(const OwnedMemory&) = delete;
  ~OwnedMemory() { give_memory(memory_, size_bytes_); }

  [[nodiscard]] char* data() const noexcept { return static_cast<char*>(memory_.data); }
  [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  std::size_t size_bytes_;
  Memory memory_;
};

// Reserved memory. Only its written part is taken.
struct Reservation {
  Memory memory;
  // The leading bytes that a region used before. The other bytes have never been touched.
  std::size_t recycled_bytes = 0;
};

// Memory for at most `max_bytes`, for content with a size that is known only once it is written;
// presumably about `expected_bytes`, the size that the cache is searched for. It has no data where
// the system refuses or cannot do that, and where the memory would be no region.
Reservation reserve_memory(std::size_t max_bytes, std::size_t expected_bytes) noexcept;
// The first `size_bytes` of it as memory from take_memory(); the rest is given back. Throws
// OUT_OF_MEMORY, and then nothing has changed.
Memory trim_reserved(Memory reserved, std::size_t size_bytes);
void give_reserved(Memory reserved) noexcept;

// Bytes in the cache, until trim_memory() or a region that is taken.
std::size_t cached_memory_bytes() noexcept;

// Around fork: no other thread uses the cache while the process is copied.
void lock_memory() noexcept;
void unlock_memory() noexcept;

// The bound that TENURE_CACHE_BYTES names: a decimal number of bytes. The default for NULL and for
// anything else.
std::size_t cache_limit(const char* text) noexcept;

}  // namespace tenure
