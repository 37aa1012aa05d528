// Pixels of an image as a factor: packed, or read where they lie or from copies of its rows.
#include <algorithm>

#include "dense/product/image_product.hpp"

namespace tenure {

using kernels::Byte;

ImageProduct::Window ImageProduct::window_of(const Byte* a, std::int64_t pixel) const noexcept {
  const std::int64_t row = pixel / g_.out[kWidth];
  return {a + row / g_.out[kHeight] * g_.a.image,
          row % g_.out[kHeight] * g_.strides[kHeight] - g_.padding[kHeight],
          pixel % g_.out[kWidth] * g_.strides[kWidth] - g_.padding[kWidth]};
}

ImageProduct::PanelWindows ImageProduct::windows_of(const Byte* a, std::int64_t pixel,
                                                    std::int64_t end) const noexcept {
  const std::int64_t panel_pixels = this->panel_pixels();
  PanelWindows panel;
  bool is_inside = joins_columns_;  // are all columns of all windows
  Window window = window_of(a, pixel);
  std::int64_t next_row = pixel + g_.out[kWidth] - pixel % g_.out[kWidth];
  for (std::int64_t i = 0; i < panel_pixels; ++i) {
    is_inside = is_inside && window.left >= 0 && window.left <= g_.in[kWidth] - g_.kernel[kWidth];
    panel.windows[i] = window;
    panel.first[i] = place(window, 0, 0);
    if (pixel + i + 1 >= end) continue;
    window.left += g_.strides[kWidth];
    if (pixel + i + 1 == next_row) {
      window = window_of(a, next_row);
      next_row += g_.out[kWidth];
    }
  }
  panel.columns = is_inside ? 1 : g_.kernel[kWidth];
  panel.places = is_inside ? g_.kernel[kWidth] : 1;
  panel.is_row =
      pixel + panel_pixels <= end && pixel % g_.out[kWidth] + panel_pixels <= g_.out[kWidth];
  return panel;
}

template <class Body>
void ImageProduct::for_each_part(const PanelWindows& panel, const Body& body) const noexcept {
  for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
    const std::int64_t down = i * g_.dilations[kHeight];
    for (std::int64_t j = 0; j < panel.columns; ++j) {
      const std::int64_t right = j * g_.dilations[kWidth];
      body(down, right,
           panel.is_row && has(panel.windows[0], down, right) &&
               has(panel.windows[panel_pixels() - 1], down, right));
    }
  }
}

void ImageProduct::find_rows(const PanelWindows& panel, std::int64_t down, std::int64_t right,
                             const Byte* padding, const Byte** rows) const noexcept {
  const std::int64_t step = down * g_.a.place[kHeight] + right * g_.a.place[kWidth];
  for (std::int64_t lane = 0; lane < panel_pixels(); ++lane) {
    rows[lane] = has(panel.windows[lane], down, right) ? panel.first[lane] + step : padding;
  }
}

void ImageProduct::pack_pixels(const Byte* a, std::int64_t pixel, std::int64_t count,
                               std::int64_t channels, const Byte* zeros,
                               Byte* packed) const noexcept {
  const std::int64_t panel_pixels = this->panel_pixels();
  if (joins_pixels_ && filters_are_rows_) {
    return packing_.columns(
        {place(window_of(a, pixel), 0, 0), g_.a.place[kWidth], g_.a.channel, count, channels, true},
        packed);
  }
  for (const std::int64_t end = pixel + count; pixel < end; pixel += panel_pixels) {
    const PanelWindows panel = windows_of(a, pixel, end);
    const std::int64_t depth = channels * panel.places;
    for_each_part(panel, [&](std::int64_t down, std::int64_t right, bool is_adjacent) {
      if (is_adjacent) {
        const kernels::Factor factor = {place(panel.windows[0], down, right),
                                        g_.strides[kWidth] * g_.a.place[kWidth],
                                        g_.a.channel,
                                        panel_pixels,
                                        depth,
                                        g_.a.place[kWidth] == width_bytes_};
        filters_are_rows_ ? packing_.columns(factor, packed) : packing_.rows(factor, packed);
      } else {
        const Byte* pixels[kMaxPanelPixels];
        find_rows(panel, down, right, nullptr, pixels);
        const kernels::ScatteredRows factor = {pixels, g_.a.channel, depth, zeros,
                                               g_.a.place[kWidth] == width_bytes_};
        filters_are_rows_ ? packing_.scattered_columns(factor, packed)
                          : packing_.scattered(factor, packed);
      }
      packed += depth * panel_pixels * width_bytes_;
    });
  }
}

void ImageProduct::multiply_pixels(const Byte* a, std::int64_t pixel, std::int64_t channels,
                                   const Byte* zeros,
                                   const kernels::DenseProduct& product) const noexcept {
  const std::int64_t panel_rows = gemm_.panel_rows;
  const std::int64_t end = pixel + product.rows;
  const Byte* rows[kMostReadParts * kMaxPanelRows];
  kernels::DenseProduct part = product;
  part.a_rows = rows;
  for (; pixel < end; pixel += panel_rows) {
    const PanelWindows panel = windows_of(a, pixel, end);
    const Byte** next = rows;
    for_each_part(panel, [&](std::int64_t down, std::int64_t right, bool is_adjacent) {
      if (is_adjacent) {
        const Byte* row = place(panel.windows[0], down, right);
        for (std::int64_t lane = 0; lane < panel_rows; ++lane) {
          next[lane] = row;
          row += g_.strides[kWidth] * g_.a.place[kWidth];
        }
      } else {
        find_rows(panel, down, right, zeros, next);
      }
      next += panel_rows;
    });
    part.part_depth = channels * panel.places;
    part.rows = std::min(panel_rows, end - pixel);
    gemm_.multiply_scattered(part);
    part.out += panel_rows * part.row_step;
  }
}

void ImageProduct::multiply_padded(const Byte* a, std::int64_t pixel, Byte* memory,
                                   const kernels::DenseProduct& product) const noexcept {
  const std::int64_t panel_rows = gemm_.panel_rows;
  const std::int64_t end = pixel + product.rows;
  const std::int64_t width = g_.out[kWidth];
  const Byte* rows[kMaxPanelRows];
  PaddedRows padded(g_, width_bytes_);
  const std::int64_t step = padded.step();
  kernels::DenseProduct part = product;
  part.a_rows = rows;
  part.part_depth = g_.channels * g_.kernel[kWidth];
  part.part_step = padded.step_down();
  while (pixel < end) {
    std::int64_t row = pixel / width;
    std::int64_t column = pixel % width;
    const std::int64_t last =
        std::min(end, padded.fill(a, row, parts_of(end, width), memory) * width);
    const Byte* window = padded.row(row) + column * step;
    for (; pixel < last; pixel += part.rows) {
      part.rows = std::min(panel_rows, last - pixel);
      std::fill(rows + part.rows, rows + panel_rows, window);  // of no use
      for (std::int64_t lane = 0; lane < part.rows; ++lane) {
        rows[lane] = window;
        window += step;
        if (++column < width) continue;
        column = 0;
        if (pixel + lane + 1 < last) window = padded.row(++row);
      }
      gemm_.multiply_scattered(part);
      part.out += part.rows * part.row_step;
    }
  }
}

bool ImageProduct::has(const Window& window, std::int64_t down, std::int64_t right) const noexcept {
  const std::int64_t y = window.top + down;
  const std::int64_t x = window.left + right;
  return y >= 0 && y < g_.in[kHeight] && x >= 0 && x < g_.in[kWidth];
}

const Byte* ImageProduct::place(const Window& window, std::int64_t down,
                                std::int64_t right) const noexcept {
  return window.image + (window.top + down) * g_.a.place[kHeight] +
         (window.left + right) * g_.a.place[kWidth];
}

}  // namespace tenure
