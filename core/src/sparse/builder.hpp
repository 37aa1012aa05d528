// A matrix under construction: the allocation, filling and hand-over of an operation's sparse
// result.
//
//   SparseBuilder builder(context, {.format = TNR_SPARSE_FORMAT_CSR, .rows = m, .cols = n,
//                                   .index_dtype = TNR_DTYPE_I32, .value_dtype = TNR_DTYPE_F32});
//   ...                                 write rows + 1 offsets to builder.major()
//   builder.allocate_entries(count);    minor() and values(), and of COO major(), are there
//   ...                                 write them all
//   return builder.finish(EntryOrder::rising());
//
// For a batch major() has the offsets of each matrix, and batches + 1 numbers go to
// batch_offsets().
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include "cpu/kernel.hpp"
#include "memory/reserved_memory.hpp"
#include "sparse/entry_order.hpp"
#include "tenure/blob.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"
#include "tenure/status.hpp"

namespace tenure {

// Destination of a matrix that is a part of another: each array has room for it, and no handle is
// made.
struct SparseDestination {
  kernels::Byte* major;
  kernels::Byte* minor;
  kernels::Byte* values;
  EntryOrder order = EntryOrder::said(0);  // what finish() was told
};

struct SparseShape {
  tnr_sparse_format format = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t block_rows = 1;
  std::int64_t block_cols = 1;
  tnr_dtype index_dtype = TNR_DTYPE_I32;
  tnr_dtype value_dtype = TNR_DTYPE_F32;
  std::int64_t batches = kNoBatch;
  SparseDestination* destination = nullptr;  // else memory is allocated

  static constexpr std::int64_t kNoBatch = -1;
  [[nodiscard]] bool is_batch() const noexcept { return batches != kNoBatch; }
  [[nodiscard]] bool has_offsets() const noexcept { return format != TNR_SPARSE_FORMAT_COO; }
  // Rows of one matrix as offsets count them.
  [[nodiscard]] std::int64_t row_count() const noexcept {
    return format == TNR_SPARSE_FORMAT_CSC ? cols : rows / block_rows;
  }
};

// Throws INVALID_ARGUMENT for the extents of blocks that a format does not have.
[[noreturn]] void refuse_blocks(const SparseOptions& options);

// Throws INVALID_ARGUMENT where numbers of this index type, say "offsets", do not reach so far.
void require_index_fit(tnr_dtype index_dtype, const char* what, std::int64_t number);

class SparseBuilder {
 public:
  // Allocates the offsets, if the format has any. The shape has been checked, except that its
  // extents fit the index type: throws INVALID_ARGUMENT where an extent has an index that does not
  // fit; OUT_OF_MEMORY.
  SparseBuilder(const Context& context, const SparseShape& shape);
  SparseBuilder(const SparseBuilder&) = delete;
  SparseBuilder& operator=(const SparseBuilder&) = delete;

  // Once. The entries of BSR are blocks. Throws INVALID_ARGUMENT when offsets do not fit the index
  // type, except for a batch, which has require_matrix_fit(); OUT_OF_MEMORY.
  void allocate_entries(std::int64_t count);

  // Replaces allocate_entries() where the entries are counted as they are written: reserves room
  // for `max_count` of them, presumably `expected_count`. Only written memory is taken. Returns
  // false where the memory of the context or the system cannot do that; then nothing has changed.
  bool reserve_entries(std::int64_t max_count, std::int64_t expected_count) noexcept;
  // Before the first `count` entries of those are written, by any thread: touches their memory.
  // Nothing happens where they were allocated.
  void touch_entries(std::int64_t count) noexcept;
  // Whether the memory of the first `count` entries of those has all been written or touched.
  [[nodiscard]] bool has_touched(std::int64_t count) const noexcept;
  // Keeps the first `count` entries of those that were reserved. Throws as allocate_entries().
  // Once.
  void trim_entries(std::int64_t count);

  // Whether once(), which reserves entries and answers whether it could, had all its memory. Where
  // other memory was refused, which the reservation may be the reason of, that is given back.
  template <class Once>
  bool fits_reserved(const Once& once) {
    try {
      return once();
    } catch (const std::bad_alloc&) {
    } catch (const Error& error) {
      if (error.status() != TNR_STATUS_OUT_OF_MEMORY) throw;
    }
    give_back_reserved();
    return false;
  }

  // Throws INVALID_ARGUMENT when offsets of a matrix of a batch, with `count` entries, do not fit.
  void require_matrix_fit(std::int64_t matrix, std::int64_t count) const;

  [[nodiscard]] const SparseShape& shape() const noexcept { return shape_; }
  // Entries of all matrices, once they have been allocated.
  [[nodiscard]] std::int64_t entry_count() const noexcept { return entry_count_; }
  // Bytes are undefined until written. Offsets in CSR, CSC and BSR, row indices in COO.
  [[nodiscard]] kernels::Byte* major() const noexcept { return major_.data; }
  [[nodiscard]] kernels::Byte* minor() const noexcept { return minor_.data; }
  [[nodiscard]] kernels::Byte* values() const noexcept { return values_.data; }
  [[nodiscard]] std::int64_t* batch_offsets() const noexcept {
    return reinterpret_cast<std::int64_t*>(batch_offsets_.data);
  }

  // The order of the entries after an inspection of all that was written.
  [[nodiscard]] EntryOrder looked_at(EntryOrder known) const noexcept;
  // Opens a handle over the written entries, in this order; returns 0 where the result has a
  // destination, whose owner calls this for the whole. Values of bool8 become 0 or 1. Throws
  // std::bad_alloc. Last.
  SparseToken finish(EntryOrder order);

 private:
  // Each gives its blob up by itself: also those that a constructor has made before it throws.
  struct OwnedArray {
    BlobToken token = 0;
    kernels::Byte* data = nullptr;
    std::size_t size_bytes = 0;

    OwnedArray() noexcept = default;
    OwnedArray(OwnedArray&& other) noexcept
        : token(std::exchange(other.token, 0)), data(other.data), size_bytes(other.size_bytes) {}
    OwnedArray& operator=(OwnedArray&& other) noexcept {
      std::swap(token, other.token);
      data = other.data;
      size_bytes = other.size_bytes;
      return *this;
    }
    ~OwnedArray() {
      if (token != 0) blob_drop(token);
    }
  };
  void give_back_reserved() noexcept;
  OwnedArray allocate(std::int64_t count, tnr_dtype dtype, std::int64_t per_entry);
  [[nodiscard]] tnr_sparse_view view(EntryOrder order) const noexcept;
  // Bytes of one entry's value.
  [[nodiscard]] std::int64_t value_bytes() const noexcept;
  [[nodiscard]] std::int64_t index_bytes() const noexcept;
  [[nodiscard]] bool is_coo() const noexcept { return !shape_.has_offsets(); }

  const Context& context_;
  SparseShape shape_;
  std::int64_t entry_count_ = 0;
  OwnedArray major_;
  OwnedArray minor_;
  OwnedArray values_;
  OwnedArray batch_offsets_;
  ReservedMemory reserved_major_;
  ReservedMemory reserved_minor_;
  ReservedMemory reserved_values_;
};

}  // namespace tenure
