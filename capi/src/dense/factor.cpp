// Packed factors in C: unwrap, call, wrap.
#include "tenure/factor.hpp"

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::attributes_of;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::run;
using tenure::capi::run_pointer;
using tenure::capi::sized_attributes_of;
using tenure::capi::write_report;

namespace {

std::uint64_t unwrap(const tnr_factor* factor) noexcept {
  return reinterpret_cast<std::uintptr_t>(factor);
}

}  // namespace

tnr_status tnr_factor_release(tnr_factor* factor) noexcept {
  return guarded([&] {
    if (factor != nullptr) tenure::factor_release(unwrap(factor));
  });
}

tnr_factor* tnr_factor_create(tnr_context* context, const tnr_view* b,
                              const tnr_factor_attributes* attributes) noexcept {
  return run_pointer(TNR_OPERATION_FACTOR_PACK, [&] {
    return reinterpret_cast<tnr_factor*>(static_cast<std::uintptr_t>(tenure::factor_create(
        context_of(context), deref(b, "b"), attributes_of(attributes).a_dtype)));
  });
}

tnr_factor* tnr_factor_retain(tnr_factor* factor) noexcept {
  return guarded_pointer([&] {
    tenure::factor_retain(unwrap(factor));
    return factor;
  });
}

tnr_status tnr_factor_describe(const tnr_factor* factor, tnr_factor_info* out) noexcept {
  return guarded([&] { write_report(out, "out", tenure::factor_describe(unwrap(factor))); });
}

tnr_status tnr_factor_matmul(tnr_context* context, const tnr_scalar* alpha, const tnr_view* a,
                             const tnr_factor* b, const tnr_scalar* beta,
                             const tnr_matmul_attributes* attributes,
                             const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_FACTOR_MATMUL, [=] {
    tenure::factor_matmul(context_of(context), deref(alpha, "alpha"), deref(a, "a"), unwrap(b),
                          deref(beta, "beta"), deref(out, "out"), sized_attributes_of(attributes));
  });
}
