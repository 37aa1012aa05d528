// The boundary between the core and C: exceptions become statuses, tokens become handles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "first_sizes.hpp"
#include "tenure/context.hpp"
#include "tenure/instruction_set.hpp"
#include "tenure/status.hpp"

namespace tenure::capi {

// Makes a failure the thread's last error and returns its status. The last act of a failing call.
tnr_status record(tnr_status status, const char* message) noexcept;

// Records, in a catch block, an exception that is no Error. The exceptions of the C++ library for
// memory that it cannot allocate, or that no machine could have, are OUT_OF_MEMORY. All others are
// INTERNAL.
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

// Like guarded(), for a body that returns a Refusal, which is a failure without an exception.
template <class Body>
tnr_status answered(Body&& body) noexcept {
  Refusal refusal;
  const tnr_status status = guarded([&] { refusal = body(); });
  return refusal ? record(refusal->status(), refusal->message()) : status;
}

// Like guarded(), for functions that return a pointer: NULL on failure.
template <class Body>
auto guarded_pointer(Body&& body) noexcept -> decltype(body()) {
  decltype(body()) result = nullptr;
  guarded([&] { result = body(); });
  return result;
}

// A handle is its token: opaque, never dereferenced.
template <class Object>
Object* handle_of(std::uint64_t token) noexcept {
  return reinterpret_cast<Object*>(static_cast<std::uintptr_t>(token));
}
template <class Object>
std::uint64_t token_of(const Object* handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

// Gives one handle up, or none where it is NULL.
template <class Object>
tnr_status release_handle(Object* handle, void (*release)(std::uint64_t token)) noexcept {
  return guarded([&] {
    if (handle != nullptr) release(token_of(handle));
  });
}
// Counts the handle once more, and returns it.
template <class Object>
Object* retain_handle(Object* handle, void (*retain)(std::uint64_t token)) noexcept {
  return guarded_pointer([&] {
    retain(token_of(handle));
    return handle;
  });
}

// A use of the context for the rest of the full expression; throws STALE_HANDLE. NULL names the
// default and costs nothing.
inline ContextUse use_of(const tnr_context* context) { return ContextUse(token_of(context)); }

// Like use_of(), for a call that computes. Throws as instruction_set() does if there is no
// instruction set: after this call, loops that are noexcept may look up their kernels.
inline ContextUse context_of(const tnr_context* context) {
  (void)kernels::chosen_word();
  return use_of(context);
}

// `*pointer`, or INVALID_ARGUMENT naming the parameter when it is NULL.
template <class T>
T& deref(T* pointer, const char* name) {
  if (pointer == nullptr) fail(TNR_STATUS_INVALID_ARGUMENT, "%s is NULL", name);
  return *pointer;
}

// No struct of ours will be larger, which headergen sees to: a size above is one that was never
// set.
inline constexpr std::size_t kMaxStructSize = 4096;

// Between the size that a struct was introduced with, which every client has, and kMaxStructSize;
// throws INVALID_ARGUMENT.
void require_size(std::uint64_t struct_size, std::size_t first_bytes, const char* name);
template <class Sized>
constexpr std::size_t first_bytes_of() {
  static_assert(std::is_trivially_copyable_v<Sized> && offsetof(Sized, struct_size) == 0);
  constexpr std::size_t kFirst = kFirstSizeBytes<Sized>;
  static_assert(kFirst != 0 && kFirst <= sizeof(Sized) && sizeof(Sized) <= kMaxStructSize);
  return kFirst;
}
template <class Sized>
void require_struct_size(const Sized& sized, const char* name) {
  require_size(sized.struct_size, first_bytes_of<Sized>(), name);
}

// The offset of the first byte from `begin` to `end` that is not 0, or `end`.
inline std::size_t first_set_byte(const void* data, std::size_t begin, std::size_t end) {
  const char* const bytes = static_cast<const char*>(data);
  return static_cast<std::size_t>(std::find_if(bytes + begin, bytes + std::max(begin, end),
                                               [](char byte) { return byte != 0; }) -
                                  bytes);
}

// The error of read_sized(). This library knows `known_bytes` of the struct.
Refusal sized_refusal(const void* source, std::size_t first_bytes, std::size_t known_bytes,
                      const char* name) noexcept;
void require_sized(const void* source, std::size_t first_bytes, std::size_t known_bytes,
                   const char* name);

template <class Sized>
Sized copy_sized(const Sized& source) noexcept {
  Sized value{};
  std::memcpy(&value, &source, std::min<std::size_t>(source.struct_size, sizeof(Sized)));
  return value;
}

// A copy of a struct that starts with its struct_size and may be of an older or a newer version
// than ours: fields that only we know are 0. Throws INVALID_ARGUMENT for a size that no version
// has, and for bytes that only a newer client knows and that are not 0: such a client asks for
// features that we do not know.
template <class Sized>
Sized read_sized(const Sized* source, const char* name) {
  const Sized& given = deref(source, name);
  constexpr std::size_t kFirst = first_bytes_of<Sized>();
  // Most clients are of this version.
  if (given.struct_size == sizeof(Sized)) [[likely]]
    return given;
  require_sized(&given, kFirst, sizeof(Sized), name);
  return copy_sized(given);
}

// Writes facts that are independent of each other to a struct that starts with its struct_size and
// may be of an older or a newer version than ours: never beyond the caller's size, which stays. An
// older client gets the fields that it knows. Fields that only a newer client knows are set to 0,
// so that it does not read earlier contents of its stack. Throws INVALID_ARGUMENT for a size that
// no version has.
template <class Sized>
void write_report(Sized* target, const char* name, Sized value) {
  require_struct_size(deref(target, name), name);
  value.struct_size = target->struct_size;
  const std::size_t known_bytes = std::min<std::size_t>(value.struct_size, sizeof(Sized));
  std::memcpy(target, &value, known_bytes);
  std::memset(reinterpret_cast<char*>(target) + known_bytes, 0, value.struct_size - known_bytes);
}

// Like write_report(), for a struct whose fields only have a meaning together: without a field that
// is not 0, the struct of an older client would describe another matrix. Throws INVALID_ARGUMENT in
// this case, and writes nothing.
template <class Sized>
void write_sized(Sized* target, const char* name, const Sized& value) {
  require_struct_size(deref(target, name), name);
  const std::size_t size_bytes = target->struct_size;
  const std::size_t dropped = first_set_byte(&value, size_bytes, sizeof(Sized));
  if (dropped < sizeof(Sized)) {
    fail(
        TNR_STATUS_INVALID_ARGUMENT,
        "%s->struct_size is %zu, but the result has a byte that is not 0 at offset %zu of its %zu: "
        "the program was compiled for an older ABI than %d.%d, which cannot say this",
        name, size_bytes, dropped, sizeof(Sized), TNR_ABI_MAJOR, TNR_ABI_MINOR);
  }
  write_report(target, name, value);
}

}  // namespace tenure::capi
