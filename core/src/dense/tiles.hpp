// A nest whose operands do not agree on their inner axis, walked in tiles.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/nest.hpp"

namespace tenure {

// The two inner axes of a nest, of which some operand would rather have the other innermost: each
// of its lines holds elements of several strips. Cut into tiles whose lines stay in the first
// cache, so that they are read once. Positions: the outer axes, then the tiles.
class Tiles {
 public:
  // A nest of at least two axes. `width_bytes` is that of the output's elements.
  Tiles(const Nest& nest, unsigned operand_count, std::int64_t width_bytes) noexcept
      : nest_(nest),
        operand_count_(operand_count),
        columns_(nest.extent(nest.rank() - 1)),
        rows_(nest.extent(nest.rank() - 2)),
        // A line of the output's width, and enough beside it that a strip is worth its start.
        tile_rows_(std::min(rows_, std::max<std::int64_t>(8, 64 / width_bytes))),
        tile_columns_(std::min(columns_, std::max<std::int64_t>(16, 512 / tile_rows_))),
        bands_((rows_ + tile_rows_ - 1) / tile_rows_),
        chunks_((columns_ + tile_columns_ - 1) / tile_columns_) {}

  // Whether some operand's steps along the inner axis are longer than along the next.
  static bool are_worth_it(const Nest& nest, unsigned operand_count) noexcept {
    if (nest.rank() < 2) return false;
    for (unsigned operand = 0; operand < operand_count; ++operand) {
      const std::int64_t inner = nest.step(nest.rank() - 1, operand);
      const std::int64_t next = nest.step(nest.rank() - 2, operand);
      if (next != 0 && (inner < 0 ? -inner : inner) > (next < 0 ? -next : next)) return true;
    }
    return false;
  }

  [[nodiscard]] std::int64_t count() const noexcept {
    std::int64_t count = bands_ * chunks_;
    for (unsigned axis = 0; axis + 2 < nest_.rank(); ++axis) count *= nest_.extent(axis);
    return count;
  }

  // Elements of a tile.
  static constexpr std::int64_t kMostElements = 1024;

  // Calls body(offsets, rows, columns) for each of the tiles [first, last): where it starts, from
  // the operands' elements at index 0, and its extents along the inner two axes.
  template <class Body>
  void for_each_tile(std::int64_t first, std::int64_t last, Body&& body) const {
    for (std::int64_t tile = first; tile < last; ++tile) {
      const std::int64_t column = tile % chunks_ * tile_columns_;
      const std::int64_t row = tile / chunks_ % bands_ * tile_rows_;
      std::int64_t offsets[Nest::kMaxOperands];
      go_to(tile / chunks_ / bands_, row, column, offsets);
      body(static_cast<const std::int64_t*>(offsets), std::min(tile_rows_, rows_ - row),
           std::min(tile_columns_, columns_ - column));
    }
  }

 private:
  void go_to(std::int64_t outer, std::int64_t row, std::int64_t column,
             std::int64_t* offsets) const noexcept {
    const unsigned rank = nest_.rank();
    std::int64_t position[TNR_MAX_RANK];
    nest_.go_to(rank - 2, outer, position, offsets);
    for (unsigned i = 0; i < operand_count_; ++i) {
      offsets[i] += row * nest_.step(rank - 2, i) + column * nest_.step(rank - 1, i);
    }
  }

  const Nest& nest_;
  unsigned operand_count_;
  std::int64_t columns_;
  std::int64_t rows_;
  std::int64_t tile_rows_;
  std::int64_t tile_columns_;
  std::int64_t bands_;
  std::int64_t chunks_;
};

}  // namespace tenure
