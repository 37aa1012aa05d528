// The operations in C: unwrap, call, answer.
#include "tenure/ops.hpp"

#include "timed.hpp"

using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::run;

tnr_status tnr_copy(tnr_context* context, const tnr_view* a, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_COPY,
             [=] { tenure::copy(context_of(context), deref(a, "a"), deref(out, "out")); });
}

tnr_status tnr_cast(tnr_context* context, const tnr_view* a, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_CAST,
             [=] { tenure::cast(context_of(context), deref(a, "a"), deref(out, "out")); });
}

tnr_status tnr_fill(tnr_context* context, const tnr_scalar* value,
                    const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_FILL,
             [=] { tenure::fill(context_of(context), deref(value, "value"), deref(out, "out")); });
}

tnr_status tnr_unary(tnr_context* context, tnr_unary_op op, const tnr_view* a,
                     const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_UNARY,
             [=] { tenure::unary(context_of(context), op, deref(a, "a"), deref(out, "out")); });
}

tnr_status tnr_binary(tnr_context* context, tnr_binary_op op, const tnr_view* a, const tnr_view* b,
                      const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_BINARY, [=] {
    tenure::binary(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_binary_scalar(tnr_context* context, tnr_binary_op op, const tnr_view* a,
                             const tnr_scalar* b, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_BINARY, [=] {
    tenure::binary(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_scalar_binary(tnr_context* context, tnr_binary_op op, const tnr_scalar* a,
                             const tnr_view* b, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_BINARY, [=] {
    tenure::binary(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_compare(tnr_context* context, tnr_compare_op op, const tnr_view* a,
                       const tnr_view* b, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_COMPARE, [=] {
    tenure::compare(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_compare_scalar(tnr_context* context, tnr_compare_op op, const tnr_view* a,
                              const tnr_scalar* b, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_COMPARE, [=] {
    tenure::compare(context_of(context), op, deref(a, "a"), deref(b, "b"), deref(out, "out"));
  });
}

tnr_status tnr_select(tnr_context* context, const tnr_view* condition, const tnr_view* a,
                      const tnr_view* b, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SELECT, [=] {
    tenure::select(context_of(context), deref(condition, "condition"), deref(a, "a"), deref(b, "b"),
                   deref(out, "out"));
  });
}

tnr_status tnr_reduce(tnr_context* context, tnr_reduce_op op, const tnr_view* a, uint32_t axes,
                      uint32_t ddof, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_REDUCE, [=] {
    tenure::reduce(context_of(context), op, deref(a, "a"), axes, ddof, deref(out, "out"));
  });
}
