// Finds blocks of equal rows by ruling out the shapes that do not fit.
#include "sparse/packed/blocks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>

namespace tenure {
namespace {

using kernels::Byte;
using kernels::kStripRows;

// The shapes that products have kernels for. Where two take the same bytes, the first is chosen.
constexpr BlockShape kShapes[] = {{8, 8}, {4, 4}, {8, 1}, {1, 8}, {2, 2}, {4, 1}, {1, 4}};
constexpr std::int64_t kMostRows = 8;
constexpr std::int64_t kMostCols = 8;

bool fits(const BlockShape& shape, std::int64_t most_rows, std::int64_t most_cols) noexcept {
  return shape.rows <= most_rows && shape.cols <= most_cols;
}

bool fits_any(std::int64_t most_rows, std::int64_t most_cols) noexcept {
  return std::any_of(std::begin(kShapes), std::end(kShapes),
                     [&](const BlockShape& shape) { return fits(shape, most_rows, most_cols); });
}

// Whether `count` indices are runs of `cols` columns each, from a multiple of `cols` on.
template <class I>
bool are_runs(const Byte* indices, std::int64_t count, std::int64_t cols) noexcept {
  if (count % cols != 0) return false;
  I wrong = 0;
  const I mask = static_cast<I>(cols - 1);
  for (std::int64_t k = 0; k < count; k += cols) {
    I first;
    std::memcpy(&first, indices + k * static_cast<std::int64_t>(sizeof(I)), sizeof first);
    wrong |= first & mask;
    for (std::int64_t i = 1; i < cols; ++i) {
      I next;
      std::memcpy(&next, indices + (k + i) * static_cast<std::int64_t>(sizeof(I)), sizeof next);
      wrong |= next ^ (first | static_cast<I>(i));
    }
  }
  return wrong == 0;
}

// The most rows and columns, powers of two, that blocks can have. They only ever get fewer.
class MostOfBlocks {
 public:
  explicit MostOfBlocks(const PackedSource& source) noexcept
      : source_(source),
        are_runs_(source.matrix.index_type == kernels::IndexType::kI32 ? are_runs<std::int32_t>
                                                                       : are_runs<std::int64_t>) {
    while (source.matrix.rows % rows_.load(std::memory_order_relaxed) != 0) {
      rows_.store(rows_.load(std::memory_order_relaxed) / 2, std::memory_order_relaxed);
    }
  }

  [[nodiscard]] std::int64_t rows() const noexcept { return rows_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t cols() const noexcept { return cols_.load(std::memory_order_relaxed); }

  void look_at(std::int64_t strip) noexcept {
    const std::int64_t end = source_.strip_row(strip + 1);
    for (std::int64_t row = source_.strip_row(strip); row < end; ++row) {
      if (!fits_any(rows(), cols())) return;
      if (row % kMostRows != 0 && is_as_before(row)) continue;
      // A row that is not as the one before it begins a block.
      const std::int64_t lowest_bit = row & -row;
      if (row % kMostRows != 0) lower(rows_, lowest_bit);
      std::int64_t most = cols();
      while (most > 1 && !are_runs_(indices_of(row), count_of(row), most)) most /= 2;
      lower(cols_, most);
    }
  }

 private:
  [[nodiscard]] std::int64_t count_of(std::int64_t row) const noexcept {
    return source_.entry(row + 1) - source_.entry(row);
  }
  [[nodiscard]] const Byte* indices_of(std::int64_t row) const noexcept {
    return source_.matrix.indices +
           (source_.first_entry + source_.entry(row)) * source_.index_bytes();
  }
  [[nodiscard]] bool is_as_before(std::int64_t row) const noexcept {
    const std::int64_t count = count_of(row);
    return count == count_of(row - 1) &&
           (count == 0 ||
            std::memcmp(indices_of(row), indices_of(row - 1),
                        static_cast<std::size_t>(count * source_.index_bytes())) == 0);
  }
  static void lower(std::atomic<std::int64_t>& most, std::int64_t to) noexcept {
    std::int64_t now = most.load(std::memory_order_relaxed);
    while (to < now && !most.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
    }
  }

  const PackedSource& source_;
  bool (*are_runs_)(const Byte*, std::int64_t, std::int64_t) noexcept;
  std::atomic<std::int64_t> rows_{kMostRows};
  std::atomic<std::int64_t> cols_{kMostCols};
};

std::int64_t block_count(const PackedSource& source, const BlockShape& shape) noexcept {
  return source.entry_count / (shape.rows * shape.cols);
}

// Copies `count` adjacent pieces of kBytes.
template <std::size_t kBytes>
void copy_pieces(const Byte* from, std::int64_t count, Byte* to, std::int64_t to_step) noexcept {
  for (std::int64_t i = 0; i < count; ++i, from += kBytes, to += to_step) {
    std::memcpy(to, from, kBytes);
  }
}

using CopyPieces = void (*)(const Byte*, std::int64_t, Byte*, std::int64_t) noexcept;

CopyPieces copy_of(std::int64_t piece_bytes) noexcept {
  switch (piece_bytes) {
    case 2: return copy_pieces<2>;
    case 4: return copy_pieces<4>;
    case 8: return copy_pieces<8>;
    case 16: return copy_pieces<16>;
    case 32: return copy_pieces<32>;
    default: return copy_pieces<64>;  // 8 of f64
  }
}

}  // namespace

std::int64_t blocks_bytes(const PackedSource& source, const BlockShape& shape) noexcept {
  return (source.matrix.rows / shape.rows + 1) * 4 + block_count(source, shape) * 4 +
         source.entry_count * source.value_bytes;
}

BlockShape find_blocks(const Context& context, const PackedSource& source) {
  BlockShape best;
  if (source.entry_count == 0) return best;
  MostOfBlocks most(source);
  for_each_strip(context, source, [&](std::int64_t strip) { most.look_at(strip); });
  for (const BlockShape& shape : kShapes) {
    const bool has_numbers =
        block_count(source, shape) <= INT32_MAX && source.matrix.cols / shape.cols <= INT32_MAX;
    if (!fits(shape, most.rows(), most.cols()) || !has_numbers) continue;
    if (best.is_one() || blocks_bytes(source, shape) < blocks_bytes(source, best)) best = shape;
  }
  return best;
}

void pack_blocks(const Context& context, const PackedSource& source, const BlockShape& shape,
                 PackedMatrix& packed) {
  PackedArrays arrays(context, packed, blocks_bytes(source, shape), 3);
  const std::int64_t rows = source.matrix.rows / shape.rows;
  auto* const offsets = arrays.take<std::int32_t>(rows + 1, 4);
  auto* const columns = arrays.take<std::int32_t>(block_count(source, shape), 4);
  auto* const values = arrays.take<Byte>(source.entry_count, source.value_bytes);
  const std::int64_t piece_bytes = shape.cols * source.value_bytes;
  const CopyPieces copy = copy_of(piece_bytes);
  for_each_strip(context, source, [&](std::int64_t strip) {
    for (std::int64_t row = source.strip_row(strip); row < source.strip_row(strip + 1);
         row += shape.rows) {
      const std::int64_t entry = source.entry(row);
      const std::int64_t first = entry / (shape.rows * shape.cols);
      const std::int64_t count = (source.entry(row + 1) - entry) / shape.cols;
      offsets[row / shape.rows] = static_cast<std::int32_t>(first);
      for (std::int64_t k = 0; k < count; ++k) {
        columns[first + k] =
            static_cast<std::int32_t>(source.column(entry + k * shape.cols) / shape.cols);
      }
      for (std::int64_t r = 0; r < shape.rows; ++r) {
        copy(source.value(source.entry(row + r)), count,
             values + (first * shape.rows + r) * piece_bytes, shape.rows * piece_bytes);
      }
    }
  });
  offsets[rows] = static_cast<std::int32_t>(block_count(source, shape));
  packed.info.block_rows = shape.rows;
  packed.info.block_cols = shape.cols;
  packed.blocks = {.rows = rows,
                   .cols = source.matrix.cols / shape.cols,
                   .index_type = kernels::IndexType::kI32,
                   .offsets = reinterpret_cast<const Byte*>(offsets),
                   .indices = reinterpret_cast<const Byte*>(columns),
                   .values = values};
}

}  // namespace tenure
