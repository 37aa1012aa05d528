// From sparse to dense. A few rows at a time are made in a cache, among zeros, and sent to memory
// whole: what an output of many rows takes is one write of it.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/bisect.hpp"
#include "cpu/dispatch.hpp"
#include "dense/bool8.hpp"
#include "dense/loops/streamed.hpp"
#include "dense/scalar.hpp"
#include "memory/fresh_pages.hpp"
#include "memory/tickets.hpp"
#include "memory/traffic.hpp"
#include "sparse/batch.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/device_parts.hpp"
#include "sparse/entries.hpp"
#include "sparse/index_array.hpp"
#include "sparse/operand.hpp"
#include "sparse/traffic.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::Field;

// Rows that are made at once: what a first cache holds, and at least one.
constexpr std::int64_t kGroupBytes = std::int64_t{16} << 10;
// Rows that are longer are made where they are to be: they would leave the second cache.
constexpr std::int64_t kMaxBufferBytes = std::int64_t{512} << 10;

// Whole rows to where they belong, past the caches, and zeros to where they were.
void send_and_clear(Byte* out, Byte* in, std::int64_t bytes) noexcept {
  const std::int64_t head = std::min<std::int64_t>(
      bytes, -reinterpret_cast<std::uintptr_t>(out) % static_cast<std::uintptr_t>(kLineBytes));
  const std::int64_t tail = head + (bytes - head) / kLineBytes * kLineBytes;
  std::memcpy(out, in, static_cast<std::size_t>(head));
  std::memset(in, 0, static_cast<std::size_t>(head));
  kernels::streaming_kernels().copy_and_clear(out + head, in + head,
                                              static_cast<std::uint64_t>(tail - head));
  std::memcpy(out + tail, in + tail, static_cast<std::size_t>(bytes - tail));
  std::memset(in + tail, 0, static_cast<std::size_t>(bytes - tail));
}

// Rows [first, end).
struct RowRange {
  std::int64_t first;
  std::int64_t end;

  [[nodiscard]] bool has(std::int64_t row) const noexcept { return row >= first && row < end; }
};

bool is_unique(const tnr_sparse_view& a) noexcept { return (a.flags & TNR_SPARSE_UNIQUE) != 0; }

// How entries for one element are added up; none for complex numbers. Throws UNSUPPORTED where
// there may be several and they have no sum.
Operation addition_of(const tnr_sparse_view& a, const char* name) {
  const unsigned type = type_index(a.values.dtype);
  const Operation none{kernels::StripKernel{nullptr}};
  const Operation add =
      type == kNoType ? none : Operation(kernels::binary_kernels()[TNR_BINARY_OP_ADD - 1][type]);
  if (is_unique(a) || add.kernel() != nullptr) return add;
  fail(TNR_STATUS_UNSUPPORTED,
       "%s is not said to be UNIQUE, but several %s cannot be added up to one element",
       *name != '\0' ? name : "it", dtype_name(a.values.dtype));
}

// Entries to the elements that they are; of those for one element the sum.
class Scatter {
 public:
  explicit Scatter(const SparseOperand& a)
      : a_(a),
        scattering_(kernels::scattering_kernels()[static_cast<unsigned>(index_type(dtype_of(a)))]),
        width_index_(width_index(a.view().values.dtype)),
        blocks_{a.view().block_rows, a.view().block_cols,
                static_cast<std::int64_t>(element_size(a.view().values.dtype))},
        is_unique_(is_unique(a.view())),
        add_(addition_of(a.view(), a.name())) {}

  // Rows [first, end) of what compressed() gives, which have been checked.
  void rows(std::int64_t first, std::int64_t end, const Field& to) const noexcept {
    const kernels::Compressed matrix = a_.compressed();
    if (is_unique_) return write_rows(matrix, first, end, to);
    const kernels::IndexChecks& checks = index_checks(a_.view());
    for (std::int64_t row = first; row < end; ++row) {
      const std::int64_t begin = index_at(a_.view().major, row);
      const std::int64_t count = index_at(a_.view().major, row + 1) - begin;
      const Field field = {to.first + (row - first) * blocks_.rows * to.row_step, to.row_step,
                           to.column_step};
      if (checks.count_stays(bytes_at(a_.view().minor, begin), count) == 0) {
        write_rows(matrix, row, row + 1, field);
        continue;
      }
      add_entries(begin, begin + count, [&](std::int64_t k) {
        return element(field, index_at(a_.view().minor, k) * blocks_.columns);
      });
    }
  }

  // Entries [first, end) of COO, which have been checked, as far as they are of `rows`: where
  // entries are wrongly said to be SORTED, others may be among them, for which there is no room.
  // The field begins at the matrix's first element.
  void points(std::int64_t first, std::int64_t end, RowRange rows, const Field& to) const noexcept {
    if (first >= end) return;
    const kernels::Coordinates matrix = a_.coordinates();
    if (are_in_order(first, end) && has_ends_of(first, end, rows)) {
      return scattering_.points[width_index_](matrix, first, end, to);
    }
    if (!is_unique_) {
      return add_entries(first, end, [&](std::int64_t k) -> Field {
        const std::int64_t row = index_at(a_.view().major, k);
        if (!rows.has(row)) return {};
        const Field field = {to.first + row * to.row_step, to.row_step, to.column_step};
        return element(field, index_at(a_.view().minor, k));
      });
    }
    for (std::int64_t k = first; k < end; ++k) {
      if (!rows.has(index_at(a_.view().major, k))) continue;
      scattering_.points[width_index_](matrix, k, k + 1, to);
    }
  }
  // All entries of COO, to a field that begins at the matrix's first element.
  void all_points(const Field& to) const noexcept {
    const std::int64_t count = a_.view().minor.shape[0];
    if (!is_unique_) return points(0, count, {0, a_.view().rows}, to);
    scattering_.points[width_index_](a_.coordinates(), 0, count, to);
  }

 private:
  static tnr_dtype dtype_of(const SparseOperand& a) noexcept { return a.view().minor.dtype; }

  // Whether the rows of some entries of COO never fall; and where positions may repeat, whether
  // none does.
  [[nodiscard]] bool are_in_order(std::int64_t first, std::int64_t end) const noexcept {
    const kernels::IndexChecks& checks = index_checks(a_.view());
    const Byte* const rows = bytes_at(a_.view().major, first);
    if (is_unique_) return checks.count_falls(rows, end - first) == 0;
    return checks.are_rising(rows, bytes_at(a_.view().minor, first), end - first);
  }
  // Whether all of these entries, with rows that never fall, are of `rows`.
  [[nodiscard]] bool has_ends_of(std::int64_t first, std::int64_t end,
                                 RowRange rows) const noexcept {
    return rows.has(index_at(a_.view().major, first)) &&
           rows.has(index_at(a_.view().major, end - 1));
  }

  void write_rows(const kernels::Compressed& matrix, std::int64_t first, std::int64_t end,
                  const Field& to) const noexcept {
    if (a_.view().format == TNR_SPARSE_FORMAT_BSR) {
      return scattering_.blocks(matrix, blocks_, first, end, to);
    }
    scattering_.rows[width_index_](matrix, first, end, to);
  }

  // The field that begins with a column of another.
  static Field element(const Field& row, std::int64_t column) noexcept {
    return {row.first + column * row.column_step, row.row_step, row.column_step};
  }

  // Adds up entries, blocks perhaps, among zeros: entry k to the field `field_of(k)`, or nowhere.
  // A sum begins with its first entry: the existing zero would take the sign from a -0.0.
  template <class FieldOf>
  void add_entries(std::int64_t first, std::int64_t end, const FieldOf& field_of) const noexcept {
    if (has_negative_zeros(first, end)) {
      for (std::int64_t k = first; k < end; ++k) {
        if (const Field to = field_of(k); to.first != nullptr) put_negative_zeros(to);
      }
    }
    for (std::int64_t k = first; k < end; ++k) {
      if (const Field to = field_of(k); to.first != nullptr) add(k, to);
    }
  }

  [[nodiscard]] const Byte* values_of(std::int64_t k) const noexcept {
    return static_cast<const Byte*>(a_.view().values.data) + k * a_.value_bytes();
  }

  // f32 and f64 only: halves are not added up here.
  [[nodiscard]] bool has_negative_zeros(std::int64_t first, std::int64_t end) const noexcept {
    const tnr_dtype dtype = a_.view().values.dtype;
    const Byte* const begin = values_of(first);
    const auto bytes = static_cast<std::size_t>((end - first) * a_.value_bytes());
    if (dtype == TNR_DTYPE_F32) return has_word(begin, bytes, std::uint32_t{1} << 31);
    if (dtype == TNR_DTYPE_F64) return has_word(begin, bytes, std::uint64_t{1} << 63);
    return false;
  }
  template <class Word>
  static bool has_word(const Byte* words, std::size_t bytes, Word wanted) noexcept {
    bool is_found = false;
    for (std::size_t at = 0; at < bytes; at += sizeof wanted) {
      Word word;
      std::memcpy(&word, words + at, sizeof word);
      is_found |= word == wanted;
    }
    return is_found;
  }

  void put_negative_zeros(const Field& to) const noexcept {
    for (std::int64_t line = 0; line < blocks_.rows; ++line) {
      for (std::int64_t column = 0; column < blocks_.columns; ++column) {
        Byte* const out = to.first + line * to.row_step + column * to.column_step;
        if (blocks_.width_bytes == 4) {
          constexpr float kZero = -0.0f;
          std::memcpy(out, &kZero, sizeof kZero);
        } else {
          constexpr double kZero = -0.0;
          std::memcpy(out, &kZero, sizeof kZero);
        }
      }
    }
  }

  // Adds entry k to the elements at `to`.
  void add(std::int64_t k, const Field& to) const noexcept {
    const Byte* in = values_of(k);
    Byte* out = to.first;
    for (std::int64_t line = 0; line < blocks_.rows; ++line) {
      const kernels::StripInput sources[] = {{out, to.column_step, blocks_.width_bytes},
                                             {in, blocks_.width_bytes, blocks_.width_bytes}};
      run_strip(add_, {.count = blocks_.columns,
                       .out = out,
                       .out_step = to.column_step,
                       .width_bytes = blocks_.width_bytes,
                       .source_count = 2,
                       .in = sources,
                       .parameters = nullptr});
      in += blocks_.columns * blocks_.width_bytes;
      out += to.row_step;
    }
  }

  const SparseOperand& a_;
  const kernels::Scattering& scattering_;
  unsigned width_index_;
  kernels::Blocks blocks_;
  bool is_unique_;
  Operation add_;
};

// The output, with its axes as the operand's major and minor indices see them.
struct DenseOutput {
  std::int64_t rows;  // of BSR of blocks
  std::int64_t lines_a_row;
  std::int64_t columns;  // of elements
  std::int64_t width;
  Field field;

  DenseOutput(const tnr_sparse_view& a, const tnr_view_mut& out) noexcept {
    const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
    width = static_cast<std::int64_t>(element_size(out.view.dtype));
    rows = major_count(a);
    lines_a_row = a.block_rows;
    columns = out.view.shape[is_csc ? 0 : 1];
    field = {writable(out), step_of(out.view, is_csc ? 1 : 0), step_of(out.view, is_csc ? 0 : 1)};
  }

  [[nodiscard]] std::int64_t line_bytes() const noexcept { return columns * width; }
  [[nodiscard]] std::int64_t row_bytes() const noexcept { return lines_a_row * line_bytes(); }
  // Whether the lines have no gaps between them.
  [[nodiscard]] bool is_dense() const noexcept {
    return rows * lines_a_row == 1 || field.row_step == line_bytes();
  }
  [[nodiscard]] Field from_row(std::int64_t row) const noexcept {
    return {field.first + row * lines_a_row * field.row_step, field.row_step, field.column_step};
  }
};

// Calls body(offset from the first line of `row`, bytes) for the runs of memory that are the lines
// of rows [row, end).
template <class Body>
void for_each_run_of_lines(const DenseOutput& out, std::int64_t row, std::int64_t end,
                           const Body& body) noexcept {
  if (out.is_dense()) return body(0, (end - row) * out.row_bytes());
  for (std::int64_t line = 0; line < (end - row) * out.lines_a_row; ++line) {
    body(line * out.field.row_step, out.line_bytes());
  }
}

// End of the entries of rows below `row`, in sorted COO.
std::int64_t entries_below(const tnr_sparse_view& a, std::int64_t row) noexcept {
  const IndexReader rows(a.major);
  return first_where(0, a.minor.shape[0], [&](std::int64_t k) { return rows[k] >= row; });
}

// Writes the entries of rows [row, end) to a field that begins with the first of them.
void scatter_range(const SparseOperand& a, const Scatter& scatter, const DenseOutput& out,
                   std::int64_t row, std::int64_t end, const Field& to) noexcept {
  if (a.view().format == TNR_SPARSE_FORMAT_COO) {
    const Field whole = {to.first - row * to.row_step, to.row_step, to.column_step};
    return scatter.points(entries_below(a.view(), row), entries_below(a.view(), end), {row, end},
                          whole);
  }
  a.for_each_run(row, end, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t lines = (first - row) * out.lines_a_row;
    scatter.rows(first, last, {to.first + lines * to.row_step, to.row_step, to.column_step});
  });
}

// Writes rows with adjacent elements: zeros and entries, group by group.
void write_rows(const Context& context, const SparseOperand& a, const Scatter& scatter,
                const DenseOutput& out, Stores stores) {
  const std::int64_t group = std::max<std::int64_t>(1, kGroupBytes / out.row_bytes());
  const std::int64_t group_bytes = group * out.row_bytes();
  const std::int64_t groups = (out.rows + group - 1) / group;
  const bool is_streamed = stores == Stores::kStreamed && group_bytes <= kMaxBufferBytes;
  if (out.is_dense()) touch_fresh_pages(context, out.field.first, out.rows * out.row_bytes());
  Tickets tickets(groups);
  on_each_thread(
      context, slice_count_of(context, out.rows * out.row_bytes()) == 1 ? 1 : groups,
      is_streamed ? group_bytes + kLineBytes : 0, [&](Byte* buffer) noexcept {
        if (is_streamed) {
          std::memset(buffer, 0, static_cast<std::size_t>(group_bytes + kLineBytes));
        }
        for (std::int64_t ticket; (ticket = tickets.take()) >= 0;) {
          const std::int64_t row = ticket * group;
          const std::int64_t end = std::min(row + group, out.rows);
          const Field to = out.from_row(row);
          if (!is_streamed) {
            for_each_run_of_lines(out, row, end, [&](std::int64_t at, std::int64_t bytes) {
              std::memset(to.first + at, 0, static_cast<std::size_t>(bytes));
            });
            scatter_range(a, scatter, out, row, end, to);
            continue;
          }
          // The distance to a line is that of the first element, so that whole lines are loaded
          // whole.
          Byte* const lines = buffer + reinterpret_cast<std::uintptr_t>(to.first) % kLineBytes;
          scatter_range(a, scatter, out, row, end, {lines, out.line_bytes(), out.width});
          Byte* from = lines;
          for_each_run_of_lines(out, row, end, [&](std::int64_t at, std::int64_t bytes) {
            send_and_clear(to.first + at, from, bytes);
            from += bytes;
          });
        }
        if (is_streamed) order_streamed_stores();
      });
}

// Writes elements of any strides: all zeros, and then the entries.
void write_elements(const Context& context, const SparseOperand& a, const Scatter& scatter,
                    const DenseOutput& out, const tnr_view_mut& view) {
  tnr_scalar zero{};
  zero.dtype = view.view.dtype;
  fill(context, zero, view);
  if (a.view().format == TNR_SPARSE_FORMAT_COO) {
    // In their order: several may be for one element.
    return scatter.all_points(out.field);
  }
  const std::int64_t slices =
      std::min(out.rows, slice_count_of(context, out.rows * out.row_bytes()));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    const std::int64_t row = slice_begin(out.rows, slices, slice);
    const std::int64_t end = slice_begin(out.rows, slices, slice + 1);
    scatter_range(a, scatter, out, row, end, out.from_row(row));
  });
}

void check_output(const tnr_sparse_view& a, const tnr_view_mut& out,
                  const tnr_device& device = kCpu) {
  check_view_mut(out, "out", device);
  require_dense_shape(out.view, a);
  require_dtype(out.view, "out", a.values.dtype, "a.values.dtype is");
  const bool is_complex = code_of(out.view.dtype) == DtypeCode::kComplex;
  if (type_index(out.view.dtype) == kNoType && !is_complex) {
    refuse_dtype("to dense", out.view.dtype);
  }
}

void pin_output(Pins& pins, const tnr_sparse_view& a, const tnr_view_mut& out) {
  pins.add_mut(out, "out");
  require_alias(out.view, a.major, "a.major", SameView::kRefused);
  require_alias(out.view, a.minor, "a.minor", SameView::kRefused);
  require_alias(out.view, a.values, "a.values", SameView::kRefused);
  if (is_batch(a)) {
    require_alias(out.view, a.batch_offsets, "a.batch_offsets", SameView::kRefused);
  }
}

// Whether no position has two entries because those of each row rise, which takes one look at them.
// They have been checked.
bool has_rising_rows(const SparseOperand& a) noexcept {
  const tnr_sparse_view& view = a.view();
  const kernels::IndexChecks& checks = index_checks(view);
  if (view.format == TNR_SPARSE_FORMAT_COO) {
    return checks.are_rising(bytes_at(view.major, 0), bytes_at(view.minor, 0), view.minor.shape[0]);
  }
  const IndexReader offsets(view.major);
  for (std::int64_t row = 0; row < major_count(view); ++row) {
    const std::int64_t begin = offsets[row];
    if (checks.count_stays(bytes_at(view.minor, begin), offsets[row + 1] - begin) != 0)
      return false;
  }
  return true;
}

// Halves that are added up in an element would be rounded at each addition. The sum of several is
// rounded once, as coalescing and products have it.
bool must_be_summed_first(SparseOperand& a) {
  const tnr_dtype dtype = a.view().values.dtype;
  if (dtype != TNR_DTYPE_F16 && dtype != TNR_DTYPE_BF16) return false;
  if (is_unique(a.view())) return false;
  a.check_all();
  return !has_rising_rows(a);
}

// Ignores the flags of the order, which decides which memory is written: the order of a matrix that
// is our own is not checked.
OwnMatrix summed(const Context& context, tnr_sparse_view a) {
  a.flags = 0;
  const bool has_blocks = a.format == TNR_SPARSE_FORMAT_BSR;
  // Offsets on the way count all entries, and columns of elements, which narrow ones may not.
  if (!has_blocks && a.minor.shape[0] <= std::numeric_limits<std::int32_t>::max()) {
    return OwnMatrix(summed_entries(context, a));
  }
  const OwnMatrix wide(
      convert_entries(context, a,
                      {.format = has_blocks ? tnr_sparse_format{TNR_SPARSE_FORMAT_CSR} : a.format,
                       .index_dtype = TNR_DTYPE_I64}));
  return OwnMatrix(summed_entries(context, wide.view()));
}

// One matrix to an output that has been checked.
void write_matrix(const Context& context, SparseOperand& a, const tnr_view_mut& out,
                  Stores stores) {
  const tnr_sparse_view& view = a.view();
  const Scatter scatter(a);
  const bool is_coo = view.format == TNR_SPARSE_FORMAT_COO;
  const bool is_sorted = (view.flags & TNR_SPARSE_SORTED) != 0;
  // The order of coordinates decides which memory is written.
  if (is_coo && is_sorted && !a.is_checked()) check_entries(view, RowExtent::kRange, a.name());
  if (is_coo || is_empty(out.view)) a.check_all();
  if (is_empty(out.view)) return;
  if (must_be_summed_first(a)) {
    const OwnMatrix sums = summed(context, view);
    SparseOperand unique(sums.view(), a.name());
    return write_matrix(context, unique, out, stores);
  }

  const DenseOutput dense(view, out);
  if (dense.field.column_step == dense.width && (!is_coo || is_sorted)) {
    write_rows(context, a, scatter, dense, stores);
  } else {
    write_elements(context, a, scatter, dense, out);
  }
  a.require_valid();
}

void write_batch(const Context& context, const BatchOperand& a, const tnr_view_mut& out) {
  const auto width = static_cast<std::int64_t>(element_size(out.view.dtype));
  if (a.count() == 0) return;  // no element bounds the extents
  const std::int64_t out_bytes = a.view().rows * a.view().cols * width;
  const Stores stores = stores_for(static_cast<std::int64_t>(element_bytes(out.view)));
  for_each_matrix(
      context, a, [=](std::int64_t) { return out_bytes; },
      [&](const Context& own, std::int64_t i) {
        const tnr_sparse_view matrix = a.matrix(i);
        SparseOperand operand(matrix, a);
        write_matrix(own, operand, {index(out.view, 0, i)}, stores);
      });
}

// Entries were moved as bytes; their destinations are normalised where one is no bool that the
// library writes.
void write_as_bools(const Context& context, const tnr_sparse_view& a, const tnr_view_mut& out) {
  const auto count = static_cast<std::int64_t>(element_bytes(a.values));
  if (a.values.dtype != TNR_DTYPE_BOOL8 ||
      are_written_bools(static_cast<const Byte*>(a.values.data), count)) {
    return;
  }
  copy(context, out.view, out);
}

void write_on(const DeviceQueue& queue, const tnr_sparse_view& a, const tnr_view_mut& out) {
  const tnr_device device = queue.device();
  const PinnedSparse pinned(a, "a", PinnedSparse::Access::kRead, PinnedSparse::Batches::kRefused,
                            device);
  require_none(
      device_refusal(device, TNR_NODE_SPARSE_TO_DENSE,
                     {.format = a.format, .dtype = a.values.dtype, .is_unique = is_unique(a)}));
  check_output(a, out, device);
  static_cast<void>(addition_of(a, "a"));  // may refuse the dtype
  Pins pins;
  pin_output(pins, a, out);
  bool is_right = true;
  queue.enqueue(DeviceScatter{.a = a,
                              .out = out,
                              .is_unique = is_unique(a),
                              .is_trusted = pinned.is_trusted(),
                              .a_pins = pinned.pins(),
                              .pins = pins,
                              .is_right = is_right});
  if (!is_right) refuse_entries_on(queue, a, "a");
  count_call(TNR_OPERATION_SPARSE_TO_DENSE, is_empty(out.view) ? 0 : device_matrix_bytes(a),
             element_bytes(out.view));
}

}  // namespace

void sparse_to_dense(const Context& context, const tnr_sparse_view& view, const tnr_view_mut& out) {
  if (is_on_device(out.view)) [[unlikely]]
    return write_on(queue_of(context, out.view, "out"), view, out);
  Pins pins;
  if (is_batch(view)) {
    const BatchOperand a(view, "a");
    check_output(view, out);
    pin_output(pins, view, out);
    write_batch(context, a, out);
    write_as_bools(context, view, out);
  } else {
    SparseOperand a(view, "a");
    check_output(view, out);
    pin_output(pins, view, out);
    write_matrix(context, a, out, stores_for(static_cast<std::int64_t>(element_bytes(out.view))));
    write_as_bools(context, view, out);
  }
  const bool has_elements = !is_empty(out.view);
  count_call(TNR_OPERATION_SPARSE_TO_DENSE, has_elements ? matrix_bytes(view) : 0,
             element_bytes(out.view));
}

}  // namespace tenure
