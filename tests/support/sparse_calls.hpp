// Arguments and results of the C functions of sparse matrices.
#pragma once

#include <cstring>

#include "tenure/tenure.h"

namespace tenure::test {

inline tnr_scalar f32(float value) {
  tnr_scalar scalar = {};
  scalar.dtype = TNR_DTYPE_F32;
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

// Releases the matrix that a call has made. Returns the status of the release, or of a failed call.
inline tnr_status status_of(tnr_sparse* made) {
  return made == nullptr ? tnr_last_error()->status : tnr_sparse_release(made);
}

}  // namespace tenure::test
