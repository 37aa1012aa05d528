// Attributes of operations: a struct that may be NULL, read as any other with a struct_size.
#pragma once

#include <bit>

#include "boundary.hpp"

namespace tenure::capi {

// The layout of all kinds without an attribute yet, and of those with one of 32 bits: they share
// code.
struct [[gnu::may_alias]] NoAttribute {
  std::uint64_t struct_size;
};
struct [[gnu::may_alias]] OneAttribute {
  std::uint64_t struct_size;
  std::uint32_t value;
  std::uint32_t reserved;
};
template <>
inline constexpr std::size_t kFirstSizeBytes<NoAttribute> = sizeof(NoAttribute);
template <>
inline constexpr std::size_t kFirstSizeBytes<OneAttribute> = sizeof(OneAttribute);

// These functions throw INVALID_ARGUMENT for a wrong struct_size, and for fields that this library
// does not know and that are not 0.
[[gnu::cold]] void check_attributes_given(const NoAttribute& attributes);
OneAttribute read_attributes_given(const OneAttribute& attributes);
tnr_reduce_attributes read_reduce_attributes(const tnr_reduce_attributes* attributes);

// INVALID_ARGUMENT unless a field that has no meaning for the operation is 0.
void require_zero(std::uint32_t value, const char* field);

// The attributes of a call; NULL is all zeros, which mean the defaults.
template <class Attributes>
Attributes attributes_of(const Attributes* attributes) {
  static_assert(sizeof(Attributes) == sizeof(OneAttribute) && alignof(Attributes) == 8);
  static_assert(kFirstSizeBytes<Attributes> == sizeof(OneAttribute));
  if (attributes == nullptr) return {};
  const auto& given = *reinterpret_cast<const OneAttribute*>(attributes);
  return std::bit_cast<Attributes>(read_attributes_given(given));
}

// Like attributes_of(), for a struct with any fields.
template <class Attributes>
Attributes sized_attributes_of(const Attributes* attributes) {
  if (attributes == nullptr) return {};
  return read_sized(attributes, "attributes");
}

// Checks a struct of attributes in which this library knows no field.
template <class Attributes>
void check_attributes(const Attributes* attributes) {
  static_assert(sizeof(Attributes) == sizeof(NoAttribute) && alignof(Attributes) == 8);
  static_assert(kFirstSizeBytes<Attributes> == sizeof(NoAttribute));
  if (attributes != nullptr) [[unlikely]]
    check_attributes_given(*reinterpret_cast<const NoAttribute*>(attributes));
}

}  // namespace tenure::capi
