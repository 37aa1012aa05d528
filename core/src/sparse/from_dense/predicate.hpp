// Predicates: which elements of a dense matrix become entries of a sparse one.
#pragma once

#include "cpu/compress.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// The kernels' predicate for these options on elements of `dtype`; with PREDICATE_MASK on the
// mask's bytes. A NaN is kept, whatever it is compared with. Throws INVALID_ARGUMENT for an unknown
// predicate or flag, and for a threshold that is NaN, that does not fit the dtype, or that is
// negative where magnitudes are compared; UNSUPPORTED for a dtype without an order or a known zero.
kernels::Predicate predicate_of(const tnr_sparse_options& options, tnr_dtype dtype);

}  // namespace tenure
