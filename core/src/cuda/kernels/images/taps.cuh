// The factors of a convolution as a block reads them: taps along the depth, and lines of filters or
// of pixels.
#pragma once

#include "cuda/kernels/images/windows.cuh"
#include "cuda/kernels/product_tiles.cuh"

namespace tenure::cuda {

// An element of the filter: bytes from the first one, and from a window's begin to the image's
// element under it.
struct Tap {
  uint64_t in;
  uint64_t weight;
  int32_t row;
  int32_t column;
};

// A line of a factor: of pixels where the window begins.
struct TapLine {
  uint64_t offset;
  int32_t row;
  int32_t column;
};

// The result: images, or the gradient of filters, which is a convolution with images as channels.
// Its threads read adjacent pixels, or adjacent channels, and its sums are cut into parts.
enum class ConvResult { kImages, kFilters };

// The taps of a thread, by the depth: the channel changes first, or the column of filters' gradients.
template <ConvResult kResult>
class TapWalk {
 public:
  TENURE_DEVICE TapWalk(const AxisWindows& rows, const AxisWindows& columns, uint32_t channels,
                        uint32_t first)
      : rows_(rows), columns_(columns), channels_(channels) {
    skip(first);
  }
  TENURE_DEVICE void skip(uint32_t depths) {
    const uint32_t next_count = kIsByColumns ? columns_.count : channels_;
    const uint32_t count = kIsByColumns ? rows_.count : columns_.count;
    next_ += depths;
    TENURE_ROLLED while (next_ >= next_count) {
      next_ -= next_count;
      if (++middle_ < count) continue;
      middle_ = 0;
      ++last_;
    }
  }
  TENURE_DEVICE Tap tap(const ConvArgument& argument) const {
    const uint32_t row = kIsByColumns ? middle_ : last_;
    const uint32_t column = kIsByColumns ? next_ : middle_;
    const auto channel = static_cast<int32_t>(kIsByColumns ? last_ : next_);
    Tap tap;
    // Taps behind the last one are not read.
    tap.row = static_cast<int32_t>(row * static_cast<uint32_t>(rows_.dilation));
    tap.column = static_cast<int32_t>(column * static_cast<uint32_t>(columns_.dilation));
    tap.in = bytes_to(tap.row, argument.axes[0].in_step) +
             bytes_to(tap.column, argument.axes[1].in_step) +
             bytes_to(channel, argument.a_channel_step);
    tap.weight = row * rows_.weight_step + column * columns_.weight_step +
                 bytes_to(channel, argument.weight_channel_step);
    return tap;
  }

 private:
  static constexpr bool kIsByColumns = kResult == ConvResult::kFilters;

  const AxisWindows& rows_;
  const AxisWindows& columns_;
  uint32_t channels_;
  // From the one that changes with each depth.
  uint32_t next_ = 0;
  uint32_t middle_ = 0;
  uint32_t last_ = 0;
};

// The part of a sum's channels that a split has; of its rows, windows_of_split().
struct SplitChannels {
  uint32_t first;
  uint32_t count;
};
template <ConvResult kResult>
TENURE_DEVICE SplitChannels channels_of(const ConvArgument& argument, uint32_t split) {
  if constexpr (kResult == ConvResult::kImages) return {0, argument.channels};
  const uint32_t first = split / argument.row_splits * argument.channels_of_split;
  const uint32_t left = argument.channels - first;
  return {first, left < argument.channels_of_split ? left : argument.channels_of_split};
}

template <ConvResult kResult>
TENURE_DEVICE AxisWindows windows_of_split(const ConvArgument& argument, unsigned axis,
                                           uint32_t phase, uint32_t split) {
  if constexpr (kResult == ConvResult::kImages) {
    return windows_of(argument.axes[axis], argument.is_transposed != 0, phase);
  }
  AxisWindows w = windows_of(argument.axes[axis], false, 0);
  if (axis != 0) return w;
  const uint32_t first = split % argument.row_splits * argument.rows_of_split;
  const uint32_t left = w.count - first;
  w.count = left < argument.rows_of_split ? left : argument.rows_of_split;
  w.before -= static_cast<int32_t>(first) * w.dilation;
  w.weight_first = bytes_to(static_cast<int32_t>(first), static_cast<int64_t>(w.weight_step));
  return w;
}

// The part of each tile of a factor that a thread brings: `kItems` elements, in fours. A four that
// is read along the depth is in one line. kPixels: lines begin in an image.
template <class T, int kLines, bool kPixels>
class TapReader {
 public:
  static constexpr int kItems = kLines * kTileDepth / kBlockThreads;
  static constexpr int kFours = kItems / 4;
  static constexpr int kWords = static_cast<int>(sizeof(T)) / 4;  // of an element
  static_assert(kFours * 4 * kBlockThreads == kLines * kTileDepth, "all threads have some");

  // line(i): the i-th of the tile.
  template <class LineAt>
  TENURE_DEVICE TapReader(const ConvArgument& argument, int lines, const LineAt& line)
      : argument_(argument) {
    const int thread = static_cast<int>(threadIdx.x);
    const bool is_along_depth = along_depth();
    line_ = is_along_depth ? thread / 4 : thread % kLines;
    depth_ = is_along_depth ? thread % 4 * 4 : thread / kLines;
    TENURE_UNROLL for (int four = 0; four < kFours; ++four) {
      const int number = line_ + four * line_jump();
      has_line_[four] = number < lines;
      if (has_line_[four]) lines_[four] = line(number);
    }
  }

  // The first `depths` depths of the tile exist.
  TENURE_DEVICE void read_next(const Tap* taps, int depths) {
    const bool is_vector = (kPixels ? argument_.a_has_vectors : argument_.weight_has_vectors) != 0;
    if (is_vector) {
      TENURE_UNROLL for (int four = 0; four < kFours; ++four) {
        uint32_t* const raw = raw_ + 4 * kWords * four;
        TENURE_UNROLL for (int i = 0; i < 4 * kWords; ++i) raw[i] = 0;
        if (const unsigned char* const from = element(taps, four, depth_, depths)) {
          read_four_elements(from, raw);
        }
      }
      return;
    }
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      uint32_t* const raw = raw_ + kWords * i;
      TENURE_UNROLL for (int k = 0; k < kWords; ++k) raw[k] = 0;
      if (const unsigned char* const from = element(taps, i / 4, depth_of(i), depths)) {
        if constexpr (kWords == 2) {
          const auto words = read<Words<8>>(from);
          raw[0] = words.of[0];
          raw[1] = words.of[1];
        } else {
          raw[0] = read_one(is_half(argument_.type), from);
        }
      }
    }
  }

  TENURE_DEVICE void write(FactorTile<T, kLines>& tile) const {
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      tile.at[depth_of(i)][line_ + i / 4 * line_jump()] = number(i);
    }
  }

 private:
  TENURE_DEVICE bool along_depth() const {
    return (kPixels ? argument_.a_is_along_depth : argument_.weight_is_along_depth) != 0;
  }
  TENURE_DEVICE int line_jump() const { return along_depth() ? kBlockThreads / 4 : 0; }
  TENURE_DEVICE int depth_of(int item) const {
    return depth_ + (along_depth() ? item % 4 : item * (kBlockThreads / kLines));
  }

  // nullptr: zero.
  TENURE_DEVICE const unsigned char* element(const Tap* taps, int four, int depth,
                                             int depths) const {
    if (!has_line_[four] || depth >= depths) return nullptr;
    const TapLine& line = lines_[four];
    const Tap& tap = taps[depth];
    if constexpr (kPixels) {
      const auto row = static_cast<uint32_t>(line.row + tap.row);
      const auto column = static_cast<uint32_t>(line.column + tap.column);
      if (row >= argument_.axes[0].in || column >= argument_.axes[1].in) return nullptr;
      return argument_.a + static_cast<int64_t>(line.offset + tap.in);
    } else {
      return argument_.weight + static_cast<int64_t>(line.offset + tap.weight);
    }
  }

  // Elements of f16 and bf16 are in the first half of the words.
  TENURE_DEVICE void read_four_elements(const unsigned char* from, uint32_t* raw) const {
    if constexpr (kWords == 2) {
      TENURE_UNROLL for (int half = 0; half < 2; ++half) {
        const auto words = read<Words<16>>(from + 16 * half);
        TENURE_UNROLL for (int i = 0; i < 4; ++i) raw[4 * half + i] = words.of[i];
      }
    } else {
      const RawGroup group = read_group<T>(argument_.type, from);
      TENURE_UNROLL for (int i = 0; i < 4; ++i) raw[i] = group.words[i];
    }
  }

  TENURE_DEVICE T number(int item) const {
    if constexpr (kWords == 2) {
      return bit_copy<T>(static_cast<uint64_t>(raw_[2 * item]) |
                         static_cast<uint64_t>(raw_[2 * item + 1]) << 32);
    } else {
      if (!is_half(argument_.type)) return bit_copy<T>(raw_[item]);
      const bool is_vector =
          (kPixels ? argument_.a_has_vectors : argument_.weight_has_vectors) != 0;
      const uint32_t bits =
          is_vector ? raw_[item / 4 * 4 + item % 4 / 2] >> (item % 2 * 16) : raw_[item];
      const auto half = static_cast<uint16_t>(bits);
      return argument_.type == ElementType::kF16 ? widen(F16{half}) : widen(BF16{half});
    }
  }

  const ConvArgument& argument_;
  int line_;
  int depth_;
  bool has_line_[kFours];
  TapLine lines_[kFours] = {};
  uint32_t raw_[kItems * kWords];
};

}  // namespace tenure::cuda
