#include "tenure/normalize.hpp"

#include "attributes.hpp"
#include "tenure/ops.hpp"
#include "timed.hpp"

using tenure::capi::attributes_of;
using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::run;
using tenure::capi::sized_attributes_of;

tnr_status tnr_normalize(tnr_context* context, tnr_normalize_op op, const tnr_view* a,
                         uint32_t axes, const tnr_normalize_attributes* attributes,
                         const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_NORMALIZE, [=] {
    tenure::normalize(context_of(context), op, deref(a, "a"), axes, sized_attributes_of(attributes),
                      deref(out, "out"));
  });
}

tnr_status tnr_scan(tnr_context* context, tnr_scan_op op, const tnr_view* a, uint32_t axis,
                    const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SCAN, [=] {
    check_attributes(attributes);
    tenure::scan(context_of(context), op, deref(a, "a"), axis, deref(out, "out"));
  });
}

tnr_status tnr_moments(tnr_context* context, const tnr_view* a, uint32_t axes,
                       const tnr_moments_attributes* attributes, const tnr_view_mut* mean,
                       const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_MOMENTS, [=] {
    const std::uint32_t ddof = attributes_of(attributes).ddof;
    tenure::moments(context_of(context), deref(a, "a"), axes, ddof, deref(mean, "mean"),
                    deref(out, "out"));
  });
}
