// Operations on one operand.
#include "cpu/halves.hpp"
#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/elementwise/double/hyperbolic.hpp"
#include "cpu/kernels/elementwise/double/roots.hpp"
#include "cpu/kernels/elementwise/erf.hpp"
#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/gelu.hpp"
#include "cpu/kernels/elementwise/hyperbolic.hpp"
#include "cpu/kernels/elementwise/log.hpp"
#include "cpu/kernels/elementwise/questions.hpp"
#include "cpu/kernels/elementwise/sigmoid.hpp"
#include "cpu/kernels/elementwise/tanh.hpp"
#include "cpu/kernels/elementwise/trigonometry.hpp"
#include "cpu/kernels/rounding.hpp"
#include "cpu/operations.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Floats of any width lose or change their sign by their bits; a NaN too, and keeps the others.
template <class Word>
constexpr Word kSignBit = static_cast<Word>(Word{1} << (8 * sizeof(Word) - 1));
template <class Word>
struct ChangeSign {
  template <class V>
  static V apply(V bits) {
    return bits ^ kSignBit<Word>;
  }
};
template <class Word>
struct ClearSign {
  template <class V>
  static V apply(V bits) {
    return bits & static_cast<Word>(~kSignBit<Word>);
  }
};

// Integers by their bits, which wrap.
struct Negate {
  template <class V>
  static V apply(V a) {
    return Subtract::apply(V{}, a);
  }
};
template <class Word>
struct Absolute {
  template <class V>
  static V apply(V a) {
    return bit_copy<As<SignedOf<Word>, V>>(a) < 0 ? Negate::apply(a) : a;
  }
};

// A rule that is a function of numbers and vectors.
#define TENURE_RULE(Name, function) \
  struct Name {                     \
    template <class V>              \
    static V apply(V a) {           \
      return function(a);           \
    }                               \
  };
TENURE_RULE(SquareRoot, square_root)
TENURE_RULE(InverseRoot, inverse_root)
TENURE_RULE(Floor, floor_of)
TENURE_RULE(Ceil, ceil_of)
TENURE_RULE(Round, nearest_whole)
TENURE_RULE(Trunc, trunc_of)
TENURE_RULE(Exponential, exponential)
TENURE_RULE(HyperbolicTangent, hyperbolic_tangent)
TENURE_RULE(Sigmoid, sigmoid)
TENURE_RULE(Silu, silu)
TENURE_RULE(Gelu, gelu)
TENURE_RULE(GeluTanh, gelu_tanh)
TENURE_RULE(Softplus, softplus)
TENURE_RULE(Elu, elu)
TENURE_RULE(ExponentialOf2, exponential_of_2)
TENURE_RULE(ExponentialLessOne, exponential_less_one)
TENURE_RULE(Logarithm, logarithm)
TENURE_RULE(LogarithmTo2, logarithm_to_2)
TENURE_RULE(LogarithmTo10, logarithm_to_10)
TENURE_RULE(LogarithmOfOneMore, logarithm_of_one_more)
TENURE_RULE(ErrorFunction, error_function)
TENURE_RULE(ComplementOfErrorFunction, complement_of_error_function)
TENURE_RULE(Sine, sine)
TENURE_RULE(Cosine, cosine)
TENURE_RULE(Tangent, tangent)
TENURE_RULE(InverseSine, inverse_sine)
TENURE_RULE(InverseCosine, inverse_cosine)
TENURE_RULE(InverseTangent, inverse_tangent)
TENURE_RULE(HyperbolicSine, hyperbolic_sine)
TENURE_RULE(HyperbolicCosine, hyperbolic_cosine)
TENURE_RULE(InverseHyperbolicSine, inverse_hyperbolic_sine)
TENURE_RULE(InverseHyperbolicCosine, inverse_hyperbolic_cosine)
TENURE_RULE(InverseHyperbolicTangent, inverse_hyperbolic_tangent)
TENURE_RULE(CubeRoot, cube_root)

struct Square {
  template <class V>
  static V apply(V a) {
    return Multiply::apply(a, a);
  }
};
struct Reciprocal {
  template <class V>
  static V apply(V a) {
    return Number<V>{1} / a;
  }
};
struct Invert {
  template <class V>
  static V apply(V a) {
    return static_cast<V>(~a);
  }
};

// Zeros and NaN stay.
struct Sign {
  template <class V>
  static V apply(V a) {
    const V one = static_cast<V>(V{} + 1);
    const V less = static_cast<V>(V{} - 1);
    return a > 0 ? one : a < 0 ? less : a;
  }
};
struct SignOfUnsigned {
  template <class V>
  static V apply(V a) {
    return a > 0 ? static_cast<V>(V{} + 1) : a;
  }
};

struct LogicalNot {
  template <class V>
  static V apply(V a) {
    if constexpr (IsVector<V>) {
      return bit_copy<V>(a == 0) & 1;
    } else {
      return a == 0 ? 1 : 0;
    }
  }
};

// Floats of any width by their bits: the bits of infinity are above those of finite numbers and
// below those of NaN.
template <class Word, Word kInfinity>
struct NanToNumber {
  template <class V>
  static V apply(V bits) {
    // To the largest finite number, whose bits are those of infinity less 1, of either sign.
    constexpr auto kToLargest = static_cast<Word>(kInfinity ^ (kInfinity - 1));
    const V magnitude = static_cast<V>(bits & Limits<Word>::kMax);
    const V finite = magnitude == kInfinity ? static_cast<V>(bits ^ kToLargest) : bits;
    return magnitude > kInfinity ? V{} : finite;
  }
};
template <class Word, Word kInfinity>
struct IsNan {
  template <class V>
  static auto apply(V bits) {
    return (bits & Limits<Word>::kMax) > kInfinity;
  }
};
template <class Word, Word kInfinity>
struct IsInfinite {
  template <class V>
  static auto apply(V bits) {
    return (bits & Limits<Word>::kMax) == kInfinity;
  }
};
template <class Word, Word kInfinity>
struct IsFinite {
  template <class V>
  static auto apply(V bits) {
    return (bits & Limits<Word>::kMax) < kInfinity;
  }
};

// Minus infinity gives the limit, -0.
struct Hardswish {
  template <class V>
  static V apply(V a) {
    using T = Number<V>;
    const V x = a < -3 ? V{} - T{3} : a;
    const V weight = (x > 3 ? V{} + T{6} : x + T{3}) / T{6};
    return x * weight;
  }
};

// From 2^60 on 1 + |a| is |a|, and infinity over itself would be NaN.
struct Softsign {
  template <class V>
  static V apply(V a) {
    using T = Number<V>;
    constexpr auto kFar = static_cast<T>(0x1p60);
    const V below = a < -kFar ? V{} - kFar : a;
    const V x = below > kFar ? V{} + kFar : below;
    return x / ((x < 0 ? -x : x) + T{1});
  }
};

struct LeakyRectify {
  template <class V>
  static V apply(V a) {
    return a < 0 ? a * static_cast<Number<V>>(0.01) : a;
  }
};

// Written so that NaN, which compares false, stays.
struct Rectify {
  template <class V>
  static V apply(V a) {
    return a < 0 ? V{} : a;
  }
};
// Rectifies 16-bit floats by their bits: numbers from just below -0 down to minus infinity become
// 0.
template <uint16_t kInfinity>
struct RectifyBits {
  template <class V>
  static V apply(V bits) {
    constexpr auto kLowest = static_cast<int16_t>(kInfinity | kSignBit<uint16_t>);
    return (bits > Limits<int16_t>::kMin) & (bits <= kLowest) ? V{} : bits;
  }
};

struct Same {
  template <class V>
  static V apply(V a) {
    return a;
  }
};

template <class Rule, class T>
constexpr Elementwise each = {map_each<Rule, T>, nullptr, Steps::kAny};
template <class Rule, class T>
constexpr Elementwise question = {ask_each<Rule, T>, nullptr, Steps::kDense};

// A function that takes as long for one number as for a vector.
template <class Rule, class T>
constexpr Elementwise kernel = {map_each<Rule, T>, nullptr, Steps::kDense};
template <class Rule>
constexpr Elementwise kernel_of_f16() {
  if constexpr (kConvertsHalves) {
    return {map_each<OnF16<Rule>, uint16_t>, nullptr, Steps::kDense};
  } else {
    return {map_each<Rule, float>, &kF16AsFloat, Steps::kDense};
  }
}
template <class Rule>
constexpr Elementwise kernel<Rule, F16> = kernel_of_f16<Rule>();
template <class Rule>
constexpr Elementwise kernel<Rule, BF16> = {map_each<OnBF16<Rule>, uint16_t>, nullptr,
                                            Steps::kDense};

// Functions whose 16-bit floats are computed as f32, so that there are two loops of each.
template <class Rule, class T>
constexpr Elementwise function = {map_function<Rule, T>, nullptr, Steps::kDense};
template <class Rule>
constexpr Elementwise function<Rule, F16> = {map_function<Rule, float>, &kF16AsFloat,
                                             Steps::kDense};
template <class Rule>
constexpr Elementwise function<Rule, BF16> = {map_function<Rule, float>, &kBF16AsFloat,
                                              Steps::kDense};

}  // namespace

#define TENURE_FUNCTION(Rule) \
  function<Rule, double>, function<Rule, float>, function<Rule, F16>, function<Rule, BF16>
// By the bits of each width in the order of the types.
#define TENURE_BITS(Rule)                                                                         \
  each<Rule<uint64_t>, uint64_t>, each<Rule<uint32_t>, uint32_t>, each<Rule<uint16_t>, uint16_t>, \
      each<Rule<uint16_t>, uint16_t>
#define TENURE_WORDS(kernel, Rule)                                                                \
  kernel<Rule<int64_t, 0x7ff0000000000000>, int64_t>, kernel<Rule<int32_t, 0x7f800000>, int32_t>, \
      kernel<Rule<int16_t, 0x7c00>, int16_t>, kernel<Rule<int16_t, 0x7f80>, int16_t>
#define TENURE_INTEGERS(Rule) \
  each<Rule, uint8_t>, each<Rule, uint16_t>, each<Rule, uint32_t>, each<Rule, uint64_t>

// A row for each operation of the table, in the order of the types. An unsigned integer is its own
// absolute value and its own rectification.
#define TENURE_UNARY_NEG TENURE_BITS(ChangeSign), TENURE_INTEGERS(Negate), TENURE_INTEGERS(Negate)
#define TENURE_UNARY_ABS                                                                        \
  TENURE_BITS(ClearSign), each<Absolute<uint8_t>, uint8_t>, each<Absolute<uint16_t>, uint16_t>, \
      each<Absolute<uint32_t>, uint32_t>, each<Absolute<uint64_t>, uint64_t>,                   \
      TENURE_INTEGERS(Same)
#define TENURE_UNARY_SQRT TENURE_FLOATS(SquareRoot)
#define TENURE_UNARY_EXP TENURE_FUNCTION(Exponential)
#define TENURE_UNARY_RELU                                                                \
  each<Rectify, double>, each<Rectify, float>, each<RectifyBits<0x7c00>, int16_t>,       \
      each<RectifyBits<0x7f80>, int16_t>, each<Rectify, int8_t>, each<Rectify, int16_t>, \
      each<Rectify, int32_t>, each<Rectify, int64_t>, TENURE_INTEGERS(Same)

#define TENURE_UNARY_TANH TENURE_FUNCTION(HyperbolicTangent)
#define TENURE_UNARY_SIGMOID TENURE_FUNCTION(Sigmoid)
#define TENURE_UNARY_SILU TENURE_FUNCTION(Silu)
#define TENURE_UNARY_GELU TENURE_FUNCTION(Gelu)
#define TENURE_UNARY_GELU_TANH TENURE_FUNCTION(GeluTanh)
#define TENURE_UNARY_SOFTPLUS TENURE_FUNCTION(Softplus)
#define TENURE_UNARY_HARDSWISH TENURE_FUNCTION(Hardswish)
#define TENURE_UNARY_ELU TENURE_FUNCTION(Elu)
#define TENURE_UNARY_LEAKY_RELU TENURE_FUNCTION(LeakyRectify)
#define TENURE_UNARY_SOFTSIGN TENURE_FUNCTION(Softsign)

#define TENURE_UNARY_SQUARE TENURE_FLOATS(Square), TENURE_INTEGERS(Square), TENURE_INTEGERS(Square)
#define TENURE_UNARY_RECIPROCAL TENURE_FLOATS(Reciprocal)
#define TENURE_UNARY_RSQRT TENURE_FUNCTION(InverseRoot)
#define TENURE_UNARY_FLOOR TENURE_FLOATS(Floor)
#define TENURE_UNARY_CEIL TENURE_FLOATS(Ceil)
#define TENURE_UNARY_ROUND TENURE_FLOATS(Round)
#define TENURE_UNARY_TRUNC TENURE_FLOATS(Trunc)
#define TENURE_UNARY_SIGN                                                            \
  TENURE_FLOATS(Sign), each<Sign, int8_t>, each<Sign, int16_t>, each<Sign, int32_t>, \
      each<Sign, int64_t>, TENURE_INTEGERS(SignOfUnsigned)
#define TENURE_UNARY_IS_NAN TENURE_WORDS(question, IsNan)
#define TENURE_UNARY_IS_INF TENURE_WORDS(question, IsInfinite)
#define TENURE_UNARY_IS_FINITE TENURE_WORDS(question, IsFinite)
#define TENURE_UNARY_LOGICAL_NOT TENURE_NO_FLOATS, TENURE_NO_INTEGERS, each<LogicalNot, uint8_t>
#define TENURE_UNARY_NAN_TO_NUM TENURE_WORDS(each, NanToNumber)
#define TENURE_UNARY_BIT_NOT TENURE_NO_FLOATS, TENURE_INTEGERS(Invert), TENURE_INTEGERS(Invert)

#define TENURE_UNARY_EXP2 TENURE_FUNCTION(ExponentialOf2)
#define TENURE_UNARY_EXPM1 TENURE_FUNCTION(ExponentialLessOne)
#define TENURE_UNARY_LN TENURE_FUNCTION(Logarithm)
#define TENURE_UNARY_LOG2 TENURE_FUNCTION(LogarithmTo2)
#define TENURE_UNARY_LOG10 TENURE_FUNCTION(LogarithmTo10)
#define TENURE_UNARY_LOG1P TENURE_FUNCTION(LogarithmOfOneMore)
#define TENURE_UNARY_ERF TENURE_FUNCTION(ErrorFunction)
#define TENURE_UNARY_ERFC TENURE_FUNCTION(ComplementOfErrorFunction)
#define TENURE_UNARY_SIN TENURE_FUNCTION(Sine)
#define TENURE_UNARY_COS TENURE_FUNCTION(Cosine)
#define TENURE_UNARY_TAN TENURE_FUNCTION(Tangent)
#define TENURE_UNARY_ASIN TENURE_FUNCTION(InverseSine)
#define TENURE_UNARY_ACOS TENURE_FUNCTION(InverseCosine)
#define TENURE_UNARY_ATAN TENURE_FUNCTION(InverseTangent)
#define TENURE_UNARY_SINH TENURE_FUNCTION(HyperbolicSine)
#define TENURE_UNARY_COSH TENURE_FUNCTION(HyperbolicCosine)
#define TENURE_UNARY_ASINH TENURE_FUNCTION(InverseHyperbolicSine)
#define TENURE_UNARY_ACOSH TENURE_FUNCTION(InverseHyperbolicCosine)
#define TENURE_UNARY_ATANH TENURE_FUNCTION(InverseHyperbolicTangent)
#define TENURE_UNARY_CBRT TENURE_FUNCTION(CubeRoot)

// For complex numbers only, in complex.cpp.
#define TENURE_UNARY_CONJ \
  {                       \
  }
#define TENURE_UNARY_ARG \
  {                      \
  }

#define TENURE_ROW(Name, NAME) {TENURE_UNARY_##NAME},
const Elementwise kUnary[kUnaryCount][kTypeCount] = {TENURE_UNARY_OPERATIONS(TENURE_ROW)};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
