// Poolings.
#include <algorithm>

#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/images/image_axes.hpp"
#include "dense/image/pool_geometry.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"

namespace tenure::cuda {
namespace {

// Kernels divide by the elements of the kernel.
void require_whole_windows(const Queue& queue, const WindowGeometry& g) {
  for (const unsigned axis : {kHeight, kWidth}) {
    if (g.out[axis] == 0 || padded_count(g, axis, g.out[axis] - 1) == g.kernel[axis]) continue;
    fail(TNR_STATUS_UNSUPPORTED,
         "pool2d counts the padding of windows that end beyond it on the CPU only, not on %s",
         DeviceName(queue.device()).text);
  }
}

void run_pool(const Queue& queue, tnr_reduce_op op, const CheckedPool& pool, const tnr_view& a,
              const tnr_pool2d_attributes& attributes, const tnr_view_mut& out) {
  const WindowGeometry& g = pool.geometry;
  PoolArgument argument = {};
  for (const unsigned axis : {kHeight, kWidth}) {
    argument.axes[axis] = image_axis(queue, g, axis, "a");
  }
  argument.a = bytes_of(a);
  argument.out = writable(out);
  argument.a_image_step = g.a.image;
  argument.a_channel_step = g.a.channel;
  argument.out_image_step = g.result.image;
  argument.out_channel_step = g.result.channel;
  argument.type = static_cast<ElementType>(type_index(a.dtype));
  argument.is_max = op == TNR_REDUCE_OP_MAX ? 1 : 0;
  argument.is_adaptive = pool.spacing == WindowSpacing::kAdaptive ? 1 : 0;
  argument.counts_padding = (attributes.flags & TNR_POOL2D_COUNT_PADDING) != 0 ? 1 : 0;
  const Kernel kernel = a.dtype == TNR_DTYPE_F64 ? Kernel::pool_f64 : Kernel::pool_f32;
  const std::int64_t at_once = require_images_at_once(queue, out.view);
  for (std::int64_t first = 0; first < g.images; first += at_once) {
    const std::int64_t images = std::min(at_once, g.images - first);
    argument.walk = result_walk(out.view, images);
    const std::int64_t blocks = quotient_up(argument.walk.count, kThreads);
    queue.launch(kernel, {static_cast<unsigned>(blocks), kThreads}, argument);
    argument.a += images * argument.a_image_step;
    argument.out += images * argument.out_image_step;
  }
}

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
  if ((attributes.flags & TNR_POOL2D_COUNT_PADDING) != 0) {
    require_whole_windows(queue, pool.geometry);
  }
  const QueueOrder order(queue, pins);
  run_pool(queue, op, pool, a, attributes, out);
  count_call(TNR_OPERATION_POOL2D, element_bytes(a), element_bytes(out.view));
}

}  // namespace tenure::cuda
