// The kernels of complex numbers by operation: others have a column for each dtype in the table of
// their operation.
#pragma once

#include "dense/loops/strip_runner.hpp"
#include "tenure/tenure.h"

namespace tenure {

// Throw UNSUPPORTED where the operation does not take this dtype, whatever it is. The codes are
// those of operations.
Operation complex_unary(tnr_unary_op op, tnr_dtype dtype);
Operation complex_binary(tnr_binary_op op, tnr_dtype dtype);
Operation complex_comparison(tnr_compare_op op, tnr_dtype dtype);

}  // namespace tenure
