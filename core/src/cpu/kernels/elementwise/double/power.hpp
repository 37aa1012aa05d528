// x^y of f64 for vectors of every instruction set: e^(y ln x), where ln x is known to 2^-64 of it.
//
//     x = 2^n m,   1 + r = m / c,   ln x = n ln 2 + ln c + (r - r^2 / 2 + r^3 / 3 - ...)
//
// with the tables of log.hpp under every set; r is exact, and so are the sums of the first terms and of r and r^2 / 2, with
// their rounding errors. The polynomial of the rest minimises the largest relative error: 2^-67. The
// product with y is kept with its rounding error too. Other lanes than positive normal numbers
// with results that are normal have another way, behind one branch for the vector.
// The largest error that was found is 0.90 units in the last place (README.md).
#pragma once

#include "cpu/kernels/elementwise/double/exp.hpp"
#include "cpu/kernels/elementwise/double/log.hpp"
#include "cpu/kernels/rounding.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

// a b + c without the rounding of the product, or with one of its rounding error.
template <IsDoubles V>
inline V nearly_fused(V a, V b, V c) {
#if defined(__FMA__)
  return fused(a, b, c);
#else
  const Long<V> product = product_of(a, b);
  return product.high + (c + product.low);
#endif
}

// ln x of a positive normal x; `more` is added to n.
template <IsDoubles V>
inline Long<V> long_logarithm(V x, V more) {
  using Of = NaturalOfDoubles;
  const MantissaOfDouble<kLeastOfTable, V> by(x);
  const auto place = by.place();
  const V r = product_less_one(by.m, Of::kInverse[place]);
  const V n = by.n() + more;
  const V first = multiply_add(n, V{} + Of::kTwo.high, Of::kHigh[place]);
  const V first_low = multiply_add(n, V{} + Of::kTwo.low, Of::kLow[place]);
  const Long<V> sum = sum_of(first, r);
  const Long<V> square = product_of(r, -0.5 * r);
  const Long<V> second = sum_of(sum.high, square.high);
  // r^3 / 3 - r^4 / 4 + ..., over -r^2 / 2.
  const V rest =
      square.high * Polynomial{-0x1.ffffffffffdffp-1, 0x1.999999999924ap-1,  -0x1.55555558dfa92p-1,
                               0x1.2492492ba4a4ep-1,  -0x1.ffffbd9ae4f80p-2, 0x1.c71c13d2606ecp-2,
                               -0x1.9a977d9b53ad0p-2, 0x1.7577457ae4e79p-2}(r);
  const V third = multiply_add(r, V{} - 0x1.5555555555555p-1, rest);
  const V low = multiply_add(square.low, third, (sum.low + first_low) + (second.low + square.low));
  return sum_of(second.high, nearly_fused(square.high, third, low));
}

// y ln x with its rounding error, which is 0 where both are so large that it does not matter.
template <IsDoubles V>
inline Long<V> exponent_of_power(const Long<V>& logarithm, V y) {
  const Long<V> product = product_of(y, logarithm.high);
  return {product.high, multiply_add(y, logarithm.low, product.low)};
}

// The cases of C: 1 to any power and any number to the power 0 are 1, also of NaN. The sign is that
// of an odd power, and another power of a negative number than a whole one is NaN.
template <IsDoubles V>
__attribute__((noinline)) V power_of_any_doubles(V x, V y) {
  constexpr double kInfinity = __builtin_inf();
  const V a = magnitude_of(x);
  const auto is_subnormal = a < 0x1p-1022;
  const auto is_plain = (a > 0) & (a < kInfinity);
  const V normal = is_subnormal ? a * 0x1p54 : a;
  const Long<V> plain =
      long_logarithm(is_plain ? normal : V{} + 1.0, is_subnormal ? V{} - 54.0 : V{});
  const V limit = a == 0 ? V{} - kInfinity : a;
  const V logarithm = is_plain ? plain.high : limit;
  const Long<V> exponent = exponent_of_power(Long<V>{logarithm, is_plain ? plain.low : V{}}, y);
  const auto has_low = magnitude_of(exponent.high) < 2 * kFarthestPower;
  const V result = far_power(exponent.high, has_low ? exponent.low : V{}, V{} + 1.0);
  const V half = y * 0.5;
  const auto is_whole = trunc_of(y) == y;
  const auto is_odd = is_whole & (trunc_of(half) != half);
  const auto is_one = (y == 0) | (x == 1) | ((a == 1) & (magnitude_of(y) == kInfinity));
  const V with_sign = is_odd ? with_sign_of(result, x) : result;
  const auto is_undefined = (x < 0) & (x > -kInfinity) & ~is_whole & (magnitude_of(y) < kInfinity);
  const V defined = is_undefined ? V{} + __builtin_nan("") : with_sign;
  return is_one ? V{} + 1.0 : defined;
}

template <IsDoubles V>
inline V power_of_doubles(V x, V y) {
  const Long<V> exponent = exponent_of_power(long_logarithm(x, V{}), y);
  const auto by = power_by_steps(exponent.high, exponent.low);
  const V s = power_by_index(by.index);
  const bool is_plain = is_every_lane_from(x, 0x1p-1022, __builtin_inf()) &&
                        is_every_lane_within(exponent.high, kOrdinary);
  if (!is_plain) [[unlikely]]
    return power_of_any_doubles(x, y);
  return multiply_add(s, by.p, s);
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
