// Element-wise operations on a device, as core/include/tenure/ops.hpp has them: checked as there,
// and enqueued.
#pragma once

#include "cuda/queue.hpp"

namespace tenure::cuda {

// All views are on the queue's device. What is found on the data (a divisor 0, a negative power of
// integers) is waited for.
void copy(const Queue& queue, const tnr_view& a, const tnr_view_mut& out);
void cast(const Queue& queue, const tnr_view& a, const tnr_view_mut& out);
void fill(const Queue& queue, const tnr_scalar& value, const tnr_view_mut& out);
void unary(const Queue& queue, tnr_unary_op op, const tnr_view& a, const tnr_view_mut& out);
void binary(const Queue& queue, tnr_binary_op op, const tnr_view& a, const tnr_view& b,
            const tnr_view_mut& out);
void binary(const Queue& queue, tnr_binary_op op, const tnr_view& a, const tnr_scalar& b,
            const tnr_view_mut& out);
void binary(const Queue& queue, tnr_binary_op op, const tnr_scalar& a, const tnr_view& b,
            const tnr_view_mut& out);
void ternary(const Queue& queue, tnr_ternary_op op, const tnr_view& a, const tnr_view& b,
             const tnr_view& c, const tnr_view_mut& out);
void compare(const Queue& queue, tnr_compare_op op, const tnr_view& a, const tnr_view& b,
             const tnr_view_mut& out);
void compare(const Queue& queue, tnr_compare_op op, const tnr_view& a, const tnr_scalar& b,
             const tnr_view_mut& out);
void select(const Queue& queue, const tnr_view& condition, const tnr_view& a, const tnr_view& b,
            const tnr_view_mut& out);

}  // namespace tenure::cuda
