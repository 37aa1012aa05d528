#include "boundary.hpp"

#include <cstdio>
#include <new>
#include <stdexcept>

namespace tenure::capi {

tnr_status record(tnr_status status, const char* message) noexcept {
  tnr_error& error = last_error();
  error.status = status;
  std::snprintf(error.message, sizeof(error.message), "%s", message);
  return status;
}

tnr_status record_unnamed() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return record(TNR_STATUS_OUT_OF_MEMORY, "memory could not be allocated");
  } catch (const std::length_error&) {
    return record(TNR_STATUS_OUT_OF_MEMORY, "more memory is needed than any machine could have");
  } catch (...) {
    return record(TNR_STATUS_INTERNAL, "an unknown exception reached the boundary");
  }
}

namespace {

Refusal size_refusal(std::uint64_t struct_size, std::size_t first_bytes,
                     const char* name) noexcept {
  if (struct_size >= first_bytes && struct_size <= kMaxStructSize) [[likely]]
    return std::nullopt;
  return error_of(TNR_STATUS_INVALID_ARGUMENT,
                  "%s->struct_size is %llu but must be at least %zu and at most %zu", name,
                  static_cast<unsigned long long>(struct_size), first_bytes, kMaxStructSize);
}

}  // namespace

void require_size(std::uint64_t struct_size, std::size_t first_bytes, const char* name) {
  require_none(size_refusal(struct_size, first_bytes, name));
}

Refusal sized_refusal(const void* source, std::size_t first_bytes, std::size_t known_bytes,
                      const char* name) noexcept {
  std::uint64_t struct_size;
  std::memcpy(&struct_size, source, sizeof struct_size);
  if (Refusal refusal = size_refusal(struct_size, first_bytes, name)) [[unlikely]]
    return refusal;
  const std::size_t unknown = first_set_byte(source, known_bytes, struct_size);
  if (unknown >= struct_size) [[likely]]
    return std::nullopt;
  return error_of(
      TNR_STATUS_INVALID_ARGUMENT,
      "%s has 0x%02x at offset %zu, but this library, of ABI %d.%d, knows only %zu bytes of it",
      name, static_cast<const unsigned char*>(source)[unknown], unknown, TNR_ABI_MAJOR,
      TNR_ABI_MINOR, known_bytes);
}

void require_sized(const void* source, std::size_t first_bytes, std::size_t known_bytes,
                   const char* name) {
  require_none(sized_refusal(source, first_bytes, known_bytes, name));
}

}  // namespace tenure::capi
