// Sparse matrices as kernels see them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cuda/kernels/sparse/arguments.hpp"
#include "cuda/operations/grid.hpp"
#include "tenure/sparse.hpp"

namespace tenure::cuda {

// For COO, `offsets` are the rows of entries.
inline CompressedRows rows_of(const tnr_sparse_view& a, std::uint32_t* finding) {
  CompressedRows rows = {};
  rows.offsets = bytes_of(a.major);
  rows.indices = bytes_of(a.minor);
  rows.values = bytes_of(a.values);
  rows.finding = finding;
  rows.entries = static_cast<std::uint64_t>(a.minor.shape[0]);
  rows.columns = static_cast<std::uint64_t>(minor_count(a));
  rows.rows = major_count(a);
  rows.has_wide_indices = a.minor.dtype == TNR_DTYPE_I64 ? 1 : 0;
  return rows;
}

// Whether elements of 8 bytes are not all aligned to them; complex f32 are aligned to 4.
inline std::uint32_t has_halves(std::int64_t width, std::uint64_t places) {
  return width == 8 && places % 8 != 0 ? 1 : 0;
}

// A block for each piece of work, or `each` blocks for each multiprocessor, which then go on to
// more work. Eight blocks of a multiprocessor run at once, so 64 are enough for uneven ones to even
// out.
inline constexpr std::int64_t kBlocksEach = 64;
inline Grid grid_for(const Queue& queue, std::int64_t work, std::int64_t each = kBlocksEach) {
  const std::int64_t blocks = std::min(work, std::int64_t{queue.multiprocessor_count()} * each);
  return {static_cast<unsigned>(blocks), kThreads};
}

}  // namespace tenure::cuda
