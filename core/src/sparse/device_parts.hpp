// Offsets and indices on a device, where the CPU has to read them: to describe an error, and to
// make a handle.
#pragma once

#include "tenure/blob.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// check_entries() of a matrix whose parts are on a device and pinned, by the queues that are their
// homes. Copies offsets and indices, and waits. Throws INVALID_ARGUMENT also where no part has an
// owner, whose queue that would be, and UNSUPPORTED for a batch.
void check_device_entries(const tnr_sparse_view& view, const Pins& pins, RowExtent rows,
                          const char* name);

// entry_range() of a matrix whose parts are pinned and on the queue's device; waits. Throws
// INVALID_ARGUMENT where that is none.
EntryRange entry_range_on(const DeviceQueue& queue, const tnr_sparse_view& view, const Pins& pins,
                          const char* name);

// After a kernel has found an offset or an index that is wrong. Throws INVALID_ARGUMENT in any
// case.
[[noreturn]] void refuse_entries_on(const DeviceQueue& queue, const tnr_sparse_view& view,
                                    const char* name);

}  // namespace tenure
