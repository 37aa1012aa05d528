#include "dense/product/blocked_matmul.hpp"

#include <utility>

#include "base/arithmetic.hpp"
#include "memory/scratch.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Packing a factor pays where each of its elements is used often, and the factors are too large for
// the first caches: 64 cubed takes 0.8 of the time without, 96 cubed 0.9 (f32, both wide sets).
constexpr std::int64_t kWorthPackingRows = 24;
constexpr std::int64_t kWorthPacking = std::int64_t{1} << 20;

// A right factor of more bytes is in no cache of one core, and is read some rows at a time: so many
// bytes of each, of which the sums stay in the caches meanwhile.
constexpr std::int64_t kWorthStreaming = std::int64_t{1} << 20;
constexpr std::int64_t kStripBytes = std::int64_t{1} << 15;
// A packed one of more bytes is in no cache at all.
constexpr std::int64_t kFarBytes = std::int64_t{1} << 25;

constexpr std::int64_t kPageBytes = 4096;
// Behind each row of sums: else all rows would lie in the same sets of a cache.
constexpr std::int64_t kSumsGap = 64;
// Rows whose sums wait for those of all depths: the right factor is packed again for each so many,
// which are 512 times the work of packing it.
constexpr std::int64_t kSumsRows = 1024;

BlockedMatmul::Steps transposed(const BlockedMatmul::Steps& steps) noexcept {
  return {steps.column, steps.row};
}

}  // namespace

BlockedMatmul::BlockedMatmul(const ProductTypes& types, const Geometry& geometry,
                             const Scalars& scalars, const Epilogue& epilogue,
                             const SumsStore* store) noexcept
    : types_(types), scalars_(scalars), epilogue_(epilogue), store_(store), g_(geometry) {
  is_swapped_ = g_.is_swapped(types_);
  if (is_swapped_) {
    std::swap(types_.a, types_.b);
    g_ = {g_.columns, g_.rows, g_.depth, transposed(g_.b), transposed(g_.a), transposed(g_.out)};
  }
  // A single column's step is of no account.
  if (g_.columns == 1) {
    g_.b.column = types_.b.bytes;
    g_.out.column = types_.out_bytes;
  }
  finishes_ = store_ != nullptr || !epilogue_.is_nothing();
  packs_ = !types_.are_plain() || store_ != nullptr ||
           (g_.rows > kWorthPackingRows && work() > kWorthPacking);
  streams_ = !packs_ && reads_b() && g_.columns * types_.sum_bytes >= kPageBytes &&
             product_or_most(g_.columns, g_.depth) > kWorthStreaming / types_.sum_bytes;
  is_far_ = g_.packed_b != nullptr &&
            product_or_most(g_.columns, g_.depth) > kFarBytes / types_.sum_bytes;
}

std::int64_t BlockedMatmul::work() const noexcept {
  return product_or_most(product_or_most(g_.rows, g_.columns), std::max<std::int64_t>(g_.depth, 1));
}

std::int64_t BlockedMatmul::b_bytes() const noexcept {
  if (!packs_ || g_.packed_b != nullptr) return 0;
  return block_columns() / panel_columns() * types_.panel_bytes(block_depth()) +
         types_.b.packing->slack_bytes;
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

std::int64_t BlockedMatmul::a_bytes() const noexcept {
  if (packs_) {
    return block_panels() * types_.gemm.panel_rows * types_.depth_lanes(block_depth()) *
               types_.sum_bytes +
           types_.a.packing->slack_bytes;
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

void BlockedMatmul::finish(const Block& block) const noexcept {
  const SumsStore::Rows rows = {block.sums,    sums_step(), block.out,    g_.out.row,
                                g_.out.column, block.rows,  block.columns};
  if (block.sums != nullptr) store_->scale(rows);
  if (!epilogue_.is_nothing()) {
    const kernels::DenseProduct of = product(block);
    kernels::Epilogue part = {of.out,  of.row_step,      of.column_step, of.rows, of.columns,
                              nullptr, types_.sum_bytes, nullptr,        nullptr};
    if (!is_swapped_) {
      epilogue_.run(types_.gemm, part, block.column);
    } else {
      // The bias is of the caller's columns. A part of a complex number is a row of its own.
      part.row_step = of.column_step * types_.lanes;
      part.column_step = of.row_step;
      part.rows = block.columns;
      part.columns = of.rows;
      part.bias_step = types_.lanes * types_.sum_bytes;
      for (std::int64_t lane = 0; lane < types_.lanes; ++lane) {
        epilogue_.run(types_.gemm, part, block.row, lane * types_.sum_bytes);
        part.out += types_.sum_bytes;
      }
    }
  }
  if (block.sums != nullptr) store_->store(rows);
}

// ---- without packing both ----

// Panels of columns, or strips of them, which threads share: the right factor is read where it
// lies, or packed a panel at a time by the thread that uses it, if it did not come packed, and the
// left one is not packed.
void BlockedMatmul::run_panels(const Context& context, const Buffers& buffers, const Byte* a,
                               const Byte* b, Byte* out) const noexcept {
  const std::int64_t width = streams_ ? strip_columns(context) : panel_columns();
  if (context.thread_count() == 1 || work() < kWorthSharingWork) {
    return run_slice(buffers.a.of(buffers.first), a, b, out, 0, g_.columns, width);
  }
  const std::int64_t parts = parts_of(g_.columns, width);
  const std::int64_t slices = std::min(parts, std::max<std::int64_t>(work() / kSliceWork, 2));
  // Others are woken at once: a thread takes slices until there are none, so that the caller would
  // not learn that a call is long.
  Tickets tickets(slices);
  for_each_slice(
      context, std::min<std::int64_t>(context.thread_count(), slices),
      [&](std::int64_t thread) noexcept {
        Byte* const buffer = buffers.a.of(buffers.first + thread);
        for (std::int64_t slice = tickets.take(); slice >= 0; slice = tickets.take()) {
          const std::int64_t last = slice_begin(parts, slices, slice + 1) * width;
          run_slice(buffer, a, b, out, slice_begin(parts, slices, slice) * width,
                    std::min(g_.columns, last), width);
        }
      },
      Wake::kAtOnce);
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
    kernels::DenseProduct product = this->product(block);
    product.a = a + block.k * g_.a.column;
    product.a_step = g_.a.row;
    product.a_depth_step = g_.a.column;
    product.b_panel_step = panel_columns() * types_.sum_bytes;
    product.b_depth_step = product.b_panel_step;
    if (reads_b()) {
      product.b = columns_of(b, block).data;
      product.b_depth_step = g_.b.row;
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
        if (g_.packed_b != nullptr) {
          multiply_block(context, buffers, a, {panels_of(block), g_.packed_b->step}, block);
        } else {
          pack_columns(context, columns_of(b, block), buffers.b);
          multiply_block(context, buffers, a, {buffers.b, types_.panel_bytes(block.depth)}, block);
        }
        block.k += types_.most_depth();
      } while (block.k < g_.depth);
    }
  }
}

void BlockedMatmul::pack_columns(const Context& context, const kernels::Factor& block,
                                 Byte* packed) const noexcept {
  const std::int64_t panel_bytes = types_.panel_bytes(block.depth);
  const std::int64_t panels = parts_of(block.count, panel_columns());
  const std::int64_t slices = std::min(panels, slice_count_of(context, panels * panel_bytes * 2));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t panel = slice_begin(panels, slices, slice);
    const std::int64_t first = panel * panel_columns();
    const std::int64_t last =
        std::min(block.count, slice_begin(panels, slices, slice + 1) * panel_columns());
    kernels::Factor part = block;
    part.data += first * block.step;
    part.count = last - first;
    types_.b.packing->columns(part, packed + panel * panel_bytes);
  });
}

// All rows of the block, by a packed part of the right factor. Threads take pieces of the result:
// some rows, which each packs for itself, by some of the block's columns.
void BlockedMatmul::multiply_block(const Context& context, const Buffers& buffers, const Byte* a,
                                   const Panels& b, const Block& block) const noexcept {
  const std::int64_t panel_rows = types_.gemm.panel_rows;
  const std::int64_t threads = work() < kWorthSharingWork ? 1 : context.thread_count();
  const std::int64_t row_panels = parts_of(block.rows, panel_rows);
  const std::int64_t column_panels = parts_of(block.columns, panel_columns());
  // As many for each thread, where that can be.
  const std::int64_t row_parts =
      std::min(row_panels, parts_of(parts_of(row_panels, block_panels()), threads) * threads);
  const std::int64_t column_parts = std::min(column_panels, parts_of(threads, row_parts));
  Tickets tickets(row_parts * column_parts);
  for_each_slice(
      context, std::min(threads, row_parts * column_parts),
      [&](std::int64_t thread) noexcept {
        Byte* const packed = buffers.a.of(buffers.first + thread);
        std::int64_t packed_part = -1;
        for (std::int64_t ticket = tickets.take(); ticket >= 0; ticket = tickets.take()) {
          const std::int64_t row_part = ticket / column_parts;
          const std::int64_t column_part = ticket % column_parts;
          const std::int64_t row = slice_begin(row_panels, row_parts, row_part) * panel_rows;
          const std::int64_t column =
              slice_begin(column_panels, column_parts, column_part) * panel_columns();
          Block piece = block;
          piece.row += row;
          piece.rows =
              std::min(block.rows, slice_begin(row_panels, row_parts, row_part + 1) * panel_rows) -
              row;
          piece.column += column;
          piece.columns =
              std::min(block.columns, slice_begin(column_panels, column_parts, column_part + 1) *
                                          panel_columns()) -
              column;
          piece.out += row * g_.out.row + column * g_.out.column;
          if (piece.sums != nullptr) {
            piece.sums += row * sums_step() + column * types_.lanes * types_.sum_bytes;
            if (piece.k == 0 && scalars_.has_beta) {
              store_->load({piece.sums, sums_step(), piece.out, g_.out.row, g_.out.column,
                            piece.rows, piece.columns});
            }
          }
          if (row_part != packed_part) {
            types_.a.packing->rows(rows_of(a, piece), packed);
            packed_part = row_part;
          }
          kernels::DenseProduct product = this->product(piece);
          product.a = packed;
          product.b = b.data + column / panel_columns() * b.step;
          product.b_panel_step = b.step;
          types_.gemm.multiply(product);
          if (finishes_ && piece.k + piece.depth == g_.depth) finish(piece);
        }
      },
      Wake::kAtOnce);
}

}  // namespace tenure
