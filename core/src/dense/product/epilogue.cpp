#include "dense/product/epilogue.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/movement.hpp"
#include "tenure/shape.hpp"

namespace tenure {
namespace {

template <class T>
Element element_of(T number) noexcept {
  Element element = {};
  std::memcpy(element.bytes, &number, sizeof number);
  return element;
}

// Bounds that change no sum.
struct NoBounds {
  Element low;
  Element high;
};
template <class T>
NoBounds unbounded_float() noexcept {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  return {element_of(-kInfinity), element_of(kInfinity)};
}
NoBounds unbounded(tnr_dtype computed) noexcept {
  switch (computed) {
    case TNR_DTYPE_I32:
      return {element_of(std::numeric_limits<std::int32_t>::min()),
              element_of(std::numeric_limits<std::int32_t>::max())};
    case TNR_DTYPE_F64:
    case TNR_DTYPE_C128: return unbounded_float<double>();
    default: return unbounded_float<float>();
  }
}

// The kernel of an activation of sums of `computed`. Throws INVALID_ARGUMENT and UNSUPPORTED.
kernels::StripKernel activation_kernel(tnr_unary_op op, tnr_dtype computed) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kUnaryCount) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->activation is %" PRId32 ", which names no unary operation", op);
  }
  const char* const name = kernels::kUnaryRows[row].name;
  if (kernels::kUnaryRows[row].gives == kernels::Gives::kTruth) {
    fail(TNR_STATUS_UNSUPPORTED, "attributes->activation is %s, which gives bool8", name);
  }
  if (is_complex(computed)) {
    fail(TNR_STATUS_UNSUPPORTED, "attributes->activation is %s, but sums of %s take none", name,
         dtype_name(computed));
  }
  const kernels::StripKernel found = kernels::unary_kernels()[row][type_index(computed)].kernel;
  if (found == nullptr) {
    fail(TNR_STATUS_UNSUPPORTED, "attributes->activation is %s, which does not take sums of %s",
         name, dtype_name(computed));
  }
  return found;
}

// Infinity bounds no integer either.
Element bound_of(double number, tnr_dtype dtype, const Element& none, const char* name) {
  if (std::isinf(number) && dtype == TNR_DTYPE_I32) return none;
  tnr_scalar scalar = {.dtype = TNR_DTYPE_F64, .reserved = 0, .bytes = {}};
  std::memcpy(scalar.bytes, &number, sizeof number);
  return to_element(scalar, dtype, name);
}

}  // namespace

BoundedActivation::BoundedActivation(const Activation& activation, tnr_dtype dtype,
                                     tnr_dtype computed)
    : op_(activation.op) {
  if (op_ != 0) {
    const kernels::StripKernel found = activation_kernel(op_, computed);
    if (op_ != TNR_UNARY_OP_RELU) kernel_ = found;
  }
  const bool has_bounds = activation.flags != 0 || activation.low != 0 || activation.high != 0;
  if (op_ != 0 || has_bounds) set_bounds(activation, dtype, computed);
}

void BoundedActivation::require_bounds_alone(const char* operation,
                                             const tnr_device& device) const {
  if (kernel_ == nullptr) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "attributes->activation is %s, which %s applies only on the CPU, not on %s",
       kernels::kUnaryRows[op_ - 1].name, operation, DeviceName(device).text);
}

void BoundedActivation::set_bounds(const Activation& activation, tnr_dtype dtype,
                                   tnr_dtype computed) {
  const NoBounds none = unbounded(computed);
  low_ = none.low;
  high_ = none.high;
  double low = activation.low;
  if (activation.flags == TNR_EPILOGUE_CLAMP) {
    if (is_complex(computed)) refuse_dtype("TNR_EPILOGUE_CLAMP", dtype);
    // A NaN is neither below nor above: it is refused too.
    if (!(activation.low <= activation.high)) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->low is %g and attributes->high is %g, but low must not exceed high",
           activation.low, activation.high);
    }
    low_ = bound_of(activation.low, computed, none.low, "attributes->low");
    high_ = bound_of(activation.high, computed, none.high, "attributes->high");
    is_bounded_ = true;
  } else if (activation.flags != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->flags is 0x%" PRIx32 " but only 0x%x is known",
         activation.flags, TNR_EPILOGUE_CLAMP);
  } else {
    if (activation.low != 0 || activation.high != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->low is %g and attributes->high is %g, but must be 0 without "
           "TNR_EPILOGUE_CLAMP",
           activation.low, activation.high);
    }
    low = -std::numeric_limits<double>::infinity();
  }
  if (op_ == TNR_UNARY_OP_RELU) {
    if (low < 0) low_ = {};
    is_bounded_ = true;
  }
}

Epilogue::Epilogue(const Activation& activation, const tnr_view* bias, tnr_dtype dtype,
                   tnr_dtype computed)
    : computed_(computed),
      width_bytes_(static_cast<std::int64_t>(element_size(computed))),
      activation_(activation, dtype, computed) {
  // A bias of no columns may have no memory, and kernels read the element that a step of 0 repeats.
  if (bias == nullptr || bias->shape[0] == 0) return;
  bias_.emplace(bias->shape[0], width_bytes_);
  const kernels::StripInput source = {static_cast<const kernels::Byte*>(bias->data),
                                      step_of(*bias, 0),
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
  // Bounds are behind another activation, and relu is one of them.
  const bool is_bounded_at_once = activation_.is_bounded() && activation_.kernel() == nullptr;
  const NoBounds none = unbounded(computed_);
  part.low = (is_bounded_at_once ? activation_.low() : none.low).bytes;
  part.high = (is_bounded_at_once ? activation_.high() : none.high).bytes;
  if (bias_) part.bias = bias_->data() + column * width_bytes_ + part_bytes;
  if (bias_ || is_bounded_at_once) gemm.run_epilogue(part);
  if (activation_.kernel() == nullptr) return;
  const bool is_by_column = part.row_step == width_bytes_;
  const std::int64_t lines = is_by_column ? part.columns : part.rows;
  const std::int64_t line_step = is_by_column ? part.column_step : part.row_step;
  const std::int64_t step = is_by_column ? part.row_step : part.column_step;
  for (std::int64_t line = 0; line < lines; ++line) {
    kernels::Byte* const data = part.out + line * line_step;
    const kernels::StripInput in = {data, step, width_bytes_};
    run_plainly(activation_.kernel(), {.count = is_by_column ? part.rows : part.columns,
                                       .out = data,
                                       .out_step = step,
                                       .width_bytes = width_bytes_,
                                       .source_count = 1,
                                       .in = &in,
                                       .parameters = nullptr});
  }
  if (!activation_.is_bounded()) return;
  part.bias = nullptr;
  part.low = activation_.low().bytes;
  part.high = activation_.high().bytes;
  gemm.run_epilogue(part);
}

void Epilogue::run_behind(const Context& context, const tnr_view_mut& out) const {
  const tnr_dtype dtype = out.view.dtype;
  const unsigned type = type_index(dtype);
  if (activation_.kernel() != nullptr) {
    ElementwiseCall operands(out);
    operands.add(out.view, "out");
    const auto row = static_cast<std::uint32_t>(activation_.op()) - 1;
    operands.run(context, Operation(kernels::unary_kernels()[row][type]));
  }
  if (!activation_.is_bounded()) return;
  const auto bound = [&](tnr_binary_op op, Element by) {
    if (dtype != computed_) {
      const Element wide = by;
      const kernels::StripInput in[] = {{wide.bytes, width_bytes_, width_bytes_}};
      run_strip(cast_operation(computed_, dtype),
                dense_strip(1, by.bytes, static_cast<std::int64_t>(element_size(dtype)), in));
    }
    ElementwiseCall operands(out);
    operands.add(out.view, "out");
    operands.add(by, dtype);
    operands.run(context, Operation(kernels::binary_kernels()[op - 1][type]));
  };
  bound(TNR_BINARY_OP_MAX, activation_.low());
  bound(TNR_BINARY_OP_MIN, activation_.high());
}

}  // namespace tenure
