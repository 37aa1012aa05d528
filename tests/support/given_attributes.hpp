// Attributes of one call.
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

// In addition to their size, one field is given.
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

// Attributes of a conversion whose result has the blocks of `a`, if `a` has any.
inline tnr_sparse_convert_attributes blocks_like(const tnr_sparse_view& a) {
  tnr_sparse_convert_attributes given{};
  given.struct_size = sizeof given;
  if (a.format == TNR_SPARSE_FORMAT_BSR) {
    given.block_rows = a.block_rows;
    given.block_cols = a.block_cols;
  }
  return given;
}

}  // namespace tenure::test
