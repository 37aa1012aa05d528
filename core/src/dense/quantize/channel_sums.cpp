#include "dense/quantize/channel_sums.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "dense/elementwise_call.hpp"
#include "dense/image/channel_windows.hpp"
#include "dense/movement.hpp"
#include "dense/quantize/product_parts.hpp"
#include "dense/quantize/scales.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// 258 products of 255 * 255 add up to less than 2^24, so f32 has each of their sums.
constexpr std::int64_t kMostPlaces = 258;
constexpr std::int64_t kWidthBytes = sizeof(float);

// The values of bytes less their zeros.
void widen(const Context& context, const QuantizedFactor& of, const tnr_view_mut& to) {
  const float number = 1;
  Element one = {};
  std::copy_n(reinterpret_cast<const Byte*>(&number), sizeof number, one.bytes);
  ElementwiseCall call(to);
  call.add(of.values, "");
  call.add(one, TNR_DTYPE_F32);
  const Element zero = {};
  of.zeros == nullptr ? call.add(zero, of.values.dtype) : call.add(*of.zeros, "");
  call.run(
      context,
      Operation(kernels::quantizing_kernels().dequantize[quantized_byte(of.values.dtype, "")][0]));
}

// Scales a tile of sums, and applies the epilogue.
struct Finish {
  const ChannelSums& of;
  const kernels::Gemm& gemm;
  Operation to_integers;

  static void run(const void* with, const WindowTile& tile) {
    const auto& self = *static_cast<const Finish*>(with);
    const std::int64_t row_step = tile.filters * kWidthBytes;
    const kernels::StripInput sums[] = {{tile.data, kWidthBytes, kWidthBytes}};
    run_strip(self.to_integers,
              dense_strip(tile.columns * tile.filters, tile.data, kWidthBytes, sums));
    kernels::SumScaling scaling = self.of.scaling;
    scaling.column_scales += tile.first_filter;
    kernels::quantizing_kernels().scale_sums(
        {tile.data, row_step, kWidthBytes, tile.columns, tile.filters, scaling});
    if (self.of.epilogue.is_nothing()) return;
    self.of.epilogue.run(self.gemm,
                         {tile.data, row_step, kWidthBytes, tile.columns, tile.filters, nullptr,
                          kWidthBytes, nullptr, nullptr},
                         tile.first_filter);
  }
};

}  // namespace

bool are_channel_sums(const tnr_view& a, const tnr_view& weight) noexcept {
  return weight.shape[1] == 1 && a.shape[1] == weight.shape[0] && a.shape[1] > 1 &&
         product_or_most(weight.shape[2], weight.shape[3]) <= kMostPlaces;
}

void convolve_channels(const Context& context, const ChannelSums& of, const tnr_view_mut& out) {
  Dense image(TNR_DTYPE_F32, 4, of.a.values.shape);
  image.put_channels_last();
  const Dense weight(TNR_DTYPE_F32, 4, of.weight.values.shape);
  widen(context, of.a, image.out());
  widen(context, of.weight, weight.out());
  const WindowGeometry g =
      convolution_geometry(image.view(), weight.view(), of.windows, out.view, "out");
  const ChannelWindows windows(g, kWidthBytes);
  const Scratch packed(ChannelWindows::weight_bytes(g, out.view.shape[1] * kWidthBytes), 1);
  windows.pack_weight(static_cast<const Byte*>(weight.view().data), packed.data());
  constexpr auto kType = static_cast<unsigned>(kernels::Type::kF32);
  const kernels::WindowKernels& kernels = kernels::window_kernels()[kType];
  const Finish finish = {of, kernels::gemm_kernels()[kType],
                         cast_operation(TNR_DTYPE_F32, TNR_DTYPE_I32)};
  windows.run(context, {&kernels, kernels.weigh_lanes, packed.data()},
              element_bytes(image.view()) + element_bytes(out.view),
              static_cast<const Byte*>(image.view().data), writable(out), {Finish::run, &finish});
}

}  // namespace tenure
