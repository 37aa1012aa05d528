// Casts between every two real dtypes.
#include "cpu/halves.hpp"
#include "cpu/kernels/dense.hpp"
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class From, class To>
Finding cast(const Strip& strip) {
  const int64_t count = strip.count;
  Byte* const out = strip.out;
  const Byte* const in = strip.in[0].data;
  const int64_t out_step = strip.out_step;
  const int64_t in_step = strip.in[0].step;
  if (out_step == kStep<To> && in_step == kStep<From>) {
    TENURE_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      store<To>(out + i * kStep<To>, convert<To>(load<From>(in + i * kStep<From>)));
    }
  } else {
#pragma GCC unroll 1
    for (int64_t i = 0; i < count; ++i) {
      TENURE_ONE_BY_ONE;
      store<To>(out + i * out_step, convert<To>(load<From>(in + i * in_step)));
    }
  }
  return kNothing;
}

Finding float_to_f16(const Strip& strip) {
  const bool is_dense = strip.out_step == kStep<F16> && strip.in[0].step == kStep<float>;
  return is_dense ? spill_f16(strip) : cast<float, F16>(strip);
}

Finding f16_to_float(const Strip& strip) {
  const bool is_dense = strip.out_step == kStep<float> && strip.in[0].step == kStep<F16>;
  return is_dense ? load_f16(strip) : cast<F16, float>(strip);
}

template <class T>
struct Complex {
  T real;
  T imaginary;
};

template <class From, class To>
struct CastParts {
  using In = Complex<From>;
  using Out = Complex<To>;
  static Out apply(In value) { return {convert<To>(value.real), convert<To>(value.imaginary)}; }
};

template <class T>
inline constexpr bool kIsInteger = !kIsFloat<T> && !kSame<T, Bool8>;

// f16 by way of f32, which holds each; an integer that f32 rounds is beyond the largest f16.
template <class T>
constexpr Conversion kFromF16 = {load_f16, nullptr, 4, kStep<T>};
template <class T>
constexpr Conversion kToF16 = {nullptr, spill_f16, kStep<T>, 4};

// Between integers the bits are cut or extended: the target's sign does not matter, and the
// source's only where the target is wider. Whether a number is 0 depends on its bits, and 0 and 1
// are of either sign; a byte that becomes a truth value or was one is 0 or 1 after it. Kernels are
// shared accordingly.
template <class From, class To>
constexpr Elementwise cast_entry() {
  if constexpr (kSame<From, Bool8> && sizeof(To) == 1) {
    return {cast<uint8_t, Bool8>, nullptr, Steps::kDense};
  } else if constexpr (kSame<From, To>) {
    return {cast<UnsignedOf<From>, UnsignedOf<To>>, nullptr, Steps::kDense};
  } else if constexpr (kSame<From, F16> && kSame<To, float>) {
    return {f16_to_float, nullptr, Steps::kDense};
  } else if constexpr (kSame<From, float> && kSame<To, F16>) {
    return {float_to_f16, nullptr, Steps::kDense};
  } else if constexpr (kSame<From, F16>) {
    return {cast<float, To>, &kFromF16<To>, Steps::kDense};
  } else if constexpr (kSame<To, F16> && !kSame<From, double>) {
    return {cast<From, float>, &kToF16<From>, Steps::kDense};
  } else if constexpr (kIsInteger<From> && kIsInteger<To>) {
    using Bits = UnsignedOf<To>;
    if constexpr (sizeof(To) <= sizeof(From)) {
      return {cast<UnsignedOf<From>, Bits>, nullptr, Steps::kDense};
    } else {
      return {cast<From, Bits>, nullptr, Steps::kDense};
    }
  } else if constexpr (kIsInteger<From> && kSame<To, Bool8>) {
    return {cast<UnsignedOf<From>, Bool8>, nullptr, Steps::kDense};
  } else if constexpr (kSame<From, Bool8> && kIsInteger<To>) {
    return {cast<Bool8, UnsignedOf<To>>, nullptr, Steps::kDense};
  } else {
    return {cast<From, To>, nullptr, Steps::kDense};
  }
}

}  // namespace

#define TENURE_CASTS_FROM(From)                                                              \
  {cast_entry<From, double>(),   cast_entry<From, float>(),    cast_entry<From, F16>(),      \
   cast_entry<From, BF16>(),     cast_entry<From, int8_t>(),   cast_entry<From, int16_t>(),  \
   cast_entry<From, int32_t>(),  cast_entry<From, int64_t>(),  cast_entry<From, uint8_t>(),  \
   cast_entry<From, uint16_t>(), cast_entry<From, uint32_t>(), cast_entry<From, uint64_t>(), \
   cast_entry<From, Bool8>()}

const Elementwise kCast[kTypeCount][kTypeCount] = {
    TENURE_CASTS_FROM(double),   TENURE_CASTS_FROM(float),    TENURE_CASTS_FROM(F16),
    TENURE_CASTS_FROM(BF16),     TENURE_CASTS_FROM(int8_t),   TENURE_CASTS_FROM(int16_t),
    TENURE_CASTS_FROM(int32_t),  TENURE_CASTS_FROM(int64_t),  TENURE_CASTS_FROM(uint8_t),
    TENURE_CASTS_FROM(uint16_t), TENURE_CASTS_FROM(uint32_t), TENURE_CASTS_FROM(uint64_t),
    TENURE_CASTS_FROM(Bool8)};

const StripKernel kCastComplex[2] = {map1<CastParts<float, double>>,
                                     map1<CastParts<double, float>>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
