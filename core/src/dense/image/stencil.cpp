#include "dense/image/stencil.hpp"

#include <algorithm>
#include <cstring>

#include "dense/loops/streamed.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::kStencilColumns;
using kernels::kStencilInColumns;
using kernels::kStencilInRows;
using kernels::kStencilSide;

// Distance from the bytes that are read to those that are prefetched: in each row by itself, or in
// all rows together where kRows adjacent rows have at most kNearRowsBytes. Measured from memory:
// without prefetching, twice the time; from 4 to 16 KiB, equal times.
constexpr std::int64_t kAheadBytes = 4096;
constexpr std::int64_t kNearRowsBytes = std::int64_t{16} << 10;

std::int64_t misaligned(const Byte* data) noexcept {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(data) % kLineBytes);
}

}  // namespace

bool Stencil::takes(const WindowGeometry& geometry, std::int64_t width_bytes,
                    bool lanes_are_channels) noexcept {
  for (const unsigned axis : {kHeight, kWidth}) {
    if (geometry.kernel[axis] != kStencilSide || geometry.strides[axis] != 1 ||
        geometry.dilations[axis] != 1) {
      return false;
    }
  }
  if (lanes_are_channels) return geometry.result.channel == width_bytes;
  const auto is_adjacent = [&](std::int64_t extent, std::int64_t step) {
    return extent == 1 || step == width_bytes;
  };
  return is_adjacent(geometry.in[kWidth], geometry.a.place[kWidth]) &&
         is_adjacent(geometry.out[kWidth], geometry.result.place[kWidth]);
}

void Stencil::pack_lanes(const WindowGeometry& g, std::int64_t width_bytes, const Byte* weight,
                         Byte* to) noexcept {
  const std::int64_t lanes = kLineBytes / width_bytes;
  for (std::int64_t first = 0; first < g.groups; first += lanes) {
    for (std::int64_t i = 0; i < kStencilSide; ++i) {
      for (std::int64_t j = 0; j < kStencilSide; ++j, to += kLineBytes) {
        std::memset(to, 0, kLineBytes);
        for (std::int64_t lane = 0; lane < std::min(lanes, g.groups - first); ++lane) {
          std::memcpy(to + lane * width_bytes,
                      weight + (first + lane) * g.weight_group + i * g.weight.place[kHeight] +
                          j * g.weight.place[kWidth],
                      static_cast<std::size_t>(width_bytes));
        }
      }
    }
  }
}

Stencil::Stencil(const WindowGeometry& geometry, std::int64_t width_bytes, bool lanes_are_channels,
                 const WindowFold& fold, Stores stores, const Byte* a, Byte* out,
                 const WindowFinish& finish) noexcept
    : g_(geometry),
      width_(width_bytes),
      lanes_are_channels_(lanes_are_channels),
      fold_(fold),
      stores_(stores),
      a_(a),
      out_(out),
      finish_(finish) {
  const std::int64_t pixel_bytes = lanes_are_channels_ ? g_.groups * width_ : width_;
  is_dense_ = g_.out[kWidth] == 1 || g_.result.place[kWidth] == pixel_bytes;
  const auto is_lines = [](std::int64_t extent, std::int64_t step) {
    return extent == 1 || step % kLineBytes == 0;
  };
  has_lines_ = is_dense_ && misaligned(out_) == 0 &&
               (lanes_are_channels_ ? pixel_bytes : g_.out[kWidth] * width_) % kLineBytes == 0 &&
               is_lines(g_.images, g_.result.image) &&
               is_lines(g_.out[kHeight], g_.result.place[kHeight]) &&
               (lanes_are_channels_ || is_lines(g_.groups * g_.filters, g_.result.channel));
  std::memset(zeros_, 0, sizeof zeros_);
}

Stencil::~Stencil() {
  if (stores_ == Stores::kStreamed) order_streamed_stores();
}

void Stencil::run(std::int64_t image, std::int64_t filter, std::int64_t y,
                  std::int64_t rows) noexcept {
  image_ = a_ + image * g_.a.image;
  row_ = out_ + image * g_.result.image + y * g_.result.place[kHeight];
  y_ = y;
  rows_ = rows;
  if (!lanes_are_channels_) {
    image_ += filter / g_.filters * g_.a.channel;
    row_ += filter * g_.result.channel;
    return run_pixels(filter);
  }
  const std::int64_t most = kLaneBytes / width_;
  for (std::int64_t channel = 0; channel < g_.groups; channel += most) {
    run_channels(channel, std::min(most, g_.groups - channel));
  }
}

// The lines that are read for the first time, as many bytes behind the column `x` of the result.
kernels::Ahead Stencil::ahead_of(std::int64_t x) const noexcept {
  kernels::Ahead ahead = {};
  const std::int64_t row_step = g_.a.place[kHeight];
  const std::int64_t at = x * g_.a.place[kWidth];
  const Byte* const first = image_ + (y_ - g_.padding[kHeight] + kStencilSide - 1) * row_step;
  const std::int64_t row_bytes = g_.in[kWidth] * g_.a.place[kWidth];
  if (row_bytes == row_step && kRows * row_bytes <= kNearRowsBytes) {
    for (std::int64_t q = 0; q < kRows; ++q) {
      ahead.lines[q] = first + kRows * row_bytes + kAheadBytes + kRows * at + q * kLineBytes;
    }
    ahead.step = kRows * kLineBytes;
    return ahead;
  }
  // At the end of the rows those that follow them.
  const std::int64_t next = at + kAheadBytes;
  const std::int64_t offset = next < row_bytes ? next : next - row_bytes + kRows * row_step;
  for (std::int64_t q = 0; q < kRows; ++q) ahead.lines[q] = first + q * row_step + offset;
  ahead.step = kLineBytes;
  return ahead;
}

void Stencil::finish(Byte* row, std::int64_t q, std::int64_t x, std::int64_t columns,
                     std::int64_t filters, std::int64_t filter) const noexcept {
  if (finish_.run != nullptr) {
    finish_.run(finish_.with, {row, y_ + q, x, columns, filters, filter});
  }
}

// ---- pixels are lanes ----

void Stencil::run_pixels(std::int64_t filter) noexcept {
  kernels::PixelStencil call = {};
  call.weights = fold_.weights + filter * g_.places() * width_;
  const std::int64_t row_step = g_.result.place[kHeight];
  const bool streams_tile =
      stores_ == Stores::kStreamed && (!has_lines_ || finish_.run != nullptr || rows_ < kRows);
  call.streams = stores_ == Stores::kStreamed && !streams_tile;
  // Zeros have as many bytes, and a vector at each side.
  constexpr std::int64_t kMostBytes = kTileBytes / 2;
  std::int64_t count;
  for (std::int64_t x = 0; x < g_.out[kWidth]; x += count) {
    // So that the next ones begin with a line.
    const std::int64_t begins = streams_tile ? misaligned(row_ + x * width_) / width_ : 0;
    count = std::min(kMostBytes / width_ - begins, g_.out[kWidth] - x);
    const std::int64_t first = x - g_.padding[kWidth];
    call.begin = std::max<std::int64_t>(-first, 0);
    call.end = g_.in[kWidth] - first;
    for (std::int64_t i = 0; i < kStencilInRows; ++i) {
      const std::int64_t y = y_ - g_.padding[kHeight] + i;
      const bool is_there = has_row(y) && i < rows_ + kStencilSide - 1;
      call.rows[i] =
          is_there ? image_ + y * g_.a.place[kHeight] + first * width_ : zeros_ + kLineBytes;
    }
    for (std::int64_t q = 0; q < kRows; ++q) {
      call.out[q] = q >= rows_     ? unused_
                    : streams_tile ? tile_ + q * kTileBytes
                                   : row_ + q * row_step + x * width_;
    }
    call.columns = count;
    call.ahead = ahead_of(x);
    fold_.kernels->weigh_pixel_stencil(call);
    for (std::int64_t q = 0; q < rows_; ++q) {
      finish(call.out[q], q, x, count, 1, filter);
      if (!streams_tile) continue;
      copy_lines(row_ + q * row_step + x * width_, call.out[q], count * width_, stores_);
    }
  }
}

// ---- channels are lanes ----

void Stencil::run_channels(std::int64_t channel, std::int64_t lanes) noexcept {
  const std::int64_t pixel_bytes = lanes * width_;
  const bool is_whole = lanes == g_.groups;
  kernels::ChannelStencil call = {};
  call.lanes = lanes;
  call.weights = fold_.weights + channel * width_ * g_.places();
  const bool streams_vectors = has_lines_ && fold_.kernels->vectors_are_lines;
  const bool streams_tile = stores_ == Stores::kStreamed && is_whole && is_dense_ &&
                            (!streams_vectors || finish_.run != nullptr || rows_ < kRows);
  call.streams = stores_ == Stores::kStreamed && streams_vectors && !streams_tile;
  Byte* const row = row_ + channel * width_;
  const std::int64_t row_step = g_.result.place[kHeight];
  const std::int64_t column_step = g_.result.place[kWidth];
  const std::int64_t most_pairs =
      std::max<std::int64_t>(kTileBytes / (kStencilColumns * pixel_bytes), 1);
  // Pairs whose windows have no padding at their sides.
  const auto is_inner = [&](std::int64_t x) {
    return x >= g_.padding[kWidth] && x - g_.padding[kWidth] + kStencilInColumns <= g_.in[kWidth] &&
           x + kStencilColumns <= g_.out[kWidth];
  };
  std::int64_t pairs;
  for (std::int64_t x = 0; x < g_.out[kWidth]; x += pairs * kStencilColumns) {
    pairs = 1;
    if (is_inner(x)) {
      while (pairs < most_pairs && is_inner(x + pairs * kStencilColumns)) ++pairs;
    }
    for (std::int64_t q = 0; q < kRows; ++q) {
      for (std::int64_t p = 0; p < kStencilColumns; ++p) {
        const bool is_there = q < rows_ && x + p < g_.out[kWidth];
        Byte* const data = streams_tile ? tile_ + q * kTileBytes + p * pixel_bytes
                                        : row + q * row_step + (x + p) * column_step;
        const std::int64_t step = kStencilColumns * (streams_tile ? pixel_bytes : column_step);
        call.out[q][p] = is_there ? kernels::ChannelStencil::Column{data, step}
                                  : kernels::ChannelStencil::Column{unused_, 0};
      }
    }
    weigh_pairs(call, x, pairs, channel);
    const std::int64_t columns = std::min(pairs * kStencilColumns, g_.out[kWidth] - x);
    for (std::int64_t q = 0; q < rows_; ++q) {
      Byte* const to = row + q * row_step + x * column_step;
      if (streams_tile) {
        Byte* const tile = tile_ + q * kTileBytes;
        finish(tile, q, x, columns, lanes, channel);
        copy_lines(to, tile, columns * pixel_bytes, stores_);
      } else if (is_whole && is_dense_) {
        finish(to, q, x, columns, lanes, channel);
      } else {
        for (std::int64_t i = 0; i < columns; ++i) {
          finish(to + i * column_step, q, x + i, 1, lanes, channel);
        }
      }
    }
  }
}

void Stencil::weigh_pairs(kernels::ChannelStencil& call, std::int64_t x, std::int64_t pairs,
                          std::int64_t channel) const noexcept {
  call.pairs = pairs;
  const std::int64_t column_step = g_.a.place[kWidth];
  for (std::int64_t i = 0; i < kStencilInRows; ++i) {
    const std::int64_t y = y_ - g_.padding[kHeight] + i;
    for (std::int64_t k = 0; k < kStencilInColumns; ++k) {
      const std::int64_t column = x - g_.padding[kWidth] + k;
      const bool is_there =
          has_row(y) && i < rows_ + kStencilSide - 1 && column >= 0 && column < g_.in[kWidth];
      if (is_there) {
        call.taps[i][k] = {
            image_ + y * g_.a.place[kHeight] + column * column_step + channel * width_,
            kStencilColumns * column_step};
      } else {
        call.taps[i][k] = {zeros_, 0};
      }
    }
  }
  if (column_step == g_.groups * width_ && call.lanes == g_.groups) {
    call.ahead = ahead_of(x);
  } else {
    // Lines that follow those of a pixel are others; these are fetched in vain.
    for (std::int64_t q = 0; q < kRows; ++q) call.ahead.lines[q] = call.taps[q][0].data;
    call.ahead.step = 0;
  }
  fold_.kernels->weigh_channel_stencil(call);
}

}  // namespace tenure
