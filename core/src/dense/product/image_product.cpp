#include "dense/product/image_product.hpp"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Depths that packing takes at once, of f32; of f64 half of them.
constexpr std::int64_t kTileDepth = 16;
// Packed weights that stay in the second cache while every panel of pixels meets all of them.
constexpr std::int64_t kNearWeightBytes = std::int64_t{1} << 18;
// Few pixels of rows of two panels and more are at the image's edges: reading them is better also
// with weights that fill that cache. Measured: 256 channels of 14 x 14 in 0.87 of the time,
// but of 7 x 7 in 1.2 times (Zen 3).
constexpr std::int64_t kReadWeightBytes = std::int64_t{1} << 19;
// Panels of pixels, as lanes, that are packed at a time where all weights stay in the second cache.
// With few panels, the first cache holds the packed pixels and the second one the image's rows.
// Measured: with 8 panels, kernels of 1x1 take 1.1 times as long.
constexpr std::int64_t kNearBlockPanels = 2;
// Pixels are lanes where the empty lanes of their vectors are at most 1 / kMostEmptyLanes of the
// pixels. For 7 x 7 pixels they are an eighth, and those pixels are better rows.
constexpr std::int64_t kMostEmptyLanes = 16;

}  // namespace

ImageProduct::ImageProduct(const kernels::Gemm& gemm, const kernels::FactorPacking& packing,
                           const WindowGeometry& geometry, const Element& one,
                           std::int64_t width_bytes) noexcept
    : gemm_(gemm), packing_(packing), g_(geometry), one_(one), width_bytes_(width_bytes) {
  // A range is pixels of the result that are one step apart.
  range_ = g_.out[kWidth];
  pixel_step_ = g_.result.place[kWidth];
  const auto joins = [&](std::int64_t extent, std::int64_t step) {
    if (range_ == 1) pixel_step_ = step;
    if (extent != 1 && step != range_ * pixel_step_) return false;
    range_ *= extent;
    return true;
  };
  if (joins(g_.out[kHeight], g_.result.place[kHeight])) joins(g_.images, g_.result.image);
  range_count_ = g_.images * g_.out[kHeight] * g_.out[kWidth] / range_;

  block_channels_ = channels_of_block();
  filters_are_rows_ = false;
  reads_padded_ = may_read_pixels() && block_channels_ == g_.channels && g_.channels > 0 &&
                  PaddedRows::takes(g_, width_bytes_);
  // Rows that no panel of a single channel's pixels fits into are packed in more time than their
  // products take. Measured: up to twice as long of 8 and 28 columns, and of 62 less.
  const bool is_narrow_channel =
      reads_padded_ && g_.channels == 1 && g_.out[kWidth] < 2 * gemm_.panel_columns;
  filters_are_rows_ = !is_narrow_channel && takes_filters_as_rows();
  reads_padded_ = reads_padded_ && !filters_are_rows_;
  // A row of the kernel is adjacent elements of the image.
  joins_columns_ = block_channels_ == g_.channels && g_.a.channel == width_bytes_ &&
                   g_.a.place[kWidth] == g_.channels * width_bytes_ && g_.dilations[kWidth] == 1;
  // Pixels of a range are one step apart in the image, as they are in the result.
  joins_pixels_ =
      places() == 1 && g_.strides[kHeight] == 1 && g_.strides[kWidth] == 1 &&
      g_.in[kHeight] == g_.out[kHeight] && g_.in[kWidth] == g_.out[kWidth] &&
      range_ == g_.out[kHeight] * g_.out[kWidth] &&
      (g_.out[kHeight] == 1 || g_.a.place[kHeight] == g_.in[kWidth] * g_.a.place[kWidth]);
  // Elements of a pixel are adjacent, and few panels of weights meet them: packing, which writes
  // each of them once for every position of the kernel, would take long compared with the products.
  reads_pixels_ = !filters_are_rows_ && g_.a.channel == width_bytes_ && may_read_pixels();
  // All elements of a filter are adjacent.
  joins_filter_ = places() > 1 && g_.weight.place[kWidth] == width_bytes_ &&
                  g_.weight.place[kHeight] == g_.kernel[kWidth] * width_bytes_ &&
                  g_.weight.channel == places() * width_bytes_;
}

std::int64_t ImageProduct::thread_bytes() const noexcept {
  const bool packs = !reads_pixels_ && !reads_padded_;
  const std::int64_t lanes =
      std::max(packs ? block_pixels() : 0, packs_aside() ? panel_filters() : 0);
  return zero_bytes() + packing_.slack_bytes +
         std::max(lanes * block_depth() * width_bytes_,
                  reads_padded_ ? PaddedRows::size_bytes() : 0);
}

std::int64_t ImageProduct::thread_count(const Context& context) const noexcept {
  std::int64_t work = range_ * range_count_;
  if (__builtin_mul_overflow(work, g_.filters, &work) ||
      __builtin_mul_overflow(work, g_.depth(), &work)) {
    work = INT64_MAX;
  }
  return work < kWorthSharingWork ? 1 : context.thread_count();
}

void ImageProduct::run(const Context& context, const ThreadBuffers& buffers, Byte* memory,
                       const Byte* a, const Byte* weight, const Epilogue& epilogue,
                       Byte* out) const noexcept {
  for (std::int64_t thread = 0; thread < thread_count(context); ++thread) {
    std::fill_n(buffers.of(thread), zero_bytes(), Byte{0});
  }
  std::int64_t offset = 0;
  for_each_block([&](const WeightBlock& block) noexcept {
    if (memory != nullptr) {
      pack_block(context, buffers, weight, block, memory);
      return multiply_block(context, buffers, a, memory, out, block, epilogue);
    }
    multiply_block(context, buffers, a, weight + offset, out, block, epilogue);
    offset += packed_bytes(block);
  });
}

void ImageProduct::pack_filters(const Context& context, const ThreadBuffers& buffers,
                                const Byte* weight, Byte* packed) const noexcept {
  for_each_block([&](const WeightBlock& block) noexcept {
    pack_block(context, buffers, weight, block, packed);
    packed += packed_bytes(block);
  });
}

template <class Body>
void ImageProduct::for_each_block(const Body& body) const noexcept {
  for (std::int64_t group = 0; group < g_.groups; ++group) {
    for (std::int64_t filter = 0; filter < g_.filters; filter += block_filters()) {
      const std::int64_t filters = std::min(block_filters(), g_.filters - filter);
      std::int64_t channel = 0;
      do {  // once where there is no channel
        const Channels channels = {channel, std::min(block_channels_, g_.channels - channel)};
        body(WeightBlock{group, filter, filters, channels});
        channel += block_channels_;
      } while (channel < g_.channels);
    }
  }
}

std::int64_t ImageProduct::packed_bytes(const WeightBlock& block) const noexcept {
  return parts_of(block.filters, panel_filters()) * panel_filters() * block.channels.count *
         places() * width_bytes_;
}

std::int64_t ImageProduct::packed_filter_bytes() const noexcept {
  const std::int64_t filters = parts_of(g_.filters, panel_filters()) * panel_filters();
  return product_or_most(product_or_most(g_.groups, filters),
                         product_or_most(g_.depth(), width_bytes_));
}

bool ImageProduct::takes_filters_as_rows() const noexcept {
  const std::int64_t lanes = gemm_.panel_columns / 2;
  return packing_.scattered_columns != nullptr && pixel_step_ == width_bytes_ &&
         g_.result.channel != width_bytes_ && g_.a.channel != width_bytes_ &&
         parts_of(range_, lanes) * lanes <= range_ + range_ / kMostEmptyLanes;
}

bool ImageProduct::may_read_pixels() const noexcept {
  const bool is_wide = g_.out[kWidth] >= 2 * gemm_.panel_rows;
  return gemm_.multiply_scattered != nullptr && places() <= kMostReadParts &&
         weight_depth_bytes() * block_depth() <= (is_wide ? kReadWeightBytes : kNearWeightBytes);
}

void ImageProduct::pack_block(const Context& context, const ThreadBuffers& buffers,
                              const Byte* weight, const WeightBlock& block,
                              Byte* packed) const noexcept {
  const Byte* const from = weight + block.group * g_.weight_group + block.filter * g_.weight.image +
                           block.channels.first * g_.weight.channel;
  const std::int64_t depth = block.channels.count * places();
  const std::int64_t panels = parts_of(block.filters, panel_filters());
  const std::int64_t threads =
      std::min({thread_count(context), panels,
                slice_count_of(context, block.filters * depth * width_bytes_ * 2)});
  Tickets tickets(panels);
  for_each_slice(context, threads, [&](std::int64_t thread) noexcept {
    for (std::int64_t panel = tickets.take(); panel >= 0; panel = tickets.take()) {
      const std::int64_t first = panel * panel_filters();
      const kernels::Factor factor = {from + first * g_.weight.image, g_.weight.image, width_bytes_,
                                      std::min(panel_filters(), block.filters - first), depth};
      Byte* const to = packed + first * depth * width_bytes_;
      Byte* const aside = buffers.of(thread) + zero_bytes();
      if (joins_filter_) {
        pack_adjacent(factor, block.channels.count, aside, to);
      } else if (packs_aside()) {
        pack_places(factor, block.channels.count, aside);
        std::copy_n(aside, panel_filters() * depth * width_bytes_, to);
      } else {
        pack_places(factor, block.channels.count, to);
      }
    }
  });
}

void ImageProduct::pack_places(const kernels::Factor& filters, std::int64_t channels,
                               Byte* to) const noexcept {
  kernels::Factor place = filters;
  place.depth = channels;
  place.depth_step = g_.weight.channel;
  for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
    for (std::int64_t j = 0; j < g_.kernel[kWidth]; ++j) {
      place.data = filters.data + i * g_.weight.place[kHeight] + j * g_.weight.place[kWidth];
      pack_panel(place, to);
      to += channels * panel_filters() * width_bytes_;
    }
  }
}

void ImageProduct::pack_adjacent(const kernels::Factor& filters, std::int64_t channels,
                                 Byte* as_they_lie, Byte* to) const noexcept {
  pack_panel(filters, as_they_lie);
  const std::int64_t bytes = panel_filters() * width_bytes_;
  for (std::int64_t place = 0; place < places(); ++place) {
    for (std::int64_t channel = 0; channel < channels; ++channel, to += bytes) {
      copy_words(as_they_lie + (channel * places() + place) * bytes, bytes, to);
    }
  }
}

void ImageProduct::copy_words(const Byte* from, std::int64_t bytes, Byte* to) noexcept {
  constexpr std::int64_t kAtOnce = 32;
  std::int64_t at = 0;
  for (; at + kAtOnce <= bytes; at += kAtOnce) std::memcpy(to + at, from + at, kAtOnce);
  for (; at < bytes; at += std::int64_t{sizeof(std::uint64_t)}) {
    std::memcpy(to + at, from + at, sizeof(std::uint64_t));
  }
}

std::int64_t ImageProduct::channels_of_block() const noexcept {
  std::int64_t most = std::max<std::int64_t>(kBlockDepth / places(), 1);
  if (g_.channels <= most) return g_.channels;
  // Blocks are alike, and of channels that are packed by whole tiles.
  if (most > kTileDepth) most -= most % kTileDepth;
  const std::int64_t channels = parts_of(g_.channels, parts_of(g_.channels, most));
  return most < kTileDepth ? channels : parts_of(channels, kTileDepth) * kTileDepth;
}

std::int64_t ImageProduct::block_filters() const noexcept {
  const std::int64_t filters = kBlockColumns * kBlockDepth / std::max(block_depth(), kBlockDepth);
  return std::max<std::int64_t>(filters / panel_filters(), 1) * panel_filters();
}

std::int64_t ImageProduct::block_pixels() const noexcept {
  // Weights that are near meet a panel of pixels all at once, wherever its others are.
  const bool is_near =
      filters_are_rows_ && weight_depth_bytes() * block_depth() <= kNearWeightBytes;
  const std::int64_t pixels =
      is_near ? kNearBlockPanels * panel_pixels()
              : block_rows(width_bytes_) * kBlockDepth / std::max(block_depth(), kBlockDepth);
  const std::int64_t panels =
      std::clamp<std::int64_t>(pixels / panel_pixels(), 1, parts_of(range_, panel_pixels()));
  return panels * panel_pixels();
}

void ImageProduct::multiply_block(const Context& context, const ThreadBuffers& buffers,
                                  const Byte* a, const Byte* packed_weight, Byte* out,
                                  const WeightBlock& block,
                                  const Epilogue& epilogue) const noexcept {
  const auto& [first_channel, channels] = block.channels;
  const std::int64_t filter = block.group * g_.filters + block.filter;
  const Byte* const image = a + (block.group * g_.channels + first_channel) * g_.a.channel;
  Byte* const result = out + filter * g_.result.channel;
  const std::int64_t threads = thread_count(context);
  const std::int64_t panels = parts_of(range_, panel_pixels());
  std::int64_t parts = std::max(parts_of(range_, block_pixels()), parts_of(threads, range_count_));
  // Equally many parts for each thread: of 13 parts, one of two threads would take 7 while the
  // other waits.
  if (range_count_ % threads != 0) parts = parts_of(parts, threads) * threads;
  parts = std::min(panels, parts);
  Tickets tickets(range_count_ * parts);
  for_each_slice(
      context, std::min(threads, range_count_ * parts),
      [&](std::int64_t thread) noexcept {
        Byte* const zeros = buffers.of(thread);
        Byte* const packed = zeros + zero_bytes();
        for (std::int64_t ticket = tickets.take(); ticket >= 0; ticket = tickets.take()) {
          const std::int64_t part = ticket % parts;
          const std::int64_t first = slice_begin(panels, parts, part) * panel_pixels();
          const std::int64_t pixels =
              std::min(range_, slice_begin(panels, parts, part + 1) * panel_pixels()) - first;
          const std::int64_t pixel = ticket / parts * range_;
          Byte* const to = result + range_offset(pixel) + first * pixel_step_;
          kernels::DenseProduct product = {};
          product.depth = channels * places();
          product.a_panel_step = product.depth * gemm_.panel_rows * width_bytes_;
          product.b_panel_step = product.depth * gemm_.panel_columns * width_bytes_;
          product.alpha = one_.bytes;
          product.beta = first_channel == 0 ? nullptr : one_.bytes;
          if (reads_padded_) {
            lay_pixels_as_rows(packed_weight, to, pixels, block.filters, product);
            multiply_padded(image, pixel + first, packed, product);
          } else if (reads_pixels_) {
            lay_pixels_as_rows(packed_weight, to, pixels, block.filters, product);
            multiply_pixels(image, pixel + first, channels, zeros, product);
          } else {
            pack_pixels(image, pixel + first, pixels, channels, zeros, packed);
            if (filters_are_rows_) {
              multiply_filters(packed_weight, packed, to, pixels, block.filters, product);
            } else {
              lay_pixels_as_rows(packed_weight, to, pixels, block.filters, product);
              product.a = packed;
              gemm_.multiply(product);
            }
          }
          if (first_channel + channels == g_.channels && !epilogue.is_nothing()) {
            epilogue.run(gemm_,
                         {to, pixel_step_, g_.result.channel, pixels, block.filters, nullptr,
                          width_bytes_, nullptr, nullptr},
                         filter);
          }
        }
      },
      Wake::kAtOnce);
}

void ImageProduct::lay_pixels_as_rows(const Byte* packed_weight, Byte* out, std::int64_t pixels,
                                      std::int64_t filters,
                                      kernels::DenseProduct& product) const noexcept {
  product.b = packed_weight;
  product.out = out;
  product.row_step = pixel_step_;
  product.column_step = g_.result.channel;
  product.rows = pixels;
  product.columns = filters;
}

void ImageProduct::multiply_filters(const Byte* packed_weight, const Byte* packed_pixels, Byte* out,
                                    std::int64_t pixels, std::int64_t filters,
                                    kernels::DenseProduct& product) const noexcept {
  const std::int64_t filter_bytes = product.depth * width_bytes_;
  const std::int64_t panel_bytes = gemm_.panel_rows * std::max<std::int64_t>(filter_bytes, 1);
  const std::int64_t near =
      std::max<std::int64_t>(kNearWeightBytes / panel_bytes, 1) * gemm_.panel_rows;
  product.b = packed_pixels;
  product.row_step = g_.result.channel;
  product.column_step = width_bytes_;
  product.columns = pixels;
  for (std::int64_t first = 0; first < filters; first += near) {
    product.a = packed_weight + first * filter_bytes;
    product.out = out + first * g_.result.channel;
    product.rows = std::min(near, filters - first);
    gemm_.multiply(product);
  }
}

std::int64_t ImageProduct::range_offset(std::int64_t pixel) const noexcept {
  const std::int64_t row = pixel / g_.out[kWidth];
  return row / g_.out[kHeight] * g_.result.image +
         row % g_.out[kHeight] * g_.result.place[kHeight] +
         pixel % g_.out[kWidth] * g_.result.place[kWidth];
}

}  // namespace tenure
