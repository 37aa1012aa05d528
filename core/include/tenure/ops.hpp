// Operations: each checks its views, pins their owners, decides aliasing, then runs kernels.
//
// The contracts are those of tenure.h; the semantics are in docs/operations.md. All throw Error,
// with the output untouched except for an integer division by zero, which is found on the data.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

void copy(const Context& context, const tnr_view& a, const tnr_view_mut& out);
// tnr_copy_async().
void copy_async(const Context& context, const tnr_view& a, const tnr_view_mut& out);
void cast(const Context& context, const tnr_view& a, const tnr_view_mut& out);
void fill(const Context& context, const tnr_scalar& value, const tnr_view_mut& out);
void unary(const Context& context, tnr_unary_op op, const tnr_view& a, const tnr_view_mut& out);
void binary(const Context& context, tnr_binary_op op, const tnr_view& a, const tnr_view& b,
            const tnr_view_mut& out);
void binary(const Context& context, tnr_binary_op op, const tnr_view& a, const tnr_scalar& b,
            const tnr_view_mut& out);
void binary(const Context& context, tnr_binary_op op, const tnr_scalar& a, const tnr_view& b,
            const tnr_view_mut& out);
void ternary(const Context& context, tnr_ternary_op op, const tnr_view& a, const tnr_view& b,
             const tnr_view& c, const tnr_view_mut& out);
void compare(const Context& context, tnr_compare_op op, const tnr_view& a, const tnr_view& b,
             const tnr_view_mut& out);
void compare(const Context& context, tnr_compare_op op, const tnr_view& a, const tnr_scalar& b,
             const tnr_view_mut& out);
void select(const Context& context, const tnr_view& condition, const tnr_view& a, const tnr_view& b,
            const tnr_view_mut& out);
// By the table of operations: `ddof` is 0 for an operation that does not take it; `power` is above 0
// for one that takes it, and 0 for all others.
void reduce(const Context& context, tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
            std::uint32_t ddof, const tnr_view_mut& out, double power = 0);
// The variance is `out`.
void moments(const Context& context, const tnr_view& a, std::uint32_t axes, std::uint32_t ddof,
             const tnr_view_mut& mean, const tnr_view_mut& out);
void matmul(const Context& context, const tnr_scalar& alpha, const tnr_view& a, const tnr_view& b,
            const tnr_scalar& beta, const tnr_view_mut& out,
            const tnr_matmul_attributes& attributes = {});
// Without a bias: nullptr.
void conv2d(const Context& context, const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
            const tnr_conv2d_attributes& attributes, const tnr_view_mut& out);
// `spec` ends with a 0.
void einsum(const Context& context, const char* spec, const tnr_view* operands,
            std::uint32_t operand_count, const tnr_view_mut& out);
struct EinsumShape {
  tnr_dtype dtype;
  std::uint32_t rank;
  std::int64_t extents[TNR_MAX_RANK];
};
EinsumShape einsum_shape(const char* spec, const tnr_view* operands, std::uint32_t operand_count);
void conv2d_transposed(const Context& context, const tnr_view& a, const tnr_view& weight,
                       const tnr_view* bias, const tnr_conv2d_attributes& attributes,
                       const tnr_view_mut& out);
void pool2d(const Context& context, tnr_reduce_op op, const tnr_view& a,
            const tnr_pool2d_attributes& attributes, const tnr_view_mut& out);
void pool2d_gradient(const Context& context, tnr_reduce_op op, const tnr_view& a, const tnr_view& g,
                     const tnr_pool2d_attributes& attributes, const tnr_view_mut& out);
void conv2d_filters(const Context& context, const tnr_view& a, const tnr_view& g,
                    const tnr_conv2d_attributes& attributes, const tnr_view_mut& out);
// nullptr: not given.
void batch_norm(const Context& context, const tnr_view& a, const tnr_view* mean,
                const tnr_view& var, const tnr_view* weight, const tnr_view* bias, double eps,
                const tnr_view_mut& out);

}  // namespace tenure
