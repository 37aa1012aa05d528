// Scales and zero points next to the numbers that they are of.
#pragma once

#include <cstdint>

#include "cpu/quantize.hpp"
#include "tenure/status.hpp"
#include "tenure/view.hpp"

namespace tenure {

// The rows of tables of kernels::QuantizingKernels. Throw UNSUPPORTED for other dtypes.
unsigned quantized_float(tnr_dtype dtype, const char* name);
unsigned quantized_byte(tnr_dtype dtype, const char* name);

// Refuses a shape of scales with extents that are neither 1 nor those of the numbers, and do not
// divide them, and groups that need more axes than a view has.
Refusal scales_refusal(const char* name, std::uint32_t scales_rank, const std::int64_t* scales,
                       std::uint32_t rank, const std::int64_t* numbers) noexcept;

// Extents of scales that divide those of the numbers, by the numbers' axes: a scale is of a group of
// adjacent numbers. Both are brought to shapes that broadcast.
class ScaleGroups {
 public:
  // Throws what scales_refusal() gives.
  ScaleGroups(const tnr_view& scales, const char* name, const tnr_view& of);

  // A view of the numbers' shape, or of that of the scales, whose groups are axes.
  [[nodiscard]] tnr_view numbers(const tnr_view& view) const noexcept;
  [[nodiscard]] tnr_view scales(const tnr_view& view) const noexcept;

 private:
  [[nodiscard]] tnr_view split(const tnr_view& view, bool is_of_scales) const noexcept;

  std::uint32_t rank_;
  std::int64_t groups_[TNR_MAX_RANK] = {};  // of an axis; 0: it is not split
};

// Throws INVALID_ARGUMENT for a shape that is not that of `like`.
void require_shape(const tnr_view& view, const char* name, const tnr_view& like, const char* whose);
// Throws as check_view() does, and INVALID_ARGUMENT for scales that are not f32, zeros that are not of
// `integers`, and zeros of another shape. Reads no element. nullptr: zeros of 0.
void check_scale_views(const tnr_view& scales, const char* name, const tnr_view* zeros,
                       const char* zeros_name, tnr_dtype integers);
// Refuses a scale that is not finite, or not above 0, as refuse_data() does. A caller goes on after
// that: a rehearsal of a run has scales of 0, and is to ask for the memory of the call. The view is
// checked and pinned.
void check_scales(const tnr_view& scales, const char* name);

}  // namespace tenure
