// Checks of operands without memory: operations make them, and programs before there is any memory.
#pragma once

#include <cstdint>

#include "tenure/tenure.h"

namespace tenure {

// Each throws as the operation of its name does, and reads only the dtypes and shapes of views.
void check_pool2d(tnr_reduce_op op, const tnr_view& a, const tnr_pool2d_attributes& attributes,
                  const tnr_view& out);
void check_pool2d_gradient(tnr_reduce_op op, const tnr_view& a, const tnr_view& g,
                           const tnr_pool2d_attributes& attributes, const tnr_view& out);
void check_conv2d_filters(const tnr_view& a, const tnr_view& g,
                          const tnr_conv2d_attributes& attributes, const tnr_view& out);
// nullptr: not given.
void check_batch_norm(const tnr_view& a, const tnr_view* mean, const tnr_view& var,
                      const tnr_view* weight, const tnr_view* bias, double eps,
                      const tnr_view& out);
void check_pad(tnr_pad_mode mode, const tnr_view& a, const tnr_pad_attributes& attributes,
               const tnr_view& out);
// The dtype of the result.
tnr_dtype check_scan(tnr_scan_op op, tnr_dtype dtype);
void check_scan(tnr_scan_op op, const tnr_view& a, std::uint32_t axis, const tnr_view& out);

}  // namespace tenure
