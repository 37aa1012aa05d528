// Reductions on a device, as core/include/tenure/ops.hpp has them: checked as there, and enqueued.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/queue.hpp"

namespace tenure::cuda {

// Both views are on the queue's device.
void reduce(const Queue& queue, tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
            std::optional<std::uint32_t> ddof, const tnr_view_mut& out, double power);

// Measures the rows of a checked normalization, into a MeasuredRow for each position of the other
// axes, in their row-major order.
void measure_rows(const Queue& queue, tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
                  void* rows);

}  // namespace tenure::cuda
