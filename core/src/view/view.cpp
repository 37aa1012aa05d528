// Changes of shape that touch no element.
#include "tenure/view.hpp"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "tenure/shape_rules.hpp"

namespace tenure {
namespace {

void check_axis(const tnr_view& view, std::uint32_t axis, const char* name) {
  if (axis >= view.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRIu32 " but must be below the rank, %" PRIu32,
         name, axis, view.rank);
  }
}

void check_bounds(std::int64_t value, std::int64_t low, std::int64_t high, const char* name) {
  if (value < low || value > high) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRId64 " but must lie in %" PRId64 " to %" PRId64,
         name, value, low, high);
  }
}

// A stride times a factor, or 0 on overflow: no index of a checked view can use such a stride,
// since the elements that it would separate lie in memory.
std::int64_t stride_times(std::int64_t stride, std::int64_t factor) {
  std::int64_t product;
  return __builtin_mul_overflow(stride, factor, &product) ? 0 : product;
}

// Returns a view of the same memory, dtype and device, with `rank` axes whose extents and strides
// are 0.
tnr_view same_memory(const tnr_view& view, std::uint32_t rank) {
  tnr_view result = view;
  result.flags = 0;
  result.rank = rank;
  std::fill_n(result.shape, TNR_MAX_RANK, 0);
  std::fill_n(result.strides, TNR_MAX_RANK, 0);
  return result;
}

void set_axis(tnr_view& result, std::uint32_t axis, std::int64_t extent, std::int64_t stride) {
  result.shape[axis] = extent;
  result.strides[axis] = stride;
}

void copy_axis(tnr_view& result, std::uint32_t to, const tnr_view& view, std::uint32_t from) {
  set_axis(result, to, view.shape[from], view.strides[from]);
}

// Puts element 0 of the result at `index` on `axis` of the view it came from. Only a result with
// elements has that element; the product could not be computed for any other.
void place(tnr_view& result, const tnr_view& view, std::uint32_t axis, std::int64_t index) {
  if (is_empty(result)) {
    result.data = result.base;
  } else if (index != 0) {
    result.data = static_cast<const char*>(view.data) +
                  index * view.strides[axis] * static_cast<std::int64_t>(element_size(view.dtype));
  }
}

// Runs of axes that one stride describes: each is `extent` elements, `stride` apart.
struct Runs {
  std::uint32_t count = 0;
  std::int64_t extents[TNR_MAX_RANK];
  std::int64_t strides[TNR_MAX_RANK];
};

// Joins neighbouring axes as far as possible, innermost first. Two join when a step of the outer
// one is as long as the whole inner one, for then row-major order runs through both evenly.
Runs maximal_runs(const tnr_view& view) {
  Runs runs;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    if (view.shape[axis] == 1) continue;
    if (runs.count != 0) {
      std::int64_t& extent = runs.extents[runs.count - 1];
      std::int64_t whole;
      if (!__builtin_mul_overflow(runs.strides[runs.count - 1], extent, &whole) &&
          whole == view.strides[axis]) {
        extent *= view.shape[axis];
        continue;
      }
    }
    runs.extents[runs.count] = view.shape[axis];
    runs.strides[runs.count] = view.strides[axis];
    ++runs.count;
  }
  return runs;
}

// Cuts the runs into the extents of result.shape, innermost first, and writes the strides. False
// when an axis would have to cross from one run into the next: its steps would be uneven there,
// because runs that continue evenly have been joined.
bool cut_runs(const Runs& runs, tnr_view& result) {
  std::uint32_t run = 0;
  std::int64_t remaining = runs.count == 0 ? 1 : runs.extents[0];
  std::int64_t stride = runs.count == 0 ? 1 : runs.strides[0];
  for (std::uint32_t axis = result.rank; axis-- > 0;) {
    const std::int64_t extent = result.shape[axis];
    if (extent > 1 && remaining == 1) {
      // The element counts are equal, so an extent left over means that a run is left over.
      ++run;
      remaining = runs.extents[run];
      stride = runs.strides[run];
    }
    if (remaining % extent != 0) return false;
    result.strides[axis] = stride;
    remaining /= extent;
    stride = stride_times(stride, extent);
  }
  return true;
}

}  // namespace

tnr_view slice(const tnr_view& view, std::uint32_t axis, std::int64_t start, std::int64_t stop,
               std::int64_t step) {
  check_axis(view, axis, "axis");
  std::int64_t count = view.shape[axis];
  require_none(slice_extent(count, start, stop, step));
  tnr_view result = same_memory(view, view.rank);
  for (std::uint32_t i = 0; i < view.rank; ++i) copy_axis(result, i, view, i);
  set_axis(result, axis, count, stride_times(view.strides[axis], step));
  place(result, view, axis, start);
  return result;
}

tnr_view index(const tnr_view& view, std::uint32_t axis, std::int64_t index) {
  check_axis(view, axis, "axis");
  if (index < 0 || index >= view.shape[axis]) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "index is %" PRId64 " but must be at least 0 and below the extent, %" PRId64, index,
         view.shape[axis]);
  }
  tnr_view result = same_memory(view, view.rank - 1);
  for (std::uint32_t i = 0; i < result.rank; ++i) copy_axis(result, i, view, i < axis ? i : i + 1);
  place(result, view, axis, index);
  return result;
}

tnr_view permute(const tnr_view& view, std::uint32_t rank, const std::uint32_t* axes) {
  if (rank != view.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "rank is %" PRIu32 " but must be the view's, %" PRIu32, rank,
         view.rank);
  }
  if (rank != 0 && axes == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "axes is NULL but rank is %" PRIu32, rank);
  }
  tnr_view result = same_memory(view, rank);
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < rank; ++i) {
    if (axes[i] >= rank) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "axes[%" PRIu32 "] is %" PRIu32 " but must be below the rank, %" PRIu32, i, axes[i],
           rank);
    }
    if ((seen >> axes[i] & 1u) != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "axes[%" PRIu32 "] is %" PRIu32 " for the second time but each axis must appear once", i,
           axes[i]);
    }
    seen |= 1u << axes[i];
    copy_axis(result, i, view, axes[i]);
  }
  return result;
}

tnr_view transpose(const tnr_view& view, std::uint32_t axis_a, std::uint32_t axis_b) {
  check_axis(view, axis_a, "axis_a");
  check_axis(view, axis_b, "axis_b");
  std::uint32_t axes[TNR_MAX_RANK];
  for (std::uint32_t i = 0; i < view.rank; ++i) axes[i] = i;
  std::swap(axes[axis_a], axes[axis_b]);
  return permute(view, view.rank, axes);
}

// Decides as NumPy's reshape without a copy, in two steps: joins axes that row-major order runs
// through evenly, then cuts the joined axes.
tnr_view reshape(const tnr_view& view, std::uint32_t rank, const std::int64_t* shape) {
  require_none(reshaped(view.rank, view.shape, rank, shape));
  tnr_view result = same_memory(view, rank);
  std::copy_n(shape, rank, result.shape);
  if (is_empty(result)) {
    set_row_major_strides(result);
  } else if (!cut_runs(maximal_runs(view), result)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "shape is %s, which needs a copy: a view of shape %s with strides %s cannot say it",
         shape_text(rank, shape).text, shape_text(view.rank, view.shape).text,
         shape_text(view.rank, view.strides).text);
  }
  return result;
}

tnr_view flatten(const tnr_view& view) {
  const std::int64_t count = element_count(view);
  return reshape(view, 1, &count);
}

tnr_view squeeze(const tnr_view& view, std::uint32_t axis) {
  check_axis(view, axis, "axis");
  if (view.shape[axis] != 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "axis is %" PRIu32 ", whose extent is %" PRId64 " but must be 1", axis, view.shape[axis]);
  }
  return index(view, axis, 0);
}

tnr_view unsqueeze(const tnr_view& view, std::uint32_t axis) {
  check_bounds(axis, 0, view.rank, "axis");
  if (view.rank == TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the view's rank is %d, to which no axis can be added",
         TNR_MAX_RANK);
  }
  tnr_view result = same_memory(view, view.rank + 1);
  for (std::uint32_t i = 0; i < view.rank; ++i) copy_axis(result, i < axis ? i : i + 1, view, i);
  const bool last = axis == view.rank;
  set_axis(result, axis, 1, last ? 1 : stride_times(view.strides[axis], view.shape[axis]));
  return result;
}

tnr_view broadcast(const tnr_view& view, std::uint32_t rank, const std::int64_t* shape) {
  require_none(broadcast_to(view.rank, view.shape, rank, shape));
  tnr_view result = same_memory(view, rank);
  const std::uint32_t added = rank - view.rank;
  for (std::uint32_t i = 0; i < rank; ++i) {
    set_axis(result, i, shape[i], 0);
    if (i >= added && view.shape[i - added] == shape[i]) copy_axis(result, i, view, i - added);
  }
  if (is_empty(result)) result.data = result.base;
  return result;
}

tnr_view flip(const tnr_view& view, std::uint32_t axis) {
  check_axis(view, axis, "axis");
  return slice(view, axis, view.shape[axis] - 1, -1, -1);
}

SplitViews split(const tnr_view& view, std::uint32_t axis, std::int64_t index) {
  check_axis(view, axis, "axis");
  check_bounds(index, 0, view.shape[axis], "index");
  return {slice(view, axis, 0, index, 1), slice(view, axis, index, view.shape[axis], 1)};
}

tnr_view chunk(const tnr_view& view, std::uint32_t axis, std::int64_t chunk_count,
               std::int64_t index) {
  check_axis(view, axis, "axis");
  if (chunk_count < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "chunk_count is %" PRId64 " but must be at least 1",
         chunk_count);
  }
  check_bounds(index, 0, chunk_count - 1, "index");
  const std::int64_t shorter = view.shape[axis] / chunk_count;
  const std::int64_t longer_count = view.shape[axis] % chunk_count;
  const std::int64_t start = index * shorter + std::min(index, longer_count);
  return slice(view, axis, start, start + shorter + (index < longer_count ? 1 : 0), 1);
}

tnr_view windows(const tnr_view& view, std::uint32_t axis, std::int64_t size, std::int64_t step) {
  check_axis(view, axis, "axis");
  if (view.shape[axis] == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "size is %" PRId64 " but the axis is empty", size);
  }
  check_bounds(size, 1, view.shape[axis], "size");
  if (step < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "step is %" PRId64 " but must be at least 1", step);
  }
  if (view.rank == TNR_MAX_RANK) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "the view's rank is %d, to which no axis can be added",
         TNR_MAX_RANK);
  }
  tnr_view result = same_memory(view, view.rank + 1);
  for (std::uint32_t i = 0; i < view.rank; ++i) copy_axis(result, i, view, i);
  const std::int64_t window_count = (view.shape[axis] - size) / step + 1;
  set_axis(result, axis, window_count, stride_times(view.strides[axis], step));
  set_axis(result, view.rank, size, view.strides[axis]);
  // Windows overlap, so there can be more elements in them than the view has.
  checked_element_count(result.rank, result.shape);
  return result;
}

}  // namespace tenure
