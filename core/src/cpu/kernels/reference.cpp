#include "cpu/kernels/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "cpu/operations.hpp"

namespace tenure::kernels::reference {
namespace {

// Rounds once; mingw-w64's fma() rounds twice. Reference implementations run on processors that
// have the instruction.
#if defined(__MINGW32__)
[[gnu::target("fma")]] double fused_sum(double a, double b, double sum) {
  return __builtin_fma(a, b, sum);
}
#else
double fused_sum(double a, double b, double sum) { return std::fma(a, b, sum); }
#endif

using Whole = __int128;
using Real = long double;

// Layout of a type's bits; integers have no significand.
struct Format {
  int bytes;
  bool is_float;
  bool is_signed;
  int significand_bits;  // with the hidden one
  int max_exponent;      // of the largest finite number, as a power of two
};

Format format_of(Type type) {
  switch (type) {
    case Type::kF64: return {8, true, true, 53, 1023};
    case Type::kF32: return {4, true, true, 24, 127};
    case Type::kF16: return {2, true, true, 11, 15};
    case Type::kBF16: return {2, true, true, 8, 127};
    case Type::kI8: return {1, false, true, 0, 0};
    case Type::kI16: return {2, false, true, 0, 0};
    case Type::kI32: return {4, false, true, 0, 0};
    case Type::kI64: return {8, false, true, 0, 0};
    case Type::kU8: return {1, false, false, 0, 0};
    case Type::kU16: return {2, false, false, 0, 0};
    case Type::kU32: return {4, false, false, 0, 0};
    case Type::kU64: return {8, false, false, 0, 0};
    case Type::kBool8: break;
  }
  return {1, false, false, 0, 0};
}

// An element of any type, exactly.
struct Number {
  bool is_float;
  Whole whole;
  Real real;
};

uint64_t bits_of(Type type, const Byte* from) {
  uint64_t bits = 0;  // the machine is little-endian, as every one that this is tested on
  std::memcpy(&bits, from, static_cast<std::size_t>(format_of(type).bytes));
  return bits;
}

Real decode(const Format& format, uint64_t bits) {
  const int fraction_bits = format.significand_bits - 1;
  const int exponent_bits = format.bytes * 8 - format.significand_bits;
  const uint64_t fraction = bits & ((uint64_t{1} << fraction_bits) - 1);
  const auto exponent =
      static_cast<int>(bits >> fraction_bits & ((uint64_t{1} << exponent_bits) - 1));
  const bool negative = (bits >> (format.bytes * 8 - 1)) != 0;
  Real magnitude;
  if (exponent == 2 * format.max_exponent + 1) {
    magnitude = fraction == 0 ? std::numeric_limits<Real>::infinity()
                              : std::numeric_limits<Real>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<Real>(fraction), 1 - format.max_exponent - fraction_bits);
  } else {
    const uint64_t significand = fraction | uint64_t{1} << fraction_bits;
    magnitude =
        std::ldexp(static_cast<Real>(significand), exponent - format.max_exponent - fraction_bits);
  }
  return negative ? -magnitude : magnitude;
}

// The nearest number of the format, ties to the even one: in units of its last place, rounded.
uint64_t encode(const Format& format, Real value) {
  const int fraction_bits = format.significand_bits - 1;
  const uint64_t sign = std::signbit(value) ? uint64_t{1} << (format.bytes * 8 - 1) : 0;
  const uint64_t infinity = static_cast<uint64_t>(2 * format.max_exponent + 1) << fraction_bits;
  if (std::isnan(value)) return sign | infinity | uint64_t{1} << (fraction_bits - 1);
  const Real magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  int exponent = magnitude == 0 ? 1 - format.max_exponent : std::ilogb(magnitude);
  if (exponent < 1 - format.max_exponent) exponent = 1 - format.max_exponent;
  const auto units =
      static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
  // Units beyond the significand carry into the exponent, up to infinity, as the format intends.
  const uint64_t base = static_cast<uint64_t>(exponent - 1 + format.max_exponent) << fraction_bits;
  const uint64_t bits = base + units;
  return sign | (bits > infinity || exponent > format.max_exponent ? infinity : bits);
}

Number load(Type type, const Byte* from) {
  const Format format = format_of(type);
  const uint64_t bits = bits_of(type, from);
  if (format.is_float) return {true, 0, decode(format, bits)};
  if (type == Type::kBool8) return {false, bits != 0 ? 1 : 0, 0};
  const Whole modulus = Whole{1} << (format.bytes * 8);
  const bool negative = format.is_signed && bits >> (format.bytes * 8 - 1) != 0;
  return {false, negative ? static_cast<Whole>(bits) - modulus : static_cast<Whole>(bits), 0};
}

// Integers keep their low bits: that is how they wrap.
void store(Type type, Byte* to, const Number& number) {
  const Format format = format_of(type);
  const uint64_t bits =
      format.is_float ? encode(format, number.real) : static_cast<uint64_t>(number.whole);
  std::memcpy(to, &bits, static_cast<std::size_t>(format.bytes));
}

Number real(Real value) { return {true, 0, value}; }
Number whole(Whole value) { return {false, value, 0}; }

Whole largest(const Format& format) {
  return (Whole{1} << (format.bytes * 8 - (format.is_signed ? 1 : 0))) - 1;
}
Whole smallest(const Format& format) { return format.is_signed ? -largest(format) - 1 : 0; }

// The largest finite number.
Real most(const Format& format) {
  return std::ldexp(2 - std::ldexp(Real{1}, 1 - format.significand_bits), format.max_exponent);
}

Whole saturated(const Format& format, Real value) {
  if (std::isnan(value)) return 0;
  if (value >= static_cast<Real>(largest(format))) return largest(format);
  if (value <= static_cast<Real>(smallest(format))) return smallest(format);
  return static_cast<Whole>(value);
}

bool is_nonzero(const Number& number) {
  return number.is_float ? number.real != 0 : number.whole != 0;
}

bool is_less(const Number& a, const Number& b) {
  return a.is_float ? a.real < b.real : a.whole < b.whole;
}
bool is_equal(const Number& a, const Number& b) {
  return a.is_float ? a.real == b.real : a.whole == b.whole;
}
bool is_nan(const Number& number) { return number.is_float && std::isnan(number.real); }

// f64 is computed in f64: a Real is not wide enough for rounding twice to be rounding once.
template <class Function>
Number arithmetic(Type type, const Number& a, const Number& b, const Function& function) {
  if (type == Type::kF64) {
    return real(function(static_cast<double>(a.real), static_cast<double>(b.real)));
  }
  return a.is_float ? real(function(a.real, b.real)) : whole(function(a.whole, b.whole));
}

// Multiplies integers in 64 bits: a wider product has the same low bits, but overflows its type.
Number product(Type type, const Number& a, const Number& b) {
  if (a.is_float) return arithmetic(type, a, b, [](auto p, auto q) { return p * q; });
  return whole(static_cast<Whole>(static_cast<uint64_t>(a.whole) * static_cast<uint64_t>(b.whole)));
}

Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

// The limit where x is infinite and the weight 0, with the sign of x.
Real weighted(Real x, Real weight) {
  return std::isinf(x) && weight == 0 ? std::copysign(Real{0}, x) : x * weight;
}

// Up to x. Where x is far below 0, a rounding of x / sqrt(2) would change as many places as its
// square is large: the square tells how much.
Real normal_integral(Real x) {
  const Real root = -x / std::sqrt(Real{2});
  const Real half_square = x * x / 2;
  if (!(half_square < 1000)) return std::erfc(root) / 2;
  const Real excess = std::fma(root, root, -half_square) - std::fma(x / 2, x, -half_square);
  return std::erfc(root) / 2 * (x < 0 ? 1 + excess : 1);
}

Real gelu_argument(Real x) {
  const Real slope = std::sqrt(8 / std::acos(Real{-1}));
  return slope * (x + 0.044715L * x * x * x);
}

// In 64 bits, whose low ones are those of any wider product.
Number power(Whole base, Whole exponent) {
  uint64_t result = 1;
  auto square = static_cast<uint64_t>(base);
  for (auto left = static_cast<uint64_t>(exponent); left != 0; left /= 2) {
    if (left % 2 != 0) result *= square;
    square *= square;
  }
  return whole(static_cast<Whole>(result));
}

// By a shift of the value itself, where no bit falls off the type's own end.
Number shifted(const Format& format, Whole value, Whole count, bool to_left) {
  const bool is_within = count >= 0 && count < format.bytes * 8;
  if (to_left) return whole(is_within ? value * (Whole{1} << count) : 0);
  if (!is_within) return whole(value < 0 ? -1 : 0);
  return whole(value >> count);
}

Number lower(const Number& a, const Number& b) { return is_nan(a) || is_less(a, b) ? a : b; }
Number higher(const Number& a, const Number& b) { return is_nan(a) || is_less(b, a) ? a : b; }

Real sum_of_squares(Type type, const Byte* const* elements, int64_t count) {
  Real sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += load(type, elements[i]).real;
  const Real mean = sum / static_cast<Real>(count);
  Real squares = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Real deviation = load(type, elements[i]).real - mean;
    squares += deviation * deviation;
  }
  return squares;
}

// The first of the elements that no other beats; a NaN beats every number.
int64_t extreme(bool smallest_wins, Type type, const Byte* const* elements, int64_t count) {
  int64_t best = 0;
  for (int64_t i = 1; i < count; ++i) {
    const Number a = load(type, elements[best]);
    const Number b = load(type, elements[i]);
    if (is_nan(a)) break;
    if (is_nan(b) || (smallest_wins ? is_less(b, a) : is_less(a, b))) best = i;
  }
  return best;
}

void reduce_sum(bool multiplies, Type type, const Byte* const* elements, int64_t count, Byte* out) {
  const Format format = format_of(type);
  Real total_real = multiplies ? 1 : 0;
  auto total_whole = static_cast<uint64_t>(multiplies ? 1 : 0);
  for (int64_t i = 0; i < count; ++i) {
    const Number number = load(type, elements[i]);
    const auto bits = static_cast<uint64_t>(number.whole);
    total_real = multiplies ? total_real * number.real : total_real + number.real;
    total_whole = multiplies ? total_whole * bits : total_whole + bits;
  }
  if (format.is_float) {
    store(type, out, real(total_real));
  } else {
    store(Type::kU64, out, whole(static_cast<Whole>(total_whole)));
  }
}

// Norms of the power 2, and logsumexp.
void reduce_magnitudes(Reduce op, Type type, const Byte* const* elements, int64_t count,
                       Byte* out) {
  const bool is_norm = op == Reduce::kNorm;
  Real greatest = is_norm ? Real{0} : -std::numeric_limits<Real>::infinity();
  if (!is_norm) {
    for (int64_t i = 0; i < count; ++i)
      greatest = std::fmax(greatest, load(type, elements[i]).real);
  }
  const Real from = std::isinf(greatest) ? 0 : greatest;
  Real sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Real x = load(type, elements[i]).real;
    sum += is_norm ? x * x : std::exp(x - from);
  }
  store(type, out, real(is_norm ? std::sqrt(sum) : from + std::log(sum)));
}

// Reduces the elements that are not NaN.
void reduce_numbers(Reduce op, Type type, const Byte* const* elements, int64_t count, Byte* out) {
  Real sum = 0;
  int64_t numbers = 0;
  Real best = std::numeric_limits<Real>::quiet_NaN();
  for (int64_t i = 0; i < count; ++i) {
    const Real x = load(type, elements[i]).real;
    if (std::isnan(x)) continue;
    sum += x;
    ++numbers;
    best = op == Reduce::kNanMin ? std::fmin(best, x) : std::fmax(best, x);
  }
  if (op == Reduce::kNanMean) sum /= static_cast<Real>(numbers);
  store(type, out, real(op == Reduce::kNanSum || op == Reduce::kNanMean ? sum : best));
}

void reduce_moment(Reduce op, Type type, const Byte* const* elements, int64_t count, int64_t ddof,
                   Byte* out) {
  Real result = std::numeric_limits<Real>::quiet_NaN();
  if (op == Reduce::kMean && count > 0) {
    result = 0;
    for (int64_t i = 0; i < count; ++i) result += load(type, elements[i]).real;
    result /= static_cast<Real>(count);
  } else if (op != Reduce::kMean && count > ddof) {
    result = sum_of_squares(type, elements, count) / static_cast<Real>(count - ddof);
    if (op == Reduce::kStd || op == Reduce::kNanStd) result = std::sqrt(result);
  }
  store(type, out, real(result));
}

void reduce_moment_of_numbers(Reduce op, Type type, const Byte* const* elements, int64_t count,
                              int64_t ddof, Byte* out) {
  std::vector<const Byte*> numbers(elements, elements + count);
  std::erase_if(numbers, [type](const Byte* x) { return std::isnan(load(type, x).real); });
  reduce_moment(op, type, numbers.data(), static_cast<int64_t>(numbers.size()), ddof, out);
}

// ---- complex numbers ----

// Wide enough for a product of two f64.
#if defined(__x86_64__)
__extension__ typedef __float128 Quad;
#else
using Quad = long double;
#endif

template <class T>
struct Pair {
  T real;
  T imaginary;
};
template <class T>
Pair<T> pair_at(const Byte* from) {
  Pair<T> pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair;
}

// Each operation rounded.
template <class T>
Pair<T> product(Pair<T> a, Pair<T> b) {
  const T real[] = {a.real * b.real, a.imaginary * b.imaginary};
  const T imaginary[] = {a.real * b.imaginary, a.imaginary * b.real};
  return {real[0] - real[1], imaginary[0] + imaginary[1]};
}

// Replaces an infinite number by its direction, after C's annex G; returns whether it was infinite.
template <class T>
bool make_direction(Pair<T>& a) {
  if (!std::isinf(a.real) && !std::isinf(a.imaginary)) return false;
  a.real = std::copysign(std::isinf(a.real) ? T{1} : T{0}, a.real);
  a.imaginary = std::copysign(std::isinf(a.imaginary) ? T{1} : T{0}, a.imaginary);
  return true;
}

template <class T>
Pair<T> quotient(Pair<T> a, Pair<T> b) {
  const T infinity = std::numeric_limits<T>::infinity();
  if (b.real == 0 && b.imaginary == 0) return {a.real * infinity, a.imaginary * infinity};
  const bool is_infinite = make_direction(a);
  const bool is_by_infinity = make_direction(b);
  const Quad c = b.real;
  const Quad d = b.imaginary;
  // An infinite quotient needs only the signs of its parts.
  const Quad norm = is_infinite ? Quad{1} : c * c + d * d;
  const T factor = is_infinite ? infinity : T{1};
  const T limit = is_by_infinity ? T{0} : T{1};
  return {static_cast<T>((a.real * c + a.imaginary * d) / norm) * factor * limit,
          static_cast<T>((a.imaginary * c - a.real * d) / norm) * factor * limit};
}

template <class T>
void store_unary(Unary op, const Byte* from, Byte* out) {
  const auto a = pair_at<T>(from);
  Pair<T> result = a;
  std::size_t size = sizeof result;
  switch (op) {
    case Unary::kNeg: result = {-a.real, -a.imaginary}; break;
    case Unary::kConj: result.imaginary = -a.imaginary; break;
    case Unary::kSquare: result = product(a, a); break;
    case Unary::kReciprocal: result = quotient(Pair<T>{1, 0}, a); break;
    case Unary::kAbs:
      result.real = static_cast<T>(std::hypot(Real{a.real}, Real{a.imaginary}));
      size = sizeof(T);
      break;
    case Unary::kArg:
      result.real = static_cast<T>(std::atan2(Real{a.imaginary}, Real{a.real}));
      size = sizeof(T);
      break;
    default: break;
  }
  std::memcpy(out, &result, size);
}

template <class T>
void store_binary(Binary op, const Byte* left, const Byte* right, Byte* out) {
  const auto a = pair_at<T>(left);
  const auto b = pair_at<T>(right);
  Pair<T> result = a;
  switch (op) {
    case Binary::kAdd: result = {a.real + b.real, a.imaginary + b.imaginary}; break;
    case Binary::kSub: result = {a.real - b.real, a.imaginary - b.imaginary}; break;
    case Binary::kMul: result = product(a, b); break;
    case Binary::kDiv: result = quotient(a, b); break;
    default: break;
  }
  std::memcpy(out, &result, sizeof result);
}

// An end itself where the ends are equal, and where the other one has no part.
Real interpolated(Real a, Real b, Real t) {
  if (std::isnan(a) || std::isnan(b) || std::isnan(t)) return a + b + t;
  if (a == b || t == 0) return a;
  return t == 1 ? b : (1 - t) * a + t * b;
}

}  // namespace

void complex_unary(unsigned row, Type part, const Byte* a, Byte* out) {
  const auto op = static_cast<Unary>(row + 1);
  part == Type::kF64 ? store_unary<double>(op, a, out) : store_unary<float>(op, a, out);
}

void complex_binary(unsigned row, Type part, const Byte* a, const Byte* b, Byte* out) {
  const auto op = static_cast<Binary>(row + 1);
  part == Type::kF64 ? store_binary<double>(op, a, b, out) : store_binary<float>(op, a, b, out);
}

bool complex_equal(Type part, const Byte* a, const Byte* b) {
  const uint64_t width = element_bytes(part);
  Byte real = 0;
  Byte imaginary = 0;
  compare(0, part, a, b, &real);
  compare(0, part, a + width, b + width, &imaginary);
  return real != 0 && imaginary != 0;
}

uint64_t element_bytes(Type type) { return static_cast<uint64_t>(format_of(type).bytes); }

void cast(Type from, const Byte* a, Type to, Byte* out) {
  const Format format = format_of(to);
  const Number number = load(from, a);
  if (to == Type::kBool8) {
    store(to, out, whole(is_nonzero(number) ? 1 : 0));
  } else if (format.is_float) {
    store(to, out, number.is_float ? number : real(static_cast<Real>(number.whole)));
  } else {
    store(to, out, number.is_float ? whole(saturated(format, number.real)) : number);
  }
}

void unary(unsigned row, Type type, const Byte* a, Byte* out) {
  const Number x = load(type, a);
  Number result = x;
  switch (static_cast<Unary>(row + 1)) {
    case Unary::kNeg: result = x.is_float ? real(-x.real) : whole(-x.whole); break;
    case Unary::kAbs:
      result = x.is_float ? real(std::fabs(x.real)) : whole(x.whole < 0 ? -x.whole : x.whole);
      break;
    case Unary::kSqrt:
      result = real(type == Type::kF64 ? static_cast<Real>(std::sqrt(static_cast<double>(x.real)))
                                       : std::sqrt(x.real));
      break;
    case Unary::kExp: result = real(std::exp(x.real)); break;
    case Unary::kTanh: result = real(std::tanh(x.real)); break;
    case Unary::kSigmoid: result = real(sigmoid(x.real)); break;
    case Unary::kSilu: result = real(weighted(x.real, sigmoid(x.real))); break;
    case Unary::kGelu: result = real(weighted(x.real, normal_integral(x.real))); break;
    case Unary::kGeluTanh: result = real(weighted(x.real, sigmoid(gelu_argument(x.real)))); break;
    case Unary::kSoftplus:
      result = real(std::fmax(x.real, Real{0}) + std::log1p(std::exp(-std::fabs(x.real))));
      break;
    case Unary::kHardswish:
      result = real(weighted(x.real, std::clamp((x.real + 3) / 6, Real{0}, Real{1})));
      break;
    case Unary::kElu: result = real(x.real > 0 ? x.real : std::expm1(x.real)); break;
    case Unary::kLeakyRelu:
      result = real(x.real < 0 ? x.real * (type == Type::kF64 ? 0.01 : 0.01f) : x.real);
      break;
    case Unary::kSoftsign:
      result = real(std::isinf(x.real) ? std::copysign(Real{1}, x.real)
                                       : x.real / (1 + std::fabs(x.real)));
      break;
    case Unary::kExp2: result = real(std::exp2(x.real)); break;
    case Unary::kExpm1: result = real(std::expm1(x.real)); break;
    case Unary::kLn: result = real(std::log(x.real)); break;
    case Unary::kLog2: result = real(std::log2(x.real)); break;
    case Unary::kLog10: result = real(std::log10(x.real)); break;
    case Unary::kLog1p: result = real(std::log1p(x.real)); break;
    case Unary::kErf: result = real(std::erf(x.real)); break;
    case Unary::kErfc: result = real(std::erfc(x.real)); break;
    case Unary::kSin: result = real(std::sin(x.real)); break;
    case Unary::kCos: result = real(std::cos(x.real)); break;
    case Unary::kTan: result = real(std::tan(x.real)); break;
    case Unary::kAsin: result = real(std::asin(x.real)); break;
    case Unary::kAcos: result = real(std::acos(x.real)); break;
    case Unary::kAtan: result = real(std::atan(x.real)); break;
    case Unary::kSinh: result = real(std::sinh(x.real)); break;
    case Unary::kCosh: result = real(std::cosh(x.real)); break;
    case Unary::kAsinh: result = real(std::asinh(x.real)); break;
    case Unary::kAcosh: result = real(std::acosh(x.real)); break;
    case Unary::kAtanh: result = real(std::atanh(x.real)); break;
    case Unary::kCbrt: result = real(std::cbrt(x.real)); break;
    case Unary::kConj:
    case Unary::kArg: break;  // of complex numbers only
    case Unary::kSquare: result = product(type, x, x); break;
    case Unary::kReciprocal:
      result = arithmetic(type, real(1), x, [](auto p, auto q) { return p / q; });
      break;
    case Unary::kRsqrt: result = real(1 / std::sqrt(x.real)); break;
    case Unary::kFloor: result = real(std::floor(x.real)); break;
    case Unary::kCeil: result = real(std::ceil(x.real)); break;
    case Unary::kRound: result = real(std::nearbyint(x.real)); break;
    case Unary::kTrunc: result = real(std::trunc(x.real)); break;
    case Unary::kSign:
      if (!is_nonzero(x) || is_nan(x)) break;
      result = x.is_float ? real(std::copysign(Real{1}, x.real)) : whole(x.whole < 0 ? -1 : 1);
      break;
    case Unary::kIsNan: return store(Type::kBool8, out, whole(std::isnan(x.real) ? 1 : 0));
    case Unary::kIsInf: return store(Type::kBool8, out, whole(std::isinf(x.real) ? 1 : 0));
    case Unary::kIsFinite: return store(Type::kBool8, out, whole(std::isfinite(x.real) ? 1 : 0));
    case Unary::kLogicalNot: result = whole(x.whole == 0 ? 1 : 0); break;
    case Unary::kNanToNum:
      if (std::isnan(x.real)) result = real(0);
      if (std::isinf(x.real)) result = real(std::copysign(most(format_of(type)), x.real));
      break;
    case Unary::kBitNot: result = whole(~x.whole); break;
    case Unary::kRelu:
      if (is_less(x, x.is_float ? real(0) : whole(0))) result = x.is_float ? real(0) : whole(0);
      break;
  }
  store(type, out, result);
}

Finding binary(unsigned row, Type type, const Byte* a, const Byte* b, Byte* out) {
  const Number x = load(type, a);
  const Number y = load(type, b);
  Number result = x;
  switch (static_cast<Binary>(row + 1)) {
    case Binary::kAdd: result = arithmetic(type, x, y, [](auto p, auto q) { return p + q; }); break;
    case Binary::kSub: result = arithmetic(type, x, y, [](auto p, auto q) { return p - q; }); break;
    case Binary::kMul: result = product(type, x, y); break;
    case Binary::kDiv:
      if (!x.is_float && y.whole == 0) {
        store(type, out, whole(0));
        return kZeroDivisor;
      }
      result = arithmetic(type, x, y, [](auto p, auto q) { return p / q; });
      break;
    case Binary::kPow:
      if (!x.is_float && y.whole < 0) {
        store(type, out, whole(0));
        return kNegativePower;
      }
      result = x.is_float ? real(std::pow(x.real, y.real)) : power(x.whole, y.whole);
      break;
    case Binary::kAtan2: result = real(std::atan2(x.real, y.real)); break;
    case Binary::kHypot: result = real(std::hypot(x.real, y.real)); break;
    case Binary::kRem:
      if (!x.is_float && y.whole == 0) {
        store(type, out, whole(0));
        return kZeroDivisor;
      }
      result = x.is_float ? real(std::fmod(x.real, y.real)) : whole(x.whole % y.whole);
      break;
    case Binary::kLogicalAnd:
    case Binary::kBitAnd: result = whole(x.whole & y.whole); break;
    case Binary::kLogicalOr:
    case Binary::kBitOr: result = whole(x.whole | y.whole); break;
    case Binary::kLogicalXor:
    case Binary::kBitXor: result = whole(x.whole ^ y.whole); break;
    case Binary::kShiftLeft: result = shifted(format_of(type), x.whole, y.whole, true); break;
    case Binary::kShiftRight: result = shifted(format_of(type), x.whole, y.whole, false); break;
    case Binary::kMin: result = lower(x, y); break;
    case Binary::kMax: result = higher(x, y); break;
  }
  store(type, out, result);
  return kNothing;
}

void ternary(unsigned row, Type type, const Byte* a, const Byte* b, const Byte* c, Byte* out) {
  const Number x = load(type, a);
  const Number y = load(type, b);
  const Number z = load(type, c);
  // A product of two f64 has more digits than a Real.
  const auto fused = [type](Real p, Real q, Real r) {
    if (type != Type::kF64) return static_cast<Real>(p * q + r);
    return static_cast<Real>(
        fused_sum(static_cast<double>(p), static_cast<double>(q), static_cast<double>(r)));
  };
  switch (static_cast<Ternary>(row + 1)) {
    case Ternary::kFma:
      return store(type, out,
                   x.is_float ? real(fused(x.real, y.real, z.real))
                              : whole(static_cast<Whole>(static_cast<uint64_t>(x.whole) *
                                                             static_cast<uint64_t>(y.whole) +
                                                         static_cast<uint64_t>(z.whole))));
    case Ternary::kLerp: return store(type, out, real(interpolated(x.real, y.real, z.real)));
    case Ternary::kClamp: return store(type, out, lower(higher(x, y), z));
  }
}

void compare(unsigned row, Type type, const Byte* a, const Byte* b, Byte* out) {
  const Number x = load(type, a);
  const Number y = load(type, b);
  switch (static_cast<Compare>(row + 1)) {
    case Compare::kEq: *out = is_equal(x, y) ? 1 : 0; break;
    case Compare::kNe: *out = is_equal(x, y) ? 0 : 1; break;
    case Compare::kLt: *out = is_less(x, y) ? 1 : 0; break;
    case Compare::kLe: *out = is_less(x, y) || is_equal(x, y) ? 1 : 0; break;
    case Compare::kGt: *out = is_less(y, x) ? 1 : 0; break;
    case Compare::kGe: *out = is_less(y, x) || is_equal(x, y) ? 1 : 0; break;
  }
}

void reduce(unsigned row, Type type, const Byte* const* elements, int64_t count, int64_t ddof,
            Byte* out) {
  int64_t nonzero = 0;
  for (int64_t i = 0; i < count; ++i) nonzero += is_nonzero(load(type, elements[i])) ? 1 : 0;
  const auto op = static_cast<Reduce>(row + 1);
  switch (op) {
    case Reduce::kSum:
    case Reduce::kProd: return reduce_sum(op == Reduce::kProd, type, elements, count, out);
    case Reduce::kMean:
    case Reduce::kVar:
    case Reduce::kStd: return reduce_moment(op, type, elements, count, ddof, out);
    case Reduce::kMin:
    case Reduce::kMax: {
      const Byte* const best = elements[extreme(op == Reduce::kMin, type, elements, count)];
      return store(type, out, load(type, best));
    }
    case Reduce::kArgmin:
    case Reduce::kArgmax:
      return store(Type::kI64, out, whole(extreme(op == Reduce::kArgmin, type, elements, count)));
    case Reduce::kAny: return store(Type::kBool8, out, whole(nonzero > 0 ? 1 : 0));
    case Reduce::kAll: return store(Type::kBool8, out, whole(nonzero == count ? 1 : 0));
    case Reduce::kCount: return store(Type::kI64, out, whole(nonzero));
    case Reduce::kNorm:
    case Reduce::kLogsumexp: return reduce_magnitudes(op, type, elements, count, out);
    case Reduce::kNanVar:
    case Reduce::kNanStd: return reduce_moment_of_numbers(op, type, elements, count, ddof, out);
    case Reduce::kNanSum:
    case Reduce::kNanMean:
    case Reduce::kNanMin:
    case Reduce::kNanMax: return reduce_numbers(op, type, elements, count, out);
  }
}

void sum_of_products(Type type, const Byte* const* a, const Byte* const* b, int64_t count,
                     const Byte* alpha, const Byte* beta, Byte* out) {
  Real real_sum = 0;
  uint64_t whole_sum = 0;  // whose low bits are those of any wider sum
  for (int64_t i = 0; i < count; ++i) {
    const Number x = load(type, a[i]);
    const Number y = load(type, b[i]);
    real_sum += x.real * y.real;
    whole_sum += static_cast<uint64_t>(x.whole) * static_cast<uint64_t>(y.whole);
  }
  const Number scale = load(type, alpha);
  real_sum *= scale.real;
  whole_sum *= static_cast<uint64_t>(scale.whole);
  if (beta != nullptr) {
    const Number old_scale = load(type, beta);
    const Number old = load(type, out);
    real_sum += old_scale.real * old.real;
    whole_sum += static_cast<uint64_t>(old_scale.whole) * static_cast<uint64_t>(old.whole);
  }
  store(type, out, scale.is_float ? real(real_sum) : whole(static_cast<Whole>(whole_sum)));
}

bool is_near(Type type, const Byte* a, const Byte* b, double last_places) {
  const Real x = load(type, a).real;
  const Real y = load(type, b).real;
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  const Real larger = std::fmax(std::fabs(x), std::fabs(y));
  if (std::isinf(larger)) return false;
  const Format format = format_of(type);
  const int exponent = std::max(std::ilogb(larger), 1 - format.max_exponent);
  const Real place = std::ldexp(Real{1}, exponent - format.significand_bits + 1);
  return std::fabs(x - y) <= static_cast<Real>(last_places) * place;
}

}  // namespace tenure::kernels::reference
