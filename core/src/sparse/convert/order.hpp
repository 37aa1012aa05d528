// Few entries of a huge extent put in order: sorted themselves, where an array of the extent would
// be larger than all of them.
#pragma once

#include <cstdint>

#include "sparse/convert/convert.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

// Whether entries are too few to be ordered by counting them for each row or column of an extent.
// Sorting an entry takes about as long as eight numbers of an array take to be made and read.
constexpr bool are_few(std::int64_t entries, std::int64_t extent) noexcept {
  return entries < extent / 8;
}
// Whether there are too few of them for a conversion that counts and moves each of them once, too.
// Measured: from 32 rows or columns for each entry on, sorting takes less time than that.
constexpr bool are_very_few(std::int64_t entries, std::int64_t extent) noexcept {
  return entries < extent / 32;
}

// Orders entries of COO by row and column, or those of each row of CSR or CSC by their index, in
// the same format. Entries of one position stay in their order. Offsets and indices of `a` are
// right. Takes memory only for the entries. Throws OUT_OF_MEMORY.
SparseToken ordered_entries(const Context& context, const tnr_sparse_view& a,
                            const SparseTarget& target);

}  // namespace tenure
