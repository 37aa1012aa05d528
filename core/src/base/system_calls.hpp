// All system calls that may be refused, in one place: memory, a processor's state, and notification
// of forks and thread exits. No other file of core/ and capi/ makes one
// (tests/abi/system_calls_test.cmake).
//
// A test refuses each call in each manner that a kernel has, by a program that defines these
// functions itself: the linker then leaves ours in the archive. Other code therefore cannot replace
// them at run time, and no table of pointers costs time or needs protection.
//
// Not here, as the library does not make these calls itself: threads, mutexes and condition
// variables are the C++ library's (std::thread, std::condition_variable), and so are their calls of
// futexes. A thread that cannot be started is an exception, which thread_pool.cpp catches.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace tenure::system_calls {

// 0, or the number that errno has for the refusal.
using Error = int;

#if !defined(_WIN32)

enum class Backing {
  kMemory,
  kAddresses,  // nothing is set aside before it is touched (MAP_NORESERVE)
};

// Returns private memory of zeros at an address that the system chooses. NULL when refused.
void* map(std::size_t size_bytes, Backing backing) noexcept;
// Refused where it would make two mappings of one and the process has as many as it may
// (vm.max_map_count): then all of it is still there.
Error unmap(void* data, std::size_t size_bytes) noexcept;

enum class Advice {
  kHugePages,
  kWillBeWritten,  // pages are made now; no byte changes (Linux 5.14)
  kForget,         // the content, which becomes zeros: its memory is given back
};
Error advise(void* data, std::size_t size_bytes, Advice advice) noexcept;

#if defined(__linux__)

// Moves a mapping, or a part of one, to `to`, and replaces the mapping there. After a refusal the
// memory is where it was, but the mapping at `to` may be gone, and another thread's mapping may be
// there instead: Linux before 6.17 unmaps first and then says that several mappings do not move
// together (EFAULT).
Error move(void* from, std::size_t size_bytes, void* to) noexcept;

// Makes a mapping longer where it lies, if nothing lies behind it. EFAULT, in every Linux: these
// bytes are not all of one mapping.
Error extend(void* data, std::size_t size_bytes, std::size_t wanted_bytes) noexcept;

// Whether a page is in memory, in bit 0.
Error look_up(void* page, std::size_t page_bytes, unsigned char* answer) noexcept;

// Permission for the process to use the tiles of AMX, whose state is 8 KiB. Refused where a thread
// has a stack for signals that is too small for it, and before Linux 5.16.
Error permit_tiles() noexcept;

#endif

// Calls pthread_atfork().
Error at_fork(void (*before)(), void (*after_in_parent)(), void (*after_in_child)()) noexcept;

#else

// Addresses without memory. NULL when refused.
void* reserve(std::size_t size_bytes) noexcept;
// Memory for a part of them; false when refused.
bool commit(void* data, std::size_t size_bytes) noexcept;
// The result of reserve() that these addresses belong to; NULL where it cannot be determined.
void* reservation_of(void* data) noexcept;
void release(void* reserved) noexcept;

#endif

// Call pthread_key_create() and pthread_setspecific().
Error make_thread_key(pthread_key_t* key, void (*at_end)(void*)) noexcept;
Error set_thread_value(pthread_key_t key, const void* value) noexcept;

}  // namespace tenure::system_calls
