// Gradients of poolings: of maxima at one element of each window, of means at all of them.
//
// A task is some channels of an image, whose windows are taken in row-major order: each element of
// the result belongs to one task, so that its sum has the same order for any number of threads.
#include <algorithm>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/image/channel_windows.hpp"
#include "dense/image/pool_geometry.hpp"
#include "dense/image/wide_images.hpp"
#include "memory/fresh_pages.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_call.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/ops.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Channels of a task, where they are lanes: some lines.
constexpr std::int64_t kLanesOfTask = 64;

class PoolGradient {
 public:
  // `geometry` has the steps of the images and of the gradients, `out` those of the result. It
  // outlives this.
  PoolGradient(const CheckedPool& pool, const WindowGeometry& geometry, const ImageSteps& out,
               tnr_reduce_op op, bool counts_padding) noexcept
      : g_(geometry),
        out_(out),
        width_bytes_(static_cast<std::int64_t>(element_size(pool.computed))),
        windows_(geometry, width_bytes_, pool.spacing),
        add_(op == TNR_REDUCE_OP_MAX ? kernels::window_kernels()[pool.type].add_to_greatest
                                     : kernels::window_kernels()[pool.type].spread),
        is_by_strides_(pool.spacing == WindowSpacing::kByStrides),
        counts_padding_(counts_padding),
        lanes_are_channels_(g_.groups > 1 && out.channel == width_bytes_) {}

  void run(const Context& context, std::uint64_t moved_bytes, const Byte* a, const Byte* g,
           Byte* out) const noexcept {
    const std::int64_t lanes = lanes_are_channels_ ? kLanesOfTask : 1;
    const std::int64_t of_image = (g_.groups - 1) / lanes + 1;
    const std::int64_t tasks = g_.images * of_image;
    const std::int64_t slices =
        std::min(tasks, slice_count_of(context, static_cast<std::int64_t>(std::min<std::uint64_t>(
                                                    moved_bytes, INT64_MAX))));
    for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t end = slice_begin(tasks, slices, slice + 1);
      for (std::int64_t task = slice_begin(tasks, slices, slice); task < end; ++task) {
        const std::int64_t image = task / of_image;
        const std::int64_t channel = task % of_image * lanes;
        run_task({a + image * g_.a.image + channel * g_.a.channel,
                  g + image * g_.result.image + channel * g_.result.channel,
                  out + image * out_.image + channel * out_.channel,
                  std::min(lanes, g_.groups - channel)});
      }
    });
  }

 private:
  struct Task {
    const Byte* a;
    const Byte* g;
    Byte* out;
    std::int64_t channels;
  };
  // The elements of the image that the windows of an index have along an axis.
  struct Elements {
    std::int64_t first;
    std::int64_t count;
    std::int64_t step;
    double divisor;  // of a mean, by this axis
  };

  [[nodiscard]] Elements elements_of(unsigned axis, std::int64_t index) const noexcept {
    const ChannelWindows::Span span = windows_.span_of(axis, index);
    const std::int64_t before = span.first < 0 ? (-span.first - 1) / span.step + 1 : 0;
    const std::int64_t count = windows_.inner_count(axis, index);
    const std::int64_t divisor = counts_padding_ ? padded_count(g_, axis, index) : count;
    return {span.first + before * span.step, count, span.step, static_cast<double>(divisor)};
  }

  void run_task(const Task& task) const noexcept {
    set_zeros(task);
    for (std::int64_t y = 0; y < g_.out[kHeight]; ++y) {
      const Elements rows = elements_of(kHeight, y);
      for (std::int64_t x = 0; x < g_.out[kWidth];) {
        const Elements columns = elements_of(kWidth, x);
        // Windows whose columns are alike are lanes.
        std::int64_t next = x + 1;
        if (!lanes_are_channels_ && is_by_strides_) {
          next = std::min(windows_.end_of_alike(kWidth, x), g_.out[kWidth]);
        }
        kernels::WindowGradients w = {};
        w.a = task.a + rows.first * g_.a.place[kHeight] + columns.first * g_.a.place[kWidth];
        w.out = task.out + rows.first * out_.place[kHeight] + columns.first * out_.place[kWidth];
        w.g = task.g + y * g_.result.place[kHeight] + x * g_.result.place[kWidth];
        w.rows = rows.count;
        w.columns = columns.count;
        w.a_steps[0] = rows.step * g_.a.place[kHeight];
        w.a_steps[1] = columns.step * g_.a.place[kWidth];
        w.out_steps[0] = rows.step * out_.place[kHeight];
        w.out_steps[1] = columns.step * out_.place[kWidth];
        if (lanes_are_channels_) {
          w.lanes = task.channels;
          w.a_lane_step = g_.a.channel;
          w.out_lane_step = out_.channel;
          w.g_lane_step = g_.result.channel;
        } else {
          w.lanes = next - x;
          w.a_lane_step = g_.strides[kWidth] * g_.a.place[kWidth];
          w.out_lane_step = g_.strides[kWidth] * out_.place[kWidth];
          w.g_lane_step = g_.result.place[kWidth];
        }
        w.divisor = rows.divisor * columns.divisor;
        add_(w);
        x = next;
      }
    }
  }

  void set_zeros(const Task& task) const noexcept {
    for (std::int64_t y = 0; y < g_.in[kHeight]; ++y) {
      Byte* to = task.out + y * out_.place[kHeight];
      if (!lanes_are_channels_ && out_.place[kWidth] == width_bytes_) {
        std::memset(to, 0, static_cast<std::size_t>(g_.in[kWidth] * width_bytes_));
        continue;
      }
      const auto bytes = static_cast<std::size_t>(task.channels * width_bytes_);
      for (std::int64_t x = 0; x < g_.in[kWidth]; ++x, to += out_.place[kWidth]) {
        std::memset(to, 0, bytes);
      }
    }
  }

  const WindowGeometry& g_;
  ImageSteps out_;
  std::int64_t width_bytes_;
  ChannelWindows windows_;
  void (*add_)(const kernels::WindowGradients&);
  bool is_by_strides_;
  bool counts_padding_;
  bool lanes_are_channels_;
};

// The pooling by windows of `a` that gives `g`.
CheckedPool checked_gradient(tnr_reduce_op op, const tnr_view& a, const tnr_view& g,
                             const tnr_pool2d_attributes& attributes, const tnr_view& out) {
  const CheckedPool pool = checked_pool(op, a, attributes, g, "g");
  require_rank(out, "out", 4);
  for (std::uint32_t axis = 0; axis < 4; ++axis) {
    require_extent(out, "out", axis, a.shape[axis], "that of", "a");
  }
  require_dtype(out, "out", a.dtype, "a.dtype is");
  return pool;
}

}  // namespace

void check_pool2d_gradient(tnr_reduce_op op, const tnr_view& a, const tnr_view& g,
                           const tnr_pool2d_attributes& attributes, const tnr_view& out) {
  const CheckedPool pool = checked_gradient(op, a, g, attributes, out);
  if (!is_empty(g)) require_elements(pool, "g");
}

void pool2d_gradient(const Context& context, tnr_reduce_op op, const tnr_view& a, const tnr_view& g,
                     const tnr_pool2d_attributes& attributes, const tnr_view_mut& out) {
  const DeviceQueue* const queue = queue_on_device(context, out.view, "out");
  const tnr_device device = device_of(queue);
  check_view_mut(out, "out", device);
  check_view(a, "a", device);
  check_view(g, "g", device);
  const CheckedPool pool = checked_gradient(op, a, g, attributes, out.view);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  pins.add(g, "g");
  require_alias(out.view, a, "a", SameView::kRefused);
  require_alias(out.view, g, "g", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_POOL2D_GRADIENT, 0, 0);
  if (!is_empty(g)) require_elements(pool, "g");

  const bool counts_padding = (attributes.flags & TNR_POOL2D_COUNT_PADDING) != 0;
  const std::uint64_t read_bytes =
      element_bytes(g) + (op == TNR_REDUCE_OP_MAX ? element_bytes(a) : 0);
  if (queue != nullptr) [[unlikely]] {
    queue->enqueue(DevicePool2dGradient{op, a, g, attributes, out, pins});
    return count_call(TNR_OPERATION_POOL2D_GRADIENT, read_bytes, element_bytes(out.view));
  }
  const auto run = [&](const WindowGeometry& geometry, const tnr_view& images,
                       const tnr_view& gradients, const tnr_view_mut& to) {
    const PoolGradient gradient(pool, geometry, image_steps(to.view), op, counts_padding);
    gradient.run(context, element_bytes(images) + element_bytes(to.view),
                 static_cast<const Byte*>(images.data), static_cast<const Byte*>(gradients.data),
                 writable(to));
  };
  if (is_narrow(a.dtype)) {
    const WideImages wide(a, out, &g);
    WindowGeometry of_chunk = checked_pool(op, wide.a(), attributes, wide.other(), "g").geometry;
    wide.for_each_chunk(context, [&](std::int64_t images) {
      of_chunk.images = images;
      run(of_chunk, wide.a(), wide.other(), wide.out());
    });
  } else {
    touch_fresh_pages(context, writable(out),
                      dense_count(out.view) * static_cast<std::int64_t>(element_size(a.dtype)));
    run(pool.geometry, a, g, out);
  }
  count_call(TNR_OPERATION_POOL2D_GRADIENT, read_bytes, element_bytes(out.view));
}

}  // namespace tenure
