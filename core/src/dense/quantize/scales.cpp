#include "dense/quantize/scales.hpp"

#include <cinttypes>
#include <cmath>
#include <cstring>

#include "dense/loops/nest.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

unsigned quantized_float(const tnr_view& view, const char* name) {
  switch (view.dtype) {
    case TNR_DTYPE_F32: return 0;
    case TNR_DTYPE_F16: return 1;
    case TNR_DTYPE_BF16: return 2;
    default:
      fail(TNR_STATUS_UNSUPPORTED, "%s.dtype is %s but must be f32, f16 or bf16", name,
           dtype_name(view.dtype));
  }
}

unsigned quantized_byte(const tnr_view& view, const char* name) {
  switch (view.dtype) {
    case TNR_DTYPE_I8: return 0;
    case TNR_DTYPE_U8: return 1;
    default:
      fail(TNR_STATUS_UNSUPPORTED, "%s.dtype is %s but must be i8 or u8", name,
           dtype_name(view.dtype));
  }
}

ScaleGroups::ScaleGroups(const tnr_view& scales, const char* name, const tnr_view& of)
    : rank_(of.rank) {
  if (scales.rank > of.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.rank is %" PRIu32 " but must be %" PRIu32 " at most, the rank of the numbers", name,
         scales.rank, of.rank);
  }
  const std::uint32_t missing = of.rank - scales.rank;
  std::uint32_t rank = of.rank;
  for (std::uint32_t axis = 0; axis < scales.rank; ++axis) {
    const std::int64_t extent = scales.shape[axis];
    const std::int64_t numbers = of.shape[missing + axis];
    if (extent == 1 || extent == numbers) continue;
    if (extent == 0 || numbers % extent != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s.shape[%" PRIu32 "] is %" PRId64 " but must divide %" PRId64
           ", the extent of the numbers",
           name, axis, extent, numbers);
    }
    groups_[missing + axis] = extent;
    ++rank;
  }
  if (rank > TNR_MAX_RANK) {
    fail(TNR_STATUS_UNSUPPORTED,
         "%s has groups along %" PRIu32 " axes of numbers of rank %" PRIu32
         ", but the two together must be %d at most",
         name, rank - of.rank, of.rank, TNR_MAX_RANK);
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
      fail(TNR_STATUS_INVALID_ARGUMENT, "%s has %g but every scale must be finite and above 0",
           name, static_cast<double>(scale));
    }
  });
}

}  // namespace tenure
