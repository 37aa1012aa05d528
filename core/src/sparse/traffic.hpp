// Byte counts of sparse operations for the counters.
#pragma once

#include <cstdint>

#include "sparse/row_slices.hpp"
#include "tenure/counters.hpp"
#include "tenure/dtype.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// Bytes of the values of a view's rows.
inline std::uint64_t value_bytes(const tnr_sparse_view& view) noexcept {
  return static_cast<std::uint64_t>(RowSlices::entry_count(view)) *
         static_cast<std::uint64_t>(view.block_rows * view.block_cols) *
         element_size(view.values.dtype);
}

inline std::uint64_t batch_offset_bytes(const tnr_sparse_view& view) noexcept {
  return static_cast<std::uint64_t>(view.batch_offsets.shape[0]) *
         element_size(view.batch_offsets.dtype);
}

// Bytes of the offsets of a view's rows, of their indices and of their values; of COO of all
// entries, of a batch of all matrices.
inline std::uint64_t matrix_bytes(const tnr_sparse_view& view) noexcept {
  const auto entries = static_cast<std::uint64_t>(RowSlices::entry_count(view));
  return (static_cast<std::uint64_t>(view.major.shape[0]) + entries) *
             element_size(view.minor.dtype) +
         value_bytes(view) + (is_batch(view) ? batch_offset_bytes(view) : 0);
}

// The bytes of a matrix on a device. Counts all entries of its arrays, as the CPU does not read the
// offsets.
inline std::uint64_t device_matrix_bytes(const tnr_sparse_view& view) noexcept {
  const auto entries = static_cast<std::uint64_t>(view.minor.shape[0]);
  return (static_cast<std::uint64_t>(view.major.shape[0]) + entries) *
             element_size(view.minor.dtype) +
         entries * element_size(view.values.dtype);
}

// Counts a call that has made this matrix.
inline SparseToken count_made(tnr_operation operation, std::uint64_t read_bytes, SparseToken made) {
  count_call(operation, read_bytes, matrix_bytes(sparse_view(made)));
  return made;
}

}  // namespace tenure
