// Parts of functions: polynomials, and arithmetic on numbers twice as long as the type's.
//
// The scalar form of core/src/cpu/kernels/vector_math.hpp. A fused multiply-add stands where its
// result is exact, and the compiler makes none of its own (-fmad=false); the CPU has more of them,
// and differs within the errors of functions.
#pragma once

#include "cuda/kernels/device.cuh"

namespace tenure::cuda {

// Before loops.
#if defined(__CUDACC__)
#define TENURE_UNROLL _Pragma("unroll")
#define TENURE_ROLLED _Pragma("unroll 1")
#define TENURE_BY_FOUR _Pragma("unroll 4")
#else
#define TENURE_UNROLL
#define TENURE_ROLLED
#define TENURE_BY_FOUR
#endif

// Long parts of functions of f64, which several have: called, where others are inlined.
#if defined(__CUDACC__)
#define TENURE_CALLED static __device__ __noinline__
#define TENURE_CALLED_MEMBER __device__ __noinline__
#else
#define TENURE_CALLED inline
#define TENURE_CALLED_MEMBER
#endif

// Tables that functions choose from: of global memory, where threads that read different entries do
// not wait for each other, as they would in constant memory.
#if defined(__CUDACC__)
#define TENURE_TABLE static __device__ const
#else
#define TENURE_TABLE static constexpr
#endif

template <class T>
struct BitsOf;
template <>
struct BitsOf<float> {
  using type = uint32_t;
  using Signed = int32_t;
  static constexpr unsigned kFractionBits = 23;
  static constexpr uint32_t kBias = 127;
  static constexpr uint32_t kSign = 0x80000000u;
};
template <>
struct BitsOf<double> {
  using type = uint64_t;
  using Signed = int64_t;
  static constexpr unsigned kFractionBits = 52;
  static constexpr uint64_t kBias = 1023;
  static constexpr uint64_t kSign = uint64_t{1} << 63;
};
template <class T>
using Bits = typename BitsOf<T>::type;

template <class T>
TENURE_DEVICE Bits<T> bits_of(T x) {
  return bit_copy<Bits<T>>(x);
}

template <class T>
TENURE_DEVICE T infinity();
template <>
TENURE_DEVICE float infinity<float>() {
  return bit_copy<float>(0x7f800000u);
}
template <>
TENURE_DEVICE double infinity<double>() {
  return bit_copy<double>(uint64_t{0x7ff} << 52);
}
template <class T>
TENURE_DEVICE T not_a_number();
template <>
TENURE_DEVICE float not_a_number<float>() {
  return bit_copy<float>(0x7fc00000u);
}
template <>
TENURE_DEVICE double not_a_number<double>() {
  return bit_copy<double>(uint64_t{0x7ff8} << 48);
}

// a * b + c, rounded once.
#if defined(__CUDACC__)
TENURE_DEVICE float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
TENURE_DEVICE double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
TENURE_DEVICE float square_root(float a) { return __fsqrt_rn(a); }
TENURE_DEVICE double square_root(double a) { return __dsqrt_rn(a); }
#else
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float square_root(float a) { return __builtin_sqrtf(a); }
inline double square_root(double a) { return __builtin_sqrt(a); }
#endif

// NaN, which compares false, stays.
template <class T>
TENURE_DEVICE T at_most(T x, T limit) {
  return limit < x ? limit : x;
}
template <class T>
TENURE_DEVICE T at_least(T x, T limit) {
  return limit > x ? limit : x;
}

template <class T>
TENURE_DEVICE T magnitude_of(T x) {
  return bit_copy<T>(static_cast<Bits<T>>(bits_of(x) & ~BitsOf<T>::kSign));
}
// Rounds to odd: a second rounding to at least two bits fewer then gives what one rounding would.
TENURE_DEVICE float rounded_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  uint32_t bits = bit_copy<uint32_t>(nearest);
  bits -= magnitude_of(back) > magnitude_of(value) ? 1u : 0u;
  bits |= back != value ? 1u : 0u;
  return bit_copy<float>(bits);
}
template <class T>
TENURE_DEVICE T with_sign_of(T magnitude, T x) {
  return bit_copy<T>(static_cast<Bits<T>>(bits_of(magnitude) | (bits_of(x) & BitsOf<T>::kSign)));
}

// The upper half of a significand, rounded to nearest. Products of it, and of the remaining digits,
// are exact.
template <class T>
TENURE_DEVICE T upper_half(T x) {
  constexpr Bits<T> kUnit = Bits<T>{1} << (sizeof(T) == 8 ? 27 : 12);
  return bit_copy<T>(static_cast<Bits<T>>((bits_of(x) + kUnit / 2) & ~(kUnit - 1)));
}

// high + low, where low is at most half of the last place of high.
template <class T>
struct Long {
  T high;
  T low;
};

// |large| is not smaller than |small|.
template <class T>
TENURE_DEVICE Long<T> sum_of(T large, T small) {
  const T sum = large + small;
  return {sum, small - (sum - large)};
}

// a + b of any two numbers (Knuth).
template <class T>
TENURE_DEVICE Long<T> sum_of_any(T a, T b) {
  const T sum = a + b;
  const T b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

template <class T>
TENURE_DEVICE Long<T> product_of(T a, T b) {
  const T product = a * b;
  return {product, fused(a, b, -product)};
}

// One rounding of full size. The first digits of the quotient have half of the bits, so that the
// remainder of the dividend is exact.
template <class T>
TENURE_DEVICE T quotient_of_parts(T a, T a_low, T b, T b_low) {
  const T inverse = T{1} / b;
  const T first = upper_half(a * inverse);
  const T rest = fused(-first, b, a);
  return first + (rest + (a_low - first * b_low)) * inverse;
}
TENURE_CALLED double called_quotient(double a, double a_low, double b, double b_low) {
  return quotient_of_parts(a, a_low, b, b_low);
}
TENURE_DEVICE double quotient(const Long<double>& a, const Long<double>& b) {
  return called_quotient(a.high, a.low, b.high, b.low);
}
TENURE_DEVICE float quotient(const Long<float>& a, const Long<float>& b) {
  return quotient_of_parts(a.high, a.low, b.high, b.low);
}

// 1 / b. The first digits are cut off, so that their remainder of 1 is exact.
template <class T>
TENURE_DEVICE Long<T> reciprocal(Long<T> b) {
  constexpr Bits<T> kLower = (Bits<T>{1} << (sizeof(T) == 8 ? 27 : 12)) - 1;
  const T inverse = T{1} / b.high;
  const T first = bit_copy<T>(static_cast<Bits<T>>(bits_of(inverse) & ~kLower));
  const T rest = fused(-first, b.high, T{1});
  return {first, (rest - first * b.low) * inverse};
}

template <class T>
struct Powers {
  T of1, of2, of4, of8, of16;
};

template <int kFirst, int kTerms, class T>
TENURE_DEVICE T polynomial_part(const T* c, const Powers<T>& x) {
  if constexpr (kTerms == 1) {
    return c[kFirst];
  } else {
    constexpr int kLow = kTerms > 16 ? 16 : kTerms > 8 ? 8 : kTerms > 4 ? 4 : kTerms > 2 ? 2 : 1;
    const T low = polynomial_part<kFirst, kLow>(c, x);
    const T power = kLow == 16  ? x.of16
                    : kLow == 8 ? x.of8
                    : kLow == 4 ? x.of4
                    : kLow == 2 ? x.of2
                                : x.of1;
    return power * polynomial_part<kFirst + kLow, kTerms - kLow>(c, x) + low;
  }
}

// c[0] + c[1] x + c[2] x^2 + ...: in pairs of powers (Estrin).
template <class T, class... C>
TENURE_DEVICE T polynomial(T x, C... coefficients) {
  constexpr int kCount = static_cast<int>(sizeof...(C));
  const T c[] = {coefficients...};
  Powers<T> powers = {x, x, x, x, x};
  if constexpr (kCount > 2) powers.of2 = x * x;
  if constexpr (kCount > 4) powers.of4 = powers.of2 * powers.of2;
  if constexpr (kCount > 8) powers.of8 = powers.of4 * powers.of4;
  if constexpr (kCount > 16) powers.of16 = powers.of8 * powers.of8;
  return polynomial_part<0, kCount>(c, powers);
}

}  // namespace tenure::cuda
