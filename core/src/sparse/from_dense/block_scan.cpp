#include "sparse/from_dense/block_scan.hpp"

#include <algorithm>

#include "cpu/dispatch.hpp"
#include "sparse/index_array.hpp"

namespace tenure {
namespace {

using kernels::BlockRow;
using kernels::Byte;
using kernels::compression_kernels;
using kernels::PrefetchCursor;

std::int64_t words_of(const BlockScan& scan) noexcept {
  return (scan.dense.columns + kernels::kWordElements - 1) / kernels::kWordElements;
}

// Rows of blocks in every chunk but the last.
std::int64_t chunk_rows(const BlockScan& scan) noexcept {
  const std::int64_t row_bytes = scan.block_rows * scan.dense.columns * scan.dense.elements.width();
  return std::clamp<std::int64_t>(kChunkBytes / row_bytes, 1, scan.row_count());
}

std::int64_t lines_bytes(const BlockScan& scan, const DenseElements& elements) noexcept {
  return elements.has_dense_rows()
             ? 0
             : chunk_rows(scan) * scan.block_rows * scan.dense.columns * elements.width();
}

}  // namespace

std::int64_t BlockScanner::chunk_count(const BlockScan& scan) noexcept {
  const std::int64_t rows = chunk_rows(scan);
  return (scan.row_count() + rows - 1) / rows;
}

std::int64_t BlockScanner::buffer_bytes(const BlockScan& scan) noexcept {
  std::int64_t bytes = (1 + chunk_rows(scan)) * words_of(scan) * 8;
  bytes += lines_bytes(scan, scan.dense.elements);
  if (scan.dense.mask != nullptr) bytes += lines_bytes(scan, *scan.dense.mask);
  return bytes;
}

BlockScanner::BlockScanner(const BlockScan& scan, Byte* buffer) noexcept
    : scan_(scan),
      words_(words_of(scan)),
      line_(reinterpret_cast<std::uint64_t*>(buffer)),
      bits_(line_ + words_),
      elements_(reinterpret_cast<Byte*>(bits_ + chunk_rows(scan) * words_)),
      mask_(elements_ + lines_bytes(scan, scan.dense.elements)) {}

BlockScanner::Lines BlockScanner::lines_of(const DenseElements& elements, std::int64_t first,
                                           std::int64_t count, Byte* buffer) const noexcept {
  if (elements.has_dense_rows()) return {elements.row(first), elements.row_step()};
  const std::int64_t columns = scan_.dense.columns;
  elements.fetch(first * columns, count * columns, buffer);
  return {buffer, columns * elements.width()};
}

void BlockScanner::mark_line(const Byte* line, std::uint64_t* bits) noexcept {
  const DenseElements& asked =
      scan_.dense.mask != nullptr ? *scan_.dense.mask : scan_.dense.elements;
  const auto kind = static_cast<unsigned>(scan_.dense.predicate.kind);
  compression_kernels().predicate_mask[kind][asked.width_index()](
      {scan_.dense.columns, line, bits, 0, 0, 1, nullptr}, scan_.dense.predicate);
}

std::int64_t BlockScanner::mark(std::int64_t row, const Lines& asked) noexcept {
  std::uint64_t* const bits = bits_ + row * words_;
  const Byte* line = asked.first + row * scan_.block_rows * asked.step;
  mark_line(line, bits);
  for (std::int64_t i = 1; i < scan_.block_rows; ++i) {
    mark_line(line + i * asked.step, line_);
    for (std::int64_t word = 0; word < words_; ++word) bits[word] |= line_[word];
  }
  return compression_kernels().blocks->fold(bits, words_, scan_.dense.columns, scan_.block_columns);
}

std::int64_t BlockScanner::count(std::int64_t chunk) noexcept {
  row_ = chunk * chunk_rows(scan_);
  rows_ = std::min(chunk_rows(scan_), scan_.row_count() - row_);
  const std::int64_t first = row_ * scan_.block_rows;
  const std::int64_t count = rows_ * scan_.block_rows;
  in_ = lines_of(scan_.dense.elements, first, count, elements_);
  const Lines asked =
      scan_.dense.mask != nullptr ? lines_of(*scan_.dense.mask, first, count, mask_) : in_;
  std::int64_t found = 0;
  for (std::int64_t row = 0; row < rows_; ++row) found += mark(row, asked);
  return found;
}

void BlockScanner::write(const EntryArrays& to, std::int64_t before, std::int64_t next) noexcept {
  const kernels::IndexType type = scan_.dense.index_type;
  const std::int64_t width = index_width(type);
  const std::int64_t entry_bytes = scan_.entry_bytes();
  const auto take = compression_kernels().blocks->take[static_cast<unsigned>(type)];
  const std::int64_t most = std::max<std::int64_t>(1, EntryStage::kPieceBytes / entry_bytes);
  PrefetchCursor ahead = {nullptr, nullptr};
  if (next >= 0 && scan_.dense.elements.is_dense()) {
    const std::int64_t row_bytes = scan_.block_rows * in_.step;
    const std::int64_t first = next * chunk_rows(scan_);
    ahead.next = scan_.dense.elements.row(first * scan_.block_rows);
    ahead.end = ahead.next + std::min(chunk_rows(scan_), scan_.row_count() - first) * row_bytes;
  }
  values_.start(to.values + before * entry_bytes, to.stores);
  columns_.start(to.columns + before * width, to.stores);
  for (std::int64_t row = 0; row < rows_; ++row) {
    BlockRow blocks = {
        in_.first + row * scan_.block_rows * in_.step,
        in_.step,
        {scan_.block_rows, scan_.block_columns, scan_.dense.elements.width()},
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

std::int64_t BlockScanner::expected_count() noexcept {
  const std::int64_t chunks = chunk_count(scan_);
  return count(chunks / 2) * chunks;
}

}  // namespace tenure
