// Predicates: which elements of a dense matrix become entries of a sparse one.
#pragma once

#include "cpu/compress.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// Real dtypes and c64 have one; `flags` are those of TNR_FROM_DENSE.
kernels::Predicate non_zero(tnr_dtype dtype, std::uint32_t flags = 0) noexcept;

// The kernels' predicate for these options on elements of `dtype`; with PREDICATE_MASK on the
// mask's bytes. A NaN is kept, whatever it is compared with. Throws INVALID_ARGUMENT for an unknown
// predicate or flag, and for a threshold that is NaN, that does not fit the dtype, or that is
// negative where magnitudes are compared; UNSUPPORTED for a dtype without an order or a known zero.
kernels::Predicate predicate_of(const SparseOptions& options, tnr_dtype dtype);

}  // namespace tenure
