// Entries of matrices on a device in order.
#pragma once

#include <cstdint>

#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// A call that has been checked, except for offsets and indices.
struct OrderOnDevice {
  const char* name;
  const tnr_sparse_view& a;
  tnr_sparse_format format;  // of the result: that of `a`, or for COO also CSR or CSC
  DeviceEntryOrder::By by;
  tnr_sparse_combine combine;  // 0: every entry is kept
  std::uint32_t flags;         // of the result
  tnr_operation operation;
  const Pins& pins;
};

// Waits once. 0 where COO that is to be compressed as it is has rows that fall. Throws
// INVALID_ARGUMENT where an offset or an index is wrong, and as a DeviceEntryOrder.
SparseToken order_on(const Context& context, const DeviceQueue& queue, const OrderOnDevice& call);

}  // namespace tenure
