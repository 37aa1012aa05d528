// Families of element-wise operations: those that are computed alike, by a kernel of their own each
// and by the nodes of an expression.
#pragma once

#include <cstdint>

#include "cpu/kernel.hpp"
#include "cpu/operations.hpp"
#include "cuda/kernels/arguments.hpp"

namespace tenure::cuda {

constexpr bool is_float(ElementType type) noexcept { return type <= ElementType::kBF16; }
constexpr bool is_signed(ElementType type) noexcept {
  return type >= ElementType::kI8 && type <= ElementType::kI64;
}

// Unary operations on floats: by their bits, as questions that a truth value answers, by arithmetic,
// and by functions, of which those of an angle reduce it first.
enum class UnaryFamily : std::uint8_t { kWords, kQuestion, kNumber, kAngle, kFunction };

constexpr UnaryFamily unary_family_of(kernels::Unary op) noexcept {
  using kernels::Unary;
  switch (op) {
    case Unary::kNeg:
    case Unary::kAbs:
    case Unary::kRelu:
    case Unary::kNanToNum: return UnaryFamily::kWords;
    case Unary::kIsNan:
    case Unary::kIsInf:
    case Unary::kIsFinite: return UnaryFamily::kQuestion;
    case Unary::kSqrt:
    case Unary::kSquare:
    case Unary::kReciprocal:
    case Unary::kFloor:
    case Unary::kCeil:
    case Unary::kRound:
    case Unary::kTrunc:
    case Unary::kSign:
    case Unary::kHardswish:
    case Unary::kLeakyRelu: return UnaryFamily::kNumber;
    case Unary::kSin:
    case Unary::kCos:
    case Unary::kTan: return UnaryFamily::kAngle;
    default: return UnaryFamily::kFunction;
  }
}

// The integers on its right that the operation does not take.
constexpr kernels::Finding finding_of(kernels::Binary op, ElementType type) noexcept {
  if (is_float(type)) return kernels::kNothing;
  if (op == kernels::Binary::kDiv || op == kernels::Binary::kRem) return kernels::kZeroDivisor;
  if (op == kernels::Binary::kPow && is_signed(type)) return kernels::kNegativePower;
  return kernels::kNothing;
}

}  // namespace tenure::cuda
