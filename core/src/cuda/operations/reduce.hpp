// Reductions as parts of other operations.
#pragma once

#include <cstdint>

#include "cuda/queue.hpp"

namespace tenure::cuda {

// Measures the rows of a checked normalization, into a MeasuredRow for each position of the other
// axes, in their row-major order.
void measure_rows(const Queue& queue, tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                  void* rows);

}  // namespace tenure::cuda
