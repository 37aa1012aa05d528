// Small layouts, all of them, and the bytes that they reach, computed without any cleverness.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"

namespace tenure::test {

struct Axis {
  std::int64_t extent;
  std::int64_t stride;
};
using Layout = std::vector<Axis>;
using Index = std::array<std::int64_t, TNR_MAX_RANK>;

// A view of the arguments, without any check. Where an extent is 0, data is base.
inline tnr_view view_of(const void* base, std::size_t size_bytes, std::int64_t offset_bytes,
                        tnr_dtype dtype, const Layout& layout) {
  tnr_view view{};
  view.base = base;
  view.size_bytes = size_bytes;
  view.dtype = dtype;
  view.device = {TNR_DEVICE_KIND_CPU, 0};
  for (const Axis& axis : layout) {
    view.shape[view.rank] = axis.extent;
    view.strides[view.rank++] = axis.stride;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(base);
  view.data =
      is_empty(view)
          ? base
          : reinterpret_cast<const void*>(address + static_cast<std::uint64_t>(offset_bytes));
  return view;
}

// Calls visit(index) for each index of the shape, in row-major order.
template <class Visit>
void for_each_index(const tnr_view& view, const Visit& visit) {
  if (is_empty(view)) return;
  Index index{};
  while (true) {
    visit(index);
    std::uint32_t axis = view.rank;
    while (axis > 0 && ++index[axis - 1] == view.shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// Where an element's first byte lies, from the view's base.
inline std::int64_t byte_of(const tnr_view& view, const Index& index) {
  const auto from_base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(view.data) -
                                                   reinterpret_cast<std::uintptr_t>(view.base));
  std::int64_t elements = 0;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis) {
    elements += index[axis] * view.strides[axis];
  }
  return from_base + elements * static_cast<std::int64_t>(element_size(view.dtype));
}

// Calls visit(layout) for every layout of `rank` axes with these extents and strides.
inline void for_each_layout(std::size_t rank, const std::vector<std::int64_t>& extents,
                            const std::vector<std::int64_t>& strides,
                            const std::function<void(const Layout&)>& visit) {
  Layout layout;
  const std::function<void()> grow = [&] {
    if (layout.size() == rank) {
      visit(layout);
      return;
    }
    for (const std::int64_t extent : extents) {
      for (const std::int64_t stride : strides) {
        layout.push_back({extent, stride});
        grow();
        layout.pop_back();
      }
    }
  };
  grow();
}

}  // namespace tenure::test
