// Convolutions. The sums of an element begin at 0 and take their products in the order of the
// filter's rows, columns and channels, by fused multiplication and addition, whichever kernel has
// them: so the bits depend neither on tiles nor on strides. Beyond the image are zeros, which are
// multiplied too.
//
// By tiles, as product_tiles.cuh has them: lines of the left factor are filters, those of the right
// one are pixels, and the depth goes over the elements of a filter. A tile's depths are found once,
// by a thread each, as bytes to them.
#include "cuda/kernels/images/taps.cuh"

namespace tenure::cuda {

// ---- results ----

template <ConvResult kResult, class T>
TENURE_DEVICE T finished(const ConvArgument& argument, T sum, uint32_t filter) {
  if constexpr (kResult == ConvResult::kFilters) return sum;
  T value = sum;
  if (argument.bias != nullptr) {
    value = value + read_number<T>(argument.type, argument.bias + static_cast<int64_t>(filter) *
                                                                      argument.bias_step);
  }
  return bounded(argument, value);
}

// ---- by tiles ----

template <ConvResult kResult, class T, int kCount>
TENURE_DEVICE void convolve(const ConvArgument& argument) {
  constexpr int kLines = kSide * kCount;
  constexpr int kItems = kGroupItems<T>;
  constexpr bool kIsOfFilters = kResult == ConvResult::kFilters;
  using Tile = FactorTile<T, kLines>;
  struct Pixel {
    TapLine line;
    uint64_t out;
  };
  __shared__ Tile filter_tiles[2];
  __shared__ Tile pixel_tiles[2];
  __shared__ Tap taps[2][kTileDepth];
  __shared__ Pixel pixels[kLines];
  __shared__ AxisWindows windows[kImageAxes];

  // Tiles of the same pixels one after the other, which meet in the caches.
  uint32_t block = blockIdx.x;
  const uint32_t first_filter = block % argument.filter_tiles * kLines;
  block /= argument.filter_tiles;
  const uint32_t first_pixel = block % argument.pixel_tiles * kLines;
  block /= argument.pixel_tiles;
  const uint32_t group = block % argument.groups;
  block /= argument.groups;
  const uint32_t phase = kIsOfFilters ? 0 : block;
  const uint32_t split = kIsOfFilters ? block : 0;
  const int thread = static_cast<int>(threadIdx.x);
  // Both axes by the same code, which is long.
  if (thread < static_cast<int>(kImageAxes)) {
    const uint32_t row_phase = phase / argument.column_phases;
    const uint32_t of_axis = thread == 0 ? row_phase : phase - row_phase * argument.column_phases;
    windows[thread] =
        windows_of_split<kResult>(argument, static_cast<unsigned>(thread), of_axis, split);
  }
  __syncthreads();
  const AxisWindows& rows = windows[0];
  const AxisWindows& columns = windows[1];
  const uint32_t per_image = rows.out_count * columns.out_count;
  const uint32_t pixel_count = argument.images * per_image;
  // A phase that is smaller than the largest has fewer tiles.
  if (first_pixel >= pixel_count) return;
  const int pixels_left =
      pixel_count - first_pixel < kLines ? static_cast<int>(pixel_count - first_pixel) : kLines;
  const int filters_left = argument.filters - first_filter < kLines
                               ? static_cast<int>(argument.filters - first_filter)
                               : kLines;
  const SplitChannels channels = channels_of<kResult>(argument, split);
  const uint32_t depth = rows.count * columns.count * channels.count;

  if (thread < pixels_left) {
    const uint32_t number = first_pixel + static_cast<uint32_t>(thread);
    const bool is_by_images = kIsOfFilters && argument.images_are_next != 0;
    const uint32_t quotient = number / (is_by_images ? argument.images : per_image);
    const uint32_t rest = number - quotient * (is_by_images ? argument.images : per_image);
    const uint32_t image = is_by_images ? rest : quotient;
    const uint32_t in_image = is_by_images ? quotient : rest;
    const uint32_t row = in_image / columns.out_count;
    const uint32_t column = in_image - row * columns.out_count;
    Pixel pixel;
    pixel.line.row = static_cast<int32_t>(row) * rows.scale - rows.before;
    pixel.line.column = static_cast<int32_t>(column) * columns.scale - columns.before;
    pixel.line.offset = bytes_to(static_cast<int32_t>(image), argument.a_image_step) +
                        bytes_to(static_cast<int32_t>(group), argument.a_group_step) +
                        bytes_to(static_cast<int32_t>(channels.first), argument.a_channel_step) +
                        bytes_to(pixel.line.row, argument.axes[0].in_step) +
                        bytes_to(pixel.line.column, argument.axes[1].in_step);
    pixel.out = bytes_to(static_cast<int32_t>(image), argument.out_image_step) +
                bytes_to(static_cast<int32_t>(rows.out_first + row * rows.out_scale),
                         argument.axes[0].out_step) +
                bytes_to(static_cast<int32_t>(columns.out_first + column * columns.out_scale),
                         argument.axes[1].out_step);
    pixels[thread] = pixel;
  }

  const SquarePlace place = square_place();
  T sums[kCount][kCount];
  set_zero(sums);
  const bool finds_taps = thread < kTileDepth && depth != 0;
  TapWalk<kResult> walk(rows, columns, depth == 0 ? 1 : channels.count,
                        finds_taps ? static_cast<uint32_t>(thread) : 0);
  if (finds_taps) taps[0][thread] = walk.tap(argument);
  __syncthreads();
  if (depth != 0) {
    const uint64_t first_weight =
        bytes_to(static_cast<int32_t>(group), argument.weight_group_step) +
        bytes_to(static_cast<int32_t>(channels.first), argument.weight_channel_step) +
        rows.weight_first + columns.weight_first;
    TapReader<T, kLines, false> filter_reader(argument, filters_left, [&](int line) {
      const auto filter = static_cast<int32_t>(first_filter) + line;
      return TapLine{first_weight + bytes_to(filter, argument.weight_filter_step), 0, 0};
    });
    TapReader<T, kLines, true> pixel_reader(argument, pixels_left,
                                            [&](int line) { return pixels[line].line; });
    // The loads of a tile are on their way while the one before it is multiplied.
    const uint32_t tiles = (depth - 1) / kTileDepth + 1;
    TENURE_ROLLED for (uint32_t tile = 0;; ++tile) {
      const uint32_t current = tile % 2;
      if (tile < tiles) {
        const uint32_t left = depth - tile * kTileDepth;
        const int depths = left < kTileDepth ? static_cast<int>(left) : kTileDepth;
        filter_reader.read_next(taps[current], depths);
        pixel_reader.read_next(taps[current], depths);
      }
      if (tile > 0) add_products(filter_tiles[current ^ 1], pixel_tiles[current ^ 1], place, sums);
      if (tile == tiles) break;
      // The tiles that are overwritten here were read before the last barrier.
      filter_reader.write(filter_tiles[current]);
      pixel_reader.write(pixel_tiles[current]);
      if (finds_taps) {
        walk.skip(kTileDepth);
        taps[current ^ 1][thread] = walk.tap(argument);
      }
      __syncthreads();
    }
  }

  // Along lines of one factor, those that are adjacent in memory if any are.
  const bool along_filters = argument.writes_filters != 0;
  if (along_filters) transpose(sums);
  const int inner_thread = along_filters ? place.row : place.column;
  const int outer_thread = along_filters ? place.column : place.row;
  const int inner_left = along_filters ? filters_left : pixels_left;
  const int outer_left = along_filters ? pixels_left : filters_left;
  const uint32_t block_filter = group * argument.filters + first_filter;
  unsigned char* const out =
      argument.out +
      static_cast<int64_t>(bytes_to(static_cast<int32_t>(split), argument.out_split_step) +
                           bytes_to(static_cast<int32_t>(block_filter), argument.out_filter_step));
  TENURE_ROLLED for (int i = 0; i < kCount; ++i) {
    const int outer = line_of<T>(outer_thread, i);
    TENURE_ROLLED for (int part = 0; part < kCount / kItems; ++part) {
      const int first = line_of<T>(inner_thread, part * kItems);
      const bool is_vector = argument.writes_vectors != 0 && first + kItems <= inner_left;
      Words<16> numbers = {};
      TENURE_UNROLL for (int k = 0; k < kItems; ++k) {
        if (outer >= outer_left || first + k >= inner_left) continue;
        const int filter = along_filters ? first + k : outer;
        const int pixel = along_filters ? outer : first + k;
        const T value =
            finished<kResult>(argument, sums[0][k], block_filter + static_cast<uint32_t>(filter));
        unsigned char* const to =
            out +
            static_cast<int64_t>(pixels[pixel].out + bytes_to(filter, argument.out_filter_step));
        put(numbers, k, value);
        if (!is_vector) {
          write_number(argument.out_type, to, value);
        } else if (k == kItems - 1) {
          write_group<T>(argument.out_type, to - bytes_of<T>(argument.out_type, kItems - 1),
                         numbers);
        }
      }
      rotate_row(sums[0]);
    }
    rotate_rows(sums);
  }
}

// ---- by single elements ----

template <ConvResult kResult, class T>
TENURE_DEVICE void convolve_directly(const ConvArgument& argument) {
  const uint32_t split = kResult == ConvResult::kFilters ? blockIdx.x / argument.split_blocks : 0;
  const uint32_t number = (blockIdx.x - split * argument.split_blocks) * kThreads + threadIdx.x;
  if (number >= argument.walk.count) return;
  const ResultPlace place = place_of(argument.walk, number);
  const ImageAxis& down = argument.axes[0];
  const ImageAxis& right = argument.axes[1];
  const bool is_transposed = argument.is_transposed != 0;
  AxisWindows rows = {};
  AxisWindows columns = {};
  int32_t first_row = 0;
  int32_t first_column = 0;
  // Both axes by the same code, which is long.
  TENURE_ROLLED for (unsigned axis = 0; axis < kImageAxes; ++axis) {
    const ImageAxis& of = argument.axes[axis];
    uint32_t index = axis == 0 ? place.row : place.column;
    uint32_t phase = 0;
    if (is_transposed) {
      const uint32_t quotient = index / of.stride;
      phase = index - quotient * of.stride;
      index = quotient;
    }
    const AxisWindows windows = windows_of_split<kResult>(argument, axis, phase, split);
    const int32_t first = static_cast<int32_t>(index) * windows.scale - windows.before;
    if (axis == 0) {
      rows = windows;
      first_row = first;
    } else {
      columns = windows;
      first_column = first;
    }
  }
  const uint32_t group = quotient_of(argument.group_filters, place.channel);
  const uint32_t filter = place.channel - group * argument.filters;
  const SplitChannels channels = channels_of<kResult>(argument, split);

  const unsigned char* const a =
      argument.a +
      static_cast<int64_t>(bytes_to(static_cast<int32_t>(place.image), argument.a_image_step) +
                           bytes_to(static_cast<int32_t>(group), argument.a_group_step) +
                           bytes_to(static_cast<int32_t>(channels.first), argument.a_channel_step));
  const unsigned char* const weight =
      argument.weight +
      static_cast<int64_t>(
          bytes_to(static_cast<int32_t>(group), argument.weight_group_step) +
          bytes_to(static_cast<int32_t>(filter), argument.weight_filter_step) +
          bytes_to(static_cast<int32_t>(channels.first), argument.weight_channel_step) +
          rows.weight_first + columns.weight_first);
  T sum = 0;
  // Without channels there are no elements, but as many places.
  const uint32_t row_count = channels.count == 0 ? 0 : rows.count;
  TENURE_ROLLED for (uint32_t i = 0; i < row_count; ++i) {
    const int32_t y = first_row + static_cast<int32_t>(i) * rows.dilation;
    TENURE_ROLLED for (uint32_t j = 0; j < columns.count; ++j) {
      const int32_t x = first_column + static_cast<int32_t>(j) * columns.dilation;
      const bool is_inside =
          static_cast<uint32_t>(y) < down.in && static_cast<uint32_t>(x) < right.in;
      uint64_t in = bytes_to(y, down.in_step) + bytes_to(x, right.in_step);
      uint64_t of_weight = i * rows.weight_step + j * columns.weight_step;
      TENURE_ROLLED for (uint32_t c = 0; c < channels.count; ++c) {
        const T number_of_a =
            is_inside ? read_number<T>(argument.type, a + static_cast<int64_t>(in)) : T{0};
        const T factor = read_number<T>(argument.type, weight + static_cast<int64_t>(of_weight));
        sum = multiply_add(factor, number_of_a, sum);
        in += static_cast<uint64_t>(argument.a_channel_step);
        of_weight += static_cast<uint64_t>(argument.weight_channel_step);
      }
    }
  }
  const uint64_t to = bytes_to(static_cast<int32_t>(split), argument.out_split_step) +
                      bytes_to(static_cast<int32_t>(place.image), argument.out_image_step) +
                      bytes_to(static_cast<int32_t>(place.channel), argument.out_filter_step) +
                      bytes_to(static_cast<int32_t>(place.row), down.out_step) +
                      bytes_to(static_cast<int32_t>(place.column), right.out_step);
  write_number(argument.out_type, argument.out + static_cast<int64_t>(to),
               finished<kResult>(argument, sum, place.channel));
}

}  // namespace tenure::cuda

using tenure::cuda::ConvArgument;
using tenure::cuda::convolve;
using tenure::cuda::convolve_directly;
using tenure::cuda::ConvResult;

TENURE_KERNEL(conv_f32_8, ConvArgument) { convolve<ConvResult::kImages, float, 8>(argument); }
TENURE_KERNEL(conv_f32_4, ConvArgument) { convolve<ConvResult::kImages, float, 4>(argument); }
TENURE_KERNEL(conv_f64_4, ConvArgument) { convolve<ConvResult::kImages, double, 4>(argument); }
TENURE_KERNEL(conv_direct_f32, ConvArgument) {
  convolve_directly<ConvResult::kImages, float>(argument);
}
TENURE_KERNEL(conv_direct_f64, ConvArgument) {
  convolve_directly<ConvResult::kImages, double>(argument);
}
TENURE_KERNEL(filters_f32_8, ConvArgument) { convolve<ConvResult::kFilters, float, 8>(argument); }
TENURE_KERNEL(filters_f32_4, ConvArgument) { convolve<ConvResult::kFilters, float, 4>(argument); }
TENURE_KERNEL(filters_f64_4, ConvArgument) { convolve<ConvResult::kFilters, double, 4>(argument); }
TENURE_KERNEL(filters_direct_f32, ConvArgument) {
  convolve_directly<ConvResult::kFilters, float>(argument);
}
TENURE_KERNEL(filters_direct_f64, ConvArgument) {
  convolve_directly<ConvResult::kFilters, double>(argument);
}
