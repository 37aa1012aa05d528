// CSR to BSR and back, a block row at a time: each entry is read twice, once to count blocks and
// once to fill them. Blocks are found by marking their columns; or, where most marks would be
// searched in vain, by merging the rows of a block row.
#include <algorithm>
#include <array>
#include <atomic>
#include <cinttypes>
#include <cstring>
#include <utility>

#include "dense/loops/streamed.hpp"
#include "memory/scratch.hpp"
#include "memory/tickets.hpp"
#include "memory/traffic.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/block_columns.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

// The source of a block row: sorted rows, read in step.
template <class I>
class BlockRow {
 public:
  BlockRow(const tnr_sparse_view& csr, std::int64_t block_row, std::int64_t block_rows,
           std::int64_t block_cols) noexcept
      : indices_(static_cast<const I*>(csr.minor.data)), rows_(block_rows), cols_(block_cols) {
    const auto* const offsets = static_cast<const I*>(csr.major.data) + block_row * block_rows;
    for (std::int64_t row = 0; row < rows_; ++row) {
      next_[at(row)] = offsets[row];
      ends_[at(row)] = offsets[row + 1];
    }
  }

  // body(block column, begins, ends) for each block that has an entry, in order: row r of the block
  // has entries begins[r] to ends[r].
  template <class Body>
  void for_each_block(const Body& body) noexcept {
    for (;;) {
      std::int64_t first = INT64_MAX;  // column with an entry
      for (std::int64_t row = 0; row < rows_; ++row) {
        if (next_[at(row)] < ends_[at(row)]) {
          first = std::min<std::int64_t>(first, indices_[next_[at(row)]]);
        }
      }
      if (first == INT64_MAX) return;
      const std::int64_t block = first / cols_;
      const auto is_inside = [&](std::int64_t column) {  // also if rows are not sorted after all
        return static_cast<std::uint64_t>(column - block * cols_) <
               static_cast<std::uint64_t>(cols_);
      };
      const Positions begins = next_;
      for (std::int64_t row = 0; row < rows_; ++row) {
        std::int64_t& next = next_[at(row)];
        while (next < ends_[at(row)] && is_inside(indices_[next])) ++next;
      }
      body(block, begins.data(), next_.data());
    }
  }

 private:
  using Positions = std::array<std::int64_t, TNR_SPARSE_MAX_BLOCK>;
  static std::size_t at(std::int64_t row) noexcept { return static_cast<std::size_t>(row); }

  const I* indices_;
  std::int64_t rows_;
  std::int64_t cols_;
  Positions next_;
  Positions ends_;
};

// Room for the blocks of a block row, from where they leave in whole lines. More are put together
// where they belong.
constexpr std::int64_t kBlockStageBytes = std::int64_t{256} << 10;

template <class I>
class BlockMaker {
 public:
  BlockMaker(const Context& context, const tnr_sparse_view& csr, const SparseTarget& target)
      : context_(context),
        csr_(csr),
        target_(target),
        width_(static_cast<std::int64_t>(element_size(csr.values.dtype))),
        block_row_count_(csr.rows / target.block_rows),
        block_col_count_(csr.cols / target.block_cols),
        is_marked_(
            csr.cols <= BlockDivision::kMaxColumns &&
            BlockColumns::are_worth_marking(entry_count(), block_row_count_, block_col_count_)),
        slices_(std::min(std::max<std::int64_t>(block_row_count_, 1),
                         slice_count_of(context, (width_ + kIndexBytes) * entry_count()))) {}

  SparseToken run() {
    SparseBuilder builder(context_, {.format = TNR_SPARSE_FORMAT_BSR,
                                     .rows = csr_.rows,
                                     .cols = csr_.cols,
                                     .block_rows = target_.block_rows,
                                     .block_cols = target_.block_cols,
                                     .index_dtype = target_.index_dtype,
                                     .value_dtype = csr_.values.dtype});
    require_no_duplicates();
    const std::int64_t total = count(builder.major());
    builder.allocate_entries(total);
    if (is_marked_) {
      fill(builder, total);
    } else {
      fill_side_by_side(builder);
    }
    return builder.finish(EntryOrder::rising());
  }

 private:
  static constexpr auto kIndexBytes = static_cast<std::int64_t>(sizeof(I));

  [[nodiscard]] std::int64_t entry_count() const noexcept {
    const EntryRange range = entry_range(csr_);
    return range.last - range.first;
  }
  [[nodiscard]] const I* offsets() const noexcept { return static_cast<const I*>(csr_.major.data); }
  [[nodiscard]] const I* indices() const noexcept { return static_cast<const I*>(csr_.minor.data); }
  [[nodiscard]] EntryRange entries_of(std::int64_t block_row) const noexcept {
    return {offsets()[block_row * target_.block_rows],
            offsets()[(block_row + 1) * target_.block_rows]};
  }
  BlockRow<I> row_of(std::int64_t block_row) const noexcept {
    return {csr_, block_row, target_.block_rows, target_.block_cols};
  }
  // Runs body(block row, start(buffer)) for each block row. A thread calls start(buffer) once, with
  // `buffer_bytes` bytes of its own.
  template <class Start, class Body>
  void for_each_block_row(std::int64_t buffer_bytes, const Start& start, const Body& body) const {
    Tickets tickets(slices_);
    on_each_thread(context_, slices_, buffer_bytes, [&](Byte* buffer) noexcept {
      auto own = start(buffer);
      for (std::int64_t slice; (slice = tickets.take()) >= 0;) {
        const std::int64_t end = slice_begin(block_row_count_, slices_, slice + 1);
        for (std::int64_t row = slice_begin(block_row_count_, slices_, slice); row < end; ++row) {
          body(row, own);
        }
      }
      order_streamed_stores();
    });
  }

  // Writes the offsets; the number of all blocks, which these may not have room for.
  std::int64_t count(Byte* offsets) const {
    const IndexType type = index_type(target_.index_dtype);
    if (is_marked_) {
      for_each_block_row(
          BlockColumns::buffer_bytes(block_col_count_),
          [&](Byte* buffer) { return columns_in(buffer); },
          [&](std::int64_t block_row, BlockColumns& columns) {
            const EntryRange range = entries_of(block_row);
            put_index(offsets, type, block_row + 1,
                      columns.count(indices() + range.first, range.last - range.first));
          });
    } else {
      for_each_block_row(
          0, [](Byte*) { return 0; },
          [&](std::int64_t block_row, int) {
            std::int64_t count = 0;
            row_of(block_row).for_each_block([&](auto, auto, auto) { ++count; });
            put_index(offsets, type, block_row + 1, count);
          });
    }
    std::int64_t total = 0;
    put_index(offsets, type, 0, 0);
    for (std::int64_t row = 1; row <= block_row_count_; ++row) {
      total += get_index(offsets, type, row);
      put_index(offsets, type, row, total);
    }
    return total;
  }
  [[nodiscard]] std::int64_t first_block(const SparseBuilder& builder,
                                         std::int64_t block_row) const noexcept {
    return get_index(builder.major(), index_type(target_.index_dtype), block_row);
  }

  BlockColumns columns_in(Byte* buffer) const noexcept {
    return {BlockDivision(target_.block_cols), block_col_count_, buffer};
  }

  void require_no_duplicates() const {
    if ((csr_.flags & TNR_SPARSE_UNIQUE) != 0) return;
    for (std::int64_t row = 0; row < csr_.rows; ++row) {
      for (std::int64_t k = offsets()[row] + 1; k < offsets()[row + 1]; ++k) {
        if (indices()[k] == indices()[k - 1]) refuse_duplicate(row, indices()[k]);
      }
    }
  }

  // Functions of one width of values, for a block row: the code around them is there once.
  using Spread = void (BlockMaker::*)(std::int64_t, const BlockColumns&, Byte*) const noexcept;
  using SideBySide = void (BlockMaker::*)(std::int64_t, std::int64_t,
                                          const SparseBuilder&) const noexcept;

  void fill(const SparseBuilder& builder, std::int64_t total) const {
    const Spread put = width_ == 1   ? &BlockMaker::spread<1>
                       : width_ == 2 ? &BlockMaker::spread<2>
                       : width_ == 4 ? &BlockMaker::spread<4>
                       : width_ == 8 ? &BlockMaker::spread<8>
                                     : &BlockMaker::spread<16>;
    const std::int64_t bytes = block_elements() * width_;
    const Stores stores = stores_for(total * bytes + entry_count() * (width_ + kIndexBytes));
    struct Own {
      BlockColumns columns;
      Byte* stage;
    };
    const std::int64_t columns_bytes = BlockColumns::buffer_bytes(block_col_count_);
    for_each_block_row(
        columns_bytes + kBlockStageBytes,
        [&](Byte* buffer) { return Own{columns_in(buffer), buffer + columns_bytes}; },
        [&](std::int64_t block_row, Own& own) {
          const std::int64_t first = first_block(builder, block_row);
          const std::int64_t count = first_block(builder, block_row + 1) - first;
          if (count == 0) return;  // there may be no memory
          number_blocks(block_row, first, own.columns, builder);
          Byte* const out = builder.values() + first * bytes;
          const bool is_staged = stores == Stores::kStreamed && count * bytes <= kBlockStageBytes;
          Byte* const to = is_staged ? own.stage : out;
          std::memset(to, 0, static_cast<std::size_t>(count * bytes));
          (this->*put)(block_row, own.columns, to);
          if (is_staged) copy_lines(out, to, count * bytes, stores);
        });
  }

  void number_blocks(std::int64_t block_row, std::int64_t first, BlockColumns& columns,
                     const SparseBuilder& builder) const noexcept {
    const EntryRange range = entries_of(block_row);
    const std::int64_t count = columns.number(indices() + range.first, range.last - range.first);
    const IndexType type = index_type(target_.index_dtype);
    const std::int64_t* const found = columns.found();
    for (std::int64_t i = 0; i < count; ++i) put_index(builder.minor(), type, first + i, found[i]);
  }

  // Writes the entries of a block row to its blocks. The first block is at `to`.
  template <std::size_t kBytes>
  void spread(std::int64_t block_row, const BlockColumns& columns, Byte* to) const noexcept {
    constexpr auto kWidth = static_cast<std::int64_t>(kBytes);
    const std::int64_t cols = target_.block_cols;
    const std::int64_t elements = block_elements();
    const auto* const values = static_cast<const Byte*>(csr_.values.data);
    const I* const columns_of = indices();
    const I* const ends = offsets() + block_row * target_.block_rows + 1;
    std::int64_t k = ends[-1];
    for (std::int64_t row = 0; row < target_.block_rows; ++row) {
      const std::int64_t end = ends[row];
      for (; k < end; ++k) {
        const auto column = static_cast<std::int64_t>(columns_of[k]);
        const std::int64_t block = columns.block_column(column);
        const std::int64_t at =
            columns.number_of(block) * elements + row * cols + column - block * cols;
        std::memcpy(to + at * kWidth, values + k * kWidth, kBytes);
      }
    }
  }

  void fill_side_by_side(const SparseBuilder& builder) const {
    const SideBySide fill_row = width_ == 1   ? &BlockMaker::fill_row_side_by_side<1>
                                : width_ == 2 ? &BlockMaker::fill_row_side_by_side<2>
                                : width_ == 4 ? &BlockMaker::fill_row_side_by_side<4>
                                : width_ == 8 ? &BlockMaker::fill_row_side_by_side<8>
                                              : &BlockMaker::fill_row_side_by_side<16>;
    for_each_block_row(
        0, [](Byte*) { return 0; },
        [&](std::int64_t block_row, int) {
          (this->*fill_row)(block_row, first_block(builder, block_row), builder);
        });
  }

  // Writes the blocks of a block row. The first one is number `block`.
  template <std::size_t kBytes>
  void fill_row_side_by_side(std::int64_t block_row, std::int64_t block,
                             const SparseBuilder& builder) const noexcept {
    const std::int64_t cols = target_.block_cols;
    const std::int64_t elements = block_elements();
    const IndexType type = index_type(target_.index_dtype);
    const auto* const values = static_cast<const Byte*>(csr_.values.data);
    constexpr auto kWidth = static_cast<std::int64_t>(kBytes);
    row_of(block_row).for_each_block(
        [&](std::int64_t column, const std::int64_t* begins, const std::int64_t* ends) {
          Byte* const out = builder.values() + block * elements * kWidth;
          std::memset(out, 0, static_cast<std::size_t>(elements) * kBytes);
          for (std::int64_t row = 0; row < target_.block_rows; ++row) {
            const std::int64_t first = (row - column) * cols;
            for (std::int64_t k = begins[row]; k < ends[row]; ++k) {
              std::memcpy(out + (first + indices()[k]) * kWidth, values + k * kWidth, kBytes);
            }
          }
          put_index(builder.minor(), type, block++, column);
        });
  }

  [[nodiscard]] std::int64_t block_elements() const noexcept {
    return target_.block_rows * target_.block_cols;
  }

  const Context& context_;
  const tnr_sparse_view& csr_;
  const SparseTarget& target_;
  std::int64_t width_;
  std::int64_t block_row_count_;
  std::int64_t block_col_count_;
  bool is_marked_;  // or walked in step
  std::int64_t slices_;
};

// Row `row` of the blocks [first, last), and their columns, from entry `out` on.
template <class J>
void spell_row(const tnr_sparse_view& bsr, std::int64_t row, EntryRange blocks, std::int64_t out,
               const SparseBuilder& builder) noexcept {
  const std::int64_t cols = bsr.block_cols;
  const auto bytes = static_cast<std::size_t>(cols) * element_size(bsr.values.dtype);
  const auto* const from = static_cast<const Byte*>(bsr.values.data);
  auto* const indices = reinterpret_cast<J*>(builder.minor()) + out;
  Byte* const values =
      builder.values() + out * static_cast<std::int64_t>(element_size(bsr.values.dtype));
  for (std::int64_t block = blocks.first; block < blocks.last; ++block) {
    const std::int64_t at = block - blocks.first;
    const auto first = static_cast<J>(index_at(bsr.minor, block) * cols);
    for (std::int64_t col = 0; col < cols; ++col) {
      indices[at * cols + col] = static_cast<J>(first + static_cast<J>(col));
    }
    std::memcpy(values + static_cast<std::size_t>(at) * bytes,
                from + static_cast<std::size_t>(block * bsr.block_rows + row) * bytes, bytes);
  }
}

}  // namespace

void refuse_duplicate(std::int64_t row, std::int64_t column) {
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "row %" PRId64 " has two entries in column %" PRId64
       ", and a block has room for one: coalesce first",
       row, column);
}

SparseToken blocks_of(const Context& context, const tnr_sparse_view& csr,
                      const SparseTarget& target) {
  if (csr.minor.dtype == TNR_DTYPE_I32) return BlockMaker<std::int32_t>(context, csr, target).run();
  return BlockMaker<std::int64_t>(context, csr, target).run();
}

SparseToken elements_of(const Context& context, const tnr_sparse_view& bsr,
                        const SparseTarget& target) {
  const tnr_sparse_format format = target.format;
  const tnr_dtype index_dtype = target.index_dtype;
  SparseBuilder builder(context, {.format = format,
                                  .rows = bsr.rows,
                                  .cols = bsr.cols,
                                  .index_dtype = index_dtype,
                                  .value_dtype = bsr.values.dtype});
  const EntryRange all = entry_range(bsr);
  const std::int64_t rows = bsr.block_rows;
  const std::int64_t count = (all.last - all.first) * rows * bsr.block_cols;
  builder.allocate_entries(count);
  const IndexType type = index_type(index_dtype);
  const bool is_coo = format == TNR_SPARSE_FORMAT_COO;
  if (!is_coo) put_index(builder.major(), type, 0, 0);
  const std::int64_t block_row_count = major_count(bsr);
  const IndexReader offsets(bsr.major);
  // The offsets of rows of blocks that have none.
  const auto put_empty = [&](std::int64_t first, std::int64_t end) {
    const std::int64_t before = (offsets[first] - all.first) * rows * bsr.block_cols;
    const auto put = [&]<class I>(I* to) {
      std::fill_n(to + first * rows + 1, (end - first) * rows, static_cast<I>(before));
    };
    if (type == IndexType::kI32) {
      put(reinterpret_cast<std::int32_t*>(builder.major()));
    } else {
      put(reinterpret_cast<std::int64_t*>(builder.major()));
    }
  };
  const std::int64_t slices =
      std::min(std::max<std::int64_t>(1, block_row_count), slice_count_of(context, 8 * count));
  for_each_slice(context, slices, [&](std::int64_t slice) {
    const std::int64_t end = slice_begin(block_row_count, slices, slice + 1);
    for (std::int64_t at = slice_begin(block_row_count, slices, slice); at < end; ++at) {
      const std::int64_t empty = std::exchange(at, first_filled_row(offsets, at, end));
      if (!is_coo) put_empty(empty, at);
      if (at == end) break;
      const EntryRange blocks{offsets[at], offsets[at + 1]};
      const std::int64_t of_row = (blocks.last - blocks.first) * bsr.block_cols;
      std::int64_t out = (blocks.first - all.first) * rows * bsr.block_cols;
      for (std::int64_t row = 0; row < rows; ++row) {
        if (type == IndexType::kI32) {
          spell_row<std::int32_t>(bsr, row, blocks, out, builder);
        } else {
          spell_row<std::int64_t>(bsr, row, blocks, out, builder);
        }
        const std::int64_t before = std::exchange(out, out + of_row);
        if (!is_coo) {
          put_index(builder.major(), type, at * rows + row + 1, out);
        } else {
          for (std::int64_t k = before; k < out; ++k) {
            put_index(builder.major(), type, k, at * rows + row);
          }
        }
      }
    }
  });
  const EntryOrder order = EntryOrder::of(bsr).spelled();
  return builder.finish(target.is_sorted ? builder.looked_at(order) : order);
}

}  // namespace tenure
