// Numbers to integers by given scales, and back.
#include "tenure/quantize.hpp"

#include "cpu/dispatch.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/quantize/scales.hpp"
#include "tenure/counters.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

void run(const Context& context, const tnr_view& a, const tnr_view& scales, const tnr_view* zeros,
         const tnr_view_mut& out, tnr_dtype integers, const kernels::Elementwise& kernel,
         tnr_operation operation) {
  check_scale_views(scales, "scales", zeros, "zeros", integers);
  const ScaleGroups groups(scales, "scales", out.view);
  const tnr_view_mut to = {groups.numbers(out.view)};
  const tnr_view from = groups.numbers(a);
  const tnr_view by = groups.scales(scales);
  const tnr_view points = zeros == nullptr ? tnr_view{} : groups.scales(*zeros);
  ElementwiseCall operands(to);
  operands.add(from, "a");
  operands.add(by, "scales");
  const Element zero = {};
  zeros == nullptr ? operands.add(zero, integers) : operands.add(points, "zeros");
  check_scales(scales, "scales");
  operands.run(context, Operation(kernel));
  operands.count(operation);
}

}  // namespace

void quantize(const Context& context, const tnr_view& a, const tnr_view& scales,
              const tnr_view* zeros, const tnr_view_mut& out) {
  check_view_mut(out, "out");
  check_view(a, "a");
  require_shape(a, "a", out.view, "out");
  const auto& kernel =
      kernels::quantizing_kernels()
          .quantize[quantized_float(a.dtype, "a")][quantized_byte(out.view.dtype, "out")];
  run(context, a, scales, zeros, out, out.view.dtype, kernel, TNR_OPERATION_QUANTIZE);
}

void dequantize(const Context& context, const tnr_view& a, const tnr_view& scales,
                const tnr_view* zeros, const tnr_view_mut& out) {
  check_view_mut(out, "out");
  check_view(a, "a");
  require_shape(a, "a", out.view, "out");
  const auto& kernel =
      kernels::quantizing_kernels()
          .dequantize[quantized_byte(a.dtype, "a")][quantized_float(out.view.dtype, "out")];
  run(context, a, scales, zeros, out, a.dtype, kernel, TNR_OPERATION_DEQUANTIZE);
}

}  // namespace tenure
