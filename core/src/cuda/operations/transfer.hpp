// Copies between a device's memory and the CPU's, or that of another device.
#pragma once

#include "cuda/queue.hpp"

namespace tenure::cuda {

// Copies as tenure::copy() does, where one of the views is on the queue's device and the other is
// not.
//
// The other view may be on the CPU, and both in any layout. Then the call returns when the bytes
// have arrived: memory of the CPU is lent only for the call. Where both views have their elements
// without gaps and in the same order, one transfer does it; else elements are brought in row-major
// order by a copy on their own side.
//
// A copy from or to another device is only enqueued. The view there has no gaps, since the queue
// computes only on its own device; the view on the queue's device may have any layout.
void transfer(const Queue& queue, const Context& context, const tnr_view& a,
              const tnr_view_mut& out);

// Enqueues a copy from or to the CPU. The view on the CPU has no gaps, and its owner is in use
// until the copy is done.
void transfer_async(const Queue& queue, const Context& context, const tnr_view& a,
                    const tnr_view_mut& out);

}  // namespace tenure::cuda
