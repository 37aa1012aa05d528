// Expressions in C: unwrap, call, answer.
#include "tenure/expression.hpp"

#include <algorithm>

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::guarded_pointer;
using tenure::capi::handle_of;
using tenure::capi::read_reduce_attributes;
using tenure::capi::read_sized;
using tenure::capi::release_handle;
using tenure::capi::retain_handle;
using tenure::capi::run;
using tenure::capi::sized_attributes_of;
using tenure::capi::token_of;

namespace {

constexpr tenure::AttributeReaders kReaders = {read_reduce_attributes, sized_attributes_of};

}  // namespace

tnr_status tnr_evaluate(tnr_context* context, const tnr_expression* expression,
                        const tnr_evaluate_attributes* attributes,
                        const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_EVALUATE, [=] {
    check_attributes(attributes);
    const tnr_expression known = read_sized(expression, "expression");
    tenure::evaluate(context_of(context), known, kReaders, deref(out, "out"));
  });
}

tnr_status tnr_expression_shape(const tnr_expression* expression, tnr_dtype* dtype, uint32_t* rank,
                                int64_t* shape) noexcept {
  return guarded([=] {
    const tnr_expression known = read_sized(expression, "expression");
    tnr_dtype& out_dtype = deref(dtype, "dtype");
    uint32_t& out_rank = deref(rank, "rank");
    int64_t* const extents = &deref(shape, "shape");
    (void)tenure::kernels::chosen_word();
    const tenure::ExpressionShape result = tenure::expression_shape(known);
    out_dtype = result.dtype;
    out_rank = result.rank;
    std::copy_n(result.extents, TNR_MAX_RANK, extents);
  });
}

tnr_status tnr_plan_release(tnr_plan* plan) noexcept {
  return release_handle(plan, tenure::plan_release);
}

tnr_plan* tnr_plan_create(tnr_context* context, const tnr_expression* expression,
                          const tnr_plan_attributes* attributes, const tnr_view_mut* out) noexcept {
  return guarded_pointer([&] {
    check_attributes(attributes);
    (void)context_of(context);
    const tnr_expression known = read_sized(expression, "expression");
    return handle_of<tnr_plan>(tenure::plan_create(known, kReaders, deref(out, "out")));
  });
}

tnr_plan* tnr_plan_retain(tnr_plan* plan) noexcept {
  return retain_handle(plan, tenure::plan_retain);
}

tnr_status tnr_plan_run(tnr_context* context, const tnr_plan* plan, const tnr_view* const* views,
                        uint32_t view_count, const tnr_evaluate_attributes* attributes,
                        const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_EVALUATE, [=] {
    check_attributes(attributes);
    tenure::plan_run(context_of(context), token_of(plan), views, view_count, deref(out, "out"));
  });
}
