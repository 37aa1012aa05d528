// Convolutions, plain and transposed.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cuda/libraries/convolutions.hpp"
#include "cuda/operations/enqueue.hpp"
#include "cuda/operations/grid.hpp"
#include "cuda/operations/images/conv_kernels.hpp"
#include "cuda/operations/images/image_axes.hpp"
#include "dense/image/convolution.hpp"
#include "dense/product/epilogue.hpp"
#include "memory/queue_order.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"

namespace tenure::cuda {
namespace {

enum class Direction : std::uint8_t { kPlain, kTransposed };

std::uint64_t low_bits(const tenure::Element& element, tnr_dtype dtype) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element.bytes, element_size(dtype));
  return bits;
}

// A call whose operands agree, and which has elements.
class Convolution {
 public:
  // `g` is of the plain convolution, from the result where it is transposed.
  Convolution(const Queue& queue, Direction direction, const ConvolutionOperands& of,
              const WindowGeometry& g, const BoundedActivation& activation)
      : queue_(queue), of_(of), width_(static_cast<std::int64_t>(element_size(of.a.dtype))) {
    const bool is_transposed = direction == Direction::kTransposed;
    set_extents(is_transposed, g);
    set_steps(is_transposed, g);
    argument_.a = bytes_of(of.a);
    argument_.weight = bytes_of(of.weight);
    argument_.out = writable(of.out);
    argument_.type = argument_.out_type = static_cast<ElementType>(type_index(of.a.dtype));
    argument_.is_transposed = is_transposed ? 1 : 0;
    if (of.bias != nullptr) {
      argument_.bias = bytes_of(*of.bias);
      argument_.bias_step = step_of(*of.bias, 0);
    }
    const tnr_dtype computed = computed_dtype(of.a.dtype);
    argument_.is_bounded = activation.is_bounded() ? 1 : 0;
    argument_.low = low_bits(activation.low(), computed);
    argument_.high = low_bits(activation.high(), computed);
  }

  void run() {
    const tnr_view& out = of_.out.view;
    const std::int64_t at_once = require_images_at_once(queue_, out);
    for (std::int64_t first = 0; first < out.shape[0]; first += at_once) {
      const std::int64_t images = std::min(at_once, out.shape[0] - first);
      argument_.images = static_cast<std::uint32_t>(images);
      if (is_direct()) {
        run_directly(images);
      } else {
        run_by_tiles(images);
      }
      argument_.a += images * argument_.a_image_step;
      argument_.out += images * argument_.out_image_step;
    }
  }

 private:
  void set_extents(bool is_transposed, const WindowGeometry& g) {
    for (const unsigned axis : {kHeight, kWidth}) {
      argument_.axes[axis] = is_transposed ? transposed_axis(queue_, g, axis, "out")
                                           : image_axis(queue_, g, axis, "a");
    }
    const std::int64_t channels = is_transposed ? g.filters : g.channels;
    const std::int64_t filters = is_transposed ? g.channels : g.filters;
    std::int64_t depth;
    std::int64_t all;
    if (__builtin_mul_overflow(g.places(), channels, &depth) || depth >= kMostNumber ||
        __builtin_mul_overflow(channels, g.groups, &all) || all >= kMostNumber) {
      fail(TNR_STATUS_UNSUPPORTED,
           "sums over %" PRId64 " channels by %" PRId64 " elements of a filter, of %" PRId64
           " groups, are too long for a device",
           channels, g.places(), g.groups);
    }
    argument_.groups = static_cast<std::uint32_t>(g.groups);
    argument_.channels = static_cast<std::uint32_t>(channels);
    argument_.filters = static_cast<std::uint32_t>(filters);
    depth_ = depth;
  }

  void set_steps(bool is_transposed, const WindowGeometry& g) {
    const ImageSteps& a = is_transposed ? g.result : g.a;
    const ImageSteps& out = is_transposed ? g.a : g.result;
    argument_.a_image_step = a.image;
    argument_.a_channel_step = a.channel;
    argument_.a_group_step = static_cast<std::int64_t>(argument_.channels) * a.channel;
    argument_.out_image_step = out.image;
    argument_.out_filter_step = out.channel;
    argument_.weight_filter_step = is_transposed ? g.weight.channel : g.weight.image;
    argument_.weight_channel_step = is_transposed ? g.weight.image : g.weight.channel;
    argument_.weight_group_step = g.weight_group;
  }

  [[nodiscard]] bool is_direct() const {
    return argument_.filters <= kMostDirectFilters || depth_ == 0;
  }

  void run_directly(std::int64_t images) {
    argument_.walk = result_walk(of_.out.view, images);
    argument_.group_filters = divider_by(argument_.filters);
    queue_.launch(kConvKernels.direct(of_.a.dtype), grid_of(argument_.walk.count, kThreads),
                  argument_);
  }

  // A plain one has a single phase.
  [[nodiscard]] std::int64_t phases(unsigned axis) const {
    const ImageAxis& of = argument_.axes[axis];
    return argument_.is_transposed != 0 ? std::min(of.stride, of.out) : 1;
  }
  [[nodiscard]] std::int64_t places_of_phase(unsigned axis) const {
    return quotient_up(argument_.axes[axis].out, phases(axis));
  }

  [[nodiscard]] std::int64_t pixel_tiles(std::int64_t images, std::int64_t lines) const {
    return quotient_up(images * places_of_phase(kHeight) * places_of_phase(kWidth), lines);
  }
  // Blocks: fewer than elements of the result, as a tile has more than one filter.
  [[nodiscard]] std::int64_t tiles(std::int64_t images, std::int64_t lines) const {
    return pixel_tiles(images, lines) * quotient_up(argument_.filters, lines) * argument_.groups *
           phases(kHeight) * phases(kWidth);
  }

  void run_by_tiles(std::int64_t images) {
    const std::int64_t lines =
        lines_of_tiles(queue_, of_.a.dtype, argument_.filters,
                       [&](std::int64_t of_tile) { return tiles(images, of_tile); });
    argument_.column_phases = static_cast<std::uint32_t>(phases(kWidth));
    argument_.pixel_tiles = static_cast<std::uint32_t>(pixel_tiles(images, lines));
    argument_.filter_tiles = static_cast<std::uint32_t>(quotient_up(argument_.filters, lines));
    set_reads();
    set_writes();
    queue_.launch(kConvKernels.tiled(of_.a.dtype, lines),
                  {static_cast<unsigned>(tiles(images, lines)), kThreads}, argument_);
  }

  [[nodiscard]] static std::uint64_t bits_of(std::int64_t step) {
    return static_cast<std::uint64_t>(step);
  }

  // Groups of elements are of one place where fours of the channels are.
  void set_reads() {
    const auto vector_bytes =
        static_cast<std::uint64_t>(std::min<std::int64_t>(4 * width_, kGroupBytes));
    const bool are_fours = argument_.channels % 4 == 0;
    const ImageAxis& down = argument_.axes[kHeight];
    const ImageAxis& right = argument_.axes[kWidth];
    const bool a_is_along = argument_.a_channel_step == width_ && argument_.channels > 1;
    const std::uint64_t a_places = address_of(argument_.a) | bits_of(argument_.a_image_step) |
                                   bits_of(down.in_step) | bits_of(right.in_step);
    argument_.a_is_along_depth = a_is_along ? 1 : 0;
    argument_.a_has_vectors = a_is_along && are_fours && a_places % vector_bytes == 0 ? 1 : 0;
    const bool weight_is_along =
        argument_.weight_filter_step != width_ || argument_.weight_channel_step == width_;
    const std::uint64_t weight_places = address_of(argument_.weight) |
                                        bits_of(argument_.weight_filter_step) |
                                        bits_of(argument_.weight_group_step) |
                                        bits_of(down.weight_step) | bits_of(right.weight_step);
    argument_.weight_is_along_depth = weight_is_along ? 1 : 0;
    argument_.weight_has_vectors =
        argument_.weight_channel_step == width_ && are_fours && weight_places % vector_bytes == 0
            ? 1
            : 0;
  }

  void set_writes() {
    const auto vector_bytes = static_cast<std::uint64_t>(
        width_ * (of_.a.dtype == TNR_DTYPE_F64 ? kGroupBytes / 8 : kGroupBytes / 4));
    const auto fours = vector_bytes / static_cast<std::uint64_t>(width_);
    const ImageAxis& down = argument_.axes[kHeight];
    const ImageAxis& right = argument_.axes[kWidth];
    const std::uint64_t common = address_of(argument_.out) | bits_of(argument_.out_image_step);
    const bool along_filters =
        argument_.out_filter_step == width_ && argument_.filters > 1 && right.out_step != width_;
    argument_.writes_filters = along_filters ? 1 : 0;
    bool are_vectors;
    if (along_filters) {
      // Tiles begin with whole vectors, and groups do where their filters are whole ones.
      const std::uint64_t places = common | bits_of(down.out_step) | bits_of(right.out_step);
      are_vectors = places % vector_bytes == 0 && argument_.filters % fours == 0;
    } else {
      // Pixels one after the other over the ends of rows, and no vector is of two images.
      const std::uint64_t pixels = std::uint64_t{down.out} * right.out;
      const std::uint64_t places = common | bits_of(argument_.out_filter_step);
      are_vectors = argument_.is_transposed == 0 && right.out_step == width_ &&
                    (down.out == 1 || down.out_step == width_ * right.out) && pixels % fours == 0 &&
                    places % vector_bytes == 0;
    }
    argument_.writes_vectors = are_vectors ? 1 : 0;
  }

  const Queue& queue_;
  const ConvolutionOperands& of_;
  std::int64_t width_;  // of an element in bytes
  std::int64_t depth_ = 0;
  ConvArgument argument_ = {};
};

void check_operands(const ConvolutionOperands& of, const tnr_device& device) {
  check_view_mut(of.out, "out", device);
  check_view(of.a, "a", device);
  check_view(of.weight, "weight", device);
  if (of.bias != nullptr) check_view(*of.bias, "bias", device);
}

// False where the library's own kernels are to compute it.
bool convolve_by_vendor(const Queue& queue, Direction direction, const ConvolutionOperands& of,
                        const WindowGeometry& g, const BoundedActivation& activation) {
  if (direction == Direction::kTransposed) return false;
  require_convolutions();
  if (of.bias != nullptr && of.bias->shape[0] > 1 && of.bias->strides[0] != 1) return false;
  const auto applied = library_activation(activation, computed_dtype(of.a.dtype));
  if (!applied) return false;
  const auto width = static_cast<std::int64_t>(element_size(of.a.dtype));
  engines::Convolution convolution = for_engines(g, width);
  convolution.has_bias = of.bias != nullptr;
  return convolve(
      queue, of.a.dtype, convolution,
      {of.a.data, of.weight.data, of.bias == nullptr ? nullptr : of.bias->data, writable(of.out)},
      *applied);
}

// `g` as Convolution has it.
void convolve_on(const Queue& queue, Direction direction, const ConvolutionOperands& of,
                 const WindowGeometry& g, const tnr_conv2d_attributes& attributes) {
  const bool is_plain = direction == Direction::kPlain;
  const tnr_operation operation = is_plain ? TNR_OPERATION_CONV2D : TNR_OPERATION_CONV2D_TRANSPOSED;
  const char* const name = is_plain ? "conv2d" : "conv2d_transposed";
  const tnr_dtype computed = computed_dtype(of.a.dtype);
  (void)require_image_type(name, computed);
  const PinnedOperands pinned(of);
  const BoundedActivation activation(Activation(attributes), computed, computed);
  activation.require_bounds_alone(name, queue.device());
  if (is_empty(of.out.view)) return count_call(operation, 0, 0);
  Convolution convolution(queue, direction, of, g, activation);
  const QueueOrder order(queue, pinned.pins());
  if (!queue.is_by_vendor() || !convolve_by_vendor(queue, direction, of, g, activation)) {
    convolution.run();
  }
  count_call(operation,
             element_bytes(of.a) + element_bytes(of.weight) +
                 (of.bias == nullptr ? 0 : element_bytes(*of.bias)),
             element_bytes(of.out.view));
}

}  // namespace

void enqueue(const Queue& queue, const DeviceConv2d& call) {
  const auto& [is_transposed, a, weight, bias, attributes, out] = call;
  const ConvolutionOperands of = {a, weight, bias, out};
  check_operands(of, queue.device());
  auto* const geometry = is_transposed ? transposed_geometry : convolution_geometry;
  const WindowGeometry g = geometry(a, weight, attributes, out.view, "out");
  require_bias(bias, out.view, is_transposed ? "out" : "weight");
  convolve_on(queue, is_transposed ? Direction::kTransposed : Direction::kPlain, of, g, attributes);
}

}  // namespace tenure::cuda
