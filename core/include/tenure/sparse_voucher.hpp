// Marks a sparse view that the Rust crate has checked, such that nobody can have written its
// offsets and indices since: the borrow checker sees to it, and to check them again in each call
// would cost a product with a vector as much as the product.
//
// It is no flag: whatever a C caller writes into the documented fields of a view, its indices are
// looked at. It is a word in the place of the owner, made at random in each process, of a kind that
// no handle has, and told by one function that is in no header; tenure.map has it in a node of its
// own, which demands the very build that a program was linked with.
#pragma once

#include "tenure/sparse.hpp"

namespace tenure {

// The word of this process.
SparseToken sparse_voucher() noexcept;

// Whether this is it. False until somebody has asked for it.
bool is_sparse_voucher(SparseToken owner) noexcept;

}  // namespace tenure
