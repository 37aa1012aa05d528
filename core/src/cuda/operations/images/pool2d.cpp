// Poolings, and their gradients.
#include <algorithm>
#include <optional>

#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/images/image_axes.hpp"
#include "dense/image/pool_geometry.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"

namespace tenure::cuda {
namespace {

// All but the memory of the result.
PoolArgument pool_argument(const Queue& queue, tnr_reduce_op op, const CheckedPool& pool,
                           const tnr_view& a, const tnr_pool2d_attributes& attributes) {
  const WindowGeometry& g = pool.geometry;
  PoolArgument argument = {};
  for (const unsigned axis : {kHeight, kWidth}) {
    argument.axes[axis] = image_axis(queue, g, axis, "a");
    argument.last_counts[axis] = static_cast<std::uint32_t>(padded_count(g, axis, g.out[axis] - 1));
  }
  argument.a = bytes_of(a);
  argument.a_image_step = g.a.image;
  argument.a_channel_step = g.a.channel;
  argument.out_image_step = g.result.image;
  argument.out_channel_step = g.result.channel;
  argument.type = static_cast<ElementType>(type_index(a.dtype));
  argument.is_max = op == TNR_REDUCE_OP_MAX ? 1 : 0;
  argument.is_adaptive = pool.spacing == WindowSpacing::kAdaptive ? 1 : 0;
  argument.counts_padding = (attributes.flags & TNR_POOL2D_COUNT_PADDING) != 0 ? 1 : 0;
  return argument;
}

void run_pool(const Queue& queue, tnr_reduce_op op, const CheckedPool& pool, const tnr_view& a,
              const tnr_pool2d_attributes& attributes, const tnr_view_mut& out) {
  const WindowGeometry& g = pool.geometry;
  PoolArgument argument = pool_argument(queue, op, pool, a, attributes);
  argument.out = writable(out);
  const Kernel kernel = a.dtype == TNR_DTYPE_F64 ? Kernel::pool_f64 : Kernel::pool_f32;
  const std::int64_t at_once = require_images_at_once(queue, out.view);
  for (std::int64_t first = 0; first < g.images; first += at_once) {
    const std::int64_t images = std::min(at_once, g.images - first);
    argument.walk = result_walk(out.view, images);
    queue.launch(kernel, grid_of(argument.walk.count, kThreads), argument);
    argument.a += images * argument.a_image_step;
    argument.out += images * argument.out_image_step;
  }
}

// A pooling whose gradients `g` become those of its images.
class PoolGradient {
 public:
  PoolGradient(const Queue& queue, const DevicePool2dGradient& call, const CheckedPool& pool)
      : queue_(queue),
        call_(call),
        is_wide_(call.a.dtype == TNR_DTYPE_F64),
        at_once_(require_images_at_once(queue, call.out.view)) {
    argument_.windows = pool_argument(queue, call.op, pool, call.a, call.attributes);
    argument_.g = bytes_of(call.g);
    argument_.out = writable(call.out);
    const ImageSteps out = image_steps(call.out.view);
    argument_.out_image_step = out.image;
    argument_.out_channel_step = out.channel;
    std::copy_n(out.place, kImageAxes, argument_.out_steps);
    if (is_max() && !is_empty(call.g)) {
      at_once_ = std::min(at_once_, require_images_at_once(queue, call.g, "g"));
    }
    at_once_ = std::min(at_once_, call.a.shape[0]);
  }

  void run() {
    std::optional<Queue::Scratch> places;
    if (is_max() && !is_empty(call_.g)) {
      argument_.windows.walk = result_walk(call_.g, at_once_);
      places.emplace(queue_, std::size_t{argument_.windows.walk.count} * sizeof(std::uint32_t));
      argument_.places = static_cast<std::uint32_t*>(places->data());
      set_place_steps();
    }
    for (std::int64_t first = 0; first < call_.a.shape[0]; first += at_once_) {
      const std::int64_t images = std::min(at_once_, call_.a.shape[0] - first);
      if (places) {
        argument_.windows.walk = result_walk(call_.g, images);
        launch(is_wide_ ? Kernel::pool_greatest_f64 : Kernel::pool_greatest_f32,
               argument_.windows.walk);
      }
      argument_.walk = result_walk(call_.out.view, images);
      launch(is_wide_ ? Kernel::pool_gradient_f64 : Kernel::pool_gradient_f32, argument_.walk);
      argument_.windows.a += images * argument_.windows.a_image_step;
      argument_.g += images * argument_.windows.out_image_step;
      argument_.out += images * argument_.out_image_step;
    }
  }

 private:
  [[nodiscard]] bool is_max() const noexcept { return call_.op == TNR_REDUCE_OP_MAX; }
  void launch(Kernel kernel, const ResultWalk& walk) const {
    queue_.launch(kernel, grid_of(walk.count, kThreads), argument_);
  }

  // Places are in the order in which threads find them.
  void set_place_steps() noexcept {
    const auto extent = [&](unsigned axis) {
      return static_cast<std::uint32_t>(call_.g.shape[axis]);
    };
    const bool channels_first = argument_.windows.walk.channels_first != 0;
    const std::uint32_t of_column = channels_first ? extent(1) : 1;
    argument_.place_steps[kWidth] = of_column;
    argument_.place_steps[kHeight] = extent(3) * of_column;
    argument_.place_channel_step = channels_first ? 1 : extent(2) * extent(3);
    argument_.place_image_step = extent(1) * extent(2) * extent(3);
  }

  const Queue& queue_;
  const DevicePool2dGradient& call_;
  bool is_wide_;
  std::int64_t at_once_;  // images
  PoolGradientArgument argument_ = {};
};

}  // namespace

void enqueue(const Queue& queue, const DevicePool2d& call) {
  const auto& [op, a, attributes, out] = call;
  check_view_mut(out, "out", queue.device());
  check_view(a, "a", queue.device());
  const CheckedPool pool = checked_pool(op, a, attributes, out.view);
  Pins pins;
  pins.add_mut(out, "out");
  pins.add(a, "a");
  require_alias(out.view, a, "a", SameView::kRefused);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_POOL2D, 0, 0);
  require_elements(pool);
  if (is_global(pool)) {
    constexpr std::uint32_t kOfPixels = 0b1100;
    return enqueue(queue, DeviceReduce{op, a, kOfPixels, 0, out, 0});
  }
  const QueueOrder order(queue, pins);
  run_pool(queue, op, pool, a, attributes, out);
  count_call(TNR_OPERATION_POOL2D, element_bytes(a), element_bytes(out.view));
}

void enqueue(const Queue& queue, const DevicePool2dGradient& call) {
  PoolGradient gradient(queue, call, checked_pool(call.op, call.a, call.attributes, call.g, "g"));
  const QueueOrder order(queue, call.pins);
  gradient.run();
}

}  // namespace tenure::cuda
