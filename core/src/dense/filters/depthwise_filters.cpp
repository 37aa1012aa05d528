#include "dense/filters/depthwise_filters.hpp"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Lanes of a task: four lines in place, and one where they are transposed.
constexpr std::int64_t kLanesInPlace = 64;
constexpr std::int64_t kLanesTransposed = 16;
// Bytes of sums, and of transposed pixels.
constexpr std::int64_t kMostBytes = std::int64_t{256} << 10;

bool is_adjacent(const ImageSteps& steps, std::int64_t width_bytes) noexcept {
  return steps.channel == width_bytes;
}

template <class T>
void add_sums(const Byte* from, std::int64_t count, Byte* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i, from += sizeof(T), to += sizeof(T)) {
    T sum;
    T part;
    std::memcpy(&sum, to, sizeof sum);
    std::memcpy(&part, from, sizeof part);
    sum += part;
    std::memcpy(to, &sum, sizeof sum);
  }
}

}  // namespace

DepthwiseFilters::DepthwiseFilters(const WindowGeometry& geometry, unsigned type,
                                   std::int64_t width_bytes) noexcept
    : g_(geometry),
      kernels_(kernels::window_kernels()[type]),
      width_bytes_(width_bytes),
      lanes_(is_adjacent(g_.a, width_bytes) && is_adjacent(g_.result, width_bytes)
                 ? kLanesInPlace
                 : kLanesTransposed),
      block_rows_(std::clamp<std::int64_t>(kBlockDepth / std::max<std::int64_t>(g_.out[kWidth], 1),
                                           1, std::max<std::int64_t>(g_.out[kHeight], 1))),
      a_rows_(std::min(reach(g_, kHeight, block_rows_), g_.in[kHeight])) {}

bool DepthwiseFilters::takes(const WindowGeometry& g, std::int64_t width_bytes) noexcept {
  if (g.channels != 1 || g.filters != 1 || g.groups == 1 || g.out[kWidth] > kBlockDepth) {
    return false;
  }
  const DepthwiseFilters filters(g, width_bytes == sizeof(float) ? 1 : 0, width_bytes);
  const std::int64_t pixels = product_or_most(filters.a_rows_, g.in[kWidth]);
  return product_or_most(g.places(), kLanesInPlace * width_bytes) <= kMostBytes &&
         product_or_most(pixels, kLanesTransposed * width_bytes) <= kMostBytes;
}

std::int64_t DepthwiseFilters::thread_count(const Context& context) const noexcept {
  std::int64_t work = product_or_most(g_.images, product_or_most(g_.out[kHeight], g_.out[kWidth]));
  work = product_or_most(work, product_or_most(g_.groups, g_.places()));
  return work < kWorthSharingWork ? 1
                                  : std::min<std::int64_t>(context.thread_count(), task_count());
}

std::int64_t DepthwiseFilters::thread_bytes() const noexcept {
  const std::int64_t pixel_bytes = lanes_ * width_bytes_;
  return 2 * sums_bytes() +
         (is_adjacent(g_.a, width_bytes_) ? 0 : a_rows_ * g_.in[kWidth] * pixel_bytes) +
         (is_adjacent(g_.result, width_bytes_) ? 0 : block_rows_ * g_.out[kWidth] * pixel_bytes);
}

void DepthwiseFilters::run(const Context& context, const ThreadBuffers& buffers, const Byte* a,
                           const Byte* g, Byte* out, FilterProduct::Sums sums) const noexcept {
  Tickets tickets(task_count());
  for_each_slice(
      context, thread_count(context),
      [&](std::int64_t thread) noexcept {
        for (std::int64_t task = tickets.take(); task >= 0; task = tickets.take()) {
          run_task(task, buffers.of(thread), a, g, out, sums);
        }
      },
      Wake::kAtOnce);
}

void DepthwiseFilters::run_task(std::int64_t task, Byte* memory, const Byte* a, const Byte* g,
                                Byte* out, FilterProduct::Sums sums) const noexcept {
  const std::int64_t channel = task * lanes_;
  const std::int64_t lanes = std::min(lanes_, g_.groups - channel);
  Byte* const all = memory;
  Byte* const of_block = all + sums_bytes();
  Byte* const of_a = of_block + sums_bytes();
  Byte* const of_g =
      of_a +
      (is_adjacent(g_.a, width_bytes_) ? 0 : a_rows_ * g_.in[kWidth] * lanes_ * width_bytes_);
  const std::int64_t sum_count = g_.places() * lanes_;
  std::memset(all, 0, static_cast<std::size_t>(sum_count * width_bytes_));
  for (std::int64_t image = 0; image < g_.images; ++image) {
    const Byte* const image_a = a + image * g_.a.image + channel * g_.a.channel;
    const Byte* const image_g = g + image * g_.result.image + channel * g_.result.channel;
    for (std::int64_t y = 0; y < g_.out[kHeight]; y += block_rows_) {
      const std::int64_t rows = std::min(block_rows_, g_.out[kHeight] - y);
      const std::int64_t top = y * g_.strides[kHeight] - g_.padding[kHeight];
      const std::int64_t first = std::clamp<std::int64_t>(top, 0, g_.in[kHeight]);
      const std::int64_t end = std::clamp(top + reach(g_, kHeight, rows), first, g_.in[kHeight]);
      const Pixels pixels = pixels_of(image_a + first * g_.a.place[kHeight], g_.a, end - first,
                                      g_.in[kWidth], lanes, of_a);
      const Pixels gradients = pixels_of(image_g + y * g_.result.place[kHeight], g_.result, rows,
                                         g_.out[kWidth], lanes, of_g);
      std::memset(of_block, 0, static_cast<std::size_t>(sum_count * width_bytes_));
      add_block(pixels, first, gradients, y, rows, lanes, of_block);
      (width_bytes_ == sizeof(float) ? add_sums<float> : add_sums<double>)(of_block, sum_count,
                                                                           all);
    }
  }
  for (std::int64_t place = 0; place < g_.places(); ++place) {
    Byte* to = out + channel * g_.weight_group +
               place / g_.kernel[kWidth] * g_.weight.place[kHeight] +
               place % g_.kernel[kWidth] * g_.weight.place[kWidth];
    for (std::int64_t lane = 0; lane < lanes; ++lane, to += g_.weight_group) {
      const Byte* const sum = all + (place * lanes_ + lane) * width_bytes_;
      if (sums == FilterProduct::Sums::kNew) {
        std::memcpy(to, sum, static_cast<std::size_t>(width_bytes_));
      } else {
        (width_bytes_ == sizeof(float) ? add_sums<float> : add_sums<double>)(sum, 1, to);
      }
    }
  }
}

DepthwiseFilters::Pixels DepthwiseFilters::pixels_of(const Byte* image, const ImageSteps& steps,
                                                     std::int64_t rows, std::int64_t columns,
                                                     std::int64_t lanes,
                                                     Byte* memory) const noexcept {
  if (is_adjacent(steps, width_bytes_)) {
    return {image, steps.place[kWidth], steps.place[kHeight]};
  }
  const std::int64_t step = lanes_ * width_bytes_;
  const kernels::Permuting& permuting = kernels::permuting_kernels();
  const unsigned width = index_of_width(width_bytes_);
  const kernels::BlockKernel move =
      steps.place[kWidth] == width_bytes_ ? permuting.transpose[width] : permuting.move[width];
  kernels::Block block = {};
  block.rank = 2;
  block.extents[0] = columns;
  block.extents[1] = lanes;
  block.in_steps[0] = steps.place[kWidth];
  block.in_steps[1] = steps.channel;
  block.out_steps[0] = step;
  block.out_steps[1] = width_bytes_;
  block.width_bytes = width_bytes_;
  for (std::int64_t row = 0; row < rows; ++row) {
    block.in = image + row * steps.place[kHeight];
    block.out = memory + row * columns * step;
    move(block);
  }
  return {memory, step, columns * step};
}

void DepthwiseFilters::add_block(const Pixels& a, std::int64_t first_row, const Pixels& g,
                                 std::int64_t y, std::int64_t rows, std::int64_t lanes,
                                 Byte* sums) const noexcept {
  const std::int64_t stride = g_.strides[kWidth];
  for (std::int64_t j = 0; j < g_.kernel[kWidth]; ++j) {
    // Windows whose element is in the image.
    const std::int64_t left = j * g_.dilations[kWidth] - g_.padding[kWidth];
    const std::int64_t first = left < 0 ? (-left - 1) / stride + 1 : 0;
    const std::int64_t end =
        left >= g_.in[kWidth] ? 0
                              : std::min(g_.out[kWidth], (g_.in[kWidth] - 1 - left) / stride + 1);
    if (first >= end) continue;
    for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t at =
            (y + row) * g_.strides[kHeight] + i * g_.dilations[kHeight] - g_.padding[kHeight];
        if (at < 0 || at >= g_.in[kHeight]) continue;
        kernels_.add_products({a.data + (at - first_row) * a.row + (left + first * stride) * a.step,
                               g.data + row * g.row + first * g.step, stride * a.step, g.step,
                               end - first, lanes,
                               sums + (i * g_.kernel[kWidth] + j) * lanes_ * width_bytes_});
      }
    }
  }
}

}  // namespace tenure
