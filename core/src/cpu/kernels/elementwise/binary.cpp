// Operations on two operands of one dtype.
#include "cpu/halves.hpp"
#include "cpu/kernels/arithmetic.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/elementwise/power.hpp"
#include "cpu/kernels/elementwise/remainder.hpp"
#include "cpu/operations.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// Floats only; integers have compute_each() below.
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

// Has the dividend's sign. MIN % -1 is 0, where processors fault.
template <class T>
T remainder(T a, T b) {
  if (b == 0) return T{0};
  if constexpr (kIsSigned<T>) {
    if (b == static_cast<T>(-1)) return T{0};
  }
  return static_cast<T>(a % b);
}

// By squares, which wrap. A negative power gives 0, and is found.
template <class T>
T power(T base, T exponent) {
  if constexpr (kIsSigned<T>) {
    if (exponent < 0) return T{0};
  }
  auto square = static_cast<Wrap<T>>(base);
  Wrap<T> result = 1;
  for (auto left = static_cast<UnsignedOf<T>>(exponent); left != 0; left >>= 1) {
    if ((left & 1) != 0) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

// One by one; on the right are numbers that the operation does not take, and reports as `found`.
template <class T, T rule(T, T), Finding found>
Finding compute_each(const Strip& strip) {
  const int64_t n = strip.count;
  Byte* out = strip.out;
  const Byte* a = strip.in[0].data;
  const Byte* b = strip.in[1].data;
  const int64_t out_step = strip.out_step;
  const int64_t a_step = strip.in[0].step;
  const int64_t b_step = strip.in[1].step;
  bool is_found = false;
  for (int64_t i = 0; i < n; ++i) {
    const T right = load<T>(b);
    is_found |= found == kZeroDivisor ? right == 0 : right < 0;
    store<T>(out, rule(load<T>(a), right));
    out += out_step;
    a += a_step;
    b += b_step;
  }
  return is_found ? found : kNothing;
}

struct And {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    return static_cast<V>(a & b);
  }
};
struct Or {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    return static_cast<V>(a | b);
  }
};
struct Xor {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
    return static_cast<V>(a ^ b);
  }
};
// Applies `Rule` to truth bytes, in which any bit means true.
template <class Rule>
struct OfTruths {
  static constexpr bool kBranches = false;
  template <class V>
  static V apply(V a, V b) {
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

// Shifts of vectors. A count that is not below the width, as every negative one, shifts all bits
// out: C++ leaves it undefined.
template <class T>
struct ShiftLeft {
  template <class V>
  static V apply(V a, V count) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const auto bits = bit_copy<As<UnsignedOf<T>, V>>(count);
    return bits < kBits ? a << bit_copy<V>(bits & (kBits - 1)) : V{};
  }
};
template <class T>
struct ShiftRight {
  template <class V>
  static V apply(V a, V count) {
    constexpr unsigned kBits = 8 * sizeof(T);
    const auto bits = bit_copy<As<UnsignedOf<T>, V>>(count);
    const V shifted = a >> bit_copy<V>(bits & (kBits - 1));
    const V gone = kIsSigned<T> ? a >> (kBits - 1) : V{};
    return bits < kBits ? shifted : gone;
  }
};
// Elements of 8 and 16 bits, for which no set has such shifts, each in turn as one of 32 bits.
template <template <class> class Shift, class T>
struct InWords {
  template <class V>
  static V apply(V a, V count) {
    using Words = As<uint32_t, V>;
    using Wide = As<int32_t, V>;
    constexpr unsigned kBits = 8 * sizeof(T);
    constexpr uint32_t kMask = (1u << kBits) - 1;
    const Words values = bit_copy<Words>(a);
    const Words counts = bit_copy<Words>(count);
    Words result{};
#pragma GCC unroll 1
    for (unsigned at = 0; at < 32; at += kBits) {
      const Words top = values << (32 - kBits - at);
      const Words value =
          kIsSigned<T> ? bit_copy<Words>(bit_copy<Wide>(top) >> (32 - kBits)) : top >> (32 - kBits);
      const Words moved = shifted(value, (counts >> at) & kMask);
      result |= (moved & kMask) << at;
    }
    return bit_copy<V>(result);
  }

 private:
  template <class Words>
  static Words shifted(Words value, Words count) {
    using Of = As<typename IntegersOf<4>::Signed, Words>;
    if constexpr (kIsSigned<T>) {
      return bit_copy<Words>(Shift<int32_t>::apply(bit_copy<Of>(value), bit_copy<Of>(count)));
    } else {
      return Shift<uint32_t>::apply(value, count);
    }
  }
};

// Others take as long for one number as for a vector, or need several instructions.
template <class Rule>
constexpr Steps kStepsOf = Steps::kDense;
template <>
inline constexpr Steps kStepsOf<Add> = Steps::kAny;
template <>
inline constexpr Steps kStepsOf<Subtract> = Steps::kAny;
template <>
inline constexpr Steps kStepsOf<Multiply> = Steps::kAny;
template <>
inline constexpr Steps kStepsOf<And> = Steps::kAny;
template <>
inline constexpr Steps kStepsOf<Or> = Steps::kAny;
template <>
inline constexpr Steps kStepsOf<Xor> = Steps::kAny;

template <class Rule, class T>
constexpr Elementwise kernel = {map_pairs<Rule, T>, nullptr, kStepsOf<Rule>};
template <class Rule>
constexpr Elementwise kernel_of_f16() {
  if constexpr (kConvertsHalves) {
    return {map_pairs<OnF16<Rule>, uint16_t>, nullptr, Steps::kDense};
  } else {
    return {map_pairs<Rule, float>, &kF16AsFloat, Steps::kDense};
  }
}
template <class Rule>
constexpr Elementwise kernel<Rule, F16> = kernel_of_f16<Rule>();
template <class Rule>
constexpr Elementwise kernel<Rule, BF16> = {map_pairs<OnBF16<Rule>, uint16_t>, nullptr,
                                            kStepsOf<Rule>};

template <class T, T rule(T, T), Finding found>
constexpr Elementwise checked = {compute_each<T, rule, found>, nullptr, Steps::kAny};

// Functions of many instructions, which have one loop for each compute type.
template <class Rule, class T>
constexpr Elementwise function = {map_joint<Rule, T, 2>, nullptr, Steps::kDense};
template <class Rule>
constexpr Elementwise function<Rule, F16> = {map_joint<Rule, float, 2>, &kF16AsFloat,
                                             Steps::kDense};
template <class Rule>
constexpr Elementwise function<Rule, BF16> = {map_joint<Rule, float, 2>, &kBF16AsFloat,
                                              Steps::kDense};

template <template <class> class Shift, class T>
constexpr Elementwise shift = {map_joint<InWords<Shift, T>, T, 2>, nullptr, Steps::kDense};
template <template <class> class Shift, class T>
  requires(sizeof(T) >= 4)
constexpr Elementwise shift<Shift, T> = {map_joint<Shift<T>, T, 2>, nullptr, Steps::kDense};

}  // namespace

// A row for each operation of the table, in the order of the types. Where results wrap, signed and
// unsigned integers have the same bits and share their kernels.
#define TENURE_WRAPPING(Rule) TENURE_FLOATS(Rule), TENURE_UNSIGNED(Rule), TENURE_UNSIGNED(Rule)
#define TENURE_BINARY_ADD TENURE_WRAPPING(Add)
#define TENURE_BINARY_SUB TENURE_WRAPPING(Subtract)
#define TENURE_BINARY_MUL TENURE_WRAPPING(Multiply)
#define TENURE_CHECKED(rule, found)                                                     \
  checked<int8_t, rule<int8_t>, found>, checked<int16_t, rule<int16_t>, found>,         \
      checked<int32_t, rule<int32_t>, found>, checked<int64_t, rule<int64_t>, found>,   \
      checked<uint8_t, rule<uint8_t>, found>, checked<uint16_t, rule<uint16_t>, found>, \
      checked<uint32_t, rule<uint32_t>, found>, checked<uint64_t, rule<uint64_t>, found>
#define TENURE_FUNCTION(Rule) \
  function<Rule, double>, function<Rule, float>, function<Rule, F16>, function<Rule, BF16>
#define TENURE_BITS(Rule) TENURE_NO_FLOATS, TENURE_UNSIGNED(Rule), TENURE_UNSIGNED(Rule)
#define TENURE_TRUTHS(Rule) \
  TENURE_NO_FLOATS, TENURE_NO_INTEGERS, { map_pairs<OfTruths<Rule>, uint8_t>, nullptr, Steps::kAny }
#define TENURE_SHIFTS(Shift, ...)                                  \
  shift<Shift, __VA_ARGS__##8_t>, shift<Shift, __VA_ARGS__##16_t>, \
      shift<Shift, __VA_ARGS__##32_t>, shift<Shift, __VA_ARGS__##64_t>
#define TENURE_BINARY_DIV TENURE_FLOATS(Divide), TENURE_CHECKED(quotient, kZeroDivisor)
#define TENURE_BINARY_REM TENURE_FUNCTION(Remainder), TENURE_CHECKED(remainder, kZeroDivisor)
#define TENURE_BINARY_LOGICAL_AND TENURE_TRUTHS(And)
#define TENURE_BINARY_LOGICAL_OR TENURE_TRUTHS(Or)
#define TENURE_BINARY_LOGICAL_XOR TENURE_TRUTHS(Xor)
#define TENURE_BINARY_BIT_AND TENURE_BITS(And)
#define TENURE_BINARY_BIT_OR TENURE_BITS(Or)
#define TENURE_BINARY_BIT_XOR TENURE_BITS(Xor)
#define TENURE_BINARY_SHIFT_LEFT \
  TENURE_NO_FLOATS, TENURE_SHIFTS(ShiftLeft, uint), TENURE_SHIFTS(ShiftLeft, uint)
#define TENURE_BINARY_SHIFT_RIGHT \
  TENURE_NO_FLOATS, TENURE_SHIFTS(ShiftRight, int), TENURE_SHIFTS(ShiftRight, uint)
#define TENURE_BINARY_POW TENURE_FUNCTION(Power), TENURE_CHECKED(power, kNegativePower)
#define TENURE_BINARY_ATAN2 TENURE_FUNCTION(AngleOfPoint)
#define TENURE_BINARY_HYPOT TENURE_FUNCTION(Distance)
#define TENURE_BINARY_MIN TENURE_FLOATS(Minimum), TENURE_SIGNED(Minimum), TENURE_UNSIGNED(Minimum)
#define TENURE_BINARY_MAX TENURE_FLOATS(Maximum), TENURE_SIGNED(Maximum), TENURE_UNSIGNED(Maximum)

#define TENURE_ROW(Name, NAME) {TENURE_BINARY_##NAME},
const Elementwise kBinary[kBinaryCount][kTypeCount] = {TENURE_BINARY_OPERATIONS(TENURE_ROW)};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
