// Functions of many instructions. f16 and bf16 are computed as f32 by the same code. A thread has
// four elements, or two of f64.
#include "elementwise.cuh"
#include "floats.cuh"
#include "rules/functions.cuh"

using namespace tenure::cuda;  // NOLINT: a kernel stands outside of every namespace

TENURE_KERNEL(function_f32, ElementwiseArgument) {
  map_floats<1>(argument, [&](auto& x) { compute(static_cast<UnaryFunction>(argument.op), x[0]); });
}
TENURE_KERNEL(function_f64, ElementwiseArgument) {
  map_doubles<1>(argument,
                 [&](auto& x) { compute(static_cast<UnaryFunction>(argument.op), x[0]); });
}
// Apart, since what far angles need would take registers from all.
TENURE_KERNEL(angle_f32, ElementwiseArgument) {
  map_floats<1>(argument,
                [&](auto& x) { compute_angles(static_cast<UnaryAngle>(argument.op), x[0]); });
}
TENURE_KERNEL(angle_f64, ElementwiseArgument) {
  map_doubles<1>(argument,
                 [&](auto& x) { compute_angles(static_cast<UnaryAngle>(argument.op), x[0]); });
}
TENURE_KERNEL(function2_f32, ElementwiseArgument) {
  map_floats<2>(argument,
                [&](auto& x) { compute(static_cast<BinaryFunction>(argument.op), x[0], x[1]); });
}
TENURE_KERNEL(function2_f64, ElementwiseArgument) {
  map_doubles<2>(argument,
                 [&](auto& x) { compute(static_cast<BinaryFunction>(argument.op), x[0], x[1]); });
}
