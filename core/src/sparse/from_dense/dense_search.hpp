// The entries of a dense matrix, found and written chunk by chunk.
#pragma once

#include <cstdint>
#include <memory>

#include "cpu/compress.hpp"
#include "dense/loops/strip_runner.hpp"
#include "dense/scalar.hpp"
#include "memory/traffic.hpp"
#include "sparse/from_dense/elements.hpp"
#include "sparse/from_dense/entry_stage.hpp"
#include "tenure/context.hpp"

namespace tenure {

// Which entries dropout removes, and the factor of the others.
struct Dropout {
  kernels::Chance chance;  // of element i in row-major order
  Operation multiply;
  Element factor;
};

// Compression of a dense matrix to entries, in row-major order.
struct DenseSearch {
  std::int64_t rows;
  std::int64_t columns;
  DenseElements elements;
  const DenseElements* mask;  // input of the predicate; nullptr: the elements
  kernels::Predicate predicate;
  kernels::IndexType index_type;
  const Dropout* dropout = nullptr;

  // Most entries that there can be.
  [[nodiscard]] std::int64_t entry_count() const noexcept { return rows * columns; }
};

// Output arrays: entry k goes to index k.
struct EntryArrays {
  kernels::Byte* values;
  kernels::Byte* columns;
  kernels::Byte* rows;     // nullptr: no row for each entry
  kernels::Byte* offsets;  // nullptr: none of rows; the first is not written
  Stores stores;
};

// Elements of a chunk: with 4 bytes each 256 KiB, a quarter of a second cache, which then still has
// them when they are looked at again; and 8 KiB of bits.
inline constexpr std::int64_t kChunkElements = std::int64_t{64} << 10;
inline constexpr std::int64_t kChunkBytes = kChunkElements * 4;
// Where the elements of columns are adjacent, a chunk is whole lines of each column. One line of
// each takes this many bytes at most, which a second cache holds.
inline constexpr std::int64_t kMaxFetchBytes = kChunkBytes * 3;

// One thread's work on a search. Large: for the stack of one slice.
class DenseSearcher {
 public:
  using Search = DenseSearch;

  // Bytes of memory of the thread's own that the search needs.
  static std::int64_t buffer_bytes(const DenseSearch& search) noexcept;

  DenseSearcher(const DenseSearch& search, kernels::Byte* buffer) noexcept
      : search_(search),
        bits_(reinterpret_cast<std::uint64_t*>(buffer)),
        buffer_(buffer + bits_bytes(search)) {}

  // Whether a chunk is some lines wide, transposed: the elements of columns are adjacent, and there
  // are not too many columns.
  static bool fetches_columns(const DenseSearch& search) noexcept;
  // Elements of every chunk but the last, which may have fewer.
  static std::int64_t chunk_elements(const DenseSearch& search) noexcept;
  static std::int64_t chunk_count(const DenseSearch& search) noexcept {
    const std::int64_t elements = chunk_elements(search);
    return (search.entry_count() + elements - 1) / elements;
  }

  // The number of entries of the chunk.
  std::int64_t count(std::int64_t chunk) noexcept;
  // Writes the entries of the chunk that was counted last, behind `before` earlier entries, and
  // brings chunk `next` closer meanwhile; -1: none.
  void write(const EntryArrays& to, std::int64_t before, std::int64_t next) noexcept;
  // count() and write() in one step, for any chunk; returns the number of its entries.
  std::int64_t count_and_write(std::int64_t chunk, const EntryArrays& to,
                               std::int64_t before) noexcept;
  // Whether that is the faster way: the elements, and the mask, are in their order in memory.
  static bool counts_as_it_writes(const DenseSearch& search) noexcept {
    return search.elements.is_dense() && (search.mask == nullptr || search.mask->is_dense());
  }
  // An estimate of the number of entries, from a sample.
  std::int64_t expected_count() noexcept;

 private:
  static std::int64_t bits_bytes(const DenseSearch& search) noexcept {
    return (chunk_elements(search) / kernels::kWordElements + 1) * 8;
  }
  std::int64_t mark(std::int64_t first, std::int64_t count) noexcept;
  void start(const EntryArrays& to, std::int64_t before) noexcept;
  void take(kernels::MaskedElements& run) noexcept;
  void finish() noexcept;
  void multiply(kernels::Byte* values, std::int64_t count) const noexcept;

  const DenseSearch& search_;
  std::uint64_t* bits_;    // of a chunk
  kernels::Byte* buffer_;  // room for elements that are not dense
  // The chunk that was counted last.
  std::int64_t first_ = 0;
  std::int64_t count_ = 0;
  const kernels::Byte* in_ = nullptr;
  bool has_rows_ = false;
  EntryStage values_;
  EntryStage columns_;
  EntryStage rows_;
};

}  // namespace tenure
