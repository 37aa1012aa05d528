#include "dense/image/geometry.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

namespace tenure {
namespace {

__extension__ using Wide = __int128;

constexpr Wide quotient_up(Wide a, Wide b) { return a / b + (a % b != 0 ? 1 : 0); }

// Returns the least x for which `step` * x modulo `by` is from `low` to `high`; 0 <= low <= high <
// by. Multiples of `step` wrap around at `by`, and the number of wraps until one of them meets the
// range is the same problem with smaller numbers, as in Euclid's algorithm.
std::optional<Wide> first_rest_within(Wide step, Wide by, Wide low, Wide high) noexcept {
  if (low == 0) return 0;
  step %= by;
  if (step == 0) return std::nullopt;
  // Down from the other end, where steps are less than half as long: each call halves them.
  if (2 * step > by) return first_rest_within(by - step, by, by - high, by - low);
  const Wide first = quotient_up(low, step);
  if (first * step <= high) return first;
  // No multiple of `step` is in the range, so that both ends have the same quotient.
  const Wide most = (step - low % step) % step;
  const Wide least = (step - high % step) % step;
  const std::optional<Wide> rounds = first_rest_within(by % step, step, least, most);
  if (!rounds) return std::nullopt;
  return quotient_up(low + by * *rounds, step);
}

// A geometry without the check that the places of the windows are the extents of `out`.
WindowGeometry placed_windows(const tnr_view& a, const char* a_name, const tnr_view& weight,
                              const char* weight_name, const tnr_conv2d_attributes& attributes,
                              const tnr_view& out, const char* out_name) {
  require_rank(a, a_name, 4);
  require_rank(weight, weight_name, 4);
  require_rank(out, out_name, 4);
  WindowGeometry g = {};
  g.images = a.shape[0];
  g.groups = attributes.groups == 0 ? 1 : attributes.groups;
  if (g.groups < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->groups is %" PRId64 " but must be 1 at least",
         g.groups);
  }
  if (a.shape[1] % g.groups != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.shape[1] is %" PRId64 ", which %" PRId64 " groups do not divide", a_name, a.shape[1],
         g.groups);
  }
  if (weight.shape[0] % g.groups != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.shape[0] is %" PRId64 ", which %" PRId64 " groups do not divide", weight_name,
         weight.shape[0], g.groups);
  }
  g.channels = a.shape[1] / g.groups;
  g.filters = weight.shape[0] / g.groups;
  require_extent(weight, weight_name, 1, g.channels, "the channels of", a_name, " by groups");
  for (unsigned axis = 0; axis < 2; ++axis) {
    g.in[axis] = a.shape[2 + axis];
    g.kernel[axis] = weight.shape[2 + axis];
    if (g.kernel[axis] == 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "%s.shape[%u] is 0 but must be 1 at least", weight_name,
           2 + axis);
    }
    place_windows(g, axis, attributes, 1, weight_name, a_name);
  }
  require_extent(out, out_name, 0, g.images, "the images of", a_name);
  require_extent(out, out_name, 1, weight.shape[0], "the filters of", weight_name);
  g.a = image_steps(a);
  g.weight = image_steps(weight);
  g.weight_group = g.filters * g.weight.image;
  g.result = image_steps(out);
  return g;
}

// `g` is of the convolution from the result to `a`. Fewer rows of the result than the stride or the
// dilation, whichever is greater, follow the last window.
void require_transposed(const WindowGeometry& g, unsigned axis, const char* a_name,
                        const char* out_name) {
  static constexpr const char* kNames[] = {"rows", "columns"};
  const std::int64_t places = g.out[axis];
  if (places == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.shape[%u] is 0 but must be 1 at least", a_name, 2 + axis);
  }
  const Wide reach = Wide{g.kernel[axis] - 1} * g.dilations[axis] + 1;
  const Wide least =
      Wide{places - 1} * g.strides[axis] + reach - g.padding[axis] - g.padding_after[axis];
  const Wide most = least + std::max(g.strides[axis], g.dilations[axis]) - 1;
  if (g.in[axis] >= least && g.in[axis] <= most) return;
  constexpr Wide kMost = INT64_MAX;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%u] is %" PRId64 " but must be from %" PRId64 " to %" PRId64 " for the %" PRId64
       " %s of %s",
       out_name, 2 + axis, g.in[axis], static_cast<std::int64_t>(std::min(least, kMost)),
       static_cast<std::int64_t>(std::min(most, kMost)), places, kNames[axis], a_name);
}

}  // namespace

WindowGeometry convolution_geometry(const tnr_view& a, const tnr_view& weight,
                                    const tnr_conv2d_attributes& attributes, const tnr_view& out,
                                    const char* out_name) {
  WindowGeometry g = placed_windows(a, "a", weight, "weight", attributes, out, out_name);
  require_extent(out, out_name, 2, g.out[kHeight], "the rows at which weight fits into", "a");
  require_extent(out, out_name, 3, g.out[kWidth], "the columns at which weight fits into", "a");
  set_unused_steps(g);
  return g;
}

WindowGeometry transposed_geometry(const tnr_view& a, const tnr_view& weight,
                                   const tnr_conv2d_attributes& attributes, const tnr_view& out,
                                   const char* out_name) {
  WindowGeometry g = placed_windows(out, out_name, weight, "weight", attributes, a, "a");
  for (const unsigned axis : {kHeight, kWidth}) {
    g.out[axis] = a.shape[2 + axis];
    require_transposed(g, axis, "a", out_name);
  }
  return g;
}

WindowGeometry filters_geometry(const tnr_view& a, const tnr_view& g,
                                const tnr_conv2d_attributes& attributes, const tnr_view& out) {
  WindowGeometry geometry = placed_windows(a, "a", out, "out", attributes, g, "g");
  for (const unsigned axis : {kHeight, kWidth}) {
    geometry.out[axis] = g.shape[2 + axis];
    require_transposed(geometry, axis, "g", "a");
  }
  set_unused_steps(geometry);
  return geometry;
}

engines::Convolution for_engines(const WindowGeometry& g, std::int64_t width_bytes) noexcept {
  const auto in_elements = [width_bytes](const ImageSteps& steps) -> engines::Convolution::Image {
    return {steps.image / width_bytes,
            steps.channel / width_bytes,
            {steps.place[kHeight] / width_bytes, steps.place[kWidth] / width_bytes}};
  };
  engines::Convolution convolution = {};
  convolution.images = g.images;
  convolution.groups = g.groups;
  convolution.channels = g.channels;
  convolution.filters = g.filters;
  for (const unsigned axis : {kHeight, kWidth}) {
    convolution.in[axis] = g.in[axis];
    convolution.kernel[axis] = g.kernel[axis];
    convolution.out[axis] = g.out[axis];
    convolution.strides[axis] = g.strides[axis];
    convolution.padding[axis] = g.padding[axis];
    convolution.dilations[axis] = g.dilations[axis];
  }
  convolution.a = in_elements(g.a);
  convolution.weight = in_elements(g.weight);
  convolution.weight_group_step = g.weight_group / width_bytes;
  convolution.result = in_elements(g.result);
  return convolution;
}

// By Euclid's algorithm; factors are no larger than `by`.
std::int64_t inverse_of(std::int64_t value, std::int64_t by) noexcept {
  std::int64_t rest = by;
  std::int64_t next_rest = value % by;
  std::int64_t factor = 0;
  std::int64_t next_factor = 1;
  while (next_rest != 0) {
    const std::int64_t quotient = rest / next_rest;
    rest = std::exchange(next_rest, rest - quotient * next_rest);
    factor = std::exchange(next_factor, factor - quotient * next_factor);
  }
  return factor < 0 ? factor + by : factor % by;
}

std::int64_t padded_count(const WindowGeometry& g, unsigned axis, std::int64_t index) noexcept {
  if (index + 1 < g.out[axis]) return g.kernel[axis];  // the last window only may end beyond
  const std::int64_t begin = index * g.strides[axis] - g.padding[axis];
  const std::int64_t left = g.in[axis] + g.padding_after[axis] - begin;
  return std::min(g.kernel[axis], (left - 1) / g.dilations[axis] + 1);
}

std::optional<std::int64_t> first_empty_window(const WindowGeometry& g, WindowSpacing spacing,
                                               unsigned axis) noexcept {
  const std::int64_t count = g.out[axis];
  const std::int64_t in = g.in[axis];
  if (count == 0) return std::nullopt;
  if (in == 0) return 0;
  if (spacing == WindowSpacing::kAdaptive) return std::nullopt;
  const Wide stride = g.strides[axis];
  const Wide dilation = g.dilations[axis];
  const Wide before = g.padding[axis];
  const Wide last_place = (g.kernel[axis] - 1) * dilation;
  // Before the image as a whole: if any window is, the first one is.
  if (last_place < before) return 0;
  // Behind it.
  Wide first = quotient_up(in + before, stride);
  // Around it: elements so far apart that the image fits between two of them. In a window that
  // begins before the image, the first element at or after 0 is at the window's begin modulo the
  // dilation.
  if (g.kernel[axis] > 1 && dilation > in) {
    const Wide shift = before % dilation;
    const Wide low = (in + shift) % dilation;
    const Wide high = (dilation - 1 + shift) % dilation;
    // A range that ends before it begins goes round, and has 0.
    const std::optional<Wide> around =
        low > high ? 0 : first_rest_within(stride, dilation, low, high);
    if (around && *around * stride < before) first = std::min(first, *around);
  }
  if (first >= count) return std::nullopt;
  return static_cast<std::int64_t>(first);
}

}  // namespace tenure
