// Comparisons of two operands of one dtype, as bool8.
#include "cpu/halves.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/elementwise/questions.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct Equal {
  template <class T>
  static auto apply(T a, T b) {
    return a == b;
  }
};
struct NotEqual {
  template <class T>
  static auto apply(T a, T b) {
    return a != b;
  }
};
struct Less {
  template <class T>
  static auto apply(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  static auto apply(T a, T b) {
    return a <= b;
  }
};

// Comparisons of one-byte elements, whose truth values are as wide.
template <class Rule>
struct OfBytes {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    if constexpr (IsVector<V>) {
      return bit_copy<V>(Rule::apply(a, b)) & 1;
    } else {
      return Rule::apply(a, b) ? 1 : 0;
    }
  }
};
// Truth bytes by their truth: 0 is less than any other.
template <class Rule>
struct OfTruths {
  template <class V>
  static auto apply(V a, V b) {
    return Rule::apply(truth(a), truth(b));
  }

 private:
  template <class V>
  static V truth(V bytes) {
    if constexpr (IsVector<V>) {
      return bit_copy<V>(bytes != 0) & 1;
    } else {
      return bytes != 0 ? 1 : 0;
    }
  }
};

constexpr Conversion kF16ToFloat = {load_f16, nullptr, 4, 1};

template <class Rule, class T>
constexpr Elementwise kernel = {ask<Rule, T>, nullptr, Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, int8_t> = {map_pairs<OfBytes<Rule>, int8_t>, nullptr,
                                              Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, uint8_t> = {map_pairs<OfBytes<Rule>, uint8_t>, nullptr,
                                               Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, Bool8> = {map_pairs<OfBytes<OfTruths<Rule>>, uint8_t>, nullptr,
                                             Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, F16> = {ask<Rule, float>, &kF16ToFloat, Steps::kDense};

}  // namespace

// Equality of integers does not ask for their sign.
const Elementwise kCompare[kCompareKernelCount][kTypeCount] = {
    {TENURE_FLOATS(Equal), TENURE_UNSIGNED(Equal), TENURE_UNSIGNED(Equal), kernel<Equal, Bool8>},
    {TENURE_FLOATS(NotEqual), TENURE_UNSIGNED(NotEqual), TENURE_UNSIGNED(NotEqual),
     kernel<NotEqual, Bool8>},
    {TENURE_FLOATS(Less), TENURE_SIGNED(Less), TENURE_UNSIGNED(Less), kernel<Less, Bool8>},
    {TENURE_FLOATS(LessOrEqual), TENURE_SIGNED(LessOrEqual), TENURE_UNSIGNED(LessOrEqual),
     kernel<LessOrEqual, Bool8>},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
