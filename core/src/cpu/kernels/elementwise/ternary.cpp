// Operations on three operands of one dtype.
#include "cpu/halves.hpp"
#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/elementwise/vector_math.hpp"
#include "cpu/operations.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

inline double fused_of(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float fused_of(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

// a * b + c, rounded once. Sets without the instruction have the C library's, which is as exact.
template <IsVector V>
V fused_anywhere(V a, V b, V c) {
#if defined(__FMA__)
  return fused(a, b, c);
#else
  using T = Number<V>;
  constexpr int kLanes = sizeof(V) / sizeof(T);
  V result;
  for (int i = 0; i < kLanes; ++i) result[i] = fused_of(T{a[i]}, T{b[i]}, T{c[i]});
  return result;
#endif
}

struct FusedMultiplyAdd {
  template <IsVector V>
  static V apply(V a, V b, V c) {
    if constexpr (kIsFloat<Number<V>>) {
      return fused_anywhere(a, b, c);
    } else {
      return a * b + c;  // unsigned, which wraps
    }
  }
};

// (a - t a) + t b, which is exactly a or b at the ends, where a + t (b - a) is not. Equal ends give
// themselves. Next to an infinite end no term is 0 times infinity, nor infinity less infinity.
struct Interpolate {
  template <IsVector V>
  static V apply(V a, V b, V t) {
    const V sum = fused_anywhere(t, b, fused_anywhere(-t, a, a));
    using T = Number<V>;
    if (!is_every_lane_within(sum, static_cast<T>(__builtin_inf()))) [[unlikely]] {  // some are NaN
      const V inner = fused_anywhere(t, b, (T{1} - t) * a);
      const V given = t == T{0} ? a : t == T{1} ? b : inner;
      const auto are_numbers = (a == a) & (b == b) & (t == t);
      return are_numbers & (a == b) ? a : are_numbers & (sum != sum) ? given : sum;
    }
    return a == b ? a : sum;
  }
};

struct Clamp {
  template <IsVector V>
  static V apply(V a, V low, V high) {
    return Minimum::apply(Maximum::apply(a, low), high);
  }
};

template <class Rule, class T>
constexpr Elementwise kernel = {map_joint<Rule, T, 3>, nullptr, Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, F16> = {map_joint<Rule, float, 3>, &kF16AsFloat, Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, BF16> = {map_joint<Rule, float, 3>, &kBF16AsFloat,
                                            Steps::kDense};

}  // namespace

// A row for each operation of the table, in the order of the types. Where results wrap, signed and
// unsigned integers share their kernels.
#define TENURE_TERNARY_FMA                                            \
  TENURE_FLOATS(FusedMultiplyAdd), TENURE_UNSIGNED(FusedMultiplyAdd), \
      TENURE_UNSIGNED(FusedMultiplyAdd)
#define TENURE_TERNARY_LERP TENURE_FLOATS(Interpolate)
#define TENURE_TERNARY_CLAMP TENURE_FLOATS(Clamp), TENURE_SIGNED(Clamp), TENURE_UNSIGNED(Clamp)

#define TENURE_ROW(Name, NAME) {TENURE_TERNARY_##NAME},
const Elementwise kTernary[kTernaryCount][kTypeCount] = {TENURE_TERNARY_OPERATIONS(TENURE_ROW)};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
