// Parts of a compressed matrix, as a new one: a block of it, or rows and columns that are listed.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <numeric>
#include <vector>

#include "bisect.hpp"
#include "index_array.hpp"
#include "operands.hpp"
#include "parallel.hpp"
#include "scratch.hpp"
#include "sparse_builder.hpp"
#include "sparse_entries.hpp"
#include "sparse_operand.hpp"
#include "sparse_traffic.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// ---- which rows, and which columns ----

// Numbers that a caller has listed, in a view of rank 1; or those from one on.
class Numbers {
 public:
  Numbers(std::int64_t first, std::int64_t count) noexcept : first_(first), count_(count) {}
  explicit Numbers(const tnr_view& list) noexcept
      : list_(static_cast<const Byte*>(list.data)),
        type_(index_type(list.dtype)),
        step_(list.strides[0]),
        count_(list.shape[0]) {}

  [[nodiscard]] bool is_list() const noexcept { return list_ != nullptr || first_ < 0; }
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  std::int64_t operator[](std::int64_t i) const noexcept {
    return is_list() ? get_index(list_, type_, count_ == 1 ? 0 : i * step_) : first_ + i;
  }

 private:
  const Byte* list_ = nullptr;
  kernels::IndexType type_ = kernels::IndexType::kI64;
  std::int64_t step_ = 1;
  std::int64_t first_ = -1;
  std::int64_t count_;
};

// Where each column goes that is listed: the places of the list that name it.
class Places {
 public:
  // A table of all columns, where that is no more than a few numbers for each entry.
  Places(const Numbers& list, std::int64_t cols, std::int64_t entries)
      : order_(static_cast<std::size_t>(list.count())) {
    for (std::int64_t i = 1; i < list.count(); ++i) rises_ = rises_ && list[i - 1] <= list[i];
    constexpr std::int64_t kPerEntry = 4;
    if (cols / kPerEntry <= entries + list.count()) {
      count(list, cols);
    } else {
      sort(list);
    }
  }

  // Whether the columns never fall.
  [[nodiscard]] bool rises() const noexcept { return rises_; }

  // Calls body(place) for the places of a column, in order.
  template <class Body>
  void for_each(std::int64_t col, const Body& body) const noexcept {
    std::int64_t i = first(col);
    for (const std::int64_t end = first(col + 1); i < end; ++i) {
      body(order_[static_cast<std::size_t>(i)]);
    }
  }

 private:
  void count(const Numbers& list, std::int64_t cols) {
    table_.resize(static_cast<std::size_t>(cols) + 2);
    // One further on, so that the places of a column end where those of the next begin once all
    // have been put.
    for (std::int64_t i = 0; i < list.count(); ++i) ++table_[static_cast<std::size_t>(list[i]) + 2];
    std::partial_sum(table_.begin(), table_.end(), table_.begin());
    for (std::int64_t i = 0; i < list.count(); ++i) {
      order_[static_cast<std::size_t>(table_[static_cast<std::size_t>(list[i]) + 1]++)] = i;
    }
  }
  void sort(const Numbers& list) {
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    std::sort(order_.begin(), order_.end(), [&](std::int64_t i, std::int64_t j) {
      return list[i] != list[j] ? list[i] < list[j] : i < j;
    });
    columns_.reserve(order_.size());
    for (const std::int64_t place : order_) columns_.push_back(list[place]);
  }

  // The first place of a column or of those behind it.
  [[nodiscard]] std::int64_t first(std::int64_t col) const noexcept {
    if (!table_.empty()) return table_[static_cast<std::size_t>(col)];
    return first_where(0, static_cast<std::int64_t>(columns_.size()), [&](std::int64_t i) {
      return columns_[static_cast<std::size_t>(i)] >= col;
    });
  }

  std::vector<std::int64_t> order_;    // places by column
  std::vector<std::int64_t> columns_;  // of these; or instead
  std::vector<std::int64_t> table_;    // of each column, where its places begin
  bool rises_ = true;
};

// ---- entries ----

// Rows and columns as the matrix is compressed: those of CSC are exchanged.
class Selection {
 public:
  Selection(const Context& context, const tnr_sparse_view& a, const Numbers& rows,
            const Numbers& cols)
      : context_(context),
        a_(a),
        rows_(rows),
        cols_(cols),
        offsets_(a.major),
        indices_(a.minor),
        width_(static_cast<std::int64_t>(element_size(a.values.dtype))),
        has_all_cols_(!cols.is_list() && cols.count() == minor_count(a)),
        places_(cols.is_list() ? cols : Numbers(0, 0), cols.is_list() ? minor_count(a) : 0,
                entry_range(a).last - entry_range(a).first) {}

  SparseToken run() const {
    const bool is_csc = a_.format == TNR_SPARSE_FORMAT_CSC;
    SparseBuilder builder(context_, {.format = a_.format,
                                     .rows = is_csc ? cols_.count() : rows_.count(),
                                     .cols = is_csc ? rows_.count() : cols_.count(),
                                     .index_dtype = a_.minor.dtype,
                                     .value_dtype = a_.values.dtype});
    const Scratch before(rows_.count() + 1, sizeof(std::int64_t));
    std::int64_t* const offsets = before.numbers();
    offsets[0] = 0;
    for_each_row_slice([&](std::int64_t row) { offsets[row + 1] = count(rows_[row]); });
    for (std::int64_t row = 0; row < rows_.count(); ++row) offsets[row + 1] += offsets[row];
    builder.allocate_entries(offsets[rows_.count()]);
    const kernels::IndexType type = index_type(a_.minor.dtype);
    put_index(builder.major(), type, 0, 0);
    for_each_row_slice([&](std::int64_t row) {
      put_index(builder.major(), type, row + 1, offsets[row + 1]);
      write(rows_[row], builder, offsets[row]);
    });
    const std::uint32_t sorted = places_.rises() ? TNR_SPARSE_SORTED : 0;
    return builder.finish(a_.flags & (sorted | TNR_SPARSE_UNIQUE));
  }

 private:
  template <class Body>
  void for_each_row_slice(const Body& body) const noexcept {
    const std::int64_t rows = rows_.count();
    const EntryRange all = entry_range(a_);
    const std::int64_t per_row =
        (all.last - all.first) / std::max<std::int64_t>(1, major_count(a_));
    const std::int64_t bytes = rows * (per_row + 1) * 2 * (width_ + index_width(type()));
    const std::int64_t slices =
        std::min(slice_count_of(context_, bytes), std::max<std::int64_t>(1, rows));
    for_each_slice(context_, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t end = slice_begin(rows, slices, slice + 1);
      for (std::int64_t row = slice_begin(rows, slices, slice); row < end; ++row) body(row);
    });
  }
  [[nodiscard]] kernels::IndexType type() const noexcept { return index_type(a_.minor.dtype); }

  // Entries of a row, of which a range of columns may be a part.
  [[nodiscard]] EntryRange entries(std::int64_t row) const noexcept {
    const EntryRange all = {offsets_[row], offsets_[row + 1]};
    if (cols_.is_list() || !is_sorted()) return all;
    const auto first_from = [&](std::int64_t col) {
      return first_where(all.first, all.last, [&](std::int64_t k) { return indices_[k] >= col; });
    };
    return {first_from(cols_[0]), first_from(cols_[0] + cols_.count())};
  }
  [[nodiscard]] bool is_sorted() const noexcept { return (a_.flags & TNR_SPARSE_SORTED) != 0; }

  // Calls body(entry, column of the result) for those of a row that are selected.
  template <class Body>
  void for_each_entry(std::int64_t row, const Body& body) const noexcept {
    const EntryRange range = entries(row);
    for (std::int64_t k = range.first; k < range.last; ++k) {
      const std::int64_t col = indices_[k];
      if (cols_.is_list()) {
        places_.for_each(col, [&](std::int64_t place) { body(k, place); });
      } else if (col >= cols_[0] && col - cols_[0] < cols_.count()) {
        body(k, col - cols_[0]);
      }
    }
  }

  [[nodiscard]] std::int64_t count(std::int64_t row) const noexcept {
    if (has_all_cols_) return offsets_[row + 1] - offsets_[row];
    std::int64_t count = 0;
    for_each_entry(row, [&](std::int64_t, std::int64_t) { ++count; });
    return count;
  }
  void write(std::int64_t row, const SparseBuilder& builder, std::int64_t position) const noexcept {
    const auto* const values = static_cast<const Byte*>(a_.values.data);
    if (has_all_cols_) {
      const std::int64_t first = offsets_[row];
      const std::int64_t count = offsets_[row + 1] - first;
      copy_run(builder.minor(), static_cast<const Byte*>(a_.minor.data), position, first, count,
               index_width(type()));
      return copy_run(builder.values(), values, position, first, count, width_);
    }
    for_each_entry(row, [&](std::int64_t k, std::int64_t col) {
      put_index(builder.minor(), type(), position, col);
      copy_element(builder.values() + position * width_, values + k * width_);
      ++position;
    });
  }
  static void copy_run(Byte* to, const Byte* from, std::int64_t position, std::int64_t first,
                       std::int64_t count, std::int64_t width) noexcept {
    if (count == 0) return;
    std::memcpy(to + position * width, from + first * width,
                static_cast<std::size_t>(count * width));
  }
  void copy_element(Byte* to, const Byte* from) const noexcept {
    switch (width_) {
      case 1: *to = *from; break;
      case 2: std::memcpy(to, from, 2); break;
      case 4: std::memcpy(to, from, 4); break;
      case 8: std::memcpy(to, from, 8); break;
      default: std::memcpy(to, from, static_cast<std::size_t>(width_));
    }
  }

  const Context& context_;
  const tnr_sparse_view& a_;
  const Numbers& rows_;
  const Numbers& cols_;
  IndexReader offsets_;
  IndexReader indices_;
  std::int64_t width_;
  bool has_all_cols_;
  Places places_;
};

// ---- what is asked ----

void check_list(const tnr_view& list, const char* name) {
  check_view(list, name);
  if (list.rank != 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be 1", name, list.rank);
  }
  if (list.dtype != TNR_DTYPE_I32 && list.dtype != TNR_DTYPE_I64) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but must be i32 or i64", name,
         dtype_name(list.dtype));
  }
}

void check_numbers(const Numbers& numbers, const char* name, std::int64_t extent) {
  for (std::int64_t i = 0; i < numbers.count(); ++i) {
    const std::int64_t number = numbers[i];
    if (number >= 0 && number < extent) continue;
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s[%" PRId64 "] is %" PRId64 " but must be at least 0 and below a.%s, which is %" PRId64,
         name, i, number, name, extent);
  }
}

void check_range(const char* name, std::int64_t first, std::int64_t count, std::int64_t extent) {
  if (first >= 0 && count >= 0 && first <= extent && count <= extent - first) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s from %" PRId64 " on, %" PRId64 " of them, leave a.%s, which is %" PRId64, name, first,
       count, name, extent);
}

SparseToken selected(const Context& context, const tnr_sparse_view& a, const Numbers& rows,
                     const Numbers& cols) {
  const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
  return count_made(TNR_OPERATION_SPARSE_CONVERT, matrix_bytes(a),
                    Selection(context, a, is_csc ? cols : rows, is_csc ? rows : cols).run());
}

}  // namespace

SparseToken sparse_select(const Context& context, const tnr_sparse_view& a, const tnr_view* rows,
                          const tnr_view* cols) {
  SparseOperand operand(a, "a");
  require_compressed(a, "a");
  Pins pins;
  if (rows != nullptr) check_list(*rows, "rows");
  if (cols != nullptr) check_list(*cols, "cols");
  if (rows != nullptr) pins.add(*rows, "rows");
  if (cols != nullptr) pins.add(*cols, "cols");
  const Numbers row_numbers = rows != nullptr ? Numbers(*rows) : Numbers(0, a.rows);
  const Numbers col_numbers = cols != nullptr ? Numbers(*cols) : Numbers(0, a.cols);
  if (rows != nullptr) check_numbers(row_numbers, "rows", a.rows);
  if (cols != nullptr) check_numbers(col_numbers, "cols", a.cols);
  operand.check_all();
  return selected(context, a, row_numbers, col_numbers);
}

SparseToken sparse_slice(const Context& context, const tnr_sparse_view& a, std::int64_t first_row,
                         std::int64_t row_count, std::int64_t first_col, std::int64_t col_count) {
  SparseOperand operand(a, "a");
  require_compressed(a, "a");
  check_range("rows", first_row, row_count, a.rows);
  check_range("cols", first_col, col_count, a.cols);
  operand.check_all();
  return selected(context, a, Numbers(first_row, row_count), Numbers(first_col, col_count));
}

}  // namespace tenure
