#include "engine/convolution.hpp"

#include <initializer_list>

namespace tenure::engines {
namespace {

using Image = Convolution::Image;

bool lies_in(ImageOrder order, const Image& image, std::int64_t images, std::int64_t channels,
             const std::int64_t (&extents)[2]) noexcept {
  const Image dense = dense_steps(order, channels, extents);
  const auto is = [](std::int64_t extent, std::int64_t step, std::int64_t wanted) {
    return extent == 1 || step == wanted;
  };
  return is(images, image.image_step, dense.image_step) &&
         is(channels, image.channel_step, dense.channel_step) &&
         is(extents[0], image.place_steps[0], dense.place_steps[0]) &&
         is(extents[1], image.place_steps[1], dense.place_steps[1]);
}

bool has_elements(std::initializer_list<std::int64_t> extents, std::int64_t most) noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) {
    if (extent < 1 || __builtin_mul_overflow(count, extent, &count) || count > most) return false;
  }
  return true;
}

}  // namespace

Image dense_steps(ImageOrder order, std::int64_t channels,
                  const std::int64_t (&extents)[2]) noexcept {
  if (order == ImageOrder::kChannelsFirst) {
    return {channels * extents[0] * extents[1], extents[0] * extents[1], {extents[1], 1}};
  }
  return {channels * extents[0] * extents[1], 1, {channels * extents[1], channels}};
}

bool a_lies_in(ImageOrder order, const Convolution& c) noexcept {
  return lies_in(order, c.a, c.images, c.groups * c.channels, c.in);
}

bool result_lies_in(ImageOrder order, const Convolution& c) noexcept {
  return lies_in(order, c.result, c.images, c.groups * c.filters, c.out);
}

bool weight_lies_in(ImageOrder order, const Convolution& c) noexcept {
  const Image dense = dense_steps(order, c.channels, c.kernel);
  return lies_in(order, c.weight, c.filters, c.channels, c.kernel) &&
         (c.groups == 1 || c.weight_group_step == c.filters * dense.image_step);
}

bool is_bounded_by(std::int64_t most, const Convolution& c) noexcept {
  if (!has_elements({c.images, c.groups, c.channels, c.in[0], c.in[1]}, most) ||
      !has_elements({c.images, c.groups, c.filters, c.out[0], c.out[1]}, most) ||
      !has_elements({c.groups, c.filters, c.channels, c.kernel[0], c.kernel[1]}, most)) {
    return false;
  }
  for (unsigned axis = 0; axis < 2; ++axis) {
    for (const std::int64_t number : {c.strides[axis], c.padding[axis], c.dilations[axis]}) {
      if (number < 0 || number > most) return false;
    }
  }
  return true;
}

}  // namespace tenure::engines
