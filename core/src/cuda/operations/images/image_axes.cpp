#include "cuda/operations/images/image_axes.hpp"

#include <algorithm>
#include <cinttypes>
#include <numeric>
#include <utility>

#include "cuda/operations/grid.hpp"
#include "cuda/operations/nest.hpp"

namespace tenure::cuda {
namespace {

constexpr std::int64_t kMostPlace = kMostNumber - 1;

void require_places(const Queue& queue, std::int64_t places, unsigned axis, const char* image) {
  static constexpr const char* kNames[] = {"height", "width"};
  if (places <= kMostPlace) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "the %s of %s with its padding is %" PRId64 ", of which %s takes %" PRId64, kNames[axis],
       image, places, DeviceName(queue.device()).text, kMostPlace);
}

// a + b, or INT64_MAX where the sum overflows.
std::int64_t sum_or_most(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// The last place of the last window, from the begin of the first one, and 1.
std::int64_t reach_of(const WindowGeometry& g, unsigned axis) {
  return (g.out[axis] - 1) * g.strides[axis] + (g.kernel[axis] - 1) * g.dilations[axis] + 1;
}

}  // namespace

ImageAxis image_axis(const Queue& queue, const WindowGeometry& g, unsigned axis,
                     const char* image) {
  require_places(queue, std::max(reach_of(g, axis), sum_or_most(g.in[axis], g.padding[axis])), axis,
                 image);
  ImageAxis result = {};
  result.in = static_cast<std::uint32_t>(g.in[axis]);
  result.out = static_cast<std::uint32_t>(g.out[axis]);
  result.kernel = static_cast<std::uint32_t>(g.kernel[axis]);
  // The stride of one window, and the dilation of one element, are not used and may be any.
  result.stride = static_cast<std::uint32_t>(g.out[axis] > 1 ? g.strides[axis] : 1);
  result.dilation = static_cast<std::uint32_t>(g.kernel[axis] > 1 ? g.dilations[axis] : 1);
  result.padding = static_cast<std::uint32_t>(g.padding[axis]);
  result.common = 1;
  result.in_step = g.a.place[axis];
  result.out_step = g.result.place[axis];
  result.weight_step = g.weight.place[axis];
  return result;
}

ImageAxis transposed_axis(const Queue& queue, const WindowGeometry& g, unsigned axis,
                          const char* image) {
  const std::int64_t all = sum_or_most(reach_of(g, axis), sum_or_most(g.in[axis], g.padding[axis]));
  require_places(queue, all, axis, image);
  ImageAxis result = image_axis(queue, g, axis, image);
  std::swap(result.in, result.out);
  std::swap(result.in_step, result.out_step);
  // With one place of the image no stride is ever taken, but it says which places of the result
  // meet which elements of the filter. One that is longer than all places does as any other does.
  const std::int64_t stride = std::min(g.strides[axis], kMostPlace);
  const auto dilation = static_cast<std::int64_t>(result.dilation);
  const std::int64_t common = std::gcd(stride, dilation);
  result.stride = static_cast<std::uint32_t>(stride);
  result.common = static_cast<std::uint32_t>(common);
  result.inverse = static_cast<std::uint32_t>(inverse_of(dilation / common, stride / common));
  return result;
}

std::int64_t images_at_once(std::int64_t elements_of_one) noexcept {
  return kMostPlace / elements_of_one;
}

std::int64_t require_images_at_once(const Queue& queue, const tnr_view& out, const char* name) {
  const std::int64_t each = out.shape[1] * out.shape[2] * out.shape[3];
  const std::int64_t images = images_at_once(each);
  if (images == 0) {
    fail(TNR_STATUS_UNSUPPORTED,
         "an image of %s has %" PRId64 " elements, of which %s takes %" PRId64, name, each,
         DeviceName(queue.device()).text, kMostPlace);
  }
  return images;
}

ResultWalk result_walk(const tnr_view& out, std::int64_t images) noexcept {
  ResultWalk walk = {};
  walk.count = static_cast<std::uint32_t>(images * out.shape[1] * out.shape[2] * out.shape[3]);
  walk.channels_first = step_of(out, 1) == static_cast<std::int64_t>(element_size(out.dtype)) &&
                                step_of(out, 3) != step_of(out, 1)
                            ? 1
                            : 0;
  walk.channels = divider_by(out.shape[1]);
  walk.rows = divider_by(out.shape[2]);
  walk.columns = divider_by(out.shape[3]);
  return walk;
}

}  // namespace tenure::cuda
