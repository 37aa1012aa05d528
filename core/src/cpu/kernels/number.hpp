// Elements as the kernels see them: 16-bit floats, truth bytes, and the conversions between them.
//
// The 16-bit floats are structs of our own, since compilers differ in theirs (and g++ 11 has none).
// Every conversion to them rounds once, to nearest even.
#pragma once

#include "cpu/kernel.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};
struct Bool8 {
  uint8_t byte;
};

// Same bytes, other type. A memcpy, so that no type of the caller's is misnamed.
template <class To, class From>
inline To bit_copy(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
inline T load(const Byte* from) {
  T value;
  __builtin_memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
inline void store(Byte* to, T value) {
  __builtin_memcpy(to, &value, sizeof value);
}

template <class T>
inline constexpr bool kIsFloat = false;
template <>
inline constexpr bool kIsFloat<double> = true;
template <>
inline constexpr bool kIsFloat<float> = true;
template <>
inline constexpr bool kIsFloat<F16> = true;
template <>
inline constexpr bool kIsFloat<BF16> = true;

template <class A, class B>
inline constexpr bool kSame = false;
template <class A>
inline constexpr bool kSame<A, A> = true;

template <class T>
inline constexpr bool kIsSigned = static_cast<T>(-1) < static_cast<T>(0);

// The integers of a width in bytes.
template <int kBytes>
struct IntegersOf;
template <>
struct IntegersOf<1> {
  using Signed = int8_t;
  using Unsigned = uint8_t;
};
template <>
struct IntegersOf<2> {
  using Signed = int16_t;
  using Unsigned = uint16_t;
};
template <>
struct IntegersOf<4> {
  using Signed = int32_t;
  using Unsigned = uint32_t;
};
template <>
struct IntegersOf<8> {
  using Signed = int64_t;
  using Unsigned = uint64_t;
};
// The integers of T's width.
template <class T>
using SignedOf = typename IntegersOf<sizeof(T)>::Signed;
template <class T>
using UnsignedOf = typename IntegersOf<sizeof(T)>::Unsigned;

// The unsigned type in which an integer's arithmetic wraps; never narrower than int, where C++
// would promote to int and overflow.
template <class T>
struct WrapOf {
  using type = uint32_t;
};
template <>
struct WrapOf<int64_t> {
  using type = uint64_t;
};
template <>
struct WrapOf<uint64_t> {
  using type = uint64_t;
};
template <class T>
using Wrap = typename WrapOf<T>::type;

// The type an element is computed in.
template <class T>
struct ComputedIn {
  using type = T;
};
template <>
struct ComputedIn<F16> {
  using type = float;
};
template <>
struct ComputedIn<BF16> {
  using type = float;
};
template <class T>
using Computed = typename ComputedIn<T>::type;

inline float widen(F16 value) {
  const uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(value.bits & 0x7fffu) << 13;
  // Exponents are 127 - 15 = 112 apart; infinities and NaNs need as much again.
  const uint32_t normal = magnitude + (112u << 23);
  const uint32_t special = magnitude + (224u << 23);
  // A subnormal m * 2^-24 is the difference of (2^-14 + m * 2^-24) and 2^-14, both normal in f32.
  const float subnormal = bit_copy<float>(magnitude + (113u << 23)) - 0x1p-14f;
  uint32_t bits = magnitude >= (31u << 23) ? special : normal;
  bits = magnitude < (1u << 23) ? bit_copy<uint32_t>(subnormal) : bits;
  return bit_copy<float>(bits | sign);
}

inline float widen(BF16 value) { return bit_copy<float>(static_cast<uint32_t>(value.bits) << 16); }
template <class T>
inline T widen(T value) {
  return value;
}

template <class To>
To round_from(float value);

template <>
inline F16 round_from<F16>(float value) {
  const uint32_t bits = bit_copy<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffffu;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  // Half of the last place less one, and one more when the last place is odd: ties go to even.
  const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  // Below 2^-14 the last place is 2^-24: that of 0.5f, so the addition itself rounds.
  const uint32_t subnormal =
      bit_copy<uint32_t>(bit_copy<float>(magnitude) + 0.5f) - bit_copy<uint32_t>(0.5f);
  const uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= (143u << 23) ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? nan : result;
  return F16{static_cast<uint16_t>(result | sign)};
}

template <>
inline BF16 round_from<BF16>(float value) {
  const uint32_t bits = bit_copy<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  return BF16{static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

template <>
inline float round_from<float>(float value) {
  return value;
}

// Rounds to odd: bits that do not fit set the last bit. A second rounding to at least two bits
// fewer then gives the result of one rounding (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", 2008).
inline float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  uint32_t bits = bit_copy<uint32_t>(nearest);
  const bool away = __builtin_fabs(back) > __builtin_fabs(value);
  bits -= away ? 1u : 0u;
  bits |= back != value ? 1u : 0u;
  return bit_copy<float>(bits);
}
inline double round_to_odd(uint64_t value) {
  const uint64_t odd = (value >> 11) | ((value & 0x7ffu) != 0 ? 1u : 0u);
  const double shifted = static_cast<double>(static_cast<int64_t>(odd)) * 2048.0;
  return value >> 53 != 0 ? shifted : static_cast<double>(static_cast<int64_t>(value));
}
inline double round_to_odd(int64_t value) {
  const uint64_t magnitude =
      value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const double rounded = round_to_odd(magnitude);
  return value < 0 ? -rounded : rounded;
}

// A number of a compute type into an element's type, rounded once where the types are floats.
template <class To>
inline To narrow(Computed<To> value) {
  if constexpr (kSame<To, Computed<To>>) {
    return value;
  } else {
    return round_from<To>(value);
  }
}

template <class T>
struct Limits;
template <class T>
  requires(!kIsFloat<T>)
struct Limits<T> {
  static constexpr bool kSigned = kIsSigned<T>;
  static constexpr unsigned kBits = sizeof(T) * 8;
  static constexpr uint64_t kMaxBits = ~uint64_t{0} >> (64 - kBits + (kSigned ? 1 : 0));
  static constexpr T kMax = static_cast<T>(kMaxBits);
  static constexpr T kMin = kSigned ? static_cast<T>(~kMaxBits) : T{0};
};

// Saturates; NaN gives 0. Every conversion is of a value in range, so none is undefined.
template <class To, class From>
inline To saturate(From value) {
  constexpr unsigned kBits = Limits<To>::kBits - (Limits<To>::kSigned ? 1 : 0);
  constexpr From kBeyond = static_cast<From>(uint64_t{1} << (kBits - 1)) * From{2};
  constexpr From kLowest = Limits<To>::kSigned ? -kBeyond : From{0};
  const bool inside = value >= kLowest && value < kBeyond;
  const From safe = inside ? value : From{0};
  To result = static_cast<To>(safe);
  result = value >= kBeyond ? Limits<To>::kMax : result;
  result = value < kLowest ? Limits<To>::kMin : result;
  return result;
}

// An integer as a float that is rounded to the same f16: beyond 2^20, far above the largest, all
// are infinite, and below every integer is a float.
template <class From>
inline float within_f16(From value) {
  constexpr From kEnough = From{1} << 20;
  From bounded = value > kEnough ? kEnough : value;
  if constexpr (kIsSigned<From>) bounded = bounded < -kEnough ? -kEnough : bounded;
  return static_cast<float>(static_cast<int32_t>(bounded));
}

// An element of one type as an element of another, with the rules of docs/operations.md.
template <class To, class From>
inline To convert(From value) {
  if constexpr (kSame<From, Bool8>) {
    return convert<To>(static_cast<uint8_t>(value.byte != 0 ? 1 : 0));
  } else if constexpr (kSame<To, Bool8>) {
    return Bool8{static_cast<uint8_t>(widen(value) != 0 ? 1 : 0)};
  } else if constexpr (kSame<From, To>) {
    return value;
  } else if constexpr (kSame<To, F16> || kSame<To, BF16>) {
    if constexpr (kSame<From, double>) {
      return round_from<To>(round_to_odd(value));
    } else if constexpr (kIsFloat<From>) {
      return round_from<To>(widen(value));
    } else if constexpr (kSame<To, F16> && sizeof(From) >= 4) {
      return round_from<To>(within_f16(value));
    } else if constexpr (sizeof(From) == 8) {
      return round_from<To>(round_to_odd(round_to_odd(value)));
    } else if constexpr (sizeof(From) == 4) {
      return round_from<To>(round_to_odd(static_cast<double>(value)));
    } else if constexpr (kSame<To, BF16> && sizeof(From) == 1) {
      // The significand of bf16 has all bits of the integer: nothing is rounded.
      return BF16{static_cast<uint16_t>(bit_copy<uint32_t>(static_cast<float>(value)) >> 16)};
    } else {
      return round_from<To>(static_cast<float>(value));
    }
  } else if constexpr (kIsFloat<To> || !kIsFloat<From>) {
    return static_cast<To>(widen(value));
  } else {
    return saturate<To>(widen(value));
  }
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
