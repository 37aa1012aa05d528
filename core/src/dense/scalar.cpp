#include "dense/scalar.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "cpu/kernels/number.hpp"
#include "tenure/dtype.hpp"

namespace tenure {
namespace {

using kernels::BF16;
using kernels::Bool8;
using kernels::F16;

// A scalar of any dtype, without loss.
struct Number {
  enum class Kind { kInteger, kFloat, kComplex } kind;
  bool negative;            // kInteger: the sign,
  std::uint64_t magnitude;  // and the rest
  double real;              // kFloat, kComplex
  double imaginary;         // kComplex

  static Number integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return {Kind::kInteger, value < 0, value < 0 ? 0 - bits : bits, 0, 0};
  }
  static Number unsigned_integer(std::uint64_t value) {
    return {Kind::kInteger, false, value, 0, 0};
  }
  static Number floating(double value) { return {Kind::kFloat, false, 0, value, 0}; }
  static Number complex(double real, double imaginary) {
    return {Kind::kComplex, false, 0, real, imaginary};
  }
};

struct NumberText {
  char text[80];

  explicit NumberText(const Number& number) noexcept {
    switch (number.kind) {
      case Number::Kind::kInteger:
        std::snprintf(text, sizeof text, "%s%" PRIu64, number.negative ? "-" : "",
                      number.magnitude);
        break;
      case Number::Kind::kFloat: std::snprintf(text, sizeof text, "%.17g", number.real); break;
      case Number::Kind::kComplex:
        std::snprintf(text, sizeof text, "%.17g%+.17gi", number.real, number.imaginary);
        break;
    }
  }
};

template <class T>
T read(const tnr_scalar& scalar, std::size_t index = 0) {
  T value;
  std::memcpy(&value, scalar.bytes + index * sizeof value, sizeof value);
  return value;
}

Number read_number(const tnr_scalar& scalar, const char* name) {
  switch (scalar.dtype) {
    case TNR_DTYPE_F64: return Number::floating(read<double>(scalar));
    case TNR_DTYPE_F32: return Number::floating(static_cast<double>(read<float>(scalar)));
    case TNR_DTYPE_F16: return Number::floating(static_cast<double>(widen(read<F16>(scalar))));
    case TNR_DTYPE_BF16: return Number::floating(static_cast<double>(widen(read<BF16>(scalar))));
    case TNR_DTYPE_I8: return Number::integer(read<std::int8_t>(scalar));
    case TNR_DTYPE_I16: return Number::integer(read<std::int16_t>(scalar));
    case TNR_DTYPE_I32: return Number::integer(read<std::int32_t>(scalar));
    case TNR_DTYPE_I64: return Number::integer(read<std::int64_t>(scalar));
    case TNR_DTYPE_U8: return Number::unsigned_integer(read<std::uint8_t>(scalar));
    case TNR_DTYPE_U16: return Number::unsigned_integer(read<std::uint16_t>(scalar));
    case TNR_DTYPE_U32: return Number::unsigned_integer(read<std::uint32_t>(scalar));
    case TNR_DTYPE_U64: return Number::unsigned_integer(read<std::uint64_t>(scalar));
    case TNR_DTYPE_BOOL8: return Number::unsigned_integer(scalar.bytes[0] != 0 ? 1 : 0);
    case TNR_DTYPE_C64:
      return Number::complex(static_cast<double>(read<float>(scalar, 0)),
                             static_cast<double>(read<float>(scalar, 1)));
    case TNR_DTYPE_C128: return Number::complex(read<double>(scalar, 0), read<double>(scalar, 1));
    default:
      fail(TNR_STATUS_UNSUPPORTED, "%s.dtype is 0x%08" PRIx32 ", which no scalar has", name,
           scalar.dtype);
  }
}

[[noreturn, gnu::cold]] void refuse(const Number& number, const char* name, const char* why) {
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %s but %s", name, NumberText(number).text, why);
}

// A float that is a whole number of at most 64 bits, as one; other numbers as they are.
Number whole(const Number& number) {
  if (number.kind != Number::Kind::kFloat || std::trunc(number.real) != number.real ||
      std::fabs(number.real) >= 0x1p64) {
    return number;
  }
  const auto magnitude = static_cast<std::uint64_t>(std::fabs(number.real));
  return {Number::Kind::kInteger, number.real < 0, magnitude, 0, 0};
}

template <class T>
T integer_of(const Number& given, const char* name) {
  const Number number = whole(given);
  constexpr std::uint64_t kMax = kernels::Limits<T>::kMaxBits;
  constexpr std::uint64_t kMinMagnitude = kernels::Limits<T>::kSigned ? kMax + 1 : 0;
  if (number.kind != Number::Kind::kInteger ||
      number.magnitude > (number.negative ? kMinMagnitude : kMax)) {
    char why[96];
    std::snprintf(why, sizeof why, "must be a whole number from %s%" PRIu64 " to %" PRIu64,
                  kMinMagnitude != 0 ? "-" : "", kMinMagnitude, kMax);
    refuse(given, name, why);
  }
  return static_cast<T>(number.negative ? 0 - number.magnitude : number.magnitude);
}

template <class T>
inline constexpr int kSignificantBits = 0;
template <>
inline constexpr int kSignificantBits<double> = 53;
template <>
inline constexpr int kSignificantBits<float> = 24;
template <>
inline constexpr int kSignificantBits<F16> = 11;
template <>
inline constexpr int kSignificantBits<BF16> = 8;

template <class T>
T float_of_integer(const Number& number, const char* name, const char* dtype) {
  const std::uint64_t m = number.magnitude;
  const int bits = m == 0 ? 0 : 64 - std::countl_zero(m) - std::countr_zero(m);
  const T value = kernels::convert<T>(m);
  if (bits > kSignificantBits<T> || std::isinf(kernels::widen(value))) {
    char why[96];
    std::snprintf(why, sizeof why, "%s does not hold this integer exactly", dtype);
    refuse(number, name, why);
  }
  return number.negative ? kernels::convert<T>(-static_cast<double>(m)) : value;
}

template <class T>
T float_of(const Number& number, const char* name, const char* dtype) {
  if (number.kind == Number::Kind::kInteger) return float_of_integer<T>(number, name, dtype);
  const T value = kernels::convert<T>(number.real);
  if (std::isfinite(number.real) && std::isinf(kernels::widen(value))) {
    char why[96];
    std::snprintf(why, sizeof why, "it would round to infinity in %s", dtype);
    refuse(number, name, why);
  }
  return value;
}

template <class T>
struct Complex {
  T real;
  T imaginary;
};

template <class T>
Complex<T> complex_of(const Number& number, const char* name, const char* dtype) {
  const T real = float_of<T>(number, name, dtype);
  if (number.kind != Number::Kind::kComplex) return {real, T{0}};
  Number imaginary = number;
  imaginary.real = number.imaginary;
  return {real, float_of<T>(imaginary, name, dtype)};
}

Bool8 bool_of(const Number& given, const char* name) {
  const Number number = whole(given);
  if (number.kind != Number::Kind::kInteger || number.negative || number.magnitude > 1) {
    refuse(given, name, "bool8 holds 0 and 1 only");
  }
  return Bool8{static_cast<std::uint8_t>(number.magnitude)};
}

template <class T>
Element element_of(T value) {
  Element element;
  std::memcpy(element.bytes, &value, sizeof value);
  return element;
}

}  // namespace

Element to_element(const tnr_scalar& scalar, tnr_dtype dtype, const char* name) {
  if (scalar.reserved != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.reserved is %" PRIu32 " but must be 0", name,
         scalar.reserved);
  }
  // Most numbers need no conversion.
  if (scalar.dtype == dtype) {
    if (dtype == TNR_DTYPE_F32) return element_of(read<float>(scalar));
    if (dtype == TNR_DTYPE_F64) return element_of(read<double>(scalar));
  }
  const Number number = read_number(scalar, name);
  const char* const text = dtype_name(dtype);
  if (number.kind == Number::Kind::kComplex && code_of(dtype) != DtypeCode::kComplex) {
    char why[64];
    std::snprintf(why, sizeof why, "%s is not complex", text);
    refuse(number, name, why);
  }
  switch (dtype) {
    case TNR_DTYPE_F64: return element_of(float_of<double>(number, name, text));
    case TNR_DTYPE_F32: return element_of(float_of<float>(number, name, text));
    case TNR_DTYPE_F16: return element_of(float_of<F16>(number, name, text));
    case TNR_DTYPE_BF16: return element_of(float_of<BF16>(number, name, text));
    case TNR_DTYPE_I8: return element_of(integer_of<std::int8_t>(number, name));
    case TNR_DTYPE_I16: return element_of(integer_of<std::int16_t>(number, name));
    case TNR_DTYPE_I32: return element_of(integer_of<std::int32_t>(number, name));
    case TNR_DTYPE_I64: return element_of(integer_of<std::int64_t>(number, name));
    case TNR_DTYPE_U8: return element_of(integer_of<std::uint8_t>(number, name));
    case TNR_DTYPE_U16: return element_of(integer_of<std::uint16_t>(number, name));
    case TNR_DTYPE_U32: return element_of(integer_of<std::uint32_t>(number, name));
    case TNR_DTYPE_U64: return element_of(integer_of<std::uint64_t>(number, name));
    case TNR_DTYPE_BOOL8: return element_of(bool_of(number, name));
    case TNR_DTYPE_C64: return element_of(complex_of<float>(number, name, text));
    case TNR_DTYPE_C128: return element_of(complex_of<double>(number, name, text));
    default: fail(TNR_STATUS_UNSUPPORTED, "dtype 0x%08" PRIx32 " takes no scalars", dtype);
  }
}

[[gnu::cold]] void refuse_scalar(const tnr_scalar& scalar, const char* name, const char* why) {
  refuse(read_number(scalar, name), name, why);
}

bool is_zero(const Element& element, tnr_dtype dtype) noexcept {
  if (dtype == TNR_DTYPE_F64) {
    double value;
    std::memcpy(&value, element.bytes, sizeof value);
    return value == 0;
  }
  if (dtype == TNR_DTYPE_F32) {
    float value;
    std::memcpy(&value, element.bytes, sizeof value);
    return value == 0;
  }
  return std::all_of(element.bytes, element.bytes + element_size(dtype),
                     [](unsigned char byte) { return byte == 0; });
}

}  // namespace tenure
