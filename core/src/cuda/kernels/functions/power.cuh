// x^y, the distance sqrt(x^2 + y^2), and the remainder of a division: the scalar form of power.hpp
// and remainder.hpp in core/src/cpu/kernels/elementwise. Powers of f64 take a logarithm of 16 bits
// more than the type has. Far remainders, which are exact on the CPU too, have a way of their own.
#pragma once

#include "exponential.cuh"
#include "logarithm.cuh"
#include "number.cuh"
#include "rounding.cuh"

namespace tenure::cuda {

// The cases of C: 1 to any power and any number to the power 0 are 1, also of NaN. The sign is that
// of an odd power, and another power of a negative number than a whole one is NaN. `result` is that
// of |x|.
TENURE_DEVICE double power_with_cases(double x, double y, double result) {
  const double a = magnitude_of(x);
  const double half = y * 0.5;
  const bool is_whole = trunc_of(y) == y;
  const bool is_odd = is_whole && trunc_of(half) != half;
  const bool is_one = y == 0 || x == 1 || (a == 1 && magnitude_of(y) == infinity<double>());
  const double with_sign = is_odd ? with_sign_of(result, x) : result;
  const bool is_undefined =
      x < 0 && x > -infinity<double>() && !is_whole && magnitude_of(y) < infinity<double>();
  const double defined = is_undefined ? not_a_number<double>() : with_sign;
  return is_one ? 1.0 : defined;
}

TENURE_DEVICE float power(float x, float y) {
  const double a = static_cast<double>(x);
  const double b = static_cast<double>(y);
  const double result = exponential(b * logarithm(magnitude_of(a)));
  return static_cast<float>(power_with_cases(a, b, result));
}

// x = 2^n m, m from 0.706 to 1.412, and one of 128 c near 1 / m: c m = 1 + r, r exact and below
// 2^-7. The table has c, and -ln c in two parts; the first part has so few bits that its sum with
// n ln 2 is exact. c has 8 bits, 7 where m is below 1; around 1 it is 1, so that a small logarithm
// keeps all digits.
struct PowerInterval {
  double c;
  double high;
  double low;
};
TENURE_TABLE PowerInterval kPowerIntervals[128] = {
    {0x1.6ap+0, -0x1.62c82f2b9cp-2, -0x1.e54bdbd7c8a98p-44},
    {0x1.68p+0, -0x1.5d1bdbf581p-2, 0x1.8d6bdc9c7c238p-44},
    {0x1.66p+0, -0x1.5767717456p-2, 0x1.64ead9524d7cap-44},
    {0x1.64p+0, -0x1.51aad872ep-2, 0x1.f4bd8db0a7cc1p-44},
    {0x1.62p+0, -0x1.4be5f95778p-2, 0x1.d7c92cd9ad824p-44},
    {0x1.6p+0, -0x1.4618bc21c6p-2, 0x1.3d82f484c84ccp-46},
    {0x1.5ep+0, -0x1.404308686ap-2, -0x1.f8ef43049f7d3p-44},
    {0x1.5cp+0, -0x1.3a64c55694p-2, -0x1.7a71cbcd735dp-44},
    {0x1.5ap+0, -0x1.347dd9a988p-2, 0x1.5594dd4c58092p-45},
    {0x1.58p+0, -0x1.2e8e2bae12p-2, 0x1.67b1e99b72bd8p-45},
    {0x1.56p+0, -0x1.2895a13de8p-2, -0x1.a8d7ad24c13fp-44},
    {0x1.56p+0, -0x1.2895a13de8p-2, -0x1.a8d7ad24c13fp-44},
    {0x1.54p+0, -0x1.22941fbcf8p-2, 0x1.a6976f5eb0963p-44},
    {0x1.52p+0, -0x1.1c898c169ap-2, 0x1.81410e5c62affp-44},
    {0x1.5p+0, -0x1.1675cababap-2, -0x1.8380e731f55c4p-44},
    {0x1.4ep+0, -0x1.1058bf9ae5p-2, 0x1.4ab9d817d52cdp-44},
    {0x1.4cp+0, -0x1.0a324e2739p-2, -0x1.c6bee7ef4030ep-47},
    {0x1.4ap+0, -0x1.0402594b4dp-2, -0x1.036b89ef42d7fp-48},
    {0x1.4ap+0, -0x1.0402594b4dp-2, -0x1.036b89ef42d7fp-48},
    {0x1.48p+0, -0x1.fb9186d5e4p-3, 0x1.d572aab993c87p-47},
    {0x1.46p+0, -0x1.ef0adcbdc6p-3, 0x1.b26b79c86af24p-45},
    {0x1.44p+0, -0x1.e27076e2bp-3, 0x1.a342c2af0003cp-44},
    {0x1.42p+0, -0x1.d5c216b4fcp-3, 0x1.1ba91bbca681bp-45},
    {0x1.4p+0, -0x1.c8ff7c79aap-3, 0x1.7794f689f8434p-45},
    {0x1.4p+0, -0x1.c8ff7c79aap-3, 0x1.7794f689f8434p-45},
    {0x1.3ep+0, -0x1.bc286742d8p-3, -0x1.9ac53f39d121cp-44},
    {0x1.3cp+0, -0x1.af3c94e80cp-3, 0x1.a4e633fcd9066p-52},
    {0x1.3ap+0, -0x1.a23bc1fe2cp-3, 0x1.539cd91dc9f0bp-44},
    {0x1.3ap+0, -0x1.a23bc1fe2cp-3, 0x1.539cd91dc9f0bp-44},
    {0x1.38p+0, -0x1.9525a9cf46p-3, 0x1.297137d9f158fp-44},
    {0x1.36p+0, -0x1.87fa06520cp-3, -0x1.22120401202fcp-44},
    {0x1.34p+0, -0x1.7ab890210ep-3, 0x1.bdb9072534a58p-45},
    {0x1.34p+0, -0x1.7ab890210ep-3, 0x1.bdb9072534a58p-45},
    {0x1.32p+0, -0x1.6d60fe719ep-3, 0x1.bc6e557134767p-44},
    {0x1.3p+0, -0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44},
    {0x1.3p+0, -0x1.5ff3070a7ap-3, 0x1.8586f183bebf2p-44},
    {0x1.2ep+0, -0x1.526e5e3a1cp-3, 0x1.790ba37fc5238p-44},
    {0x1.2cp+0, -0x1.44d2b6ccb8p-3, 0x1.70cc16135783cp-46},
    {0x1.2cp+0, -0x1.44d2b6ccb8p-3, 0x1.70cc16135783cp-46},
    {0x1.2ap+0, -0x1.371fc201e8p-3, -0x1.ee8779b2d8abcp-44},
    {0x1.28p+0, -0x1.29552f82p-3, 0x1.5b967f4471dfcp-44},
    {0x1.26p+0, -0x1.1b72ad52f6p-3, -0x1.e80a41811a396p-45},
    {0x1.26p+0, -0x1.1b72ad52f6p-3, -0x1.e80a41811a396p-45},
    {0x1.24p+0, -0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44},
    {0x1.24p+0, -0x1.0d77e7cd08p-3, -0x1.cb2cd2ee2f482p-44},
    {0x1.22p+0, -0x1.fec9131dcp-4, 0x1.54555d1ae6607p-44},
    {0x1.2p+0, -0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45},
    {0x1.2p+0, -0x1.e27076e2bp-4, 0x1.a342c2af0003cp-45},
    {0x1.1ep+0, -0x1.c5e548f5bcp-4, -0x1.d0c57585fbe06p-46},
    {0x1.1cp+0, -0x1.a926d3a4acp-4, -0x1.563650bd22a9cp-44},
    {0x1.1cp+0, -0x1.a926d3a4acp-4, -0x1.563650bd22a9cp-44},
    {0x1.1ap+0, -0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44},
    {0x1.1ap+0, -0x1.8c345d6318p-4, -0x1.b20f5acb42a66p-44},
    {0x1.18p+0, -0x1.6f0d28ae58p-4, 0x1.4b4641b664613p-44},
    {0x1.16p+0, -0x1.51b073f06p-4, -0x1.83f69278e686ap-44},
    {0x1.16p+0, -0x1.51b073f06p-4, -0x1.83f69278e686ap-44},
    {0x1.14p+0, -0x1.341d7961bcp-4, -0x1.1d0929983761p-44},
    {0x1.14p+0, -0x1.341d7961bcp-4, -0x1.1d0929983761p-44},
    {0x1.12p+0, -0x1.16536eea38p-4, 0x1.47c5e768fa309p-46},
    {0x1.1p+0, -0x1.f0a30c0118p-5, 0x1.d599e83368e91p-45},
    {0x1.1p+0, -0x1.f0a30c0118p-5, 0x1.d599e83368e91p-45},
    {0x1.0ep+0, -0x1.b42dd71198p-5, 0x1.c827ae5d6704cp-46},
    {0x1.0ep+0, -0x1.b42dd71198p-5, 0x1.c827ae5d6704cp-46},
    {0x1.0cp+0, -0x1.77458f633p-5, 0x1.181dce586af09p-44},
    {0x1.0cp+0, -0x1.77458f633p-5, 0x1.181dce586af09p-44},
    {0x1.0ap+0, -0x1.39e87b9fe8p-5, -0x1.eafd480ad9015p-44},
    {0x1.0ap+0, -0x1.39e87b9fe8p-5, -0x1.eafd480ad9015p-44},
    {0x1.08p+0, -0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45},
    {0x1.08p+0, -0x1.f829b0e78p-6, -0x1.980267c7e09e4p-45},
    {0x1.06p+0, -0x1.7b91b07d6p-6, 0x1.3b955b602ace4p-44},
    {0x1.04p+0, -0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50},
    {0x1.04p+0, -0x1.fc0a8b0fcp-7, -0x1.f1e7cf6d3a69cp-50},
    {0x1.02p+0, -0x1.fe02a6b1p-8, -0x1.9e23f0dda40e4p-46},
    {0x1.02p+0, -0x1.fe02a6b1p-8, -0x1.9e23f0dda40e4p-46},
    {0x1p+0, 0, 0},
    {0x1p+0, 0, 0},
    {0x1.fcp-1, 0x1.010157588p-7, 0x1.bce251998b506p-44},
    {0x1.f8p-1, 0x1.020565893p-6, 0x1.611d27c8e8417p-44},
    {0x1.f4p-1, 0x1.8492528c9p-6, -0x1.aa0ba325a0c34p-45},
    {0x1.fp-1, 0x1.0415d89e78p-5, -0x1.dddc7f461c516p-44},
    {0x1.ecp-1, 0x1.466aed42ep-5, -0x1.c167375bdfd28p-45},
    {0x1.e8p-1, 0x1.894aa149f8p-5, 0x1.9a19a8be97661p-44},
    {0x1.e4p-1, 0x1.ccb73cddd8p-5, 0x1.965c36e09f5fep-44},
    {0x1.e2p-1, 0x1.eea31c0068p-5, 0x1.c3dd83606d891p-44},
    {0x1.dep-1, 0x1.1973bd1464p-4, 0x1.566d154f930b3p-44},
    {0x1.dap-1, 0x1.3bdf5a7d2p-4, -0x1.19bd0ad125895p-44},
    {0x1.d6p-1, 0x1.5e95a4d978p-4, 0x1.1cb7ce1d17171p-44},
    {0x1.d4p-1, 0x1.700d30aeacp-4, 0x1.c1e8da99ded32p-49},
    {0x1.dp-1, 0x1.9335e5d594p-4, 0x1.3115c3abd47dap-45},
    {0x1.ccp-1, 0x1.b6ac88dad4p-4, 0x1.b1bdff50225c7p-44},
    {0x1.cap-1, 0x1.c885801bc4p-4, 0x1.646d1c65aacd3p-45},
    {0x1.c6p-1, 0x1.ec739830ap-4, 0x1.11fcba80cdd1p-44},
    {0x1.c4p-1, 0x1.fe89139dbcp-4, 0x1.56594d82f7a82p-44},
    {0x1.cp-1, 0x1.1178e8227ep-3, 0x1.1ef78ce2d07f2p-45},
    {0x1.bep-1, 0x1.1aa2b7e24p-3, -0x1.1ac38dde3b366p-44},
    {0x1.bap-1, 0x1.2d1610c868p-3, 0x1.39d6ccb81b4a1p-47},
    {0x1.b8p-1, 0x1.365fcb015ap-3, -0x1.fd3a0afb9691bp-44},
    {0x1.b4p-1, 0x1.4913d8333cp-3, -0x1.53e43558124c4p-44},
    {0x1.b2p-1, 0x1.527e5e4a1cp-3, -0x1.4e60b8d4b411dp-44},
    {0x1.aep-1, 0x1.6574ebe8c2p-3, -0x1.98c1d34f0f462p-44},
    {0x1.acp-1, 0x1.6f0128b756p-3, 0x1.577390d31ef0fp-44},
    {0x1.aap-1, 0x1.7898d85444p-3, 0x1.8e67be3dbaf3fp-44},
    {0x1.a6p-1, 0x1.8beafeb39p-3, -0x1.73d54aae92cd1p-47},
    {0x1.a4p-1, 0x1.95a5adcf7p-3, 0x1.7f22858a0ff6fp-47},
    {0x1.ap-1, 0x1.a93ed3c8aep-3, -0x1.8724350562169p-45},
    {0x1.9ep-1, 0x1.b31d8575bcp-3, 0x1.c794e562a63cbp-44},
    {0x1.9cp-1, 0x1.bd087383bep-3, -0x1.d4bc4595412b6p-45},
    {0x1.9ap-1, 0x1.c6ffbc6fp-3, 0x1.ee138d3a69d43p-44},
    {0x1.96p-1, 0x1.db13db0d48p-3, 0x1.2806a847527e6p-44},
    {0x1.94p-1, 0x1.e530effe72p-3, -0x1.fdbdbb13f7c18p-44},
    {0x1.92p-1, 0x1.ef5ade4ddp-3, -0x1.a211565bb8e11p-51},
    {0x1.9p-1, 0x1.f991c6cb3cp-3, -0x1.90d04cd7cc834p-44},
    {0x1.8cp-1, 0x1.07138604d6p-2, -0x1.e76324e912b17p-44},
    {0x1.8ap-1, 0x1.0c42d67616p-2, 0x1.7188b163ceae9p-45},
    {0x1.88p-1, 0x1.1178e8227ep-2, 0x1.1ef78ce2d07f2p-44},
    {0x1.86p-1, 0x1.16b5ccbadp-2, -0x1.23299042d74bfp-44},
    {0x1.84p-1, 0x1.1bf99635a7p-2, -0x1.1ac89575c2125p-44},
    {0x1.82p-1, 0x1.214456d0ecp-2, -0x1.caf0428b728a3p-44},
    {0x1.7ep-1, 0x1.2bef07cdc9p-2, 0x1.a9cfa4a5004f4p-45},
    {0x1.7cp-1, 0x1.314f1e1d36p-2, -0x1.8e27ad3213cb8p-45},
    {0x1.7ap-1, 0x1.36b6776be1p-2, 0x1.16ecdb0f177c8p-46},
    {0x1.78p-1, 0x1.3c25277333p-2, 0x1.83b54b606bd5cp-46},
    {0x1.76p-1, 0x1.419b423d5fp-2, -0x1.ce379226de3ecp-44},
    {0x1.74p-1, 0x1.4718dc271cp-2, 0x1.06c18fb4c14c5p-44},
    {0x1.72p-1, 0x1.4c9e09e173p-2, -0x1.e20891b0ad8a4p-45},
    {0x1.7p-1, 0x1.522ae0738ap-2, 0x1.ebe708164c759p-45},
    {0x1.6ep-1, 0x1.57bf753c8dp-2, 0x1.fadedee5d40efp-46},
    {0x1.6cp-1, 0x1.5d5bddf596p-2, -0x1.a0b2a08a465dcp-47},
};

// ln a of a positive finite number, to about 2^-68 of it.
TENURE_DEVICE Long<double> long_logarithm(double a) {
  constexpr uint64_t kLeast = uint64_t{0x3fe69555} << 32;
  const bool is_subnormal = a < 0x1p-1022;
  const uint64_t from_least = bits_of(is_subnormal ? a * 0x1p54 : a) - kLeast;
  const int32_t exponent = static_cast<int32_t>(static_cast<int64_t>(from_least) >> 52);
  const double n = static_cast<double>(is_subnormal ? exponent - 54 : exponent);
  const double m = bit_copy<double>((from_least & 0xfffffffffffffu) + kLeast);
  const PowerInterval& of = kPowerIntervals[(from_least >> 45) & 127];
  const double r = fused(m, of.c, -1.0);
  const Long<double> whole = sum_of_any(n * ExpOf<double>::kLn2High + of.high, r);
  // r - r^2 / 2 + r^3 p(r).
  const Long<double> square = product_of(r, -0.5 * r);
  const double cube_terms = (r * r) * (r * polynomial(r, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6,
                                                      1.0 / 7, -1.0 / 8, 1.0 / 9, -0.1));
  const Long<double> sum = sum_of_any(whole.high, square.high);
  const double low = whole.low + (sum.low + (square.low + (n * ExpOf<double>::kLn2Low + of.low)));
  return sum_of_any(sum.high, low + cube_terms);
}

TENURE_CALLED double power(double x, double y) {
  constexpr double kFarthest = ExpOf<double>::kFarthest;
  const double a = magnitude_of(x);
  const bool is_plain = a > 0 && a < infinity<double>();
  const Long<double> log = is_plain ? long_logarithm(a) : Long<double>{logarithm(a), 0.0};
  const double high = y * log.high;
  const bool is_within = magnitude_of(high) < kFarthest;
  const double low = is_within ? fused(y, log.high, -high) + y * log.low : 0.0;
  const uint64_t sign = bits_of(high) & BitsOf<double>::kSign;
  const double within = bit_copy<double>(bits_of(at_most(magnitude_of(high), kFarthest)) | sign);
  ReducedByLn2<double> by = reduce_by_ln2(within);
  const Long<double> r = sum_of_any(by.r, by.lost + low);
  by.r = r.high;
  by.lost = r.low;
  return power_with_cases(x, y, value_of(power_of_e(by, sign)));
}

TENURE_DEVICE double distance(double x, double y) {
  constexpr double kLarge = 0x1p500;
  const double a = magnitude_of(x);
  const double b = magnitude_of(y);
  const double larger = a > b ? a : b;
  const bool is_large = larger > kLarge;
  const bool is_small = larger < 0x1p-450;
  const double scale = is_large ? 0x1p-600 : is_small ? 0x1p600 : 1.0;
  const double back = is_large ? 0x1p600 : is_small ? 0x1p-600 : 1.0;
  const Long<double> first = product_of(a * scale, a * scale);
  const Long<double> second = product_of(b * scale, b * scale);
  const Long<double> sum = sum_of_any(first.high, second.high);
  const double root = square_root(sum.high);
  const Long<double> square = product_of(root, root);
  const double rest =
      ((sum.high - square.high) - square.low) + (sum.low + (first.low + second.low));
  const double result = (root + rest / (root + root)) * back;
  const double finite = a == 0 && b == 0 ? 0.0 : result;
  return a == infinity<double>() || b == infinity<double>() ? infinity<double>() : finite;
}
TENURE_DEVICE float distance(float x, float y) {
  const double a = static_cast<double>(x);
  const double b = static_cast<double>(y);
  const float finite = static_cast<float>(square_root(a * a + b * b));
  const bool is_far = magnitude_of(x) == infinity<float>() || magnitude_of(y) == infinity<float>();
  return is_far ? infinity<float>() : finite;
}

// A positive finite number as a whole one times a power of two.
template <class T>
struct WholeAndExponent {
  Bits<T> whole;
  int exponent;
};
template <class T>
TENURE_DEVICE WholeAndExponent<T> taken_apart(T magnitude) {
  constexpr unsigned kFractionBits = BitsOf<T>::kFractionBits;
  const Bits<T> bits = bits_of(magnitude);
  const int exponent = static_cast<int>(bits >> kFractionBits);
  const Bits<T> fraction = bits & ((Bits<T>{1} << kFractionBits) - 1);
  if (exponent == 0) return {fraction, 1};
  return {fraction | Bits<T>{1} << kFractionBits, exponent};
}

// The remainder of a division, by long division: a step takes kStep digits, which a word holds in
// addition to a significand.
template <class T>
TENURE_DEVICE T far_remainder(T a, T b) {
  constexpr unsigned kFractionBits = BitsOf<T>::kFractionBits;
  constexpr int kStep = 8 * static_cast<int>(sizeof(T)) - 1 - static_cast<int>(kFractionBits);
  const T dividend = magnitude_of(a);
  const T divisor = magnitude_of(b);
  if (!(dividend < infinity<T>()) || !(divisor > 0)) return not_a_number<T>();
  if (dividend < divisor) return a;
  const WholeAndExponent<T> of = taken_apart(dividend);
  const WholeAndExponent<T> by = taken_apart(divisor);
  Bits<T> rest = of.whole;
  int left = of.exponent - by.exponent;
  int step = 0;
  TENURE_ROLLED do {
    left -= step;
    rest = (rest << step) % by.whole;
    step = left < kStep ? left : kStep;
  }
  while (left > 0);
  // A number of the type: 2 to the divisor's exponent times a whole number of as many bits.
  int exponent = by.exponent;
  TENURE_ROLLED while (exponent > 1 && (rest >> kFractionBits) == 0 && rest != 0) {
    rest <<= 1;
    --exponent;
  }
  const bool is_normal = (rest >> kFractionBits) != 0;
  const auto field = static_cast<Bits<T>>(is_normal ? exponent : 0);
  const Bits<T> fraction = rest & ((Bits<T>{1} << kFractionBits) - 1);
  return with_sign_of(bit_copy<T>(static_cast<Bits<T>>(field << kFractionBits | fraction)), a);
}

template <class T>
TENURE_DEVICE T remainder_of(T a, T b) {
  constexpr bool kIsDouble = sizeof(T) == 8;
  constexpr T kMostQuotient = static_cast<T>(kIsDouble ? 0x1p50 : 0x1p21);
  constexpr T kLeastDivisor = static_cast<T>(kIsDouble ? 0x1p-900 : 0x1p-90);
  constexpr T kMost = static_cast<T>(kIsDouble ? 0x1p1020 : 0x1p120);
  const T dividend = magnitude_of(a);
  const T divisor = magnitude_of(b);
  const T ratio = dividend / divisor;
  const bool is_near =
      ratio < kMostQuotient && divisor >= kLeastDivisor && divisor < kMost && dividend < kMost;
  if (!is_near) return far_remainder(a, b);
  const Long<T> product = product_of(trunc_of(ratio), divisor);
  T rest = (dividend - product.high) - product.low;
  rest = rest < 0 ? rest + divisor : rest;
  rest = rest >= divisor ? rest - divisor : rest;
  return with_sign_of(rest, a);
}

}  // namespace tenure::cuda
