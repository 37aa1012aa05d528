// Products of dense rows and columns at the entries of a sparse matrix.
#include <cinttypes>
#include <utility>

#include "cpu/dispatch.hpp"
#include "cpu/sddmm.hpp"
#include "cpu/spmm.hpp"
#include "dense/scalar.hpp"
#include "sparse/device_parts.hpp"
#include "sparse/operand.hpp"
#include "sparse/product/dense_columns.hpp"
#include "sparse/row_slices.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Requires the shape of the matrix's values, and row-major elements as they are.
void check_output(const tnr_view& out, const tnr_view& values) {
  require_rank(out, "out", values.rank);
  for (std::uint32_t axis = 0; axis < values.rank; ++axis) {
    require_extent(out, "out", axis, values.shape[axis], "as of the values of a");
  }
  if (!is_empty(out) && dense_count(out) == 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.strides is %s but out must be row-major, as values are",
         shape_text(out.rank, out.strides).text);
  }
}

// The address of entry 0 of the output, if it had room for it: kernels count entries as offsets do,
// and an output has only the entries of a range. Computed as a number, since no pointer may point
// there.
kernels::Byte* out_of_entry_0(kernels::Byte* out, std::int64_t bytes_in_front) noexcept {
  return reinterpret_cast<kernels::Byte*>(reinterpret_cast<std::uintptr_t>(out) -
                                          static_cast<std::uintptr_t>(bytes_in_front));
}

void run(const Context& context, const SparseOperand& a, const kernels::Samplers& samplers,
         kernels::Sampled sampled) noexcept {
  const tnr_sparse_view& view = a.view();
  const bool is_coo = view.format == TNR_SPARSE_FORMAT_COO;
  // The rows of CSC are columns, and their entries rows.
  if (view.format == TNR_SPARSE_FORMAT_CSC) {
    std::swap(sampled.x, sampled.y);
    std::swap(sampled.x_step, sampled.y_step);
    std::swap(sampled.x_element_step, sampled.y_element_step);
  }
  const auto index = static_cast<unsigned>(index_type(view.minor.dtype));
  const std::int64_t entries = a.entry_count();
  // Saturates: rows that repeat one element may have more bytes than a number holds.
  std::int64_t bytes;
  if (__builtin_add_overflow(sampled.length, 1, &bytes) ||
      __builtin_mul_overflow(bytes, a.value_bytes(), &bytes) ||
      __builtin_add_overflow(bytes, index_bytes(view), &bytes) ||
      __builtin_mul_overflow(bytes, entries, &bytes)) {
    bytes = INT64_MAX;
  }
  const std::int64_t slice_count = slice_count_of(context, bytes);
  if (is_coo) {
    const kernels::Coordinates coordinates = a.coordinates();
    for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
      a.for_each_run(slice_begin(entries, slice_count, slice),
                     slice_begin(entries, slice_count, slice + 1),
                     [&](std::int64_t begin, std::int64_t end) {
                       samplers.entries[index](sampled, coordinates, begin, end);
                     });
    });
    return;
  }
  const RowSlices slices(view, slice_count);
  const kernels::Compressed rows = a.compressed();
  for_each_slice(context, slice_count, [&](std::int64_t slice) noexcept {
    a.for_each_run(slices.begin(slice), slices.begin(slice + 1),
                   [&](std::int64_t begin, std::int64_t end) {
                     samplers.rows[index](sampled, rows, begin, end);
                   });
  });
}

void check_dense(const tnr_view& x, const tnr_view& y, const tnr_view_mut& out,
                 const tnr_device& device) {
  check_view_mut(out, "out", device);
  check_view(x, "x", device);
  check_view(y, "y", device);
}

struct Sampling {
  unsigned type;
  Element scale;
};

// Checks operands whose views have passed their own checks, and the values of the rows' entries;
// pins x, y and out.
Sampling check_operands(const tnr_scalar& alpha, const tnr_sparse_view& a, const tnr_view& values,
                        const tnr_view& x, const tnr_view& y, const tnr_view_mut& out, Pins& pins) {
  require_rank(x, "x", 2);
  require_rank(y, "y", 2);
  require_extent(x, "x", 0, a.rows, "the rows of a");
  require_extent(y, "y", 0, x.shape[1], "the columns of x");
  require_extent(y, "y", 1, a.cols, "the columns of a");
  check_output(out.view, values);
  const tnr_dtype dtype = a.values.dtype;
  const unsigned type = type_index(dtype);
  if (type == kNoType || kernels::sampler_kernels()[type].rows[0] == nullptr) {
    refuse_dtype("sddmm", dtype);
  }
  require_dtype(x, "x", dtype, "a.values.dtype is");
  require_dtype(y, "y", dtype, "a.values.dtype is");
  require_dtype(out.view, "out", dtype, "a.values.dtype is");
  const Element scale = to_element(alpha, computed_dtype(dtype), "alpha");
  pins.add_mut(out, "out");
  pins.add(x, "x");
  pins.add(y, "y");
  const SparseNames& names = sparse_names(a.format);
  require_alias(out.view, x, "x", SameView::kRefused);
  require_alias(out.view, y, "y", SameView::kRefused);
  require_alias(out.view, values, "a.values", SameView::kAllowed);
  require_alias(out.view, a.major, names.major, SameView::kRefused);
  require_alias(out.view, a.minor, names.minor, SameView::kRefused);
  return {type, scale};
}

// Computes sparse_sddmm() on a device. Waits for the first and the last offset of the rows.
void sample_on(const DeviceQueue& queue, const tnr_scalar& alpha, const tnr_sparse_view& a,
               std::uint32_t flags, const tnr_view& x, const tnr_view& y, const tnr_view_mut& out) {
  const tnr_device device = queue.device();
  check_dense(x, y, out, device);
  const PinnedSparse pinned(a, "a", PinnedSparse::Access::kRead, PinnedSparse::Batches::kRefused,
                            device);
  require_none(
      device_refusal(device, TNR_NODE_SPARSE_SDDMM, {.format = a.format, .dtype = a.values.dtype}));
  const EntryRange range = entry_range_on(queue, a, pinned.pins(), "a");
  const tnr_view values = slice(a.values, 0, range.first, range.last, 1);
  Pins pins;
  const Sampling sampling = check_operands(alpha, a, values, x, y, out, pins);
  bool is_right = true;
  queue.enqueue(DeviceSample{.a = a,
                             .x = x,
                             .y = y,
                             .out = out,
                             .first = range.first,
                             .alpha = sampling.scale.bytes,
                             .is_times_values = (flags & TNR_SDDMM_TIMES_VALUES) != 0,
                             .is_trusted = pinned.is_trusted(),
                             .a_pins = pinned.pins(),
                             .pins = pins,
                             .is_right = is_right});
  if (!is_right) refuse_entries_on(queue, a, "a");
  if (is_empty(out.view)) return count_call(TNR_OPERATION_SPARSE_SDDMM, 0, 0);
  count_call(TNR_OPERATION_SPARSE_SDDMM,
             device_matrix_bytes(a) + element_bytes(x) + element_bytes(y), element_bytes(out.view));
}

}  // namespace

void sparse_sddmm(const Context& context, const tnr_scalar& alpha, const tnr_sparse_view& a,
                  std::uint32_t flags, const tnr_view& x, const tnr_view& y,
                  const tnr_view_mut& out) {
  if ((flags & ~std::uint32_t{TNR_SDDMM_TIMES_VALUES}) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->flags is 0x%" PRIx32 " but only 0x%x is known",
         flags, TNR_SDDMM_TIMES_VALUES);
  }
  if (is_on_device(out.view)) [[unlikely]]
    return sample_on(queue_of(context, out.view, "out"), alpha, a, flags, x, y, out);
  Pins pins;
  check_dense(x, y, out, kCpu);
  SparseOperand matrix(a, "a");
  // A range of a larger matrix has only its own values, and one result for each.
  const EntryRange range = matrix.entries();
  const tnr_view values = slice(a.values, 0, range.first, range.last, 1);
  const Sampling sampling = check_operands(alpha, a, values, x, y, out, pins);
  if (is_empty(out.view)) {
    matrix.check_all();
    return count_call(TNR_OPERATION_SPARSE_SDDMM, 0, 0);
  }
  const tnr_view columns = transpose(y, 0, 1);
  const DenseColumns left(x);
  const DenseColumns right(columns);
  // Copying a row costs as much as some of its uses: rows that entries do not name are not copied.
  const std::int64_t uses = element_count(values);
  const auto rows_of = [uses](const DenseColumns& dense) {
    using Rows = AdjacentColumns::Rows;
    if (uses >= kUsesWorthCopying * dense.rows) return Rows::kInLines;
    const bool is_apart = dense.column_step != dense.width_bytes;
    return is_apart && uses >= dense.rows ? Rows::kAnywhere : Rows::kSpaced;
  };
  const AdjacentColumns x_rows(context, left, 0, left.columns, rows_of(left));
  const AdjacentColumns y_columns(context, right, 0, right.columns, rows_of(right));
  // Without elements nothing bounds the extents, and how far a row is from the first may be no
  // number.
  const auto steps_of = [&left](const AdjacentColumns& rows) {
    return left.columns == 0 ? 0 : rows.row_step();
  };
  run(context, matrix, kernels::sampler_kernels()[sampling.type],
      {.block_rows = a.block_rows,
       .block_cols = a.block_cols,
       .length = left.columns,
       .x = x_rows.data(),
       .x_step = steps_of(x_rows),
       .x_element_step = x_rows.column_step(),
       .y = y_columns.data(),
       .y_step = steps_of(y_columns),
       .y_element_step = y_columns.column_step(),
       .is_spaced =
           x_rows.column_step() != left.width_bytes || y_columns.column_step() != left.width_bytes,
       .alpha = sampling.scale.bytes,
       .values = (flags & TNR_SDDMM_TIMES_VALUES) != 0
                     ? static_cast<const kernels::Byte*>(a.values.data)
                     : nullptr,
       .out = out_of_entry_0(writable(out), range.first * matrix.value_bytes())});
  matrix.require_valid();
  count_call(TNR_OPERATION_SPARSE_SDDMM, matrix_bytes(a) + element_bytes(x) + element_bytes(y),
             element_bytes(out.view));
}

}  // namespace tenure
