#include "dense/quantize/product_parts.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/movement.hpp"
#include "dense/quantize/scales.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

using kernels::Byte;

void Dense::put_channels_last() noexcept {
  tnr_view& view = view_.view;
  view.strides[1] = 1;
  view.strides[3] = view.shape[1];
  view.strides[2] = view.strides[3] * view.shape[3];
  view.strides[0] = view.strides[2] * view.shape[2];
}

void Dense::take(const Context& context, const tnr_view& from) const {
  if (is_empty(view())) return;
  ElementwiseCall call(view_);
  call.add(from, "");
  call.run(context, from.dtype == view().dtype ? copy_operation(from.dtype)
                                               : cast_operation(from.dtype, view().dtype));
}

std::optional<tnr_view> as_matrix(const tnr_view& view, std::int64_t rows) noexcept {
  tnr_view matrix = view;
  matrix.rank = 2;
  matrix.shape[0] = rows;
  matrix.shape[1] = view.shape[view.rank - 1];
  matrix.strides[0] = 0;
  matrix.strides[1] = view.strides[view.rank - 1];
  std::int64_t count = 1;
  for (std::uint32_t axis = view.rank - 1; axis-- > 0;) {
    if (view.shape[axis] == 1) continue;
    if (count == 1) matrix.strides[0] = view.strides[axis];
    if (view.strides[axis] != count * matrix.strides[0]) return std::nullopt;
    count *= view.shape[axis];
  }
  return matrix;
}

std::int64_t product_rows(const tnr_view& a, const tnr_view& b, const tnr_view& out) {
  if (a.rank == 0) fail(TNR_STATUS_INVALID_ARGUMENT, "a.rank is 0 but must be 1 at least");
  require_rank(b, "b", 2);
  require_rank(out, "out", a.rank);
  std::int64_t rows = 1;
  bool fits = a.shape[a.rank - 1] == b.shape[0] && out.shape[out.rank - 1] == b.shape[1];
  for (std::uint32_t axis = 0; axis + 1 < a.rank; ++axis) {
    fits &= a.shape[axis] == out.shape[axis];
    if (!is_empty(out)) rows *= out.shape[axis];
  }
  if (!fits) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a has shape %s, b %s and out %s, but they must be [..., m, k], [k, n] and [..., m, n]",
         shape_text(a.rank, a.shape).text, shape_text(b.rank, b.shape).text,
         shape_text(out.rank, out.shape).text);
  }
  return rows;
}

tnr_view adjacent_rows(const Context& context, const tnr_view& a, std::int64_t rows,
                       std::optional<Dense>& copy) {
  const std::optional<tnr_view> matrix = as_matrix(a, rows);
  if (matrix && step_of(*matrix, 1) == static_cast<std::int64_t>(element_size(a.dtype))) {
    return *matrix;
  }
  copy.emplace(a.dtype, a.rank, a.shape).take(context, a);
  return *as_matrix(copy->view(), rows);
}

void quantize_groups(const Context& context, const tnr_view& rows, std::int64_t group, Byte* values,
                     float* scales, std::int32_t* terms) {
  const std::int64_t depth = rows.shape[1];
  const std::int64_t groups = depth / group;
  const std::int64_t count = rows.shape[0];
  const auto width = static_cast<std::int64_t>(element_size(rows.dtype));
  const auto* const from = static_cast<const Byte*>(rows.data);
  const std::int64_t step = step_of(rows, 0);
  const auto quantize = kernels::quantizing_kernels().rows[quantized_float(rows.dtype, "a")].groups;
  const std::int64_t slices = std::min(count, slice_count_of(context, count * depth * (width + 1)));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(count, slices, slice + 1);
    for (std::int64_t i = slice_begin(count, slices, slice); i < end; ++i) {
      quantize(from + i * step, depth, group, scales + i * groups, terms + i * groups,
               values + i * depth);
    }
  });
}

void copy_view(const Context& context, const tnr_view& from, const tnr_view_mut& out) {
  ElementwiseCall copy(out);
  copy.add(from, "");
  copy.run(context, copy_operation(from.dtype));
}

void check_one(const tnr_view& view, const char* name) {
  if (element_count(view) == 1 && !is_empty(view)) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s has shape %s but must have one element", name,
       shape_text(view.rank, view.shape).text);
}

void check_broadcast(const tnr_view& scales, const char* name, std::uint32_t rank,
                     const std::int64_t* shape) {
  bool fits = scales.rank <= rank;
  for (std::uint32_t axis = 0; fits && axis < scales.rank; ++axis) {
    const std::int64_t extent = scales.shape[axis];
    fits = extent == 1 || extent == shape[rank - scales.rank + axis];
  }
  if (fits) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s has shape %s but must broadcast to %s", name,
       shape_text(scales.rank, scales.shape).text, shape_text(rank, shape).text);
}

void ResultViews::check(const tnr_view& out, std::int64_t columns, const char* columns_of) const {
  if (is_byte(out.dtype) != (scale != nullptr)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.dtype is %s but attributes->out_scale is %s",
         dtype_name(out.dtype), is_byte(out.dtype) ? "NULL" : "given");
  }
  if (scale != nullptr) {
    check_scale_views(*scale, "attributes->out_scale", zero, "attributes->out_zero", out.dtype);
    check_one(*scale, "attributes->out_scale");
  } else {
    (void)quantized_float(out.dtype, "out");
    if (zero != nullptr) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->out_zero is given but attributes->out_scale is NULL");
    }
  }
  if (bias == nullptr) return;
  check_view(*bias, "attributes->bias");
  require_dtype(*bias, "attributes->bias", TNR_DTYPE_F32, "numbers are added in");
  if (bias->rank != 1 || bias->shape[0] != columns) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->bias has shape %s but must have one extent of %" PRId64 ", as %s",
         shape_text(bias->rank, bias->shape).text, columns, columns_of);
  }
}

OperandPins::OperandPins(Pins& pins, const tnr_view_mut& out) : pins_(pins), out_(out.view) {
  pins.add_mut(out, "out");
}

void OperandPins::operator()(const tnr_view* view, const char* name) const {
  if (view == nullptr) return;
  pins_.add(*view, name);
  require_alias(out_, *view, name, SameView::kRefused);
}

void OperandPins::operator()(const ResultViews& views) const {
  (*this)(views.bias, "attributes->bias");
  (*this)(views.scale, "attributes->out_scale");
  (*this)(views.zero, "attributes->out_zero");
}

QuantizedStore::QuantizedStore(const ResultViews& views, const tnr_view& out) {
  if (views.scale != nullptr) {
    float scale;
    std::memcpy(&scale, views.scale->data, sizeof scale);
    integers_.emplace(
        quantized_byte(out.dtype, "out"), scale,
        views.zero == nullptr ? Byte{0} : *static_cast<const Byte*>(views.zero->data));
  } else if (out.dtype != TNR_DTYPE_F32) {
    narrow_.emplace(out.dtype);
  }
}

QuantizedStore::Integers::Integers(unsigned integer, float scale, Byte zero) noexcept
    : operation_(kernels::quantizing_kernels().quantize[0][integer]), scale_(scale), zero_(zero) {}

void QuantizedStore::Integers::store(const Rows& rows) const noexcept {
  for (std::int64_t i = 0; i < rows.rows; ++i) {
    const kernels::StripInput in[] = {
        {rows.sums + i * rows.sums_step, sizeof(float), sizeof(float)},
        {reinterpret_cast<const Byte*>(&scale_), 0, sizeof(float)},
        {&zero_, 0, 1}};
    kernels::Strip strip = dense_strip(rows.columns, rows.out + i * rows.row_step, 1, in);
    strip.out_step = rows.column_step;
    run_strip(operation_, strip);
  }
}

}  // namespace tenure
