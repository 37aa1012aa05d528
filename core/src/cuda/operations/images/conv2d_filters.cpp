// Gradients of filters: a convolution of the images by the gradients, in which images are channels
// and channels are images. The stride is the dilation, and the dilation is the stride.
#include <algorithm>
#include <cinttypes>
#include <utility>

#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/images/conv_kernels.hpp"
#include "cuda/operations/images/image_axes.hpp"
#include "cuda/operations/reduce_plan.hpp"
#include "dense/image/geometry.hpp"
#include "memory/queue_order.hpp"

namespace tenure::cuda {
namespace {

// Blocks that keep the largest device busy, and products of an element that are worth a part of its
// sum. Bits depend on both, and on nothing of the device.
constexpr std::int64_t kEnoughBlocks = 1024;
constexpr std::int64_t kFewestProducts = 128;

class FiltersGradient {
 public:
  FiltersGradient(const Queue& queue, const DeviceConv2dFilters& call, const WindowGeometry& g)
      : queue_(queue), call_(call), width_(static_cast<std::int64_t>(element_size(call.a.dtype))) {
    require_counts(g);
    for (const unsigned axis : {kHeight, kWidth}) {
      ImageAxis& of = argument_.axes[axis] = image_axis(queue, g, axis, "a");
      std::swap(of.out, of.kernel);
      std::swap(of.stride, of.dilation);
      std::swap(of.out_step, of.weight_step);
    }
    argument_.a = bytes_of(call.a);
    argument_.weight = bytes_of(call.g);
    argument_.type = static_cast<ElementType>(type_index(call.a.dtype));
    argument_.images = static_cast<std::uint32_t>(g.channels);
    argument_.groups = static_cast<std::uint32_t>(g.groups);
    argument_.channels = static_cast<std::uint32_t>(g.images);
    argument_.filters = static_cast<std::uint32_t>(g.filters);
    argument_.a_image_step = g.a.channel;
    argument_.a_channel_step = g.a.image;
    argument_.a_group_step = g.channels * g.a.channel;
    argument_.weight_filter_step = g.result.channel;
    argument_.weight_channel_step = g.result.image;
    argument_.weight_group_step = g.filters * g.result.channel;
    // Adjacent threads read adjacent elements: pixels, or channels.
    argument_.images_are_next = g.a.channel == width_ && g.channels > 1 ? 1 : 0;
    set_reads();
  }

  void run() {
    const std::int64_t splits = set_splits();
    if (splits == 1) return run_into(call_.out.view, 0, writable(call_.out));
    const tnr_dtype dtype = computed_dtype(call_.a.dtype);
    const Queue::Scratch memory(
        queue_, static_cast<std::size_t>(splits * elements()) * element_size(dtype));
    const tnr_view parts = parts_in(memory.data(), splits, dtype);
    tnr_view part = parts;
    part.rank = 4;
    std::copy_n(parts.shape + 1, 4, part.shape);
    std::copy_n(parts.strides + 1, 4, part.strides);
    run_into(part, step_of(parts, 0), static_cast<unsigned char*>(memory.data()));
    sum_parts(queue_, parts, call_.out);
  }

 private:
  // The elements of a filter, and the products of each.
  [[nodiscard]] std::int64_t lines() const noexcept {
    return std::int64_t{argument_.images} * argument_.axes[kHeight].out *
           argument_.axes[kWidth].out;
  }
  [[nodiscard]] std::int64_t depth() const noexcept {
    return std::int64_t{argument_.channels} * argument_.axes[kHeight].kernel *
           argument_.axes[kWidth].kernel;
  }
  [[nodiscard]] std::int64_t elements() const noexcept {
    return std::int64_t{argument_.groups} * argument_.filters * lines();
  }

  void require_counts(const WindowGeometry& g) const {
    const std::int64_t count = element_count(call_.out.view);
    if (count >= kMostNumber) {
      fail(TNR_STATUS_UNSUPPORTED, "out has %" PRId64 " elements, of which %s takes %" PRId64,
           count, DeviceName(queue_.device()).text, kMostNumber - 1);
    }
    const std::int64_t products =
        product_or_most(product_or_most(g.images, g.out[kHeight]), g.out[kWidth]);
    if (products >= kMostNumber) {
      fail(TNR_STATUS_UNSUPPORTED,
           "g has %" PRId64 " pixels of all images, of which %s takes %" PRId64, products,
           DeviceName(queue_.device()).text, kMostNumber - 1);
    }
  }

  [[nodiscard]] bool is_direct() const noexcept {
    return std::min<std::int64_t>(argument_.filters, lines()) <= kMostDirectFilters || depth() == 0;
  }
  [[nodiscard]] std::int64_t tiles(std::int64_t of_lines) const noexcept {
    return quotient_up(lines(), of_lines) * quotient_up(argument_.filters, of_lines) *
           argument_.groups;
  }

  // Cuts the sums between images, and where these are too few, between rows of pixels too. Returns
  // the number of parts.
  std::int64_t set_splits() noexcept {
    const std::int64_t blocks = is_direct() ? quotient_up(elements(), kThreads) : tiles(kSmallTile);
    const std::int64_t wanted = std::min(quotient_up(kEnoughBlocks, blocks),
                                         std::max<std::int64_t>(depth() / kFewestProducts, 1));
    const std::int64_t images = argument_.channels;
    const std::int64_t rows = argument_.axes[kHeight].kernel;
    const std::int64_t of_split = wanted < images ? quotient_up(images, wanted) : 1;
    const std::int64_t of_image = images == 0 ? 1 : std::max<std::int64_t>(wanted / images, 1);
    const std::int64_t rows_of_split = quotient_up(rows, std::min(of_image, rows));
    argument_.channels_of_split = static_cast<std::uint32_t>(of_split);
    argument_.rows_of_split = static_cast<std::uint32_t>(rows_of_split);
    argument_.row_splits = static_cast<std::uint32_t>(quotient_up(rows, rows_of_split));
    return std::max<std::int64_t>(quotient_up(images, of_split), 1) * argument_.row_splits;
  }

  // In the order in which blocks count the elements of a filter.
  [[nodiscard]] tnr_view parts_in(void* memory, std::int64_t splits,
                                  tnr_dtype dtype) const noexcept {
    tnr_view view = {};
    view.data = view.base = memory;
    view.device = queue_.device();
    view.dtype = dtype;
    view.rank = 5;
    view.shape[0] = splits;
    std::copy_n(call_.out.view.shape, 4, view.shape + 1);
    static constexpr std::uint32_t kByPlaces[] = {4, 3, 2, 1, 0};
    static constexpr std::uint32_t kByChannels[] = {2, 4, 3, 1, 0};
    std::int64_t stride = 1;
    for (const std::uint32_t axis : argument_.images_are_next != 0 ? kByChannels : kByPlaces) {
      view.strides[axis] = stride;
      stride *= view.shape[axis];
    }
    view.size_bytes = static_cast<std::size_t>(stride) * element_size(dtype);
    return view;
  }

  // `out` is the first part, and `data` its memory.
  void run_into(const tnr_view& out, std::int64_t split_step, unsigned char* data) {
    argument_.out = data;
    argument_.out_type = static_cast<ElementType>(type_index(out.dtype));
    argument_.out_filter_step = step_of(out, 0);
    argument_.out_image_step = step_of(out, 1);
    argument_.out_split_step = split_step;
    argument_.axes[kHeight].out_step = step_of(out, 2);
    argument_.axes[kWidth].out_step = step_of(out, 3);
    const std::int64_t splits =
        std::max<std::int64_t>(quotient_up(argument_.channels, argument_.channels_of_split), 1) *
        argument_.row_splits;
    if (is_direct()) return run_directly(splits);
    const std::int64_t of_tile =
        lines_of_tiles(queue_, call_.a.dtype, argument_.filters,
                       [&](std::int64_t of_lines) { return tiles(of_lines) * splits; });
    argument_.column_phases = 1;
    argument_.pixel_tiles = static_cast<std::uint32_t>(quotient_up(lines(), of_tile));
    argument_.filter_tiles = static_cast<std::uint32_t>(quotient_up(argument_.filters, of_tile));
    set_writes(out);
    queue_.launch(kFiltersKernels.tiled(call_.a.dtype, of_tile),
                  {static_cast<unsigned>(tiles(of_tile) * splits), kThreads}, argument_);
  }

  void run_directly(std::int64_t splits) {
    ResultWalk& walk = argument_.walk;
    walk.count = static_cast<std::uint32_t>(elements());
    walk.channels_first = argument_.weight_filter_step == width_ ? 1 : 0;
    walk.channels = divider_by(std::int64_t{argument_.groups} * argument_.filters);
    walk.rows = divider_by(argument_.axes[kHeight].out);
    walk.columns = divider_by(argument_.axes[kWidth].out);
    argument_.group_filters = divider_by(argument_.filters);
    Grid grid = grid_of(walk.count, kThreads);
    argument_.split_blocks = grid.blocks;
    grid.blocks *= static_cast<unsigned>(splits);
    queue_.launch(kFiltersKernels.direct(call_.a.dtype), grid, argument_);
  }

  // Four pixels of a row of the gradients are adjacent, and those of the images under a kernel of one
  // column too.
  void set_reads() noexcept {
    const auto vector_bytes =
        static_cast<std::uint64_t>(std::min<std::int64_t>(4 * width_, kGroupBytes));
    const ImageAxis& down = argument_.axes[kHeight];
    const ImageAxis& right = argument_.axes[kWidth];
    const auto bits_of = [](std::int64_t step) { return static_cast<std::uint64_t>(step); };
    const bool are_fours = right.kernel % 4 == 0;
    argument_.a_is_along_depth = right.in_step == width_ ? 1 : 0;
    const std::uint64_t a_places = address_of(argument_.a) | bits_of(argument_.a_image_step) |
                                   bits_of(argument_.a_channel_step) |
                                   bits_of(argument_.a_group_step) | bits_of(down.in_step);
    argument_.a_has_vectors = argument_.a_is_along_depth != 0 && are_fours && right.out == 1 &&
                                      right.dilation == 1 && right.padding == 0 &&
                                      a_places % vector_bytes == 0
                                  ? 1
                                  : 0;
    argument_.weight_is_along_depth = right.weight_step == width_ ? 1 : 0;
    const std::uint64_t weight_places =
        address_of(argument_.weight) | bits_of(argument_.weight_filter_step) |
        bits_of(argument_.weight_channel_step) | bits_of(argument_.weight_group_step) |
        bits_of(down.weight_step);
    argument_.weight_has_vectors =
        argument_.weight_is_along_depth != 0 && are_fours && weight_places % vector_bytes == 0 ? 1
                                                                                               : 0;
  }

  // Groups of the elements of a filter, where these are adjacent in the order of blocks.
  void set_writes(const tnr_view& out) noexcept {
    const auto width = static_cast<std::int64_t>(element_size(out.dtype));
    const std::int64_t items = out.dtype == TNR_DTYPE_F64 ? kGroupBytes / 8 : kGroupBytes / 4;
    const tnr_view dense = parts_in(nullptr, 1, out.dtype);
    bool is_dense = lines() % items == 0;
    for (std::uint32_t axis = 1; axis < 4; ++axis) {
      is_dense &= out.shape[axis] == 1 || out.strides[axis] == dense.strides[axis + 1];
    }
    const auto places = address_of(argument_.out) |
                        static_cast<std::uint64_t>(argument_.out_filter_step) |
                        static_cast<std::uint64_t>(argument_.out_split_step);
    argument_.writes_vectors =
        is_dense && places % static_cast<std::uint64_t>(items * width) == 0 ? 1 : 0;
  }

  const Queue& queue_;
  const DeviceConv2dFilters& call_;
  std::int64_t width_;  // of an element in bytes
  ConvArgument argument_ = {};
};

}  // namespace

void enqueue(const Queue& queue, const DeviceConv2dFilters& call) {
  FiltersGradient gradient(queue, call,
                           filters_geometry(call.a, call.g, call.attributes, call.out.view));
  const QueueOrder order(queue, call.pins);
  gradient.run();
}

}  // namespace tenure::cuda
