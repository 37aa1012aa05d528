// Convolutions of images: by products of dense matrices, or of channels by themselves by windows.
#include <algorithm>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "cpu/gemm.hpp"
#include "dense/image/channel_windows.hpp"
#include "dense/image/convolution.hpp"
#include "dense/image/wide_images.hpp"
#include "dense/product/epilogue.hpp"
#include "dense/product/image_product.hpp"
#include "dense/product/packed_filters.hpp"
#include "dense/scalar.hpp"
#include "engine/onednn.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/scratch.hpp"
#include "memory/tickets.hpp"
#include "tenure/counters.hpp"
#include "tenure/device_queue.hpp"
#include "tenure/engine.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// ---- channels by themselves ----

// Several filters of channels that are lanes would be lanes of results apart from each other.
bool is_depthwise(const WindowGeometry& g, std::int64_t width_bytes) noexcept {
  return g.channels == 1 && g.filters <= kMostDepthwiseFilters &&
         (g.filters == 1 || !ChannelWindows(g, width_bytes).lanes_are_channels());
}

struct DepthwiseEpilogue {
  const kernels::Gemm& gemm;
  const Epilogue& epilogue;
  std::int64_t width_bytes;

  static void run(const void* with, const WindowTile& tile) {
    const auto& self = *static_cast<const DepthwiseEpilogue*>(with);
    const std::int64_t width = self.width_bytes;
    // The pixels of a single filter are adjacent rows.
    const std::int64_t row_step = tile.filters * width;
    const std::int64_t column_step = tile.filters == 1 ? 2 * width : width;
    self.epilogue.run(self.gemm,
                      {tile.data, row_step, column_step, tile.columns, tile.filters, nullptr, width,
                       nullptr, nullptr},
                      tile.first_filter);
  }
};

// ---- by another engine ----

// False, and nothing has been done, where the library's own kernels are to compute it. Cold: small
// code, which most programs never run.
[[gnu::cold, gnu::noinline]] bool run_elsewhere(const Context& context, tnr_engine engine,
                                                const ConvolutionOperands& of,
                                                const ConvolutionPart& part,
                                                const Epilogue& epilogue) {
  if (of.a.dtype != TNR_DTYPE_F32) return false;
  if (of.bias != nullptr && of.bias->shape[0] > 1 && of.bias->strides[0] != 1) return false;
  engines::Convolution convolution = for_engines(part.geometry, sizeof(float));
  convolution.has_bias = of.bias != nullptr;
  const engines::ConvolutionMemory memory = {
      of.a.data, static_cast<const Byte*>(of.weight.data) + part.weight_offset,
      of.bias == nullptr ? nullptr : of.bias->data, writable(of.out) + part.out_offset};
  if (!onednn::run({engine, context.thread_count()}, convolution, memory)) return false;
  // Not oneDNN's own, whose maximum of NaN and 0 is 0.
  epilogue.run_behind(context, of.out);
  return true;
}

}  // namespace

// ---- calls ----

void require_bias(const tnr_view* bias, const tnr_view& out, const char* filters_of) {
  if (bias == nullptr) return;
  require_rank(*bias, "bias", 1);
  require_extent(*bias, "bias", 0, out.shape[1], "the filters of", filters_of);
}

PinnedOperands::PinnedOperands(const ConvolutionOperands& of) {
  const tnr_view& out = of.out.view;
  require_dtype(of.weight, "weight", of.a.dtype, "a.dtype is");
  if (of.bias != nullptr) require_dtype(*of.bias, "bias", of.a.dtype, "a.dtype is");
  require_dtype(out, "out", of.a.dtype, "a.dtype is");
  pins_.add_mut(of.out, "out");
  pins_.add(of.a, "a");
  pins_.add(of.weight, "weight");
  if (of.bias != nullptr) pins_.add(*of.bias, "bias");
  require_alias(out, of.a, "a", SameView::kRefused);
  require_alias(out, of.weight, "weight", SameView::kRefused);
  if (of.bias != nullptr) require_alias(out, *of.bias, "bias", SameView::kRefused);
}

void convolve(const Context& context, tnr_operation operation, const char* name,
              const ConvolutionOperands& of, const WideConvolution* wide,
              const Activation& activation, const ConvolutionParts& parts) {
  const tnr_view& out = of.out.view;
  const tnr_view* const bias = of.bias;
  const unsigned type = require_image_type(name, of.a.dtype);
  const PinnedOperands pinned(of);

  const kernels::Gemm& gemm = kernels::gemm_kernels()[type];
  const kernels::FactorPacking& packing = kernels::factor_packing_kernels()[type];
  const auto width_bytes = static_cast<std::int64_t>(element_size(of.a.dtype));
  const Epilogue epilogue(activation, bias, of.a.dtype, of.a.dtype);
  if (is_empty(out)) return count_call(operation, 0, 0);
  const auto count = [&] {
    const ConvolutionOperands& given = wide == nullptr ? of : wide->narrow();
    count_call(operation,
               element_bytes(given.a) + element_bytes(given.weight) +
                   (given.bias == nullptr ? 0 : element_bytes(*given.bias)),
               element_bytes(given.out.view));
  };
  const tnr_engine engine = engine_of(context);
  if (engine != TNR_ENGINE_OWN && parts.count == 1 && wide == nullptr &&
      run_elsewhere(context, engine, of, parts.part(parts.with, 0), epilogue)) {
    return count();
  }

  const tnr_scalar number = {.dtype = TNR_DTYPE_U8, .reserved = 0, .bytes = {1}};
  const Element one = to_element(number, of.a.dtype, "one");
  // All memory is allocated before the first element is written. The memory of the weights is the
  // first: its allocation refuses a broadcast view with a kernel whose bytes overflow, and a panel
  // of pixels has at most a few times the bytes of a panel of weights.
  const auto reads_packed = [&](const ImageProduct& conv) noexcept {
    return of.packed != nullptr && conv.takes_packed_filters();
  };
  std::int64_t weight_bytes = 0;
  for (std::int64_t i = 0; i < parts.count; ++i) {
    const WindowGeometry g = parts.part(parts.with, i).geometry;
    if (is_depthwise(g, width_bytes)) {
      weight_bytes =
          std::max(weight_bytes, ChannelWindows::weight_bytes(g, out.shape[1] * width_bytes));
    } else if (const ImageProduct conv(gemm, packing, g, one, width_bytes); !reads_packed(conv)) {
      weight_bytes =
          std::max(weight_bytes, product_or_most(conv.block_depth(), conv.weight_depth_bytes()));
    }
  }
  const Scratch packed_weight(weight_bytes, 1);
  std::int64_t threads = 1;
  std::int64_t thread_bytes = 0;
  for (std::int64_t i = 0; i < parts.count; ++i) {
    const WindowGeometry g = parts.part(parts.with, i).geometry;
    if (is_depthwise(g, width_bytes)) continue;
    const ImageProduct conv(gemm, packing, g, one, width_bytes);
    threads = std::max(threads, conv.thread_count(context));
    thread_bytes = std::max(thread_bytes, conv.thread_bytes());
  }
  const ThreadBuffers buffers(threads, thread_bytes);
  touch_fresh_pages(context, writable(of.out), dense_count(out) * width_bytes);

  const auto run_part = [&](const ConvolutionPart& part) noexcept {
    const Byte* const a = static_cast<const Byte*>(of.a.data);
    const Byte* const weight = static_cast<const Byte*>(of.weight.data) + part.weight_offset;
    Byte* const to = writable(of.out) + part.out_offset;
    if (!is_depthwise(part.geometry, width_bytes)) {
      const ImageProduct conv(gemm, packing, part.geometry, one, width_bytes);
      if (reads_packed(conv)) {
        return conv.run(context, buffers, nullptr, a, of.packed->bytes(), epilogue, to);
      }
      return conv.run(context, buffers, packed_weight.data(), a, weight, epilogue, to);
    }
    const ChannelWindows windows(part.geometry, width_bytes);
    windows.pack_weight(weight, packed_weight.data());
    const kernels::WindowKernels& kernels = kernels::window_kernels()[type];
    const DepthwiseEpilogue finish = {gemm, epilogue, width_bytes};
    windows.run(context,
                {&kernels, windows.lanes_are_channels() ? kernels.weigh_lanes : kernels.weigh_taps,
                 packed_weight.data()},
                element_bytes(of.a) + element_bytes(out), a, to,
                {epilogue.is_nothing() ? nullptr : DepthwiseEpilogue::run, &finish});
  };
  const auto run_parts = [&](std::int64_t images) noexcept {
    for (std::int64_t i = 0; i < parts.count; ++i) {
      ConvolutionPart part = parts.part(parts.with, i);
      part.geometry.images = images;
      run_part(part);
    }
  };
  if (wide == nullptr) {
    run_parts(out.shape[0]);
  } else {
    wide->images().for_each_chunk(context, run_parts);
  }
  count();
}

namespace {

void conv2d(const Context& context, const ConvolutionOperands& given,
            const tnr_conv2d_attributes& attributes) {
  const auto& [a, weight, bias, out, packed] = given;
  if (is_on_device(out.view)) [[unlikely]]
    return queue_of(context, out.view, "out")
        .enqueue(DeviceConv2d{false, a, weight, bias, attributes, out});
  check_view_mut(out, "out");
  check_view(a, "a");
  check_view(weight, "weight");
  if (bias != nullptr) check_view(*bias, "bias");
  const auto geometry_of = [&](const ConvolutionOperands& of) {
    return convolution_geometry(of.a, of.weight, attributes, of.out.view, "out");
  };
  const auto run = [&](WindowGeometry geometry, const ConvolutionOperands& of,
                       const WideConvolution* wide) {
    if (geometry.channels == 0) leave_bias_alone(geometry);
    const auto part = [](const void* with, std::int64_t) -> ConvolutionPart {
      return {*static_cast<const WindowGeometry*>(with), 0, 0};
    };
    convolve(context, TNR_OPERATION_CONV2D, "conv2d", of, wide, Activation(attributes),
             {1, &geometry, part});
  };
  const WindowGeometry geometry = geometry_of(given);
  require_bias(bias, out.view, "weight");
  if (!is_narrow(a.dtype)) return run(geometry, given, nullptr);
  const WideConvolution wide(context, given);
  run(geometry_of(wide.wide()), wide.wide(), &wide);
}

}  // namespace

void conv2d(const Context& context, const tnr_view& a, const tnr_view& weight, const tnr_view* bias,
            const tnr_conv2d_attributes& attributes, const tnr_view_mut& out) {
  conv2d(context, {a, weight, bias, out}, attributes);
}

void conv2d_packed(const Context& context, const tnr_view& a, const tnr_view& weight,
                   const PackedFilters& packed, const tnr_view* bias,
                   const tnr_conv2d_attributes& attributes, const tnr_view_mut& out) {
  conv2d(context, {a, weight, bias, out, &packed}, attributes);
}

}  // namespace tenure
