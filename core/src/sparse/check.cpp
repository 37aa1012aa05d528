// Validation of sparse matrices: first the shape, in a few comparisons; then all entries, by
// kernels that answer yes or no. A second, serial pass finds the wrong entry for the message.
#include <algorithm>
#include <cinttypes>
#include <tuple>
#include <utility>
#include <vector>

#include "cpu/kernel.hpp"
#include "sparse/batch.hpp"
#include "sparse/device_parts.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "tenure/blob.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"

namespace tenure {

namespace {

// Runs a check whose messages begin with a field, and puts the matrix's name in front of the
// message of a failure. Only the failing path takes time.
template <class Check>
void check_fields_of(const char* name, const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    if (*name == '\0') throw;
    fail(error.status(), "%s.%s", name, error.message());
  }
}

constexpr char kBatchOffsets[] = "batch_offsets";

// ---- shape ----

void check_block(std::int64_t extent, const char* extent_name, std::int64_t block,
                 const char* block_name) {
  if (block < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRId64 " but must be at least 1", block_name,
         block);
  }
  if (block > TNR_SPARSE_MAX_BLOCK) {
    fail(TNR_STATUS_UNSUPPORTED, "%s is %" PRId64 " but must be at most %d", block_name, block,
         TNR_SPARSE_MAX_BLOCK);
  }
  if (extent % block != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRId64 " but must divide %s, which is %" PRId64,
         block_name, block, extent_name, extent);
  }
}

void check_words(const tnr_sparse_view& view) {
  if (view.format < TNR_SPARSE_FORMAT_COO || view.format > TNR_SPARSE_FORMAT_BSR) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "format is %" PRId32 ", which names no format", view.format);
  }
  constexpr std::uint32_t kKnown = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  if ((view.flags & ~kKnown) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "flags is 0x%" PRIx32 " but only 0x%x is known", view.flags,
         kKnown);
  }
  // One below the highest number, so that rows + 1 is one too.
  for (const auto& [extent, extent_name] :
       {std::pair{view.rows, "rows"}, std::pair{view.cols, "cols"}}) {
    if (extent < 0 || extent == INT64_MAX) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s is %" PRId64 " but must be at least 0 and at most %" PRId64, extent_name, extent,
           INT64_MAX - 1);
    }
  }
  if (view.format == TNR_SPARSE_FORMAT_BSR) {
    check_block(view.rows, "rows", view.block_rows, "block_rows");
    check_block(view.cols, "cols", view.block_cols, "block_cols");
  } else if (view.block_rows != 1 || view.block_cols != 1) {
    const bool is_rows = view.block_rows != 1;
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s is %" PRId64 " but must be 1: only BSR has blocks",
         is_rows ? "block_rows" : "block_cols", is_rows ? view.block_rows : view.block_cols);
  }
  const tnr_view& batch = view.batch_offsets;
  if (batch.rank == 0 && (batch.data != nullptr || batch.size_bytes != 0 || batch.owner != 0)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "batch_offsets.rank is 0, of what is no batch, but then all of it must be zeros");
  }
}

void check_contiguous(const tnr_view& part, const char* name, std::uint32_t rank,
                      const tnr_device& device) {
  check_view(part, name, device);
  if (part.rank != rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be %" PRIu32, name,
         part.rank, rank);
  }
  if (is_row_major(part)) return;
  std::int64_t expected = 1;
  for (std::uint32_t axis = rank; axis-- > 0;) {
    if (part.shape[axis] > 1 && part.strides[axis] != expected) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s.strides[%" PRIu32 "] is %" PRId64 " but must be %" PRId64
           ": the parts of a sparse matrix are contiguous",
           name, axis, part.strides[axis], expected);
    }
    expected *= part.shape[axis];
  }
}

void check_extent(const tnr_view& part, const char* name, std::uint32_t axis, std::int64_t expected,
                  const char* why) {
  if (part.shape[axis] == expected) return;
  fail(TNR_STATUS_INVALID_ARGUMENT,
       "%s.shape[%" PRIu32 "] is %" PRId64 " but must be %" PRId64 ", %s", name, axis,
       part.shape[axis], expected, why);
}

void check_index_type(const tnr_view& part, const char* name) {
  if (part.dtype == TNR_DTYPE_I32 || part.dtype == TNR_DTYPE_I64) return;
  fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but must be i32 or i64", name,
       dtype_name(part.dtype));
}

// Contiguous views share bytes where the intervals of their elements do.
void check_apart(const tnr_view& values, const tnr_view& indices, const char* name) {
  const auto begin_of = [](const tnr_view& view) {
    return reinterpret_cast<std::uintptr_t>(view.data);
  };
  const auto bytes_of = [](const tnr_view& view) {
    return static_cast<std::uint64_t>(element_count(view)) * element_size(view.dtype);
  };
  const std::uint64_t distance = begin_of(values) - begin_of(indices);
  if (bytes_of(values) == 0 || bytes_of(indices) == 0 ||
      (distance >= bytes_of(indices) && 0 - distance >= bytes_of(values))) {
    return;
  }
  fail(TNR_STATUS_ALIASED, "values shares bytes with %s: they begin at %p and %p", name,
       values.data, indices.data);
}

void check_batch_shape(const tnr_sparse_view& view, const SparseNames& names,
                       const tnr_device& device) {
  check_contiguous(view.batch_offsets, kBatchOffsets, 1, device);
  check_index_type(view.batch_offsets, kBatchOffsets);
  if (view.batch_offsets.shape[0] == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "batch_offsets.shape[0] is 0 but must be at least 1: one more than there are matrices");
  }
  if (view.format == TNR_SPARSE_FORMAT_COO) return;
  std::int64_t expected;
  if (__builtin_mul_overflow(batch_count(view), major_count(view) + 1, &expected)) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "batch_offsets.shape[0] is %" PRId64 ", but so many matrices have more %s than fit i64",
         view.batch_offsets.shape[0], names.major);
  }
  check_extent(view.major, names.major, 0, expected, "those of each matrix of the batch");
}

void check_shape(const tnr_sparse_view& view, const tnr_device& device) {
  check_words(view);
  const SparseNames& names = sparse_names(view.format);
  check_contiguous(view.major, names.major, 1, device);
  check_contiguous(view.minor, names.minor, 1, device);
  check_index_type(view.major, names.major);
  check_index_type(view.minor, names.minor);
  if (view.minor.dtype != view.major.dtype) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.dtype is %s but %s.dtype is %s", names.minor,
         dtype_name(view.minor.dtype), names.major, dtype_name(view.major.dtype));
  }
  const std::int64_t count = view.minor.shape[0];
  if (is_batch(view)) check_batch_shape(view, names, device);
  if (view.format == TNR_SPARSE_FORMAT_COO) {
    check_extent(view.major, names.major, 0, count, "as many as col_indices");
  } else if (!is_batch(view)) {
    check_extent(view.major, names.major, 0, major_count(view) + 1,
                 view.format == TNR_SPARSE_FORMAT_CSR   ? "rows + 1"
                 : view.format == TNR_SPARSE_FORMAT_CSC ? "cols + 1"
                                                        : "rows / block_rows + 1");
  }
  check_contiguous(view.values, "values", view.format == TNR_SPARSE_FORMAT_BSR ? 3 : 1, device);
  check_extent(view.values, "values", 0, count, "as many as indices");
  if (view.format == TNR_SPARSE_FORMAT_BSR) {
    check_extent(view.values, "values", 1, view.block_rows, "block_rows");
    check_extent(view.values, "values", 2, view.block_cols, "block_cols");
  }
}

// ---- entries: whether all is well ----

bool is_set(const tnr_sparse_view& view, std::uint32_t flag) { return (view.flags & flag) != 0; }

// How many rows begin with an index that is less than the last one of the rows before; where equal
// ones count, that is not greater.
template <class I>
std::int64_t falls_between_rows(const tnr_sparse_view& view, bool counts_equal) {
  const auto* const offsets = static_cast<const I*>(view.major.data);
  const auto* const indices = static_cast<const I*>(view.minor.data);
  const std::int64_t rows = major_count(view);
  std::int64_t falls = 0;
  // The first row with entries has none before them.
  const std::int64_t first = first_filled_row(offsets, 0, rows);
  for_each_filled_row(offsets, first + 1, rows, [&](std::int64_t row) {
    const I begin = offsets[row];
    falls +=
        counts_equal ? indices[begin] <= indices[begin - 1] : indices[begin] < indices[begin - 1];
  });
  return falls;
}

bool are_rows_sorted(const tnr_sparse_view& view, EntryRange range) {
  const kernels::IndexChecks& checks = index_checks(view);
  const kernels::Byte* const first = bytes_at(view.minor, range.first);
  const std::int64_t count = range.last - range.first;
  const bool unique = is_set(view, TNR_SPARSE_UNIQUE);
  const std::int64_t falls =
      unique ? checks.count_stays(first, count) : checks.count_falls(first, count);
  if (falls == 0) return true;
  return falls == (view.minor.dtype == TNR_DTYPE_I32
                       ? falls_between_rows<std::int32_t>(view, unique)
                       : falls_between_rows<std::int64_t>(view, unique));
}

bool are_coordinates_valid(const tnr_sparse_view& view) {
  const kernels::IndexChecks& checks = index_checks(view);
  const std::int64_t count = view.minor.shape[0];
  const kernels::Byte* const rows = bytes_at(view.major, 0);
  const kernels::Byte* const cols = bytes_at(view.minor, 0);
  if (!checks.are_below(rows, count, view.rows) || !checks.are_below(cols, count, view.cols)) {
    return false;
  }
  if (!is_set(view, TNR_SPARSE_SORTED)) return true;
  return is_set(view, TNR_SPARSE_UNIQUE) ? checks.are_rising(rows, cols, count)
                                         : checks.are_sorted(rows, cols, count);
}

bool are_compressed_valid(const tnr_sparse_view& view, RowExtent rows) {
  const kernels::IndexChecks& checks = index_checks(view);
  const std::int64_t count = view.minor.shape[0];
  const EntryRange range = entry_range(view);
  if (range.first < 0 || range.last > count ||
      (rows == RowExtent::kWhole && (range.first != 0 || range.last != count)) ||
      checks.count_falls(bytes_at(view.major, 0), view.major.shape[0]) != 0) {
    return false;
  }
  return checks.are_below(bytes_at(view.minor, range.first), range.last - range.first,
                          minor_count(view)) &&
         (!is_set(view, TNR_SPARSE_SORTED) || are_rows_sorted(view, range));
}

// ---- entries: errors ----

struct Entry {
  std::int64_t row;
  std::int64_t col;
  std::int64_t position;
};

// Validation of flags, entry by entry in the order of their positions.
class Order {
 public:
  explicit Order(const tnr_sparse_view& view)
      : view_(view),
        sorted_(is_set(view, TNR_SPARSE_SORTED)),
        unique_(is_set(view, TNR_SPARSE_UNIQUE)) {}

  void add(const Entry& entry) {
    if (sorted_ && has_before_) check_pair(before_, entry);
    if (unique_ && !sorted_) entries_.push_back(entry);
    before_ = entry;
    has_before_ = true;
  }
  // Equal positions meet when they are sorted.
  void end() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.row, a.col, a.position) < std::tie(b.row, b.col, b.position);
    });
    for (std::size_t i = 1; i < entries_.size(); ++i) check_pair(entries_[i - 1], entries_[i]);
  }

 private:
  void check_pair(const Entry& a, const Entry& b) const {
    const SparseNames& names = sparse_names(view_.format);
    if (std::tie(a.row, a.col) > std::tie(b.row, b.col)) {
      if (a.row != b.row) {
        fail(TNR_STATUS_INVALID_ARGUMENT,
             "%s[%" PRId64 "] is %" PRId64 " but the one before is %" PRId64
             ", and the flags say that entries are sorted",
             names.major, b.position, b.row, a.row);
      }
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s[%" PRId64 "] is %" PRId64 " but the one before, in the same %s, is %" PRId64
           ", and the flags say that entries are sorted",
           names.minor, b.position, b.col, is_csc() ? "column" : "row", a.col);
    }
    if (unique_ && a.row == b.row && a.col == b.col) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "%s[%" PRId64 "] and [%" PRId64 "] are both %" PRId64 ", in %s %" PRId64
           ", and the flags say that no position has two entries",
           names.minor, a.position, b.position, b.col, is_csc() ? "column" : "row", b.row);
    }
  }
  [[nodiscard]] bool is_csc() const { return view_.format == TNR_SPARSE_FORMAT_CSC; }

  const tnr_sparse_view& view_;
  bool sorted_;
  bool unique_;
  bool has_before_ = false;
  Entry before_{};
  std::vector<Entry> entries_;
};

std::int64_t checked_index(const tnr_view& part, const char* name, std::int64_t position,
                           std::int64_t bound, const char* bound_name) {
  const std::int64_t index = index_at(part, position);
  if (index < 0 || index >= bound) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s[%" PRId64 "] is %" PRId64 " but must be at least 0 and below %s, which is %" PRId64,
         name, position, index, bound_name, bound);
  }
  return index;
}

void check_coordinates_stepwise(const tnr_sparse_view& view) {
  Order order(view);
  for (std::int64_t k = 0; k < view.minor.shape[0]; ++k) {
    const std::int64_t row = checked_index(view.major, "row_indices", k, view.rows, "rows");
    const std::int64_t col = checked_index(view.minor, "col_indices", k, view.cols, "cols");
    order.add({row, col, k});
  }
  order.end();
}

std::int64_t checked_offset(const tnr_sparse_view& view, std::int64_t row, std::int64_t before,
                            RowExtent rows) {
  const char* const name = sparse_names(view.format).major;
  const std::int64_t count = view.minor.shape[0];
  const std::int64_t offset = index_at(view.major, row);
  if (row == 0 && rows == RowExtent::kWhole && offset != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s[0] is %" PRId64 " but must be 0", name, offset);
  }
  if (offset < 0 || offset > count) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s[%" PRId64 "] is %" PRId64 " but must be at least 0 and at most %" PRId64
         ", the number of entries",
         name, row, offset, count);
  }
  if (offset < before) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s[%" PRId64 "] is %" PRId64 " but the one before is %" PRId64
         ", and offsets must not fall",
         name, row, offset, before);
  }
  if (row == major_count(view) && rows == RowExtent::kWhole && offset != count) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "%s[%" PRId64 "] is %" PRId64 " but must be %" PRId64
         ", the number of entries, because it is the last",
         name, row, offset, count);
  }
  return offset;
}

void check_compressed_stepwise(const tnr_sparse_view& view, RowExtent rows) {
  const SparseNames& names = sparse_names(view.format);
  // All offsets before any index: an index may be reached only between offsets that are right.
  std::int64_t before = checked_offset(view, 0, 0, rows);
  for (std::int64_t row = 0; row < major_count(view); ++row) {
    before = checked_offset(view, row + 1, before, rows);
  }
  Order order(view);
  for (std::int64_t row = 0; row < major_count(view); ++row) {
    for (std::int64_t k = index_at(view.major, row); k < index_at(view.major, row + 1); ++k) {
      order.add({row,
                 checked_index(view.minor, names.minor, k, minor_count(view), names.minor_bound),
                 k});
    }
  }
  order.end();
}

void check_all_stepwise(const tnr_sparse_view& view, RowExtent rows) {
  if (view.format == TNR_SPARSE_FORMAT_COO) return check_coordinates_stepwise(view);
  check_compressed_stepwise(view, rows);
}

}  // namespace

const SparseNames& sparse_names(tnr_sparse_format format) noexcept {
  static constexpr SparseNames kNames[] = {
      {"row_indices", "col_indices", "cols"},
      {"row_offsets", "col_indices", "cols"},
      {"col_offsets", "row_indices", "rows"},
      {"row_offsets", "col_indices", "cols / block_cols"},
  };
  return kNames[format - TNR_SPARSE_FORMAT_COO];
}

EntryRange entry_range(const tnr_sparse_view& view) noexcept {
  if (is_batch(view)) [[unlikely]] {
    return {index_at(view.batch_offsets, 0), index_at(view.batch_offsets, batch_count(view))};
  }
  if (view.format == TNR_SPARSE_FORMAT_COO) return {0, view.minor.shape[0]};
  return {index_at(view.major, 0), index_at(view.major, view.major.shape[0] - 1)};
}

void check_sparse(const tnr_sparse_view& view, const char* name, const tnr_device& device) {
  check_fields_of(name, [&] { check_shape(view, device); });
}

void check_values_apart(const tnr_sparse_view& view, const char* name) {
  check_fields_of(name, [&] {
    check_apart(view.values, view.major, sparse_names(view.format).major);
    check_apart(view.values, view.minor, sparse_names(view.format).minor);
    if (is_batch(view)) check_apart(view.values, view.batch_offsets, kBatchOffsets);
  });
}

void pin_parts(Pins& pins, const tnr_sparse_view& view, const char* name) {
  check_fields_of(name, [&] {
    pins.add(view.major, sparse_names(view.format).major);
    pins.add(view.minor, sparse_names(view.format).minor);
    pins.add(view.values, "values");
    pins.add(view.batch_offsets, kBatchOffsets);
  });
}

void pin_parts_mut(Pins& pins, const tnr_sparse_view_mut& view, const char* name) {
  pin_parts(pins, view.view, name);
  check_fields_of(name, [&] { pins.add_mut({view.view.values}, "values"); });
}

void check_matrix(const tnr_sparse_view& view, const char* name) {
  check_sparse(view, name, named_device(view.minor));
  const SparseUse use(view.owner, name);
  Pins pins;
  pin_parts(pins, view, name);
  if (is_on_device(view.minor)) {
    return check_device_entries(view, pins, RowExtent::kRange, name);
  }
  check_entries(view, RowExtent::kRange, name);
}

void check_matrix_mut(const tnr_sparse_view_mut& view, const char* name) {
  check_sparse(view.view, name);
  check_values_apart(view.view, name);
  const SparseUse use(view.view.owner, name);
  Pins pins;
  pin_parts_mut(pins, view, name);
  check_entries(view.view, RowExtent::kRange, name);
}

void check_entries_stepwise(const tnr_sparse_view& view, RowExtent rows, const char* name) {
  check_fields_of(name, [&] { check_all_stepwise(view, rows); });
}

bool has_rising_entries(const tnr_sparse_view& view) noexcept {
  if (is_set(view, TNR_SPARSE_SORTED) && is_set(view, TNR_SPARSE_UNIQUE)) return true;
  tnr_sparse_view rising = view;
  rising.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  if (view.format != TNR_SPARSE_FORMAT_COO) return are_rows_sorted(rising, entry_range(view));
  return index_checks(view).are_rising(bytes_at(view.major, 0), bytes_at(view.minor, 0),
                                       view.minor.shape[0]);
}

bool has_sorted_entries(const tnr_sparse_view& view) noexcept {
  if (is_set(view, TNR_SPARSE_SORTED)) return true;
  tnr_sparse_view sorted = view;
  sorted.flags = TNR_SPARSE_SORTED;
  if (view.format != TNR_SPARSE_FORMAT_COO) return are_rows_sorted(sorted, entry_range(view));
  return index_checks(view).are_sorted(bytes_at(view.major, 0), bytes_at(view.minor, 0),
                                       view.minor.shape[0]);
}

void check_entries(const tnr_sparse_view& view, RowExtent rows, const char* name) {
  if (is_batch(view)) return check_batch_entries(view, rows, name);
  const bool needs_sorting = is_set(view, TNR_SPARSE_UNIQUE) && !is_set(view, TNR_SPARSE_SORTED);
  const bool is_valid = view.format == TNR_SPARSE_FORMAT_COO ? are_coordinates_valid(view)
                                                             : are_compressed_valid(view, rows);
  if (is_valid && !needs_sorting) [[likely]]
    return;
  check_entries_stepwise(view, rows, name);
  if (!is_valid) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s was written by somebody while it was checked",
         *name != '\0' ? name : "the matrix");
  }
}

}  // namespace tenure
