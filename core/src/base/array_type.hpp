// Dtype and shape of an array, without memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

struct ArrayType {
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t shape[TNR_MAX_RANK];

  friend bool same_shape(const ArrayType& a, const ArrayType& b) noexcept {
    return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape);
  }
  friend bool operator==(const ArrayType& a, const ArrayType& b) noexcept {
    return a.dtype == b.dtype && same_shape(a, b);
  }
};

}  // namespace tenure
