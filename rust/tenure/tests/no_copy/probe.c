/* Preloaded into the test program: counts the bytes that anything in the process allocates and
 * copies, whoever asks, Rust or C++. The counters run only between probe_start and probe_stop.
 *
 * Built by main.rs with -fno-builtin, so that the loops below stay loops. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A memcpy of less is a header or a message, no data. */
enum { SMALLEST_COPY = 4096 };

struct probe_counts {
  uint64_t allocated_bytes;
  uint64_t copied_bytes;
};

static atomic_int counting;
static atomic_ullong allocated_bytes;
static atomic_ullong copied_bytes;

/* With huge pages a copy of 64 MiB would show as 32 faults and drown in the noise. */
__attribute__((constructor)) static void use_small_pages(void) {
  prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL);
}

void probe_start(void) {
  allocated_bytes = 0;
  copied_bytes = 0;
  counting = 1;
}

struct probe_counts probe_stop(void) {
  counting = 0;
  struct probe_counts counts = {allocated_bytes, copied_bytes};
  return counts;
}

static void count_allocation(size_t size) {
  if (counting) allocated_bytes += size;
}

static void count_copy(size_t size) {
  if (counting && size >= SMALLEST_COPY) copied_bytes += size;
}

/* glibc's own entries: looking up the next malloc by name would itself allocate. */
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  count_allocation(size);
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  count_allocation(count * size);
  return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
  count_allocation(size);
  return __libc_realloc(memory, size);
}

void* memalign(size_t alignment, size_t size) {
  count_allocation(size);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** out, size_t alignment, size_t size) {
  void* memory = memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (flags & MAP_ANONYMOUS) count_allocation(size);
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

static void copy_up(char* to, const char* from, size_t size) {
  for (size_t i = 0; i < size; i++) to[i] = from[i];
}

static void copy_down(char* to, const char* from, size_t size) {
  while (size-- > 0) to[size] = from[size];
}

void* memcpy(void* restrict to, const void* restrict from, size_t size) {
  count_copy(size);
  copy_up(to, from, size);
  return to;
}

void* memmove(void* to, const void* from, size_t size) {
  count_copy(size);
  if ((uintptr_t)to - (uintptr_t)from < size) {
    copy_down(to, from, size);
  } else {
    copy_up(to, from, size);
  }
  return to;
}

void* __memcpy_chk(void* restrict to, const void* restrict from, size_t size, size_t room) {
  (void)room;
  return memcpy(to, from, size);
}

void* __memmove_chk(void* to, const void* from, size_t size, size_t room) {
  (void)room;
  return memmove(to, from, size);
}
