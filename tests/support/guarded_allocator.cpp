#include "guarded_allocator.hpp"

#include <atomic>

namespace {

constinit std::atomic<int> g_overrun{0};

}  // namespace

namespace tenure::test {

int overrun_blocks() noexcept { return g_overrun.load(); }

}  // namespace tenure::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
}

namespace {

// The last bytes of each block, as far as the C library gives it out.
constexpr std::size_t kGuardBytes = 256;
constexpr unsigned char kGuard = 0xC3;
constexpr unsigned char kUnwritten = 0xA5;

unsigned char* guard_of(void* block) {
  return static_cast<unsigned char*>(block) + malloc_usable_size(block) - kGuardBytes;
}

void* guarded(void* block, std::size_t unwritten_from = 0) {
  if (block == nullptr) return nullptr;
  unsigned char* const guard = guard_of(block);
  auto* const begin = static_cast<unsigned char*>(block) + unwritten_from;
  if (begin < guard) std::memset(begin, kUnwritten, static_cast<std::size_t>(guard - begin));
  std::memset(guard, kGuard, kGuardBytes);
  return block;
}

void check(void* block) {
  if (block == nullptr) return;
  const unsigned char* const guard = guard_of(block);
  if (std::any_of(guard, guard + kGuardBytes, [](unsigned char byte) { return byte != kGuard; })) {
    ++g_overrun;
  }
}

bool with_guard(std::size_t& size) {
  if (!__builtin_add_overflow(size, kGuardBytes, &size)) return true;
  errno = ENOMEM;
  return false;
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) noexcept {
  return with_guard(size) ? guarded(__libc_malloc(size)) : nullptr;
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  void* const block = malloc(bytes);
  return block == nullptr ? nullptr : std::memset(block, 0, bytes);
}
void* realloc(void* block, std::size_t size) noexcept {
  check(block);
  const std::size_t kept =
      block == nullptr ? 0 : std::min(size, malloc_usable_size(block) - kGuardBytes);
  return with_guard(size) ? guarded(__libc_realloc(block, size), kept) : nullptr;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return with_guard(size) ? guarded(__libc_memalign(alignment, size)) : nullptr;
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  *out = aligned_alloc(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}
void free(void* block) noexcept {
  check(block);
  __libc_free(block);
}

}  // extern "C"

#endif
