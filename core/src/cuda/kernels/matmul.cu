// Products of matrices. A block has a square tile of a product's sums in registers, and walks along
// the depth with two tiles of each factor in its shared memory: the next ones are loaded while the
// current ones are multiplied. A sum begins at 0 and takes its products in order of the depth, by
// fused multiplication and addition; so its bits depend neither on tiles nor on strides.
#include "elementwise.cuh"
#include "floats.cuh"
#include "matmul_arguments.hpp"
#include "product_tiles.cuh"

namespace tenure::cuda {

TENURE_DEVICE float added(float a, float b) { return a + b; }
TENURE_DEVICE double added(double a, double b) { return a + b; }
TENURE_DEVICE int32_t added(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// ---- elements of the factors, whose sums are of T ----

template <class T>
inline constexpr bool kAreBytes = false;
template <>
inline constexpr bool kAreBytes<int32_t> = true;

TENURE_DEVICE int32_t number_of_byte(ElementType type, uint32_t byte) {
  return type == ElementType::kI8 ? static_cast<int32_t>(static_cast<int8_t>(byte))
                                  : static_cast<int32_t>(byte);
}

// Reads the first `there` elements of a group; the others are 0.
template <class T>
TENURE_DEVICE RawGroup read_factor(const MatmulFactor& factor, const unsigned char* from,
                                   int64_t step, int there) {
  constexpr int kItems = kGroupItems<T>;
  RawGroup raw = {};
  if (factor.has_vectors != 0 && there >= kItems) {
    if constexpr (kAreBytes<T>) {
      raw.words[0] = read<uint32_t>(from);
      return raw;
    } else {
      return read_group<T>(factor.type, from);
    }
  }
  TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
    if (i >= there) continue;
    const unsigned char* const at = from + i * step;
    if constexpr (kAreBytes<T>) {
      raw.words[0] |= static_cast<uint32_t>(read<uint8_t>(at)) << (8 * i);
    } else if constexpr (sizeof(T) == 8) {
      const auto two = read<Words<8>>(at);
      raw.words[2 * i] = two.of[0];
      raw.words[2 * i + 1] = two.of[1];
    } else if (is_half(factor.type)) {
      raw.words[i / 2] |= static_cast<uint32_t>(read<uint16_t>(at)) << (i % 2 * 16);
    } else {
      raw.words[i] = read<uint32_t>(at);
    }
  }
  return raw;
}

template <class T>
TENURE_DEVICE Words<16> factor_numbers(ElementType type, const RawGroup& raw) {
  if constexpr (kAreBytes<T>) {
    Words<16> numbers = {};
    TENURE_UNROLL for (int i = 0; i < 4; ++i) {
      put(numbers, i, number_of_byte(type, raw.words[0] >> (8 * i) & 0xffu));
    }
    return numbers;
  } else {
    return numbers_of<T>(type, raw);
  }
}

// ---- tiles of the factors ----

// The part of each tile that a thread brings.
template <class T, int kLines>
class TileReader {
 public:
  static constexpr int kItems = kGroupItems<T>;
  static constexpr int kGroups = kLines * kTileDepth / kItems / kBlockThreads;
  static_assert(kGroups * kItems * kBlockThreads == kLines * kTileDepth, "all threads have some");

  TENURE_DEVICE TileReader(const MatmulFactor& factor, int64_t offset, int64_t first_line)
      : factor_(factor) {
    constexpr int kAlongDepth = kTileDepth / kItems;
    constexpr int kAlongLines = kLines / kItems;
    const int thread = static_cast<int>(threadIdx.x);
    const bool is_along_depth = factor.is_along_depth != 0;
    line_ = is_along_depth ? thread / kAlongDepth : thread % kAlongLines * kItems;
    depth_ = is_along_depth ? thread % kAlongDepth * kItems : thread / kAlongLines;
    line_jump_ = is_along_depth ? kBlockThreads / kAlongDepth : 0;
    depth_jump_ = is_along_depth ? 0 : kBlockThreads / kAlongLines;
    const int64_t left = factor.lines - first_line;
    lines_left_ = left < kLines ? static_cast<int>(left) : kLines;
    at_ =
        factor.data + offset + (first_line + line_) * factor.line_step + depth_ * factor.depth_step;
  }

  // The first `depths_left` depths of the tile exist, or all where there are more.
  TENURE_DEVICE void read_next(int depths_left) {
    const bool is_along_depth = factor_.is_along_depth != 0;
    const int64_t jump = line_jump_ * factor_.line_step + depth_jump_ * factor_.depth_step;
    const int64_t step = is_along_depth ? factor_.depth_step : factor_.line_step;
    TENURE_UNROLL for (int k = 0; k < kGroups; ++k) {
      const int lines = lines_left_ - line_ - k * line_jump_;
      const int depths = depths_left - depth_ - k * depth_jump_;
      const int there = lines <= 0 || depths <= 0 ? 0 : is_along_depth ? depths : lines;
      raw_[k] = read_factor<T>(factor_, at_ + k * jump, step, there);
    }
    at_ += kTileDepth * factor_.depth_step;
  }

  TENURE_DEVICE void write(FactorTile<T, kLines>& tile) const {
    TENURE_UNROLL for (int k = 0; k < kGroups; ++k) {
      const Words<16> numbers = factor_numbers<T>(factor_.type, raw_[k]);
      const int line = line_ + k * line_jump_;
      const int depth = depth_ + k * depth_jump_;
      if (factor_.is_along_depth == 0) {
        *reinterpret_cast<Words<16>*>(&tile.at[depth][line]) = numbers;
        continue;
      }
      TENURE_UNROLL for (int i = 0; i < kItems; ++i) tile.at[depth + i][line] = get<T>(numbers, i);
    }
  }

 private:
  const MatmulFactor& factor_;
  const unsigned char* at_;
  int line_;
  int depth_;
  int line_jump_;
  int depth_jump_;
  int lines_left_;
  RawGroup raw_[kGroups];
};

// ---- the product ----

template <class T>
TENURE_DEVICE T read_result(ElementType type, const unsigned char* from) {
  if constexpr (kAreBytes<T>) {
    return read<int32_t>(from);
  } else {
    return read_number<T>(type, from);
  }
}

template <class T>
TENURE_DEVICE T finished(const MatmulArgument& argument, T sum, const unsigned char* out,
                         const unsigned char* bias) {
  T value = multiply_add(scalar_of<T>(argument.alpha), sum, T{0});
  if (argument.has_beta != 0) {
    value =
        multiply_add(scalar_of<T>(argument.beta), read_result<T>(argument.out_type, out), value);
  }
  if (argument.bias != nullptr) value = added(value, read_result<T>(argument.out_type, bias));
  return bounded(argument, value);
}

// A thread's sums of one row, of columns that lie in groups.
template <class T, int kCount>
TENURE_DEVICE void write_row(const MatmulArgument& argument, int64_t offset, int64_t row,
                             int64_t first_column, int thread, const T (&sums)[kCount]) {
  constexpr int kItems = kGroupItems<T>;
  const int64_t columns = argument.b.lines;
  unsigned char* const out = argument.out + offset + row * argument.out_row_step;
  const unsigned char* const bias = argument.bias + row * argument.bias_row_step;
  TENURE_UNROLL for (int group = 0; group < kCount / kItems; ++group) {
    const int64_t column = first_column + line_of<T>(thread, group * kItems);
    const bool is_vector = argument.has_out_vectors != 0 && column + kItems <= columns;
    Words<16> numbers = {};
    TENURE_UNROLL for (int i = 0; i < kItems; ++i) {
      if (column + i >= columns) continue;
      unsigned char* const to = out + (column + i) * argument.out_column_step;
      const T value = finished(argument, sums[group * kItems + i], to,
                               bias + (column + i) * argument.bias_column_step);
      put(numbers, i, value);
      if (is_vector) continue;
      if constexpr (kAreBytes<T>) {
        write(to, value);
      } else {
        write_number(argument.out_type, to, value);
      }
    }
    if (!is_vector) continue;
    unsigned char* const to = out + column * argument.out_column_step;
    if constexpr (kAreBytes<T>) {
      write(to, numbers);
    } else {
      write_group<T>(argument.out_type, to, numbers);
    }
  }
}

template <class T, int kCount>
TENURE_DEVICE void multiply(const MatmulArgument& argument) {
  constexpr int kLines = kSide * kCount;
  using Tile = FactorTile<T, kLines>;
  __shared__ Tile a_tiles[2];
  __shared__ Tile b_tiles[2];

  // Tiles in bands of some rows, which meet in the caches.
  constexpr uint32_t kBand = 8;
  const uint32_t tiles = argument.row_tiles * argument.column_tiles;
  const uint32_t tile = blockIdx.x % tiles;
  const uint32_t band = tile / (kBand * argument.column_tiles);
  const uint32_t in_band = tile - band * kBand * argument.column_tiles;
  const uint32_t rows_left = argument.row_tiles - band * kBand;
  const uint32_t band_rows = rows_left < kBand ? rows_left : kBand;
  const int64_t first_row = static_cast<int64_t>(band * kBand + in_band % band_rows) * kLines;
  const int64_t first_column = static_cast<int64_t>(in_band / band_rows) * kLines;
  uint32_t product[1] = {blockIdx.x / tiles};
  int64_t offsets[1][kMatmulOperands];
  find_offsets(argument, product, offsets);

  const SquarePlace place = square_place();
  T sums[kCount][kCount];
  set_zero(sums);
  if (argument.depth > 0) {
    TileReader<T, kLines> a(argument.a, offsets[0][kMatmulA], first_row);
    TileReader<T, kLines> b(argument.b, offsets[0][kMatmulB], first_column);
    const auto read_tiles = [&](int64_t depths_left) {
      const int depths = depths_left < kTileDepth ? static_cast<int>(depths_left) : kTileDepth;
      a.read_next(depths);
      b.read_next(depths);
    };
    read_tiles(argument.depth);
    int current = 0;
    TENURE_ROLLED for (int64_t left = argument.depth; left > 0; left -= kTileDepth) {
      a.write(a_tiles[current]);
      b.write(b_tiles[current]);
      // The other tiles may still be read; these were, before the last barrier.
      __syncthreads();
      if (left > kTileDepth) read_tiles(left - kTileDepth);
      add_products(a_tiles[current], b_tiles[current], place, sums);
      current ^= 1;
    }
  }

  // The rows go round, so that the loop has no index into registers.
  TENURE_ROLLED for (int i = 0; i < kCount; ++i) {
    const int64_t row = first_row + line_of<T>(place.row, i);
    if (row < argument.a.lines) {
      write_row(argument, offsets[0][kMatmulOut], row, first_column, place.column, sums[0]);
    }
    rotate_rows(sums);
  }
}

}  // namespace tenure::cuda

using tenure::cuda::MatmulArgument;

TENURE_KERNEL(matmul_f32_8, MatmulArgument) { tenure::cuda::multiply<float, 8>(argument); }
TENURE_KERNEL(matmul_f32_4, MatmulArgument) { tenure::cuda::multiply<float, 4>(argument); }
TENURE_KERNEL(matmul_f64_4, MatmulArgument) { tenure::cuda::multiply<double, 4>(argument); }
TENURE_KERNEL(matmul_i32_4, MatmulArgument) { tenure::cuda::multiply<int32_t, 4>(argument); }
