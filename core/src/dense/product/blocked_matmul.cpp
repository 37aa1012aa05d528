#include "dense/product/blocked_matmul.hpp"

#include <utility>

#include "base/arithmetic.hpp"
#include "cpu/dispatch.hpp"
#include "memory/scratch.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Packing a factor pays where each of its elements is used often, and the factors are too large for
// the first caches: 64 cubed takes 0.8 of the time without, 96 cubed 0.9 (f32, both wide sets).
constexpr std::int64_t kWorthPackingRows = 24;
constexpr std::int64_t kWorthPacking = std::int64_t{1} << 20;
// The rows, where columns are packed either way: 16 rows by 384 x 1536 in no cache, of adjacent
// depths, take 0.8 of the time, and 1.07 where a cache has them. With more depths than a block the
// columns are not read as they follow each other.
constexpr std::int64_t kWorthPackingRowsToo = 12;

// A right factor of more than kWorthStreaming bytes is in no cache of one core. It is read some
// rows at a time, kStripBytes of each row at most, and the caches hold the sums of these columns
// meanwhile.
constexpr std::int64_t kWorthStreaming = std::int64_t{1} << 20;
constexpr std::int64_t kStripBytes = std::int64_t{1} << 15;
// A packed one of more bytes is in no cache at all.
constexpr std::int64_t kFarBytes = std::int64_t{1} << 25;

// Panels of columns that a thread packs at a time, where all rows were packed before: lines of the
// next ones come while these are multiplied. Measured (Intel, family 6, model 207; f32 of adjacent
// depths in no cache): 64 rows by 384 x 1536 take 0.73 of the time of packing all columns first
// (AVX2 0.81), 128 rows 0.81 (0.9). One or four panels take 1.02 to 1.1 as long. Panels of adjacent
// 1-byte elements are half as wide, and reading a single line of each row takes twice as long.
constexpr std::int64_t kPiecePanels = 2;
constexpr std::int64_t kPieceBytes = 128;
constexpr std::int64_t kMostSharedRows = 256;
// Each thread packs fewer bytes of rows for itself. Rows that another thread has packed come from its
// cache, and all threads wait until they are packed: two threads multiply 128 cubed 1.65 times as
// fast as one, and 1.3 times by shared rows (f32, Zen 4).
constexpr std::int64_t kMostOwnRowsBytes = std::int64_t{256} << 10;
// Rows that are read where they lie are read again for each panel, from the second cache.
constexpr std::int64_t kMostReadRows = 512;

constexpr std::int64_t kPageBytes = 4096;
// Behind each row of sums: else all rows would lie in the same sets of a cache.
constexpr std::int64_t kSumsGap = 64;
// Rows whose sums are kept until all depths are added. The right factor is packed again for each
// kSumsRows rows, and their products are 512 times the work of packing it.
constexpr std::int64_t kSumsRows = 1024;

BlockedMatmul::Steps transposed(const BlockedMatmul::Steps& steps) noexcept {
  return {steps.column, steps.row};
}

// An axis of a block, cut into parts of whole panels. Only the last panel may be shorter.
struct PanelAxis {
  std::int64_t extent;
  std::int64_t panel_extent;

  struct Range {
    std::int64_t first;
    std::int64_t count;
  };
  [[nodiscard]] std::int64_t panels() const noexcept { return parts_of(extent, panel_extent); }
  [[nodiscard]] Range part(std::int64_t parts, std::int64_t index) const noexcept {
    const std::int64_t first = slice_begin(panels(), parts, index) * panel_extent;
    const std::int64_t end = slice_begin(panels(), parts, index + 1) * panel_extent;
    return {first, std::min(extent, end) - first};
  }
};

}  // namespace

BlockedMatmul::BlockedMatmul(const ProductTypes& types, const Geometry& geometry,
                             const Scalars& scalars, const Epilogue& epilogue,
                             const SumsStore* store, const kernels::SumScaling* scaling) noexcept
    : is_swapped_(geometry.is_swapped(types)),
      types_(is_swapped_ ? types.transposed() : types),
      scalars_(scalars),
      epilogue_(epilogue),
      store_(store),
      g_(geometry) {
  if (is_swapped_) {
    g_ = {g_.columns,         g_.rows, g_.depth,          transposed(g_.b), transposed(g_.a),
          transposed(g_.out), nullptr, g_.epilogue_column};
  }
  if (scaling != nullptr) scaling_ = is_swapped_ ? scaling->transposed() : *scaling;
  // A single column's step is of no account.
  if (g_.columns == 1) {
    g_.b.column = types_.b.bytes;
    g_.out.column = types_.out_bytes;
  }
  // Sums of all depths, which nothing follows, leave the registers as elements.
  is_narrow_ = store_ != nullptr && types_.lanes == 1 && types_.gemm.narrows &&
               epilogue_.is_nothing() && g_.depth <= types_.most_depth() &&
               g_.out.column == types_.out_bytes;
  if (is_narrow_) store_ = nullptr;
  finishes_ = store_ != nullptr || scales() || !epilogue_.is_nothing();
  packs_ = !types_.are_plain() || store_ != nullptr ||
           (work() > kWorthPacking &&
            g_.rows >
                (reads_b() || g_.depth > block_depth() ? kWorthPackingRows : kWorthPackingRowsToo));
  reads_a_ = packs_ && types_.gemm.reads_rows && g_.a.column == types_.a.bytes;
  shares_a_ = packs_ && g_.packed_b == nullptr &&
              (reads_a_ ? g_.rows <= kMostReadRows
                        : g_.rows <= kMostSharedRows && shared_rows_bytes() <= kBlockBytes);
  packs_own_rows_ = shares_a_ && !reads_a_ && shared_rows_bytes() <= kMostOwnRowsBytes;
  streams_ = !packs_ && reads_b() && g_.columns * types_.sum_bytes >= kPageBytes &&
             product_or_most(g_.columns, g_.depth) > kWorthStreaming / types_.sum_bytes;
  is_far_ = g_.packed_b != nullptr &&
            product_or_most(g_.columns, g_.depth) > kFarBytes / types_.sum_bytes;
}

std::int64_t BlockedMatmul::work() const noexcept {
  return product_or_most(product_or_most(g_.rows, g_.columns), std::max<std::int64_t>(g_.depth, 1));
}

std::int64_t BlockedMatmul::shared_bytes() const noexcept {
  if (!packs_ || g_.packed_b != nullptr) return 0;
  if (shares_a_) return reads_a_ || packs_own_rows_ ? 0 : shared_rows_bytes();
  return block_columns() / panel_columns() * types_.panel_bytes(block_depth()) +
         types_.b.packing->slack_bytes;
}

std::int64_t BlockedMatmul::shared_rows_bytes() const noexcept {
  return product_or_most(parts_of(g_.rows, types_.gemm.panel_rows),
                         shared_row_panel_bytes(block_depth()));
}

std::int64_t BlockedMatmul::own_rows_bytes() const noexcept {
  return packs_own_rows_ ? whole_lines(shared_rows_bytes()) : 0;
}

std::int64_t BlockedMatmul::piece_panels() const noexcept {
  if (!reads_a_ || g_.b.column != types_.b.bytes) return kPiecePanels;
  return std::max(kPiecePanels, kPieceBytes / (panel_columns() * types_.b.bytes));
}

std::int64_t BlockedMatmul::sums_rows() const noexcept {
  return store_ == nullptr ? g_.rows : std::min(g_.rows, kSumsRows);
}

std::int64_t BlockedMatmul::sums_step() const noexcept {
  return block_columns() * types_.lanes * types_.sum_bytes + kSumsGap;
}

std::int64_t BlockedMatmul::sums_bytes() const noexcept {
  return store_ == nullptr ? 0 : sums_rows() * sums_step();
}

std::int64_t BlockedMatmul::thread_bytes() const noexcept {
  if (shares_a_) {
    return own_rows_bytes() + piece_panels() * types_.panel_bytes(block_depth()) +
           types_.b.packing->slack_bytes;
  }
  if (packs_) {
    if (reads_a_) return 0;
    return block_panels() * row_panel_bytes(block_depth()) + types_.a.packing->slack_bytes;
  }
  if (streams_) return g_.rows * (kStripBytes + kSumsGap);
  if (reads_b() || reads_b_along() || g_.packed_b != nullptr) return 0;
  return types_.panel_bytes(block_depth());
}

// Without factors.
kernels::DenseProduct BlockedMatmul::product(const Block& block) const noexcept {
  kernels::DenseProduct product = {};
  product.rows = block.rows;
  product.columns = block.columns * types_.lanes;
  product.depth = types_.depth_lanes(block.depth);
  product.is_narrow = is_narrow_;
  if (reads_a_) {
    product.a_step = g_.a.row;
    product.a_row_bytes = block.depth * types_.a.bytes;
  }
  product.alpha = scalars_.alpha.bytes;
  product.beta = block.k != 0        ? scalars_.one.bytes
                 : scalars_.has_beta ? scalars_.beta.bytes
                                     : nullptr;
  if (block.sums != nullptr) {
    product.out = block.sums;
    product.row_step = sums_step();
    product.column_step = types_.sum_bytes;
  } else {
    product.out = block.out;
    product.row_step = g_.out.row;
    product.column_step = types_.lanes == 1 ? g_.out.column : types_.sum_bytes;
  }
  return product;
}

kernels::DenseProduct BlockedMatmul::unpacked_product(const Block& block) const noexcept {
  kernels::DenseProduct product = this->product(block);
  product.a_step = g_.a.row;
  product.a_depth_step = g_.a.column;
  product.b_panel_step = panel_columns() * types_.sum_bytes;
  product.b_depth_step = reads_b() ? g_.b.row : product.b_panel_step;
  return product;
}

void BlockedMatmul::scale_sums(const Block& block) const noexcept {
  const auto behind = [](const auto* data, std::int64_t count) {
    return data == nullptr ? nullptr : data + count;
  };
  const kernels::DenseProduct of = product(block);
  kernels::quantizing_kernels().scale_sums(
      {of.out,
       of.row_step,
       of.column_step,
       of.rows,
       of.columns,
       {behind(scaling_.row_scales, block.row), behind(scaling_.column_scales, block.column),
        behind(scaling_.row_zeros, block.row), behind(scaling_.column_sums, block.column),
        behind(scaling_.row_sums, block.row), behind(scaling_.column_zeros, block.column)}});
}

void BlockedMatmul::finish(const Block& block) const noexcept {
  if (scales()) scale_sums(block);
  const SumsStore::Rows rows = {block.sums,    sums_step(), block.out,    g_.out.row,
                                g_.out.column, block.rows,  block.columns};
  if (block.sums != nullptr) store_->scale(rows);
  if (!epilogue_.is_nothing()) {
    const kernels::Gemm& gemm =
        scales() ? kernels::gemm_kernels()[static_cast<unsigned>(kernels::SumType::kF32)]
                 : types_.gemm;
    const kernels::DenseProduct of = product(block);
    kernels::Epilogue part = {of.out,  of.row_step,      of.column_step, of.rows, of.columns,
                              nullptr, types_.sum_bytes, nullptr,        nullptr};
    if (!is_swapped_) {
      epilogue_.run(gemm, part, g_.epilogue_column + block.column);
    } else {
      // The bias is of the caller's columns. A part of a complex number is a row of its own.
      part.row_step = of.column_step * types_.lanes;
      part.column_step = of.row_step;
      part.rows = block.columns;
      part.columns = of.rows;
      part.bias_step = types_.lanes * types_.sum_bytes;
      for (std::int64_t lane = 0; lane < types_.lanes; ++lane) {
        epilogue_.run(gemm, part, g_.epilogue_column + block.row, lane * types_.sum_bytes);
        part.out += types_.sum_bytes;
      }
    }
  }
  if (block.sums != nullptr) store_->store(rows);
}

bool BlockedMatmul::is_single(const Context& context) const noexcept {
  return !packs_ && reads_b() && !streams_ && !finishes_ && g_.depth <= types_.most_depth() &&
         (context.thread_count() == 1 || work() < kWorthSharingWork);
}

void BlockedMatmul::run_batch(const Context& context, const Buffers& buffers, const Byte* a,
                              const Byte* b, Byte* out, const Batch& batch) const noexcept {
  std::int64_t a_step = batch.a_step;
  std::int64_t b_step = batch.b_step;
  if (is_swapped_) {
    std::swap(a, b);
    std::swap(a_step, b_step);
  }
  // What is around the kernel's call takes as long as a product of 8 x 8 does: once for all.
  const bool is_single = this->is_single(context);
  kernels::DenseProduct product = {};
  if (is_single) product = unpacked_product({0, g_.rows, 0, g_.columns, 0, g_.depth, out, nullptr});
  for (std::int64_t i = 0; i < batch.count; ++i) {
    if (is_single) {
      product.a = a;
      product.b = b;
      product.out = out;
      types_.gemm.multiply_unpacked(product);
    } else {
      run_at(context, buffers, a, b, out);
    }
    a += a_step;
    b += b_step;
    out += batch.out_step;
  }
}

// ---- without packing both ----

// Panels of columns, or strips of them, which threads share: the right factor is read where it
// lies, or packed a panel at a time by the thread that uses it, if it did not come packed, and the
// left one is not packed.
void BlockedMatmul::run_panels(const Context& context, const Buffers& buffers, const Byte* a,
                               const Byte* b, Byte* out) const noexcept {
  const std::int64_t width = streams_ ? strip_columns(context) : panel_columns();
  if (context.thread_count() == 1 || work() < kWorthSharingWork) {
    return run_slice(buffers.threads.of(buffers.first), a, b, out, 0, g_.columns, width);
  }
  const std::int64_t parts = parts_of(g_.columns, width);
  const std::int64_t slices = std::min(parts, std::max<std::int64_t>(work() / kSliceWork, 2));
  // A thread takes slices until there are none, so that the caller would not learn that a call is
  // long.
  Tickets tickets(slices);
  for_each_slice(
      context, std::min<std::int64_t>(context.thread_count(), slices),
      [&](std::int64_t thread) noexcept {
        Byte* const buffer = buffers.threads.of(buffers.first + thread);
        for (std::int64_t slice = tickets.take(); slice >= 0; slice = tickets.take()) {
          const std::int64_t last = slice_begin(parts, slices, slice + 1) * width;
          run_slice(buffer, a, b, out, slice_begin(parts, slices, slice) * width,
                    std::min(g_.columns, last), width);
        }
      },
      wake_for(work()));
}

// The columns from `first` to `last`, in panels or strips of `width`.
void BlockedMatmul::run_slice(Byte* buffer, const Byte* a, const Byte* b, Byte* out,
                              std::int64_t first, std::int64_t last,
                              std::int64_t width) const noexcept {
  const std::int64_t step = (reads_b() || reads_b_along()) && !streams_ ? last - first : width;
  for (std::int64_t j = first; j < last; j += step) {
    run_columns(buffer, a, b, out, j, std::min(step, last - j));
  }
}

// Whole panels; for several threads two strips each, where they are not too narrow to read well.
std::int64_t BlockedMatmul::strip_columns(const Context& context) const noexcept {
  const std::int64_t threads = context.thread_count();
  const std::int64_t share =
      parts_of(g_.columns, threads == 1 ? 1 : 2 * threads) * types_.sum_bytes;
  const std::int64_t bytes = std::clamp(share, kPageBytes, kStripBytes);
  return parts_of(bytes / types_.sum_bytes, panel_columns()) * panel_columns();
}

void BlockedMatmul::run_columns(Byte* buffer, const Byte* a, const Byte* b, Byte* out,
                                std::int64_t column, std::int64_t columns) const noexcept {
  Block block = {0, g_.rows, column, columns, 0, 0, out + column * g_.out.column, nullptr};
  do {  // once where the depth is 0
    block.depth = std::min(block_depth(), g_.depth - block.k);
    kernels::DenseProduct product = unpacked_product(block);
    product.a = a + block.k * g_.a.column;
    if (reads_b()) {
      product.b = columns_of(b, block).data;
    } else if (reads_b_along()) {
      const kernels::Factor factor = columns_of(b, block);
      product.b = factor.data;
      product.b_step = factor.step;
    } else if (g_.packed_b != nullptr) {
      product.b = panels_of(block);
      product.is_far = is_far_;
    } else {
      types_.b.packing->columns(columns_of(b, block), buffer);
      product.b = buffer;
    }
    if (streams_) {
      product.sums = buffer;
      product.sums_step =
          parts_of(columns, panel_columns()) * panel_columns() * types_.sum_bytes + kSumsGap;
      types_.gemm.multiply_streamed(product);
    } else if (reads_b_along()) {
      types_.gemm.multiply_along(product);
    } else {
      types_.gemm.multiply_unpacked(product);
    }
    if (finishes_ && block.k + block.depth == g_.depth) finish(block);
    block.k += types_.most_depth();
  } while (block.k < g_.depth);
}

// ---- both packed ----

void BlockedMatmul::run_packed(const Context& context, const Buffers& buffers, const Byte* a,
                               const Byte* b, Byte* out) const noexcept {
  Block block = {};
  for (block.column = 0; block.column < g_.columns; block.column += most_columns()) {
    block.columns = std::min(most_columns(), g_.columns - block.column);
    for (block.row = 0; block.row < g_.rows; block.row += sums_rows()) {
      block.rows = std::min(sums_rows(), g_.rows - block.row);
      block.out = out + block.row * g_.out.row + block.column * g_.out.column;
      block.sums = store_ == nullptr ? nullptr : buffers.sums;
      block.k = 0;
      do {  // once where the depth is 0
        block.depth = std::min(types_.most_depth(), g_.depth - block.k);
        Panels shared = {buffers.shared, types_.panel_bytes(block.depth)};
        if (g_.packed_b != nullptr) {
          shared = {panels_of(block), g_.packed_b->step};
        } else if (shares_a_ && reads_a_) {
          shared = {rows_of(a, block).data, types_.gemm.panel_rows * g_.a.row};
        } else if (shares_a_) {
          shared.step = shared_row_panel_bytes(block.depth);
          if (!packs_own_rows_) pack_rows(context, rows_of(a, block), buffers.shared);
        } else {
          pack_columns(context, columns_of(b, block), buffers.shared);
        }
        multiply_block(context, buffers, a, b, shared, block);
        block.k += types_.most_depth();
      } while (block.k < g_.depth);
    }
  }
}

// Each with what packing writes behind it, so that threads share them out.
void BlockedMatmul::pack_rows(const Context& context, const kernels::Factor& block,
                              Byte* packed) const noexcept {
  const PanelAxis axis = {block.count, types_.gemm.panel_rows};
  const std::int64_t panels = axis.panels();
  const std::int64_t panel_bytes = shared_row_panel_bytes(block.depth);
  const std::int64_t slices = std::min(panels, slice_count_of(context, panels * panel_bytes * 2));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(panels, slices, slice + 1);
    for (std::int64_t panel = slice_begin(panels, slices, slice); panel < end; ++panel) {
      const PanelAxis::Range rows = axis.part(panels, panel);
      kernels::Factor part = block;
      part.data += rows.first * block.step;
      part.count = rows.count;
      types_.a.packing->rows(part, packed + panel * panel_bytes);
    }
  });
}

void BlockedMatmul::pack_columns(const Context& context, const kernels::Factor& block,
                                 Byte* packed) const noexcept {
  const PanelAxis axis = {block.count, panel_columns()};
  const std::int64_t panel_bytes = types_.panel_bytes(block.depth);
  const std::int64_t slices =
      std::min(axis.panels(), slice_count_of(context, axis.panels() * panel_bytes * 2));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const PanelAxis::Range columns = axis.part(slices, slice);
    kernels::Factor part = block;
    part.data += columns.first * block.step;
    part.count = columns.count;
    types_.b.packing->columns(part, packed + columns.first / panel_columns() * panel_bytes);
  });
}

// Packs the right factor's columns of a piece. The columns of the piece that the thread takes next
// may be in no cache: with adjacent depths, half of them are fetched with the packing, the others
// with the product. Adjacent columns are all fetched with the product: 32 rows by 1024 x 4096 of f32
// take 0.77 of the time, and of f64 0.8 (Zen 4).
void BlockedMatmul::pack_piece(const kernels::Factor& columns, const kernels::Factor& next,
                               Byte* packed, kernels::DenseProduct& product) const noexcept {
  kernels::Factor from = columns;
  if (next.count != 0 && next.depth_step == types_.b.bytes) {
    from.ahead = next.data - columns.data;
    product.next = {next.data + next.step, next.depth * next.depth_step, 2 * next.step,
                    next.count / 2};
  } else if (next.count != 0 && next.step == types_.b.bytes) {
    from.is_followed = false;
    product.next = {next.data, next.count * next.step, next.depth_step, next.depth};
  }
  types_.b.packing->columns(from, packed);
}

// Multiplies a block of the result for which one factor is packed. Threads take pieces of the
// block: each thread packs some panels of the other factor for itself, and multiplies them by all
// or some panels of the packed factor.
void BlockedMatmul::multiply_block(const Context& context, const Buffers& buffers, const Byte* a,
                                   const Byte* b, const Panels& shared,
                                   const Block& block) const noexcept {
  const Byte* const factor = shares_a_ ? b : a;
  const std::int64_t threads = work() < kWorthSharingWork ? 1 : context.thread_count();
  const PanelAxis row_axis = {block.rows, types_.gemm.panel_rows};
  const PanelAxis column_axis = {block.columns, panel_columns()};
  const PanelAxis& own_axis = shares_a_ ? column_axis : row_axis;
  const PanelAxis& shared_axis = shares_a_ ? row_axis : column_axis;
  // Equally many parts for each thread, where that is possible.
  const std::int64_t parts = std::min(
      own_axis.panels(),
      parts_of(parts_of(own_axis.panels(), shares_a_ ? piece_panels() : block_panels()), threads) *
          threads);
  const std::int64_t shared_parts = std::min(shared_axis.panels(), parts_of(threads, parts));
  const auto piece_of = [&](const PanelAxis::Range& own, const PanelAxis::Range& of_shared) {
    const PanelAxis::Range& rows = shares_a_ ? of_shared : own;
    const PanelAxis::Range& columns = shares_a_ ? own : of_shared;
    Block piece = block;
    piece.row += rows.first;
    piece.rows = rows.count;
    piece.column += columns.first;
    piece.columns = columns.count;
    piece.out += rows.first * g_.out.row + columns.first * g_.out.column;
    if (piece.sums != nullptr) {
      piece.sums += rows.first * sums_step() + columns.first * types_.lanes * types_.sum_bytes;
    }
    return piece;
  };
  // The columns of another part, of the next depths behind the last one.
  const auto columns_later = [&](std::int64_t part) {
    Block later = block;
    if (part >= parts) {
      part -= parts;
      later.k += types_.most_depth();
      later.depth = std::min(types_.most_depth(), g_.depth - later.k);
    }
    if (part >= parts || later.depth <= 0) return kernels::Factor{};
    const PanelAxis::Range columns = column_axis.part(parts, part);
    later.column += columns.first;
    later.columns = columns.count;
    return columns_of(factor, later);
  };
  Tickets tickets(parts * shared_parts);
  for_each_slice(
      context, std::min(threads, parts * shared_parts),
      [&](std::int64_t thread) noexcept {
        Byte* const own = buffers.threads.of(buffers.first + thread);
        Byte* const packed = own + own_rows_bytes();
        const Byte* const all_panels = packs_own_rows_ ? own : shared.data;
        std::int64_t packed_part = -1;
        for (std::int64_t ticket = tickets.take(); ticket >= 0; ticket = tickets.take()) {
          if (packs_own_rows_ && packed_part < 0) {
            pack_rows(kDefaultContext, rows_of(a, block), own);
          }
          const std::int64_t part = ticket / shared_parts;
          const PanelAxis::Range of_shared = shared_axis.part(shared_parts, ticket % shared_parts);
          const Block piece = piece_of(own_axis.part(parts, part), of_shared);
          if (piece.sums != nullptr && piece.k == 0 && scalars_.has_beta) {
            store_->load({piece.sums, sums_step(), piece.out, g_.out.row, g_.out.column, piece.rows,
                          piece.columns});
          }
          kernels::DenseProduct product = this->product(piece);
          const Byte* const panels =
              all_panels + of_shared.first / shared_axis.panel_extent * shared.step;
          if (shares_a_) {
            if (part != packed_part) {
              pack_piece(columns_of(factor, piece), columns_later(part + threads), packed, product);
            }
            product.a = panels;
            product.a_panel_step = shared.step;
            product.b = packed;
            product.b_panel_step = types_.panel_bytes(piece.depth);
          } else {
            if (reads_a_) {
              product.a = rows_of(factor, piece).data;
              product.a_panel_step = types_.gemm.panel_rows * g_.a.row;
            } else {
              if (part != packed_part) types_.a.packing->rows(rows_of(factor, piece), packed);
              product.a = packed;
              product.a_panel_step = row_panel_bytes(piece.depth);
            }
            product.b = panels;
            product.b_panel_step = shared.step;
          }
          packed_part = part;
          types_.gemm.multiply(product);
          if (finishes_ && piece.k + piece.depth == g_.depth) finish(piece);
        }
      },
      wake_for(work()));
}

}  // namespace tenure
