// Operations on two operands of one dtype.
#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// A Rule computes in the element's compute type; TwoOf makes it an Op of strip.hpp.
template <class Rule, class T>
struct TwoOf {
  using In = T;
  using Out = T;
  static T apply(T a, T b) { return narrow<T>(Rule::apply(widen(a), widen(b))); }
};

struct Subtract {
  static double apply(double a, double b) { return a - b; }
  static float apply(float a, float b) { return a - b; }
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) - static_cast<Wrap<T>>(b));
  }
};

struct Multiply {
  static double apply(double a, double b) { return a * b; }
  static float apply(float a, float b) { return a * b; }
  template <class T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrap<T>>(a) * static_cast<Wrap<T>>(b));
  }
};

// Floats only; integers have divide_integers() below.
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};

// Truncates. MIN / -1 wraps, so -1 negates. Where the divisor is 0 the output gets 0, and the
// finding says that it happened: the output of a failed division is mixed but initialised.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return T{0};
  if constexpr (kIsSigned<T>) {
    if (b == static_cast<T>(-1)) {
      return static_cast<T>(Wrap<T>{0} - static_cast<Wrap<T>>(a));
    }
  }
  return static_cast<T>(a / b);
}

template <class T>
Finding divide_integers(const Strip& strip) {
  bool zero = false;
  for (int64_t i = 0; i < strip.count; ++i) {
    const T a = load<T>(strip.in[0] + i * strip.in_steps[0]);
    const T b = load<T>(strip.in[1] + i * strip.in_steps[1]);
    zero |= b == 0;
    store<T>(strip.out + i * strip.out_step, quotient(a, b));
  }
  return zero ? kZeroDivisor : kNothing;
}

template <class Rule, class T>
constexpr StripKernel kernel = map2<TwoOf<Rule, T>>;

}  // namespace

// Where results wrap, signed and unsigned integers have the same bits and share their kernels.
const StripKernel kBinary[kBinaryCount][kTypeCount] = {
    {TENURE_FLOATS(Add), TENURE_UNSIGNED(Add), TENURE_UNSIGNED(Add), nullptr},
    {TENURE_FLOATS(Subtract), TENURE_UNSIGNED(Subtract), TENURE_UNSIGNED(Subtract), nullptr},
    {TENURE_FLOATS(Multiply), TENURE_UNSIGNED(Multiply), TENURE_UNSIGNED(Multiply), nullptr},
    {TENURE_FLOATS(Divide), divide_integers<int8_t>, divide_integers<int16_t>,
     divide_integers<int32_t>, divide_integers<int64_t>, divide_integers<uint8_t>,
     divide_integers<uint16_t>, divide_integers<uint32_t>, divide_integers<uint64_t>, nullptr},
    {TENURE_FLOATS(Minimum), TENURE_SIGNED(Minimum), TENURE_UNSIGNED(Minimum), nullptr},
    {TENURE_FLOATS(Maximum), TENURE_SIGNED(Maximum), TENURE_UNSIGNED(Maximum), nullptr},
};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
