// Poolings: maxima and means of windows.
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "cpu/dispatch.hpp"
#include "dense/checks.hpp"
#include "dense/image/channel_windows.hpp"
#include "dense/image/wide_images.hpp"
#include "memory/fresh_pages.hpp"

namespace tenure {
namespace {

using kernels::Byte;

constexpr std::uint32_t kAllPoolFlags = TNR_POOL2D_COUNT_PADDING | TNR_POOL2D_ADAPTIVE;

bool is_adaptive(const tnr_pool2d_attributes& attributes) noexcept {
  return (attributes.flags & TNR_POOL2D_ADAPTIVE) != 0;
}

// Attributes that windows by the extents of `out` cannot take.
void require_none(const std::int64_t* values, unsigned count, const char* field) {
  for (unsigned i = 0; i < count; ++i) {
    if (values[i] != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->%s[%u] is %" PRId64 " but must be 0, as TNR_POOL2D_ADAPTIVE is set", field,
           i, values[i]);
    }
  }
}

void check_pool_flags(const tnr_pool2d_attributes& attributes) {
  if ((attributes.flags & ~kAllPoolFlags) != 0 || attributes.flags == kAllPoolFlags) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->flags is %#" PRIx32
         " but must be 0, TNR_POOL2D_COUNT_PADDING or TNR_POOL2D_ADAPTIVE",
         attributes.flags);
  }
  if (!is_adaptive(attributes)) return;
  require_none(attributes.kernel, 2, "kernel");
  require_none(attributes.strides, 2, "strides");
  require_none(attributes.padding, 4, "padding");
  require_none(attributes.dilations, 2, "dilations");
}

// So many windows in a row have all that windows may miss: of a graph nobody has memory for as many
// as there are. No two places of a window have the image between them where it is as long as they
// are apart, so that the first one tells of what is before it. Others come again at the same
// places, by a whole number of dilations.
std::int64_t different_windows(const WindowGeometry& g, ChannelWindows::Spacing spacing,
                               unsigned axis) {
  if (spacing == ChannelWindows::Spacing::kAdaptive || g.kernel[axis] <= 1 ||
      g.dilations[axis] <= g.in[axis]) {
    return 1;
  }
  return g.dilations[axis] / std::gcd(g.strides[axis], g.dilations[axis]);
}

// `out` has elements: whether each window has one too. The first and the last ones are as far from
// the image as any.
void require_elements(const WindowGeometry& g, const ChannelWindows& windows,
                      ChannelWindows::Spacing spacing) {
  static constexpr const char* kNames[] = {"row", "column"};
  for (const unsigned axis : {kHeight, kWidth}) {
    const std::int64_t count = g.out[axis];
    const std::int64_t different = std::min(different_windows(g, spacing, axis), count);
    for (std::int64_t i = 0; i < count; ++i) {
      if (i == different) i = std::max(i, count - different);
      if (windows.inner_count(axis, i) != 0) continue;
      fail(TNR_STATUS_INVALID_ARGUMENT, "the windows of %s %" PRId64 " of out have no element of a",
           kNames[axis], i);
    }
  }
}

WindowGeometry pool_geometry(const tnr_view& a, const tnr_pool2d_attributes& attributes,
                             const tnr_view& out) {
  require_rank(a, "a", 4);
  require_rank(out, "out", 4);
  check_pool_flags(attributes);
  WindowGeometry g = {};
  g.images = a.shape[0];
  g.groups = a.shape[1];
  g.channels = g.filters = 1;
  g.a = image_steps(a);
  g.result = image_steps(out);
  require_extent(out, "out", 0, g.images, "the images of", "a");
  require_extent(out, "out", 1, g.groups, "the channels of", "a");
  static constexpr const char* kFits[] = {"the rows at which a window fits into",
                                          "the columns at which a window fits into"};
  for (const unsigned axis : {kHeight, kWidth}) {
    g.in[axis] = a.shape[2 + axis];
    g.out[axis] = out.shape[2 + axis];
    g.kernel[axis] = g.strides[axis] = g.dilations[axis] = 1;
    if (is_adaptive(attributes)) continue;
    g.kernel[axis] =
        given_or(attributes.kernel[axis], std::max<std::int64_t>(g.in[axis], 1), "kernel", axis);
    place_windows(g, axis, attributes, g.kernel[axis], "kernel", "a");
    require_extent(out, "out", 2 + axis, g.out[axis], kFits[axis], "a");
  }
  return g;
}

// Whether there is one window, which is the whole image.
bool is_global(const WindowGeometry& g, const ChannelWindows& windows) noexcept {
  if (g.out[kHeight] != 1 || g.out[kWidth] != 1) return false;
  return std::ranges::all_of(std::array{kHeight, kWidth}, [&](unsigned axis) {
    const ChannelWindows::Span span = windows.span_of(axis, 0);
    return span.first == 0 && span.count == g.in[axis] && (span.step == 1 || span.count == 1);
  });
}

// Sums become means.
struct Divide {
  const ChannelWindows& windows;
  const WindowGeometry& g;
  kernels::StripKernel divide;
  tnr_dtype dtype;
  bool counts_padding;

  static void run(const void* with, const WindowTile& tile) {
    const auto& self = *static_cast<const Divide*>(with);
    const auto width = static_cast<std::int64_t>(element_size(self.dtype));
    const std::int64_t rows = self.count(kHeight, tile.row);
    for (std::int64_t i = 0; i < tile.columns;) {
      const std::int64_t column = tile.first_column + i;
      const std::int64_t columns = self.count(kWidth, column);
      const std::int64_t end =
          std::min(tile.columns, self.windows.end_of_alike(kWidth, column) - tile.first_column);
      self.run_strip(tile.data + i * tile.filters * width, (end - i) * tile.filters,
                     static_cast<double>(rows) * static_cast<double>(columns), width);
      i = end;
    }
  }

 private:
  [[nodiscard]] std::int64_t count(unsigned axis, std::int64_t index) const noexcept {
    return counts_padding ? g.kernel[axis] : windows.inner_count(axis, index);
  }
  void run_strip(Byte* data, std::int64_t elements, double by, std::int64_t width) const noexcept {
    const auto narrow = static_cast<float>(by);
    const Byte* const divisor = dtype == TNR_DTYPE_F32 ? reinterpret_cast<const Byte*>(&narrow)
                                                       : reinterpret_cast<const Byte*>(&by);
    const kernels::Source in[] = {{data, width, width}, {divisor, 0, width}};
    run_plainly(divide, dense_strip(elements, data, width, in));
  }
};

struct CheckedPool {
  WindowGeometry geometry;
  tnr_dtype computed;
  unsigned type;
};
CheckedPool checked_pool(tnr_reduce_op op, const tnr_view& a,
                         const tnr_pool2d_attributes& attributes, const tnr_view& out) {
  if (op < 1 || static_cast<unsigned>(op) > kernels::kReduceCount) refuse_code("reduction", op);
  const WindowGeometry geometry = pool_geometry(a, attributes, out);
  const char* const name = op == TNR_REDUCE_OP_MAX ? "max_pool2d" : "avg_pool2d";
  if (op != TNR_REDUCE_OP_MAX && op != TNR_REDUCE_OP_MEAN) {
    fail(TNR_STATUS_UNSUPPORTED, "pool2d does not take the reduction %s",
         kernels::kReduceRows[op - 1].name);
  }
  const tnr_dtype computed = is_narrow(a.dtype) ? TNR_DTYPE_F32 : a.dtype;
  const unsigned type = require_image_type(name, computed);
  require_dtype(out, "out", a.dtype, "a.dtype is");
  return {geometry, computed, type};
}

ChannelWindows::Spacing spacing_of(const tnr_pool2d_attributes& attributes) noexcept {
  return is_adaptive(attributes) ? ChannelWindows::Spacing::kAdaptive
                                 : ChannelWindows::Spacing::kByStrides;
}

ChannelWindows pool_windows(const CheckedPool& pool, const tnr_pool2d_attributes& attributes) {
  const ChannelWindows windows(pool.geometry,
                               static_cast<std::int64_t>(element_size(pool.computed)),
                               spacing_of(attributes));
  require_elements(pool.geometry, windows, spacing_of(attributes));
  return windows;
}

}  // namespace

void check_pool2d(tnr_reduce_op op, const tnr_view& a, const tnr_pool2d_attributes& attributes,
                  const tnr_view& out) {
  const CheckedPool pool = checked_pool(op, a, attributes, out);
  if (!is_empty(out)) (void)pool_windows(pool, attributes);
}

void pool2d(const Context& context, tnr_reduce_op op, const tnr_view& a,
            const tnr_pool2d_attributes& attributes, const tnr_view_mut& out) {
  check_view_mut(out, "out");
  check_view(a, "a");
  const CheckedPool pool = checked_pool(op, a, attributes, out.view);
  const auto& [geometry, computed, type] = pool;
  const bool narrow = is_narrow(a.dtype);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_POOL2D, 0, 0);

  const auto width_bytes = static_cast<std::int64_t>(element_size(computed));
  const ChannelWindows windows = pool_windows(pool, attributes);
  if (is_global(geometry, windows)) {
    constexpr std::uint32_t kImageAxes = 0b1100;
    return reduce(context, op, a, kImageAxes, std::nullopt, out);
  }
  const kernels::WindowKernels& kernels = kernels::window_kernels()[type];
  const bool is_max = op == TNR_REDUCE_OP_MAX;
  const auto divide = kernels::binary_kernels()[TNR_BINARY_OP_DIV - 1][type].kernel;
  const auto run = [&](const WindowGeometry& g, const tnr_view& from, const tnr_view_mut& to) {
    const ChannelWindows of(g, width_bytes, spacing_of(attributes));
    const Divide finish = {of, g, divide, computed,
                           (attributes.flags & TNR_POOL2D_COUNT_PADDING) != 0};
    of.run(context, {&kernels, is_max ? kernels.max : kernels.sum, nullptr},
           element_bytes(from) + element_bytes(to.view), static_cast<const Byte*>(from.data),
           writable(to), {is_max ? nullptr : Divide::run, &finish});
  };
  if (narrow) {
    const WideImages wide(a, out);
    WindowGeometry of_chunk = pool_geometry(wide.a(), attributes, wide.out().view);
    wide.for_each_chunk(context, [&](std::int64_t images) {
      of_chunk.images = images;
      run(of_chunk, wide.a(), wide.out());
    });
  } else {
    touch_fresh_pages(context, writable(out), dense_count(out.view) * width_bytes);
    run(geometry, a, out);
  }
  count_call(TNR_OPERATION_POOL2D, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure
