#include "dense/image/channel_windows.hpp"

#include <algorithm>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/image/stencil.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/loops/strip_runner.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Tap;

// Elements of a result that are computed together: a page, as of other streamed results.
constexpr std::int64_t kTileBytes = 4096;
// Bytes of lines of an image: the first cache holds all lines that a tile needs.
constexpr std::int64_t kLinesBytes = std::int64_t{24} << 10;
// Taps of one call of a kernel; windows of more are folded in several.
constexpr std::int64_t kMaxTaps = kernels::kMostInTurn;
// Windows further apart are folded one by one: most elements of a line would be in none.
constexpr std::int64_t kMaxLineStride = 4;
// Distance from the bytes of an image that are read to those that are prefetched meanwhile.
constexpr std::int64_t kWindowsAheadBytes = 4096;
// Pixels of a row at the image's edges that are folded one by one where the others need no lines.
constexpr std::int64_t kMostEdgePixels = 2;
// No row of an image, nor of its padding.
constexpr std::int64_t kNoRow = INT64_MIN;
// Rows of a result that one thread takes at a time, for each row of the kernel: with this number,
// few rows of the image are read by two slices.
constexpr std::int64_t kRowsOfSlice = 8;

constexpr std::int64_t quotient_up(std::int64_t count, std::int64_t by) noexcept {
  return count / by + (count % by > 0 ? 1 : 0);
}

}  // namespace

// Adjacent elements of a result, written in rising order: past the caches by whole lines, so
// elements of a partial line wait for the next ones.
class LineWriter {
 public:
  explicit LineWriter(Stores stores) noexcept : stores_(stores) {}
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter() {
    write(end_ - first_);
    if (stores_ == Stores::kStreamed) order_streamed_stores();
  }

  // Where bytes for `out` go, until the next call. No more than a tile's.
  Byte* claim(Byte* out, std::int64_t bytes) noexcept {
    if (stores_ == Stores::kCached) return out;
    if (out != end_) {
      write(end_ - first_);
      first_ = end_ = out;
      begin_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) % kLineBytes);
    } else if (begin_ + (end_ - first_) + bytes > kRoomBytes) {
      const auto past =
          static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(end_) % kLineBytes);
      write(end_ - first_ - past);
      std::memmove(room_, room_ + begin_ + (end_ - first_ - past), static_cast<std::size_t>(past));
      first_ = end_ - past;
      begin_ = 0;
    }
    Byte* const claimed = room_ + begin_ + (end_ - first_);
    end_ += bytes;
    return claimed;
  }

 private:
  static constexpr std::int64_t kRoomBytes = 2 * kTileBytes;

  void write(std::int64_t bytes) noexcept {
    if (bytes > 0) copy_lines(first_, room_ + begin_, bytes, stores_);
  }

  Stores stores_;
  Byte* first_ = nullptr;  // of what waits
  Byte* end_ = nullptr;
  std::int64_t begin_ = 0;  // of what waits, in the room: as far in a line as where it goes
  alignas(kLineBytes) Byte room_[kRoomBytes];
};

ChannelWindows::ChannelWindows(const WindowGeometry& geometry, std::int64_t width_bytes,
                               WindowSpacing spacing) noexcept
    : g_(geometry),
      width_bytes_(width_bytes),
      spacing_(spacing),
      lanes_are_channels_(g_.groups > 1 && g_.a.channel == width_bytes_) {
  if (spacing == WindowSpacing::kAdaptive) return;
  for (const unsigned axis : {kHeight, kWidth}) {
    const std::int64_t before = g_.padding[axis];
    const std::int64_t last = g_.in[axis] - 1 - (g_.kernel[axis] - 1) * g_.dilations[axis] + before;
    Range& range = whole_[axis];
    range.first = std::min(before <= 0 ? 0 : quotient_up(before, g_.strides[axis]), g_.out[axis]);
    range.end =
        last < 0 ? range.first : std::clamp(last / g_.strides[axis] + 1, range.first, g_.out[axis]);
  }
}

void ChannelWindows::pack_weight(const Byte* weight, Byte* to) const noexcept {
  if (lanes_are_channels_ && Stencil::takes(g_, width_bytes_, lanes_are_channels_)) {
    return Stencil::pack_lanes(g_, width_bytes_, weight, to);
  }
  const std::int64_t lanes = lanes_are_channels_ ? g_.groups : 1;
  for (std::int64_t number = 0; number < filter_count(); number += lanes) {
    for (std::int64_t i = 0; i < g_.kernel[kHeight]; ++i) {
      for (std::int64_t j = 0; j < g_.kernel[kWidth]; ++j) {
        for (std::int64_t lane = 0; lane < lanes; ++lane, to += width_bytes_) {
          const std::int64_t filter = number + lane;
          std::memcpy(to,
                      weight + filter / g_.filters * g_.weight_group +
                          filter % g_.filters * g_.weight.image + i * g_.weight.place[kHeight] +
                          j * g_.weight.place[kWidth],
                      static_cast<std::size_t>(width_bytes_));
        }
      }
    }
  }
}

ChannelWindows::Span ChannelWindows::span_of(unsigned axis, std::int64_t index) const noexcept {
  if (spacing_ == WindowSpacing::kByStrides) {
    return {index * g_.strides[axis] - g_.padding[axis], g_.kernel[axis], g_.dilations[axis]};
  }
  // index * in / out, without a product that overflows.
  const std::int64_t each = g_.in[axis] / g_.out[axis];
  const std::int64_t rest = g_.in[axis] % g_.out[axis];
  const auto begin = [&](std::int64_t at, bool up) {
    __extension__ using Wide = __int128;
    const Wide part = Wide{at} * rest + (up ? g_.out[axis] - 1 : 0);
    return at * each + static_cast<std::int64_t>(part / g_.out[axis]);
  };
  const std::int64_t first = begin(index, false);
  return {first, begin(index + 1, true) - first, 1};
}

std::int64_t ChannelWindows::inner_count(unsigned axis, std::int64_t index) const noexcept {
  if (index >= whole_[axis].first && index < whole_[axis].end) return g_.kernel[axis];
  const Span span = span_of(axis, index);
  const std::int64_t before =
      std::min(span.count, span.first < 0 ? quotient_up(-span.first, span.step) : std::int64_t{0});
  const std::int64_t left = g_.in[axis] - span.first;  // up to the end of the image
  const std::int64_t inside = left <= 0 ? 0 : std::min(span.count, quotient_up(left, span.step));
  return std::max<std::int64_t>(inside - before, 0);
}

// The part of a call that a thread runs at a time.
class ChannelWindows::Slice {
 public:
  Slice(const ChannelWindows& windows, const WindowFold& fold, Stores stores, const Byte* a,
        Byte* out, const WindowFinish& finish) noexcept
      : w_(windows),
        g_(windows.g_),
        width_(windows.width_bytes_),
        fold_(fold),
        a_(a),
        out_(out),
        finish_(finish),
        lane_step_(w_.lanes_are_channels_ ? g_.result.channel : g_.result.place[kWidth]),
        writer_(lane_step_ == width_ ? stores : Stores::kCached) {
    if (fold_.weights != nullptr) std::memset(padding_, 0, sizeof padding_);
    plan_lines();
  }

  // Row `y` of the result: of one filter, or of all where channels are lanes.
  void run(std::int64_t image, std::int64_t filter, std::int64_t y) noexcept {
    rows_ = w_.span_of(kHeight, y);
    image_ = a_ + image * g_.a.image;
    row_ = out_ + image * g_.result.image + y * g_.result.place[kHeight];
    if (w_.lanes_are_channels_) {
      run_channels(y);
    } else {
      image_ += filter / g_.filters * g_.a.channel;
      row_ += filter * g_.result.channel;
      run_pixels(filter, y);
    }
  }

 private:
  // ---- channels are lanes ----

  void run_channels(std::int64_t y) noexcept {
    const std::int64_t most = kTileBytes / width_;
    for (std::int64_t channel = 0; channel < g_.groups; channel += most) {
      const std::int64_t lanes = std::min(most, g_.groups - channel);
      // The weights of the lanes from this channel on.
      use_weights(channel * width_, g_.groups * width_);
      const bool is_dense = lane_step_ == width_ &&
                            (g_.out[kWidth] == 1 || g_.result.place[kWidth] == lanes * width_);
      const std::int64_t columns = std::max<std::int64_t>(most / lanes, 1);
      for (std::int64_t x = 0; x < g_.out[kWidth]; x += columns) {
        const std::int64_t count = std::min(columns, g_.out[kWidth] - x);
        Byte* const to = row_ + channel * g_.result.channel + x * g_.result.place[kWidth];
        Byte* const tile = is_dense ? writer_.claim(to, count * lanes * width_) : tile_;
        fold_pixels(image_ + channel * g_.a.channel, x, count, lanes, tile);
        finish({tile, y, x, count, lanes, channel});
        if (is_dense) continue;
        for (std::int64_t i = 0; i < count; ++i) {
          put(tile + i * lanes * width_, lanes, to + i * g_.result.place[kWidth]);
        }
      }
    }
  }

  // Folds pixels whose windows reach into the padding one by one, and all other pixels together.
  void fold_pixels(const Byte* image, std::int64_t x, std::int64_t count, std::int64_t lanes,
                   Byte* to) noexcept {
    const std::int64_t end = x + count;
    const Range& whole = w_.whole_[kWidth];
    const std::int64_t inner = std::clamp(whole.first, x, end);
    const std::int64_t inner_end = std::clamp(whole.end, inner, end);
    const std::int64_t pixel_bytes = lanes * width_;
    for (std::int64_t at = x; at < inner; ++at) {
      fold_taps(image, at, 1, lanes, to + (at - x) * pixel_bytes);
    }
    if (inner < inner_end) {
      fold_taps(image, inner, inner_end - inner, lanes, to + (inner - x) * pixel_bytes);
    }
    for (std::int64_t at = inner_end; at < end; ++at) {
      fold_taps(image, at, 1, lanes, to + (at - x) * pixel_bytes);
    }
  }

  // Taps where they lie, of pixels that read as many columns of the image.
  void fold_taps(const Byte* image, std::int64_t x, std::int64_t pixels, std::int64_t lanes,
                 Byte* to) noexcept {
    const Span columns = w_.span_of(kWidth, x);
    const std::int64_t step = pixels == 1 ? 0 : g_.strides[kWidth] * g_.a.place[kWidth];
    begin_fold(to, lanes, pixels, lanes * width_, product_or_most(rows_.count, columns.count));
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      const std::int64_t y = rows_.first + i * rows_.step;
      if (!has_row(y) && fold_.weights == nullptr) continue;
      for (std::int64_t j = 0; j < columns.count; ++j) {
        const std::int64_t column = columns.first + j * columns.step;
        if (has_row(y) && column >= 0 && column < g_.in[kWidth]) {
          take_in({image + y * g_.a.place[kHeight] + column * g_.a.place[kWidth], step});
        } else if (fold_.weights != nullptr) {
          take_in({padding_, 0});
        }
      }
    }
    end_fold();
  }

  // ---- pixels are lanes ----

  void run_pixels(std::int64_t filter, std::int64_t y) noexcept {
    use_weights(filter * g_.places() * width_, width_);
    const bool is_dense = lane_step_ == width_;
    for (std::int64_t x = 0; x < g_.out[kWidth]; x += most_pixels_) {
      const std::int64_t count = std::min(most_pixels_, g_.out[kWidth] - x);
      Byte* const to = row_ + x * lane_step_;
      Byte* const tile = is_dense ? writer_.claim(to, count * width_) : tile_;
      if (takes_second_columns_ && fold_second_columns(x, count, tile)) {
        // In registers, without lines.
      } else if (has_lines_) {
        fold_lines(x, count, tile);
      } else {
        for (std::int64_t i = 0; i < count; ++i) fold_taps(image_, x + i, 1, 1, tile + i * width_);
      }
      finish({tile, y, x, count, 1, filter});
      if (!is_dense) put(tile, count, to);
    }
  }

  // Lines are of use where windows lie close together, and of all rows of a kernel at once.
  void plan_lines() noexcept {
    most_pixels_ = kTileBytes / width_;
    const std::int64_t stride = g_.strides[kWidth];
    if (w_.lanes_are_channels_ || w_.spacing_ == WindowSpacing::kAdaptive ||
        stride > kMaxLineStride || g_.kernel[kHeight] > kMaxTaps || g_.kernel[kWidth] > kMaxTaps ||
        g_.places() > kMaxTaps) {
      return;
    }
    const std::int64_t line = kLinesBytes / width_ / g_.kernel[kHeight] - stride;
    const std::int64_t reach = (g_.kernel[kWidth] - 1) * g_.dilations[kWidth];
    if (reach >= line / 2) return;
    has_lines_ = true;
    most_pixels_ = std::min(most_pixels_, (line - reach) / stride);
    takes_second_columns_ = fold_.weights == nullptr && stride == 2 && g_.dilations[kWidth] == 1 &&
                            g_.a.place[kWidth] == width_ &&
                            g_.kernel[kWidth] >= kernels::kLeastSecondWidth &&
                            g_.kernel[kWidth] <= kernels::kMostSecondWidth;
  }

  // From where the image lies; the pixels at its edges, whose windows have padding, one by one.
  // False where too few of them have none, and nothing is done.
  bool fold_second_columns(std::int64_t x, std::int64_t count, Byte* to) noexcept {
    const std::int64_t end = x + count;
    const Range& whole = w_.whole_[kWidth];
    const std::int64_t inner = std::clamp(whole.first, x, end);
    const std::int64_t inner_end = std::clamp(whole.end, inner, end);
    if (inner_end - inner < std::max(fold_.kernels->lanes, count - kMostEdgePixels)) return false;
    const Byte* rows[kMaxTaps];
    std::int64_t row_count = 0;
    for (std::int64_t i = 0; i < rows_.count; ++i) {
      const std::int64_t y = rows_.first + i * rows_.step;
      if (has_row(y)) rows[row_count++] = image_ + y * g_.a.place[kHeight];
    }
    // Two rows at a time are no stream that processors notice. Rows that are apart are not fetched.
    const std::int64_t row_step = g_.a.place[kHeight];
    const Byte* ahead = rows[0];
    if (row_step == g_.in[kWidth] * width_) {
      ahead =
          image_ + (rows_.first + rows_.count - 2) * row_step + 4 * x * width_ + kWindowsAheadBytes;
    }
    const bool is_max = fold_.kernel == fold_.kernels->max;
    const auto fold =
        is_max ? fold_.kernels->max_second_columns : fold_.kernels->sum_second_columns;
    std::int64_t from = 0;  // the column that the rows begin at
    for (std::int64_t at = x; at < end;) {
      const std::int64_t first = at * g_.strides[kWidth] - g_.padding[kWidth];
      const std::int64_t begin = std::max<std::int64_t>(first, 0);
      const std::int64_t width = std::min(first + g_.kernel[kWidth], g_.in[kWidth]) - begin;
      const std::int64_t columns = at == inner ? inner_end - inner : 1;
      for (std::int64_t i = 0; i < row_count; ++i) rows[i] += (begin - from) * width_;
      fold({rows, row_count, width, columns, to + (at - x) * width_, ahead});
      from = begin;
      at += columns;
    }
    return true;
  }

  // Prepares the lines of tiles of `count` pixels, from column `x` of the result on: lines of other
  // tiles are of no use.
  void begin_lines(std::int64_t x, std::int64_t count) noexcept {
    if (line_x_ == x && line_count_ == count && line_image_ == image_) return;
    line_x_ = x;
    line_count_ = count;
    line_image_ = image_;
    std::fill_n(line_rows_, rows_.count, kNoRow);
    const std::int64_t stride = g_.strides[kWidth];
    const std::int64_t dilation = g_.dilations[kWidth];
    line_part_ = count + (g_.kernel[kWidth] - 1) * dilation / stride;
    for (std::int64_t j = 0; j < g_.kernel[kWidth]; ++j) {
      const std::int64_t at = j * dilation;
      line_offsets_[j] = (at % stride * line_part_ + at / stride) * width_;
    }
  }

  void fold_lines(std::int64_t x, std::int64_t count, Byte* to) noexcept {
    begin_lines(x, count);
    const std::int64_t first = x * g_.strides[kWidth] - g_.padding[kWidth];
    // Rows that are one dilation apart have lines of their own; those of the last row of the result
    // are still there.
    const std::int64_t from = rows_.first + g_.padding[kHeight];
    std::int64_t nth = from / rows_.step % rows_.count;
    begin_fold(to, count, 1, 0, g_.places());
    for (std::int64_t i = 0; i < rows_.count; ++i, nth = nth + 1 == rows_.count ? 0 : nth + 1) {
      const std::int64_t y = rows_.first + i * rows_.step;
      if (!has_row(y) && fold_.weights == nullptr) continue;
      const Byte* const line = line_of(y, nth, first);
      for (std::int64_t j = 0; j < g_.kernel[kWidth]; ++j) take_in({line + line_offsets_[j], 0});
    }
    end_fold();
  }

  [[nodiscard]] bool has_row(std::int64_t y) const noexcept { return y >= 0 && y < g_.in[kHeight]; }

  const Byte* line_of(std::int64_t y, std::int64_t nth, std::int64_t first) noexcept {
    Byte* const line = lines_ + nth * line_part_ * g_.strides[kWidth] * width_;
    if (line_rows_[nth] == y) return line;
    line_rows_[nth] = y;
    fill_line(has_row(y) ? image_ + y * g_.a.place[kHeight] : nullptr, first, line_part_, line);
    return line;
  }

  // Fills a line with the elements `first`, `first` + stride... of a row, then with those one
  // column further, and so on for each phase of the stride: `part` elements for each phase.
  // Elements in the padding, and all elements of a row that is nullptr, are zeros or, for maxima,
  // the maximum of no elements.
  void fill_line(const Byte* row, std::int64_t first, std::int64_t part, Byte* to) noexcept {
    const std::int64_t stride = g_.strides[kWidth];
    const std::int64_t step = g_.a.place[kWidth];
    const std::int64_t width = row == nullptr ? 0 : g_.in[kWidth];
    if (stride == 2 && step == width_ && width != 0) {
      const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, 2 * part);
      const std::int64_t end = std::clamp<std::int64_t>(width - first, begin, 2 * part);
      pad_line(to, 0, (begin + 1) / 2);
      pad_line(to + part * width_, 0, begin / 2);
      Byte* const halves[2] = {to + (begin + 1) / 2 * width_, to + (part + begin / 2) * width_};
      fold_.kernels->split(row + (first + begin) * width_, end - begin, halves[begin % 2],
                           halves[1 - begin % 2]);
      pad_line(to, (end + 1) / 2, part);
      pad_line(to + part * width_, end / 2, part);
      return;
    }
    for (std::int64_t phase = 0; phase < stride; ++phase, to += part * width_) {
      const std::int64_t from = first + phase;
      const std::int64_t begin =
          std::min(part, from < 0 ? quotient_up(-from, stride) : std::int64_t{0});
      const std::int64_t end =
          width <= from ? begin : std::clamp(quotient_up(width - from, stride), begin, part);
      pad_line(to, 0, begin);
      if (begin < end) {
        copy(row + (from + begin * stride) * step, stride * step, end - begin, to + begin * width_,
             width_);
      }
      pad_line(to, end, part);
    }
  }

  void pad_line(Byte* line, std::int64_t begin, std::int64_t end) const noexcept {
    if (begin >= end) return;
    if (fold_.kernel != fold_.kernels->max) {
      std::memset(line + begin * width_, 0, static_cast<std::size_t>((end - begin) * width_));
      return;
    }
    // The maximum of nothing.
    fold_.kernel(
        {taps_, 0, end - begin, 1, line + begin * width_, 0, nullptr, 0, false, nullptr, false});
  }

  // ---- both ----

  void finish(const WindowTile& tile) const noexcept {
    if (finish_.run != nullptr) finish_.run(finish_.with, tile);
  }

  void use_weights(std::int64_t offset, std::int64_t step) noexcept {
    if (fold_.weights == nullptr) return;
    weights_ = fold_.weights + offset;
    weight_step_ = step;
  }

  // `taps`: of a window, with those in the padding.
  void begin_fold(Byte* to, std::int64_t lanes, std::int64_t places, std::int64_t place_step,
                  std::int64_t taps) noexcept {
    kernel_ = fold_.in_runs != nullptr && taps > kMaxTaps ? fold_.in_runs : fold_.kernel;
    tap_count_ = 0;
    call_ = {.taps = taps_,
             .tap_count = 0,
             .lanes = lanes,
             .places = places,
             .out = to,
             .out_step = place_step,
             .weights = weights_,
             .weight_step = weight_step_,
             .continues = false,
             .lost = lost_,
             .ends = false};
  }
  void take_in(const Tap& tap) noexcept {
    if (tap_count_ == kMaxTaps) fold_waiting();
    taps_[tap_count_++] = tap;
  }
  void fold_waiting() noexcept {
    call_.tap_count = tap_count_;
    kernel_(call_);
    call_.continues = true;
    if (call_.weights != nullptr) call_.weights += tap_count_ * weight_step_;
    tap_count_ = 0;
  }
  // No taps are left only where there were none.
  void end_fold() noexcept {
    call_.tap_count = tap_count_;
    call_.ends = true;
    kernel_(call_);
  }

  void copy(const Byte* from, std::int64_t step, std::int64_t count, Byte* to,
            std::int64_t to_step) const noexcept {
    const kernels::StripInput in = {from, step, width_};
    run_plainly(kernels::copy_kernels()[index_of_width(width_)], {.count = count,
                                                                  .out = to,
                                                                  .out_step = to_step,
                                                                  .width_bytes = width_,
                                                                  .source_count = 1,
                                                                  .in = &in,
                                                                  .parameters = nullptr});
  }
  // Lanes of a tile that is not where the result is.
  void put(const Byte* tile, std::int64_t lanes, Byte* to) const noexcept {
    copy(tile, width_, lanes, to, lane_step_);
  }

  const ChannelWindows& w_;
  const WindowGeometry& g_;
  const std::int64_t width_;
  const WindowFold& fold_;
  const Byte* const a_;
  Byte* const out_;
  const WindowFinish& finish_;
  const std::int64_t lane_step_;  // of the result

  Span rows_ = {};
  const Byte* image_ = nullptr;
  Byte* row_ = nullptr;
  const Byte* weights_ = nullptr;
  std::int64_t weight_step_ = 0;

  bool has_lines_ = false;
  bool takes_second_columns_ = false;
  std::int64_t most_pixels_ = 0;  // of a tile
  // The lines that there are.
  const Byte* line_image_ = nullptr;
  std::int64_t line_x_ = 0;
  std::int64_t line_count_ = 0;
  std::int64_t line_part_ = 0;  // elements of each of the parts into which the stride cuts a line
  std::int64_t line_rows_[kMaxTaps];
  std::int64_t line_offsets_[kMaxTaps];  // of the kernel's columns

  kernels::WindowKernel kernel_ = nullptr;
  kernels::Windows call_ = {};
  std::int64_t tap_count_ = 0;
  Tap taps_[kMaxTaps];
  LineWriter writer_;
  alignas(kLineBytes) Byte tile_[kTileBytes];
  alignas(kLineBytes) Byte lost_[kTileBytes];
  alignas(kLineBytes) Byte padding_[kTileBytes];
  alignas(kLineBytes) Byte lines_[kLinesBytes];
};

void ChannelWindows::run(const Context& context, const WindowFold& fold, std::uint64_t moved_bytes,
                         const Byte* a, Byte* out, const WindowFinish& finish) const noexcept {
  // Rows of one filter; where channels are lanes, of all.
  const std::int64_t filters = lanes_are_channels_ ? 1 : filter_count();
  const std::int64_t row_count = g_.images * filters * g_.out[kHeight];
  const auto bytes =
      static_cast<std::int64_t>(std::min(moved_bytes, static_cast<std::uint64_t>(kMaxSpanBytes)));
  const Stores stores = stores_for(bytes);
  std::int64_t slice_count = slice_count_of(context, bytes);
  if (slice_count > 1) {
    const std::int64_t rows = kRowsOfSlice * std::min<std::int64_t>(g_.kernel[kHeight], 8);
    slice_count = std::min(row_count, std::max(std::min(slice_count, row_count / rows),
                                               std::int64_t{context.thread_count()}));
  }
  if (fold.weights != nullptr && Stencil::takes(g_, width_bytes_, lanes_are_channels_)) {
    return for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
      Stencil part(g_, width_bytes_, lanes_are_channels_, fold, stores, a, out, finish);
      const std::int64_t end = slice_begin(row_count, slice_count, slice + 1);
      std::int64_t rows;
      for (std::int64_t row = slice_begin(row_count, slice_count, slice); row < end; row += rows) {
        const std::int64_t plane = row / g_.out[kHeight];
        const std::int64_t y = row % g_.out[kHeight];
        rows = std::min({Stencil::kRows, g_.out[kHeight] - y, end - row});
        part.run(plane / filters, plane % filters, y, rows);
      }
    });
  }
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    Slice part(*this, fold, stores, a, out, finish);
    const std::int64_t end = slice_begin(row_count, slice_count, slice + 1);
    for (std::int64_t row = slice_begin(row_count, slice_count, slice); row < end; ++row) {
      const std::int64_t plane = row / g_.out[kHeight];
      part.run(plane / filters, plane % filters, row % g_.out[kHeight]);
    }
  });
}

}  // namespace tenure
