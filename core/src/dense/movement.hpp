// Movement of elements, as operations along strips.
#pragma once

#include "dense/strip_runner.hpp"
#include "tenure/view.hpp"

namespace tenure {

inline bool is_complex(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_C64 || dtype == TNR_DTYPE_C128;
}

Operation copy_operation(tnr_dtype dtype);
// Throws UNSUPPORTED.
Operation cast_operation(tnr_dtype from, tnr_dtype to);

}  // namespace tenure
