// What a sparse matrix is packed into, and how.
//
// The layout is chosen by counting: what each would take, and whether a bitmap is worth reading zeros
// for. Nothing is measured, so that the choice, and with it each product's bits, depends on the
// matrix alone.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "index_array.hpp"
#include "kernels/compact.hpp"
#include "operands.hpp"
#include "packed.hpp"
#include "parallel.hpp"
#include "scratch.hpp"
#include "traffic.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::kStripRows;
using kernels::PackedTile;

// A bitmap's product reads all of x for every row: 3.5 ns for 64 elements (AVX-512, AMD family 25 model
// 17), where entries that look their columns up take 0.4 ns each. So one entry in so many elements.
constexpr std::int64_t kBitmapElements = 8;
// A strip's entries that lie further apart are in this many tiles at most: each has an end for every
// row, which entries far from all others do not pay for.
constexpr std::size_t kMaxStripTiles = 64;
// A row's entries in a tile, on average, from which on several tiles to a strip take no more time than
// one: rows that are cut into pieces of a few entries, each with an end that nobody can predict, take
// more than twice as long.
constexpr std::int64_t kWorthCuttingEntries = 16;
// Of a layout's columns.
constexpr unsigned kNarrowBits = 16;
constexpr unsigned kWideBits = 31;

// ---- the source ----

struct Source {
  explicit Source(const SparseOperand& a)
      : matrix(a.compressed()),
        first_entry(a.entries().first),
        entry_count(a.entries().last - first_entry),
        value_bytes(a.value_bytes()),
        strip_count((matrix.rows + kStripRows - 1) / kStripRows) {}

  // Counted from 0, also of a range of rows.
  [[nodiscard]] std::int64_t entry(std::int64_t row) const noexcept {
    return get_index(matrix.offsets, matrix.index_type, row) - first_entry;
  }
  [[nodiscard]] std::int64_t column(std::int64_t entry) const noexcept {
    return get_index(matrix.indices, matrix.index_type, first_entry + entry);
  }
  [[nodiscard]] const Byte* value(std::int64_t entry) const noexcept {
    return matrix.values + (first_entry + entry) * value_bytes;
  }
  [[nodiscard]] std::int64_t strip_row(std::int64_t strip) const noexcept {
    return std::min(strip * kStripRows, matrix.rows);
  }
  [[nodiscard]] std::int64_t index_bytes() const noexcept { return index_width(matrix.index_type); }
  // What a product of the matrix itself reads.
  [[nodiscard]] std::int64_t size_bytes() const noexcept {
    return entry_count * (value_bytes + index_bytes()) + (matrix.rows + 1) * index_bytes();
  }

  kernels::Compressed matrix;
  std::int64_t first_entry;
  std::int64_t entry_count;
  std::int64_t value_bytes;
  std::int64_t strip_count;
};

// Calls body(strip) for each, on the context's threads.
template <class Body>
void for_each_strip(const Context& context, const Source& source, const Body& body) {
  const std::int64_t slices =
      std::clamp<std::int64_t>(slice_count_of(context, source.size_bytes()), 1,
                               std::max<std::int64_t>(1, source.strip_count));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(source.strip_count, slices, slice + 1);
    for (std::int64_t s = slice_begin(source.strip_count, slices, slice); s < end; ++s) body(s);
  });
}

// ---- tiles ----

// Where the tiles of one strip begin, in rising order.
class StripTiles {
 public:
  // Columns of so many bits each.
  StripTiles(const Source& source, std::int64_t strip, unsigned bits) noexcept {
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
    auto* const place = std::lower_bound(firsts_, firsts_ + count_, first);
    last_ = static_cast<std::size_t>(place - firsts_);
    if (last_ < count_ && *place == first) return;
    if (count_ == kMaxStripTiles) {
      is_refused_ = true;
      return;
    }
    std::copy_backward(place, firsts_ + count_, firsts_ + count_ + 1);
    *place = first;
    ++count_;
  }

  std::int64_t firsts_[kMaxStripTiles];
  std::size_t count_ = 0;
  std::size_t last_ = 0;
  bool is_refused_ = false;
};

// Tiles of one width of columns: how many each strip has, and what that takes.
class TilePlan {
 public:
  TilePlan(const Context& context, const Source& source, unsigned bits)
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

// ---- memory ----

// Arrays one after the other in one blob, each from a line on.
class Arrays {
 public:
  Arrays(const Context& context, PackedMatrix& packed, std::int64_t size_bytes, int array_count) {
    // A kernel may read a register behind the last value.
    packed.memory = blob_allocate(
        context, static_cast<std::size_t>(size_bytes + (array_count + 1) * kLineBytes));
    next_ = static_cast<Byte*>(blob_memory_mut(packed.memory).data);
  }

  template <class T>
  T* take(std::int64_t count, std::int64_t bytes_each) noexcept {
    auto* const array = reinterpret_cast<T*>(next_);
    next_ += whole_lines(count * bytes_each);
    return array;
  }

 private:
  Byte* next_;
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
  TileWriter(const Source& source, const TilePlan& plan, PackedTile* tiles, Column* columns,
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

  const Source& source_;
  const TilePlan& plan_;
  PackedTile* tiles_;
  Column* columns_;
  Byte* values_;
};

void pack_tiles(const Context& context, const Source& source, const TilePlan& plan,
                PackedMatrix& packed) {
  Arrays arrays(context, packed, plan.size_bytes(), 4);
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
  packed.tiles = {source.matrix.rows, strips, tiles, columns, values};
}

// ---- bitmaps ----

std::int64_t row_words(const Source& source) noexcept {
  return source.matrix.cols / kernels::kWordBits + (source.matrix.cols % kernels::kWordBits != 0);
}

std::int64_t bitmap_bytes(const Source& source) noexcept {
  std::int64_t words;
  std::int64_t bytes;
  if (__builtin_mul_overflow(row_words(source), source.matrix.rows, &words) ||
      __builtin_mul_overflow(words, 8, &bytes) ||
      __builtin_add_overflow(
          bytes, (source.matrix.rows + 1) * 8 + source.entry_count * source.value_bytes, &bytes)) {
    return INT64_MAX;
  }
  return bytes;
}

// Whether the columns of each row rise, so that bits say which value is whose.
bool has_rising_rows(const Context& context, const Source& source, const SparseOperand& a) {
  constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  if ((a.view().flags & kCoalesced) == kCoalesced) return true;
  const kernels::IndexChecks& checks = index_checks(a.view());
  std::atomic<bool> is_rising{true};
  for_each_strip(context, source, [&](std::int64_t strip) {
    for (std::int64_t row = source.strip_row(strip); row < source.strip_row(strip + 1); ++row) {
      const std::int64_t begin = source.entry(row);
      if (checks.count_stays(bytes_at(a.view().minor, source.first_entry + begin),
                             source.entry(row + 1) - begin) != 0) {
        is_rising.store(false, std::memory_order_relaxed);
      }
    }
  });
  return is_rising.load(std::memory_order_relaxed);
}

// Columns whose marks stay in the first cache.
constexpr std::int64_t kMarkedColumns = 16'384;

// Sets the bits of a row's columns. Each first marks a byte, of which a register at a time becomes
// bits: bits that are set one after the other wait for each other, where they share a word.
template <class I>
void mark_columns(const Source& source, std::int64_t row, std::uint64_t* words) noexcept {
  const kernels::Keep is_marked = {kernels::Keep::Kind::kMasked, 0xff, 0, 0, 0, 0};
  const auto to_bits = kernels::table().compaction->mark[static_cast<unsigned>(is_marked.kind)][0];
  alignas(kLineBytes) Byte marks[kMarkedColumns];
  const Byte* index =
      source.matrix.indices + (source.first_entry + source.entry(row)) * source.index_bytes();
  const Byte* const end =
      source.matrix.indices + (source.first_entry + source.entry(row + 1)) * source.index_bytes();
  for (std::int64_t first = 0; first < source.matrix.cols; first += kMarkedColumns) {
    const std::int64_t count = std::min(kMarkedColumns, source.matrix.cols - first);
    std::memset(marks, 0, static_cast<std::size_t>(count));
    for (; index != end; index += sizeof(I)) {
      I column;
      std::memcpy(&column, index, sizeof column);
      if (column - first >= count) break;
      marks[column - first] = 1;
    }
    to_bits({count, marks, words + first / kernels::kWordBits, 0, 0, 1, nullptr}, is_marked);
  }
}

void pack_bitmap(const Context& context, const Source& source, PackedMatrix& packed) {
  const std::int64_t width = row_words(source);
  const auto mark = source.matrix.index_type == kernels::IndexType::kI32
                        ? mark_columns<std::int32_t>
                        : mark_columns<std::int64_t>;
  Arrays arrays(context, packed, bitmap_bytes(source), 3);
  auto* const offsets = arrays.take<std::int64_t>(source.matrix.rows + 1, 8);
  auto* const words = arrays.take<std::uint64_t>(source.matrix.rows * width, 8);
  auto* const values = arrays.take<Byte>(source.entry_count, source.value_bytes);
  for_each_strip(context, source, [&](std::int64_t strip) {
    const std::int64_t first_row = source.strip_row(strip);
    const std::int64_t end_row = source.strip_row(strip + 1);
    for (std::int64_t row = first_row; row < end_row; ++row) {
      offsets[row] = source.entry(row);
      mark(source, row, words + row * width);
    }
    const std::int64_t begin = source.entry(first_row);
    const std::int64_t end = source.entry(end_row);
    if (begin == end) return;  // there may be no memory that values lie in
    std::memcpy(values + begin * source.value_bytes, source.value(begin),
                static_cast<std::size_t>((end - begin) * source.value_bytes));
  });
  offsets[source.matrix.rows] = source.entry_count;
  packed.bitmap = {source.matrix.rows, source.matrix.cols, offsets, words, values};
}

// ---- the choice ----

void require_rising_rows(const Context& context, const Source& source, const SparseOperand& a) {
  if (has_rising_rows(context, source, a)) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s has rows whose columns do not rise, and a bitmap has neither an order of entries nor "
       "two for one position; sort and coalesce it, or leave the layout to the library",
       a.name());
}

// Packs into tiles of `bits`; false where the entries are too far apart.
bool try_tiles(const Context& context, const Source& source, unsigned bits, PackedMatrix& packed) {
  const TilePlan plan(context, source, bits);
  if (plan.is_refused()) return false;
  pack_tiles(context, source, plan, packed);
  packed.info.layout = bits == kNarrowBits ? TNR_PACKED_LAYOUT_NARROW : TNR_PACKED_LAYOUT_WIDE;
  packed.info.size_bytes = static_cast<std::uint64_t>(plan.size_bytes());
  return true;
}

[[noreturn]] void refuse_tiles(const SparseOperand& a, unsigned bits) {
  fail(TNR_STATUS_UNSUPPORTED,
       "%s has %" PRId64
       " rows one after the other whose columns lie in more than %zu ranges of "
       "2^%u, or that have 2^32 entries: too far apart to be packed",
       a.name(), kStripRows, kMaxStripTiles, bits);
}

void pack_as(const Context& context, const Source& source, const SparseOperand& a,
             tnr_packed_layout layout, PackedMatrix& packed) {
  switch (layout) {
    case TNR_PACKED_LAYOUT_WIDE:
      if (!try_tiles(context, source, kWideBits, packed)) refuse_tiles(a, kWideBits);
      return;
    case TNR_PACKED_LAYOUT_NARROW:
      if (!try_tiles(context, source, kNarrowBits, packed)) refuse_tiles(a, kNarrowBits);
      return;
    case TNR_PACKED_LAYOUT_BITMAP:
      require_rising_rows(context, source, a);
      pack_bitmap(context, source, packed);
      packed.info.layout = layout;
      packed.info.size_bytes = static_cast<std::uint64_t>(bitmap_bytes(source));
      return;
    default: refuse_code("layout", layout);
  }
}

// Entries are dense enough to be found by bits.
bool is_worth_bits(const Source& source) noexcept {
  std::int64_t elements;
  return source.entry_count != 0 &&
         !__builtin_mul_overflow(source.matrix.rows, source.matrix.cols, &elements) &&
         elements / kBitmapElements <= source.entry_count;
}

tnr_packed_layout choose(const Context& context, const Source& source, const SparseOperand& a) {
  if (is_worth_bits(source) && has_rising_rows(context, source, a)) {
    return TNR_PACKED_LAYOUT_BITMAP;
  }
  const TilePlan narrow(context, source, kNarrowBits);
  const TilePlan wide(context, source, kWideBits);
  const bool is_cut = narrow.tile_count() > source.strip_count;
  const bool is_worth_cutting =
      source.entry_count / (kWorthCuttingEntries * kStripRows) >= narrow.tile_count();
  const bool is_narrow = !narrow.is_refused() && narrow.size_bytes() <= wide.size_bytes() &&
                         (!is_cut || is_worth_cutting);
  return is_narrow ? TNR_PACKED_LAYOUT_NARROW : TNR_PACKED_LAYOUT_WIDE;
}

// Products until packing has moved no more bytes than it saved: it reads the source, and fetches and
// writes the result; of a bitmap it also clears and reads a mark for each element, and sets one for
// each entry. -1: never.
std::int64_t break_even(const Source& source, const tnr_packed_info& packed) noexcept {
  const auto packed_bytes = static_cast<std::int64_t>(packed.size_bytes);
  const std::int64_t saved = source.size_bytes() - packed_bytes;
  if (saved <= 0) return -1;
  std::int64_t moved = source.size_bytes() + 2 * packed_bytes;
  if (packed.layout == TNR_PACKED_LAYOUT_BITMAP) {
    moved += 2 * source.matrix.rows * source.matrix.cols + source.entry_count;
  }
  return (moved + saved - 1) / saved;
}

}  // namespace

std::unique_ptr<PackedMatrix> pack(const Context& context, const SparseOperand& a,
                                   tnr_packed_layout layout) {
  const tnr_sparse_view& view = a.view();
  if (view.format != TNR_SPARSE_FORMAT_CSR) {
    fail(TNR_STATUS_UNSUPPORTED,
         "%s.format is %" PRId32 " but must be %" PRId32 ", CSR, to be packed; convert it first",
         a.name(), view.format, TNR_SPARSE_FORMAT_CSR);
  }
  if (type_index(view.values.dtype) >= kernels::kPackedFloatCount) {
    refuse_dtype("packing", view.values.dtype);
  }
  const Source source(a);
  auto packed = std::make_unique<PackedMatrix>();
  packed->info.dtype = view.values.dtype;
  packed->info.rows = view.rows;
  packed->info.cols = view.cols;
  packed->info.nnz = source.entry_count;
  packed->info.source_bytes = static_cast<std::uint64_t>(source.size_bytes());
  pack_as(context, source, a,
          layout == TNR_PACKED_LAYOUT_AUTO ? choose(context, source, a) : layout, *packed);
  packed->info.break_even = break_even(source, packed->info);
  return packed;
}

}  // namespace tenure
