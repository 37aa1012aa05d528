// Coalescing: puts entries in order and folds those of one position to one. Sorting comes from the
// conversions, and keeps the order of duplicates; then each row is read twice, to count its
// positions and to fold its entries. Coordinates that are in order need no rows, and few of them
// get none.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "cpu/dispatch.hpp"
#include "cpu/fold.hpp"
#include "memory/scratch.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/convert/device_order.hpp"
#include "sparse/convert/order.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/operand.hpp"
#include "sparse/traffic.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;

class Coalescer {
 public:
  // A matrix whose entries are in order; its own format, or COO of CSR.
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
    // Whole rows, or runs, of about as many entries for each slice.
    for (std::int64_t slice = 0; slice < slices; ++slice) {
      const std::int64_t entry = slice_begin(count, slices, slice);
      cuts_.push_back(slice == 0 ? 0
                      : is_coo() ? end_of_run(std::max(entry, cuts_.back()))
                                 : row_of_entry(bytes_at(a.major, 0), type_, major_count(a),
                                                range_.first + entry));
    }
    cuts_.push_back(is_coo() ? count : major_count(a));
    runs_.assign(cuts_.size(), 0);
  }

  SparseToken run() {
    for_each_slice(context_, slice_count(), [&](std::int64_t slice) {
      runs_[at(slice) + 1] = type_ == IndexType::kI32 ? mark_runs<std::int32_t>(slice)
                                                      : mark_runs<std::int64_t>(slice);
    });
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
    return builder.finish(EntryOrder::rising());
  }

 private:
  static std::size_t at(std::int64_t slice) noexcept { return static_cast<std::size_t>(slice); }
  [[nodiscard]] std::int64_t slice_count() const noexcept {
    return static_cast<std::int64_t>(cuts_.size()) - 1;
  }
  [[nodiscard]] bool is_coo() const noexcept { return a_.format == TNR_SPARSE_FORMAT_COO; }
  // COO only: the first entry from `entry` on that is number 0 or differs in position from its
  // predecessor.
  [[nodiscard]] std::int64_t end_of_run(std::int64_t entry) const noexcept {
    const IndexReader rows(a_.major);
    const IndexReader cols(a_.minor);
    while (entry > 0 && entry < range_.last && rows[entry] == rows[entry - 1] &&
           cols[entry] == cols[entry - 1]) {
      ++entry;
    }
    return entry;
  }
  // Counted from the first of all.
  [[nodiscard]] EntryRange entries_of(std::int64_t slice) const noexcept {
    if (is_coo()) return {cuts_[at(slice)], cuts_[at(slice) + 1]};
    return {index_at(a_.major, cuts_[at(slice)]) - range_.first,
            index_at(a_.major, cuts_[at(slice) + 1]) - range_.first};
  }

  // Returns how many runs there are.
  template <class I>
  std::int64_t mark_runs(std::int64_t slice) const noexcept {
    const EntryRange range = entries_of(slice);
    Byte* const begins = begins_.data();
    std::int64_t runs = kernels::folding_kernels().mark[static_cast<unsigned>(type_)](
        bytes_at(a_.minor, range_.first + range.first), range.last - range.first,
        begins + range.first);
    const auto begin_at = [&](std::int64_t entry) {
      runs += begins[entry] == 0 ? 1 : 0;
      begins[entry] = 1;
    };
    const I* const majors = static_cast<const I*>(a_.major.data);
    if (is_coo()) {
      for (std::int64_t k = range.first + 1; k < range.last; ++k) {
        if (majors[k] != majors[k - 1]) begin_at(k);
      }
      return runs;
    }
    const std::int64_t end = cuts_[at(slice) + 1];
    for_each_filled_row(majors, cuts_[at(slice)], end,
                        [&](std::int64_t row) { begin_at(majors[row] - range_.first); });
    return runs;
  }

  template <class I>
  void write_indices(std::int64_t slice, std::int64_t first_run,
                     const SparseBuilder& builder) const noexcept {
    const auto* const from = static_cast<const I*>(a_.minor.data) + range_.first;
    auto* const to = reinterpret_cast<I*>(builder.minor());
    auto* const major = reinterpret_cast<I*>(builder.major());
    const I* const majors = static_cast<const I*>(a_.major.data);
    const Byte* const begins = begins_.data();
    std::int64_t run = first_run - 1;
    if (is_coo()) {
      for (std::int64_t k = cuts_[at(slice)]; k < cuts_[at(slice) + 1]; ++k) {
        run += begins[k];
        to[run] = from[k];
        major[run] = majors[k];
      }
      return;
    }
    const std::int64_t end_row = cuts_[at(slice) + 1];
    for (std::int64_t row = cuts_[at(slice)]; row < end_row; ++row) {
      const std::int64_t filled = first_filled_row(majors, row, end_row);
      if (format_ != TNR_SPARSE_FORMAT_COO) {
        put_empty_rows(major, row, filled, end_row, run + 1);
      }
      row = filled;
      if (row == end_row) break;
      const std::int64_t end = majors[row + 1] - range_.first;
      const std::int64_t before = run;
      for (std::int64_t k = majors[row] - range_.first; k < end; ++k) {
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
      return kernels::folding_kernels().fold[rule][type_index(a_.values.dtype)](
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
  Scratch begins_;                  // a byte for each entry: 1 where a run begins
  std::vector<std::int64_t> cuts_;  // where slices begin: a row, or an entry of COO
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
  if (type == kNoType || kernels::folding_kernels().fold[rule][type] == nullptr) {
    fail(TNR_STATUS_UNSUPPORTED, "coalesce does not take values of %s but to keep the last",
         dtype_name(a.values.dtype));
  }
}

// Its entries have been checked.
SparseToken coalesce(const Context& context, const tnr_sparse_view& a, tnr_sparse_combine combine) {
  SparseTarget target{.format = a.format, .index_dtype = a.minor.dtype, .is_sorted = true};
  if (has_rising_entries(a)) {
    tnr_sparse_view coalesced = a;
    coalesced.flags |= kCoalesced;
    return convert_entries(context, coalesced, target);
  }
  std::optional<OwnMatrix> sorted;
  if (!has_sorted_entries(a)) {
    const bool has_rows = a.format == TNR_SPARSE_FORMAT_COO && !are_few(a.minor.shape[0], a.rows);
    if (has_rows) target.format = TNR_SPARSE_FORMAT_CSR;
    sorted.emplace(convert_entries(context, a, target));
  }
  return Coalescer(context, sorted ? sorted->view() : a, combine, a.format).run();
}

// Coalesces like the CPU, except that it does not inspect entries before it sorts them.
SparseToken coalesce_on(const Context& context, const DeviceQueue& queue, const tnr_sparse_view& a,
                        tnr_sparse_combine combine) {
  const PinnedSparse pinned(a, "a", PinnedSparse::Access::kRead, PinnedSparse::Batches::kRefused,
                            queue.device());
  check_combine(a, combine);
  using By = DeviceEntryOrder::By;
  return order_on(context, queue,
                  {.name = "coalesce",
                   .a = a,
                   .format = a.format,
                   .by = EntryOrder::of(a).is_sorted() ? By::kNone : By::kPosition,
                   .combine = (a.flags & kCoalesced) == kCoalesced ? 0 : combine,
                   .flags = kCoalesced,
                   .operation = TNR_OPERATION_SPARSE_COALESCE,
                   .pins = pinned.pins()});
}

}  // namespace

SparseToken summed_entries(const Context& context, const tnr_sparse_view& a) {
  return coalesce(context, a, TNR_SPARSE_COMBINE_SUM);
}

SparseToken sparse_coalesce(const Context& context, const tnr_sparse_view& a,
                            tnr_sparse_combine combine) {
  if (is_on_device(a.values)) [[unlikely]]
    return coalesce_on(context, queue_of(context, a.values, "a.values"), a, combine);
  SparseOperand operand(a, "a");
  check_combine(a, combine);
  operand.check_all();
  return count_made(TNR_OPERATION_SPARSE_COALESCE, matrix_bytes(a), coalesce(context, a, combine));
}

}  // namespace tenure
