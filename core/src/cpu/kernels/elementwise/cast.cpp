// Casts between every two real dtypes.
#include "cpu/kernels/strip.hpp"
#include "cpu/tables.hpp"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class From, class To>
struct Cast {
  using In = From;
  using Out = To;
  static To apply(From value) { return convert<To>(value); }
};

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

#if defined(__F16C__)
// With the instruction for it, which compilers do not choose by themselves: it rounds to nearest
// even and keeps the top of a NaN, made quiet, as round_from<F16> does. The other direction stays
// with widen(): the instruction would make signalling NaNs quiet.
Finding float_to_f16(const Strip& strip) {
  Strip rest = strip;
  if (strip.out_step == kStep<F16> && strip.in_steps[0] == kStep<float>) {
    for (; rest.count >= 8; rest.count -= 8) {
      const __m256 values = _mm256_loadu_ps(reinterpret_cast<const float*>(rest.in[0]));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(rest.out),
                       _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
      rest.in[0] += 8 * kStep<float>;
      rest.out += 8 * kStep<F16>;
    }
  }
  return map1<Cast<float, F16>>(rest);
}
#else
constexpr StripKernel float_to_f16 = map1<Cast<float, F16>>;
#endif

// Between integers the bits are cut or extended: the target's sign does not matter, and the
// source's only where the target is wider. Kernels are shared accordingly.
template <class From, class To>
constexpr StripKernel cast_kernel() {
  if constexpr (kSame<From, float> && kSame<To, F16>) {
    return float_to_f16;
  } else if constexpr (kIsInteger<From> && kIsInteger<To>) {
    using Bits = UnsignedOf<To>;
    if constexpr (sizeof(To) <= sizeof(From)) {
      return map1<Cast<UnsignedOf<From>, Bits>>;
    } else {
      return map1<Cast<From, Bits>>;
    }
  } else {
    return map1<Cast<From, To>>;
  }
}

}  // namespace

#define TENURE_CASTS_FROM(From)                                                                 \
  {cast_kernel<From, double>(),   cast_kernel<From, float>(),    cast_kernel<From, F16>(),      \
   cast_kernel<From, BF16>(),     cast_kernel<From, int8_t>(),   cast_kernel<From, int16_t>(),  \
   cast_kernel<From, int32_t>(),  cast_kernel<From, int64_t>(),  cast_kernel<From, uint8_t>(),  \
   cast_kernel<From, uint16_t>(), cast_kernel<From, uint32_t>(), cast_kernel<From, uint64_t>(), \
   cast_kernel<From, Bool8>()}

const StripKernel kCast[kTypeCount][kTypeCount] = {
    TENURE_CASTS_FROM(double),   TENURE_CASTS_FROM(float),    TENURE_CASTS_FROM(F16),
    TENURE_CASTS_FROM(BF16),     TENURE_CASTS_FROM(int8_t),   TENURE_CASTS_FROM(int16_t),
    TENURE_CASTS_FROM(int32_t),  TENURE_CASTS_FROM(int64_t),  TENURE_CASTS_FROM(uint8_t),
    TENURE_CASTS_FROM(uint16_t), TENURE_CASTS_FROM(uint32_t), TENURE_CASTS_FROM(uint64_t),
    TENURE_CASTS_FROM(Bool8)};

const StripKernel kCastComplex[2] = {map1<CastParts<float, double>>,
                                     map1<CastParts<double, float>>};

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
