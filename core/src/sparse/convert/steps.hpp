// Parts of conversions that have files of their own, and the functions that they share.
#pragma once

#include <cstdint>

#include "sparse/builder.hpp"
#include "sparse/convert/convert.hpp"
#include "tenure/dtype.hpp"

namespace tenure {

inline std::int64_t value_bytes_of(const tnr_sparse_view& view) noexcept {
  return static_cast<std::int64_t>(element_size(view.values.dtype));
}

SparseShape shape_of(const tnr_sparse_view& a, const SparseTarget& target);

void copy_values(const Context& context, const tnr_sparse_view& a, EntryRange range,
                 kernels::Byte* to);

// The offsets of `a` as those of a whole matrix: from 0 on.
void copy_offsets(const tnr_sparse_view& a, const SparseBuilder& builder);
// Rows of the entries of `a`, as compressed() counts them.
void expand_rows(const Context& context, const tnr_sparse_view& a, kernels::Byte* rows,
                 kernels::IndexType to);

// COO in the order of rows and columns, with few entries, to BSR.
SparseToken few_blocks_of(const Context& context, const tnr_sparse_view& coo,
                          const SparseTarget& target);

// COO to CSR or CSC.
SparseToken compressed_of(const Context& context, const tnr_sparse_view& a,
                          const SparseTarget& target);

}  // namespace tenure
