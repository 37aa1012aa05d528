// Powers of f64 by a table of 2^(j/k), for vectors of every instruction set:
//
//     x = n ln 2 + r,   n the multiple of 1/k nearest to x / ln 2,   so |r| <= ln 2 / (2 k)
//     e^x = s (1 + p),   s = 2^n rounded,   p = r + r^2 q(r) + l
//
// where l is the rounding error of s, relative to s, and q the polynomial that minimises the
// largest error of e^r (Remez). k is 16, but 4 under AVX2, whose lanes choose from 4 without loads. p
// is 0.022 or 0.091 at most, so one rounding of full size remains: that of s + s p. The entries of
// the table lack j in the bits of the exponent, so that k n is added to them as it is.
//
// Lanes beyond kOrdinary have another way, behind one branch for the vector. README.md has the largest
// errors that were found: 0.83 units in the last place for e^x and 2^x, 1.01 for e^x - 1.
#pragma once

#include "cpu/kernels/elementwise/double/table.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

struct PowersOfTwo {
#if defined(TENURE_HAS_SHORT_TABLES)
  static constexpr unsigned kStepBits = 2;
  static constexpr Table4Of<uint64_t> kBits = {
      {0x3ff0000000000000, 0x3fef06fe0a31b715, 0x3feea09e667f3bcd, 0x3feee89f995ad3ad}};
  static constexpr Table4Of<double> kLost = {
      {0, 0x1.34d754db0abb6p-55, -0x1.3b3efbf5e2228p-54, 0x1.c1a7792cb3387p-55}};
  // Largest error of e^r: 2^-57.6.
  [[maybe_unused]] static constexpr Polynomial kQ = {0x1p-1,
                                                     0x1.5555555557e7bp-3,
                                                     0x1.5555555556dd9p-5,
                                                     0x1.111110a1737bcp-7,
                                                     0x1.6c16c0fc52dadp-10,
                                                     0x1.a030c8aa4c80ep-13,
                                                     0x1.a02e18522bd5fp-16};
  // q for e^r - 1, whose largest relative error is 2^-61.
  [[maybe_unused]] static constexpr Polynomial kQOfLess = {0x1p-1,
                                                           0x1.5555555555555p-3,
                                                           0x1.55555555565cbp-5,
                                                           0x1.111111111245cp-7,
                                                           0x1.6c16c112cb9e7p-10,
                                                           0x1.a01a012cf1253p-13,
                                                           0x1.a02c3a71cd8e7p-16,
                                                           0x1.71eefc6acf123p-19};
  // And for 2^f, f P(f): 2^-58.
  [[maybe_unused]] static constexpr Polynomial kP = {
      0x1.62e42fefa39edp-1,  0x1.ebfbdff82c58dp-3, 0x1.c6b08d705073ap-5,  0x1.3b2ab6fba8127p-7,
      0x1.5d87fdc032762p-10, 0x1.4309126c068fp-13, 0x1.ffeab9e7880dap-17, 0x1.62d3a5d8988ap-20};
  // (cosh r - 1) / r^2, 2^-65 of cosh r, and (sinh r - r) / r^3, 2^-69 of sinh r, in r^2.
  [[maybe_unused]] static constexpr Polynomial kCosine = {
      0.5, 0x1.55555555569a7p-5, 0x1.6c16c10803372p-10, 0x1.a02d2008ba08p-16};
  [[maybe_unused]] static constexpr Polynomial kSine = {
      0x1.5555555555555p-3, 0x1.1111111112141p-7, 0x1.a01a013a59b59p-13, 0x1.71edfafd57896p-19};
#else
  static constexpr unsigned kStepBits = 4;
  static constexpr Table16Of<uint64_t> kBits = {
      {0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
       0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429,
       0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
       0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da}};
  static constexpr Table16Of<double> kLost = {
      {0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54,
       0x1.34d754db0abb6p-55, 0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafbp-56, 0x1.063e1e21c5409p-54,
       -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56,
       0x1.c1a7792cb3387p-55, 0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391fp-55}};
  // Largest error of e^r: 2^-56.3.
  [[maybe_unused]] static constexpr Polynomial kQ = {0x1p-1, 0x1.555555548f648p-3,
                                                     0x1.55555554d953ep-5, 0x1.11123ac6f9d42p-7,
                                                     0x1.6c1808248643ap-10};
  // q for e^r - 1, whose largest relative error is 2^-59.3.
  [[maybe_unused]] static constexpr Polynomial kQOfLess = {0x1p-1,
                                                           0x1.5555555555558p-3,
                                                           0x1.55555554f244dp-5,
                                                           0x1.11111110a3fdap-7,
                                                           0x1.6c17eb3e1439cp-10,
                                                           0x1.a01b6f4993de9p-13};
  // And for 2^f, f P(f): 2^-57.
  [[maybe_unused]] static constexpr Polynomial kP = {0x1.62e42fefa39fdp-1,  0x1.ebfbdff82c597p-3,
                                                     0x1.c6b08d6e8a383p-5,  0x1.3b2ab6fadd5aep-7,
                                                     0x1.5d89be4c1925dp-10, 0x1.430a690dc076cp-13};
  // (cosh r - 1) / r^2, 2^-65 of cosh r, and (sinh r - r) / r^3, 2^-69.5 of sinh r, in r^2.
  [[maybe_unused]] static constexpr Polynomial kCosine = {0.5, 0x1.55555554e61f2p-5,
                                                          0x1.6c17f9521bfap-10};
  [[maybe_unused]] static constexpr Polynomial kSine = {0x1.5555555555557p-3, 0x1.11111110b1fa1p-7,
                                                        0x1.a01b5704c3391p-13};
#endif
  // Added to it, a number is rounded to a multiple of 1/k.
  static constexpr double kShift = 0x1.8p+52 / (1u << kStepBits);
  static constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefap-1;  // 38 bits, and n has 15
  static constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
};

// Up to this distance from 0 e^x, and 2^x, is a normal number, n has the bits that 2^n takes, and s p
// is normal or too small to count where it is rounded by itself.
#if defined(__FMA__)
inline constexpr double kOrdinary = 708;
inline constexpr double kOrdinaryOf2 = 1022;
#else
inline constexpr double kOrdinary = 600;
inline constexpr double kOrdinaryOf2 = 860;
#endif

// x = n ln 2 + r.
template <IsDoubles V>
struct StepOfLn2 {
  As<uint64_t, V> index;  // k n in its lowest bits
  V r;
};

template <IsDoubles V>
inline StepOfLn2<V> reduce_by_steps(V x) {
  using Of = PowersOfTwo;
  const V shifted = multiply_add(x, V{} + PowersOfTwo::kInverseLn2, V{} + Of::kShift);
  const V n = shifted - Of::kShift;
  const V high = less_exact_product(x, n, Of::kLn2High);
  return {bit_copy<As<uint64_t, V>>(shifted), multiply_add(n, V{} - Of::kLn2Low, high)};
}

// 2^n, rounded, times 2^more.
template <IsVector Index>
inline As<double, Index> power_by_index(Index index, int more = 0) {
  const Index bits = PowersOfTwo::kBits[index] + (index << (52 - PowersOfTwo::kStepBits));
  return bit_copy<As<double, Index>>(bits + (static_cast<uint64_t>(more) << 52));
}

// e^x = s (1 + p).
template <IsDoubles V>
struct TablePowerOfDouble {
  As<uint64_t, V> index;
  V p;
};

template <IsDoubles V>
inline TablePowerOfDouble<V> power_by_steps(V x, V x_low = V{}) {
  using Of = PowersOfTwo;
  const auto by = reduce_by_steps(x);
  const V r = by.r + x_low;
  return {by.index, r + multiply_add(r * r, Of::kQ(r), Of::kLost[by.index])};
}

// factor * s (1 + p), where s may be out of the range, as it is where x, the power, is far from 0: the
// last step is 2^512, or its inverse where x is negative. Results below normal numbers are the
// integers below the last place of a sum, since processors take 20 times as long for a product.
template <IsDoubles V>
inline V in_two_steps(const TablePowerOfDouble<V>& by, V factor, V x) {
  using Bits = As<uint64_t, V>;
  const auto is_negative = x < 0;
  constexpr uint64_t kLarge = uint64_t{512} << 52;
  const Bits bits = bit_copy<Bits>(power_by_index(by.index));
  const V s = bit_copy<V>(is_negative ? bits + kLarge : bits - kLarge);
  const V first = multiply_add(s, by.p, s) * factor;
  const V magnitude = magnitude_of(first);
  const auto is_small = is_negative & (magnitude < 0x1p-510);
  const V sum = magnitude * 0x1p562 + 0x1p52;
  const V small = bit_copy<V>(bit_copy<Bits>(sum) - bit_copy<uint64_t>(0x1p52));
  const V large = (is_small ? V{} : first) * (is_negative ? V{} + 0x1p-512 : V{} + 0x1p512);
  return is_small ? with_sign_of(small, first) : large;
}

// Beyond it on either side e^x and x e^x are infinite or 0.
inline constexpr double kFarthestPower = 770;

// factor * e^(x + x_low) of any x.
template <IsDoubles V>
__attribute__((noinline)) V far_power(V x, V x_low, V factor) {
  const V near = at_least(at_most(x, kFarthestPower), -kFarthestPower);
  return in_two_steps(power_by_steps(near, x_low), factor, near);
}

template <IsDoubles V>
inline V exponential(V x) {
  const auto by = power_by_steps(x);
  if (!is_every_lane_within(x, kOrdinary)) [[unlikely]]
    return far_power(x, V{}, V{} + 1.0);
  const V s = power_by_index(by.index);
  return multiply_add(s, by.p, s);
}
inline double exponential(double x) {
  using Doubles = typename SizedVector<double, kRegisterBytes>::type;
  return exponential(Doubles{} + x)[0];
}

// 2^x = s (1 + p), p = f P(f) + l, where x is a multiple of 1/k and f.
template <IsDoubles V>
inline TablePowerOfDouble<V> power_of_two_by_steps(V x) {
  using Of = PowersOfTwo;
  const V shifted = x + Of::kShift;
  const V f = x - (shifted - Of::kShift);
  const auto index = bit_copy<As<uint64_t, V>>(shifted);
  return {index, multiply_add(f, Of::kP(f), Of::kLost[index])};
}

// Beyond kFarthest on either side 2^x is infinite or 0.
template <IsDoubles V>
__attribute__((noinline)) V far_exponential_of_2(V x) {
  constexpr double kFarthest = 1100;
  const V near = at_least(at_most(x, kFarthest), -kFarthest);
  return in_two_steps(power_of_two_by_steps(near), V{} + 1.0, near);
}

template <IsDoubles V>
inline V exponential_of_2(V x) {
  const auto by = power_of_two_by_steps(x);
  if (!is_every_lane_within(x, kOrdinaryOf2)) [[unlikely]]
    return far_exponential_of_2(x);
  const V s = power_by_index(by.index);
  return multiply_add(s, by.p, s);
}

// e^x - 1 = (s - 1) + s r + s (r^2 q(r) + l), up to kOrdinary from 0, in two parts; `low` is no
// rounding error. The second part lacks the rounding error of s - 1 where s is above 2.
template <IsDoubles V>
inline Long<V> long_power_less_one(V x) {
  using Of = PowersOfTwo;
  const V shifted = multiply_add(x, V{} + PowersOfTwo::kInverseLn2, V{} + Of::kShift);
  const V n = shifted - Of::kShift;
  const V high = less_exact_product(x, n, Of::kLn2High);
  const V r = multiply_add(n, V{} - Of::kLn2Low, high);
  const V lost = multiply_add(n, V{} - Of::kLn2Low, high - r);
  const auto index = bit_copy<As<uint64_t, V>>(shifted);
  const V s = power_by_index(index);
  const V s_lost = Of::kLost[index];
  const V rest = multiply_add(r * r, Of::kQOfLess(r), multiply_add(s_lost, r, s_lost + lost));
  const V less_one = s - 1.0;
  const V less_lost = s - (less_one + 1.0);
  const Long<V> product = product_of(s, r);
  const Long<V> sum = sum_of(less_one, product.high);
  return {sum.high, multiply_add(s, rest, (sum.low + less_lost) + product.low)};
}

// The sign is that of x.
template <IsDoubles V>
inline V exponential_less_one_near(V x) {
  const Long<V> t = long_power_less_one(x);
  return with_sign_of(t.high + t.low, x);
}

template <IsDoubles V>
__attribute__((noinline)) V far_exponential_less_one(V x) {
  const V near = exponential_less_one_near(at_least(at_most(x, kOrdinary), -kOrdinary));
  return x > kOrdinary ? far_power(x, V{}, V{} + 1.0) : near;
}

template <IsDoubles V>
inline V exponential_less_one(V x) {
  const V result = exponential_less_one_near(x);
  if (!is_every_lane_within(x, kOrdinary)) [[unlikely]]
    return far_exponential_less_one(x);
  return result;
}

// e^x - 1 where x is negative, else x.
template <IsDoubles V>
inline V elu(V x) {
  const V t = exponential_less_one_near(at_least(at_most(x, 0.0), -kOrdinary));
  return x > 0 ? x : t;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
