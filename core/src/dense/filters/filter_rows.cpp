// Copies of channels with their padding, whose elements are rows of a left factor.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "dense/filters/filter_product.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Lines of a row of a copy whose bounds are found once.
constexpr std::int64_t kKeptLines = 16;
// Channels from which adjacent ones are brought apart by transpositions.
constexpr std::int64_t kWorthTransposing = 4;

template <class Word>
void gather_words(const Byte* from, std::int64_t step, std::int64_t count, Byte* to) noexcept {
  for (std::int64_t i = 0; i < count; ++i, from += step, to += sizeof(Word)) {
    std::memcpy(to, from, sizeof(Word));
  }
}

// A few bytes, in most calls fewer than a call of the C library is worth.
void set_zeros(Byte* to, std::int64_t bytes) noexcept {
  for (; bytes >= 4; bytes -= 4, to += 4) std::memset(to, 0, 4);
}

}  // namespace

FilterProduct::Lines FilterProduct::lines_along(unsigned axis,
                                                std::int64_t windows) const noexcept {
  const std::int64_t places = g_.kernel[axis];
  const std::int64_t stride = g_.strides[axis];
  if (axis == kHeight) {
    return {1, 0, 1, reach(g_, axis, windows) > product_or_most(windows, places)};
  }
  Lines lines = {1, windows, stride, false};
  if (places == 1) return lines;
  lines.common = std::gcd(stride, g_.dilations[axis]);
  lines.count = stride / lines.common;
  lines.is_apart = __builtin_add_overflow(product_or_most(places - 1, g_.dilations[axis]) / stride,
                                          windows, &lines.length) ||
                   product_or_most(lines.count, lines.length) > product_or_most(places, windows);
  if (lines.is_apart) {
    lines.count = places;
    lines.length = windows;
  }
  return lines;
}

// Rows of the image that rows of the gradients see.
std::int64_t FilterProduct::rows_of_lines(std::int64_t rows) const noexcept {
  return reach(g_, kHeight, rows);
}

FilterProduct::Line FilterProduct::line_of(const Block& block, std::int64_t index) const noexcept {
  const std::int64_t stride = g_.strides[kWidth];
  Line line = {};
  line.x = block.column * stride +
           index * (along_.is_apart ? g_.dilations[kWidth] : along_.common) - g_.padding[kWidth];
  if (line.x >= g_.in[kWidth]) return line;
  line.first = line.x < 0 ? std::min(along_.length, (-line.x - 1) / stride + 1) : 0;
  line.last =
      std::max(line.first, std::min(along_.length, (g_.in[kWidth] - 1 - line.x) / stride + 1));
  return line;
}

// Into the second cache. Nothing is read there.
void FilterProduct::fetch_row(const Byte* row) const noexcept {
  for (std::int64_t at = 0; at < g_.in[kWidth] * width_bytes_; at += kLineBytes) {
    __builtin_prefetch(row + at, 0, 2);
  }
}

// Copies every other element of a row of the image, from `x` on, to one line, and the elements
// between them to the next line, if there is one.
void FilterProduct::split_line(const Byte* row, std::int64_t x, Byte* line,
                               Byte* spare) const noexcept {
  const kernels::WindowKernels& windows =
      kernels::window_kernels()[width_bytes_ == sizeof(float) ? 1 : 0];
  const bool has_two = along_.count == 2;
  Byte* const odd = has_two ? line + along_.length * width_bytes_ : spare;
  std::int64_t first = std::max<std::int64_t>(x, 0);
  const std::int64_t end = std::min(g_.in[kWidth], x + 2 * along_.length - (has_two ? 0 : 1));
  if (first < end && (first - x) % 2 != 0) {
    std::memcpy(odd + (first - x) / 2 * width_bytes_, row + first * width_bytes_,
                static_cast<std::size_t>(width_bytes_));
    ++first;
  }
  if (first >= end) return;
  const std::int64_t at = (first - x) / 2 * width_bytes_;
  windows.split(row + first * width_bytes_, end - first, line + at, odd + at);
}

void FilterProduct::copy(const Byte* a, const Block& block, std::int64_t channels, Byte* to,
                         Byte* spare) const noexcept {
  const std::int64_t line_bytes = along_.count * along_.length * width_bytes_;
  std::int64_t lines = 0;
  for_each_segment(block, [&](const Segment& segment) noexcept {
    lines = segment.line + (down_.is_apart ? segment.rows : rows_of_lines(segment.rows));
  });
  const std::int64_t channel_bytes =
      (down_.is_apart ? g_.kernel[kHeight] * block.rows : lines) * line_bytes;
  const std::int64_t stride = g_.strides[kWidth];
  const std::int64_t step = stride * g_.a.place[kWidth];
  const kernels::BlockKernel transpose =
      kernels::permuting_kernels().transpose[index_of_width(width_bytes_)];

  const bool splits = stride == 2 && !along_.is_apart && g_.a.place[kWidth] == width_bytes_;
  Line kept[kKeptLines];
  for (std::int64_t i = 0; i < std::min(along_.count, kKeptLines); ++i) kept[i] = line_of(block, i);
  // One row of the image, of some channels.
  const auto copy_row = [&](const Byte* image, std::int64_t y, std::int64_t count,
                            Byte* row) noexcept {
    const std::int64_t length = along_.length;
    if (y < 0 || y >= g_.in[kHeight]) {
      for (std::int64_t channel = 0; channel < count; ++channel) {
        std::memset(row + channel * channel_bytes, 0, static_cast<std::size_t>(line_bytes));
      }
      return;
    }
    image += y * g_.a.place[kHeight];
    if (count == 1) fetch_row(image + g_.a.channel);
    Byte* line = row;
    for (std::int64_t i = 0; i < along_.count; ++i, line += length * width_bytes_) {
      const auto [x, first, last] = i < kKeptLines ? kept[i] : line_of(block, i);
      if (first > 0 || last < length) {
        for (std::int64_t channel = 0; channel < count; ++channel) {
          Byte* const of = line + channel * channel_bytes;
          set_zeros(of, first * width_bytes_);
          set_zeros(of + last * width_bytes_, (length - last) * width_bytes_);
        }
      }
      if (first == last || splits) continue;
      const Byte* from = image + (x + first * stride) * g_.a.place[kWidth];
      Byte* out = line + first * width_bytes_;
      if (g_.a.channel == width_bytes_ && count >= kWorthTransposing) {
        kernels::Block tile = {};
        tile.rank = 2;
        tile.extents[0] = count;
        tile.extents[1] = last - first;
        tile.in_steps[0] = width_bytes_;
        tile.in_steps[1] = step;
        tile.out_steps[0] = channel_bytes;
        tile.out_steps[1] = width_bytes_;
        tile.in = from;
        tile.out = out;
        tile.width_bytes = width_bytes_;
        transpose(tile);
        continue;
      }
      for (std::int64_t channel = 0; channel < count; ++channel) {
        if (step == width_bytes_) {
          std::memcpy(out, from, static_cast<std::size_t>((last - first) * width_bytes_));
        } else {
          (width_bytes_ == sizeof(float) ? gather_words<float>
                                         : gather_words<double>)(from, step, last - first, out);
        }
        from += g_.a.channel;
        out += channel_bytes;
      }
    }
    if (!splits) return;
    for (std::int64_t channel = 0; channel < count; ++channel) {
      split_line(image + channel * g_.a.channel, kept[0].x, row + channel * channel_bytes, spare);
    }
  };
  const auto copy_rows = [&](const Byte* from, std::int64_t count, Byte* out) noexcept {
    for_each_segment(block, [&](const Segment& segment) noexcept {
      const Byte* const image = from + segment.image * g_.a.image;
      const std::int64_t top = segment.y * g_.strides[kHeight] - g_.padding[kHeight];
      if (!down_.is_apart) {
        for (std::int64_t i = 0; i < rows_of_lines(segment.rows); ++i) {
          copy_row(image, top + i, count, out + (segment.line + i) * line_bytes);
        }
        return;
      }
      for (std::int64_t place = 0; place < g_.kernel[kHeight]; ++place) {
        for (std::int64_t i = 0; i < segment.rows; ++i) {
          copy_row(image, top + i * g_.strides[kHeight] + place * g_.dilations[kHeight], count,
                   out + (place * block.rows + segment.row + i) * line_bytes);
        }
      }
    });
  };
  if (g_.a.channel == width_bytes_) return copy_rows(a, channels, to);
  // The rows of a channel follow each other, and those of the next channel are fetched meanwhile.
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    copy_rows(a + channel * g_.a.channel, 1, to + channel * channel_bytes);
  }
}

}  // namespace tenure
