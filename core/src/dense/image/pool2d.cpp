// Poolings: maxima and means of windows.
#include <algorithm>

#include "cpu/dispatch.hpp"
#include "dense/image/channel_windows.hpp"
#include "dense/image/pool_geometry.hpp"
#include "dense/image/wide_images.hpp"
#include "dense/loops/strip_runner.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

using kernels::Byte;

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
    return counts_padding ? padded_count(g, axis, index) : windows.inner_count(axis, index);
  }
  void run_strip(Byte* data, std::int64_t elements, double by, std::int64_t width) const noexcept {
    const auto narrow = static_cast<float>(by);
    const Byte* const divisor = dtype == TNR_DTYPE_F32 ? reinterpret_cast<const Byte*>(&narrow)
                                                       : reinterpret_cast<const Byte*>(&by);
    const kernels::StripInput in[] = {{data, width, width}, {divisor, 0, width}};
    run_plainly(divide, dense_strip(elements, data, width, in));
  }
};

}  // namespace

void pool2d(const Context& context, tnr_reduce_op op, const tnr_view& a,
            const tnr_pool2d_attributes& attributes, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out").enqueue(DevicePool2d{op, a, attributes, out});
  check_view_mut(out, "out");
  check_view(a, "a");
  const CheckedPool pool = checked_pool(op, a, attributes, out.view);
  const auto& [geometry, spacing, computed, type] = pool;
  const bool narrow = is_narrow(a.dtype);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_POOL2D, 0, 0);

  const auto width_bytes = static_cast<std::int64_t>(element_size(computed));
  require_elements(pool);
  if (is_global(pool)) {
    constexpr std::uint32_t kImageAxes = 0b1100;
    return reduce(context, op, a, kImageAxes, 0, out);
  }
  const kernels::WindowKernels& kernels = kernels::window_kernels()[type];
  const bool is_max = op == TNR_REDUCE_OP_MAX;
  const auto divide = kernels::binary_kernels()[TNR_BINARY_OP_DIV - 1][type].kernel;
  const auto run = [&](const WindowGeometry& g, const tnr_view& from, const tnr_view_mut& to) {
    const ChannelWindows of(g, width_bytes, spacing);
    const Divide finish = {of, g, divide, computed,
                           (attributes.flags & TNR_POOL2D_COUNT_PADDING) != 0};
    const WindowFold fold = {&kernels, is_max ? kernels.max : kernels.sum, nullptr,
                             is_max ? nullptr : kernels.sum_in_runs};
    of.run(context, fold, element_bytes(from) + element_bytes(to.view),
           static_cast<const Byte*>(from.data), writable(to),
           {is_max ? nullptr : Divide::run, &finish});
  };
  if (narrow) {
    const WideImages wide(a, out);
    WindowGeometry of_chunk = checked_pool(op, wide.a(), attributes, wide.out().view).geometry;
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
