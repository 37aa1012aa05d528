// What operations ask of their operands but for memory: as they check it themselves, and as programs
// do before there is any.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

// Of views dtypes and shapes alone are looked at. Each throws as the operation of its name does.
void check_pool2d(tnr_reduce_op op, const tnr_view& a, const tnr_pool2d_attributes& attributes,
                  const tnr_view& out);
// nullptr: not given.
void check_batch_norm(const tnr_view& a, const tnr_view* mean, const tnr_view& var,
                      const tnr_view* weight, const tnr_view* bias, double eps,
                      const tnr_view& out);
void check_pad(tnr_pad_mode mode, const tnr_view& a, const tnr_pad_attributes& attributes,
               const tnr_view& out);
// The dtype of the result.
tnr_dtype check_scan(tnr_scan_op op, tnr_dtype dtype);

}  // namespace tenure
