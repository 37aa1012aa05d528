// Elements by index on a device, as core/include/tenure/movement.hpp has them: checked as there,
// and enqueued.
#pragma once

#include "cuda/queue.hpp"
#include "dense/movement/indexed.hpp"

namespace tenure::cuda {

// All views are on the queue's device. Whether all indices are inside is looked at first, and is
// waited for; where one is not, nothing is written.
void take(const Queue& queue, const IndexedViews& views, IndexedAxes::Names names,
          const tnr_view_mut& out);
void put(const Queue& queue, tnr_binary_op op, const IndexedViews& views, IndexedAxes::Names names,
         const tnr_view_mut& out);

}  // namespace tenure::cuda
