// Gradients of filters on images whose channels are adjacent, as products of dense matrices.
//
// The rows of the left factor are filters. Some of them are packed for each block of pixels, and
// stay in the second cache. The columns of the right factor are the channels at one place of the
// kernel, a panel at a time. A panel is packed between the products of the panel before, some
// pixels at a time, whose lines are fetched meanwhile: pixels are often a power of two apart, and
// no cache would keep the lines of all of them. A task is some rows and columns, whose sums it
// keeps: threads share nothing, and wait for each other only at the end.
#pragma once

#include <cstdint>

#include "cpu/gemm.hpp"
#include "dense/filters/filter_product.hpp"
#include "dense/filters/pixel_blocks.hpp"

namespace tenure {

class ChannelsLastFilters {
 public:
  // All that is referred to outlives this. `one` is of the dtype.
  ChannelsLastFilters(const Context& context, const kernels::Gemm& gemm,
                      const kernels::FactorPacking& packing, const WindowGeometry& geometry,
                      const Element& one, std::int64_t width_bytes) noexcept;

  [[nodiscard]] static bool takes(const kernels::Gemm& gemm, const WindowGeometry& geometry,
                                  std::int64_t width_bytes) noexcept;

  [[nodiscard]] std::int64_t thread_count() const noexcept;
  [[nodiscard]] std::int64_t thread_bytes() const noexcept {
    return rows_bytes() + 2 * panel_bytes() + sums_bytes();
  }
  // Throws nothing: all memory is allocated.
  void run(const Context& context, const ThreadBuffers& buffers, const kernels::Byte* a,
           const kernels::Byte* g, kernels::Byte* out, FilterProduct::Sums sums) const noexcept;

 private:
  // The part of the filters' gradients that a task computes.
  struct Task {
    const kernels::Byte* a;  // the first channel
    const kernels::Byte* g;  // the first filter
    kernels::Byte* out;
    std::int64_t rows;
    std::int64_t columns;
  };
  // Columns that are packed together: a panel, at one place of the kernel.
  struct Columns {
    std::int64_t first;
    std::int64_t count;
    std::int64_t down;  // of the first window
    std::int64_t right;
  };

  [[nodiscard]] std::int64_t part_rows() const noexcept {
    return parts_of(parts_of(g_.filters, gemm_.panel_rows), row_parts_) * gemm_.panel_rows;
  }
  [[nodiscard]] std::int64_t part_columns() const noexcept {
    return parts_of(parts_of(g_.channels, gemm_.panel_columns), column_parts_) *
           gemm_.panel_columns;
  }
  [[nodiscard]] std::int64_t task_count() const noexcept {
    return g_.groups * row_parts_ * column_parts_;
  }
  [[nodiscard]] std::int64_t rows_bytes() const noexcept {
    return whole_lines(part_rows() * blocks_.depth() * width_bytes_ + packing_.slack_bytes);
  }
  [[nodiscard]] std::int64_t panel_bytes() const noexcept {
    return whole_lines(gemm_.panel_columns * blocks_.depth() * width_bytes_ + packing_.slack_bytes);
  }
  [[nodiscard]] std::int64_t sums_bytes() const noexcept {
    return std::min(part_rows(), g_.filters) * part_columns() * g_.places() * width_bytes_;
  }
  void share(std::int64_t threads) noexcept;

  [[nodiscard]] Task task_at(std::int64_t index, const kernels::Byte* a, const kernels::Byte* g,
                             kernels::Byte* out) const noexcept;
  void run_task(const Task& task, kernels::Byte* memory, FilterProduct::Sums sums) const noexcept;
  void pack_rows(const Task& task, const PixelBlocks::Block& block,
                 kernels::Byte* packed) const noexcept;
  void pack_columns(const Task& task, const PixelBlocks::Block& block, const Columns& columns,
                    kernels::Byte* packed) const noexcept;
  // Packs the next columns, whose memory follows, between the products of panels of rows.
  void multiply(const Task& task, const PixelBlocks::Block& block,
                const kernels::DenseProduct& product, const Columns& next,
                kernels::Byte* packed) const noexcept;
  [[nodiscard]] kernels::Runs lines_of(const Task& task, const PixelBlocks::Block& pixels,
                                       const Columns& columns) const noexcept;
  // Moves the sums of a task from its memory to `out`, or back.
  void move_sums(const Task& task, kernels::Byte* sums, bool is_out) const noexcept;

  const kernels::Gemm& gemm_;
  const kernels::FactorPacking& packing_;
  const WindowGeometry& g_;
  const Element& one_;
  std::int64_t width_bytes_;
  std::int64_t threads_;
  PixelBlocks blocks_;
  ImageSteps windows_;  // from window to window of the image
  bool is_inside_;      // no window has padding
  std::int64_t row_parts_;
  std::int64_t column_parts_ = 1;
};

}  // namespace tenure
