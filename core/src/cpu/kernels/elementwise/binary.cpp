// Operations on two operands of one dtype.
#include "cpu/halves.hpp"
#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/operations.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Floats only; integers have divide_integers() below.
struct Divide {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
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
  const int64_t n = strip.count;
  Byte* out = strip.out;
  const Byte* a = strip.in[0].data;
  const Byte* b = strip.in[1].data;
  const int64_t out_step = strip.out_step;
  const int64_t a_step = strip.in[0].step;
  const int64_t b_step = strip.in[1].step;
  bool zero = false;
  for (int64_t i = 0; i < n; ++i) {
    const T divisor = load<T>(b);
    zero |= divisor == 0;
    store<T>(out, quotient(load<T>(a), divisor));
    out += out_step;
    a += a_step;
    b += b_step;
  }
  return zero ? kZeroDivisor : kNothing;
}

// Others take as long for one number as for a vector, or need several instructions.
template <class Rule>
constexpr Steps kStepsOf = Steps::kDense;
template <>
inline constexpr Steps kStepsOf<Add> = Steps::kAny;
template <>
inline constexpr Steps kStepsOf<Subtract> = Steps::kAny;
template <>
inline constexpr Steps kStepsOf<Multiply> = Steps::kAny;

template <class Rule, class T>
constexpr Elementwise kernel = {map_pairs<Rule, T>, nullptr, kStepsOf<Rule>};
template <class Rule>
constexpr Elementwise kernel<Rule, F16> = {map_pairs<Rule, float>, &kF16AsFloat, Steps::kDense};
template <class Rule>
constexpr Elementwise kernel<Rule, BF16> = {map_pairs<OnBF16<Rule>, uint16_t>, nullptr,
                                            kStepsOf<Rule>};

template <class T>
constexpr Elementwise divide = {divide_integers<T>, nullptr, Steps::kAny};

}  // namespace

// A row for each operation of the table, in the order of the types. Where results wrap, signed and
// unsigned integers have the same bits and share their kernels.
#define TENURE_WRAPPING(Rule) TENURE_FLOATS(Rule), TENURE_UNSIGNED(Rule), TENURE_UNSIGNED(Rule)
#define TENURE_BINARY_ADD TENURE_WRAPPING(Add)
#define TENURE_BINARY_SUB TENURE_WRAPPING(Subtract)
#define TENURE_BINARY_MUL TENURE_WRAPPING(Multiply)
#define TENURE_BINARY_DIV                                                                   \
  TENURE_FLOATS(Divide), divide<int8_t>, divide<int16_t>, divide<int32_t>, divide<int64_t>, \
      divide<uint8_t>, divide<uint16_t>, divide<uint32_t>, divide<uint64_t>
#define TENURE_BINARY_MIN TENURE_FLOATS(Minimum), TENURE_SIGNED(Minimum), TENURE_UNSIGNED(Minimum)
#define TENURE_BINARY_MAX TENURE_FLOATS(Maximum), TENURE_SIGNED(Maximum), TENURE_UNSIGNED(Maximum)

#define TENURE_ROW(Name, NAME) {TENURE_BINARY_##NAME},
const Elementwise kBinary[kBinaryCount][kTypeCount] = {TENURE_BINARY_OPERATIONS(TENURE_ROW)};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
