// Gradients of the filters of channels by themselves, one filter for each.
//
// Channels are lanes. Where they are not adjacent, the pixels of a block of some channels are
// transposed first. The products of a block are one sum for each place of the kernel, and the sums
// of the blocks are added in order.
#pragma once

#include <cstdint>

#include "cpu/window.hpp"
#include "dense/filters/filter_product.hpp"

namespace tenure {

class DepthwiseFilters {
 public:
  // A geometry of one channel and one filter in each group, which outlives this.
  DepthwiseFilters(const WindowGeometry& geometry, unsigned type,
                   std::int64_t width_bytes) noexcept;

  // Small kernels on blocks that copies of few bytes hold.
  [[nodiscard]] static bool takes(const WindowGeometry& geometry,
                                  std::int64_t width_bytes) noexcept;

  [[nodiscard]] std::int64_t thread_count(const Context& context) const noexcept;
  [[nodiscard]] std::int64_t thread_bytes() const noexcept;
  // Throws nothing: all memory is allocated.
  void run(const Context& context, const ThreadBuffers& buffers, const kernels::Byte* a,
           const kernels::Byte* g, kernels::Byte* out, FilterProduct::Sums sums) const noexcept;

 private:
  // Adjacent lanes of some pixels.
  struct Pixels {
    const kernels::Byte* data;
    std::int64_t step;  // from pixel to pixel
    std::int64_t row;
  };

  [[nodiscard]] std::int64_t task_count() const noexcept { return parts_of(g_.groups, lanes_); }
  [[nodiscard]] std::int64_t sums_bytes() const noexcept {
    return whole_lines(g_.places() * lanes_ * width_bytes_);
  }
  void run_task(std::int64_t task, kernels::Byte* memory, const kernels::Byte* a,
                const kernels::Byte* g, kernels::Byte* out,
                FilterProduct::Sums sums) const noexcept;
  // Some rows of an image, in place or transposed to `memory`.
  [[nodiscard]] Pixels pixels_of(const kernels::Byte* image, const ImageSteps& steps,
                                 std::int64_t rows, std::int64_t columns, std::int64_t lanes,
                                 kernels::Byte* memory) const noexcept;
  void add_block(const Pixels& a, std::int64_t first_row, const Pixels& g, std::int64_t y,
                 std::int64_t rows, std::int64_t lanes, kernels::Byte* sums) const noexcept;

  const WindowGeometry& g_;
  const kernels::WindowKernels& kernels_;
  std::int64_t width_bytes_;
  std::int64_t lanes_;       // of a task
  std::int64_t block_rows_;  // of the gradients, of one image
  std::int64_t a_rows_;      // that they see
};

}  // namespace tenure
