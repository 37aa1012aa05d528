// Operands of convolutions and poolings, in the layouts that have kernels of their own.
#pragma once

#include <algorithm>
#include <cstdint>

#include "strided_floats.hpp"
#include "tenure/tenure.h"

namespace tenure::test {

enum class ImageLayout { kRowMajor, kChannelsLast, kAny };

template <class T>
Operand<T> channels_last(const Shape& shape, T value = {}) {
  Operand<T> operand(shape);
  const std::int64_t row = shape[3] * shape[1];
  operand.lay(shape, {shape[2] * row, 1, row, shape[1]}, 0, shape[0] * shape[2] * row, value);
  return operand;
}

template <class T>
Operand<T> images(const Shape& shape, ImageLayout layout, Access access, Random& random) {
  if (layout == ImageLayout::kAny) return Operand<T>(shape, access, random);
  return layout == ImageLayout::kChannelsLast ? channels_last<T>(shape) : Operand<T>(shape);
}

// In one of the layouts.
template <class T>
Operand<T> images(const Shape& shape, Access access, Random& random) {
  return images<T>(shape, static_cast<ImageLayout>(random() % 3), access, random);
}

// Whole numbers, whose sums are exact in any order.
template <class T>
Operand<T>& fill_whole(Operand<T>& operand, Random& random) {
  for_each_index(operand.view,
                 [&](const Index& at) { operand.at(at) = static_cast<T>(below(random, 9)) - 4; });
  return operand;
}

// As PyTorch has it: rounded up, unless the last window would begin behind the image.
inline std::int64_t windows_along(std::int64_t in, std::int64_t before, std::int64_t after,
                                  std::int64_t reach, std::int64_t stride, bool is_ceil) {
  const std::int64_t room = in + before + after - reach;
  if (!is_ceil) return room / stride + 1;
  const std::int64_t count = (room + stride - 1) / stride + 1;
  return (count - 1) * stride >= in + before ? count - 1 : count;
}

inline Shape result_shape(const Shape& a, const tnr_pool2d_attributes& with) {
  Shape shape = {a[0], a[1]};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t dilation = std::max<std::int64_t>(with.dilations[axis], 1);
    const std::int64_t stride = with.strides[axis] == 0 ? with.kernel[axis] : with.strides[axis];
    shape.push_back(windows_along(a[2 + axis], with.padding[2 * axis], with.padding[2 * axis + 1],
                                  (with.kernel[axis] - 1) * dilation + 1, stride,
                                  (with.flags & TNR_POOL2D_CEIL) != 0));
  }
  return shape;
}

}  // namespace tenure::test
