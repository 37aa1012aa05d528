// Sorting and searching in C: unwrap, call, answer.
#include "tenure/ordering.hpp"

#include "attributes.hpp"
#include "timed.hpp"

using tenure::Nans;
using tenure::Side;
using tenure::SortOrder;
using tenure::capi::attributes_of;
using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::handle_of;
using tenure::capi::run;
using tenure::capi::run_pointer;
using tenure::capi::sized_attributes_of;

namespace {

// Whether the one flag that an operation has is set; throws INVALID_ARGUMENT for others.
bool has_flag(std::uint32_t flags, std::uint32_t flag) {
  if ((flags & ~flag) != 0) {
    tenure::fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->flags is %u but must be 0 or %u", flags,
                 flag);
  }
  return flags != 0;
}

}  // namespace

tnr_status tnr_sort(tnr_context* context, const tnr_view* a, uint32_t axis,
                    const tnr_sort_attributes* attributes, const tnr_view_mut* indices,
                    const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SORT, [=] {
    const bool falls = has_flag(attributes_of(attributes).flags, TNR_SORT_DESCENDING);
    tenure::sort(context_of(context), deref(a, "a"), axis,
                 falls ? SortOrder::kFalling : SortOrder::kRising, indices, out);
  });
}

tnr_status tnr_top_k(tnr_context* context, const tnr_view* a, uint32_t axis,
                     const tnr_top_k_attributes* attributes, const tnr_view_mut* indices,
                     const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SORT, [=] {
    const bool rises = has_flag(attributes_of(attributes).flags, TNR_TOP_K_SMALLEST);
    tenure::top_k(context_of(context), deref(a, "a"), axis,
                  rises ? SortOrder::kRising : SortOrder::kFalling, indices, out);
  });
}

tnr_status tnr_partition(tnr_context* context, const tnr_view* a, uint32_t axis, int64_t kth,
                         const tnr_extension* attributes, const tnr_view_mut* indices,
                         const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SORT, [=] {
    check_attributes(attributes);
    tenure::partition(context_of(context), deref(a, "a"), axis, kth, indices, out);
  });
}

tnr_status tnr_quantile(tnr_context* context, const tnr_view* a, uint32_t axes, const double* q,
                        uint32_t q_count, const tnr_quantile_attributes* attributes,
                        const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SORT, [=] {
    const bool skips = has_flag(attributes_of(attributes).flags, TNR_QUANTILE_SKIP_NAN);
    tenure::quantile(context_of(context), deref(a, "a"), axes, &deref(q, "q"), q_count,
                     skips ? Nans::kSkipped : Nans::kGiven, deref(out, "out"));
  });
}

tnr_status tnr_searchsorted(tnr_context* context, const tnr_view* a, const tnr_view* values,
                            const tnr_searchsorted_attributes* attributes,
                            const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_SEARCHSORTED, [=] {
    const bool is_right = has_flag(attributes_of(attributes).flags, TNR_SEARCHSORTED_RIGHT);
    tenure::searchsorted(context_of(context), deref(a, "a"), deref(values, "values"),
                         is_right ? Side::kRight : Side::kLeft, deref(out, "out"));
  });
}

tnr_blob* tnr_unique(tnr_context* context, const tnr_view* a, const tnr_extension* attributes,
                     const tnr_view_mut* inverse, tnr_view_mut* counts,
                     tnr_view_mut* out) noexcept {
  return run_pointer(TNR_OPERATION_UNIQUE, [=] {
    check_attributes(attributes);
    return handle_of<tnr_blob>(
        tenure::unique(context_of(context), deref(a, "a"), inverse, counts, deref(out, "out")));
  });
}

tnr_status tnr_bincount(tnr_context* context, const tnr_view* a,
                        const tnr_bincount_attributes* attributes,
                        const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_HISTOGRAM, [=] {
    const tnr_bincount_attributes given = sized_attributes_of(attributes);
    tenure::bincount(context_of(context), deref(a, "a"), given.weights, deref(out, "out"));
  });
}

tnr_status tnr_histogram(tnr_context* context, const tnr_view* a, const tnr_view* edges,
                         const tnr_histogram_attributes* attributes,
                         const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_HISTOGRAM, [=] {
    const tnr_histogram_attributes given = sized_attributes_of(attributes);
    tenure::histogram(context_of(context), deref(a, "a"), edges, given.low, given.high,
                      deref(out, "out"));
  });
}
