// Marks a sparse view that the Rust crate has checked and where the borrow checker ensures that its
// offsets and indices have not been written since. Another check in each call would cost a product
// with a vector as much as the product.
//
// The mark is no flag: whatever a C caller writes into the documented fields of a view, its indices
// are checked. The mark is a word in the owner field, made at random in each process, of a kind
// that no handle has. One exported function returns it, which no public header declares. tenure.map
// has that function in a version node of its own, which demands the very build that a program was
// linked with.
#pragma once

#include "tenure/sparse.hpp"

namespace tenure {

// The word of this process.
SparseToken sparse_voucher() noexcept;

// Whether `owner` is the word of this process. False before the first call of sparse_voucher().
bool is_sparse_voucher(SparseToken owner) noexcept;

}  // namespace tenure
