// Reductions over any axes.
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "cpu/dispatch.hpp"
#include "dense/movement.hpp"
#include "dense/reduce/walk.hpp"
#include "tenure/blob.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Reduction;

const kernels::OperationRow& row_of(tnr_reduce_op op) { return kernels::kReduceRows[op - 1]; }
bool gives_place(tnr_reduce_op op) {
  return op == TNR_REDUCE_OP_ARGMIN || op == TNR_REDUCE_OP_ARGMAX;
}

void check_axes(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes) {
  if (axes >> a.rank != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axes is 0x%" PRIx32 " but a.rank is %" PRIu32, axes, a.rank);
  }
  const auto reduced = static_cast<std::uint32_t>(std::popcount(axes));
  if (gives_place(op) && reduced != 1 && reduced != a.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "axes names %" PRIu32 " of %" PRIu32 " axes but argmin and argmax take one or all",
         reduced, a.rank);
  }
}

void check_ddof(tnr_reduce_op op, std::uint32_t ddof) {
  if (ddof != 0 && row_of(op).attribute != kernels::Attribute::kDdof) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->ddof is %" PRIu32 " but must be 0 for %s", ddof,
         row_of(op).name);
  }
}

void check_power(tnr_reduce_op op, double power) {
  const bool takes_power = row_of(op).attribute == kernels::Attribute::kPower;
  if (takes_power && !(power > 0)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->power is %g but %s needs one above 0, or infinity", power, row_of(op).name);
  }
  if (!takes_power && power != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->power is %g but must be 0 for %s", power,
         row_of(op).name);
  }
}

kernels::Norm norm_of(double power) {
  if (power == 1) return kernels::Norm::kOne;
  if (power == 2) return kernels::Norm::kTwo;
  return std::isinf(power) ? kernels::Norm::kInfinity : kernels::Norm::kOther;
}

Reduction reduction_of(tnr_reduce_op op, unsigned type, double power) {
  if (op == TNR_REDUCE_OP_NORM) {
    return kernels::norm_kernels()[static_cast<unsigned>(norm_of(power))].by_type[type];
  }
  const bool is_float = type <= static_cast<unsigned>(kernels::Type::kBF16);
  if (op == TNR_REDUCE_OP_LOGSUMEXP && is_float) return logsumexp_reduction(type);
  return kernels::reduce_kernels()[op - 1].by_type[type];
}

// out has the axes that are not reduced, or all with the reduced ones of extent 1.
void check_result_shape(const tnr_view& a, std::uint32_t axes, const tnr_view& out) {
  const std::uint32_t kept = a.rank - static_cast<std::uint32_t>(std::popcount(axes));
  if (out.rank != kept && out.rank != a.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "out.rank is %" PRIu32 " but must be %" PRIu32 ", or %" PRIu32
         " with the reduced axes of extent 1",
         out.rank, kept, a.rank);
  }
  std::uint32_t out_axis = 0;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    if (is_reduced(axes, axis) && out.rank == kept) continue;
    const std::int64_t expected = is_reduced(axes, axis) ? 1 : a.shape[axis];
    if (out.shape[out_axis] != expected) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "out.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64, out_axis,
           out.shape[out_axis], expected);
    }
    ++out_axis;
  }
}

// Whether the elements fill the memory that they span, in whatever order.
bool is_flat(const tnr_view& a) noexcept {
  std::int64_t count = 1;
  std::int64_t span = 1;
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    count *= a.shape[axis];
    span += (a.shape[axis] - 1) * std::abs(stride_of(a, axis));
  }
  return count == span;
}

// Whether real and imaginary parts are added up by themselves.
bool has_parts(tnr_reduce_op op, tnr_dtype dtype) {
  return is_complex(dtype) && (op == TNR_REDUCE_OP_SUM || op == TNR_REDUCE_OP_MEAN);
}

// The parts as elements: those of number k lie at `first` + 2 k.
tnr_view parts_of(const tnr_view& a, std::size_t first) {
  tnr_view parts = a;
  parts.dtype = result_dtype(kernels::Gives::kPart, a.dtype);
  if (a.data != nullptr) {
    parts.data = static_cast<const char*>(a.data) + first * element_size(parts.dtype);
  }
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    parts.strides[axis] = 2 * stride_of(a, axis);
  }
  return parts;
}

// Returns the parts of `a` with the two parts as a last axis, so that memory is read once for both.
tnr_view axis_of_parts(const tnr_view& a) {
  tnr_view parts = parts_of(a, 0);
  parts.shape[parts.rank] = 2;
  parts.strides[parts.rank] = 1;
  ++parts.rank;
  return parts;
}

void reduce_parts(const Context& context, const Reduction& reduction, const tnr_view& a,
                  std::uint32_t axes, const tnr_view_mut& out) {
  if (a.rank < TNR_MAX_RANK && out.view.rank < TNR_MAX_RANK) {
    // The reduced axes of extent 1 stand before that of the parts.
    const tnr_view_mut parts = {axis_of_parts(out.view)};
    return walk_reduction(context, reduction, axis_of_parts(a), axes, 0, parts);
  }
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
    const tnr_view_mut part = {parts_of(out.view, first)};
    walk_reduction(context, reduction, parts_of(a, first), axes, 0, part);
  }
}

// Reduces a tensor that is not flat to the smallest or largest of all its elements. Reduces each
// column of short rows first, so that a row is a few registers that meet others, and no result of
// its own. Returns false where that is not worth it.
bool reduce_by_columns(const Context& context, const Reduction& reduction, const tnr_view& a,
                       const tnr_view_mut& out) {
  // Longer rows do not notice what each costs; shorter ones fill no registers.
  constexpr std::int64_t kMostBytes = 4096;
  constexpr std::int64_t kFewestBytes = 64;
  constexpr std::int64_t kFewestRows = 16;
  const auto width = static_cast<std::int64_t>(element_size(a.dtype));
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    const std::int64_t bytes = a.shape[axis] <= kMostBytes ? a.shape[axis] * width : 0;
    if (a.strides[axis] != 1 || bytes < kFewestBytes || bytes > kMostBytes) continue;
    const std::uint32_t others = ((1u << a.rank) - 1) & ~(1u << axis);
    if (reduced_count(a, others) < kFewestRows) return false;
    alignas(64) unsigned char columns[kMostBytes];
    const tnr_view_mut of_columns = {make_view(columns, static_cast<std::size_t>(bytes), 0, a.dtype,
                                               1, &a.shape[axis], nullptr)};
    walk_reduction(context, reduction, a, others, 0, of_columns);
    walk_reduction(context, reduction, of_columns.view, 1, 0, out);
    return true;
  }
  return false;
}

}  // namespace

Reduction checked_reduction(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
                            std::uint32_t ddof, double power, const tnr_view& out) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kReduceCount) refuse_code("reduce", op);
  const kernels::OperationRow& operation = row_of(op);
  check_axes(op, a, axes);
  check_ddof(op, ddof);
  check_power(op, power);
  check_result_shape(a, axes, out);
  const unsigned type =
      type_index(has_parts(op, a.dtype) ? result_dtype(kernels::Gives::kPart, a.dtype) : a.dtype);
  if (type == kNoType) refuse_dtype(operation.name, a.dtype);
  const Reduction reduction = reduction_of(op, type, power);
  if (reduction.accumulator_bytes == 0) refuse_dtype(operation.name, a.dtype);
  require_dtype(out, "out", result_dtype(operation.gives, a.dtype), "must be");
  return reduction;
}

bool needs_an_element(tnr_reduce_op op) { return row_of(op).needs_element; }

void require_elements(tnr_reduce_op op, const tnr_view& a, std::uint32_t axes) {
  if (!needs_an_element(op) || reduced_count(a, axes) != 0) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "a.shape is %s, so that %s has no elements but needs one",
       shape_text(a.rank, a.shape).text, row_of(op).name);
}

void reduce(const Context& context, tnr_reduce_op op, const tnr_view& a, std::uint32_t axes,
            std::uint32_t ddof, const tnr_view_mut& out, double power) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceReduce{op, a, axes, ddof, out, power});
  Pins pins;
  check_view_mut(out, "out");
  check_view(a, "a");
  const Reduction reduction = checked_reduction(op, a, axes, ddof, power, out.view);
  pins.add_mut(out, "out");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_REDUCE, 0, 0);
  require_elements(op, a, axes);
  const bool is_extreme = op == TNR_REDUCE_OP_MIN || op == TNR_REDUCE_OP_MAX;
  const bool is_of_all = axes == (1u << a.rank) - 1;
  if (has_parts(op, a.dtype)) {
    reduce_parts(context, reduction, a, axes, out);
  } else if (!is_extreme || !is_of_all || is_flat(a) ||
             !reduce_by_columns(context, reduction, a, out)) {
    walk_reduction(context, reduction, a, axes, ddof, out, power);
  }
  count_call(TNR_OPERATION_REDUCE, element_bytes(a), element_bytes(out.view));
}

void moments(const Context& context, const tnr_view& a, std::uint32_t axes, std::uint32_t ddof,
             const tnr_view_mut& mean, const tnr_view_mut& out) {
  constexpr tnr_reduce_op kOp = TNR_REDUCE_OP_VAR;
  Pins pins;
  check_view_mut(out, "out");
  check_view_mut(mean, "mean");
  check_view(a, "a");
  check_axes(kOp, a, axes);
  check_result_shape(a, axes, out.view);
  require_rank(mean.view, "mean", out.view.rank);
  for (std::uint32_t axis = 0; axis < out.view.rank; ++axis) {
    if (mean.view.shape[axis] != out.view.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "mean.shape[%" PRIu32 "] is %" PRId64 " but out.shape[%" PRIu32 "] is %" PRId64, axis,
           mean.view.shape[axis], axis, out.view.shape[axis]);
    }
  }
  const unsigned type = type_index(a.dtype);
  if (type > static_cast<unsigned>(kernels::Type::kBF16)) refuse_dtype("moments", a.dtype);
  const auto& reductions = kernels::reduce_kernels();
  const Reduction& mean_reduction = reductions[TNR_REDUCE_OP_MEAN - 1].by_type[type];
  const Reduction& var_reduction = reductions[TNR_REDUCE_OP_VAR - 1].by_type[type];
  require_dtype(out.view, "out", a.dtype, "a.dtype is");
  require_dtype(mean.view, "mean", a.dtype, "a.dtype is");
  pins.add_mut(out, "out");
  pins.add_mut(mean, "mean");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  require_alias(mean.view, a, "a", SameView::kRefused);
  require_alias(out.view, mean.view, "mean", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_MOMENTS, 0, 0);
  walk_moments(context, mean_reduction, var_reduction, a, axes, ddof, mean, out);
  count_call(TNR_OPERATION_MOMENTS, element_bytes(a),
             element_bytes(mean.view) + element_bytes(out.view));
}

}  // namespace tenure
