#include "fake_memory.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif
#endif
#if !defined(ASAN_POISON_MEMORY_REGION)
#define ASAN_POISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) static_cast<void>(0)
#endif

namespace fake {
namespace {

// Addresses, not memory: more than the tests of one program free.
constexpr std::size_t kArenaBytes = std::size_t{1} << 36;
constexpr std::size_t kPage = 4096;
// The alignment that the driver promises.
constexpr std::size_t kAlignment = 256;
constexpr unsigned char kFresh = 0xa7;
constexpr unsigned char kBeside = 0x5b;

std::size_t whole(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "fake CUDA: %s\n", what);
  std::abort();
}

void set_access(void* pages, std::size_t bytes, int access) {
  if (mprotect(pages, bytes, access) != 0) stop("mprotect failed");
}

}  // namespace

std::size_t Memory::live_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count_; ++i) bytes += live_[i].bytes;
  return bytes;
}

std::uint64_t Memory::allocate(std::size_t bytes, int device) {
  std::size_t of_device = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (live_[i].device == device) of_device += live_[i].bytes;
  }
  if (bytes > limit_bytes_ || of_device > limit_bytes_ - bytes) return 0;
  if (arena_ == nullptr) {
    void* const arena =
        mmap(nullptr, kArenaBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (arena == MAP_FAILED) stop("no room for addresses");
    arena_ = static_cast<unsigned char*>(arena);
  }
  if (count_ == kMostAllocations) stop("too many allocations at once");
  // The last byte lies as close to a page that faults as the alignment lets it, and one lies before
  // the first.
  const std::size_t page_bytes = whole(whole(bytes, kAlignment), kPage);
  if (kArenaBytes - used_bytes_ < page_bytes + 2 * kPage) stop("all addresses were used");
  unsigned char* const pages = arena_ + used_bytes_ + kPage;
  used_bytes_ += page_bytes + kPage;
  unsigned char* const data = pages + page_bytes - whole(bytes, kAlignment);
  set_access(pages, page_bytes, PROT_READ | PROT_WRITE);
  std::memset(pages, kBeside, page_bytes);
  std::memset(data, kFresh, bytes);
  ASAN_POISON_MEMORY_REGION(pages, page_bytes);
  ASAN_UNPOISON_MEMORY_REGION(data, bytes);
  if (depth_ == 0) set_access(pages, page_bytes, PROT_NONE);
  live_[count_++] = {pages, page_bytes, data, bytes, device};
  return reinterpret_cast<std::uint64_t>(data);
}

bool Memory::is_intact(const Allocation& allocation) const {
  ASAN_UNPOISON_MEMORY_REGION(allocation.pages, allocation.page_bytes);
  const unsigned char* const end = allocation.data + allocation.bytes;
  for (const unsigned char* at = allocation.pages; at < allocation.pages + allocation.page_bytes;
       ++at) {
    if (at == allocation.data) at = end;
    if (at == allocation.pages + allocation.page_bytes) break;
    if (*at != kBeside) return false;
  }
  return true;
}

bool Memory::free(std::uint64_t address) {
  const Allocation* const found = find(address);
  if (found == nullptr || reinterpret_cast<std::uint64_t>(found->data) != address) return false;
  const Allocation ended = *found;
  live_[found - live_] = live_[--count_];
  set_access(ended.pages, ended.page_bytes, PROT_READ | PROT_WRITE);
  const bool intact = is_intact(ended);
  set_access(ended.pages, ended.page_bytes, PROT_NONE);
  madvise(ended.pages, ended.page_bytes, MADV_DONTNEED);
  return intact;
}

const Memory::Allocation* Memory::find(std::uint64_t address) const {
  for (std::size_t i = count_; i-- > 0;) {
    const auto first = reinterpret_cast<std::uint64_t>(live_[i].data);
    if (address >= first && address < first + live_[i].bytes) return &live_[i];
  }
  return nullptr;
}

bool Memory::holds(std::uint64_t address, std::size_t bytes) const {
  const Allocation* const found = find(address);
  if (found == nullptr) return false;
  return bytes <= found->bytes - (address - reinterpret_cast<std::uint64_t>(found->data));
}

int Memory::device_of(std::uint64_t address) const {
  const Allocation* const found = find(address);
  return found != nullptr ? found->device : -1;
}

void Memory::protect(bool is_open) {
  if (is_open ? depth_++ != 0 : --depth_ != 0) return;
  for (std::size_t i = 0; i < count_; ++i) {
    set_access(live_[i].pages, live_[i].page_bytes, is_open ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

}  // namespace fake
