// The kernels of reductions: each rule in each shape.
#include "reduce.cuh"

using tenure::cuda::ReduceArgument;

#define TENURE_REDUCTION(name, Word, Rule)                           \
  TENURE_KERNEL(along_##name, ReduceArgument) {                      \
    tenure::cuda::reduce_along<Word, tenure::cuda::Rule>(argument);  \
  }                                                                  \
  TENURE_KERNEL(across_##name, ReduceArgument) {                     \
    tenure::cuda::reduce_across<Word, tenure::cuda::Rule>(argument); \
  }

#define TENURE_PARTS(name, Rule)                              \
  TENURE_KERNEL(parts_##name, ReduceArgument) {               \
    tenure::cuda::reduce_parts<tenure::cuda::Rule>(argument); \
  }

TENURE_REDUCTION(float_sum, uint32_t, FloatSum)
TENURE_REDUCTION(wide_sum, uint64_t, WideSum)
TENURE_REDUCTION(power_sum, uint64_t, PowerSum)
TENURE_REDUCTION(moments, uint64_t, Moments)
TENURE_REDUCTION(logsumexp, uint32_t, LogSumExp<float>)
TENURE_REDUCTION(logsumexp_f64, uint64_t, LogSumExp<double>)
TENURE_REDUCTION(integer_sum, uint32_t, IntegerSum<uint32_t>)
TENURE_REDUCTION(integer_sum_64, uint64_t, IntegerSum<uint64_t>)
TENURE_REDUCTION(extreme, uint32_t, Extreme<uint32_t>)
TENURE_REDUCTION(extreme_64, uint64_t, Extreme<uint64_t>)
TENURE_REDUCTION(place, uint32_t, IndexOfLeast<uint32_t>)
TENURE_REDUCTION(place_64, uint64_t, IndexOfLeast<uint64_t>)

TENURE_PARTS(float_sum, FloatSum)
TENURE_PARTS(wide_sum, WideSum)
TENURE_PARTS(power_sum, PowerSum)
TENURE_PARTS(moments, Moments)
TENURE_PARTS(logsumexp, LogSumExp<float>)
TENURE_PARTS(integer_sum, IntegerSum<uint32_t>)
TENURE_PARTS(extreme, Extreme<uint32_t>)
TENURE_PARTS(extreme_64, Extreme<uint64_t>)
TENURE_PARTS(place, IndexOfLeast<uint32_t>)
TENURE_PARTS(place_64, IndexOfLeast<uint64_t>)
