// Angles: the scalar form of core/src/cpu/kernels/elementwise/trigonometry.hpp, which gives the
// algorithms and their errors.
#pragma once

#include "number.cuh"

namespace tenure::cuda {

enum class Angle { kSine, kCosine, kTangent };

template <class T>
TENURE_DEVICE constexpr T farthest_angle() {
  return sizeof(T) == 8 ? static_cast<T>(0x1p16) : static_cast<T>(0x1p17);
}

// x = n pi / 2 + r.
template <class T>
struct ReducedAngle {
  Bits<T> quadrant;  // its lowest two bits
  T r;
  T less;  // what r has too much
};

// |x| <= farthest_angle(), and `more` to n.
TENURE_DEVICE ReducedAngle<double> reduce_by_right_angles(double x, int more) {
  const double shift = 0x1.8p52 + static_cast<double>(more);
  const double shifted = x * 0x1.45f306dc9c883p-1 + shift;
  const double n = shifted - shift;
  const double high = x - n * 0x1.921fb544p+0;
  const Long<double> sum = sum_of_any(high, n * -0x1.0b4611a6p-34);
  const double low = n * 0x1.3198a2e037073p-69 - sum.low;
  const double r = sum.high - low;
  return {bits_of(shifted), r, low - (sum.high - r)};
}
TENURE_DEVICE ReducedAngle<float> reduce_by_right_angles(float x, int more) {
  const float shift = 0x1.8p23f + static_cast<float>(more);
  const float shifted = x * 0x1.45f306p-1f + shift;
  const float n = shifted - shift;
  const float high = fused(-n, 0x1.921fb4p+0f, x);
  const Long<float> middle = product_of(n, 0x1.4442d2p-24f);
  const float r = high - middle.high;
  return {bits_of(shifted), r, (middle.low - ((high - r) - middle.high)) + n * -0x1.ee59dap-50f};
}

// The digits of 2 / pi, after 64 zeros.
TENURE_TABLE uint64_t kTwoOverPi[20] = {
    0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u,
    0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u, 0x06492eea09d1921cu, 0xfe1deb1cb129a73eu,
    0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
    0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
    0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu};

TENURE_DEVICE uint64_t upper_product(uint64_t a, uint64_t b) {
#if defined(__CUDACC__)
  return __umul64hi(a, b);
#else
  __extension__ typedef unsigned __int128 Product;
  return static_cast<uint64_t>((static_cast<Product>(a) * b) >> 64);
#endif
}
TENURE_DEVICE unsigned leading_zeros(uint64_t a) {
#if defined(__CUDACC__)
  return static_cast<unsigned>(__clzll(static_cast<long long>(a)));
#else
  return static_cast<unsigned>(__builtin_clzll(a));
#endif
}

// x is finite, at least 2^-10, and m 2^e with whole m. 192 bits of 2 / pi are taken, from where
// m 2^e times a bit is 2 or less: the bits before give multiples of 4, the bits after less than
// 2^-136, while no double is nearer to a multiple of pi / 2 than 2^-61.
TENURE_DEVICE ReducedAngle<double> reduce_far_angle(double x, int more) {
  const uint64_t bits = bits_of(x);
  const uint64_t m = (bits & 0xfffffffffffffu) | uint64_t{1} << 52;
  const int e = static_cast<int>((bits >> 52) & 0x7ff) - 1075;
  const unsigned first = static_cast<unsigned>(e + 62);
  const unsigned word = first >> 6;
  const unsigned shift = first & 63;
  uint64_t digits[3];
  for (unsigned i = 0; i < 3; ++i) {
    const uint64_t next = kTwoOverPi[word + i + 1] >> 1 >> (63 - shift);
    digits[i] = kTwoOverPi[word + i] << shift | next;
  }
  const uint64_t low = m * digits[2];
  const uint64_t middle = m * digits[1];
  const uint64_t sum = middle + upper_product(m, digits[2]);
  const uint64_t high =
      m * digits[0] + upper_product(m, digits[1]) + (sum < middle ? uint64_t{1} : uint64_t{0});
  // Two bits of a whole number; the rest is a fraction, from -1/2 to 1/2 after this.
  uint64_t quadrant = high >> 62;
  uint64_t upper = high << 2 | sum >> 62;
  uint64_t lower = sum << 2 | low >> 62;
  bool is_negative = upper >> 63 != 0;
  if (is_negative) {
    ++quadrant;
    lower = ~lower + 1;
    upper = ~upper + (lower == 0 ? uint64_t{1} : uint64_t{0});
  }
  if (x < 0) {
    quadrant = 0 - quadrant;
    is_negative = !is_negative;
  }
  const unsigned zeros = upper == 0 ? 63 : leading_zeros(upper);
  upper = upper << zeros | lower >> 1 >> (63 - zeros);
  lower <<= zeros;
  // 2^-zeros, at most 2^-1, as a number.
  const double scale = bit_copy<double>((uint64_t{1023} - zeros) << 52);
  const double digits_high = static_cast<double>(static_cast<int64_t>(upper >> 11)) * 0x1p-53;
  const double digits_low =
      static_cast<double>(static_cast<int64_t>((upper & 0x7ff) << 42 | lower >> 22)) * 0x1p-106;
  const Long<double> product = product_of(digits_high, 0x1.921fb54442d18p+0);
  const double rest =
      product.low + (digits_high * 0x1.1a62633145c07p-54 + digits_low * 0x1.921fb54442d18p+0);
  const Long<double> total = sum_of(product.high, rest);
  const double sign = is_negative ? -scale : scale;
  return {quadrant + static_cast<uint64_t>(more), total.high * sign, total.low * -sign};
}

template <class T>
struct SineAndCosine {
  Long<T> sine;
  Long<T> cosine;
};

// Sine of r less `less`. Sums of both parts; `low` is no rounding error, and such that a sine of -0
// is -0.
TENURE_DEVICE SineAndCosine<double> sine_and_cosine(double r, double less) {
  const double square = r * r;
  const double half = 0.5 * square;
  const double sine_rest =
      polynomial(square, 0x1.111111110f8a6p-7, -0x1.a01a019c161d5p-13, 0x1.71de357b1fe7dp-19,
                 -0x1.ae5e68a2b9cebp-26, 0x1.5d93a5acfd57cp-33);
  const double cube = square * r;
  const double sine_low =
      -((less - square * (0.5 * less + cube * sine_rest)) + cube * 0x1.5555555555549p-3);
  const double cosine_rest =
      square * polynomial(square, 0x1.555555555554cp-5, -0x1.6c16c16c15177p-10,
                          0x1.a01a019cb159p-16, -0x1.27e4f809c52adp-22, 0x1.1ee9ebdb4b1c4p-29,
                          -0x1.8fae9be8838d4p-37);
  const double high = 1.0 - half;
  return {{r, sine_low}, {high, ((1.0 - high) - half) + (square * cosine_rest + r * less)}};
}
TENURE_DEVICE SineAndCosine<float> sine_and_cosine(float r, float less) {
  const float square = r * r;
  const float half = 0.5f * square;
  const float third = polynomial(square, 0x1.555546p-3f, -0x1.110776p-7f, 0x1.9953p-13f);
  const float fourth = polynomial(square, 0x1.55554ap-5f, -0x1.6c0c2ap-10f, 0x1.99e904p-16f);
  const float high = 1.0f - half;
  return {{r, -(less + (r * square) * third)},
          {high, ((1.0f - high) - half) + ((square * square) * fourth + r * less)}};
}

// For x that was reduced, that of the cosine with one right angle more.
template <class T>
TENURE_DEVICE T of_reduced_angle(Angle angle, T x, const ReducedAngle<T>& by) {
  const SineAndCosine<T> parts = sine_and_cosine(by.r, by.less);
  const bool is_odd = (by.quadrant & 1) != 0;
  if (angle == Angle::kTangent) {
    const Long<T> rising = sum_of(parts.sine.high, parts.sine.low);
    const Long<T> falling = sum_of(parts.cosine.high, parts.cosine.low);
    const Long<T> dividend = {is_odd ? -falling.high : rising.high,
                              is_odd ? -falling.low : rising.low};
    const Long<T> divisor = {is_odd ? rising.high : falling.high,
                             is_odd ? rising.low : falling.low};
    const T result = quotient(dividend, divisor);
    return x == 0 ? x : result;
  }
  constexpr unsigned kToSign = 8 * sizeof(T) - 2;
  const T result = is_odd ? parts.cosine.high + parts.cosine.low : parts.sine.high + parts.sine.low;
  return bit_copy<T>(
      static_cast<Bits<T>>(bits_of(result) ^ ((by.quadrant << kToSign) & BitsOf<T>::kSign)));
}

// |x| <= farthest_angle(); whatever it is, the work is done and no address depends on it.
template <class T>
TENURE_DEVICE T of_near_angle(Angle angle, T x) {
  return of_reduced_angle(angle, x, reduce_by_right_angles(x, angle == Angle::kCosine ? 1 : 0));
}

// For x that is farther, infinite or NaN.
TENURE_CALLED double of_far_angle(Angle angle, double x) {
  const double distance = magnitude_of(x);
  if (!(distance < infinity<double>())) return x - x;
  const int more = angle == Angle::kCosine ? 1 : 0;
  return of_reduced_angle(angle, x, reduce_far_angle(x, more));
}

// ---- inverse functions, in f64 ----

// pi with what a double lacks of it.
#define TENURE_PI_HIGH 0x1.921fb54442d18p+1
#define TENURE_PI_LOW 0x1.1a62633145c07p-53

// atan(y / x) of numbers that are not negative.
TENURE_CALLED double atan_of_quotient(double y, double x) {
  const bool is_low = y <= 0.41421356237309503 * x;
  const bool is_middle = y <= 2.414213562373095 * x;
  const Long<double> difference = sum_of_any(y, -x);
  const Long<double> total = sum_of_any(y, x);
  const double dividend = is_low ? y : is_middle ? difference.high : -x;
  const double divisor = is_low ? x : is_middle ? total.high : y;
  const double more = is_low ? 0.0 : is_middle ? 0.25 : 0.5;
  const double t = dividend / divisor;
  const double lost = is_middle && !is_low ? (difference.low - t * total.low) / divisor : 0.0;
  const double square = t * t;
  const double rest =
      square * polynomial(square, 0x1.555555555550dp-2, -0x1.999999998ebc4p-3, 0x1.24924920083ffp-3,
                          -0x1.c71c6fe231671p-4, 0x1.745cdc54c206ep-4, -0x1.3b0f2af749a6dp-4,
                          0x1.10d66a0d03d51p-4, -0x1.dde2d52defd9ap-5, 0x1.97b4b24760debp-5,
                          -0x1.2b4442c6a6c2fp-5, 0x1.0ad3ae322da11p-6);
  const Long<double> sum = sum_of_any(more * TENURE_PI_HIGH, t);
  return sum.high + ((sum.low + (more * TENURE_PI_LOW + lost)) - t * rest);
}

TENURE_DEVICE double inverse_tangent(double x) {
  const double magnitude = magnitude_of(x);
  const double result = atan_of_quotient(magnitude, 1.0);
  return with_sign_of(magnitude > 0 ? result : magnitude, x);
}

// x + x^3 p / q less x, over x.
TENURE_CALLED double arc_beyond_first_term(double square) {
  const double p =
      polynomial(square, 0x1.5555555555555p-3, -0x1.4d61203eb6f7dp-2, 0x1.9c1550e884455p-3,
                 -0x1.48228b5688f3bp-5, 0x1.9efe07501b288p-11, 0x1.23de10dfdf709p-15);
  const double q = polynomial(square, 1.0, -0x1.33a271c8a2d4bp+1, 0x1.02ae59c598ac8p+1,
                              -0x1.6066c1b8d0159p-1, 0x1.3b8c5b12e9282p-4);
  return square * (p / q);
}

// sqrt((1 - a) / 2) with its rounding error.
TENURE_DEVICE Long<double> root_of_complement(double a) {
  const double half = (1.0 - a) * 0.5;
  const double root = square_root(half);
  const Long<double> back = product_of(root, root);
  const double rest = (half - back.high) - back.low;
  return {root, root > 0 ? rest / (root + root) : 0.0};
}

TENURE_CALLED double inverse_sine(double x) {
  const double a = magnitude_of(x);
  const bool is_near = a < 0.5;
  const Long<double> root = root_of_complement(a);
  const double arc = arc_beyond_first_term(is_near ? a * a : (1.0 - a) * 0.5);
  const double near = a + a * arc;
  const Long<double> sum = sum_of(0.5 * TENURE_PI_HIGH, -2.0 * root.high);
  const double far =
      sum.high + (sum.low + (0.5 * TENURE_PI_LOW - 2.0 * (root.high * arc + root.low)));
  return with_sign_of(is_near ? near : far, x);
}

TENURE_CALLED double inverse_cosine(double x) {
  const double a = magnitude_of(x);
  const bool is_near = a < 0.5;
  const Long<double> root = root_of_complement(a);
  const double arc = arc_beyond_first_term(is_near ? a * a : (1.0 - a) * 0.5);
  const Long<double> middle = sum_of(0.5 * TENURE_PI_HIGH, -x);
  const double near = middle.high + (middle.low + (0.5 * TENURE_PI_LOW - x * arc));
  const double twice = 2.0 * root.high;
  const double low = 2.0 * (root.high * arc + root.low);
  const Long<double> other = sum_of(TENURE_PI_HIGH, -twice);
  const double far = x < 0 ? other.high + (other.low + (TENURE_PI_LOW - low)) : twice + low;
  return is_near ? near : far;
}

// A guess by a third of the exponent's bits, a polynomial, and one step of Newton's (fdlibm).
TENURE_CALLED double cube_root(double x) {
  const double a = magnitude_of(x);
  const bool is_subnormal = a < 0x1p-1022;
  const double scaled = is_subnormal ? a * 0x1p54 : a;
  const uint64_t third = ((bits_of(scaled) >> 32) * 0xaaaaaaabu) >> 33;
  const double guess = bit_copy<double>((third + 715094163u) << 32);
  const double ratio = (guess * guess) * (guess / scaled);
  const double better =
      guess * polynomial(ratio, 0x1.e03e60f61e692p+0, -0x1.e28e092f02420p+0, 0x1.9f1604a49d6c2p+0,
                         -0x1.844cbbee751d9p-1, 0x1.2b000d4e4edd7p-3);
  const double root = bit_copy<double>((bits_of(better) + 0x80000000u) & ~uint64_t{0x3fffffff});
  const double step = scaled / (root * root);
  const double result = root + root * ((step - root) / ((root + root) + step));
  const bool is_plain = a > 0 && a < infinity<double>();
  return with_sign_of(is_plain ? (is_subnormal ? result * 0x1p-18 : result) : a, x);
}

// The angle of (x, y). Infinities are as far as each other, and zeros have the angle of x's sign.
TENURE_CALLED double angle_of_point(double y, double x) {
  const double a = magnitude_of(y);
  const double b = magnitude_of(x);
  const double larger = a > b ? a : b;
  // So far from the ends of the range that sums are finite and quotients normal.
  const double scale = larger > 0x1p1000 ? 0x1p-100 : larger < 0x1p-900 ? 0x1p100 : 1.0;
  const bool are_far = a == infinity<double>() && b == infinity<double>();
  const double up = are_far ? 1.0 : a * scale;
  const double along = are_far || larger == 0 ? 1.0 : b * scale;
  const double first = atan_of_quotient(up, along);
  const bool is_left = bits_of(x) >> 63 != 0;
  const Long<double> rest = sum_of(TENURE_PI_HIGH, -first);
  return with_sign_of(is_left ? rest.high + (rest.low + TENURE_PI_LOW) : first, y);
}

}  // namespace tenure::cuda
