#include "dense/movement/indexed.hpp"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "base/concurrency.hpp"
#include "base/data_findings.hpp"
#include "dense/movement.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

constexpr std::int64_t kMostRank = TNR_MAX_RANK;

void require_extent(const IndexedViews& views, std::uint32_t axis, const char* name,
                    std::uint32_t of_axis, std::int64_t extent) {
  if (views.values.shape[axis] == extent) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%" PRIu32 "] is %" PRId64 " but %s.shape[%" PRIu32 "] is %" PRId64,
       views.values_name, axis, views.values.shape[axis], name, of_axis, extent);
}

std::int64_t index_at(const tnr_view& indices, const std::int64_t* position) noexcept {
  std::int64_t offset = 0;
  for (std::uint32_t axis = 0; axis < indices.rank; ++axis) {
    offset += position[axis] * step_of(indices, axis);
  }
  const Byte* const at = static_cast<const Byte*>(indices.data) + offset;
  if (indices.dtype == TNR_DTYPE_I64) {
    std::int64_t index;
    std::memcpy(&index, at, sizeof index);
    return index;
  }
  std::int32_t index;
  std::memcpy(&index, at, sizeof index);
  return index;
}

// Refuses the first index in row-major order that is outside. The caller knows that one is.
[[gnu::cold]] void refuse_first_index(const IndexedViews& views) {
  const tnr_view& indices = views.indices;
  const std::int64_t extent = views.target.shape[views.axis];
  std::int64_t position[TNR_MAX_RANK] = {};
  std::int64_t index = index_at(indices, position);
  while (index >= 0 && index < extent) {
    std::uint32_t axis = indices.rank;
    while (axis > 0 && ++position[axis - 1] == indices.shape[axis - 1]) position[--axis] = 0;
    if (axis == 0) break;  // another thread has changed them
    index = index_at(indices, position);
  }
  refuse_index(views, position, index);
}

// Checks indices that are not adjacent: copies them into a panel, one part at a time.
bool are_strided_below(const Nest& nest, const tnr_view& indices, std::int64_t limit) {
  const unsigned type = indices.dtype == TNR_DTYPE_I32 ? 0 : 1;
  const auto width = static_cast<std::int64_t>(element_size(indices.dtype));
  const kernels::StripKernel copy = kernels::copy_kernels()[width_index(indices.dtype)];
  const auto are_below = kernels::index_check_kernels()[type].are_below;
  const Byte* const data = static_cast<const Byte*>(indices.data);
  bool below = true;
  nest.for_each_strip([&](const std::int64_t* offsets) {
    std::int64_t panel[IndexedLoops::kPanel];
    Byte* const bytes = reinterpret_cast<Byte*>(panel);
    for (std::int64_t at = 0; at < nest.inner_extent(); at += IndexedLoops::kPanel) {
      const std::int64_t count = std::min(IndexedLoops::kPanel, nest.inner_extent() - at);
      const kernels::StripInput source[] = {
          {data + offsets[0] + at * nest.inner_step(0), nest.inner_step(0), width}};
      run_plainly(copy, dense_strip(count, bytes, width, source));
      below = below && are_below(bytes, count, limit);
    }
  });
  return below;
}

}  // namespace

void refuse_index(const IndexedViews& views, const std::int64_t* position, std::int64_t index) {
  const tnr_view& indices = views.indices;
  const std::int64_t extent = views.target.shape[views.axis];
  char place[TNR_MAX_RANK * 24] = "";
  std::size_t length = 0;
  for (std::uint32_t axis = 0; axis < indices.rank; ++axis) {
    length += static_cast<std::size_t>(std::snprintf(place + length, sizeof place - length,
                                                     axis == 0 ? "%" PRId64 : ", %" PRId64,
                                                     position[axis]));
  }
  refuse_data(TNR_STATUS_INVALID_ARGUMENT,
              "indices[%s] is %" PRId64 " but must be at least 0 and less than %" PRId64
              ", the extent of %s on axis %" PRIu32,
              place, index, extent, views.target_name, views.axis);
}

IndexedPins::IndexedPins(const IndexedViews& views, const tnr_view& in, const char* name,
                         const tnr_view_mut& out, const tnr_device& device) {
  check_view_mut(out, "out", device);
  check_view(in, name, device);
  check_view(views.indices, "indices", device);
  require_dtype(in, name, out.view.dtype, "out.dtype is");
  require_axis(views.axis, views.target, views.target_name);
  pins_.add_mut(out, "out");
  pins_.add(in, name);
  pins_.add(views.indices, "indices");
  require_alias(out.view, in, name, SameView::kRefused);
  require_alias(out.view, views.indices, "indices", SameView::kRefused);
}

void require_rows_shape(const IndexedViews& views) {
  const tnr_view& target = views.target;
  const tnr_view& indices = views.indices;
  const std::int64_t rank = std::int64_t{target.rank} - 1 + indices.rank;
  if (rank > kMostRank || std::int64_t{views.values.rank} != rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s.rank is %" PRIu32 " but those of %s and indices, less one axis, add up to %" PRId64,
         views.values_name, views.values.rank, views.target_name, rank);
  }
  for (std::uint32_t axis = 0; axis < views.values.rank; ++axis) {
    if (axis < views.axis) {
      require_extent(views, axis, views.target_name, axis, target.shape[axis]);
    } else if (axis < views.axis + indices.rank) {
      require_extent(views, axis, "indices", axis - views.axis, indices.shape[axis - views.axis]);
    } else {
      const std::uint32_t of_axis = axis + 1 - indices.rank;
      require_extent(views, axis, views.target_name, of_axis, target.shape[of_axis]);
    }
  }
}

void require_elements_shape(const IndexedViews& views) {
  require_rank(views.indices, "indices", views.target.rank);
  require_rank(views.values, views.values_name, views.target.rank);
  for (std::uint32_t axis = 0; axis < views.values.rank; ++axis) {
    require_extent(views, axis, "indices", axis, views.indices.shape[axis]);
    if (axis != views.axis) {
      require_extent(views, axis, views.target_name, axis, views.target.shape[axis]);
    }
  }
}

void require_index_dtype(const IndexedViews& views) {
  const tnr_view& indices = views.indices;
  if (indices.dtype != TNR_DTYPE_I32 && indices.dtype != TNR_DTYPE_I64) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "indices.dtype is %s but must be i32 or i64",
         dtype_name(indices.dtype));
  }
}

bool check_indices(const Context& context, const IndexedViews& views) {
  require_index_dtype(views);
  const tnr_view& indices = views.indices;
  if (is_empty(indices)) return true;
  const std::int64_t limit = views.target.shape[views.axis];
  Nest nest(1);
  for (std::uint32_t axis = 0; axis < indices.rank; ++axis) {
    const std::int64_t step = step_of(indices, axis);
    nest.add(step == 0 ? 1 : indices.shape[axis], &step);
  }
  nest.arrange(0);
  const auto width = static_cast<std::int64_t>(element_size(indices.dtype));
  bool below;
  if (nest.rank() > 1 || (nest.rank() == 1 && nest.inner_step(0) != width)) {
    below = are_strided_below(nest, indices, limit);
  } else {
    const auto are_below =
        kernels::index_check_kernels()[indices.dtype == TNR_DTYPE_I32 ? 0 : 1].are_below;
    const Byte* const data = static_cast<const Byte*>(indices.data) + nest.start(0);
    const std::int64_t count = nest.inner_extent();
    const std::int64_t slice_count = slice_count_of(context, count * width);
    Atomic<bool> above = false;
    for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
      const std::int64_t first = slice_begin(count, slice_count, slice);
      const std::int64_t last = slice_begin(count, slice_count, slice + 1);
      if (!are_below(data + first * width, last - first, limit))
        above.store(true, std::memory_order_relaxed);
    });
    below = !above.load(std::memory_order_relaxed);
  }
  if (!below) [[unlikely]]
    refuse_first_index(views);
  return below;
}

IndexedAxes::IndexedAxes(const IndexedViews& views, Names names) noexcept {
  const tnr_view& target = views.target;
  const tnr_view& values = views.values;
  const tnr_view& indices = views.indices;
  scale_ = step_of(target, views.axis);
  for (std::uint32_t axis = 0; axis < values.rank; ++axis) {
    const std::int64_t step = step_of(values, axis);
    if (names == Names::kElements) {
      const bool is_indexed = axis == views.axis;
      add(values.shape[axis], is_indexed ? 0 : step_of(target, axis), step, step_of(indices, axis),
          is_indexed);
    } else if (axis >= views.axis && axis < views.axis + indices.rank) {
      add(values.shape[axis], 0, step, step_of(indices, axis - views.axis), true);
    } else {
      const std::uint32_t of_axis = axis < views.axis ? axis : axis + 1 - indices.rank;
      add(values.shape[axis], step_of(target, of_axis), step, 0, false);
    }
  }
  join_rows(static_cast<std::int64_t>(element_size(target.dtype)));
}

void IndexedAxes::add(std::int64_t extent, std::int64_t target, std::int64_t values,
                      std::int64_t indices, bool is_indexed) noexcept {
  if (extent != 1) axes_[rank_++] = {extent, {target, values, indices}, is_indexed};
}

void IndexedAxes::join_rows(std::int64_t width_bytes) noexcept {
  row_bytes_ = width_bytes;
  for (std::uint32_t axis = rank_; axis-- > 0;) {
    const Axis& row = axes_[axis];
    if (row.is_indexed || row.steps[kIndices] != 0 || row.steps[kTarget] != row_bytes_ ||
        row.steps[kValues] != row_bytes_) {
      continue;
    }
    row_bytes_ *= row.extent;
    std::copy(axes_ + axis + 1, axes_ + rank_, axes_ + axis);
    axis = --rank_;  // from the last again: they may lie in any order
  }
}

std::int64_t IndexedAxes::count() const noexcept {
  std::int64_t count = 1;
  for (std::uint32_t axis = 0; axis < rank_; ++axis) count *= axes_[axis].extent;
  return count;
}

}  // namespace tenure
