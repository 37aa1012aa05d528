// From dense to sparse on a device.
#pragma once

#include "cpu/compress.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// A call that has been checked, of views on the device of the context.
struct DeviceFromDense {
  const tnr_view& dense;
  const SparseOptions& options;  // whose mask is looked at where has_mask is
  tnr_dtype index_dtype;
  kernels::Predicate predicate;
  bool has_mask;
  const Pins& pins;
};

// Waits once, for the number of entries. Throws UNSUPPORTED for a batch and BSR, and
// INVALID_ARGUMENT where the indices cannot count the result.
SparseToken from_dense_on(const Context& context, const DeviceQueue& queue,
                          const DeviceFromDense& call);

}  // namespace tenure
