// Scalars: a number by value, converted to the dtype of the tensor operand.
#pragma once

#include <algorithm>
#include <type_traits>

#include "tenure/status.hpp"

namespace tenure {

// One element's bytes, from byte 0.
struct Element {
  alignas(16) unsigned char bytes[16];
};

// The scalar as an element of `dtype`. An integer, and every bool8, must be exactly representable;
// a float may round to nearest in a float dtype, but not overflow to infinity. A complex number
// meets complex dtypes only. Throws INVALID_ARGUMENT naming the value and the dtype, UNSUPPORTED
// for a dtype without a name. `name` is the parameter's.
Element to_element(const tnr_scalar& scalar, tnr_dtype dtype, const char* name);

// Refuses a scalar for its value: INVALID_ARGUMENT, "<name> is <value> but <why>".
[[noreturn]] void refuse_scalar(const tnr_scalar& scalar, const char* name, const char* why);

// Whether a field that may be left out, a scalar or a view, has a byte other than 0.
template <class Field>
bool is_given(const Field& field) noexcept {
  static_assert(std::has_unique_object_representations_v<Field>);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&field);
  return std::any_of(bytes, bytes + sizeof field, [](unsigned char byte) { return byte != 0; });
}

// Whether an element of a real dtype is 0, of floats also -0.
bool is_zero(const Element& element, tnr_dtype dtype) noexcept;

}  // namespace tenure
