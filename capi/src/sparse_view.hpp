// Sparse views as C lends them.
#pragma once

#include "boundary.hpp"

namespace tenure::capi {

// The size of tnr_sparse_view when 0.2 introduced it.
inline constexpr std::size_t kFirstSparseViewBytes = 824;

inline tnr_sparse_view read_sparse(const tnr_sparse_view* view, const char* name) {
  return read_sized(view, name, kFirstSparseViewBytes);
}

}  // namespace tenure::capi
