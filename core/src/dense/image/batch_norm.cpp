// Batch normalization by known statistics: one product and one sum for each element.
#include <cmath>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/checks.hpp"
#include "dense/image/channel_vectors.hpp"
#include "dense/image/geometry.hpp"
#include "memory/scratch.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// A vector of one number for each channel; without a view the same for each.
class PerChannel {
 public:
  PerChannel(const tnr_view* view, double otherwise) noexcept
      : view_(view), otherwise_(otherwise) {}

  [[nodiscard]] double of(std::int64_t channel) const noexcept {
    if (view_ == nullptr) return otherwise_;
    const Byte* const at = static_cast<const Byte*>(view_->data) + channel * step_of(*view_, 0);
    return view_->dtype == TNR_DTYPE_F32 ? read<float>(at) : read<double>(at);
  }

 private:
  template <class T>
  static double read(const Byte* from) noexcept {
    T number;
    std::memcpy(&number, from, sizeof number);
    return static_cast<double>(number);
  }

  const tnr_view* view_;
  double otherwise_;
};

void write_number(double number, tnr_dtype dtype, Byte* to) noexcept {
  if (dtype == TNR_DTYPE_F64) {
    std::memcpy(to, &number, sizeof number);
  } else {
    const auto narrow = static_cast<float>(number);
    std::memcpy(to, &narrow, sizeof narrow);
  }
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
    return queue_of(context, out.view, "out").batch_norm(a, mean, var, weight, bias, eps, out);
  Operands operands(out);
  operands.add(a, "a");
  check_batch_norm(a, mean, var, weight, bias, eps, out.view);
  const unsigned type = type_index(a.dtype);
  Pins pins;
  pin_vectors(vectors_of(mean, var, weight, bias), out.view, pins);
  const auto width_bytes = static_cast<std::int64_t>(element_size(a.dtype));
  const std::int64_t channels = is_empty(out.view) ? 0 : a.shape[1];
  const Scratch numbers(channels, 2 * width_bytes);
  const PerChannel of_mean(mean, 0);
  const PerChannel of_var(&var, 0);
  const PerChannel of_weight(weight, 1);
  const PerChannel of_bias(bias, 0);
  Byte* const scales = numbers.data();
  Byte* const shifts = scales + channels * width_bytes;
  for (std::int64_t i = 0; i < channels; ++i) {
    const double scale = of_weight.of(i) / std::sqrt(of_var.of(i) + eps);
    write_number(scale, a.dtype, scales + i * width_bytes);
    write_number(of_bias.of(i) - of_mean.of(i) * scale, a.dtype, shifts + i * width_bytes);
  }
  const tnr_view scale = along_channels(a, scales);
  const tnr_view shift = along_channels(a, shifts);
  if (channels != 0) {
    operands.add(scale, "scale");
    operands.add(shift, "shift");
    operands.run(context, Operation(kernels::scale_shift_kernels()[type]));
  }
  operands.count(TNR_OPERATION_BATCH_NORM);
}

}  // namespace tenure
