// Combines two elements that meet in one element of the result, as bits of any type.
#pragma once

#include "cpu/operations.hpp"
#include "cuda/kernels/elementwise.cuh"

namespace tenure::cuda {

using kernels::Binary;

// Gives the bits of the operations of binary.cu.
template <class C>
TENURE_DEVICE C combined(Binary op, C a, C b) {
  switch (op) {
    case Binary::kAdd: return a + b;
    case Binary::kMul: return a * b;
    case Binary::kMin: return a < b || a != a ? a : b;
    default: return a > b || a != a ? a : b;
  }
}

// Integers wrap; `sign` makes unsigned numbers have the order of signed ones.
TENURE_DEVICE uint64_t combined_integers(Binary op, uint64_t sign, uint64_t a, uint64_t b) {
  const bool is_less = (a ^ sign) < (b ^ sign);
  switch (op) {
    case Binary::kAdd: return a + b;
    case Binary::kMul: return a * b;
    case Binary::kMin: return is_less ? a : b;
    default: return is_less ? b : a;
  }
}

// Elements of 2^shift bytes as their bits, in the low ones; above those a result may have any.
TENURE_DEVICE uint64_t combined_bits(Binary op, ElementType type, uint32_t shift, uint64_t a,
                                     uint64_t b) {
  const auto low_a = static_cast<uint32_t>(a);
  const auto low_b = static_cast<uint32_t>(b);
  switch (type) {
    case ElementType::kF64: return bits_of(combined(op, bit_copy<double>(a), bit_copy<double>(b)));
    case ElementType::kF32:
      return bits_of(combined(op, bit_copy<float>(low_a), bit_copy<float>(low_b)));
    // Rounded after each step.
    case ElementType::kF16:
      return round_to_f16(combined(op, widen(F16{static_cast<uint16_t>(low_a)}),
                                   widen(F16{static_cast<uint16_t>(low_b)})))
          .bits;
    case ElementType::kBF16:
      return round_to_bf16(combined(op, widen(BF16{static_cast<uint16_t>(low_a)}),
                                    widen(BF16{static_cast<uint16_t>(low_b)})))
          .bits;
    default: break;
  }
  const bool is_signed = type >= ElementType::kI8 && type <= ElementType::kI64;
  const unsigned bits = 8u << shift;
  return combined_integers(op, is_signed ? uint64_t{1} << (bits - 1) : 0, a, b);
}

}  // namespace tenure::cuda
