// Images of a device's tests: dense ones whose first element lies as vectors do, with their axes in
// any order, and others that lie anyhow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "on_device.hpp"

namespace tenure::test {

// Axes from the outermost to the innermost.
using AxisOrder = std::vector<std::uint32_t>;
inline const AxisOrder kRowsLast = {0, 1, 2, 3};      // NCHW, and filters as frameworks have them
inline const AxisOrder kChannelsLast = {0, 2, 3, 1};  // NHWC
inline const AxisOrder kFirstLast = {2, 3, 1, 0};     // of filters: adjacent ones

// Memory of an image, which begins one element before an aligned address as every Array does.
struct FlatImage {
  Shape shape;
  AxisOrder order;
  std::int64_t shift;  // elements from the aligned address
  Array memory;

  FlatImage(tnr_dtype dtype, Shape extents, AxisOrder axes, std::int64_t shift_elements,
            Random& random)
      : shape(std::move(extents)),
        order(std::move(axes)),
        shift(shift_elements),
        memory(dtype, {count() + 16 + shift}, Arrangement::kRowMajor, random) {}

  [[nodiscard]] std::int64_t count() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
  }
  // A view of the memory on either side.
  [[nodiscard]] tnr_view over(tnr_view view) const {
    const auto width = static_cast<std::int64_t>(element_size(view.dtype));
    view.data = static_cast<const Byte*>(view.data) + (16 - width) + shift * width;
    view.rank = 4;
    std::int64_t stride = 1;
    for (std::size_t i = 4; i-- > 0;) {
      const std::uint32_t axis = order[i];
      view.shape[axis] = shape[axis];
      view.strides[axis] = stride;
      stride *= std::max<std::int64_t>(shape[axis], 1);
    }
    if (stride == 0 || count() == 0) view.data = view.base;
    return view;
  }
};

}  // namespace tenure::test
