// Copies between a device's memory and the CPU's, or that of another device.
#pragma once

#include "cuda/queue.hpp"

namespace tenure::cuda {

// As tenure::copy(), where one of the views is on the queue's device and the other is not.
//
// With the CPU, in any layouts. It returns when the bytes are there: memory of the CPU is lent for
// the call alone. Where both have their elements without gaps and in the same order, one transfer
// does it; else elements are brought in row-major order by a copy on their own side.
//
// With another device it enqueues. The view there has no gaps, since the queue can compute on its
// own device alone; there the view may have any layout.
void transfer(const Queue& queue, const Context& context, const tnr_view& a,
              const tnr_view_mut& out);

// The same with the CPU, whose view has no gaps, enqueued. Its owner is in use until the copy is
// done.
void transfer_async(const Queue& queue, const Context& context, const tnr_view& a,
                    const tnr_view_mut& out);

}  // namespace tenure::cuda
