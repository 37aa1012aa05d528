// Checks that operations from a dense to a sparse matrix share.
#pragma once

#include "tenure/sparse.hpp"

namespace tenure {

// Throws as check_view() does, and INVALID_ARGUMENT unless the rank is 2; messages name the
// parameter `dense`.
void check_dense_matrix(const tnr_view& dense);

// The requested dtype of indices, where 0 means i32. Throws INVALID_ARGUMENT for one that indices
// cannot have.
tnr_dtype checked_index_dtype(tnr_dtype dtype);

}  // namespace tenure
