#include "sparse_operand.hpp"

#include <algorithm>

#include "index_array.hpp"

namespace tenure {

namespace {

// Entries of a run: 16 or 32 KiB of indices, and their values beside them, stay in the second cache.
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

// Whether the indices of the view are those of the matrix or of a range of its rows, and its flags
// claim no more.
bool is_part_of(const tnr_sparse_view& view, const tnr_sparse_view& whole) noexcept {
  if (view.format != whole.format || (view.flags & ~whole.flags) != 0 ||
      view.block_rows != whole.block_rows || view.block_cols != whole.block_cols) {
    return false;
  }
  if (view.format == TNR_SPARSE_FORMAT_COO) {
    // The same rows: a range of entries says nothing of which rows they have.
    return view.rows == whole.rows && view.cols == whole.cols && is_same(view.major, whole.major) &&
           is_same(view.minor, whole.minor);
  }
  return minor_count(view) == minor_count(whole) && is_same(view.minor, whole.minor) &&
         lies_in(view.major, whole.major);
}

}  // namespace

SparseOperand::SparseOperand(const tnr_sparse_view& view, const char* name)
    : SparseOperand(view, name, Access::kRead) {}

SparseOperand::SparseOperand(const tnr_sparse_view_mut& view, const char* name)
    : SparseOperand(view.view, name, Access::kWriteValues) {}

SparseOperand::SparseOperand(const tnr_sparse_view& view, const char* name, Access access)
    : view_(view), name_(name), use_(view.owner, name) {
  check_sparse(view, TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE | kSparseChecked, name);
  if (access == Access::kWriteValues) {
    check_values_apart(view, name);
    pin_parts_mut(pins_, {view}, name);
  } else {
    pin_parts(pins_, view, name);
  }
  checked_ = (view.flags & kSparseChecked) != 0 ||
             (use_.whole() != nullptr && is_part_of(view, *use_.whole()));
  if (!checked_) checks_ = &index_checks(view);
}

void SparseOperand::check_all() {
  if (checked_) return;
  tnr_sparse_view without_flags = view_;
  without_flags.flags = 0;
  check_entries(without_flags, Rows::kSome, name_);
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

void SparseOperand::fail_checked() const {
  tnr_sparse_view without_flags = view_;
  without_flags.flags = 0;
  check_entries(without_flags, Rows::kSome, name_);
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s was written by somebody while it was used", name_);
}

}  // namespace tenure
