// Batches: what an operation asks of one, and how it goes through the matrices.
//
//   const BatchOperand a(view, "a");       // checks shape and batch_offsets, pins, decides trust
//   for_each_matrix(context, a, bytes_of, [&](const Context& context, std::int64_t i) {
//     const tnr_sparse_view matrix = a.matrix(i);
//     const SparseOperand operand(matrix, a);
//     ...                                  // as of any matrix, on the threads of `context`
//   });
//
// Small matrices are shared out, each to one thread; large ones are done one after the other, each
// by all threads. An operation that has the same bits for any number of threads has them here too.
#pragma once

#include <cstdint>
#include <exception>

#include "base/mutex.hpp"
#include "sparse/index_array.hpp"
#include "sparse/operand.hpp"
#include "tenure/context.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {

// A batch that an operation reads.
class BatchOperand {
 public:
  // Throws as SparseOperand does, and INVALID_ARGUMENT for batch_offsets. `view` and `name` outlive
  // the operand.
  BatchOperand(const tnr_sparse_view& view, const char* name);

  [[nodiscard]] const tnr_sparse_view& view() const noexcept { return whole_.view(); }
  [[nodiscard]] const char* name() const noexcept { return whole_.name(); }
  [[nodiscard]] bool is_checked() const noexcept { return whole_.is_checked(); }
  // SparseOperand::check_all() for all matrices.
  void check_all() { whole_.check_all(); }
  [[nodiscard]] std::int64_t count() const noexcept { return batch_count(view()); }
  [[nodiscard]] tnr_sparse_view matrix(std::int64_t matrix) const {
    return batch_matrix(view(), matrix);
  }
  // Entries of one matrix; of BSR blocks.
  [[nodiscard]] std::int64_t entry_count(std::int64_t matrix) const noexcept {
    return index_at(view().batch_offsets, matrix + 1) - index_at(view().batch_offsets, matrix);
  }

 private:
  SparseOperand whole_;
};

// Throws UNSUPPORTED for a batch.
void require_one_matrix(const tnr_sparse_view& view, const char* name);

// check_entries() of a batch.
void check_batch_entries(const tnr_sparse_view& batch, RowExtent rows, const char* name);

// Errors of matrices that several threads process: the first matrix's is kept.
class MatrixErrors {
 public:
  // Calls body(), which may throw, for a matrix.
  template <class Body>
  void run(std::int64_t matrix, const Body& body) noexcept {
    try {
      body();
    } catch (...) {
      keep(matrix);
    }
  }
  // Throws what there is, with "a, matrix 3: " in front.
  void rethrow(const char* name) const;

 private:
  // In a catch block.
  void keep(std::int64_t matrix) noexcept;

  Mutex mutex_;
  std::int64_t matrix_ = INT64_MAX;
  std::exception_ptr error_;
};

// A matrix that reads and writes this many bytes is worth all threads: several slices for each.
inline constexpr std::int64_t kWorthAllThreadsBytes = 8 * kSliceBytes;

// Calls body(context, matrix), which may throw, once for each matrix of the batch. It reads and
// writes `bytes_of(matrix)` bytes.
template <class Bytes, class Body>
void for_each_matrix(const Context& context, const BatchOperand& batch, const Bytes& bytes_of,
                     const Body& body) {
  MatrixErrors errors;
  const std::int64_t count = batch.count();
  std::int64_t shared_bytes = 0;
  const auto is_shared = [&](std::int64_t matrix) noexcept {
    return context.thread_count() == 1 || bytes_of(matrix) < kWorthAllThreadsBytes;
  };
  for (std::int64_t matrix = 0; matrix < count; ++matrix) {
    if (is_shared(matrix)) {
      shared_bytes += bytes_of(matrix);
    } else {
      errors.run(matrix, [&] { body(context, matrix); });
    }
  }
  const std::int64_t slices =
      std::max<std::int64_t>(1, std::min(count, slice_count_of(context, shared_bytes)));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t end = slice_begin(count, slices, slice + 1);
    for (std::int64_t matrix = slice_begin(count, slices, slice); matrix < end; ++matrix) {
      if (is_shared(matrix)) errors.run(matrix, [&] { body(kDefaultContext, matrix); });
    }
  });
  errors.rethrow(batch.name());
}

}  // namespace tenure
