// What stands between the core and C: exceptions become statuses, tokens become handles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure::capi {

// Makes a failure the thread's last error and returns its status. The last act of a failing call.
tnr_status record(tnr_status status, const char* message) noexcept;

// In a catch block, for what is no Error: what the C++ library throws where memory is asked for and
// cannot be had, or could be in no machine, is OUT_OF_MEMORY, and anything else INTERNAL.
tnr_status record_unnamed() noexcept;

// Runs the whole body of a boundary function, argument checks included. Every local of the body is
// gone before the failure is recorded, so a release callback that runs on the way out cannot
// replace the message.
template <class Body>
tnr_status guarded(Body&& body) noexcept {
  try {
    std::forward<Body>(body)();
    return TNR_STATUS_OK;
  } catch (const Error& error) {
    return record(error.status(), error.message());
  } catch (...) {
    return record_unnamed();
  }
}

// As guarded(), for functions that return a pointer: NULL on failure.
template <class Body>
auto guarded_pointer(Body&& body) noexcept -> decltype(body()) {
  decltype(body()) result = nullptr;
  guarded([&] { result = body(); });
  return result;
}

// A handle is its token: opaque, never dereferenced.
inline tnr_blob* wrap(std::uint64_t token) noexcept {
  return reinterpret_cast<tnr_blob*>(static_cast<std::uintptr_t>(token));
}
inline std::uint64_t unwrap(const tnr_blob* blob) noexcept {
  return reinterpret_cast<std::uintptr_t>(blob);
}

// A use of the context for the rest of the full expression; throws STALE_HANDLE. NULL names the
// default and costs nothing.
inline ContextUse context_of(const tnr_context* context) {
  return ContextUse(reinterpret_cast<std::uintptr_t>(context));
}

// `*pointer`, or INVALID_ARGUMENT naming the parameter when it is NULL.
template <class T>
T& deref(T* pointer, const char* name) {
  if (pointer == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL", name);
  return *pointer;
}

// No struct of ours will be larger: a size above is one that was never set.
inline constexpr std::size_t kMaxStructSize = 4096;

inline void require_struct_size(std::uint64_t size_bytes, const char* name,
                                std::size_t first_size_bytes) {
  if (size_bytes < first_size_bytes || size_bytes > kMaxStructSize) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s->struct_size is %llu but must be at least %zu and at most %zu", name,
         static_cast<unsigned long long>(size_bytes), first_size_bytes, kMaxStructSize);
  }
}

// A copy of a struct that starts with its struct_size and may be of an older or a newer version than
// ours: fields that only we know are 0. Throws INVALID_ARGUMENT as write_sized() does, and for bytes
// that only a newer client knows and that are not 0: it asks for what we do not know.
template <class Sized>
Sized read_sized(const Sized* source, const char* name, std::size_t first_size_bytes) {
  static_assert(std::is_trivially_copyable_v<Sized> && offsetof(Sized, struct_size) == 0);
  const std::uint64_t size_bytes = deref(source, name).struct_size;
  require_struct_size(size_bytes, name, first_size_bytes);
  const char* const bytes = reinterpret_cast<const char*>(source);
  for (std::size_t i = sizeof(Sized); i < size_bytes; ++i) {
    if (bytes[i] != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s has a byte that is not 0 at offset %zu, but only %zu bytes of it are known here",
           name, i, sizeof(Sized));
    }
  }
  Sized value{};
  std::memcpy(&value, source, std::min<std::uint64_t>(size_bytes, sizeof(Sized)));
  return value;
}

// Writes `value` to a struct that starts with its struct_size and may be of an older or a newer
// version than ours: never beyond the caller's size, which stays. Fields that only a newer client
// knows are set to 0, so that it reads "not told" and not what its stack held. Throws
// INVALID_ARGUMENT when the size is below `first_size_bytes`, that of the version that introduced
// the struct, or above kMaxStructSize.
template <class Sized>
void write_sized(Sized* target, const char* name, std::size_t first_size_bytes, Sized value) {
  static_assert(std::is_trivially_copyable_v<Sized> && offsetof(Sized, struct_size) == 0);
  value.struct_size = deref(target, name).struct_size;
  require_struct_size(value.struct_size, name, first_size_bytes);
  const std::size_t known_bytes = std::min<std::uint64_t>(value.struct_size, sizeof(Sized));
  std::memcpy(target, &value, known_bytes);
  std::memset(reinterpret_cast<char*>(target) + known_bytes, 0, value.struct_size - known_bytes);
}

}  // namespace tenure::capi
