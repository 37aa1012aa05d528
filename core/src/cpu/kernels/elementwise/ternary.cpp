// Operations on three operands of one dtype.
#include "cpu/halves.hpp"
#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/vector_math.hpp"
#include "cpu/kernels/vectors.hpp"
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
    const auto is_rare = (a == b) | (sum != sum);
    if (lane_bits<Truth<Number<V>>>(is_rare) == 0) [[likely]]
      return sum;
    return with_rare_ends(a, b, t, sum);
  }

 private:
  // Not inlined: the loop around the call keeps its registers.
  template <IsVector V>
  [[gnu::noinline]] static V with_rare_ends(V a, V b, V t, V sum) {
    using T = Number<V>;
    const auto are_numbers = (a == a) & (b == b) & (t == t);
    const V inner = fused_anywhere(t, b, (T{1} - t) * a);
    const V given = (a == b) | (t == T{0}) ? a : t == T{1} ? b : inner;
    return are_numbers & ((a == b) | (sum != sum)) ? given : sum;
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
