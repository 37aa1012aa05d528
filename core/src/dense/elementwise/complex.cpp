#include "dense/elementwise/complex.hpp"

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/movement.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::ComplexKernels;
using kernels::Elementwise;
using Member = Elementwise ComplexKernels::*;

Member member_of(kernels::Unary op) {
  switch (op) {
    case kernels::Unary::kNeg: return &ComplexKernels::neg;
    case kernels::Unary::kConj: return &ComplexKernels::conj;
    case kernels::Unary::kSquare: return &ComplexKernels::square;
    case kernels::Unary::kReciprocal: return &ComplexKernels::reciprocal;
    case kernels::Unary::kAbs: return &ComplexKernels::abs;
    case kernels::Unary::kArg: return &ComplexKernels::arg;
    default: return nullptr;
  }
}

Member member_of(kernels::Binary op) {
  switch (op) {
    case kernels::Binary::kAdd: return &ComplexKernels::add;
    case kernels::Binary::kSub: return &ComplexKernels::sub;
    case kernels::Binary::kMul: return &ComplexKernels::mul;
    case kernels::Binary::kDiv: return &ComplexKernels::div;
    default: return nullptr;
  }
}

Member member_of(kernels::Compare op) {
  switch (op) {
    case kernels::Compare::kEq: return &ComplexKernels::eq;
    case kernels::Compare::kNe: return &ComplexKernels::ne;
    default: return nullptr;
  }
}

Operation operation_at(Member member, const char* name, tnr_dtype dtype) {
  if (member == nullptr || !is_complex(dtype)) refuse_dtype(name, dtype);
  return Operation(kernels::complex_kernels()[dtype == TNR_DTYPE_C128 ? 1 : 0].*member);
}

}  // namespace

Operation complex_unary(tnr_unary_op op, tnr_dtype dtype) {
  return operation_at(member_of(static_cast<kernels::Unary>(op)), kernels::kUnaryRows[op - 1].name,
                      dtype);
}

Operation complex_binary(tnr_binary_op op, tnr_dtype dtype) {
  return operation_at(member_of(static_cast<kernels::Binary>(op)),
                      kernels::kBinaryRows[op - 1].name, dtype);
}

Operation complex_comparison(tnr_compare_op op, tnr_dtype dtype) {
  return operation_at(member_of(static_cast<kernels::Compare>(op)),
                      kernels::kCompareRows[op - 1].name, dtype);
}

}  // namespace tenure
