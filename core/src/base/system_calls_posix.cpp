#include "base/system_calls.hpp"

#if !defined(_WIN32)

#include <sys/mman.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cerrno>

namespace tenure::system_calls {

namespace {

Error error_of(bool is_refused) noexcept { return is_refused ? errno : 0; }

#if defined(__linux__)
// Older headers lack it; a kernel that does not know it refuses.
constexpr int kPopulateWrite = 23;
#endif

}  // namespace

void* map(std::size_t size_bytes, Backing backing) noexcept {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (backing == Backing::kMemory ? 0 : MAP_NORESERVE);
  void* const mapped = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

Error unmap(void* data, std::size_t size_bytes) noexcept {
  return error_of(munmap(data, size_bytes) != 0);
}

#if defined(__linux__)

Error advise(void* data, std::size_t size_bytes, Advice advice) noexcept {
  const int number = advice == Advice::kHugePages ? MADV_HUGEPAGE
                     : advice == Advice::kForget  ? MADV_DONTNEED
                                                  : kPopulateWrite;
  return error_of(madvise(data, size_bytes, number) != 0);
}

Error move(void* from, std::size_t size_bytes, void* to) noexcept {
  return error_of(mremap(from, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
                  MAP_FAILED);
}

Error extend(void* data, std::size_t size_bytes, std::size_t wanted_bytes) noexcept {
  return error_of(mremap(data, size_bytes, wanted_bytes, 0) == MAP_FAILED);
}

Error look_up(void* page, std::size_t page_bytes, unsigned char* answer) noexcept {
  return error_of(mincore(page, page_bytes, answer) != 0);
}

Error permit_tiles() noexcept {
#if defined(__x86_64__)
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return error_of(syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0);
#else
  return ENOSYS;
#endif
}

#else

// Elsewhere the pages are as large as they are, and MADV_DONTNEED need not give back.
Error advise(void* data, std::size_t size_bytes, Advice advice) noexcept {
#if defined(MADV_FREE)
  if (advice == Advice::kForget) return error_of(madvise(data, size_bytes, MADV_FREE) != 0);
#endif
  return EINVAL;
}

#endif

Error at_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept {
  return pthread_atfork(before, after_in_parent, after_in_child);
}

Error make_thread_key(pthread_key_t* key, void (*at_end)(void*)) noexcept {
  return pthread_key_create(key, at_end);
}

Error set_thread_value(pthread_key_t key, const void* value) noexcept {
  return pthread_setspecific(key, value);
}

}  // namespace tenure::system_calls

#endif
