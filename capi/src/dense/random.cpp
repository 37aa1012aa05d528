// Random numbers in C: unwrap, call, answer.
#include "tenure/random.hpp"

#include "attributes.hpp"
#include "timed.hpp"

using tenure::capi::check_attributes;
using tenure::capi::context_of;
using tenure::capi::deref;
using tenure::capi::run;
using tenure::capi::sized_attributes_of;

tnr_status tnr_random(tnr_context* context, tnr_random_distribution distribution, uint64_t seed,
                      uint64_t offset, const tnr_random_attributes* attributes,
                      const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_RANDOM, [=] {
    const tnr_random_attributes given = sized_attributes_of(attributes);
    tenure::random(context_of(context), distribution, seed, offset, given, deref(out, "out"));
  });
}

tnr_status tnr_random_permutation(tnr_context* context, uint64_t seed, uint64_t offset,
                                  const tnr_extension* attributes,
                                  const tnr_view_mut* out) noexcept {
  return run(TNR_OPERATION_RANDOM, [=] {
    check_attributes(attributes);
    tenure::random_permutation(context_of(context), seed, offset, deref(out, "out"));
  });
}
