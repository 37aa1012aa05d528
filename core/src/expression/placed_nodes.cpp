#include "expression/placed_nodes.hpp"

#include <algorithm>
#include <bit>

#include "tenure/dtype.hpp"
#include "tenure/shape.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

using kernels::Byte;

tnr_view row_major_view(const Extents& shape, tnr_dtype dtype, const void* data) noexcept {
  tnr_view view{};
  view.data = view.base = data;
  view.dtype = dtype;
  view.rank = shape.rank;
  view.device.kind = TNR_DEVICE_KIND_CPU;
  std::uint64_t stride = 1;  // of an empty one it leads nowhere, and may overflow
  for (std::uint32_t axis = shape.rank; axis-- > 0;) {
    view.shape[axis] = shape.extents[axis];
    view.strides[axis] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(std::max(shape.extents[axis], std::int64_t{1}));
  }
  view.size_bytes = stride * element_size(dtype);
  return view;
}

std::int64_t count_of(const Extents& shape) noexcept {
  std::int64_t count = 1;
  for (std::uint32_t axis = 0; axis < shape.rank; ++axis) {
    if (__builtin_mul_overflow(count, shape.extents[axis], &count)) return INT64_MAX;
  }
  return count;
}

PlacedNodes::PlacedNodes(const Nodes& checked, const tnr_view_mut& output) noexcept
    : nodes(checked), out(output) {
  for (unsigned i = 0; i < nodes.view_count(); ++i) {
    const tnr_view& view = nodes.view(i);
    leaves[i] = {static_cast<const Byte*>(view.data),
                 static_cast<std::int64_t>(element_size(view.dtype)),
                 {}};
    sources[i] = &view;
  }
  leaf_count = nodes.view_count();
  std::fill_n(leaf_of, nodes.count(), kNoLeaf);
}

void set_steps(Leaf& leaf, const tnr_view& view, std::uint32_t rank) noexcept {
  const std::uint32_t missing = rank - view.rank;
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    leaf.steps[axis] = axis < missing ? 0 : step_of(view, axis - missing);
  }
}

void PlacedNodes::set_steps(std::uint32_t rank) noexcept {
  for (unsigned leaf = 0; leaf < leaf_count; ++leaf) {
    if (sources[leaf]->rank > rank) continue;  // of another part of the expression
    tenure::set_steps(leaves[leaf], *sources[leaf], rank);
  }
}

std::int64_t PlacedNodes::bytes_of(std::uint64_t used) const noexcept {
  std::uint64_t bytes = element_bytes(out.view);
  for (; used != 0; used &= used - 1) bytes += element_bytes(*sources[std::countr_zero(used)]);
  return static_cast<std::int64_t>(bytes);
}

void PlacedNodes::set_results(unsigned i, const Byte* place) noexcept {
  amid_results[i].data = amid_results[i].base = place;
  leaves[leaf_of[amid[i]]].data = place;
}

}  // namespace tenure
