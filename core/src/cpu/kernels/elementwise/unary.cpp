// Operations on one operand.
#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// A Rule computes in the element's compute type; OneOf makes it an Op of strip.hpp.
template <class Rule, class T>
struct OneOf {
  using In = T;
  using Out = T;
  static T apply(T a) { return narrow<T>(Rule::apply(widen(a))); }
};

struct Negate {
  static double apply(double a) { return -a; }
  static float apply(float a) { return -a; }
  template <class T>
  static T apply(T a) {
    return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
  }
};

struct Absolute {
  static double apply(double a) { return __builtin_fabs(a); }
  static float apply(float a) { return __builtin_fabsf(a); }
  template <class T>
  static T apply(T a) {
    return kIsSigned<T> && a < 0 ? Negate::apply(a) : a;
  }
};

struct SquareRoot {
  static double apply(double a) { return __builtin_sqrt(a); }
  static float apply(float a) { return __builtin_sqrtf(a); }
};

struct Exponential {
  template <class T>
  static T apply(T a) {
    return exponential(a);
  }
};

struct Rectify {
  // Written so that NaN, which compares false, stays.
  template <class T>
  static T apply(T a) {
    return a < T{0} ? T{0} : a;
  }
};

struct Same {
  template <class T>
  static T apply(T a) {
    return a;
  }
};

template <class Rule, class T>
constexpr StripKernel kernel = map1<OneOf<Rule, T>>;

}  // namespace

#define TENURE_FLOATS_ONLY(Rule) \
  {kernel<Rule, double>,         \
   kernel<Rule, float>,          \
   kernel<Rule, F16>,            \
   kernel<Rule, BF16>,           \
   nullptr,                      \
   nullptr,                      \
   nullptr,                      \
   nullptr,                      \
   nullptr,                      \
   nullptr,                      \
   nullptr,                      \
   nullptr,                      \
   nullptr}

// An unsigned integer is its own absolute value and its own rectification.
const StripKernel kUnary[kUnaryCount][kTypeCount] = {
    {kernel<Negate, double>, kernel<Negate, float>, kernel<Negate, F16>, kernel<Negate, BF16>,
     kernel<Negate, uint8_t>, kernel<Negate, uint16_t>, kernel<Negate, uint32_t>,
     kernel<Negate, uint64_t>, kernel<Negate, uint8_t>, kernel<Negate, uint16_t>,
     kernel<Negate, uint32_t>, kernel<Negate, uint64_t>, nullptr},
    {kernel<Absolute, double>, kernel<Absolute, float>, kernel<Absolute, F16>,
     kernel<Absolute, BF16>, kernel<Absolute, int8_t>, kernel<Absolute, int16_t>,
     kernel<Absolute, int32_t>, kernel<Absolute, int64_t>, kernel<Same, uint8_t>,
     kernel<Same, uint16_t>, kernel<Same, uint32_t>, kernel<Same, uint64_t>, nullptr},
    TENURE_FLOATS_ONLY(SquareRoot),
    TENURE_FLOATS_ONLY(Exponential),
    {kernel<Rectify, double>, kernel<Rectify, float>, kernel<Rectify, F16>, kernel<Rectify, BF16>,
     kernel<Rectify, int8_t>, kernel<Rectify, int16_t>, kernel<Rectify, int32_t>,
     kernel<Rectify, int64_t>, kernel<Same, uint8_t>, kernel<Same, uint16_t>,
     kernel<Same, uint32_t>, kernel<Same, uint64_t>, nullptr},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
