// Windows that see one channel each: poolings, and convolutions of channels by themselves.
//
// The kernels fold lanes that are adjacent in memory. Where the image's channels are (NHWC), they
// are the lanes, and are read where they lie. Else pixels are: some rows of the image, with the
// padding around them, are brought into lines in the first cache, whose elements are those of
// adjacent windows (of a stride of 2: the even ones, and then the odd ones).
#pragma once

#include <cstdint>

#include "base/arithmetic.hpp"
#include "cpu/window.hpp"
#include "dense/image/geometry.hpp"
#include "memory/traffic.hpp"
#include "tenure/context.hpp"

namespace tenure {

// How the elements of a window become one.
struct WindowFold {
  const kernels::WindowKernels* kernels;
  // For poolings one of these; padding is no element at all.
  kernels::WindowKernel kernel;
  // For products: packed by ChannelWindows::pack_weight(); padding is zeros.
  const kernels::Byte* weights;
  // For windows of more than kMostInTurn places; nullptr: the kernel above.
  kernels::WindowKernel in_runs = nullptr;
};

// Elements of a result where they have been folded.
struct WindowTile {
  kernels::Byte* data;  // adjacent elements: of filters, pixel after pixel; or of one's pixels
  std::int64_t row;
  std::int64_t first_column;
  std::int64_t columns;
  std::int64_t filters;
  std::int64_t first_filter;
};
struct WindowFinish {
  // nullptr: nothing is done to them.
  void (*run)(const void* with, const WindowTile& tile);
  const void* with;
};

class ChannelWindows {
 public:
  // One channel in each group; run() and pack_weight() ask for one filter of each too where channels
  // are lanes. All that is referred to outlives this.
  ChannelWindows(const WindowGeometry& geometry, std::int64_t width_bytes,
                 WindowSpacing spacing = WindowSpacing::kByStrides) noexcept;

  [[nodiscard]] bool lanes_are_channels() const noexcept { return lanes_are_channels_; }
  [[nodiscard]] std::int64_t filter_count() const noexcept { return g_.groups * g_.filters; }
  // Returns the bytes of packed weights whose filters have `filter_bytes` bytes in all at each
  // position of the kernel, or the greatest number where these overflow.
  [[nodiscard]] static std::int64_t weight_bytes(const WindowGeometry& geometry,
                                                 std::int64_t filter_bytes) noexcept {
    return product_or_most(geometry.places(), whole_lines(filter_bytes));
  }
  void pack_weight(const kernels::Byte* weight, kernels::Byte* to) const noexcept;

  // Elements of an axis of the image that one window has: `count`, from `first` on.
  struct Span {
    std::int64_t first;  // of the padded image: beyond its edges in the padding
    std::int64_t count;
    std::int64_t step;
  };
  [[nodiscard]] Span span_of(unsigned axis, std::int64_t index) const noexcept;
  // How many of them are no padding.
  [[nodiscard]] std::int64_t inner_count(unsigned axis, std::int64_t index) const noexcept;

  // The end of the indices from this one on that are known to have as many.
  [[nodiscard]] std::int64_t end_of_alike(unsigned axis, std::int64_t index) const noexcept {
    return index >= whole_[axis].first && index < whole_[axis].end ? whole_[axis].end : index + 1;
  }

  // `moved_bytes`: of the operands.
  void run(const Context& context, const WindowFold& fold, std::uint64_t moved_bytes,
           const kernels::Byte* a, kernels::Byte* out, const WindowFinish& finish) const noexcept;

 private:
  class Slice;
  // Indices of windows that have no padding.
  struct Range {
    std::int64_t first;
    std::int64_t end;
  };

  const WindowGeometry& g_;
  std::int64_t width_bytes_;
  WindowSpacing spacing_;
  bool lanes_are_channels_;
  Range whole_[2] = {};
};

}  // namespace tenure
