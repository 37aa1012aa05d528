#include "sparse/operand.hpp"

#include <algorithm>

#include "sparse/batch.hpp"
#include "sparse/index_array.hpp"
#include "tenure/sparse_voucher.hpp"

namespace tenure {

namespace {

// Entries of a run: 16 or 32 KiB of indices, and their values, stay in the second cache.
constexpr std::int64_t kRunEntries = 4096;

bool lies_in(const tnr_view& part, const tnr_view& whole) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data);
  const auto whole_begin = reinterpret_cast<std::uintptr_t>(whole.data);
  const std::uint64_t width = element_size(whole.dtype);
  const std::uint64_t offset = begin - whole_begin;  // wraps below the whole, and is too large then
  const std::uint64_t whole_bytes = static_cast<std::uint64_t>(whole.shape[0]) * width;
  return part.dtype == whole.dtype && offset % width == 0 && offset <= whole_bytes &&
         static_cast<std::uint64_t>(part.shape[0]) * width <= whole_bytes - offset;
}

bool is_same(const tnr_view& a, const tnr_view& b) noexcept {
  return a.data == b.data && a.shape[0] == b.shape[0] && a.dtype == b.dtype;
}

// Elements from the beginning of a part to that of one that lies in it.
std::int64_t distance(const tnr_view& part, const tnr_view& whole) noexcept {
  return static_cast<std::int64_t>(
      (reinterpret_cast<std::uintptr_t>(part.data) - reinterpret_cast<std::uintptr_t>(whole.data)) /
      element_size(whole.dtype));
}

// Whether the entries of `view` are those from batch_offsets[matrix] to the next.
bool has_entries_of(const tnr_sparse_view& view, const tnr_sparse_view& batch,
                    std::int64_t matrix) noexcept {
  const std::int64_t first = index_at(batch.batch_offsets, matrix);
  if (view.minor.shape[0] != index_at(batch.batch_offsets, matrix + 1) - first) return false;
  // Where none are does not matter.
  return view.minor.shape[0] == 0 ||
         (lies_in(view.minor, batch.minor) && distance(view.minor, batch.minor) == first);
}

// The matrix of a batch that has entry `position`.
std::int64_t matrix_of_entry(const tnr_sparse_view& batch, std::int64_t position) noexcept {
  return row_of_entry(static_cast<const kernels::Byte*>(batch.batch_offsets.data),
                      index_type(batch.batch_offsets.dtype), batch_count(batch), position);
}

// Whether the indices of the view are those of a matrix of the batch, or of a range of its rows.
bool is_matrix_of(const tnr_sparse_view& view, const tnr_sparse_view& batch) noexcept {
  if (minor_count(view) != minor_count(batch) || !lies_in(view.major, batch.major)) return false;
  const std::int64_t begin = distance(view.major, batch.major);
  if (view.format == TNR_SPARSE_FORMAT_COO) {
    return view.rows == batch.rows &&
           (view.minor.shape[0] == 0 ||
            (begin < batch.minor.shape[0] && distance(view.minor, batch.minor) == begin &&
             has_entries_of(view, batch, matrix_of_entry(batch, begin))));
  }
  const std::int64_t offsets = major_count(batch) + 1;
  // Not more than are left: those of the next matrix count from 0 again.
  return view.major.shape[0] <= offsets - begin % offsets &&
         has_entries_of(view, batch, begin / offsets);
}

// Whether they are those of a range of the matrices.
bool is_range_of(const tnr_sparse_view& view, const tnr_sparse_view& batch) noexcept {
  if (view.rows != batch.rows || view.cols != batch.cols || !is_same(view.minor, batch.minor) ||
      !lies_in(view.batch_offsets, batch.batch_offsets)) {
    return false;
  }
  if (view.format == TNR_SPARSE_FORMAT_COO) return is_same(view.major, batch.major);
  return lies_in(view.major, batch.major) &&
         distance(view.major, batch.major) ==
             distance(view.batch_offsets, batch.batch_offsets) * (major_count(batch) + 1);
}

// Whether the indices of the view are those of the matrix or of a range of its rows, and its flags
// claim no more.
bool is_part_of(const tnr_sparse_view& view, const tnr_sparse_view& whole) noexcept {
  if (view.format != whole.format || (view.flags & ~whole.flags) != 0 ||
      view.block_rows != whole.block_rows || view.block_cols != whole.block_cols) {
    return false;
  }
  if (is_batch(view)) return is_batch(whole) && is_range_of(view, whole);
  if (is_batch(whole)) return is_matrix_of(view, whole);
  if (view.format == TNR_SPARSE_FORMAT_COO) {
    // The rows must be the same: a range of entries does not name its rows.
    return view.rows == whole.rows && view.cols == whole.cols && is_same(view.major, whole.major) &&
           is_same(view.minor, whole.minor);
  }
  return minor_count(view) == minor_count(whole) && is_same(view.minor, whole.minor) &&
         lies_in(view.major, whole.major);
}

}  // namespace

PinnedSparse::PinnedSparse(const tnr_sparse_view& view, const char* name, Access access,
                           Batches batches, const tnr_device& device)
    : use_(view.owner, name) {
  check_sparse(view, name, device);
  if (batches == Batches::kRefused) require_one_matrix(view, name);
  if (access == Access::kWriteValues) {
    check_values_apart(view, name);
    pin_parts_mut(pins_, {view}, name);
  } else {
    pin_parts(pins_, view, name);
  }
  is_trusted_ =
      is_sparse_voucher(view.owner) || (use_.whole() != nullptr && is_part_of(view, *use_.whole()));
}

SparseOperand::SparseOperand(const tnr_sparse_view& view, const char* name, Batches batches)
    : SparseOperand(view, name, Access::kRead, batches) {}

SparseOperand::SparseOperand(const tnr_sparse_view_mut& view, const char* name)
    : SparseOperand(view.view, name, Access::kWriteValues, Batches::kRefused) {}

SparseOperand::SparseOperand(const tnr_sparse_view& matrix, const BatchOperand& batch)
    : view_(matrix), name_(""), checked_(batch.is_checked()) {
  prepare_checks();
}

SparseOperand::SparseOperand(const tnr_sparse_view& own, const char* name, Checked)
    : view_(own), name_(name), checked_(true) {}

SparseOperand::SparseOperand(const tnr_sparse_view& view, const char* name, Access access,
                             Batches batches)
    : view_(view),
      name_(name),
      pinned_(view, name, access, batches),
      checked_(pinned_.is_trusted()) {
  prepare_checks();
}

void SparseOperand::prepare_checks() {
  if (checked_) return;
  checks_ = &index_checks(view_);
  if (is_batch(view_)) return;
  // At once, also of the one offset that a matrix without rows has, which no run of rows comes to.
  const EntryRange range = entries();
  const bool lies_in_minor =
      range.first >= 0 && range.first <= range.last && range.last <= view_.minor.shape[0];
  if (!lies_in_minor) [[unlikely]]
    fail_checked();
}

void SparseOperand::check_all() {
  if (checked_) return;
  tnr_sparse_view without_flags = view_;
  without_flags.flags = 0;
  check_entries(without_flags, RowExtent::kRange, name_);
  checked_ = true;
}

namespace {

// The end of the longest run of rows from `begin` on whose offsets are right and that have no more
// than kRunEntries entries, or of one row; `begin` when its offsets are wrong.
template <class I>
std::int64_t run_of_rows(const tnr_sparse_view& view, std::int64_t begin,
                         std::int64_t end) noexcept {
  const auto* const offsets = static_cast<const I*>(view.major.data);
  const std::int64_t count = view.minor.shape[0];
  const std::int64_t first = offsets[begin];
  std::int64_t before = first;
  if (first < 0 || first > count) return begin;
  std::int64_t row = begin;
  for (; row < end; ++row) {
    const std::int64_t next = offsets[row + 1];
    if (next < before || next > count) return row;
    if (next - first > kRunEntries && row != begin) return row;
    before = next;
  }
  return row;
}

}  // namespace

std::int64_t SparseOperand::checked_end(std::int64_t begin, std::int64_t end) const noexcept {
  if (view_.format == TNR_SPARSE_FORMAT_COO) {
    const std::int64_t run_end = std::min(end, begin + kRunEntries);
    const std::int64_t count = run_end - begin;
    const bool is_right = checks_->are_below(bytes_at(view_.major, begin), count, view_.rows) &&
                          checks_->are_below(bytes_at(view_.minor, begin), count, view_.cols);
    return is_right ? run_end : begin;
  }
  const std::int64_t run_end = view_.major.dtype == TNR_DTYPE_I32
                                   ? run_of_rows<std::int32_t>(view_, begin, end)
                                   : run_of_rows<std::int64_t>(view_, begin, end);
  if (run_end == begin) return begin;
  const std::int64_t first = index_at(view_.major, begin);
  const std::int64_t last = index_at(view_.major, run_end);
  return checks_->are_below(bytes_at(view_.minor, first), last - first, minor_count(view_))
             ? run_end
             : begin;
}

bool SparseOperand::are_offsets_right(std::int64_t begin, std::int64_t end) const noexcept {
  const kernels::Byte* const offsets = bytes_at(view_.major, begin);
  return index_at(view_.major, begin) >= 0 && index_at(view_.major, end) <= view_.minor.shape[0] &&
         checks_->count_falls(offsets, end - begin + 1) == 0;
}

void SparseOperand::fail_checked() const {
  tnr_sparse_view without_flags = view_;
  without_flags.flags = 0;
  check_entries(without_flags, RowExtent::kRange, name_);
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s was written by somebody while it was used",
       *name_ != '\0' ? name_ : "it");
}

}  // namespace tenure
