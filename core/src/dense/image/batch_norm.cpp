// Batch normalization by known statistics.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/checks.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/image/channel_vectors.hpp"
#include "dense/image/geometry.hpp"
#include "dense/loops/strip_runner.hpp"
#include "memory/scratch.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// One number for each channel; without a view the same for each.
template <class T>
class PerChannel {
 public:
  PerChannel(const tnr_view* view, T otherwise) noexcept
      : data_(view == nullptr ? nullptr : static_cast<const Byte*>(view->data)),
        step_(view == nullptr ? 0 : step_of(*view, 0)),
        otherwise_(otherwise) {}

  [[nodiscard]] T of(std::int64_t channel) const noexcept {
    T number = otherwise_;
    if (data_ != nullptr) std::memcpy(&number, data_ + channel * step_, sizeof number);
    return number;
  }

 private:
  const Byte* data_;
  std::int64_t step_;
  T otherwise_;
};

// The kernel's numbers of each channel, mean, scale and bias: vectors one behind the other, each
// `repeats` times.
constexpr unsigned kVectors = 3;
template <class T>
void write_vectors(const ChannelVectors& given, double eps, std::int64_t channels,
                   std::int64_t repeats, Byte* to) noexcept {
  const PerChannel<T> mean(given[0].view, 0);
  const PerChannel<T> var(given[1].view, 0);
  const PerChannel<T> weight(given[2].view, 1);
  const PerChannel<T> bias(given[3].view, 0);
  T* const means = reinterpret_cast<T*>(to);
  T* const scales = means + repeats * channels;
  T* const biases = scales + repeats * channels;
  for (std::int64_t i = 0; i < channels; ++i) {
    means[i] = mean.of(i);
    const double scale = double{weight.of(i)} / std::sqrt(double{var.of(i)} + eps);
    scales[i] = static_cast<T>(scale);
    biases[i] = bias.of(i);
  }
  for (T* const vector : {means, scales, biases}) {
    for (std::int64_t i = 1; i < repeats; ++i) std::copy_n(vector, channels, vector + i * channels);
  }
}

// Elements of pixels that follow each other are as those of one pixel with more channels: about as
// many together. Strips of fewer cost more to start than to run.
constexpr std::int64_t kStripElements = 512;

// The pixels of a view that has elements where these, and the channels of each, follow each other;
// else 0.
std::int64_t adjacent_pixels(const tnr_view& view) noexcept {
  std::int64_t count = view.shape[1];
  if (count != 1 && view.strides[1] != 1) return 0;
  for (std::uint32_t axis = view.rank; axis-- > 0;) {
    if (axis == 1 || view.shape[axis] == 1) continue;
    if (view.strides[axis] != count) return 0;
    count *= view.shape[axis];
  }
  return count / view.shape[1];
}

// Adjacent elements as a matrix.
tnr_view rows_of(tnr_view view, std::int64_t first, std::int64_t rows,
                 std::int64_t columns) noexcept {
  view.data = static_cast<const Byte*>(view.data) +
              first * static_cast<std::int64_t>(element_size(view.dtype));
  view.rank = 2;
  view.shape[0] = rows;
  view.shape[1] = columns;
  view.strides[0] = columns;
  view.strides[1] = 1;
  return view;
}

struct Vectors {
  const Byte* first;
  std::int64_t step;  // bytes from one to the next
};

void run(const Context& context, const tnr_view& a, const Vectors& vectors,
         const tnr_view_mut& out) {
  ElementwiseCall operands(out);
  operands.add(a, "a");
  tnr_view views[kVectors];
  for (unsigned i = 0; i < kVectors; ++i) {
    views[i] = along_channels(a, vectors.first + i * vectors.step);
    operands.add(views[i], "");
  }
  operands.run(context, Operation(kernels::batch_norm_kernels()[type_index(a.dtype)]));
}

}  // namespace

void check_batch_norm(const tnr_view& a, const tnr_view* mean, const tnr_view& var,
                      const tnr_view* weight, const tnr_view* bias, double eps,
                      const tnr_view& out) {
  if (a.rank < 2) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.rank is %" PRIu32 " but must be 2 at least", a.rank);
  }
  require_rank(out, "out", a.rank);
  for (std::uint32_t axis = 0; axis < a.rank; ++axis) {
    require_extent(out, "out", axis, a.shape[axis], "that of", "a");
  }
  (void)require_image_type("batch_norm", a.dtype);
  require_dtype(out, "out", a.dtype, "a.dtype is");
  for (const auto& [view, name] : vectors_of(mean, var, weight, bias)) {
    if (view == nullptr) continue;
    check_view(*view, name, a.device);
    require_rank(*view, name, 1);
    require_extent(*view, name, 0, a.shape[1], "the channels of", "a");
    require_dtype(*view, name, a.dtype, "a.dtype is");
  }
  if (!(eps >= 0) || std::isinf(eps)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->eps is %g but must be finite and 0 at least",
         eps);
  }
}

void batch_norm(const Context& context, const tnr_view& a, const tnr_view* mean,
                const tnr_view& var, const tnr_view* weight, const tnr_view* bias, double eps,
                const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DeviceBatchNorm{a, mean, var, weight, bias, eps, out});
  ElementwiseCall operands(out);
  operands.add(a, "a");
  check_batch_norm(a, mean, var, weight, bias, eps, out.view);
  Pins pins;
  const ChannelVectors given = vectors_of(mean, var, weight, bias);
  pin_vectors(given, out.view, pins);
  if (is_empty(out.view)) return count_call(TNR_OPERATION_BATCH_NORM, 0, 0);
  const auto width_bytes = static_cast<std::int64_t>(element_size(a.dtype));
  const std::int64_t channels = a.shape[1];
  const std::int64_t pixels = std::min(adjacent_pixels(a), adjacent_pixels(out.view));
  const std::int64_t together =
      std::clamp<std::int64_t>(kStripElements / channels, 1, std::max<std::int64_t>(pixels, 1));
  const Scratch numbers(together * channels, kVectors * width_bytes);
  const auto write = a.dtype == TNR_DTYPE_F64 ? write_vectors<double> : write_vectors<float>;
  write(given, eps, channels, together, numbers.data());
  const Vectors vectors = {numbers.data(), together * channels * width_bytes};
  if (together == 1) {
    run(context, a, vectors, out);
  } else {
    const std::int64_t columns = together * channels;
    const std::int64_t rows = pixels / together;
    const auto run_rows = [&](std::int64_t first, std::int64_t row_count, std::int64_t extent) {
      run(context, rows_of(a, first, row_count, extent), vectors,
          {rows_of(out.view, first, row_count, extent)});
    };
    run_rows(0, rows, columns);
    const std::int64_t rest = pixels % together;
    if (rest != 0) run_rows(rows * columns, 1, rest * channels);
  }
  count_call(TNR_OPERATION_BATCH_NORM,
             element_bytes(a) + static_cast<std::uint64_t>(kVectors * channels * width_bytes),
             element_bytes(out.view));
}

}  // namespace tenure
