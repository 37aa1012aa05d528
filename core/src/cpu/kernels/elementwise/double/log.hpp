// Logarithms of f64, and ln(1 + x), for vectors of every instruction set:
//
//     x = 2^n m,   log x = n log 2 + log c + log(1 + f),   1 + f = m / c
//
// Under most sets c is one of 16 numbers for m from 0.735 to 1.47, so that |f| <=
// 0.0335, and a polynomial that minimises the largest relative error of log(1 + f), 2^-55.4, is
// short. 1 / c has 6 bits, so that f is exact, and around 1 it is 1, so that a small logarithm keeps
// all digits.
//
// With short tables c is 1 for m from sqrt(1/2) to sqrt(2), and the error of the polynomial p is 2^-59.5 (K.
// C. Ng's method in fdlibm, Sun Microsystems, 1993):
//
//     ln(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + s^2 p(s^2))),   s = f / (2 + f)
//
// The first parts of n log 2 and log c have so few bits that their sum is exact, and that of it and
// f is kept with its rounding error. To other bases f is multiplied with its rounding error. The
// largest error that was found is 0.95 units in the last place (README.md).
#pragma once

#include "cpu/kernels/elementwise/double/table.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// The logarithm of 2, its first part of so few bits that n times it is exact, the slope at 1, and
// log c.
struct NaturalOfDoubles {
  static constexpr Long<double> kTwo = {0x1.62e42fefa38p-1, 0x1.ef35793c7673p-45};
  static constexpr Long<double> kSlope = {1, 0};
  // 1 / c for every base.
  static constexpr Table16Of<double> kInverse = {
      {0x1.58p+0, 0x1.48p+0, 0x1.38p+0, 0x1.3p+0, 0x1.28p+0, 0x1.18p+0, 0x1.1p+0, 0x1.08p+0, 1,
       0x1.ep-1, 0x1.c8p-1, 0x1.bp-1, 0x1.98p-1, 0x1.88p-1, 0x1.7p-1, 0x1.6p-1}};
  static constexpr Table16Of<double> kHigh = {
      {-0x1.2e8e2bae12p-2, -0x1.fb9186d5e4p-3, -0x1.9525a9cf46p-3, -0x1.5ff3070a7ap-3,
       -0x1.29552f82p-3, -0x1.6f0d28ae58p-4, -0x1.f0a30c0118p-5, -0x1.f829b0e78p-6, 0,
       0x1.08598b59e4p-4, 0x1.da72763844p-4, 0x1.5bf406b544p-3, 0x1.d1037f2656p-3,
       0x1.1178e8227ep-2, 0x1.522ae0738ap-2, 0x1.7fafa3bd81p-2}};
  static constexpr Table16Of<double> kLow = {
      {0x1.67b1e99b72bd8p-45, 0x1.d572aab993c87p-47, 0x1.297137d9f158fp-44, 0x1.8586f183bebf2p-44,
       0x1.5b967f4471dfcp-44, 0x1.4b4641b664613p-44, 0x1.d599e83368e91p-45, -0x1.980267c7e09e4p-45,
       0, -0x1.7e5dd7009902cp-46, 0x1.a89401fa71733p-46, -0x1.27023eb68981cp-46,
       -0x1.84a7e75b6f6e4p-47, 0x1.1ef78ce2d07f2p-44, 0x1.ebe708164c759p-45,
       0x1.46fb79bf6d4cbp-44}};
  [[maybe_unused]] static constexpr Polynomial kP = {
      -0x1.fffffffffff9cp-2, 0x1.555555555543dp-2, -0x1.0000000122b05p-2, 0x1.9999999d99967p-3,
      -0x1.555538d5ad61cp-3, 0x1.249223ae09e2cp-3, -0x1.008464b9f1e4p-3,  0x1.c836e7a9e295p-4};
};
struct BinaryOfDoubles {
  static constexpr Long<double> kTwo = {1, 0};
  static constexpr Long<double> kSlope = {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56};
#if !defined(TENURE_HAS_SHORT_TABLES)
  static constexpr Table16Of<double> kHigh = {
      {-0x1.b47ebf7388p-2, -0x1.6e221cd9d1p-2, -0x1.24407ab0ep-2, -0x1.fbc16b9026p-3,
       -0x1.acf5e2db4ep-3, -0x1.08c588cda8p-3, -0x1.663f6fac9p-4, -0x1.6bad3758fp-5, 0,
       0x1.7d60496cfcp-4, 0x1.563dc29ffap-3, 0x1.f5fd8a9064p-3, 0x1.4f6fbb2cecp-2,
       0x1.8a8980abfcp-2, 0x1.e7df5fe539p-2, 0x1.14c560fe688p-1}};
  static constexpr Table16Of<double> kLow = {
      {-0x1.50520a377c7ecp-45, 0x1.90d43956fa5d8p-45, -0x1.ce60916e52e91p-44,
       -0x1.0144751b3314fp-44, -0x1.927dfc23d978p-44, 0x1.871a7610e40bdp-45, -0x1.3167ccc538261p-44,
       0x1.3c6764fc87b4ap-48, 0, -0x1.2ce6312ebb81dp-46, 0x1.964190e41bca7p-44,
       -0x1.cb6f70109b0f1p-47, 0x1.661e393a16b95p-44, -0x1.66cccab240e9p-45, -0x1.532c412ba94dbp-44,
       0x1.7c407050799bfp-44}};
  [[maybe_unused]] static constexpr Polynomial kP = {
      -0x1.71547652b82b6p-1, 0x1.ec709dc3a0269p-2, -0x1.715476545b8fep-2, 0x1.2776c511dc668p-2,
      -0x1.ec7074a6381aap-3, 0x1.a6172c9b771c8p-3, -0x1.72137730fc122p-3, 0x1.4916d4664df94p-3};
#endif
};
struct DecimalOfDoubles {
  static constexpr Long<double> kTwo = {0x1.34413509f8p-2, -0x1.80433b83b532ap-44};
  static constexpr Long<double> kSlope = {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
#if !defined(TENURE_HAS_SHORT_TABLES)
  static constexpr Table16Of<double> kHigh = {
      {-0x1.06cbd67a6cp-3, -0x1.b8de4d3ab4p-4, -0x1.5fe80488bp-4, -0x1.31b3055c48p-4,
       -0x1.02428c1f08p-4, -0x1.3ed1199a6p-5, -0x1.af5f92b01p-6, -0x1.b5e908eb2p-7, 0,
       0x1.cb38fccd9p-6, 0x1.9c197abfp-5, 0x1.2e3a740b78p-4, 0x1.93e7de0fc4p-4, 0x1.db11ed766cp-4,
       0x1.25ba8215bp-3, 0x1.4d43f8275ap-3}};
  static constexpr Table16Of<double> kLow = {
      {-0x1.db2a2c6287ecp-46, 0x1.340511b402e0ap-47, 0x1.606adb567e739p-45, 0x1.dcffc97be8c9cp-45,
       -0x1.5ea6bc2bc8c2cp-52, 0x1.bdafc8ad828b8p-45, 0x1.9f05921f59258p-46, 0x1.90dfe0d1601cap-44,
       0, -0x1.00925a535ae72p-44, 0x1.badcf3d6e4566p-46, 0x1.d288560689912p-53,
       -0x1.80743406505e6p-48, -0x1.40bcd23c3e44cp-44, -0x1.007bf2d8bf07ap-44,
       0x1.20ca9a2bcc728p-45}};
  [[maybe_unused]] static constexpr Polynomial kP = {
      -0x1.bcb7b1526e4b7p-3, 0x1.287a7636f426bp-3, -0x1.bcb7b154674b3p-4, 0x1.63c627789e7a2p-4,
      -0x1.287a5d7607117p-4, 0x1.fc3f65009a1c6p-5, -0x1.bd9daf04a30a2p-5, 0x1.8c434a858de2fp-5};
#endif
};

// The least m of the two methods.
inline constexpr uint64_t kLeastOfTable = 0x3fe7840000000000u;
#if !defined(TENURE_HAS_SHORT_TABLES)
inline constexpr uint64_t kLeastOfLogarithms = kLeastOfTable;
#else
inline constexpr uint64_t kLeastOfLogarithms = 0x3fe6a09e667f3bcdu;
#endif

// A positive normal number u = 2^n m, where m is from kLeast to twice that.
template <uint64_t kLeast, IsDoubles V>
struct MantissaOfDouble {
  As<uint64_t, V> from_least;  // n above the bits of a fraction
  V m;

  explicit MantissaOfDouble(V u) : from_least(bit_copy<As<uint64_t, V>>(u) - kLeast) {
    m = bit_copy<V>((from_least & ((uint64_t{1} << 52) - 1)) + kLeast);
  }

  // The lowest four bits name c.
  [[nodiscard]] As<uint64_t, V> place() const { return from_least >> 48; }

  [[nodiscard]] V n() const {
#if defined(__AVX512DQ__)
    return bit_copy<V>(_mm512_maskz_cvtepi64_pd(
        0xff, bit_copy<__m512i>(bit_copy<As<int64_t, V>>(from_least) >> 52)));
#else
    // The bits of a number so large that its last bit counts ones hold an integer as a float.
    constexpr uint64_t kBias = uint64_t{1024} << 52;
    const auto biased = ((from_least + kBias) >> 52) | bit_copy<uint64_t>(0x1p52);
    return bit_copy<V>(biased) - (0x1p52 + 1024.0);
#endif
  }

  // x / 2^n, of numbers near 1 and n up to 1000.
  [[nodiscard]] V without_power(V x) const {
    const auto exponent = from_least & (~uint64_t{0} << 52);
    return bit_copy<V>(bit_copy<As<uint64_t, V>>(x) - exponent);
  }
};

template <IsDoubles V>
using Mantissa64 = MantissaOfDouble<kLeastOfLogarithms, V>;

#if !defined(TENURE_HAS_SHORT_TABLES)
template <IsDoubles V>
inline V inverse_of_center(const Mantissa64<V>& by) {
  return NaturalOfDoubles::kInverse[by.place()];
}
template <IsDoubles V>
inline V from_center(const Mantissa64<V>& by) {
  return product_less_one(by.m, inverse_of_center(by));
}
// (1 + x) s - 1, as x s + (s - 1), or as it is where 1 + x is exact: the first term is the larger one.
template <IsDoubles V>
inline Long<V> from_center(V x, V one_more, V s) {
  const auto is_exact = x < -0.5;
  const V less_one = is_exact ? V{} - 1.0 : s - 1.0;
  const Long<V> product = product_of(is_exact ? one_more : x, s);
  const Long<V> f = sum_of(less_one, product.high);
  return {f.high, f.low + product.low};
}
// n log 2 + log c.
template <class Of, IsDoubles V>
inline Long<V> first_of_logarithm(const Mantissa64<V>& by, V n) {
  const auto place = by.place();
  const V low = Of::kLow[place];
  return {multiply_add(n, V{} + Of::kTwo.high, Of::kHigh[place]),
          kSame<Of, BinaryOfDoubles> ? low : multiply_add(n, V{} + Of::kTwo.low, low)};
}
// log(1 + f) less its first term, and low.
template <class Of, IsDoubles V>
inline V beyond_first_of_logarithm(V f, V low) {
  return multiply_add(f * f, Of::kP(f), low);
}
#else
template <IsDoubles V>
inline V inverse_of_center(const Mantissa64<V>&) {
  return V{} + 1.0;
}
template <IsDoubles V>
inline V from_center(const Mantissa64<V>& by) {
  return by.m - 1.0;
}
template <IsDoubles V>
inline Long<V> from_center(V x, V, V s) {
  return sum_of(s - 1.0, x * s);
}
template <class Of, IsDoubles V>
inline Long<V> first_of_logarithm(const Mantissa64<V>&, V n) {
  return {n * Of::kTwo.high, kSame<Of, BinaryOfDoubles> ? V{} : n * Of::kTwo.low};
}
template <class Of, IsDoubles V>
inline V beyond_first_of_logarithm(V f, V low) {
  const V s = f / (f + 2.0);
  const V square = s * s;
  const V p = Polynomial{0x1.5555555555593p-1, 0x1.999999997fc57p-2, 0x1.2492494204d23p-2,
                         0x1.c71c51f904ac5p-3, 0x1.7466425b302a4p-3, 0x1.39a15f016568cp-3,
                         0x1.2f091cb2041a5p-3}(square);
  if constexpr (kSame<Of, NaturalOfDoubles>) {
    const V half = (0.5 * f) * f;
    return multiply_add(s, multiply_add(square, p, half), low - half);
  } else {
    const Long<V> half = product_of(0.5 * f, f);
    const V beyond = multiply_add(s, multiply_add(square, p, half.high), -half.high);
    return multiply_add(beyond, V{} + Of::kSlope.high,
                        multiply_add(half.low, V{} - Of::kSlope.high, low));
  }
}
#endif

// n log 2 + log c + log(1 + f), and of f_low, if any, which is its rounding error.
template <class Of, bool kHasLow, IsDoubles V>
inline V logarithm_of_parts(const Mantissa64<V>& by, V n, V f, V f_low) {
  const Long<V> first = first_of_logarithm<Of>(by, n);
  if constexpr (kSame<Of, NaturalOfDoubles>) {
    const Long<V> sum = sum_of(first.high, f);
    const V low = kHasLow ? first.low + multiply_add(-f, f_low, f_low) : first.low;
    return sum.high + (sum.low + beyond_first_of_logarithm<Of>(f, low));
  } else {
    const Long<V> product = product_of(f, V{} + Of::kSlope.high);
    const Long<V> sum = sum_of(first.high, product.high);
    const V low = first.low + multiply_add(f, V{} + Of::kSlope.low, product.low);
    return sum.high + (sum.low + beyond_first_of_logarithm<Of>(f, low));
  }
}

// The logarithm of a positive normal u; `more` is added to n.
template <class Of, IsDoubles V>
inline V logarithm_of_plain_doubles(V u, V more) {
  const Mantissa64<V> by(u);
  return logarithm_of_parts<Of, false>(by, by.n() + more, from_center(by), V{});
}

template <class Of, IsDoubles V>
__attribute__((noinline)) V logarithm_of_any_doubles(V x) {
  const auto is_subnormal = x < 0x1p-1022;
  const V u = is_subnormal ? x * 0x1p54 : x;
  const V more = is_subnormal ? V{} - 54.0 : V{};
  const V result = logarithm_of_plain_doubles<Of>(u, more);
  const V limit = x < 0 ? V{} + __builtin_nan("") : x == 0 ? V{} - __builtin_inf() : x;
  return (x > 0) & (x < __builtin_inf()) ? result : limit;
}

template <class Of, IsDoubles V>
inline V logarithm_of_doubles(V x) {
  const V result = logarithm_of_plain_doubles<Of>(x, V{});
  if (!is_every_lane_from(x, 0x1p-1022, __builtin_inf())) [[unlikely]]
    return logarithm_of_any_doubles<Of>(x);
  return result;
}

template <IsDoubles V>
inline V logarithm(V x) {
  return logarithm_of_doubles<NaturalOfDoubles>(x);
}
template <IsDoubles V>
inline V logarithm_to_2(V x) {
  return logarithm_of_doubles<BinaryOfDoubles>(x);
}
template <IsDoubles V>
inline V logarithm_to_10(V x) {
  return logarithm_of_doubles<DecimalOfDoubles>(x);
}

// ln(u + lost), of u from 2^-1022 to kFarLogarithm.
inline constexpr double kFarLogarithm = 0x1p1000;
template <IsDoubles V>
inline V logarithm_of_long(const Long<V>& u) {
  const Mantissa64<V> by(u.high);
  const Long<V> f = sum_of(from_center(by), u.low * by.without_power(inverse_of_center(by)));
  return logarithm_of_parts<NaturalOfDoubles, true>(by, by.n(), f.high, f.low);
}

// ln(1 + x), of a positive 1 + x up to kFarLogarithm: f is (1 + x) s - 1, s = 2^-n / c.
template <IsDoubles V>
inline V logarithm_of_plain_one_more(V x, V one_more) {
  const Mantissa64<V> by(one_more);
  const Long<V> f = from_center(x, one_more, by.without_power(inverse_of_center(by)));
  return logarithm_of_parts<NaturalOfDoubles, true>(by, by.n(), f.high, f.low);
}

template <IsDoubles V>
__attribute__((noinline)) V logarithm_of_any_one_more(V x) {
  const V u = x + 1.0;
  const auto is_plain = (u > 0) & (u < kFarLogarithm);
  const V near = logarithm_of_plain_one_more(is_plain ? x : V{}, is_plain ? u : V{} + 1.0);
  const V far = logarithm_of_any_doubles<NaturalOfDoubles>(u);
  return with_sign_of(is_plain ? near : far, x);
}

// The sign is that of x, of zeros too.
template <IsDoubles V>
inline V logarithm_of_one_more(V x) {
  const V one_more = x + 1.0;
  const V result = logarithm_of_plain_one_more(x, one_more);
  if (!is_every_lane_from(one_more, 0x1p-1022, kFarLogarithm)) [[unlikely]]
    return logarithm_of_any_one_more(x);
  return with_sign_of(result, x);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
