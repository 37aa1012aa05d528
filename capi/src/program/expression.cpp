// Expressions in C: unwrap, call, answer.
#include "tenure/expression.hpp"

#include <algorithm>

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::guarded;
using tenure::capi::read_reduce_attributes;
using tenure::capi::read_sized;
using tenure::capi::run;
using tenure::capi::sized_attributes_of;

namespace {

constexpr tenure::AttributeReaders kReaders = {read_reduce_attributes, sized_attributes_of};

}  // namespace

tnr_status tnr_evaluate(tnr_context* context, const tnr_expression* expression,
                        const tnr_extension* attributes, const tnr_view_mut* out) noexcept {
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
