#include "base/system_calls.hpp"

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

namespace tenure::system_calls {

void* reserve(std::size_t size_bytes) noexcept {
  return VirtualAlloc(nullptr, size_bytes, MEM_RESERVE, PAGE_NOACCESS);
}

bool commit(void* data, std::size_t size_bytes) noexcept {
  return VirtualAlloc(data, size_bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void* reservation_of(void* data) noexcept {
  MEMORY_BASIC_INFORMATION found;
  return VirtualQuery(data, &found, sizeof found) == 0 ? nullptr : found.AllocationBase;
}

void release(void* reserved) noexcept { VirtualFree(reserved, 0, MEM_RELEASE); }

Error make_thread_key(pthread_key_t* key, void (*at_end)(void*)) noexcept {
  return pthread_key_create(key, at_end);
}

Error set_thread_value(pthread_key_t key, const void* value) noexcept {
  return pthread_setspecific(key, value);
}

}  // namespace tenure::system_calls

#endif
