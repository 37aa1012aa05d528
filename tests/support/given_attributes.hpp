// Attributes of one call of which one field is given beside their size.
#pragma once

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

}  // namespace tenure::test
