// Transposed convolutions: pixels of the result whose windows reach the same elements of the kernel
// are one convolution, so that nothing is added to memory twice (V. Dumoulin and F. Visin, "A guide
// to convolution arithmetic for deep learning", 2016, has the arithmetic of the extents).
#include <algorithm>
#include <numeric>

#include "dense/image/convolution.hpp"
#include "dense/image/wide_images.hpp"
#include "tenure/device_queue.hpp"

namespace tenure {
namespace {

// Along one axis. Row y of `a` and element i of the kernel meet at y * stride + i * dilation -
// padding, a row of the result. So rows of it that are one stride apart have the same elements of
// the kernel, which are themselves some steps apart, and neighbours among them read neighbours of
// `a`, from later to earlier: a convolution by the mirrored kernel.
struct Phase {
  std::int64_t out_count;
  std::int64_t first;  // of the kernel's elements
  std::int64_t step;
  std::int64_t count;
  std::int64_t padding;
  std::int64_t dilation;
};

// `g` is of the convolution from the result to `a`.
Phase phase_of(const WindowGeometry& g, unsigned axis, std::int64_t first_out) {
  const std::int64_t stride = g.strides[axis];
  const std::int64_t dilation = g.dilations[axis];
  const std::int64_t common = std::gcd(stride, dilation);
  Phase phase = {};
  phase.out_count = (g.in[axis] - first_out - 1) / stride + 1;
  phase.step = stride / common;
  const std::int64_t place = first_out + g.padding[axis];
  if (place % common != 0) return phase;
  // The first element for which the stride divides place - element * dilation.
  __extension__ using Wide = __int128;
  const std::int64_t inverse = inverse_of(dilation / common, phase.step);
  phase.first = static_cast<std::int64_t>(Wide{place / common % phase.step} * inverse % phase.step);
  if (phase.first >= g.kernel[axis]) return phase;
  phase.count = (g.kernel[axis] - 1 - phase.first) / phase.step + 1;
  phase.dilation = phase.count == 1 ? 1 : dilation / common;
  phase.padding = (phase.count - 1) * phase.dilation - (place - phase.first * dilation) / stride;
  return phase;
}

ConvolutionPart part_of(const WindowGeometry& g, std::int64_t row, std::int64_t column) {
  ConvolutionPart part = {};
  WindowGeometry& p = part.geometry;
  p.images = g.images;
  p.groups = g.groups;
  p.channels = g.filters;
  p.filters = g.channels;
  p.a = g.result;
  p.result = g.a;
  p.weight = {g.weight.channel, g.weight.image, {}};
  p.weight_group = g.weight_group;
  bool is_empty = p.channels == 0;
  const std::int64_t first[] = {row, column};
  for (const unsigned axis : {kHeight, kWidth}) {
    const Phase phase = phase_of(g, axis, first[axis]);
    p.in[axis] = g.out[axis];
    p.out[axis] = phase.out_count;
    p.kernel[axis] = phase.count;
    p.strides[axis] = 1;
    p.padding[axis] = phase.padding;
    p.dilations[axis] = phase.dilation;
    if (phase.out_count > 1) p.result.place[axis] = g.a.place[axis] * g.strides[axis];
    part.out_offset += first[axis] * g.a.place[axis];
    if (phase.count == 0) {
      is_empty = true;
      continue;
    }
    const std::int64_t last = phase.first + (phase.count - 1) * phase.step;
    if (phase.count > 1) p.weight.place[axis] = -phase.step * g.weight.place[axis];
    part.weight_offset += last * g.weight.place[axis];
  }
  if (is_empty) {
    leave_bias_alone(p);
    part.weight_offset = 0;
  }
  return part;
}

struct Phases {
  const WindowGeometry& geometry;
  std::int64_t columns;
};

}  // namespace

void conv2d_transposed(const Context& context, const tnr_view& a, const tnr_view& weight,
                       const tnr_view* bias, const tnr_conv2d_attributes& attributes,
                       const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]] {
    return queue_of(context, out.view, "out")
        .enqueue(DeviceConv2d{true, a, weight, bias, attributes, out});
  }
  check_view_mut(out, "out");
  check_view(a, "a");
  check_view(weight, "weight");
  if (bias != nullptr) check_view(*bias, "bias");
  const auto geometry_of = [&](const ConvolutionOperands& of) {
    return transposed_geometry(of.a, of.weight, attributes, of.out.view, "out");
  };
  const auto run = [&](const WindowGeometry& geometry, const ConvolutionOperands& of,
                       const WideConvolution* wide) {
    const std::int64_t columns = std::min(geometry.strides[kWidth], geometry.in[kWidth]);
    const Phases phases = {geometry, std::max<std::int64_t>(columns, 1)};
    const std::int64_t rows = std::min(geometry.strides[kHeight], geometry.in[kHeight]);
    const auto part = [](const void* with, std::int64_t index) -> ConvolutionPart {
      const auto& all = *static_cast<const Phases*>(with);
      return part_of(all.geometry, index / all.columns, index % all.columns);
    };
    convolve(context, TNR_OPERATION_CONV2D_TRANSPOSED, "conv2d_transposed", of, wide,
             Activation(attributes), {is_empty(out.view) ? 0 : rows * columns, &phases, part});
  };
  const ConvolutionOperands given = {a, weight, bias, out};
  const WindowGeometry geometry = geometry_of(given);
  require_bias(bias, out.view, "out");
  if (!is_narrow(a.dtype)) return run(geometry, given, nullptr);
  const WideConvolution wide(context, given);
  run(geometry_of(wide.wide()), wide.wide(), &wide);
}

}  // namespace tenure
