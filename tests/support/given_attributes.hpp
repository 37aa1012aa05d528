// Attributes of one call that have one field beside their size.
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
  auto& [struct_size, field, reserved] = given;
  struct_size = sizeof given;
  field = static_cast<decltype(field)>(value);
  return {given};
}

}  // namespace tenure::test
