#include "dense/product/epilogue.hpp"

#include "cpu/dispatch.hpp"
#include "dense/movement.hpp"
#include "dense/operands.hpp"
#include "tenure/shape.hpp"

namespace tenure {

Epilogue::Epilogue(tnr_unary_op activation, const tnr_view* bias, tnr_dtype dtype,
                   tnr_dtype computed)
    : width_bytes_(static_cast<std::int64_t>(element_size(computed))) {
  if (activation != 0) {
    const auto row = static_cast<std::uint32_t>(activation) - 1;
    if (row >= kernels::kUnaryCount) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->activation is %" PRId32 ", which names no unary operation", activation);
    }
    const unsigned type = type_index(computed);
    const kernels::StripKernel kernel =
        type == kNoType ? nullptr : kernels::unary_kernels()[row][type].kernel;
    if (kernel == nullptr) refuse_dtype("attributes->activation", dtype);
    has_relu_ = activation == TNR_UNARY_OP_RELU;
    if (!has_relu_) kernel_ = kernel;
  }
  if (bias == nullptr) return;
  bias_.emplace(bias->shape[0], width_bytes_);
  const kernels::Source source = {static_cast<const kernels::Byte*>(bias->data), step_of(*bias, 0),
                                  static_cast<std::int64_t>(element_size(dtype))};
  run_strip(dtype == computed ? copy_operation(dtype) : cast_operation(dtype, computed),
            {.count = bias->shape[0],
             .out = bias_->data(),
             .out_step = width_bytes_,
             .width_bytes = width_bytes_,
             .source_count = 1,
             .in = &source,
             .parameters = nullptr});
}

void Epilogue::run(const kernels::Gemm& gemm, kernels::Epilogue part, std::int64_t column,
                   std::int64_t part_bytes) const noexcept {
  if (bias_ || has_relu_) {
    if (bias_) part.bias = bias_->data() + column * width_bytes_ + part_bytes;
    part.has_relu = has_relu_;
    gemm.run_epilogue(part);
  }
  if (kernel_ == nullptr) return;
  const bool is_by_column = part.row_step == width_bytes_;
  const std::int64_t lines = is_by_column ? part.columns : part.rows;
  const std::int64_t line_step = is_by_column ? part.column_step : part.row_step;
  const std::int64_t step = is_by_column ? part.row_step : part.column_step;
  for (std::int64_t line = 0; line < lines; ++line) {
    kernels::Byte* const data = part.out + line * line_step;
    const kernels::Source in = {data, step, width_bytes_};
    run_plainly(kernel_, {.count = is_by_column ? part.rows : part.columns,
                          .out = data,
                          .out_step = step,
                          .width_bytes = width_bytes_,
                          .source_count = 1,
                          .in = &in,
                          .parameters = nullptr});
  }
}

void activate(const Context& context, tnr_unary_op activation, const tnr_view_mut& out) {
  if (activation == 0) return;
  Operands operands(out);
  operands.add(out.view, "out");
  const auto row = static_cast<std::uint32_t>(activation) - 1;
  operands.run(context, Operation(kernels::unary_kernels()[row][type_index(out.view.dtype)]));
}

}  // namespace tenure
