// Operations that move elements: copy, cast, fill, select.
#include "dense/movement.hpp"

#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/loops/permutation.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/traffic.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/dtype.hpp"
#include "tenure/ops.hpp"

namespace tenure {
namespace {

using kernels::select_kernels;

// Copies, and returns true, unless the strips of run() are the better way.
bool moves_as_blocks(const Context& context, const ElementwiseCall& operands) noexcept {
  const std::int64_t bytes = operands.moved_bytes();
  if (operands.is_flat() || bytes < kWorthPlanningBytes) return false;
  operands.touch_output(context);
  return permute(context, operands.movement(), stores_for(operands.call_bytes()));
}

// A copy between equal dtypes. `strips`, which the caller found since that may fail, are the plain
// way, which every other one is tested against.
void move(const Context& context, const ElementwiseCall& operands, tnr_dtype dtype,
          const Operation& strips) noexcept {
  if (dtype == TNR_DTYPE_BOOL8 || !moves_as_blocks(context, operands))
    operands.run(context, strips);
}
void move(const Context& context, const ElementwiseCall& operands, tnr_dtype dtype,
          const Operation& strips, tnr_operation operation) noexcept {
  if (dtype != TNR_DTYPE_BOOL8 && operands.is_in_place(0)) return count_call(operation, 0, 0);
  move(context, operands, dtype, strips);
  operands.count(operation);
}

// A part of a call's output, whose owner is pinned by the call and which no input meets.
tnr_view_mut part_output(const tnr_view& part) noexcept {
  tnr_view_mut out = {part};
  out.view.owner = 0;
  out.view.flags = TNR_VIEW_EXCLUSIVE;
  return out;
}

// The real or the imaginary part of a complex view that has elements.
tnr_view part_of(const tnr_view& complex, std::int64_t part) {
  tnr_view view = complex;
  view.dtype = complex.dtype == TNR_DTYPE_C64 ? TNR_DTYPE_F32 : TNR_DTYPE_F64;
  view.data = static_cast<const kernels::Byte*>(complex.data) +
              part * static_cast<std::int64_t>(element_size(view.dtype));
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    view.strides[axis] = 2 * stride_of(view, axis);
  }
  return view;
}

// `operands` has checked both. The real part is converted as a real number is, so with one
// rounding.
void cast_to_complex(const Context& context, const ElementwiseCall& operands, const tnr_view& a,
                     const tnr_view& out) {
  const tnr_view real = part_of(out, 0);
  const tnr_view imaginary = part_of(out, 1);
  const Operation convert =
      a.dtype == real.dtype ? copy_operation(a.dtype) : cast_operation(a.dtype, real.dtype);
  if (!is_empty(out)) {
    const tnr_view_mut reals = {real};
    ElementwiseCall converted(reals);
    converted.add(a, "a");
    converted.run(context, convert);
    const tnr_view_mut imaginaries = {imaginary};
    const Element zero{};
    ElementwiseCall filled(imaginaries);
    filled.add(zero, imaginary.dtype);
    filled.run(context, copy_operation(imaginary.dtype));
  }
  operands.count(TNR_OPERATION_CAST);
}

}  // namespace

// A copy of bool8 is a cast to itself: the library writes 0 or 1 whatever it read.
Operation copy_operation(tnr_dtype dtype) {
  if (dtype == TNR_DTYPE_BOOL8) {
    const unsigned type = type_index(dtype);
    return Operation(kernels::cast_kernels()[type][type]);
  }
  return Operation(kernels::copy_kernels()[width_index(dtype)]);
}

Operation select_operation(tnr_dtype dtype) {
  const unsigned row = dtype == TNR_DTYPE_BOOL8 ? kernels::kWidthCount : width_index(dtype);
  return Operation(select_kernels()[row]);
}

Operation cast_operation(tnr_dtype from, tnr_dtype to) {
  if (is_complex(from) && is_complex(to)) {
    return from == to ? copy_operation(from)
                      : Operation(kernels::complex_cast_kernels()[from == TNR_DTYPE_C64 ? 0 : 1]);
  }
  const unsigned row = type_index(from);
  const unsigned column = type_index(to);
  if (row == kNoType || column == kNoType) {
    fail(TNR_STATUS_UNSUPPORTED, "cast does not take %s to %s", dtype_name(from), dtype_name(to));
  }
  return Operation(kernels::cast_kernels()[row][column]);
}

void require_axis(std::uint32_t axis, const tnr_view& view, const char* name) {
  if (axis < view.rank) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "axis is %" PRIu32 " but %s.rank is %" PRIu32, axis, name,
       view.rank);
}

void clear_wide(kernels::Byte* out, std::int64_t count, std::int64_t step,
                std::int64_t width_bytes) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memset(out + i * step, 0, static_cast<std::size_t>(width_bytes));
  }
}

void PartCopier::touch_output(const Context& context) const noexcept {
  const tnr_view_mut out = {out_};
  const std::int64_t count = dense_count(out_);
  touch_fresh_pages(context, writable(out),
                    count * static_cast<std::int64_t>(element_size(out_.dtype)));
}

void PartCopier::copy(const tnr_view& from, const tnr_view& to) const noexcept {
  const tnr_view_mut out = part_output(to);
  tnr_view in = from;
  in.owner = 0;
  ElementwiseCall operands(out);
  operands.add(in, "a");
  operands.set_call_bytes(call_bytes_);
  move(kDefaultContext, operands, in.dtype, operation_);
}

void PartCopier::fill(const Element& element, const tnr_view& to) const noexcept {
  const tnr_view_mut out = part_output(to);
  const auto width_bytes = static_cast<std::int64_t>(element_size(to.dtype));
  if (width_bytes > static_cast<std::int64_t>(sizeof element)) [[unlikely]] {
    Nest nest(1);
    for (std::uint32_t axis = 0; axis < to.rank; ++axis) {
      const std::int64_t step = step_of(to, axis);
      nest.add(to.shape[axis], &step);
    }
    nest.arrange(0);
    return nest.for_each_strip([&](const std::int64_t* offsets) noexcept {
      clear_wide(writable(out) + offsets[0], nest.inner_extent(), nest.inner_step(0), width_bytes);
    });
  }
  ElementwiseCall operands(out);
  operands.add(element, to.dtype);
  operands.run(kDefaultContext, operation_);
}

namespace {

// One of the views is on a device. Between two devices the context may have either.
const DeviceQueue& queue_of_copy(const Context& context, const tnr_view& a, const tnr_view& out) {
  const DeviceQueue* const queue = context.queue();
  const bool is_of_a = is_on_device(a) && queue != nullptr && queue->device() == a.device;
  return is_of_a || !is_on_device(out) ? queue_of(context, a, "a") : queue_of(context, out, "out");
}

}  // namespace

void copy_async(const Context& context, const tnr_view& a, const tnr_view_mut& out) {
  if (is_on_device(a) == is_on_device(out.view)) return copy(context, a, out);
  queue_of_copy(context, a, out.view).enqueue(DeviceCopy{context, a, out, true});
}

void copy(const Context& context, const tnr_view& a, const tnr_view_mut& out) {
  if (is_on_device(out.view) || is_on_device(a)) [[unlikely]]
    return queue_of_copy(context, a, out.view).enqueue(DeviceCopy{context, a, out, false});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  move(context, operands, a.dtype, copy_operation(a.dtype), TNR_OPERATION_COPY);
}

void cast(const Context& context, const tnr_view& a, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceCast{a, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  if (is_complex(out.view.dtype) && type_index(a.dtype) != kNoType) {
    return cast_to_complex(context, operands, a, out.view);
  }
  const Operation operation = cast_operation(a.dtype, out.view.dtype);
  if (a.dtype == out.view.dtype) {
    return move(context, operands, a.dtype, copy_operation(a.dtype), TNR_OPERATION_CAST);
  }
  operands.run(context, operation);
  operands.count(TNR_OPERATION_CAST);
}

void fill(const Context& context, const tnr_scalar& value, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceFill{value, out});
  ElementwiseCall operands(out);
  const Element element = to_element(value, out.view.dtype, "value");
  operands.add(element, out.view.dtype);
  operands.run(context, copy_operation(out.view.dtype));
  operands.count(TNR_OPERATION_FILL);
}

void select(const Context& context, const tnr_view& condition, const tnr_view& a, const tnr_view& b,
            const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DeviceSelect{condition, a, b, out});
  ElementwiseCall operands(out);
  operands.add(condition, "condition");
  operands.add(a, "a");
  operands.add(b, "b");
  require_dtype(condition, "condition", TNR_DTYPE_BOOL8, "must be");
  require_dtype(a, "a", out.view.dtype, "out.dtype is");
  require_dtype(b, "b", out.view.dtype, "out.dtype is");
  operands.run(context, select_operation(out.view.dtype));
  operands.count(TNR_OPERATION_SELECT);
}

}  // namespace tenure
