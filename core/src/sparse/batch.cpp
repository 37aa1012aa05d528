#include "sparse/batch.hpp"

#include <cinttypes>

#include "tenure/shape.hpp"

namespace tenure {
namespace {

[[noreturn]] void fail_in_matrix(const Error& error, const char* name, std::int64_t matrix) {
  fail(error.status(), "%s%smatrix %" PRId64 ": %s", name, *name != '\0' ? ", " : "", matrix,
       error.message());
}

// An offset that is wrong, in the words that check_entries() has for those of rows.
void check_offset(const tnr_sparse_view& batch, std::int64_t matrix, std::int64_t before,
                  RowExtent rows, const char* name) {
  const char* const dot = *name != '\0' ? "." : "";
  const std::int64_t offset = index_at(batch.batch_offsets, matrix);
  const std::int64_t count = batch.minor.shape[0];
  if (matrix == 0 && rows == RowExtent::kWhole && offset != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s%sbatch_offsets[0] is %" PRId64 " but must be 0", name,
         dot, offset);
  }
  if (offset < 0 || offset > count) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s%sbatch_offsets[%" PRId64 "] is %" PRId64 " but must be at least 0 and at most %" PRId64
         ", the number of entries",
         name, dot, matrix, offset, count);
  }
  if (offset < before) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s%sbatch_offsets[%" PRId64 "] is %" PRId64 " but the one before is %" PRId64
         ", and offsets must not fall",
         name, dot, matrix, offset, before);
  }
  if (matrix == batch_count(batch) && rows == RowExtent::kWhole && offset != count) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s%sbatch_offsets[%" PRId64 "] is %" PRId64 " but must be %" PRId64
         ", the number of entries, because it is the last",
         name, dot, matrix, offset, count);
  }
}

}  // namespace

void require_one_matrix(const tnr_sparse_view& view, const char* name) {
  if (!is_batch(view)) [[likely]]
    return;
  fail(TNR_STATUS_UNSUPPORTED,
       "%s is a batch of %" PRId64
       " matrices, but this takes one at a time: tnr_sparse_batch_at() gives a view of each",
       name, batch_count(view));
}

void check_batch_offsets(const tnr_sparse_view& batch, RowExtent rows, const char* name) {
  std::int64_t before = 0;
  for (std::int64_t matrix = 0; matrix <= batch_count(batch); ++matrix) {
    check_offset(batch, matrix, before, rows, name);
    before = index_at(batch.batch_offsets, matrix);
  }
}

void check_batch_entries(const tnr_sparse_view& batch, RowExtent rows, const char* name) {
  check_batch_offsets(batch, rows, name);
  for (std::int64_t matrix = 0; matrix < batch_count(batch); ++matrix) {
    try {
      check_entries(batch_matrix(batch, matrix), rows, "");
    } catch (const Error& error) {
      fail_in_matrix(error, name, matrix);
    }
  }
}

tnr_sparse_view batch_matrix(const tnr_sparse_view& batch, std::int64_t matrix) {
  const std::int64_t first = index_at(batch.batch_offsets, matrix);
  const std::int64_t last = index_at(batch.batch_offsets, matrix + 1);
  const std::int64_t offsets = major_count(batch) + 1;
  tnr_sparse_view view = batch;
  view.batch_offsets = {};
  view.major = batch.format == TNR_SPARSE_FORMAT_COO
                   ? slice(batch.major, 0, first, last, 1)
                   : slice(batch.major, 0, matrix * offsets, (matrix + 1) * offsets, 1);
  view.minor = slice(batch.minor, 0, first, last, 1);
  view.values = slice(batch.values, 0, first, last, 1);
  return view;
}

tnr_sparse_view sparse_batch_at(const tnr_sparse_view& batch, std::int64_t matrix) {
  const BatchOperand operand(batch, "batch");
  if (matrix < 0 || matrix >= operand.count()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "index is %" PRId64 " but must be at least 0 and below %" PRId64
         ", the number of matrices",
         matrix, operand.count());
  }
  tnr_sparse_view view = operand.matrix(matrix);
  view.struct_size = sizeof view;
  return view;
}

BatchOperand::BatchOperand(const tnr_sparse_view& view, const char* name)
    : whole_(view, name, SparseOperand::Batches::kTaken) {
  if (!is_batch(view)) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is no batch: batch_offsets.rank is 0 but must be 1",
         name);
  }
  if (!whole_.is_checked()) check_batch_offsets(view, RowExtent::kRange, name);
}

void MatrixErrors::keep(std::int64_t matrix) noexcept {
  const std::lock_guard<Mutex> lock(mutex_);
  if (matrix > matrix_) return;
  matrix_ = matrix;
  error_ = std::current_exception();
}

void MatrixErrors::rethrow(const char* name) const {
  if (error_ == nullptr) [[likely]]
    return;
  try {
    std::rethrow_exception(error_);
  } catch (const Error& error) {
    fail_in_matrix(error, name, matrix_);
  }
}

}  // namespace tenure
