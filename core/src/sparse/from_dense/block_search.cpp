#include "sparse/from_dense/block_search.hpp"

#include <algorithm>

#include "cpu/dispatch.hpp"
#include "sparse/index_array.hpp"

namespace tenure {
namespace {

using kernels::BlockRow;
using kernels::Byte;
using kernels::compression_kernels;
using kernels::PrefetchCursor;

std::int64_t words_of(const BlockSearch& search) noexcept {
  return (search.dense.columns + kernels::kWordElements - 1) / kernels::kWordElements;
}

// Rows of blocks in every chunk but the last.
std::int64_t chunk_rows(const BlockSearch& search) noexcept {
  const std::int64_t row_bytes =
      search.block_rows * search.dense.columns * search.dense.elements.width();
  return std::clamp<std::int64_t>(kChunkBytes / row_bytes, 1, search.row_count());
}

std::int64_t lines_bytes(const BlockSearch& search, const DenseElements& elements) noexcept {
  return elements.has_dense_rows()
             ? 0
             : chunk_rows(search) * search.block_rows * search.dense.columns * elements.width();
}

}  // namespace

std::int64_t BlockSearcher::chunk_count(const BlockSearch& search) noexcept {
  const std::int64_t rows = chunk_rows(search);
  return (search.row_count() + rows - 1) / rows;
}

std::int64_t BlockSearcher::buffer_bytes(const BlockSearch& search) noexcept {
  std::int64_t bytes = (1 + chunk_rows(search)) * words_of(search) * 8;
  bytes += lines_bytes(search, search.dense.elements);
  if (search.dense.mask != nullptr) bytes += lines_bytes(search, *search.dense.mask);
  return bytes;
}

BlockSearcher::BlockSearcher(const BlockSearch& search, Byte* buffer) noexcept
    : search_(search),
      words_(words_of(search)),
      line_(reinterpret_cast<std::uint64_t*>(buffer)),
      bits_(line_ + words_),
      elements_(reinterpret_cast<Byte*>(bits_ + chunk_rows(search) * words_)),
      mask_(elements_ + lines_bytes(search, search.dense.elements)) {}

BlockSearcher::Lines BlockSearcher::lines_of(const DenseElements& elements, std::int64_t first,
                                             std::int64_t count, Byte* buffer) const noexcept {
  if (elements.has_dense_rows()) return {elements.row(first), elements.row_step()};
  const std::int64_t columns = search_.dense.columns;
  elements.fetch(first * columns, count * columns, buffer);
  return {buffer, columns * elements.width()};
}

void BlockSearcher::mark_line(const Byte* line, std::uint64_t* bits) noexcept {
  const DenseElements& asked =
      search_.dense.mask != nullptr ? *search_.dense.mask : search_.dense.elements;
  const auto kind = static_cast<unsigned>(search_.dense.predicate.kind);
  compression_kernels().predicate_mask[kind][asked.width_index()](
      {search_.dense.columns, line, bits, 0, 0, 1, nullptr}, search_.dense.predicate);
}

std::int64_t BlockSearcher::mark(std::int64_t row, const Lines& asked) noexcept {
  std::uint64_t* const bits = bits_ + row * words_;
  const Byte* line = asked.first + row * search_.block_rows * asked.step;
  mark_line(line, bits);
  for (std::int64_t i = 1; i < search_.block_rows; ++i) {
    mark_line(line + i * asked.step, line_);
    for (std::int64_t word = 0; word < words_; ++word) bits[word] |= line_[word];
  }
  return compression_kernels().blocks->fold(bits, words_, search_.dense.columns,
                                            search_.block_columns);
}

std::int64_t BlockSearcher::count(std::int64_t chunk) noexcept {
  row_ = chunk * chunk_rows(search_);
  rows_ = std::min(chunk_rows(search_), search_.row_count() - row_);
  const std::int64_t first = row_ * search_.block_rows;
  const std::int64_t count = rows_ * search_.block_rows;
  in_ = lines_of(search_.dense.elements, first, count, elements_);
  const Lines asked =
      search_.dense.mask != nullptr ? lines_of(*search_.dense.mask, first, count, mask_) : in_;
  std::int64_t found = 0;
  for (std::int64_t row = 0; row < rows_; ++row) found += mark(row, asked);
  return found;
}

void BlockSearcher::write(const EntryArrays& to, std::int64_t before, std::int64_t next) noexcept {
  const kernels::IndexType type = search_.dense.index_type;
  const std::int64_t width = index_width(type);
  const std::int64_t entry_bytes = search_.entry_bytes();
  const auto take = compression_kernels().blocks->take[static_cast<unsigned>(type)];
  const std::int64_t most = std::max<std::int64_t>(1, EntryStage::kPieceBytes / entry_bytes);
  PrefetchCursor ahead = {nullptr, nullptr};
  if (next >= 0 && search_.dense.elements.is_dense()) {
    const std::int64_t row_bytes = search_.block_rows * in_.step;
    const std::int64_t first = next * chunk_rows(search_);
    ahead.next = search_.dense.elements.row(first * search_.block_rows);
    ahead.end = ahead.next + std::min(chunk_rows(search_), search_.row_count() - first) * row_bytes;
  }
  values_.start(to.values + before * entry_bytes, to.stores);
  columns_.start(to.columns + before * width, to.stores);
  for (std::int64_t row = 0; row < rows_; ++row) {
    BlockRow blocks = {
        in_.first + row * search_.block_rows * in_.step,
        in_.step,
        {search_.block_rows, search_.block_columns, search_.dense.elements.width()},
        bits_ + row * words_,
        words_,
        -1,
        0,
        &ahead,
    };
    for (std::int64_t taken = most; taken == most;) {
      taken = take(blocks, most, values_.end(), columns_.end());
      values_.append(taken * entry_bytes);
      columns_.append(taken * width);
      before += taken;
    }
    put_index(to.offsets, type, row_ + row + 1, before);
  }
  values_.finish();
  columns_.finish();
}

std::int64_t BlockSearcher::expected_count() noexcept {
  const std::int64_t chunks = chunk_count(search_);
  return count(chunks / 2) * chunks;
}

}  // namespace tenure
