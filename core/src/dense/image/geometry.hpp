// Windows of images: where they lie, and whether the extents of a call agree.
#pragma once

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/arithmetic.hpp"
#include "engine/convolution.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

inline constexpr unsigned kHeight = 0;
inline constexpr unsigned kWidth = 1;

// Steps in bytes of a view's axes.
struct ImageSteps {
  std::int64_t image;  // of a weight: filter
  std::int64_t channel;
  std::int64_t place[2];  // down and right
};
inline ImageSteps image_steps(const tnr_view& view) noexcept {
  return {step_of(view, 0), step_of(view, 1), {step_of(view, 2), step_of(view, 3)}};
}

// Windows lie by the geometry's strides, or cover the image as evenly as the result's extents
// allow.
enum class WindowSpacing : std::uint8_t { kByStrides, kAdaptive };

// A convolution's windows; a pooling has as many groups as channels, and one filter in each.
struct WindowGeometry {
  std::int64_t images;
  std::int64_t groups;
  std::int64_t channels;  // of a group
  std::int64_t filters;   // of a group
  std::int64_t in[2];     // height and width
  std::int64_t kernel[2];
  std::int64_t out[2];
  std::int64_t strides[2];
  std::int64_t padding[2];        // above and left; below 0: so much of the image is left out
  std::int64_t padding_after[2];  // below and right, as given
  std::int64_t dilations[2];
  ImageSteps a;
  ImageSteps weight;
  std::int64_t weight_group;  // step from group to group
  ImageSteps result;

  [[nodiscard]] std::int64_t places() const noexcept { return kernel[0] * kernel[1]; }
  [[nodiscard]] std::int64_t depth() const noexcept { return places() * channels; }
};

// Returns the rows or columns that adjacent windows span, or the greatest number where these
// overflow.
inline std::int64_t reach(const WindowGeometry& g, unsigned axis, std::int64_t windows) noexcept {
  std::int64_t extent = product_or_most(g.kernel[axis] - 1, g.dilations[axis]);
  const bool fits =
      !__builtin_add_overflow(extent, product_or_most(windows - 1, g.strides[axis]), &extent) &&
      !__builtin_add_overflow(extent, 1, &extent);
  return fits ? extent : INT64_MAX;
}

// The row of the kernels' tables: f64 or f32, else UNSUPPORTED.
inline unsigned require_image_type(const char* operation, tnr_dtype dtype) {
  const unsigned type = type_index(dtype);
  if (type > static_cast<unsigned>(kernels::Type::kF32)) refuse_dtype(operation, dtype);
  return type;
}

// The extent is that of `whose`, a view's name, which follows `is`.
inline void require_extent(const tnr_view& view, const char* name, std::uint32_t axis,
                           std::int64_t expected, const char* is, const char* whose,
                           const char* rest = "") {
  if (view.shape[axis] != expected) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64 ", %s %s%s; its shape is %s",
         name, axis, view.shape[axis], expected, is, whose, rest,
         shape_text(view.rank, view.shape).text);
  }
}

inline std::int64_t at_least(std::int64_t value, std::int64_t least, const char* field,
                             unsigned index) {
  if (value < least) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->%s[%u] is %" PRId64 " but must be %" PRId64 " at least", field, index, value,
         least);
  }
  return value;
}

// Returns the value of an attribute, or `otherwise` where it is 0. Throws where it is negative.
inline std::int64_t given_or(std::int64_t value, std::int64_t otherwise, const char* field,
                             unsigned index) {
  return value == 0 ? otherwise : at_least(value, 0, field, index);
}

// Whether all windows end within the padded image; or, as PyTorch and ONNX round up, the last one
// may end beyond it and begins in the image or in the padding before it.
enum class Rounding : std::uint8_t { kDown, kUp };

// Sets to 1 what a caller may give any value: the dilation of a kernel of one place, and the stride
// where there is one window. Byte steps made from them then fit an i64. Not for transposed
// convolutions, which find the places that meet a window by its stride.
inline void set_unused_steps(WindowGeometry& g) noexcept {
  for (const unsigned axis : {kHeight, kWidth}) {
    if (g.kernel[axis] == 1) g.dilations[axis] = 1;
    if (g.out[axis] <= 1) g.strides[axis] = 1;
  }
}

// Places that a kernel takes along one axis of the padded image. The names are for messages.
inline std::int64_t place_count(const WindowGeometry& g, unsigned axis, Rounding rounding,
                                const char* kernel_name, const char* image_name) {
  static constexpr const char* kNames[] = {"height", "width"};
  const std::int64_t stride = g.strides[axis];
  std::int64_t padded;
  std::int64_t reach;
  std::int64_t count = 0;
  const auto require_sum = [&](bool overflows) {
    if (!overflows) return;
    fail(TNR_STATUS_INVALID_ARGUMENT, "the padded %s of %s exceeds 2^63 - 1", kNames[axis],
         image_name);
  };
  require_sum(__builtin_add_overflow(g.in[axis], g.padding[axis], &padded) ||
              __builtin_add_overflow(padded, g.padding_after[axis], &padded));
  if (!__builtin_mul_overflow(g.kernel[axis] - 1, g.dilations[axis], &reach) &&
      !__builtin_add_overflow(reach, 1, &reach)) {
    const std::int64_t rest = padded - reach;
    if (rest >= 0) count = rest / stride + 1;
    const std::int64_t last = (count - 1) * stride;
    const std::int64_t begins = g.in[axis] + g.padding[axis];  // that a window rounded up may have
    if (rounding == Rounding::kUp && rest > last && begins - stride > last) {
      require_sum(__builtin_add_overflow(last + stride, reach, &padded));
      ++count;
    } else if (rounding == Rounding::kUp && rest == last && last >= begins && count > 1) {
      --count;
    }
  }
  if (count != 0) return count;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s's %s of %" PRId64 ", dilated by %" PRId64 ", exceeds the %" PRId64
       " of %s with its padding",
       kernel_name, kNames[axis], g.kernel[axis], g.dilations[axis], padded, image_name);
}

// Strides, dilations and padding of one axis, which the kernel's and the image's extents precede,
// and the extent of the result. `stride` is meant where none is given.
template <class Attributes>
void place_windows(WindowGeometry& g, unsigned axis, const Attributes& attributes,
                   std::int64_t stride, const char* kernel_name, const char* image_name,
                   Rounding rounding = Rounding::kDown) {
  g.strides[axis] = given_or(attributes.strides[axis], stride, "strides", axis);
  g.dilations[axis] = given_or(attributes.dilations[axis], 1, "dilations", axis);
  const std::int64_t* const around = attributes.padding + std::ptrdiff_t{2} * axis;
  g.padding[axis] = at_least(around[0], 0, "padding", 2 * axis);
  g.padding_after[axis] = at_least(around[1], 0, "padding", 2 * axis + 1);
  g.out[axis] = place_count(g, axis, rounding, kernel_name, image_name);
}

// Throws where the operands do not agree.
WindowGeometry convolution_geometry(const tnr_view& a, const tnr_view& weight,
                                    const tnr_conv2d_attributes& attributes, const tnr_view& out,
                                    const char* out_name);
// The geometry of the convolution from `out` to `a`.
WindowGeometry transposed_geometry(const tnr_view& a, const tnr_view& weight,
                                   const tnr_conv2d_attributes& attributes, const tnr_view& out,
                                   const char* out_name);
// The geometry of the convolution of `a` by filters of the shape of `out` that gives `g`, or whose
// transposed one gives `a` from `g`.
WindowGeometry filters_geometry(const tnr_view& a, const tnr_view& g,
                                const tnr_conv2d_attributes& attributes, const tnr_view& out);

// Returns the convolution in the form that other engines take, without a bias, for elements of
// `width_bytes` bytes.
engines::Convolution for_engines(const WindowGeometry& g, std::int64_t width_bytes) noexcept;

// Returns x for which value * x is 1 modulo `by`. `value` and `by` have no common divisor.
std::int64_t inverse_of(std::int64_t value, std::int64_t by) noexcept;

// Elements along the axis of a window, by strides, that the padded image has.
std::int64_t padded_count(const WindowGeometry& g, unsigned axis, std::int64_t index) noexcept;

// The index along the axis of the first window that has no element of the image there; nullopt:
// each has one. Takes some hundred divisions at most, whatever the extents.
std::optional<std::int64_t> first_empty_window(const WindowGeometry& g, WindowSpacing spacing,
                                               unsigned axis) noexcept;

}  // namespace tenure
