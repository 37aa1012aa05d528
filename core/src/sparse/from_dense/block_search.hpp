// The blocks of a dense matrix that have an entry, found and written chunk by chunk.
#pragma once

#include <cstdint>

#include "sparse/from_dense/dense_search.hpp"

namespace tenure {

// Compression of a dense matrix to blocks, block row by block row.
struct BlockSearch {
  DenseSearch dense;
  std::int64_t block_rows;
  std::int64_t block_columns;

  [[nodiscard]] std::int64_t row_count() const noexcept { return dense.rows / block_rows; }
  // Blocks, and bytes of a block.
  [[nodiscard]] std::int64_t entry_count() const noexcept {
    return row_count() * (dense.columns / block_columns);
  }
  [[nodiscard]] std::int64_t entry_bytes() const noexcept {
    return block_rows * block_columns * dense.elements.width();
  }
};

// One thread's work on a search of blocks; as DenseSearcher. A chunk is some rows of blocks.
class BlockSearcher {
 public:
  using Search = BlockSearch;

  static std::int64_t buffer_bytes(const BlockSearch& search) noexcept;
  static std::int64_t chunk_count(const BlockSearch& search) noexcept;

  BlockSearcher(const BlockSearch& search, kernels::Byte* buffer) noexcept;

  std::int64_t count(std::int64_t chunk) noexcept;
  void write(const EntryArrays& to, std::int64_t before, std::int64_t next) noexcept;
  std::int64_t expected_count() noexcept;

 private:
  // Rows [first, first + count) of a matrix, its elements or its mask, as lines of adjacent
  // elements.
  struct Lines {
    const kernels::Byte* first;
    std::int64_t step;  // bytes
  };
  [[nodiscard]] Lines lines_of(const DenseElements& elements, std::int64_t first,
                               std::int64_t count, kernels::Byte* buffer) const noexcept;
  std::int64_t mark(std::int64_t row, const Lines& asked) noexcept;
  void mark_line(const kernels::Byte* line, std::uint64_t* bits) noexcept;

  const BlockSearch& search_;
  std::int64_t words_;       // of the bits of a row
  std::uint64_t* line_;      // bits of one line
  std::uint64_t* bits_;      // of a chunk's rows, one after the other
  kernels::Byte* elements_;  // room for a chunk's elements that are not adjacent
  kernels::Byte* mask_;
  // The chunk that was counted last.
  std::int64_t row_ = 0;
  std::int64_t rows_ = 0;
  Lines in_ = {nullptr, 0};
  EntryStage values_;
  EntryStage columns_;
};

}  // namespace tenure
