// Copies between the CPU's memory and a device's.
#pragma once

#include "cuda/queue.hpp"

namespace tenure::cuda {

// As tenure::copy(), where one of the views is on the queue's device and the other on the CPU, in
// any layouts. It returns when the bytes are there: memory of the CPU is lent for the call alone.
// Where both have their elements without gaps and in the same order, one transfer does it; else
// elements are brought in row-major order by a copy on their own side.
void transfer(const Queue& queue, const Context& context, const tnr_view& a,
              const tnr_view_mut& out);

}  // namespace tenure::cuda
