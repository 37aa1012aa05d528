// Movement of elements in C: unwrap, call, answer.
#include "tenure/movement.hpp"

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::handle_of;
using tenure::capi::run;
using tenure::capi::run_pointer;
using tenure::capi::sized_attributes_of;

tnr_status tnr_concat(tnr_context* context, const tnr_view* parts, uint32_t part_count,
                      uint32_t axis, const tnr_extension* attributes,
                      const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_CONCAT, [=] {
    check_attributes(attributes);
    tenure::concat(context_of(context), parts, part_count, axis, deref(out, "out"));
  });
}

tnr_status tnr_pad(tnr_context* context, tnr_pad_mode mode, const tnr_view* a,
                   const tnr_pad_attributes* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_PAD, [=] {
    const tnr_pad_attributes given = sized_attributes_of(attributes);
    tenure::pad(context_of(context), mode, deref(a, "a"), given, deref(out, "out"));
  });
}

tnr_status tnr_take(tnr_context* context, const tnr_view* a, uint32_t axis, const tnr_view* indices,
                    const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_TAKE, [=] {
    check_attributes(attributes);
    tenure::take(context_of(context), deref(a, "a"), axis, deref(indices, "indices"),
                 deref(out, "out"));
  });
}

tnr_status tnr_gather(tnr_context* context, const tnr_view* a, uint32_t axis,
                      const tnr_view* indices, const tnr_extension* attributes,
                      const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_TAKE, [=] {
    check_attributes(attributes);
    tenure::gather(context_of(context), deref(a, "a"), axis, deref(indices, "indices"),
                   deref(out, "out"));
  });
}

tnr_status tnr_put(tnr_context* context, tnr_binary_op op, const tnr_view* a, uint32_t axis,
                   const tnr_view* indices, const tnr_extension* attributes,
                   const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_PUT, [=] {
    check_attributes(attributes);
    tenure::put(context_of(context), op, deref(a, "a"), axis, deref(indices, "indices"),
                deref(out, "out"));
  });
}

tnr_status tnr_scatter(tnr_context* context, tnr_binary_op op, const tnr_view* a, uint32_t axis,
                       const tnr_view* indices, const tnr_extension* attributes,
                       const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_PUT, [=] {
    check_attributes(attributes);
    tenure::scatter(context_of(context), op, deref(a, "a"), axis, deref(indices, "indices"),
                    deref(out, "out"));
  });
}

tnr_blob* tnr_nonzero(tnr_context* context, const tnr_view* a, const tnr_extension* attributes,
                      tnr_view_mut* out) noexcept {
  return run_pointer(TNR_OPERATION_NONZERO, [=] {
    check_attributes(attributes);
    return handle_of<tnr_blob>(
        tenure::nonzero(context_of(context), deref(a, "a"), deref(out, "out")));
  });
}

tnr_blob* tnr_masked_select(tnr_context* context, const tnr_view* a, const tnr_view* mask,
                            const tnr_extension* attributes, tnr_view_mut* out) noexcept {
  return run_pointer(TNR_OPERATION_NONZERO, [=] {
    check_attributes(attributes);
    return handle_of<tnr_blob>(tenure::masked_select(context_of(context), deref(a, "a"),
                                                     deref(mask, "mask"), deref(out, "out")));
  });
}

tnr_status tnr_triangular(tnr_context* context, tnr_triangle part, const tnr_view* a,
                          const tnr_triangle_attributes* attributes,
                          const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_TRIANGULAR, [=] {
    const tnr_triangle_attributes given = sized_attributes_of(attributes);
    tenure::triangular(context_of(context), part, deref(a, "a"), given.diagonal, deref(out, "out"));
  });
}
