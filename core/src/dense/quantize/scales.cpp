#include "dense/quantize/scales.hpp"

#include <cinttypes>
#include <cmath>
#include <cstring>

#include "base/data_findings.hpp"
#include "dense/loops/nest.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

unsigned quantized_float(tnr_dtype dtype, const char* name) {
  switch (dtype) {
    case TNR_DTYPE_F32: return 0;
    case TNR_DTYPE_F16: return 1;
    case TNR_DTYPE_BF16: return 2;
    default:
      fail(TNR_STATUS_UNSUPPORTED, "%s.dtype is %s but must be f32, f16 or bf16", name,
           dtype_name(dtype));
  }
}

unsigned quantized_byte(tnr_dtype dtype, const char* name) {
  switch (dtype) {
    case TNR_DTYPE_I8: return 0;
    case TNR_DTYPE_U8: return 1;
    default:
      fail(TNR_STATUS_UNSUPPORTED, "%s.dtype is %s but must be i8 or u8", name, dtype_name(dtype));
  }
}

Refusal scales_refusal(const char* name, std::uint32_t scales_rank, const std::int64_t* scales,
                       std::uint32_t rank, const std::int64_t* numbers) noexcept {
  if (scales_rank > rank) {
    return error_of(TNR_STATUS_INVALID_ARGUMENT,
                    "%s.rank is %" PRIu32 " but must be %" PRIu32
                    " at most, the rank of the numbers",
                    name, scales_rank, rank);
  }
  const std::uint32_t missing = rank - scales_rank;
  std::uint32_t groups = 0;
  for (std::uint32_t axis = 0; axis < scales_rank; ++axis) {
    const std::int64_t extent = scales[axis];
    const std::int64_t of = numbers[missing + axis];
    if (extent == 1 || extent == of) continue;
    if (extent == 0 || of % extent != 0) {
      return error_of(TNR_STATUS_INVALID_ARGUMENT,
                      "%s.shape[%" PRIu32 "] is %" PRId64 " but must divide %" PRId64
                      ", the extent of the numbers",
                      name, axis, extent, of);
    }
    ++groups;
  }
  if (rank + groups <= TNR_MAX_RANK) return std::nullopt;
  return error_of(TNR_STATUS_UNSUPPORTED,
                  "%s has groups along %" PRIu32 " axes of numbers of rank %" PRIu32
                  ", but the two together must be %d at most",
                  name, groups, rank, TNR_MAX_RANK);
}

ScaleGroups::ScaleGroups(const tnr_view& scales, const char* name, const tnr_view& of)
    : rank_(of.rank) {
  require_none(scales_refusal(name, scales.rank, scales.shape, of.rank, of.shape));
  const std::uint32_t missing = of.rank - scales.rank;
  for (std::uint32_t axis = 0; axis < scales.rank; ++axis) {
    const std::int64_t extent = scales.shape[axis];
    if (extent != 1 && extent != of.shape[missing + axis]) groups_[missing + axis] = extent;
  }
}

tnr_view ScaleGroups::numbers(const tnr_view& view) const noexcept { return split(view, false); }
tnr_view ScaleGroups::scales(const tnr_view& view) const noexcept { return split(view, true); }

tnr_view ScaleGroups::split(const tnr_view& view, bool is_of_scales) const noexcept {
  tnr_view split = view;
  split.rank = 0;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    const std::int64_t groups = groups_[rank_ - view.rank + axis];
    const std::int64_t stride = stride_of(view, axis);
    if (groups == 0) {
      split.shape[split.rank] = view.shape[axis];
      split.strides[split.rank++] = stride;
      continue;
    }
    const std::int64_t extent = is_of_scales ? 1 : view.shape[axis] / groups;
    split.shape[split.rank] = groups;
    split.strides[split.rank++] = is_of_scales ? stride : extent * stride;
    split.shape[split.rank] = extent;
    split.strides[split.rank++] = is_of_scales ? 0 : stride;
  }
  return split;
}

void require_shape(const tnr_view& view, const char* name, const tnr_view& like,
                   const char* whose) {
  bool is_same = view.rank == like.rank;
  for (std::uint32_t axis = 0; is_same && axis < like.rank; ++axis) {
    is_same = view.shape[axis] == like.shape[axis];
  }
  if (is_same) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s has shape %s but must have that of %s, %s", name,
       shape_text(view.rank, view.shape).text, whose, shape_text(like.rank, like.shape).text);
}

void check_scale_views(const tnr_view& scales, const char* name, const tnr_view* zeros,
                       const char* zeros_name, tnr_dtype integers) {
  check_view(scales, name);
  require_dtype(scales, name, TNR_DTYPE_F32, "scales must be");
  if (zeros == nullptr) return;
  check_view(*zeros, zeros_name);
  require_dtype(*zeros, zeros_name, integers, "the integers are");
  require_shape(*zeros, zeros_name, scales, name);
}

void check_scales(const tnr_view& scales, const char* name) {
  if (is_empty(scales)) return;
  Nest nest(1);
  for (std::uint32_t axis = 0; axis < scales.rank; ++axis) {
    const std::int64_t step = step_of(scales, axis);
    if (scales.shape[axis] > 1) nest.add(scales.shape[axis], &step);
  }
  nest.arrange(0);
  const auto* const data = static_cast<const kernels::Byte*>(scales.data);
  nest.for_each_strip([&](const std::int64_t* offsets) {
    for (std::int64_t i = 0; i < nest.inner_extent(); ++i) {
      float scale;
      std::memcpy(&scale, data + offsets[0] + i * nest.inner_step(0), sizeof scale);
      if (scale > 0 && std::isfinite(scale)) continue;
      return refuse_data(TNR_STATUS_INVALID_ARGUMENT,
                         "%s has %g but every scale must be finite and above 0", name,
                         static_cast<double>(scale));
    }
  });
}

}  // namespace tenure
