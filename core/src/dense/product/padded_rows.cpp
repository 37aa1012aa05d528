#include "dense/product/padded_rows.hpp"

#include <algorithm>
#include <cstring>

#include "base/arithmetic.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Channels up to which elements are copied one by one, which takes little time compared with the
// products.
constexpr std::int64_t kFewChannels = 8;

template <class Word>
void copy_apart(const Byte* from, std::int64_t step, std::int64_t count, Byte* to,
                std::int64_t to_step) noexcept {
  for (std::int64_t i = 0; i < count; ++i, from += step, to += to_step) {
    std::memcpy(to, from, sizeof(Word));
  }
}

// Pixels that lie as those of a copy do.
bool is_adjacent(const WindowGeometry& g, std::int64_t width_bytes) noexcept {
  return g.a.place[kWidth] == g.channels * width_bytes &&
         (g.channels == 1 || g.a.channel == width_bytes);
}

}  // namespace

bool PaddedRows::takes(const WindowGeometry& g, std::int64_t width_bytes) noexcept {
  const std::int64_t rows = reach(g, kHeight, 1);
  const std::int64_t pixels = product_or_most(rows, reach(g, kWidth, g.out[kWidth]));
  return g.places() > 1 && (g.dilations[kWidth] == 1 || g.kernel[kWidth] == 1) &&
         g.strides[kHeight] <= rows &&
         (g.channels <= kFewChannels || is_adjacent(g, width_bytes)) &&
         product_or_most(pixels, product_or_most(g.channels, width_bytes)) <= kBytes;
}

PaddedRows::PaddedRows(const WindowGeometry& geometry, std::int64_t width_bytes) noexcept
    : g_(geometry),
      width_bytes_(width_bytes),
      pixel_bytes_(g_.channels * width_bytes),
      row_bytes_(reach(g_, kWidth, g_.out[kWidth]) * pixel_bytes_),
      rows_of_window_(reach(g_, kHeight, 1)) {}

void PaddedRows::copy_row(const Byte* image, std::int64_t y, Byte* to) const noexcept {
  const std::int64_t pixels = row_bytes_ / pixel_bytes_;
  const bool is_inside = y >= 0 && y < g_.in[kHeight];
  const std::int64_t first =
      is_inside ? std::clamp<std::int64_t>(g_.padding[kWidth], 0, pixels) : 0;
  const std::int64_t end =
      is_inside ? std::clamp(g_.in[kWidth] + g_.padding[kWidth], first, pixels) : 0;
  std::memset(to, 0, static_cast<std::size_t>(first * pixel_bytes_));
  std::memset(to + end * pixel_bytes_, 0, static_cast<std::size_t>((pixels - end) * pixel_bytes_));
  if (first == end) return;
  const Byte* const from =
      image + y * g_.a.place[kHeight] + (first - g_.padding[kWidth]) * g_.a.place[kWidth];
  to += first * pixel_bytes_;
  if (is_adjacent(g_, width_bytes_)) {
    std::memcpy(to, from, static_cast<std::size_t>((end - first) * pixel_bytes_));
    return;
  }
  for (std::int64_t channel = 0; channel < g_.channels; ++channel, to += width_bytes_) {
    (width_bytes_ == sizeof(float) ? copy_apart<float>
                                   : copy_apart<double>)(from + channel * g_.a.channel,
                                                         g_.a.place[kWidth], end - first, to,
                                                         pixel_bytes_);
  }
}

std::int64_t PaddedRows::fill(const Byte* a, std::int64_t row, std::int64_t end,
                              Byte* to) noexcept {
  first_row_ = row;
  std::int64_t room = kBytes / row_bytes_;
  const std::int64_t down = g_.strides[kHeight];
  end = std::min(end, row + kMostRows);
  while (row < end && room >= rows_of_window_) {
    const std::int64_t y = row % g_.out[kHeight];
    const std::int64_t rows =
        std::min({g_.out[kHeight] - y, end - row, (room - rows_of_window_) / down + 1});
    const std::int64_t copied = (rows - 1) * down + rows_of_window_;
    const Byte* const image = a + row / g_.out[kHeight] * g_.a.image;
    for (std::int64_t i = 0; i < rows; ++i) {
      rows_[row + i - first_row_] = to + i * down * row_bytes_;
    }
    for (std::int64_t i = 0; i < copied; ++i, to += row_bytes_) {
      copy_row(image, y * down - g_.padding[kHeight] + i, to);
    }
    room -= copied;
    row += rows;
  }
  return row;
}

}  // namespace tenure
