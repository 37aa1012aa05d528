#include "failing_allocator.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

// The allocator behind this program's malloc: the C library's, or the sanitizer's where one is
// linked. This file itself is compiled without, because malloc runs before a sanitizer is ready.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);
[[gnu::weak]] void* __interceptor_malloc(std::size_t);
[[gnu::weak]] void* __interceptor_calloc(std::size_t, std::size_t);
[[gnu::weak]] void* __interceptor_realloc(void*, std::size_t);
[[gnu::weak]] void* __interceptor_memalign(std::size_t, std::size_t);
[[gnu::weak]] void __interceptor_free(void*);
}
#define TENURE_REAL(function) \
  (__interceptor_##function != nullptr ? __interceptor_##function : __libc_##function)

namespace {

// Plain data, so that malloc may read it on any thread at any time.
struct State {
  bool active;
  tenure::test::Failing mode;
  int first;
  tenure::test::AllocationCounts counts;
  long bytes;
};
constinit thread_local State t_state = {};

constinit std::atomic<unsigned long> g_most_bytes{~0UL};

bool must_fail(std::size_t size) {
  if (size > g_most_bytes.load(std::memory_order_relaxed)) {
    errno = ENOMEM;
    return true;
  }
  State& state = t_state;
  if (!state.active) return false;
  const int number = state.counts.asked++;
  const bool fails =
      state.first != tenure::test::kNone &&
      (state.mode == tenure::test::Failing::kOne ? number == state.first : number >= state.first);
  if (fails) {
    state.counts.failed += 1;
    errno = ENOMEM;
  }
  return fails;
}

void add_bytes(long bytes) {
  State& state = t_state;
  state.bytes += bytes;
  if (state.bytes > state.counts.peak_bytes) state.counts.peak_bytes = state.bytes;
}

constexpr int kNoFill = -1;
constinit std::atomic<int> g_fill{kNoFill};
constinit std::atomic<unsigned long> g_most_filled{0};

void* filled(void* block, std::size_t size) {
  const int fill = g_fill.load(std::memory_order_relaxed);
  if (fill != kNoFill && block != nullptr) {
    std::memset(block, fill, std::min<std::size_t>(size, g_most_filled));
  }
  return block;
}

void* counted(void* block) {
  if (!t_state.active || block == nullptr) return block;
  t_state.counts.live_change += 1;
  add_bytes(static_cast<long>(malloc_usable_size(block)));
  return block;
}

void count_freed(void* block) {
  if (!t_state.active || block == nullptr) return;
  t_state.counts.live_change -= 1;
  add_bytes(-static_cast<long>(malloc_usable_size(block)));
}

void* new_or_throw(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void* aligned_new(std::size_t size, std::align_val_t alignment) {
  return new_or_throw(aligned_alloc(static_cast<std::size_t>(alignment), size));
}

}  // namespace

namespace tenure::test {

AllocationFault::AllocationFault(Failing mode, int first) noexcept {
  t_state = {true, mode, first, {}, 0};
}
AllocationFault::~AllocationFault() { t_state.active = false; }

LimitedAllocations::LimitedAllocations(unsigned long most_bytes) noexcept {
  g_most_bytes = most_bytes;
}
LimitedAllocations::~LimitedAllocations() { g_most_bytes = ~0UL; }

FilledAllocations::FilledAllocations(unsigned char fill, unsigned long most_bytes) noexcept {
  g_most_filled = most_bytes;
  g_fill = fill;
}
FilledAllocations::~FilledAllocations() { g_fill = kNoFill; }

AllocationCounts allocation_counts() noexcept { return t_state.counts; }

}  // namespace tenure::test

extern "C" {

void* malloc(std::size_t size) noexcept {
  return must_fail(size) ? nullptr : filled(counted(TENURE_REAL(malloc)(size)), size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  return must_fail(count * size) ? nullptr : counted(TENURE_REAL(calloc)(count, size));
}
void* realloc(void* block, std::size_t size) noexcept {
  if (must_fail(size)) return nullptr;
  const long before =
      block == nullptr || !t_state.active ? 0 : static_cast<long>(malloc_usable_size(block));
  void* const moved = TENURE_REAL(realloc)(block, size);
  if (block == nullptr) return counted(moved);
  if (t_state.active && moved != nullptr) {
    add_bytes(static_cast<long>(malloc_usable_size(moved)) - before);
  }
  return moved;
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  return must_fail(size) ? nullptr : filled(counted(TENURE_REAL(memalign)(alignment, size)), size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  if (must_fail(size)) return ENOMEM;
  *out = filled(counted(TENURE_REAL(memalign)(alignment, size)), size);
  return *out == nullptr ? ENOMEM : 0;
}
void* mmap(void* address, std::size_t size, int protection, int flags, int file,
           off_t offset) noexcept {
  if (must_fail(size)) return MAP_FAILED;
  if (t_state.active) {
    t_state.counts.mapped_change += static_cast<long>(size);
    add_bytes(static_cast<long>(size));
  }
  const long mapped = syscall(SYS_mmap, address, size, protection, flags, file, offset);
  void* const start = reinterpret_cast<void*>(mapped);
  const bool is_memory = (flags & MAP_ANONYMOUS) != 0 && (protection & PROT_WRITE) != 0;
  return is_memory && start != MAP_FAILED ? filled(start, size) : start;
}
int munmap(void* address, std::size_t size) noexcept {
  if (t_state.active) {
    t_state.counts.mapped_change -= static_cast<long>(size);
    add_bytes(-static_cast<long>(size));
  }
  return static_cast<int>(syscall(SYS_munmap, address, size));
}
void free(void* block) noexcept {
  count_freed(block);
  TENURE_REAL(free)(block);
}

}  // extern "C"

// The sanitizers bring their own of these, which would pass by the malloc above.
void* operator new(std::size_t size) { return new_or_throw(malloc(size)); }
void* operator new[](std::size_t size) { return new_or_throw(malloc(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return malloc(size); }
void* operator new(std::size_t size, std::align_val_t a) { return aligned_new(size, a); }
void* operator new[](std::size_t size, std::align_val_t a) { return aligned_new(size, a); }
void operator delete(void* block) noexcept { free(block); }
void operator delete[](void* block) noexcept { free(block); }
void operator delete(void* block, std::size_t) noexcept { free(block); }
void operator delete[](void* block, std::size_t) noexcept { free(block); }
void operator delete(void* block, std::align_val_t) noexcept { free(block); }
void operator delete[](void* block, std::align_val_t) noexcept { free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { free(block); }
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept { free(block); }
