// Conversions among COO, CSR, CSC and BSR. CSC is the CSR of the transpose, so there are three ways
// of changing the order of entries, and all else is copied:
//
//   from \ to   COO                  CSR                   CSC
//   ---------   ------------------   -------------------   ------------------------------------
//   COO         copy                 sorted by row: only   as to CSR, with rows and columns
//                                    offsets; else group   exchanged
//   CSR         rows of entries      copy                  group by column
//   CSC         columns of entries   group by row          copy
//
// BSR goes through CSR. Entries of COO are sorted while they are grouped; those of CSR and CSC by
// transposing twice.
#include "sparse/convert/convert.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "dense/scalar.hpp"
#include "sparse/batch.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/column_panels.hpp"
#include "sparse/convert/device_order.hpp"
#include "sparse/convert/group_by_key.hpp"
#include "sparse/convert/order.hpp"
#include "sparse/convert/steps.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/operand.hpp"
#include "sparse/traffic.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

// The order of the entries of `a` as they are; `are_sorted` is known.
EntryOrder order_of(const tnr_sparse_view& a, bool are_sorted) noexcept {
  return are_sorted ? EntryOrder::of(a).sorted() : EntryOrder::of(a);
}

// ---- copies ----

SparseToken copied(const Context& context, const tnr_sparse_view& a, const SparseTarget& target,
                   EntryOrder order) {
  const EntryRange range = entry_range(a);
  SparseBuilder builder(context, shape_of(a, target));
  builder.allocate_entries(range.last - range.first);
  if (a.format == TNR_SPARSE_FORMAT_COO) {
    copy_indices(context, a.major, range, builder.major(), target.index_dtype);
  } else {
    copy_offsets(a, builder);
  }
  copy_indices(context, a.minor, range, builder.minor(), target.index_dtype);
  copy_values(context, a, range, builder.values());
  return builder.finish(order);
}

// ---- to coordinates ----

SparseToken coordinates_of(const Context& context, const tnr_sparse_view& a,
                           const SparseTarget& target) {
  const EntryRange range = entry_range(a);
  SparseBuilder builder(context, shape_of(a, target));
  builder.allocate_entries(range.last - range.first);
  const bool by_rows = a.format == TNR_SPARSE_FORMAT_CSR;
  Byte* const majors = by_rows ? builder.major() : builder.minor();
  Byte* const minors = by_rows ? builder.minor() : builder.major();
  expand_rows(context, a, majors, index_type(target.index_dtype));
  copy_indices(context, a.minor, range, minors, target.index_dtype);
  copy_values(context, a, range, builder.values());
  const EntryOrder order = order_of(a, target.is_sorted);
  return builder.finish(by_rows ? order : order.reordered());
}

// ---- CSR to CSC and back ----

SparseToken exchanged(const Context& context, const tnr_sparse_view& a,
                      const SparseTarget& target) {
  const EntryRange range = entry_range(a);
  const std::int64_t width = value_bytes_of(a);
  SparseBuilder builder(context, shape_of(a, target));
  builder.allocate_entries(range.last - range.first);
  const Ungrouped from = {.count = range.last - range.first,
                          .key_count = minor_count(a),
                          .other_count = major_count(a),
                          .index_type = index_type(a.minor.dtype),
                          .keys = bytes_at(a.minor, range.first),
                          .others = nullptr,
                          .offsets = bytes_at(a.major, 0),
                          .values = static_cast<const Byte*>(a.values.data) + range.first * width};
  const Grouped to = {.index_type = index_type(target.index_dtype),
                      .offsets = builder.major(),
                      .others = builder.minor(),
                      .values = builder.values()};
  if (!suits_panels(from, to, width) || !has_sorted_entries(a) ||
      !group_by_panels(context, from, to, width)) {
    group_by_key(context, from, to, width, Within::kAsTheyCame);
  }
  return builder.finish(EntryOrder::of(a).reordered().sorted());
}

// ---- all of them ----

tnr_sparse_format other_format(tnr_sparse_format format) noexcept {
  return format == TNR_SPARSE_FORMAT_CSR ? TNR_SPARSE_FORMAT_CSC : TNR_SPARSE_FORMAT_CSR;
}

// To `target` by way of a matrix in `format`, which is sorted where it has to be.
SparseToken convert_through(const Context& context, const tnr_sparse_view& a,
                            tnr_sparse_format format, bool is_sorted, const SparseTarget& target) {
  const OwnMatrix between(convert_entries(
      context, a, {.format = format, .index_dtype = target.index_dtype, .is_sorted = is_sorted}));
  return convert_entries(context, between.view(), target);
}

SparseToken convert_coordinates(const Context& context, const tnr_sparse_view& a,
                                const SparseTarget& target) {
  if (target.format == TNR_SPARSE_FORMAT_COO) {
    const bool sorted = target.is_sorted && has_sorted_entries(a);
    if (target.is_sorted && !sorted) {
      if (are_few(a.minor.shape[0], a.rows)) return ordered_entries(context, a, target);
      return convert_through(context, a, TNR_SPARSE_FORMAT_CSR, true, target);
    }
    return copied(context, a, target, order_of(a, sorted));
  }
  return compressed_of(context, a, target);
}

SparseToken convert_compressed(const Context& context, const tnr_sparse_view& a,
                               const SparseTarget& target) {
  if (target.format == other_format(a.format)) return exchanged(context, a, target);
  const bool sorted = target.is_sorted && has_sorted_entries(a);
  const bool is_csr = a.format == TNR_SPARSE_FORMAT_CSR;
  const EntryRange range = entry_range(a);
  const std::int64_t count = range.last - range.first;
  if (target.format == a.format) {
    if (target.is_sorted && !sorted) {
      if (are_few(count, minor_count(a))) return ordered_entries(context, a, target);
      return convert_through(context, a, other_format(a.format), false, target);
    }
    return copied(context, a, target, order_of(a, sorted));
  }
  if (target.is_sorted && !(is_csr && sorted)) {
    if (are_few(count, a.rows)) {
      const OwnMatrix entries(coordinates_of(
          context, a, {.format = TNR_SPARSE_FORMAT_COO, .index_dtype = a.minor.dtype}));
      return ordered_entries(context, entries.view(), target);
    }
    return convert_through(context, a, TNR_SPARSE_FORMAT_CSR, true, target);
  }
  return coordinates_of(context, a, target);
}

SparseToken convert_blocks(const Context& context, const tnr_sparse_view& a,
                           const SparseTarget& target) {
  const bool same_blocks = target.format == TNR_SPARSE_FORMAT_BSR &&
                           target.block_rows == a.block_rows && target.block_cols == a.block_cols;
  if (same_blocks && (!target.is_sorted || has_sorted_entries(a))) {
    return copied(context, a, target, order_of(a, target.is_sorted));
  }
  // Offsets of rows are more than those of blocks. A result of coordinates has neither, and those
  // of few elements would be larger than all of them.
  const EntryRange range = entry_range(a);
  const bool are_rows_many =
      are_very_few((range.last - range.first) * a.block_rows * a.block_cols, a.rows);
  const bool has_rows = target.format == TNR_SPARSE_FORMAT_CSR && !target.is_sorted;
  const tnr_sparse_format format =
      target.format == TNR_SPARSE_FORMAT_COO || (are_rows_many && !has_rows)
          ? TNR_SPARSE_FORMAT_COO
          : TNR_SPARSE_FORMAT_CSR;
  OwnMatrix elements(elements_of(
      context, a,
      {.format = format, .index_dtype = target.index_dtype, .is_sorted = target.is_sorted}));
  if (target.format == format && target.destination == nullptr &&
      (!target.is_sorted || (elements.view().flags & TNR_SPARSE_SORTED) != 0)) {
    return elements.release();
  }
  return convert_entries(context, elements.view(), target);
}

tnr_dtype target_index_dtype(const tnr_sparse_view& a, const SparseOptions& options) {
  if (options.index_dtype == 0) return a.minor.dtype;
  if (options.index_dtype != TNR_DTYPE_I32 && options.index_dtype != TNR_DTYPE_I64) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->index_dtype is %s but must be i32 or i64",
         dtype_name(options.index_dtype));
  }
  return options.index_dtype;
}

std::int64_t block_extent(std::int64_t block, const char* block_name, std::int64_t extent,
                          const char* extent_name) {
  if (block < 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->%s is %" PRId64 " but must be at least 1",
         block_name, block);
  }
  if (block > TNR_SPARSE_MAX_BLOCK) {
    fail(TNR_STATUS_UNSUPPORTED, "attributes->%s is %" PRId64 " but must be at most %d", block_name,
         block, static_cast<int>(TNR_SPARSE_MAX_BLOCK));
  }
  if (extent % block != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->%s is %" PRId64 " but must divide %s, which is %" PRId64, block_name, block,
         extent_name, extent);
  }
  return block;
}

SparseTarget target_of(const tnr_sparse_view& a, const SparseOptions& options) {
  SparseTarget target{.format = options.format, .index_dtype = target_index_dtype(a, options)};
  if (options.format < TNR_SPARSE_FORMAT_COO || options.format > TNR_SPARSE_FORMAT_BSR) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "format is %" PRId32 ", which names no format",
         options.format);
  }
  if ((options.flags & ~TNR_CONVERT_SORT) != 0) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->flags is 0x%" PRIx32 " but a conversion knows 0x%x alone", options.flags,
         TNR_CONVERT_SORT);
  }
  target.is_sorted = (options.flags & TNR_CONVERT_SORT) != 0;
  if (options.format == TNR_SPARSE_FORMAT_BSR) {
    target.block_rows = block_extent(options.block_rows, "block_rows", a.rows, "rows");
    target.block_cols = block_extent(options.block_cols, "block_cols", a.cols, "cols");
  } else if (options.block_rows != 0 || options.block_cols != 0) {
    refuse_blocks(options);
  }
  return target;
}

// Refuses shapes and counts that do not fit the index type, before any entry is read.
void require_fit(const tnr_sparse_view& a, const SparseTarget& target) {
  require_index_fit(target.index_dtype, "rows", a.rows / target.block_rows - 1);
  require_index_fit(target.index_dtype, "cols", a.cols / target.block_cols - 1);
  if (target.format != TNR_SPARSE_FORMAT_COO) {
    require_index_fit(target.index_dtype, "offsets", result_count(a, target));
  }
}

// Refuses conversions that a device does not have. It has those that put entries in another order,
// and those that compute the offsets of sorted entries.
void require_on_device(const DeviceQueue& queue, const tnr_sparse_view& a,
                       const SparseTarget& target) {
  const bool has_order = target.format == a.format || a.format == TNR_SPARSE_FORMAT_COO;
  const bool has_blocks =
      a.format == TNR_SPARSE_FORMAT_BSR || target.format == TNR_SPARSE_FORMAT_BSR;
  if (has_order && !has_blocks && target.index_dtype == a.minor.dtype) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "convert takes COO to CSR and CSC, and COO, CSR and CSC to themselves, with the same "
       "indices, on %s, and others only on the CPU",
       DeviceName(queue.device()).text);
}

// Converts like the CPU, except that it does not inspect entries before it sorts them: COO entries
// count as ordered where their flags say so, or where the result has to be ordered. Waits for the
// device's findings.
SparseToken convert_on(const Context& context, const DeviceQueue& queue, const tnr_sparse_view& a,
                       const SparseOptions& options) {
  const PinnedSparse pinned(a, "a", PinnedSparse::Access::kRead, PinnedSparse::Batches::kRefused,
                            queue.device());
  check_value_width(a);
  const SparseTarget target = target_of(a, options);
  require_on_device(queue, a, target);
  using By = DeviceEntryOrder::By;
  const bool was_sorted = EntryOrder::of(a).is_sorted();
  const bool is_grouped = a.format != target.format;
  // Where only the columns are sorted, the rows of a column stay in their order.
  const bool is_sorted_first = target.is_sorted && !was_sorted;
  const bool is_as_it_is = was_sorted && target.format != TNR_SPARSE_FORMAT_CSC;
  const By by = is_sorted_first ? By::kPosition : is_grouped ? By::kRow : By::kNone;
  const auto order = [&](By how) {
    return order_on(context, queue,
                    {.name = "convert",
                     .a = a,
                     .format = target.format,
                     .by = how,
                     .combine = 0,
                     .flags = order_of(a, was_sorted || target.is_sorted).flags(),
                     .operation = TNR_OPERATION_SPARSE_CONVERT,
                     .pins = pinned.pins()});
  };
  const SparseToken made = order(is_as_it_is ? By::kNone : by);
  // 0 where the flags wrongly call the rows sorted: these are sorted now.
  return made != 0 ? made : order(By::kPosition);
}

}  // namespace

SparseShape shape_of(const tnr_sparse_view& a, const SparseTarget& target) {
  return {.format = target.format,
          .rows = a.rows,
          .cols = a.cols,
          .block_rows = target.block_rows,
          .block_cols = target.block_cols,
          .index_dtype = target.index_dtype,
          .value_dtype = a.values.dtype,
          .destination = target.destination};
}

void copy_offsets(const tnr_sparse_view& a, const SparseBuilder& builder) {
  const IndexType from = index_type(a.major.dtype);
  const IndexType to = index_type(builder.shape().index_dtype);
  const Byte* const offsets = bytes_at(a.major, 0);
  const std::int64_t first = get_index(offsets, from, 0);
  const std::int64_t count = major_count(a) + 1;
  if (first == 0 && from == to) {
    std::memcpy(builder.major(), offsets, static_cast<std::size_t>(count * index_width(to)));
    return;
  }
  for (std::int64_t row = 0; row < count; ++row) {
    put_index(builder.major(), to, row, get_index(offsets, from, row) - first);
  }
}

void expand_rows(const Context& context, const tnr_sparse_view& a, Byte* rows, IndexType to) {
  constexpr std::int64_t kChunkEntries = 1024;
  const EntryRange range = entry_range(a);
  const std::int64_t count = range.last - range.first;
  const IndexType from = index_type(a.major.dtype);
  const auto expand =
      kernels::grouping_kernels().expand[static_cast<unsigned>(from)][static_cast<unsigned>(to)];
  const std::int64_t width = index_width(to);
  const std::int64_t slices = slice_count_of(context, count * width);
  for_each_slice(context, slices, [&](std::int64_t slice) {
    // Not to its destination at once: the kernel writes past the end, where another slice may be
    // done.
    Byte chunk[(kChunkEntries + kernels::kExpandSlack) * 8];
    std::int64_t begin = slice_begin(count, slices, slice);
    const std::int64_t end = slice_begin(count, slices, slice + 1);
    if (begin == end) return;
    const Byte* const offsets = bytes_at(a.major, 0);
    std::int64_t row = row_of_entry(offsets, from, major_count(a), range.first + begin);
    for (; begin < end; begin += kChunkEntries) {
      const std::int64_t chunk_end = std::min(end, begin + kChunkEntries);
      row = expand(offsets, row, range.first + begin, range.first + chunk_end, chunk);
      std::memcpy(rows + begin * width, chunk,
                  static_cast<std::size_t>((chunk_end - begin) * width));
    }
  });
}

void copy_values(const Context& context, const tnr_sparse_view& a, EntryRange range, Byte* to) {
  const std::int64_t block = a.block_rows * a.block_cols;
  const std::int64_t count = (range.last - range.first) * block;
  const std::int64_t width = value_bytes_of(a);
  const auto* const from = static_cast<const Byte*>(a.values.data) + range.first * block * width;
  const auto view = [&](const void* data) {
    return make_view(data, static_cast<std::size_t>(count * width), 0, a.values.dtype, 1, &count,
                     nullptr);
  };
  copy(context, view(from), {view(to)});
}

std::int64_t result_count(const tnr_sparse_view& a, const SparseTarget& target) noexcept {
  if (target.format == TNR_SPARSE_FORMAT_BSR) return -1;
  if (a.format == TNR_SPARSE_FORMAT_COO) return a.minor.shape[0];
  const EntryRange range = entry_range(a);
  std::int64_t count;
  if (range.first < 0 || range.last > a.minor.shape[0] ||
      __builtin_mul_overflow(range.last - range.first, a.block_rows * a.block_cols, &count)) {
    return -1;
  }
  return count;
}

void check_value_width(const tnr_sparse_view& a) {
  const std::int64_t width = value_bytes_of(a);
  if (width > 16 || (width & (width - 1)) != 0) {
    fail(TNR_STATUS_UNSUPPORTED,
         "values of %s have %" PRId64 " bytes, but only 1, 2, 4, 8 and 16 are converted",
         dtype_name(a.values.dtype), width);
  }
}

void copy_indices(const Context& context, const tnr_view& from, EntryRange range, Byte* to,
                  tnr_dtype to_dtype) {
  const std::int64_t count = range.last - range.first;
  const auto view = [&](const void* data, tnr_dtype dtype) {
    return make_view(data, static_cast<std::size_t>(count) * element_size(dtype), 0, dtype, 1,
                     &count, nullptr);
  };
  const tnr_view a = view(bytes_at(from, range.first), from.dtype);
  const tnr_view_mut out = {view(to, to_dtype)};
  if (from.dtype == to_dtype) return copy(context, a, out);
  cast(context, a, out);
}

SparseToken convert_entries(const Context& context, const tnr_sparse_view& a,
                            const SparseTarget& target) {
  if (a.format == TNR_SPARSE_FORMAT_BSR) return convert_blocks(context, a, target);
  if (target.format == TNR_SPARSE_FORMAT_BSR) {
    if (a.format == TNR_SPARSE_FORMAT_CSR && has_sorted_entries(a)) {
      return blocks_of(context, a, target);
    }
    const EntryRange range = entry_range(a);
    if (are_very_few(range.last - range.first, a.rows)) {
      const OwnMatrix entries(convert_entries(
          context, a,
          {.format = TNR_SPARSE_FORMAT_COO, .index_dtype = a.minor.dtype, .is_sorted = true}));
      return few_blocks_of(context, entries.view(), target);
    }
    return convert_through(context, a, TNR_SPARSE_FORMAT_CSR, true, target);
  }
  return a.format == TNR_SPARSE_FORMAT_COO ? convert_coordinates(context, a, target)
                                           : convert_compressed(context, a, target);
}

SparseToken sparse_convert(const Context& context, const tnr_sparse_view& a,
                           const SparseOptions& options) {
  if (is_on_device(a.values)) [[unlikely]]
    return convert_on(context, queue_of(context, a.values, "a.values"), a, options);
  if (is_batch(a)) {
    const BatchOperand batch(a, "a");
    check_value_width(a);
    const SparseTarget target = target_of(a, options);
    const SparseToken made = convert_batch(context, batch, target);
    return count_made(TNR_OPERATION_SPARSE_CONVERT, matrix_bytes(a), made);
  }
  SparseOperand operand(a, "a");
  check_value_width(a);
  const SparseTarget target = target_of(a, options);
  require_fit(a, target);
  operand.check_all();
  return count_made(TNR_OPERATION_SPARSE_CONVERT, matrix_bytes(a),
                    convert_entries(context, a, target));
}

}  // namespace tenure
