// Sparse times dense, for coordinates that are ordered by row: as CSR, where only the offsets have
// to be made.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "memory/scratch.hpp"
#include "memory/traffic.hpp"
#include "sparse/index_array.hpp"
#include "sparse/product/spmm.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// The offsets of the rows of coordinates, where these are ordered by row.
class RowOffsets {
 public:
  RowOffsets(const Context& context, const tnr_sparse_view& view)
      : rows_(view.rows),
        count_(view.minor.shape[0]),
        type_(index_type(view.major.dtype)),
        slices_(slice_count_of(context, count_ * index_width(type_))),
        row_indices_(bytes_at(view.major, 0)),
        offsets_(rows_ + 1, index_width(type_)) {
    const kernels::IndexChecks& checks = index_checks(view);
    std::atomic<bool> is_sorted{true};
    for_each_slice(context, slices_, [&](std::int64_t slice) noexcept {
      const std::int64_t begin = std::max<std::int64_t>(0, this->begin(slice) - 1);
      const Byte* const from = row_indices_ + begin * index_width(type_);
      if (checks.count_falls(from, this->begin(slice + 1) - begin) != 0) {
        is_sorted.store(false, std::memory_order_relaxed);
      }
    });
    is_sorted_ = is_sorted.load(std::memory_order_relaxed);
    if (!is_sorted_) return;
    for_each_slice(context, slices_, [&](std::int64_t slice) noexcept { write(slice); });
  }

  // Whether rows rise; only then are there offsets.
  [[nodiscard]] bool is_sorted() const noexcept { return is_sorted_; }
  [[nodiscard]] tnr_view view(tnr_dtype dtype) const noexcept {
    const std::int64_t count = rows_ + 1;
    return make_view(offsets_.data(), offsets_.size_bytes(), 0, dtype, 1, &count, nullptr);
  }

 private:
  [[nodiscard]] std::int64_t begin(std::int64_t slice) const noexcept {
    return slice_begin(count_, slices_, slice);
  }
  [[nodiscard]] std::int64_t row(std::int64_t entry) const noexcept {
    return entry < 0 ? -1 : get_index(row_indices_, type_, entry);
  }

  // Offsets of the rows that begin with an entry of the slice, and of empty rows before them; the
  // last slice also has those behind all entries.
  void write(std::int64_t slice) const noexcept {
    if (type_ == kernels::IndexType::kI32) {
      write<std::int32_t>(slice);
    } else {
      write<std::int64_t>(slice);
    }
  }
  template <class I>
  void write(std::int64_t slice) const noexcept {
    const I* const rows = reinterpret_cast<const I*>(row_indices_);
    I* const offsets = reinterpret_cast<I*>(offsets_.data());
    const std::int64_t end = begin(slice + 1);
    std::int64_t before = row(begin(slice) - 1);
    for (std::int64_t k = begin(slice); k < end; ++k) {
      for (const std::int64_t next = rows[k]; before < next;) offsets[++before] = static_cast<I>(k);
    }
    if (slice + 1 != slices_) return;
    while (before < rows_) offsets[++before] = static_cast<I>(count_);
  }

  std::int64_t rows_;
  std::int64_t count_;
  kernels::IndexType type_;
  std::int64_t slices_;
  const Byte* row_indices_;
  Scratch offsets_;
  bool is_sorted_ = false;
};

}  // namespace

bool multiply_sorted(const SparseMatmul& call) {
  const tnr_sparse_view& view = call.a.view();
  const bool has_narrow_offsets = view.major.dtype == TNR_DTYPE_I32;
  if (has_narrow_offsets && view.minor.shape[0] > INT32_MAX) return false;
  const RowOffsets offsets(call.context, view);
  if (!offsets.is_sorted()) return false;
  tnr_sparse_view rows = view;
  rows.owner = 0;
  rows.format = TNR_SPARSE_FORMAT_CSR;
  rows.major = offsets.view(view.major.dtype);
  const SparseOperand compressed(rows, call.a.name(), SparseOperand::Checked{});
  multiply_rows({.context = call.context,
                 .a = compressed,
                 .is_transposed = false,
                 .type = call.type,
                 .b = call.b,
                 .out = call.out,
                 .alpha = call.alpha,
                 .beta = call.beta});
  return true;
}

}  // namespace tenure
