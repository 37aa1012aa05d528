// Logarithms, ln(1 + x), ln(1 + e^x) and the inverse hyperbolic functions: the scalar form of
// log.hpp, log_by_table.hpp and a part of hyperbolic.hpp in core/src/cpu/kernels/elementwise, which
// give the algorithms and their errors.
#pragma once

#include "exponential.cuh"
#include "number.cuh"

namespace tenure::cuda {

// ---- f64, and parts for others ----

TENURE_DEVICE float log_p(float f) {
  return polynomial(f, 0x1.55554ap-2f, -0x1.00022p-2f, 0x1.99a596p-3f, -0x1.547888p-3f,
                    0x1.226e58p-3f, -0x1.0ce09cp-3f, 0x1.07d0b8p-3f, -0x1.41ed04p-4f);
}
TENURE_CALLED double log_p(double f) {
  return polynomial(
      f, 0x1.5555555555546p-2, -0x1.fffffffffee87p-3, 0x1.999999999bf46p-3, -0x1.555555567142dp-3,
      0x1.249249245460ep-3, -0x1.ffffff2a47dbcp-4, 0x1.c71c7119b1188p-4, -0x1.9999c219093ddp-4,
      0x1.745d580f257b8p-4, -0x1.55510b650c533p-4, 0x1.3b09bbf4efcbfp-4, -0x1.24d403ed21963p-4,
      0x1.11df97e1a1d12p-4, -0x1.fc002c0598874p-5, 0x1.cfa504ddbef9ap-5, -0x1.ce7c61e439b87p-5,
      0x1.0a93ee82d1f4cp-4, -0x1.f18d1d070b13p-5, 0x1.b90e1ba6cd522p-6);
}

// ln(1 + f) - f.
template <class T>
TENURE_DEVICE T log_beyond_first_term(T f) {
  const T square = f * f;
  return (square * f) * log_p(f) - T{0.5} * square;
}

// The result for 0, negative numbers and infinity.
template <class T>
TENURE_DEVICE T logarithm_or_limit(T x, T logarithm) {
  const T limit = x < 0 ? not_a_number<T>() : x == 0 ? -infinity<T>() : x;
  return x > 0 && x < infinity<T>() ? logarithm : limit;
}

// x = 2^n (1 + f), of a positive finite x.
template <class T>
struct Binade {
  T n;
  T f;
};

template <class T>
TENURE_DEVICE Binade<T> binade_of(T x) {
  using Of = BitsOf<T>;
  using Word = Bits<T>;
  constexpr Word kRootOfHalf =
      sizeof(T) == 8 ? Word{0x3fe6a09e} << (8 * sizeof(T) - 32) : static_cast<Word>(0x3f3504f3u);
  // Subnormal numbers are made normal.
  constexpr T kSmallest = sizeof(T) == 8 ? static_cast<T>(0x1p-1022) : static_cast<T>(0x1p-126f);
  constexpr T kScale = sizeof(T) == 8 ? static_cast<T>(0x1p54) : static_cast<T>(0x1p25f);
  constexpr T kScaleExponent = sizeof(T) == 8 ? 54 : 25;
  const bool is_subnormal = x < kSmallest;
  const T scaled = is_subnormal ? x * kScale : x;
  constexpr Word kMore = Of::kBias + 1;
  const Word shifted = bits_of(scaled) - kRootOfHalf + (kMore << Of::kFractionBits);
  constexpr T kShift = rounding_shift<T>();
  const T biased =
      bit_copy<T>(static_cast<Word>((shifted >> Of::kFractionBits) + bits_of(T{kShift})));
  const T n = biased - (kShift + static_cast<T>(kMore));
  const Word fraction = shifted & ((Word{1} << Of::kFractionBits) - 1);
  return {is_subnormal ? n - kScaleExponent : n,
          bit_copy<T>(static_cast<Word>(fraction + kRootOfHalf)) - T{1}};
}

// ln x + more. `more` joins the small terms, which are added last.
template <class T>
TENURE_DEVICE T natural_logarithm(T x, T more) {
  using Of = ExpOf<T>;
  const Binade<T> of = binade_of(x);
  const Long<T> sum = sum_of(of.n * Of::kLn2High, of.f);
  const T rest = log_beyond_first_term(of.f) + (of.n * Of::kLn2Low + more);
  return logarithm_or_limit(x, sum.high + (sum.low + rest));
}

// ln(1 + x) = ln u + (1 + x - u) / u, where u is 1 + x, rounded, and x is high + low.
template <class T>
TENURE_DEVICE T logarithm_of_one_more(const Long<T>& x) {
  const Long<T> u = sum_of_any(T{1}, x.high);
  const T result = natural_logarithm(u.high, (u.low + x.low) / u.high);
  return x.high == 0 ? x.high : result;
}

// The logarithm to base 2 or 10: n times the logarithm of 2 plus ln(1 + f) times `slope`, with the
// rounding errors of both.
TENURE_DEVICE double logarithm_to(const Long<double>& two, const Long<double>& slope, double x) {
  const Binade<double> of = binade_of(x);
  const Long<double> natural = sum_of(of.f, log_beyond_first_term(of.f));
  const Long<double> product = product_of(natural.high, slope.high);
  const Long<double> sum = sum_of(of.n * two.high, product.high);
  const double low = natural.high * slope.low + natural.low * slope.high;
  const double rest = (product.low + low) + of.n * two.low;
  return logarithm_or_limit(x, sum.high + (sum.low + rest));
}

// ---- f32 by a table ----

TENURE_TABLE float kInverses[8] = {0x1.58p+0f, 0x1.4p+0f, 0x1.28p+0f, 0x1.1p+0f,
                                   1,          0x1.dp-1f, 0x1.ap-1f,  0x1.78p-1f};
TENURE_TABLE float kNaturalHigh[8] = {-0x1.2e9p-2f, -0x1.c9p-3f, -0x1.2958p-3f, -0x1.f0ap-5f, 0,
                                      0x1.933p-4f,  0x1.a94p-3f, 0x1.3c24p-2f};
TENURE_TABLE float kNaturalLow[8] = {
    0x1.d451eep-18f, 0x1.070cacp-20f,  0x1.683fp-18f,  -0x1.86008cp-20f, 0,
    0x1.797566p-18f, -0x1.2c3752p-19f, 0x1.277334p-18f};
TENURE_TABLE float kBinaryHigh[8] = {-0x1.b48p-2f, -0x1.49a8p-2f, -0x1.acfp-3f, -0x1.664p-4f, 0,
                                     0x1.22ep-3f,  0x1.32cp-2f,   0x1.c818p-2f};
TENURE_TABLE float kBinaryLow[8] = {
    0x1.408c78p-18f,  0x1.ed0cbap-20f,  -0x1.78b6d4p-17f, 0x1.20a6dep-21f, 0,
    -0x1.48f554p-17f, -0x1.1c8f12p-22f, 0x1.dc2d46p-18f};
TENURE_TABLE float kDecimalHigh[8] = {-0x1.06ccp-3f, -0x1.8cfp-4f, -0x1.024p-4f, -0x1.af6p-6f, 0,
                                      0x1.5e4p-5f,   0x1.716p-4f,  0x1.1298p-3f};
TENURE_TABLE float kDecimalLow[8] = {
    0x1.4c2c9ep-22f,  -0x1.838864p-20f, -0x1.460f84p-19f, 0x1.b53fc6p-24f, 0,
    -0x1.a65206p-19f, -0x1.798e4cp-19f, 0x1.a4fb3ep-19f};

struct NaturalLogarithm {
  static constexpr bool kHasSlope = false;
  static constexpr bool kHasTwoLow = true;
  static constexpr float kTwoHigh = 0x1.62e4p-1f;
  static constexpr float kTwoLow = 0x1.7f7d1cp-20f;
  static constexpr float kSlopeHigh = 1;
  static constexpr float kSlopeLow = 0;
  static TENURE_DEVICE float high(uint32_t index) { return kNaturalHigh[index]; }
  static TENURE_DEVICE float low(uint32_t index) { return kNaturalLow[index]; }
  static TENURE_DEVICE float p(float r) {
    return polynomial(r, -0x1.ffffdap-2f, 0x1.55551ap-2f, -0x1.00b486p-2f, 0x1.9b1bf6p-3f);
  }
};
struct BinaryLogarithm {
  static constexpr bool kHasSlope = true;
  static constexpr bool kHasTwoLow = false;
  static constexpr float kTwoHigh = 1;
  static constexpr float kTwoLow = 0;
  static constexpr float kSlopeHigh = 0x1.715476p+0f;
  static constexpr float kSlopeLow = 0x1.4ae0cp-26f;
  static TENURE_DEVICE float high(uint32_t index) { return kBinaryHigh[index]; }
  static TENURE_DEVICE float low(uint32_t index) { return kBinaryLow[index]; }
  static TENURE_DEVICE float p(float r) {
    return polynomial(r, -0x1.71545cp-1f, 0x1.ec703cp-2f, -0x1.7255e8p-2f, 0x1.289d48p-2f);
  }
};
struct DecimalLogarithm {
  static constexpr bool kHasSlope = true;
  static constexpr bool kHasTwoLow = true;
  static constexpr float kTwoHigh = 0x1.344p-2f;
  static constexpr float kTwoLow = 0x1.3509f8p-18f;
  static constexpr float kSlopeHigh = 0x1.bcb7b2p-2f;
  static constexpr float kSlopeLow = -0x1.5b235ep-27f;
  static TENURE_DEVICE float high(uint32_t index) { return kDecimalHigh[index]; }
  static TENURE_DEVICE float low(uint32_t index) { return kDecimalLow[index]; }
  static TENURE_DEVICE float p(float r) {
    return polynomial(r, -0x1.bcb79p-3f, 0x1.287a4ep-3f, -0x1.bdf1dap-4f, 0x1.64fcc8p-4f);
  }
};

// For u and its error, and `more` to n.
template <class Of, bool kLost>
TENURE_DEVICE float logarithm_of_plain(float u, float lost, float more) {
  constexpr uint32_t kLeast = 0x3f355555u;  // 0.708
  const uint32_t from_least = bits_of(u) - kLeast;
  const int32_t exponent = static_cast<int32_t>(from_least) >> 23;
  const float m = bit_copy<float>((from_least & 0x7fffffu) + kLeast);
  const uint32_t index = (from_least >> 20) & 7;
  const float inverse = kInverses[index];
  const float r = fused(m, inverse, -1.0f);
  const float whole = static_cast<float>(exponent);
  const float n = kLost ? whole : whole + more;
  const Long<float> first =
      Of::kHasSlope ? product_of(r, float{Of::kSlopeHigh}) : Long<float>{r, 0.0f};
  const Long<float> sum = sum_of(n * Of::kTwoHigh + Of::high(index), first.high);
  float low = Of::low(index);
  if constexpr (Of::kHasTwoLow) low += n * Of::kTwoLow;
  if constexpr (Of::kHasSlope) low += first.low + r * Of::kSlopeLow;
  if constexpr (kLost) {
    // Divided by u, which is 2^n (1 + r) / inverse. It is 0 where 2^-n is no normal number.
    const int32_t biased = 127 - exponent;
    const float scale = bit_copy<float>(static_cast<uint32_t>(biased > 0 ? biased : 0) << 23);
    const float quotient = (lost * inverse) * scale;
    low += quotient - quotient * r;
  }
  return sum.high + (sum.low + ((r * r) * Of::p(r) + low));
}

template <class Of>
TENURE_DEVICE float logarithm_by_table(float x) {
  const bool is_subnormal = x < 0x1p-126f;
  const float u = is_subnormal ? x * 0x1p25f : x;
  const float more = is_subnormal ? -25.0f : 0.0f;
  return logarithm_or_limit(x, logarithm_of_plain<Of, false>(u, 0.0f, more));
}

// ---- functions ----

TENURE_DEVICE float logarithm(float x) { return logarithm_by_table<NaturalLogarithm>(x); }
TENURE_DEVICE double logarithm(double x) { return natural_logarithm(x, 0.0); }
TENURE_DEVICE float logarithm_to_2(float x) { return logarithm_by_table<BinaryLogarithm>(x); }
TENURE_DEVICE double logarithm_to_2(double x) {
  return logarithm_to({1, 0}, {0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56}, x);
}
TENURE_DEVICE float logarithm_to_10(float x) { return logarithm_by_table<DecimalLogarithm>(x); }
TENURE_DEVICE double logarithm_to_10(double x) {
  return logarithm_to({0x1.34413509f78p-2, 0x1.fef311f12b358p-46},
                      {0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}, x);
}
// Its sign is that of x, of zeros too.
TENURE_DEVICE float logarithm_of_one_more(float x) {
  const Long<float> u = sum_of_any(1.0f, x);
  const float result =
      with_sign_of(logarithm_of_plain<NaturalLogarithm, true>(u.high, u.low, 0.0f), x);
  return logarithm_or_limit(u.high, result);
}
TENURE_DEVICE double logarithm_of_one_more(double x) {
  return logarithm_of_one_more(Long<double>{x, 0.0});
}
// Where it is taken once for many elements.
TENURE_CALLED double called_logarithm_of_one_more(double x) { return logarithm_of_one_more(x); }

// ln(1 + e^x) = max(x, 0) + ln(1 + e), e = e^-|x|. Far from 0 it is e, or x, in all digits.
template <class T>
TENURE_DEVICE T softplus(T x) {
  using Of = ExpOf<T>;
  constexpr T kFar = 40;
  if (x < -kFar) return exponential(x);
  const T magnitude = at_most(magnitude_of(x), kFar);
  const PowerOfE<T> power = power_of_e(reduce_by_ln2(-magnitude), BitsOf<T>::kSign);
  const Long<T> mantissa = sum_of(power.high, power.low);
  const T high = mantissa.high * power.first * power.second;
  const T low = mantissa.low * power.first * power.second;
  const bool is_halved = high > static_cast<T>(0.41421356);
  const T f = is_halved ? (high - T{1}) * T{0.5} : high;
  const Long<T> sum = sum_of(is_halved ? T{Of::kLn2Nearest} : T{0}, f);
  const T rest =
      log_beyond_first_term(f) + (sum.low + (is_halved ? low * T{0.5} + Of::kLn2Lacks : low));
  return (x > 0 ? x : T{0}) + (sum.high + rest);
}

// From here on x^2 + 1 and x^2 - 1 round to x^2.
template <class T>
TENURE_DEVICE constexpr T square_alone() {
  return sizeof(T) == 8 ? static_cast<T>(0x1p28) : static_cast<T>(0x1p13f);
}

// ln(2 x).
template <class T>
TENURE_DEVICE T logarithm_of_twice(T x) {
  const T finite = x < infinity<T>() ? x * T{0.5} : x;  // never subnormal here
  const Binade<T> of = binade_of(finite);
  const T n = of.n + T{2};
  const Long<T> sum = sum_of(n * ExpOf<T>::kLn2High, of.f);
  const T rest = log_beyond_first_term(of.f) + n * ExpOf<T>::kLn2Low;
  return logarithm_or_limit(x, sum.high + (sum.low + rest));
}

template <class T>
TENURE_DEVICE T inverse_hyperbolic_sine(T x) {
  const T a = magnitude_of(x);
  const bool is_near = a < square_alone<T>();
  const T within = is_near ? a : T{1};
  const T square = within * within;
  const T more = square / (T{1} + square_root(square + T{1}));
  const T near = logarithm_of_one_more(sum_of(within, more));
  return with_sign_of(is_near ? near : logarithm_of_twice(a), x);
}

template <class T>
TENURE_DEVICE T inverse_hyperbolic_cosine(T x) {
  const bool is_near = x < square_alone<T>();
  const T t = (is_near ? x : T{2}) - T{1};
  const Long<T> square = product_of(t, t);
  const Long<T> sum = sum_of_any(square.high, t + t);
  const T low = sum.low + square.low;
  const T root = square_root(sum.high);
  const Long<T> back = product_of(root, root);
  const T rest = root > 0 ? (((sum.high - back.high) - back.low) + low) / (root + root) : T{0};
  Long<T> more = sum_of_any(root, t);
  more.low += rest;
  const T near = logarithm_of_one_more(more);
  return is_near ? (x < 1 ? not_a_number<T>() : near) : logarithm_of_twice(x);
}

template <class T>
TENURE_DEVICE T inverse_hyperbolic_tangent(T x) {
  const T a = magnitude_of(x);
  const T twice = a + a;
  const T more = twice * (a / (T{1} - a));
  const Long<T> sum = sum_of_any(twice, a < 1 ? more : T{0});
  const T inside = T{0.5} * logarithm_of_one_more(sum);
  const T beyond = a > 1 ? not_a_number<T>() : a;
  const T limit = a == 1 ? infinity<T>() : beyond;
  return with_sign_of(a < 1 ? inside : limit, x);
}

}  // namespace tenure::cuda
