// Operations that move elements: copy, cast, fill, select.
#include "operands.hpp"
#include "permutation.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "traffic.hpp"

namespace tenure {
namespace {

using kernels::StripKernel;
using kernels::table;

bool is_complex(tnr_dtype dtype) { return dtype == TNR_DTYPE_C64 || dtype == TNR_DTYPE_C128; }

// A copy of bool8 is a cast to itself: the library writes 0 or 1 whatever it read.
StripKernel copy_kernel(tnr_dtype dtype) {
  if (dtype == TNR_DTYPE_BOOL8) {
    const unsigned type = type_index(dtype);
    return table().cast[type][type];
  }
  return table().copy[width_index(dtype)];
}

StripKernel cast_kernel(tnr_dtype from, tnr_dtype to) {
  if (is_complex(from) && is_complex(to)) {
    return from == to ? copy_kernel(from) : table().cast_complex[from == TNR_DTYPE_C64 ? 0 : 1];
  }
  const unsigned row = type_index(from);
  const unsigned column = type_index(to);
  if (row == kNoType || column == kNoType) {
    fail(TNR_STATUS_UNSUPPORTED, "cast does not take %s to %s", dtype_name(from), dtype_name(to));
  }
  return table().cast[row][column];
}

StripKernel select_kernel(tnr_dtype dtype) {
  const unsigned row = dtype == TNR_DTYPE_BOOL8 ? kernels::kWidthCount : width_index(dtype);
  return table().select[row];
}

// Copies, and returns true, unless the strips of run() are the better way.
bool moves_as_blocks(const Context& context, const Operands& operands) noexcept {
  const std::int64_t bytes = operands.moved_bytes();
  if (operands.is_flat() || bytes < kWorthPlanningBytes) return false;
  operands.touch_output(context);
  return permute(context, operands.movement(), stores_for(bytes));
}

// A copy between equal dtypes. The strips of `kernel`, which the caller found since that may fail,
// are the plain way, which every other one is tested against.
void move(const Context& context, const Operands& operands, tnr_dtype dtype, StripKernel kernel,
          tnr_operation operation) noexcept {
  const bool is_bool = dtype == TNR_DTYPE_BOOL8;
  if (!is_bool && operands.is_in_place(0)) return count_call(operation, 0, 0);
  if (is_bool || !moves_as_blocks(context, operands)) operands.run(context, kernel);
  operands.count(operation);
}

}  // namespace

void copy(const Context& context, const tnr_view& a, const tnr_view_mut& out) {
  Operands operands(out);
  operands.add(a, "a");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  move(context, operands, a.dtype, copy_kernel(a.dtype), TNR_OPERATION_COPY);
}

void cast(const Context& context, const tnr_view& a, const tnr_view_mut& out) {
  Operands operands(out);
  operands.add(a, "a");
  const StripKernel kernel = cast_kernel(a.dtype, out.view.dtype);
  if (a.dtype == out.view.dtype) {
    return move(context, operands, a.dtype, copy_kernel(a.dtype), TNR_OPERATION_CAST);
  }
  operands.run(context, kernel);
  operands.count(TNR_OPERATION_CAST);
}

void fill(const Context& context, const tnr_scalar& value, const tnr_view_mut& out) {
  Operands operands(out);
  const Element element = to_element(value, out.view.dtype, "value");
  operands.add(element);
  operands.run(context, copy_kernel(out.view.dtype));
  operands.count(TNR_OPERATION_FILL);
}

void select(const Context& context, const tnr_view& condition, const tnr_view& a, const tnr_view& b,
            const tnr_view_mut& out) {
  Operands operands(out);
  operands.add(condition, "condition");
  operands.add(a, "a");
  operands.add(b, "b");
  require_dtype(condition, "condition", TNR_DTYPE_BOOL8, "must be");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  operands.run(context, select_kernel(out.view.dtype));
  operands.count(TNR_OPERATION_SELECT);
}

}  // namespace tenure
