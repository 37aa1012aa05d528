// Coalescing: entries in order, and those of one position made one. Sorting comes from the
// conversions, and keeps the order of duplicates; then each row is read twice, to count what is left
// and to fold it.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "index_array.hpp"
#include "kernels/fold.hpp"
#include "operands.hpp"
#include "parallel.hpp"
#include "scratch.hpp"
#include "sparse_builder.hpp"
#include "sparse_convert.hpp"
#include "sparse_kernels.hpp"
#include "sparse_operand.hpp"
#include "sparse_traffic.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

class Coalescer {
 public:
  // A compressed matrix with sorted rows; its own format, or COO of CSR.
  Coalescer(const Context& context, const tnr_sparse_view& a, tnr_sparse_combine combine,
            tnr_sparse_format format)
      : context_(context),
        a_(a),
        combine_(combine),
        format_(format),
        range_(entry_range(a)),
        type_(index_type(a.minor.dtype)),
        width_(static_cast<std::int64_t>(element_size(a.values.dtype))),
        begins_(range_.last - range_.first, 1) {
    const std::int64_t count = range_.last - range_.first;
    const std::int64_t slices = slice_count_of(context, count * (width_ + index_bytes(a)));
    // Whole rows, of about as many entries for each slice.
    for (std::int64_t slice = 0; slice < slices; ++slice) {
      const std::int64_t entry = range_.first + slice_begin(count, slices, slice);
      rows_.push_back(slice == 0 ? 0 : row_of_entry(offsets(), type_, major_count(a), entry));
    }
    rows_.push_back(major_count(a));
    runs_.assign(rows_.size(), 0);
  }

  SparseToken run() {
    for_each_slice(context_, slice_count(), [&](std::int64_t slice) { count_runs(slice); });
    std::partial_sum(runs_.begin(), runs_.end(), runs_.begin());
    SparseBuilder builder(context_, {.format = format_,
                                     .rows = a_.rows,
                                     .cols = a_.cols,
                                     .index_dtype = a_.minor.dtype,
                                     .value_dtype = a_.values.dtype});
    builder.allocate_entries(runs_.back());
    if (format_ != TNR_SPARSE_FORMAT_COO) put_index(builder.major(), type_, 0, 0);
    for_each_slice(context_, slice_count(), [&](std::int64_t slice) {
      const std::int64_t first_run = runs_[at(slice)];
      if (type_ == IndexType::kI32) {
        write_indices<std::int32_t>(slice, first_run, builder);
      } else {
        write_indices<std::int64_t>(slice, first_run, builder);
      }
      fold_values(slice, builder.values() + first_run * width_);
    });
    return builder.finish(kCoalesced);
  }

 private:
  static std::size_t at(std::int64_t slice) noexcept { return static_cast<std::size_t>(slice); }
  [[nodiscard]] std::int64_t slice_count() const noexcept {
    return static_cast<std::int64_t>(rows_.size()) - 1;
  }
  [[nodiscard]] const Byte* offsets() const noexcept { return bytes_at(a_.major, 0); }
  // Where the entries of a row begin, counted from the first of all.
  [[nodiscard]] std::int64_t first_of_row(std::int64_t row) const noexcept {
    return get_index(offsets(), type_, row) - range_.first;
  }
  [[nodiscard]] EntryRange entries_of(std::int64_t slice) const noexcept {
    return {first_of_row(rows_[at(slice)]), first_of_row(rows_[at(slice) + 1])};
  }

  void count_runs(std::int64_t slice) noexcept {
    const EntryRange range = entries_of(slice);
    Byte* const begins = begins_.data();
    std::int64_t runs = kernels::table().folding->mark[static_cast<unsigned>(type_)](
        bytes_at(a_.minor, range_.first + range.first), range.last - range.first,
        begins + range.first);
    for (std::int64_t row = rows_[at(slice)]; row < rows_[at(slice) + 1]; ++row) {
      const std::int64_t first = first_of_row(row);
      if (first == first_of_row(row + 1) || begins[first] != 0) continue;
      begins[first] = 1;
      ++runs;
    }
    runs_[at(slice) + 1] = runs;
  }

  template <class I>
  void write_indices(std::int64_t slice, std::int64_t first_run,
                     const SparseBuilder& builder) const noexcept {
    const auto* const from = static_cast<const I*>(a_.minor.data) + range_.first;
    auto* const to = reinterpret_cast<I*>(builder.minor());
    auto* const major = reinterpret_cast<I*>(builder.major());
    const Byte* const begins = begins_.data();
    std::int64_t run = first_run - 1;
    for (std::int64_t row = rows_[at(slice)]; row < rows_[at(slice) + 1]; ++row) {
      const std::int64_t end = first_of_row(row + 1);
      const std::int64_t before = run;
      for (std::int64_t k = first_of_row(row); k < end; ++k) {
        run += begins[k];
        to[run] = from[k];
      }
      if (format_ == TNR_SPARSE_FORMAT_COO) {
        std::fill(major + before + 1, major + run + 1, static_cast<I>(row));
      } else {
        major[row + 1] = static_cast<I>(run + 1);
      }
    }
  }

  void fold_values(std::int64_t slice, Byte* out) const noexcept {
    const EntryRange range = entries_of(slice);
    const std::int64_t count = range.last - range.first;
    const Byte* const begins = begins_.data() + range.first;
    const Byte* const values =
        static_cast<const Byte*>(a_.values.data) + (range_.first + range.first) * width_;
    if (combine_ != TNR_SPARSE_COMBINE_LAST) {
      const auto rule = static_cast<unsigned>(combine_ - TNR_SPARSE_COMBINE_SUM);
      return kernels::table().folding->fold[rule][type_index(a_.values.dtype)](
          {.count = count, .begins = begins, .values = values, .out = out});
    }
    Byte* next = out;
    for (std::int64_t k = 0; k < count; ++k) {
      // The first begins a run, as it begins a row.
      next += k != 0 && begins[k] != 0 ? width_ : 0;
      std::memcpy(next, values + k * width_, static_cast<std::size_t>(width_));
    }
  }

  const Context& context_;
  const tnr_sparse_view& a_;
  tnr_sparse_combine combine_;
  tnr_sparse_format format_;
  EntryRange range_;
  IndexType type_;
  std::int64_t width_;
  Scratch begins_;  // a byte for each entry: 1 where a run begins
  std::vector<std::int64_t> rows_;
  std::vector<std::int64_t> runs_;  // of the slices before
};

void check_combine(const tnr_sparse_view& a, tnr_sparse_combine combine) {
  if (combine < TNR_SPARSE_COMBINE_SUM || combine > TNR_SPARSE_COMBINE_LAST) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "combine is %" PRId32 ", which names no way to combine",
         combine);
  }
  if (a.format == TNR_SPARSE_FORMAT_BSR) {
    fail(TNR_STATUS_UNSUPPORTED, "coalesce does not take BSR: convert it to CSR first");
  }
  check_value_width(a);
  if (combine == TNR_SPARSE_COMBINE_LAST) return;
  const unsigned type = type_index(a.values.dtype);
  const auto rule = static_cast<unsigned>(combine - TNR_SPARSE_COMBINE_SUM);
  if (type == kNoType || kernels::table().folding->fold[rule][type] == nullptr) {
    fail(TNR_STATUS_UNSUPPORTED, "coalesce does not take values of %s but to keep the last",
         dtype_name(a.values.dtype));
  }
}

// Its entries have been checked.
SparseToken coalesce(const Context& context, const tnr_sparse_view& a, tnr_sparse_combine combine) {
  SparseTarget target{.format = a.format, .index_dtype = a.minor.dtype, .is_sorted = true};
  if ((a.flags & kCoalesced) == kCoalesced) return convert_entries(context, a, target);
  const bool is_coo = a.format == TNR_SPARSE_FORMAT_COO;
  std::optional<OwnMatrix> sorted;
  if (is_coo || !has_sorted_entries(a)) {
    if (is_coo) target.format = TNR_SPARSE_FORMAT_CSR;
    sorted.emplace(convert_entries(context, a, target));
  }
  return Coalescer(context, sorted ? sorted->view() : a, combine, a.format).run();
}

}  // namespace

SparseToken sparse_coalesce(const Context& context, const tnr_sparse_view& a,
                            tnr_sparse_combine combine) {
  SparseOperand operand(a, "a");
  check_combine(a, combine);
  operand.check_all();
  return count_made(TNR_OPERATION_SPARSE_COALESCE, matrix_bytes(a), coalesce(context, a, combine));
}

}  // namespace tenure
