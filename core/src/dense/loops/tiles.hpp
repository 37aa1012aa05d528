// A nest whose operands do not agree on their inner axis, walked in tiles.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dense/loops/nest.hpp"

namespace tenure {

// The two inner axes of a nest in which some operand has longer steps along the innermost axis than
// along the other: each of its lines holds elements of several strips. The axes are cut into tiles
// whose lines stay in the first cache, so that each line is read once. Positions: the outer axes,
// then the tiles.
class Tiles {
 public:
  // A nest of at least two axes, in tiles of at most these extents.
  Tiles(const Nest& nest, unsigned operand_count, std::int64_t rows, std::int64_t columns) noexcept
      : nest_(nest),
        operand_count_(operand_count),
        columns_(nest.extent(nest.rank() - 1)),
        rows_(nest.extent(nest.rank() - 2)),
        tile_rows_(std::min(rows_, rows)),
        tile_columns_(std::min(columns_, columns)),
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

  // One tile: offsets of its first element and of the next tile's, from the operands' elements at
  // index 0, its extents along the inner two axes, and the columns before and after it. After the
  // last tile the first is next.
  struct Tile {
    std::int64_t offsets[Nest::kMaxOperands];
    std::int64_t next[Nest::kMaxOperands];
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t columns_before;
    std::int64_t columns_after;
  };

  // Calls body(tile) for each of the tiles [first, last).
  template <class Body>
  void for_each_tile(std::int64_t first, std::int64_t last, Body&& body) const {
    Tile tile;
    go_to(first, tile.next);
    for (std::int64_t index = first; index < last; ++index) {
      std::copy_n(tile.next, Nest::kMaxOperands, tile.offsets);
      go_to(index + 1, tile.next);
      tile.rows = std::min(tile_rows_, rows_ - row_of(index));
      tile.columns_before = column_of(index);
      tile.columns = std::min(tile_columns_, columns_ - tile.columns_before);
      tile.columns_after = columns_ - tile.columns_before - tile.columns;
      body(static_cast<const Tile&>(tile));
    }
  }

 private:
  [[nodiscard]] std::int64_t row_of(std::int64_t tile) const noexcept {
    return tile / chunks_ % bands_ * tile_rows_;
  }
  [[nodiscard]] std::int64_t column_of(std::int64_t tile) const noexcept {
    return tile % chunks_ * tile_columns_;
  }

  void go_to(std::int64_t tile, std::int64_t* offsets) const noexcept {
    const unsigned rank = nest_.rank();
    std::int64_t position[TNR_MAX_RANK];
    nest_.go_to(rank - 2, tile / chunks_ / bands_, position, offsets);
    for (unsigned i = 0; i < operand_count_; ++i) {
      offsets[i] +=
          row_of(tile) * nest_.step(rank - 2, i) + column_of(tile) * nest_.step(rank - 1, i);
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
