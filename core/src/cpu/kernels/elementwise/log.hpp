// Logarithms, ln(1 + x) and ln(1 + e^x) in f32 and f64, without a branch or a table, for vectors of
// every instruction set.
//
//     ln x = n ln 2 + ln(1 + f),   x = 2^n (1 + f),   1 + f from sqrt(1/2) to sqrt(2)
//     ln(1 + f) = f - f^2 / 2 + f^3 p(f)
//
// where p is the polynomial that minimises the largest relative error of the logarithm for f from
// sqrt(1/2) - 1 to sqrt(2) - 1 (Remez), its coefficients then rounded: 2^-27.2 in f32, 2^-56.5 in
// f64. The first of the three terms is exact. log_by_table.hpp and double/log.hpp have the logarithms
// that are operations by themselves.
//
// NaN stays.
#pragma once

#include "cpu/kernels/elementwise/double/exp.hpp"
#include "cpu/kernels/elementwise/exp.hpp"
#include "cpu/kernels/elementwise/log_by_table.hpp"
#include "cpu/kernels/vector_math.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {
namespace {

template <class T>
struct LogOf;

template <>
struct LogOf<float> {
  [[maybe_unused]] static constexpr Polynomial kP = {
      0x1.55554ap-2f, -0x1.00022p-2f,  0x1.99a596p-3f, -0x1.547888p-3f,
      0x1.226e58p-3f, -0x1.0ce09cp-3f, 0x1.07d0b8p-3f, -0x1.41ed04p-4f};
};

template <>
struct LogOf<double> {
  [[maybe_unused]] static constexpr Polynomial kP = {
      0x1.5555555555546p-2, -0x1.fffffffffee87p-3, 0x1.999999999bf46p-3, -0x1.555555567142dp-3,
      0x1.249249245460ep-3, -0x1.ffffff2a47dbcp-4, 0x1.c71c7119b1188p-4, -0x1.9999c219093ddp-4,
      0x1.745d580f257b8p-4, -0x1.55510b650c533p-4, 0x1.3b09bbf4efcbfp-4, -0x1.24d403ed21963p-4,
      0x1.11df97e1a1d12p-4, -0x1.fc002c0598874p-5, 0x1.cfa504ddbef9ap-5, -0x1.ce7c61e439b87p-5,
      0x1.0a93ee82d1f4cp-4, -0x1.f18d1d070b13p-5,  0x1.b90e1ba6cd522p-6};
};

// ln(1 + f) - f.
template <class V>
inline V log_beyond_first_term(V f) {
  using T = Number<V>;
  const V square = f * f;
  return (square * f) * LogOf<T>::kP(f) - T{0.5} * square;
}

template <class V>
inline V logarithm(V x) {
  return logarithm_by_table<NaturalLogarithm>(x);
}

template <class V>
inline V logarithm_of_one_more(V x) {
  return logarithm_of_one_more_by_table(x);
}

template <class V>
inline V logarithm_to_2(V x) {
  return logarithm_by_table<BinaryLogarithm>(x);
}
template <class V>
inline V logarithm_to_10(V x) {
  return logarithm_by_table<DecimalLogarithm>(x);
}

// ln(1 + e^x) = max(x, 0) + ln(1 + e), e = e^-|x|. Where 1 + e is beyond sqrt(2), half of it is
// 1 + f; else f is e, whose relative error does not grow. Far from 0 it is e, or x, in all digits.
template <class V>
inline V softplus(V x) {
  using T = Number<V>;
  using Bits = As<UnsignedOf<T>, V>;
  constexpr auto kSign = UnsignedOf<T>{1} << (8 * sizeof(T) - 1);
  constexpr T kFar = 40;
  const V magnitude = clamp(x, kFar).magnitude;
  const PowerOfE<V> power = power_of_e(reduce_by_ln2(-magnitude), Bits{} + kSign);
  const Long<V> mantissa = sum_of(power.high, power.low);
  const V high = mantissa.high * power.first * power.second;
  const V low = mantissa.low * power.first * power.second;
  const auto is_halved = high > static_cast<T>(0.41421356);
  const V f = is_halved ? (high - T{1}) * T{0.5} : high;
  const Long<V> sum = sum_of(is_halved ? V{} + ExpOf<T>::kLn2.high : V{}, f);
  const V rest =
      log_beyond_first_term(f) + (sum.low + (is_halved ? low * T{0.5} + ExpOf<T>::kLn2.low : low));
  const V result = (x > 0 ? x : V{}) + (sum.high + rest);
  if (!is_any_less(x, V{} - kFar)) [[likely]]
    return result;
  return x < -kFar ? exponential(x > 0 ? V{} : x) : result;
}

}  // namespace
}  // namespace TENURE_ISA
}  // namespace tenure::kernels
