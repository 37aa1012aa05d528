// The windows of a pooling, and whether the operands of a call agree: on the CPU and on a device.
#pragma once

#include "dense/image/geometry.hpp"

namespace tenure {

inline Rounding rounding_of(const tnr_pool2d_attributes& attributes) noexcept {
  return (attributes.flags & TNR_POOL2D_CEIL) != 0 ? Rounding::kUp : Rounding::kDown;
}

struct CheckedPool {
  WindowGeometry geometry;
  WindowSpacing spacing;
  tnr_dtype computed;
  unsigned type;  // of `computed`: the row of the kernels' tables
};
// Throws what a code, attributes, shapes and dtypes deserve that do not agree. Messages call the
// result `out_name`.
CheckedPool checked_pool(tnr_reduce_op op, const tnr_view& a,
                         const tnr_pool2d_attributes& attributes, const tnr_view& out,
                         const char* out_name = "out");

// The result has elements: throws INVALID_ARGUMENT unless each window has one too.
void require_elements(const CheckedPool& pool, const char* out_name = "out");

// Whether there is one window, which is the whole image.
bool is_global(const CheckedPool& pool) noexcept;

}  // namespace tenure
