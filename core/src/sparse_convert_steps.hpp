// Parts of conversions that have files of their own, and what they share.
#pragma once

#include <cstdint>

#include "sparse_builder.hpp"
#include "sparse_convert.hpp"
#include "tenure/dtype.hpp"

namespace tenure {

inline std::int64_t value_bytes_of(const tnr_sparse_view& view) noexcept {
  return static_cast<std::int64_t>(element_size(view.values.dtype));
}

SparseShape shape_of(const tnr_sparse_view& a, const SparseTarget& target);

void copy_values(const Context& context, const tnr_sparse_view& a, EntryRange range,
                 kernels::Byte* to);

// COO to CSR or CSC.
SparseToken compressed_of(const Context& context, const tnr_sparse_view& a,
                          const SparseTarget& target);

}  // namespace tenure
