// Entries in tiles, whose columns are counted from one that they have in common.
#pragma once

#include "memory/scratch.hpp"
#include "sparse/packed/source.hpp"

namespace tenure {

// Bits of a layout's columns.
inline constexpr unsigned kNarrowBits = 16;
inline constexpr unsigned kWideBits = 31;
// A strip's entries that are further apart are in this many tiles at most: each has an end for
// every row, which entries far from all others do not pay for.
inline constexpr std::size_t kMaxStripTiles = 64;

// Tiles of one width of columns: how many each strip has, and what that takes.
class TilePlan {
 public:
  TilePlan(const Context& context, const PackedSource& source, unsigned bits);
  [[nodiscard]] unsigned bits() const noexcept { return bits_; }
  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }
  [[nodiscard]] std::int64_t tile_count() const noexcept { return tile_count_; }
  [[nodiscard]] std::int64_t column_bytes() const noexcept { return column_bytes_; }
  [[nodiscard]] std::int64_t size_bytes() const noexcept { return size_bytes_; }
  // Strip s has the tiles strips()[s] to strips()[s + 1].
  [[nodiscard]] const std::int64_t* strips() const noexcept { return strips_.numbers(); }

 private:
  unsigned bits_;
  Scratch strips_;
  bool is_refused_;
  std::int64_t tile_count_;
  std::int64_t column_bytes_;
  std::int64_t size_bytes_;
};

// Into the tiles of a plan that is not refused.
void pack_tiles(const Context& context, const PackedSource& source, const TilePlan& plan,
                PackedMatrix& packed);

}  // namespace tenure
