// Convolutions of channels by themselves by 3 by 3 weights, at every row and column of an image.
#pragma once

#include <cstdint>

#include "cpu/window.hpp"
#include "dense/image/channel_windows.hpp"
#include "dense/image/geometry.hpp"
#include "memory/traffic.hpp"

namespace tenure {

// The part of a call that a thread runs at a time. The destructor orders its streamed stores.
class Stencil {
 public:
  // Rows of a result that are computed together: fewer take as long.
  static constexpr std::int64_t kRows = kernels::kStencilRows;

  // Adjacent elements are lanes of the kernels, in the image and in the result: channels, or pixels.
  [[nodiscard]] static bool takes(const WindowGeometry& geometry, std::int64_t width_bytes,
                                  bool lanes_are_channels) noexcept;

  // Weights where channels are lanes: a line for each place of the kernel, of as many channels.
  static void pack_lanes(const WindowGeometry& geometry, std::int64_t width_bytes,
                         const kernels::Byte* weight, kernels::Byte* to) noexcept;

  // The geometry is one that it takes; all that is referred to outlives this.
  Stencil(const WindowGeometry& geometry, std::int64_t width_bytes, bool lanes_are_channels,
          const WindowFold& fold, Stores stores, const kernels::Byte* a, kernels::Byte* out,
          const WindowFinish& finish) noexcept;
  Stencil(const Stencil&) = delete;
  Stencil& operator=(const Stencil&) = delete;
  ~Stencil();

  // At most kRows rows of the result, from `y` on: of one filter, or of all where channels are
  // lanes.
  void run(std::int64_t image, std::int64_t filter, std::int64_t y, std::int64_t rows) noexcept;

 private:
  // One row of the result, and the lanes of a pixel.
  static constexpr std::int64_t kTileBytes = 4096;
  static constexpr std::int64_t kLaneBytes = 2048;

  void run_pixels(std::int64_t filter) noexcept;
  void run_channels(std::int64_t channel, std::int64_t lanes) noexcept;
  void weigh_pairs(kernels::ChannelStencil& call, std::int64_t x, std::int64_t pairs,
                   std::int64_t channel) const noexcept;
  [[nodiscard]] kernels::Ahead ahead_of(std::int64_t x) const noexcept;
  void finish(kernels::Byte* row, std::int64_t q, std::int64_t x, std::int64_t columns,
              std::int64_t filters, std::int64_t filter) const noexcept;

  [[nodiscard]] bool has_row(std::int64_t y) const noexcept { return y >= 0 && y < g_.in[kHeight]; }

  const WindowGeometry& g_;
  const std::int64_t width_;
  const bool lanes_are_channels_;
  const WindowFold& fold_;
  const Stores stores_;
  const kernels::Byte* const a_;
  kernels::Byte* const out_;
  const WindowFinish& finish_;
  bool is_dense_;   // the result's pixels are adjacent
  bool has_lines_;  // and its rows, and pixels, begin with lines

  // Arguments of the call of run().
  const kernels::Byte* image_ = nullptr;
  kernels::Byte* row_ = nullptr;  // of the result
  std::int64_t y_ = 0;
  std::int64_t rows_ = 0;

  alignas(kLineBytes) kernels::Byte zeros_[kTileBytes];
  alignas(kLineBytes) kernels::Byte unused_[kTileBytes];  // where sums go that are no elements
  alignas(kLineBytes) kernels::Byte tile_[kRows * kTileBytes];
};

}  // namespace tenure
