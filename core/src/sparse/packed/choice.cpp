// The choice of the layout that a sparse matrix is packed into.
//
// It is chosen by counting: the bytes that each would take, whether a bitmap is worth reading zeros
// for, and whether all entries are in blocks.
// Nothing is measured, so that the choice, and with it each product's bits, depends only on the
// matrix.
#include <atomic>
#include <cinttypes>
#include <memory>

#include "sparse/packed/bitmap.hpp"
#include "sparse/packed/blocks.hpp"
#include "sparse/packed/tiles.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::kStripRows;

// A bitmap's product reads all of x for every row: 3.9 ns for 64 elements (AVX-512, AMD family 25
// model 17), where entries that look their columns up take 0.3 ns each. So a bitmap pays from one
// entry in this many elements on.
constexpr std::int64_t kBitmapElements = 5;
// A row's entries in a tile, on average, from which on several tiles to a strip take no more time
// than one: rows that are cut into pieces of a few entries, each with an end that no branch
// predictor finds, take more than twice as long.
constexpr std::int64_t kWorthCuttingEntries = 16;

// Whether the columns of each row rise, so that bits say which value is whose.
bool has_rising_rows(const Context& context, const PackedSource& source, const SparseOperand& a) {
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

void require_rising_rows(const Context& context, const PackedSource& source,
                         const SparseOperand& a) {
  if (has_rising_rows(context, source, a)) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s has rows whose columns do not rise, and a bitmap has neither an order of entries nor "
       "two for one position; sort and coalesce it, or leave the layout to the library",
       a.name());
}

// Packs into tiles of `bits`; false where the entries are too far apart.
bool try_tiles(const Context& context, const PackedSource& source, unsigned bits,
               PackedMatrix& packed) {
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

void take_blocks(const Context& context, const PackedSource& source, const BlockShape& shape,
                 PackedMatrix& packed) {
  pack_blocks(context, source, shape, packed);
  packed.info.layout = TNR_PACKED_LAYOUT_BLOCKS;
  packed.info.size_bytes = static_cast<std::uint64_t>(blocks_bytes(source, shape));
}

[[noreturn]] void refuse_blocks(const SparseOperand& a) {
  fail(TNR_STATUS_UNSUPPORTED,
       "%s has entries that are not all in blocks without gaps, of 8x8, 4x4, 2x2, 8x1, 4x1, 1x8 or "
       "1x4, that begin at multiples of that; leave the layout to the library",
       a.name());
}

void pack_as(const Context& context, const PackedSource& source, const SparseOperand& a,
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
    case TNR_PACKED_LAYOUT_BLOCKS: {
      const BlockShape shape = find_blocks(context, source);
      if (shape.is_one()) refuse_blocks(a);
      return take_blocks(context, source, shape, packed);
    }
    default: refuse_code("layout", layout);
  }
}

// Entries are dense enough to be found by bits.
bool is_worth_bits(const PackedSource& source) noexcept {
  std::int64_t elements;
  return source.entry_count != 0 &&
         !__builtin_mul_overflow(source.matrix.rows, source.matrix.cols, &elements) &&
         elements / kBitmapElements <= source.entry_count;
}

tnr_packed_layout choose_tiles(const Context& context, const PackedSource& source) {
  const TilePlan narrow(context, source, kNarrowBits);
  const TilePlan wide(context, source, kWideBits);
  const bool is_cut = narrow.tile_count() > source.strip_count;
  const bool is_worth_cutting =
      source.entry_count / (kWorthCuttingEntries * kStripRows) >= narrow.tile_count();
  const bool is_narrow = !narrow.is_refused() && narrow.size_bytes() <= wide.size_bytes() &&
                         (!is_cut || is_worth_cutting);
  return is_narrow ? TNR_PACKED_LAYOUT_NARROW : TNR_PACKED_LAYOUT_WIDE;
}

void pack_best(const Context& context, const PackedSource& source, const SparseOperand& a,
               PackedMatrix& packed) {
  const BlockShape shape = find_blocks(context, source);
  const bool is_bitmap = is_worth_bits(source) && has_rising_rows(context, source, a);
  if (!shape.is_one() && !(is_bitmap && bitmap_bytes(source) < blocks_bytes(source, shape))) {
    return take_blocks(context, source, shape, packed);
  }
  pack_as(context, source, a, is_bitmap ? TNR_PACKED_LAYOUT_BITMAP : choose_tiles(context, source),
          packed);
}

// Products until packing has moved no more bytes than it saved: it reads the source, and fetches
// and writes the result; of a bitmap it also clears and reads a mark for each element, and sets one
// for each entry. -1: never.
std::int64_t break_even(const PackedSource& source, const tnr_packed_info& packed) noexcept {
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
  const PackedSource source(a);
  auto packed = std::make_unique<PackedMatrix>();
  packed->info.dtype = view.values.dtype;
  packed->info.rows = view.rows;
  packed->info.cols = view.cols;
  packed->info.nnz = source.entry_count;
  packed->info.source_bytes = static_cast<std::uint64_t>(source.size_bytes());
  packed->info.block_rows = 1;
  packed->info.block_cols = 1;
  if (layout == TNR_PACKED_LAYOUT_AUTO) {
    pack_best(context, source, a, *packed);
  } else {
    pack_as(context, source, a, layout, *packed);
  }
  packed->info.break_even = break_even(source, packed->info);
  return packed;
}

}  // namespace tenure
