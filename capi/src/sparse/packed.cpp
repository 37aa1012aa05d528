// Packed matrices in C: unwrap, call, wrap.
#include "tenure/packed.hpp"

#include "attributes.hpp"
#include "sparse/sparse_view.hpp"
#include "timed.hpp"

using tenure::capi::attributes_of;
using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::handle_of;
using tenure::capi::read_sparse;
using tenure::capi::release_handle;
using tenure::capi::retain_handle;
using tenure::capi::run;
using tenure::capi::run_pointer;
using tenure::capi::token_of;
using tenure::capi::write_report;

tnr_status tnr_packed_release(tnr_packed* packed) noexcept {
  return release_handle(packed, tenure::packed_release);
}

tnr_packed* tnr_packed_create(tnr_context* context, const tnr_sparse_view* a,
                              const tnr_packed_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_SPARSE_PACK, [&] {
    return handle_of<tnr_packed>(tenure::packed_create(context_of(context), read_sparse(a, "a"),
                                                       attributes_of(attributes).layout));
  });
}

tnr_packed* tnr_packed_retain(tnr_packed* packed) noexcept {
  return retain_handle(packed, tenure::packed_retain);
}

tnr_status tnr_packed_describe(const tnr_packed* packed, tnr_packed_info* out) noexcept {
  return guarded([&] { write_report(out, "out", tenure::packed_describe(token_of(packed))); });
}

tnr_status tnr_packed_matmul(tnr_context* context, const tnr_scalar* alpha,
                             const tnr_packed* packed, const tnr_view* b, const tnr_scalar* beta,
                             const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SPARSE_PACKED_MATMUL, [&] {
    check_attributes(attributes);
    tenure::packed_matmul(context_of(context), deref(alpha, "alpha"), token_of(packed),
                          deref(b, "b"), deref(beta, "beta"), deref(out, "out"));
  });
}
