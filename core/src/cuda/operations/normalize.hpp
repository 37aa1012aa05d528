// Normalizations on a device, as core/include/tenure/normalize.hpp has them: checked as there, and
// enqueued.
#pragma once

#include <cstdint>

#include "cuda/queue.hpp"

namespace tenure::cuda {

// All views are on the queue's device.
void normalize(const Queue& queue, tnr_normalize_op op, const tnr_view& a, std::uint32_t axes,
               const tnr_normalize_attributes& attributes, const tnr_view_mut& out);

}  // namespace tenure::cuda
