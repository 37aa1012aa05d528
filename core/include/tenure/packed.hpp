// Packed matrices: layouts of a sparse matrix for products with many vectors.
//
//   layout   columns are                                      bytes of an entry without its value
//   -------  -----------------------------------------------  -----------------------------------
//   WIDE     32-bit numbers                                   4
//   NARROW   16-bit numbers, above one for 64 rows            2, and 4 for each row
//   BLOCKS   32-bit numbers of blocks without gaps             4 over the entries of a block
//   BITMAP   a bit for each element, set where there is one   1/8 of a byte over the density
//
// A packed matrix is the library's own memory, made from offsets and indices that were checked. No
// caller gets a pointer to it, so that products check nothing.
#pragma once

#include <cstdint>

#include "tenure/context.hpp"
#include "tenure/status.hpp"

namespace tenure {

// {kind:8, generation:24, index:32}; what a tnr_packed* holds.
using PackedToken = std::uint64_t;

// tnr_packed_create().
PackedToken packed_create(const Context& context, const tnr_sparse_view& a,
                          tnr_packed_layout layout);
// All throw STALE_HANDLE for a token that is garbage, of another kind, or released; BUSY at
// kMaxRefs.
void packed_retain(PackedToken token);
void packed_release(PackedToken token);
// struct_size is 0.
tnr_packed_info packed_describe(PackedToken token);
// tnr_packed_matmul().
void packed_matmul(const Context& context, const tnr_scalar& alpha, PackedToken a,
                   const tnr_view& b, const tnr_scalar& beta, const tnr_view_mut& out);

}  // namespace tenure
