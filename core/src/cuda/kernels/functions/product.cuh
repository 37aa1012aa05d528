// Products with their exponents apart, as core/src/cpu/kernels/reduce/product.hpp has them.
#pragma once

#include "cuda/kernels/functions/number.cuh"

namespace tenure::cuda {

// Takes a power of two from a number and gives its exponent: numbers that were normal are between
// 1/2 and 8 then, those that were subnormal at least 2^-51. 0, infinities and NaN stay, with any
// exponent.
TENURE_DEVICE int32_t split_exponent(double& x) {
  const auto field = static_cast<uint32_t>(bits_of(x) >> 52) & 0x7ffu;
  // By these bits no power of two is 0 or infinite, not even that of 0 or an infinity.
  const uint32_t power = ((0x7feu - field) & 0x7fcu) | 2u;
  x *= bit_copy<double>(static_cast<uint64_t>(power) << 52);
  return 1023 - static_cast<int32_t>(power);
}

// Multiplies by two powers of two. Only the second one rounds.
TENURE_DEVICE double scaled(double product, int64_t exponent) {
  const auto within = [](int64_t number) {
    return number < -1000 ? -1000 : number > 1000 ? 1000 : number;
  };
  const auto power_of_two = [](int64_t number) {
    return bit_copy<double>(static_cast<uint64_t>(number + 1023) << 52);
  };
  const int64_t first = within(exponent);
  return product * power_of_two(first) * power_of_two(within(exponent - first));
}

}  // namespace tenure::cuda
