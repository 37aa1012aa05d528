// Which elements of a dense matrix become entries of a sparse one.
#pragma once

#include "cpu/compress.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// What the options ask of elements of `dtype`, as kernels ask it; with PREDICATE_MASK of the mask's
// bytes. A NaN is kept, whatever it is compared with. Throws INVALID_ARGUMENT for a predicate without
// a name, an unknown flag, and a threshold that is NaN, that does not fit the dtype, or that is
// negative where magnitudes are compared; UNSUPPORTED for a dtype that has no order, or whose zeros
// nobody knows here.
kernels::Predicate predicate_of(const tnr_sparse_options& options, tnr_dtype dtype);

}  // namespace tenure
