// Dtype and shape of an array, without memory.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

struct ArrayType {
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t shape[TNR_MAX_RANK];

  friend bool operator==(const ArrayType& a, const ArrayType& b) noexcept {
    if (a.dtype != b.dtype || a.rank != b.rank) return false;
    for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
      if (a.shape[axis] != b.shape[axis]) return false;
    }
    return true;
  }
};

}  // namespace tenure
