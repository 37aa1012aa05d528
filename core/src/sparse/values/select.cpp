// Parts of a compressed matrix, as a new one: a block of it, or rows and columns that are listed.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <type_traits>

#include "base/bisect.hpp"
#include "memory/scratch.hpp"
#include "sparse/builder.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/entries.hpp"
#include "sparse/index_array.hpp"
#include "sparse/operand.hpp"
#include "sparse/traffic.hpp"
#include "sparse/values/selection.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// ---- which columns, and where they go ----

// One column goes to one position at most.
struct Range {
  std::int64_t first;
  std::int64_t columns;

  [[nodiscard]] std::int64_t position(std::int64_t col) const noexcept { return col - first; }
  [[nodiscard]] bool has(std::int64_t position) const noexcept {
    return static_cast<std::uint64_t>(position) < static_cast<std::uint64_t>(columns);
  }
};
struct Once {
  const std::int32_t* positions;

  [[nodiscard]] std::int64_t position(std::int64_t col) const noexcept { return positions[col]; }
  [[nodiscard]] bool has(std::int64_t position) const noexcept { return position >= 0; }
};

// One column goes to any number of positions: order[begin(col)] to order[begin(col + 1)].
struct Several {
  const std::int32_t* begins;
  const std::int64_t* order;

  [[nodiscard]] std::int64_t begin(std::int64_t col) const noexcept { return begins[col]; }
};
struct Sorted {
  const ColumnPositions& columns;
  const std::int64_t* order;

  [[nodiscard]] std::int64_t begin(std::int64_t col) const noexcept { return columns.first(col); }
};

// ---- entries of a row ----

template <class I>
std::int64_t load(const Byte* indices, std::int64_t entry) noexcept {
  I index;
  std::memcpy(&index, indices + entry * static_cast<std::int64_t>(sizeof index), sizeof index);
  return index;
}
template <class I>
void store(Byte* indices, std::int64_t entry, std::int64_t index) noexcept {
  const auto narrow = static_cast<I>(index);
  std::memcpy(indices + entry * static_cast<std::int64_t>(sizeof narrow), &narrow, sizeof narrow);
}

// Parallel arrays of indices and values; those of a row begin at its first entry.
struct Entries {
  Byte* indices;
  Byte* values;
};
struct ConstEntries {
  const Byte* indices;
  const Byte* values;
  std::int64_t count;
};

// kWidth bytes of a value; 0: `width`.
template <int kWidth>
void copy_value(Byte* to, std::int64_t at, const Byte* from, std::int64_t entry,
                std::int64_t width) noexcept {
  const std::int64_t bytes = kWidth != 0 ? kWidth : width;
  std::memcpy(to + at * bytes, from + entry * bytes, static_cast<std::size_t>(bytes));
}

template <class I, class Columns>
std::int64_t count_row(const Columns& columns, const ConstEntries& row) noexcept {
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < row.count; ++k) {
    const std::int64_t col = load<I>(row.indices, k);
    if constexpr (requires { columns.position(col); }) {
      count += columns.has(columns.position(col)) ? 1 : 0;
    } else {
      count += columns.begin(col + 1) - columns.begin(col);
    }
  }
  return count;
}

// Writes the `count` entries of a row that count_row() found. Nobody can predict which these are:
// each entry is written, and the next one over it if it is not one of them; never behind the last.
template <class I, int kWidth, class Columns>
void write_row(const Columns& columns, const ConstEntries& row, const Entries& out,
               std::int64_t count, std::int64_t width) noexcept {
  for (std::int64_t k = 0, at = 0; at < count; ++k) {
    const std::int64_t col = load<I>(row.indices, k);
    if constexpr (requires { columns.position(col); }) {
      const std::int64_t position = columns.position(col);
      store<I>(out.indices, at, position);
      copy_value<kWidth>(out.values, at, row.values, k, width);
      at += columns.has(position) ? 1 : 0;
    } else {
      std::int64_t i = columns.begin(col);
      const std::int64_t end = columns.begin(col + 1);
      store<I>(out.indices, at, columns.order[i]);
      copy_value<kWidth>(out.values, at, row.values, k, width);
      at += i < end ? 1 : 0;
      for (++i; i < end; ++i, ++at) {
        store<I>(out.indices, at, columns.order[i]);
        copy_value<kWidth>(out.values, at, row.values, k, width);
      }
    }
  }
}

// Entries that are looked at one by one, rather than searched in.
constexpr std::int64_t kShortRow = 32;

// The entries of a range, which are adjacent in a row with rising columns.
template <class I>
EntryRange run_of(const Range& range, const ConstEntries& row) noexcept {
  // Two searches for one column may end apart, where the flags are wrong.
  if (range.columns == 0) return {0, 0};
  const auto first_from = [&](std::int64_t begin, std::int64_t col) {
    return first_where(begin, row.count,
                       [&](std::int64_t k) { return load<I>(row.indices, k) >= col; });
  };
  const std::int64_t first = first_from(0, range.first);
  return {first, first_from(first, range.first + range.columns)};
}

// Where the flags are wrong, the columns of a run may be any. The result's flags are trusted from
// then on, so each column is replaced by one that exists.
template <class I>
void write_run(const Range& range, const ConstEntries& row, const Entries& out,
               std::int64_t width) noexcept {
  const EntryRange run = run_of<I>(range, row);
  const std::int64_t count = run.last - run.first;
  if (count == 0) return;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t position = range.position(load<I>(row.indices, run.first + k));
    store<I>(out.indices, k, range.has(position) ? position : 0);
  }
  std::memcpy(out.values, row.values + run.first * width, static_cast<std::size_t>(count * width));
}

void copy_row(const ConstEntries& row, const Entries& out, std::int64_t index_bytes,
              std::int64_t width) noexcept {
  if (row.count == 0) return;
  std::memcpy(out.indices, row.indices, static_cast<std::size_t>(row.count * index_bytes));
  std::memcpy(out.values, row.values, static_cast<std::size_t>(row.count * width));
}

// ---- all rows ----

// Prefetch distance in rows at arbitrary addresses.
constexpr std::int64_t kAheadRows = 8;

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
        type_(index_type(a.minor.dtype)),
        width_(static_cast<std::int64_t>(element_size(a.values.dtype))),
        has_all_cols_(!cols.is_list() && cols.count() == minor_count(a)),
        positions_(cols.is_list() ? cols : Numbers(0, 0), cols.is_list() ? minor_count(a) : 0,
                   entry_range(a).last - entry_range(a).first) {}

  SparseToken run() const {
    return type_ == kernels::IndexType::kI32 ? run_by_index<std::int32_t>()
                                             : run_by_index<std::int64_t>();
  }

 private:
  template <class I>
  SparseToken run_by_index() const {
    if (has_all_cols_) return make<I>(Range{0, cols_.count()});
    if (!cols_.is_list()) return make<I>(Range{cols_[0], cols_.count()});
    switch (positions_.kind()) {
      case ColumnPositions::Kind::kOnce: return make<I>(Once{positions_.once()});
      case ColumnPositions::Kind::kSeveral:
        return make<I>(Several{positions_.begins(), positions_.order()});
      default: return make<I>(Sorted{positions_, positions_.order()});
    }
  }

  template <class I, class Columns>
  SparseToken make(const Columns& columns) const {
    const bool is_csc = a_.format == TNR_SPARSE_FORMAT_CSC;
    SparseBuilder builder(context_, {.format = a_.format,
                                     .rows = is_csc ? cols_.count() : rows_.count(),
                                     .cols = is_csc ? rows_.count() : cols_.count(),
                                     .index_dtype = a_.minor.dtype,
                                     .value_dtype = a_.values.dtype});
    const Scratch before(rows_.count() + 1, sizeof(std::int64_t));
    std::int64_t* const offsets = before.numbers();
    std::memset(offsets, 0, before.size_bytes());
    for_each_row([&](std::int64_t row, const ConstEntries& entries) {
      offsets[row + 1] = count<I>(columns, entries);
    });
    for (std::int64_t row = 0; row < rows_.count(); ++row) offsets[row + 1] += offsets[row];
    builder.allocate_entries(offsets[rows_.count()]);
    for (std::int64_t row = 0; row <= rows_.count(); ++row) {
      store<I>(builder.major(), row, offsets[row]);
    }
    for_each_row([&](std::int64_t row, const ConstEntries& entries) {
      const Entries out = {builder.minor() + offsets[row] * index_width(type_),
                           builder.values() + offsets[row] * width_};
      write<I>(columns, entries, out, offsets[row + 1] - offsets[row]);
    });
    return builder.finish(EntryOrder::of(a_).moved(positions_.columns()));
  }

  // Whether the entries of a row are worth a search.
  [[nodiscard]] bool is_searched(const ConstEntries& row) const noexcept {
    return (a_.flags & TNR_SPARSE_SORTED) != 0 && row.count > kShortRow;
  }

  template <class I, class Columns>
  [[nodiscard]] std::int64_t count(const Columns& columns, const ConstEntries& row) const noexcept {
    if (has_all_cols_) return row.count;
    if constexpr (std::is_same_v<Columns, Range>) {
      if (is_searched(row)) {
        const EntryRange run = run_of<I>(columns, row);
        return run.last - run.first;
      }
    }
    return count_row<I>(columns, row);
  }
  template <class I, class Columns>
  void write(const Columns& columns, const ConstEntries& row, const Entries& out,
             std::int64_t count) const noexcept {
    if (has_all_cols_) return copy_row(row, out, index_width(type_), width_);
    if constexpr (std::is_same_v<Columns, Range>) {
      if (is_searched(row)) return write_run<I>(columns, row, out, width_);
    }
    switch (width_) {
      case 4: return write_row<I, 4>(columns, row, out, count, width_);
      case 8: return write_row<I, 8>(columns, row, out, count, width_);
      default: return write_row<I, 0>(columns, row, out, count, width_);
    }
  }

  // Calls body(row of the result, entries of a) for each that has some, on the context's threads;
  // of a list for all.
  template <class Body>
  void for_each_row(const Body& body) const noexcept {
    const std::int64_t rows = rows_.count();
    const EntryRange all = entry_range(a_);
    const std::int64_t per_row =
        (all.last - all.first) / std::max<std::int64_t>(1, major_count(a_));
    const std::int64_t bytes = rows * (per_row + 1) * 2 * (width_ + index_width(type_));
    const std::int64_t slices =
        std::min(slice_count_of(context_, bytes), std::max<std::int64_t>(1, rows));
    for_each_slice(context_, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t end = slice_begin(rows, slices, slice + 1);
      std::int64_t row = slice_begin(rows, slices, slice);
      if (rows_.is_list()) {
        for (; row < end; ++row) {
          if (row + kAheadRows < end) fetch(rows_[row + kAheadRows]);
          body(row, entries(rows_[row]));
        }
        return;
      }
      if (row == end) return;
      // Rows of `a`, from the first that is kept on.
      const std::int64_t first = rows_[0];
      while ((row = filled_row(first + row, first + end) - first) < end) {
        body(row, entries(first + row));
        ++row;
      }
    });
  }

  // The first of `a` that has entries, of these rows; by the type of offsets, but one function for
  // all ways to select.
  [[nodiscard]] std::int64_t filled_row(std::int64_t row, std::int64_t end) const noexcept {
    return type_ == kernels::IndexType::kI32
               ? first_filled_row(static_cast<const std::int32_t*>(a_.major.data), row, end)
               : first_filled_row(static_cast<const std::int64_t*>(a_.major.data), row, end);
  }
  [[nodiscard]] ConstEntries entries(std::int64_t row) const noexcept {
    const std::int64_t first = offsets_[row];
    return {static_cast<const Byte*>(a_.minor.data) + first * index_width(type_),
            static_cast<const Byte*>(a_.values.data) + first * width_, offsets_[row + 1] - first};
  }
  // Prefetches a short row; the processor's own prefetchers find a longer one.
  void fetch(std::int64_t row) const noexcept {
    const ConstEntries soon = entries(row);
    __builtin_prefetch(soon.indices);
    __builtin_prefetch(soon.values);
  }

  const Context& context_;
  const tnr_sparse_view& a_;
  const Numbers& rows_;
  const Numbers& cols_;
  IndexReader offsets_;
  kernels::IndexType type_;
  std::int64_t width_;
  bool has_all_cols_;
  ColumnPositions positions_;
};

// ---- arguments ----

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
