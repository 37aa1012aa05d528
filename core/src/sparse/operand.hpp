// Validation of sparse operands before an operation uses an index.
//
//   const SparseOperand a(view, "a");         // checks the shape, pins the owners, decides trust
//   const kernels::Compressed matrix = a.compressed();
//   for_each_slice(context, slices, [&](std::int64_t slice) {
//     a.for_each_run(begin of slice, end of slice, [&](std::int64_t row, std::int64_t end) {
//       kernel(matrix, row, end, ...);        // offsets and indices of these rows are right
//     });
//   });
//   a.require_valid();                        // throws if anything was wrong
//
// An operation whose memory is laid out by the entries (all that make a matrix) calls
// check_all() first instead, and then for_each_run() finds nothing to do.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "sparse/kernel_view.hpp"
#include "tenure/blob.hpp"
#include "tenure/sparse.hpp"

namespace tenure {

class BatchOperand;

// The parts of an operand on any device, in use by a call. No offset or index has been read.
class PinnedSparse {
 public:
  enum class Batches { kRefused, kTaken };
  enum class Access { kRead, kWriteValues };

  // Throws as check_sparse() and Pins do, STALE_VIEW for the view's owner, UNSUPPORTED for a
  // batch unless it is taken, and INVALID_ARGUMENT for values that are written when no call may
  // write them. `view` and `name` outlive the object.
  PinnedSparse(const tnr_sparse_view& view, const char* name, Access access, Batches batches,
               const tnr_device& device = kCpu);
  // For parts that others have pinned.
  PinnedSparse() : use_(0, "") {}

  [[nodiscard]] const Pins& pins() const noexcept { return pins_; }
  // Whether offsets and indices are known to be right, by the view's owner: see tenure/sparse.hpp.
  [[nodiscard]] bool is_trusted() const noexcept { return is_trusted_; }

 private:
  SparseUse use_;
  Pins pins_;
  bool is_trusted_ = false;
};

class SparseOperand {
 public:
  using Batches = PinnedSparse::Batches;

  // Throws what check_sparse() and Pins do, STALE_VIEW for the view's owner, INVALID_ARGUMENT where
  // the first and the last offset are no range of the entries, and UNSUPPORTED for a batch, unless
  // it is taken: then shape and owners are all that is known of it. `view` and `name` outlive the
  // operand.
  SparseOperand(const tnr_sparse_view& view, const char* name, Batches batches = Batches::kRefused);
  // A matrix of a batch that outlives the operand. It has no name: its messages begin with that of
  // the batch.
  SparseOperand(const tnr_sparse_view& matrix, const BatchOperand& batch);
  // A view that the call has made over parts of its operands, whose owners are pinned, and whose
  // offsets and indices it has checked or made. `own` outlives the operand.
  struct Checked {};
  SparseOperand(const tnr_sparse_view& own, const char* name, Checked);
  // Like the first constructor, for values that are written; also throws INVALID_ARGUMENT when no
  // call may write them.
  SparseOperand(const tnr_sparse_view_mut& view, const char* name);
  SparseOperand(const SparseOperand&) = delete;
  SparseOperand& operator=(const SparseOperand&) = delete;

  [[nodiscard]] const tnr_sparse_view& view() const noexcept { return view_; }
  [[nodiscard]] const char* name() const noexcept { return name_; }
  // CSR, CSC and BSR only.
  [[nodiscard]] kernels::Compressed compressed() const noexcept {
    return tenure::compressed(view_);
  }
  // COO only.
  [[nodiscard]] kernels::Coordinates coordinates() const noexcept {
    return tenure::coordinates(view_);
  }
  // Bytes of one entry's value; of a block in BSR.
  [[nodiscard]] std::int64_t value_bytes() const noexcept {
    return static_cast<std::int64_t>(element_size(view_.values.dtype)) * view_.block_rows *
           view_.block_cols;
  }
  // The entries of the view's rows in minor and values. For a range of a matrix these are only a
  // part of the arrays. Results are sized by it, and nothing else is touched. The offsets in
  // between may be wrong unless is_checked().
  [[nodiscard]] EntryRange entries() const noexcept { return entry_range(view_); }
  [[nodiscard]] std::int64_t entry_count() const noexcept {
    const EntryRange range = entries();
    return range.last - range.first;
  }

  // Whether offsets and indices are known to be right, so that for_each_run() has nothing to do.
  [[nodiscard]] bool is_checked() const noexcept { return checked_; }
  // Throws INVALID_ARGUMENT unless offsets and indices are right; flags are trusted.
  void check_all();

  // Calls body(row, end) for runs of rows that make up [begin, end), each once its offsets and
  // indices are known to be right; stops at the first wrong one. Rows are as compressed() counts
  // them; for COO they are entries. Runs are short enough for their indices to be in a near cache
  // when the body gets them.
  template <class Body>
  void for_each_run(std::int64_t begin, std::int64_t end, const Body& body) const noexcept {
    if (checked_) [[likely]] {
      if (begin < end) body(begin, end);
      return;
    }
    while (begin < end) {
      const std::int64_t run_end = checked_end(begin, end);
      if (run_end == begin) {
        found_.store(true, std::memory_order_relaxed);
        return;
      }
      body(begin, run_end);
      begin = run_end;
    }
  }
  // for_each_run() for a body that checks indices itself as it uses them: only offsets are known to
  // be right when it gets them, and it returns whether indices were.
  template <class Body>
  void for_each_run_of_offsets(std::int64_t begin, std::int64_t end,
                               const Body& body) const noexcept {
    while (begin < end) {
      const std::int64_t run_end = std::min(end, begin + kRunOffsets);
      if (!are_offsets_right(begin, run_end) || !body(begin, run_end)) {
        found_.store(true, std::memory_order_relaxed);
        return;
      }
      begin = run_end;
    }
  }
  // After all runs: throws INVALID_ARGUMENT if one was wrong.
  void require_valid() const {
    if (found_.load(std::memory_order_relaxed)) [[unlikely]]
      fail_checked();
  }

 private:
  using Access = PinnedSparse::Access;
  // Rows whose offsets are looked at together, which stay in the first cache.
  static constexpr std::int64_t kRunOffsets = 2048;
  SparseOperand(const tnr_sparse_view& view, const char* name, Access access, Batches batches);

  // For a view that is not trusted. Throws unless entries() are in minor.
  void prepare_checks();
  // Where the run that begins at `begin` ends; `begin` when it is wrong.
  [[nodiscard]] std::int64_t checked_end(std::int64_t begin, std::int64_t end) const noexcept;
  // CSR, CSC and BSR only: whether the offsets of these rows are right.
  [[nodiscard]] bool are_offsets_right(std::int64_t begin, std::int64_t end) const noexcept;
  [[noreturn]] void fail_checked() const;

  const tnr_sparse_view& view_;
  const char* name_;
  PinnedSparse pinned_;
  bool checked_;
  const kernels::IndexChecks* checks_ = nullptr;
  mutable std::atomic<bool> found_{false};
};

}  // namespace tenure
