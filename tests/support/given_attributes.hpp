// Attributes of one call. In addition to their size, one field is given.
#pragma once

#include "cpu/operations.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

// Converts to the pointer that a call takes, and lives as long as the call.
template <class Attributes>
struct GivenAttributes {
  Attributes value;
  operator const Attributes*() const { return &value; }
};

template <class Attributes, class Value>
GivenAttributes<Attributes> attributes(Value value) {
  Attributes given{};
  given.struct_size = sizeof given;
  if constexpr (requires { given.ddof; }) {
    given.ddof = static_cast<decltype(given.ddof)>(value);
  } else {
    auto& [struct_size, field, reserved] = given;
    field = static_cast<decltype(field)>(value);
  }
  return {given};
}

// Attributes for any reduction: a norm is that of squares.
inline GivenAttributes<tnr_reduce_attributes> reduce_attributes(tnr_reduce_op op) {
  auto given = attributes<tnr_reduce_attributes>(0);
  const kernels::Attribute taken = kernels::kReduceRows[op - 1].attribute;
  given.value.power = taken == kernels::Attribute::kPower ? 2 : 0;
  return given;
}

}  // namespace tenure::test
