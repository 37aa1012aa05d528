// Conversions among the formats, as other operations use them.
#pragma once

#include "cpu/kernel.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

class BatchOperand;
struct SparseDestination;

// The result of a conversion.
struct SparseTarget {
  tnr_sparse_format format;
  tnr_dtype index_dtype;
  std::int64_t block_rows = 1;
  std::int64_t block_cols = 1;
  bool is_sorted = false;                    // whether it must be; it may be anyway
  SparseDestination* destination = nullptr;  // for the result; else it is a matrix of its own
};

// A matrix that a call has made for itself.
class OwnMatrix {
 public:
  // Takes the reference.
  explicit OwnMatrix(SparseToken token) : token_(token), view_(sparse_view(token)) {}
  OwnMatrix(const OwnMatrix&) = delete;
  OwnMatrix& operator=(const OwnMatrix&) = delete;
  ~OwnMatrix() {
    if (token_ != 0) sparse_release(token_);
  }

  [[nodiscard]] const tnr_sparse_view& view() const noexcept { return view_; }
  // Gives the reference up.
  SparseToken release() noexcept {
    const SparseToken token = token_;
    token_ = 0;
    return token;
  }

 private:
  SparseToken token_;
  tnr_sparse_view view_;
};

// Where the offsets and indices of the view are known to be right: SparseOperand::check_all().
// Flags are trusted; where they do not say SORTED, entries may be sorted nevertheless. 0 where the
// result has a destination, which BSR never has.
SparseToken convert_entries(const Context& context, const tnr_sparse_view& a,
                            const SparseTarget& target);

// tnr_sparse_coalesce() with SUM, for a matrix that it takes. The entries are known to be right as
// above.
SparseToken summed_entries(const Context& context, const tnr_sparse_view& a);

// Converts a batch, whose entries may be wrong.
SparseToken convert_batch(const Context& context, const BatchOperand& a,
                          const SparseTarget& target);

// Entries that the result will have, where the offsets of `a` are right; -1 where it takes work to
// know, as with blocks, or where the offsets cannot be right.
std::int64_t result_count(const tnr_sparse_view& a, const SparseTarget& target) noexcept;

// Throws UNSUPPORTED unless values have 1, 2, 4, 8 or 16 bytes: those that are moved one by one.
void check_value_width(const tnr_sparse_view& a);

// CSR with sorted rows to BSR, and BSR to CSR or COO with an entry for each element of a block.
// Where it must be sorted, it is looked at, and may turn out not to be.
SparseToken blocks_of(const Context& context, const tnr_sparse_view& csr,
                      const SparseTarget& target);
// Throws INVALID_ARGUMENT for two entries of one position, for which a block has no room.
[[noreturn]] void refuse_duplicate(std::int64_t row, std::int64_t column);
SparseToken elements_of(const Context& context, const tnr_sparse_view& bsr,
                        const SparseTarget& target);

// The indices of a part, as another index type, which they fit.
void copy_indices(const Context& context, const tnr_view& from, EntryRange range, kernels::Byte* to,
                  tnr_dtype to_dtype);

}  // namespace tenure
