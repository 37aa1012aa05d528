// Strips of rows, and the tiles that each is cut into.
#include "sparse/packed/tiles.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace tenure {
namespace {

using kernels::Byte;
using kernels::kStripRows;
using kernels::PackedTile;

// ---- where tiles begin ----

// First columns of the tiles of one strip, in rising order.
class StripTiles {
 public:
  // The columns of a tile have `bits` bits.
  StripTiles(const PackedSource& source, std::int64_t strip, unsigned bits) noexcept {
    const std::int64_t begin = source.entry(source.strip_row(strip));
    const std::int64_t end = source.entry(source.strip_row(strip + 1));
    if (end - begin > std::int64_t{UINT32_MAX}) {
      is_refused_ = true;
      return;
    }
    if (begin == end) return;
    if (source.matrix.cols <= std::int64_t{1} << bits) {
      add(0);
      return;
    }
    std::int64_t low = INT64_MAX;
    std::int64_t high = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t column = source.column(k);
      low = std::min(low, column);
      high = std::max(high, column);
    }
    if (high - low < std::int64_t{1} << bits) {
      add(low);
      return;
    }
    for (std::int64_t k = begin; k < end && !is_refused_; ++k) {
      const std::int64_t column = source.column(k);
      if (count_ == 0 || column >> bits != firsts_[last_] >> bits) find_or_add(column, bits);
    }
  }

  [[nodiscard]] bool is_refused() const noexcept { return is_refused_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::int64_t first_column(std::size_t tile) const noexcept { return firsts_[tile]; }
  // The tile that a column of the strip is in.
  [[nodiscard]] std::size_t tile_of(std::int64_t column) const noexcept {
    const auto* const after = std::upper_bound(firsts_, firsts_ + count_, column);
    return static_cast<std::size_t>(after - firsts_) - 1;
  }

 private:
  void add(std::int64_t first_column) noexcept { firsts_[count_++] = first_column; }

  void find_or_add(std::int64_t column, unsigned bits) noexcept {
    const std::int64_t first = column >> bits << bits;
    auto* const slot = std::lower_bound(firsts_, firsts_ + count_, first);
    last_ = static_cast<std::size_t>(slot - firsts_);
    if (last_ < count_ && *slot == first) return;
    if (count_ == kMaxStripTiles) {
      is_refused_ = true;
      return;
    }
    std::copy_backward(slot, firsts_ + count_, firsts_ + count_ + 1);
    *slot = first;
    ++count_;
  }

  std::int64_t firsts_[kMaxStripTiles];
  std::size_t count_ = 0;
  std::size_t last_ = 0;
  bool is_refused_ = false;
};

// ---- entries to tiles ----

template <class I, class Column>
void narrow(const Byte* indices, std::int64_t count, std::int64_t first_column, Column* out) {
  for (std::int64_t k = 0; k < count; ++k) {
    I index;
    std::memcpy(&index, indices + k * static_cast<std::int64_t>(sizeof index), sizeof index);
    out[k] = static_cast<Column>(index - static_cast<I>(first_column));
  }
}

// Writes the strips of a plan.
template <class Column>
class TileWriter {
 public:
  TileWriter(const PackedSource& source, const TilePlan& plan, PackedTile* tiles, Column* columns,
             Byte* values) noexcept
      : source_(source), plan_(plan), tiles_(tiles), columns_(columns), values_(values) {}

  void write(std::int64_t strip) const noexcept {
    const std::int64_t first_tile = plan_.strips()[strip];
    const StripTiles tiles(source_, strip, plan_.bits());
    PackedTile* const out = tiles_ + first_tile;
    if (tiles.count() == 1) {
      write_whole(strip, tiles.first_column(0), *out);
    } else if (tiles.count() > 1) {
      write_apart(strip, tiles, out);
    }
  }

 private:
  // A strip that is one tile keeps the order of its entries.
  void write_whole(std::int64_t strip, std::int64_t first_column, PackedTile& tile) const noexcept {
    const std::int64_t row = source_.strip_row(strip);
    const std::int64_t begin = source_.entry(row);
    const std::int64_t end = source_.entry(source_.strip_row(strip + 1));
    tile.first_column = first_column;
    tile.first_entry = begin;
    for (std::int64_t i = 0; i < kStripRows; ++i) {
      const std::int64_t row_end = source_.entry(std::min(row + i + 1, source_.matrix.rows));
      tile.ends[i] = static_cast<std::uint32_t>(row_end - begin);
    }
    const Byte* const indices =
        source_.matrix.indices + (source_.first_entry + begin) * source_.index_bytes();
    if (source_.matrix.index_type == kernels::IndexType::kI32) {
      narrow<std::int32_t>(indices, end - begin, first_column, columns_ + begin);
    } else {
      narrow<std::int64_t>(indices, end - begin, first_column, columns_ + begin);
    }
    std::memcpy(values_ + begin * source_.value_bytes, source_.value(begin),
                static_cast<std::size_t>((end - begin) * source_.value_bytes));
  }

  // Counts the entries of each tile's rows, then puts each entry behind those before it.
  void write_apart(std::int64_t strip, const StripTiles& tiles, PackedTile* out) const noexcept {
    const std::int64_t first_row = source_.strip_row(strip);
    const std::int64_t rows = source_.strip_row(strip + 1) - first_row;
    for (std::size_t i = 0; i < tiles.count(); ++i) {
      out[i].first_column = tiles.first_column(i);
      std::fill_n(out[i].ends, kStripRows, 0);
    }
    for_each_entry(first_row, rows, [&](std::int64_t row, std::int64_t entry) {
      ++out[tiles.tile_of(source_.column(entry))].ends[row];
    });
    std::int64_t next = source_.entry(first_row);
    for (std::size_t i = 0; i < tiles.count(); ++i) {
      out[i].first_entry = next;
      std::uint32_t before = 0;
      for (std::uint32_t& end : out[i].ends) {
        // Where the row begins; each entry that comes moves it on, and the last one to its end.
        const std::uint32_t count = end;
        end = before;
        before += count;
      }
      next += before;
    }
    for_each_entry(first_row, rows, [&](std::int64_t row, std::int64_t entry) {
      const std::int64_t column = source_.column(entry);
      PackedTile& tile = out[tiles.tile_of(column)];
      const std::int64_t to = tile.first_entry + tile.ends[row]++;
      columns_[to] = static_cast<Column>(column - tile.first_column);
      std::memcpy(values_ + to * source_.value_bytes, source_.value(entry),
                  static_cast<std::size_t>(source_.value_bytes));
    });
  }

  template <class Body>
  void for_each_entry(std::int64_t first_row, std::int64_t rows, const Body& body) const noexcept {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t end = source_.entry(first_row + row + 1);
      for (std::int64_t k = source_.entry(first_row + row); k < end; ++k) body(row, k);
    }
  }

  const PackedSource& source_;
  const TilePlan& plan_;
  PackedTile* tiles_;
  Column* columns_;
  Byte* values_;
};

}  // namespace

TilePlan::TilePlan(const Context& context, const PackedSource& source, unsigned bits)
    : bits_(bits), strips_(source.strip_count + 1, 8) {
  std::int64_t* const counts = strips_.numbers() + 1;
  std::atomic<bool> is_refused{false};
  for_each_strip(context, source, [&](std::int64_t strip) {
    const StripTiles tiles(source, strip, bits);
    counts[strip] = static_cast<std::int64_t>(tiles.count());
    if (tiles.is_refused()) is_refused.store(true, std::memory_order_relaxed);
  });
  is_refused_ = is_refused.load(std::memory_order_relaxed);
  std::int64_t total = strips_.numbers()[0] = 0;
  for (std::int64_t strip = 0; strip < source.strip_count; ++strip) {
    total += counts[strip];
    counts[strip] = total;
  }
  tile_count_ = total;
  column_bytes_ = bits == kNarrowBits ? 2 : 4;
  size_bytes_ = (source.strip_count + 1) * 8 +
                (total + 1) * static_cast<std::int64_t>(sizeof(PackedTile)) +
                source.entry_count * (column_bytes_ + source.value_bytes);
}

void pack_tiles(const Context& context, const PackedSource& source, const TilePlan& plan,
                PackedMatrix& packed) {
  PackedArrays arrays(context, packed, plan.size_bytes(), 4);
  auto* const strips = arrays.take<std::int64_t>(source.strip_count + 1, 8);
  auto* const tiles = arrays.take<PackedTile>(plan.tile_count() + 1, sizeof(PackedTile));
  auto* const columns = arrays.take<Byte>(source.entry_count, plan.column_bytes());
  auto* const values = arrays.take<Byte>(source.entry_count, source.value_bytes);
  std::copy_n(plan.strips(), source.strip_count + 1, strips);
  // So that strips without tiles, at the end, have one to look at too.
  tiles[plan.tile_count()].first_entry = source.entry_count;
  const auto write = [&]<class Column>(Column* to) {
    const TileWriter<Column> writer(source, plan, tiles, to, values);
    for_each_strip(context, source, [&](std::int64_t strip) { writer.write(strip); });
  };
  if (plan.bits() == kNarrowBits) {
    write(reinterpret_cast<std::uint16_t*>(columns));
  } else {
    write(reinterpret_cast<std::int32_t*>(columns));
  }
  packed.tiles = {source.matrix.rows, source.matrix.cols, strips, tiles, columns, values};
}

}  // namespace tenure
