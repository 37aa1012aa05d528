// Queue::enqueue() calls these functions, one for each operation of tenure/device_call.hpp: each
// enqueues, after it has checked the operands that its caller has not. They are in the files of this
// folder; a library that lacks one does not link.
#pragma once

#include "cuda/queue.hpp"

namespace tenure::cuda {

#define TENURE_ENQUEUE(name) void enqueue(const Queue& queue, const name& call);
TENURE_DEVICE_CALLS(TENURE_ENQUEUE)
#undef TENURE_ENQUEUE

}  // namespace tenure::cuda
