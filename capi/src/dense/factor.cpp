// Packed factors in C: unwrap, call, wrap.
#include "tenure/factor.hpp"

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::handle_of;
using tenure::capi::release_handle;
using tenure::capi::require_zero;
using tenure::capi::retain_handle;
using tenure::capi::run;
using tenure::capi::run_pointer;
using tenure::capi::sized_attributes_of;
using tenure::capi::token_of;
using tenure::capi::write_report;

tnr_status tnr_factor_release(tnr_factor* factor) noexcept {
  return release_handle(factor, tenure::factor_release);
}

tnr_factor* tnr_factor_create(tnr_context* context, const tnr_view* b,
                              const tnr_factor_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_FACTOR_PACK, [&] {
    const tnr_factor_attributes given = sized_attributes_of(attributes);
    require_zero(given.reserved, "attributes->reserved");
    return handle_of<tnr_factor>(tenure::factor_create(context_of(context), deref(b, "b"),
                                                       given.a_dtype, given.group_scales));
  });
}

tnr_factor* tnr_factor_retain(tnr_factor* factor) noexcept {
  return retain_handle(factor, tenure::factor_retain);
}

tnr_status tnr_factor_describe(const tnr_factor* factor, tnr_factor_info* out) noexcept {
  return guarded([&] { write_report(out, "out", tenure::factor_describe(token_of(factor))); });
}

tnr_status tnr_factor_matmul(tnr_context* context, const tnr_scalar* alpha, const tnr_view* a,
                             const tnr_factor* b, const tnr_scalar* beta,
                             const tnr_matmul_attributes* attributes,
                             const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_FACTOR_MATMUL, [=] {
    tenure::factor_matmul(context_of(context), deref(alpha, "alpha"), deref(a, "a"), token_of(b),
                          deref(beta, "beta"), deref(out, "out"), sized_attributes_of(attributes));
  });
}
