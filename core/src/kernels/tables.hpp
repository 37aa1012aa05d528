// The tables that the kernel files define, one family each; set.cpp joins them.
#pragma once

#include "kernels/kernel.hpp"

namespace tenure::kernels {
inline namespace TENURE_ISA {

extern const StripKernel kCopy[kWidthCount];
extern const StripKernel kSelect[kWidthCount + 1];
extern const StripKernel kCast[kTypeCount][kTypeCount];
extern const StripKernel kCastComplex[2];
extern const StripKernel kUnary[kUnaryCount][kTypeCount];
extern const StripKernel kBinary[kBinaryCount][kTypeCount];
extern const StripKernel kCompare[kCompareCount][kTypeCount];
extern const Reduction kReduce[kReduceCount][kTypeCount];

}  // namespace TENURE_ISA
}  // namespace tenure::kernels
