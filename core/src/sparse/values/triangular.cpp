// The entries of a triangle of a compressed matrix.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "base/bisect.hpp"
#include "sparse/builder.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/entries.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/operand.hpp"
#include "sparse/row_slices.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;

// Entries of a sorted row that are looked at one by one, rather than searched in.
constexpr std::int64_t kShortLine = 64;

// In each row, the columns on one side of a diagonal. Rows are those of the compressed axis.
struct Side {
  bool keeps_left;
  std::int64_t diagonal;
  std::int64_t cols;

  // A matrix in CSC is transposed: the other triangle, on the other side of the main diagonal.
  static Side of(tnr_triangle part, std::int64_t diagonal, const tnr_sparse_view& a) noexcept {
    const bool is_lower = part == TNR_TRIANGLE_LOWER;
    if (a.format != TNR_SPARSE_FORMAT_CSC) return {is_lower, diagonal, a.cols};
    // No extent reaches as far as either number.
    return {!is_lower, diagonal == INT64_MIN ? INT64_MAX : -diagonal, a.rows};
  }

  // The columns that are kept are below this number, or from it on. No difference overflows.
  [[nodiscard]] std::int64_t split(std::int64_t row) const noexcept {
    const std::int64_t more = keeps_left ? 1 : 0;
    if (diagonal >= cols - row - more) return cols;
    if (diagonal <= -row - more) return 0;
    return row + diagonal + more;
  }
};

// Rows and columns as the matrix is compressed; I is the type of indices.
template <class I>
class TriangleCopy {
 public:
  TriangleCopy(const Context& context, const tnr_sparse_view& a, const Side& side) noexcept
      : context_(context),
        a_(a),
        side_(side),
        offsets_(static_cast<const I*>(a.major.data)),
        columns_(static_cast<const I*>(a.minor.data)),
        values_(static_cast<const Byte*>(a.values.data)),
        width_(static_cast<std::int64_t>(element_size(a.values.dtype))),
        is_sorted_((a.flags & TNR_SPARSE_SORTED) != 0) {}

  SparseToken run() const {
    SparseBuilder builder(context_, {.format = a_.format,
                                     .rows = a_.rows,
                                     .cols = a_.cols,
                                     .index_dtype = a_.minor.dtype,
                                     .value_dtype = a_.values.dtype});
    const std::int64_t rows = major_count(a_);
    I* const out = reinterpret_cast<I*>(builder.major());
    std::memset(out, 0, static_cast<std::size_t>(rows + 1) * sizeof(I));
    // The offsets of `a` count all of its entries, so these fit as well.
    for_each_row([&](std::int64_t row) { out[row + 1] = static_cast<I>(count(row)); });
    for (std::int64_t row = 0; row < rows; ++row) out[row + 1] += out[row];
    builder.allocate_entries(out[rows]);
    I* const out_columns = reinterpret_cast<I*>(builder.minor());
    for_each_row([&](std::int64_t row) {
      write(row, out[row + 1] - out[row], out_columns + out[row],
            builder.values() + out[row] * width_);
    });
    return builder.finish(EntryOrder::of(a_));
  }

 private:
  template <class Body>
  void for_each_row(const Body& body) const noexcept {
    const std::int64_t rows = major_count(a_);
    const EntryRange all = entry_range(a_);
    const std::int64_t bytes =
        (rows + all.last - all.first) * (width_ + static_cast<std::int64_t>(sizeof(I)));
    const RowSlices slices(
        a_, std::min(slice_count_of(context_, 2 * bytes), std::max<std::int64_t>(1, rows)));
    for_each_slice(context_, slices.count(), [&](std::int64_t slice) noexcept {
      for_each_filled_row(offsets_, slices.begin(slice), slices.begin(slice + 1), body);
    });
  }

  [[nodiscard]] std::int64_t count(std::int64_t row) const noexcept {
    const I* const columns = columns_ + offsets_[row];
    const std::int64_t entries = offsets_[row + 1] - offsets_[row];
    const std::int64_t split = side_.split(row);
    std::int64_t left = 0;
    if (is_sorted_ && entries > kShortLine) {
      left = first_where(0, entries, [=](std::int64_t k) { return columns[k] >= split; });
    } else {
      for (std::int64_t k = 0; k < entries; ++k) left += columns[k] < split ? 1 : 0;
    }
    return side_.keeps_left ? left : entries - left;
  }

  // The `count` entries that were counted. Where the flags are wrong these are others of the row.
  void write(std::int64_t row, std::int64_t count, I* columns, Byte* values) const noexcept {
    const std::int64_t first = offsets_[row];
    const std::int64_t entries = offsets_[row + 1] - first;
    if (is_sorted_ || count == entries) {
      const std::int64_t begin = side_.keeps_left ? first : first + entries - count;
      std::copy_n(columns_ + begin, count, columns);
      if (count != 0) {
        std::memcpy(values, values_ + begin * width_, static_cast<std::size_t>(count * width_));
      }
      return;
    }
    switch (width_) {
      case 4: return filter<4>(row, count, columns, values);
      case 8: return filter<8>(row, count, columns, values);
      default: return filter<0>(row, count, columns, values);
    }
  }

  // Nobody can predict which entries are kept: each is written, and the next one over it if it is
  // not; never behind the last. kWidth bytes of a value; 0: any.
  template <int kWidth>
  void filter(std::int64_t row, std::int64_t count, I* columns, Byte* values) const noexcept {
    const std::int64_t width = kWidth != 0 ? kWidth : width_;
    const std::int64_t split = side_.split(row);
    std::int64_t at = 0;
    for (std::int64_t k = offsets_[row]; at < count; ++k) {
      const I col = columns_[k];
      columns[at] = col;
      std::memcpy(values + at * width, values_ + k * width, static_cast<std::size_t>(width));
      at += (col < split) == side_.keeps_left ? 1 : 0;
    }
  }

  const Context& context_;
  const tnr_sparse_view& a_;
  Side side_;
  const I* offsets_;
  const I* columns_;
  const Byte* values_;
  std::int64_t width_;
  bool is_sorted_;
};

}  // namespace

SparseToken sparse_triangular(const Context& context, tnr_triangle part, const tnr_sparse_view& a,
                              std::int64_t diagonal) {
  SparseOperand operand(a, "a");
  require_compressed(a, "a");
  if (part != TNR_TRIANGLE_LOWER && part != TNR_TRIANGLE_UPPER) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "part is %" PRId32 ", which names no triangle", part);
  }
  operand.check_all();
  const Side side = Side::of(part, diagonal, a);
  const SparseToken made = a.minor.dtype == TNR_DTYPE_I32
                               ? TriangleCopy<std::int32_t>(context, a, side).run()
                               : TriangleCopy<std::int64_t>(context, a, side).run();
  return count_made(TNR_OPERATION_SPARSE_TRIANGULAR, matrix_bytes(a), made);
}

}  // namespace tenure
