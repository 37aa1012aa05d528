// The operations in C: unwrap, call, answer.
#include "tenure/ops.hpp"

#include <algorithm>

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::read_reduce_attributes;
using tenure::capi::require_zero;
using tenure::capi::run;
using tenure::capi::sized_attributes_of;

tnr_status tnr_copy(tnr_context* context, const tnr_view* a, const tnr_extension* attributes,
                    const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_COPY, [=] {
    check_attributes(attributes);
    tenure::copy(context_of(context), deref(a, "a"), deref(out, "out"));
  });
}

tnr_status tnr_copy_async(tnr_context* context, const tnr_view* a, const tnr_extension* attributes,
                          const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_COPY, [=] {
    check_attributes(attributes);
    tenure::copy_async(context_of(context), deref(a, "a"), deref(out, "out"));
  });
}

tnr_status tnr_cast(tnr_context* context, const tnr_view* a, const tnr_extension* attributes,
                    const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_CAST, [=] {
    check_attributes(attributes);
    tenure::cast(context_of(context), deref(a, "a"), deref(out, "out"));
  });
}

tnr_status tnr_fill(tnr_context* context, const tnr_scalar* value, const tnr_extension* attributes,
                    const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_FILL, [=] {
    check_attributes(attributes);
    tenure::fill(context_of(context), deref(value, "value"), deref(out, "out"));
  });
}

tnr_status tnr_unary(tnr_context* context, tnr_unary_op op, const tnr_view* a,
                     const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_UNARY, [=] {
    check_attributes(attributes);
    tenure::unary(context_of(context), op, deref(a, "a"), deref(out, "out"));
  });
}

tnr_status tnr_binary(tnr_context* context, tnr_binary_op op, const tnr_view* a, const tnr_view* b,
                      const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_BINARY, [=] {
    check_attributes(attributes);
    tenure::binary(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_binary_scalar(tnr_context* context, tnr_binary_op op, const tnr_view* a,
                             const tnr_scalar* b, const tnr_extension* attributes,
                             const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_BINARY, [=] {
    check_attributes(attributes);
    tenure::binary(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_scalar_binary(tnr_context* context, tnr_binary_op op, const tnr_scalar* a,
                             const tnr_view* b, const tnr_extension* attributes,
                             const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_BINARY, [=] {
    check_attributes(attributes);
    tenure::binary(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_ternary(tnr_context* context, tnr_ternary_op op, const tnr_view* a,
                       const tnr_view* b, const tnr_view* c, const tnr_extension* attributes,
                       const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_TERNARY, [=] {
    check_attributes(attributes);
    tenure::ternary(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(c, "c"),
                    deref(out, "out"));
  });
}

tnr_status tnr_compare(tnr_context* context, tnr_compare_op op, const tnr_view* a,
                       const tnr_view* b, const tnr_extension* attributes,
                       const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_COMPARE, [=] {
    check_attributes(attributes);
    tenure::compare(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_compare_scalar(tnr_context* context, tnr_compare_op op, const tnr_view* a,
                              const tnr_scalar* b, const tnr_extension* attributes,
                              const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_COMPARE, [=] {
    check_attributes(attributes);
    tenure::compare(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_select(tnr_context* context, const tnr_view* condition, const tnr_view* a,
                      const tnr_view* b, const tnr_extension* attributes,
                      const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SELECT, [=] {
    check_attributes(attributes);
    tenure::select(context_of(context), deref(condition, "condition"), deref(a, "a"), deref(b, "b"),
                   deref(out, "out"));
  });
}

tnr_status tnr_reduce(tnr_context* context, tnr_reduce_op op, const tnr_view* a, uint32_t axes,
                      const tnr_reduce_attributes* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_REDUCE, [=] {
    const tnr_reduce_attributes given = read_reduce_attributes(attributes);
    tenure::reduce(context_of(context), op, deref(a, "a"), axes, given.ddof, deref(out, "out"),
                   given.power);
  });
}

tnr_status tnr_matmul(tnr_context* context, const tnr_scalar* alpha, const tnr_view* a,
                      const tnr_view* b, const tnr_scalar* beta,
                      const tnr_matmul_attributes* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_MATMUL, [=] {
    tenure::matmul(context_of(context), deref(alpha, "alpha"), deref(a, "a"), deref(b, "b"),
                   deref(beta, "beta"), deref(out, "out"), sized_attributes_of(attributes));
  });
}

tnr_status tnr_conv2d(tnr_context* context, const tnr_view* a, const tnr_view* weight,
                      const tnr_view* bias, const tnr_conv2d_attributes* attributes,
                      const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_CONV2D, [=] {
    const tnr_conv2d_attributes given = sized_attributes_of(attributes);
    tenure::conv2d(context_of(context), deref(a, "a"), deref(weight, "weight"), bias, given,
                   deref(out, "out"));
  });
}

tnr_status tnr_einsum(tnr_context* context, const char* spec, const tnr_view* operands,
                      uint32_t operand_count, const tnr_extension* attributes,
                      const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_EINSUM, [=] {
    check_attributes(attributes);
    tenure::einsum(context_of(context), &deref(spec, "spec"), &deref(operands, "operands"),
                   operand_count, deref(out, "out"));
  });
}

tnr_status tnr_einsum_shape(const char* spec, const tnr_view* operands, uint32_t operand_count,
                            uint32_t* rank, int64_t* shape) noexcept {
  return guarded([=] {
    uint32_t& rank_out = deref(rank, "rank");
    (void)deref(shape, "shape");
    const tenure::EinsumShape result =
        tenure::einsum_shape(&deref(spec, "spec"), &deref(operands, "operands"), operand_count);
    rank_out = result.rank;
    std::ranges::copy(result.extents, shape);
  });
}

tnr_status tnr_conv2d_transposed(tnr_context* context, const tnr_view* a, const tnr_view* weight,
                                 const tnr_view* bias, const tnr_conv2d_attributes* attributes,
                                 const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_CONV2D_TRANSPOSED, [=] {
    const tnr_conv2d_attributes given = sized_attributes_of(attributes);
    tenure::conv2d_transposed(context_of(context), deref(a, "a"), deref(weight, "weight"), bias,
                              given, deref(out, "out"));
  });
}

tnr_status tnr_pool2d(tnr_context* context, tnr_reduce_op op, const tnr_view* a,
                      const tnr_pool2d_attributes* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_POOL2D, [=] {
    const tnr_pool2d_attributes given = sized_attributes_of(attributes);
    require_zero(given.reserved, "reserved");
    tenure::pool2d(context_of(context), op, deref(a, "a"), given, deref(out, "out"));
  });
}

tnr_status tnr_pool2d_gradient(tnr_context* context, tnr_reduce_op op, const tnr_view* a,
                               const tnr_view* g, const tnr_pool2d_attributes* attributes,
                               const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_POOL2D_GRADIENT, [=] {
    const tnr_pool2d_attributes given = sized_attributes_of(attributes);
    require_zero(given.reserved, "reserved");
    tenure::pool2d_gradient(context_of(context), op, deref(a, "a"), deref(g, "g"), given,
                            deref(out, "out"));
  });
}

tnr_status tnr_conv2d_filters(tnr_context* context, const tnr_view* a, const tnr_view* g,
                              const tnr_conv2d_attributes* attributes,
                              const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_CONV2D_FILTERS, [=] {
    const tnr_conv2d_attributes given = sized_attributes_of(attributes);
    tenure::conv2d_filters(context_of(context), deref(a, "a"), deref(g, "g"), given,
                           deref(out, "out"));
  });
}

tnr_status tnr_batch_norm(tnr_context* context, const tnr_view* a, const tnr_view* mean,
                          const tnr_view* var, const tnr_view* weight, const tnr_view* bias,
                          const tnr_batch_norm_attributes* attributes,
                          const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_BATCH_NORM, [=] {
    const tnr_batch_norm_attributes given = sized_attributes_of(attributes);
    tenure::batch_norm(context_of(context), deref(a, "a"), mean, deref(var, "var"), weight, bias,
                       given.eps, deref(out, "out"));
  });
}
