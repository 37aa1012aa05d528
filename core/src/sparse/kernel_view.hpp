// Sparse views as kernels see them.
#pragma once

#include "cpu/dispatch.hpp"
#include "sparse/index_array.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// Index `position` of a part that has passed check_sparse().
inline const kernels::Byte* bytes_at(const tnr_view& indices, std::int64_t position) noexcept {
  return static_cast<const kernels::Byte*>(indices.data) +
         position * static_cast<std::int64_t>(element_size(indices.dtype));
}

inline const kernels::IndexChecks& index_checks(const tnr_sparse_view& view) {
  return kernels::index_check_kernels()[static_cast<unsigned>(index_type(view.minor.dtype))];
}

// Both have passed check_sparse(); the first is no COO, the second is.
inline kernels::Compressed compressed(const tnr_sparse_view& view) noexcept {
  return {
      .rows = major_count(view),
      .cols = minor_count(view),
      .index_type = index_type(view.minor.dtype),
      .offsets = bytes_at(view.major, 0),
      .indices = bytes_at(view.minor, 0),
      .values = static_cast<const kernels::Byte*>(view.values.data),
  };
}
inline kernels::Coordinates coordinates(const tnr_sparse_view& view) noexcept {
  return {
      .rows = view.rows,
      .cols = view.cols,
      .count = view.minor.shape[0],
      .index_type = index_type(view.minor.dtype),
      .row_indices = bytes_at(view.major, 0),
      .col_indices = bytes_at(view.minor, 0),
      .values = static_cast<const kernels::Byte*>(view.values.data),
  };
}

}  // namespace tenure
