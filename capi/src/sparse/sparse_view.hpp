// Sparse views as C lends them.
#pragma once

#include "boundary.hpp"

namespace tenure::capi {

inline tnr_sparse_view read_sparse(const tnr_sparse_view* view, const char* name) {
  return read_sized(view, name);
}

}  // namespace tenure::capi
