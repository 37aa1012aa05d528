// How a device computes element-wise operations, by single calls and by the nodes of an expression.
#pragma once

#include "cpu/kernel.hpp"
#include "cpu/operations.hpp"
#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

constexpr bool is_float(ElementType type) noexcept { return type <= ElementType::kBF16; }
constexpr bool is_signed(ElementType type) noexcept {
  return type >= ElementType::kI8 && type <= ElementType::kI64;
}

constexpr kernels::Device device_of(kernels::Unary op) noexcept {
  return kernels::kUnaryRows[static_cast<unsigned>(op) - 1].device;
}
constexpr kernels::Device device_of(kernels::Binary op) noexcept {
  return kernels::kBinaryRows[static_cast<unsigned>(op) - 1].device;
}

// The integers on its right that the operation does not take.
constexpr kernels::Finding finding_of(kernels::Binary op, ElementType type) noexcept {
  if (is_float(type)) return kernels::kNothing;
  if (op == kernels::Binary::kDiv || op == kernels::Binary::kRem) return kernels::kZeroDivisor;
  if (op == kernels::Binary::kPow && is_signed(type)) return kernels::kNegativePower;
  return kernels::kNothing;
}

}  // namespace tenure::cuda
