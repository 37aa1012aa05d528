// From dense to sparse: this file checks the arguments, and entry_search.hpp searches. A batch is
// searched as one matrix of all its rows, and then cut.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <type_traits>

#include "memory/scratch.hpp"
#include "sparse/builder.hpp"
#include "sparse/from_dense/block_search.hpp"
#include "sparse/from_dense/column_search.hpp"
#include "sparse/from_dense/dense_search.hpp"
#include "sparse/from_dense/device_search.hpp"
#include "sparse/from_dense/entry_search.hpp"
#include "sparse/from_dense/from_dense.hpp"
#include "sparse/from_dense/predicate.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;

void check_blocks(const SparseOptions& options, const tnr_view& dense) {
  const std::int64_t extents[] = {options.block_rows, options.block_cols};
  for (std::uint32_t i = 0; i < 2; ++i) {
    const char* const name = i == 0 ? "block_rows" : "block_cols";
    const std::int64_t extent = extents[i];
    const std::uint32_t axis = dense.rank - 2 + i;
    if (extent > TNR_SPARSE_MAX_BLOCK) {
      fail(TNR_STATUS_UNSUPPORTED, "attributes->%s is %" PRId64 " but must be at most %d", name,
           extent, static_cast<int>(TNR_SPARSE_MAX_BLOCK));
    }
    if (extent < 1) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "attributes->%s is %" PRId64 " but must be at least 1",
           name, extent);
    }
    if (dense.shape[axis] % extent != 0) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->%s is %" PRId64 ", which does not divide dense.shape[%" PRIu32
           "]: %" PRId64,
           name, extent, axis, dense.shape[axis]);
    }
  }
}

void check_format(const SparseOptions& options, const tnr_view& dense) {
  switch (options.format) {
    case TNR_SPARSE_FORMAT_COO:
    case TNR_SPARSE_FORMAT_CSR:
    case TNR_SPARSE_FORMAT_CSC: break;
    case TNR_SPARSE_FORMAT_BSR: return check_blocks(options, dense);
    default:
      fail(TNR_STATUS_INVALID_ARGUMENT, "format is %" PRId32 ", which names no format",
           options.format);
  }
  if (options.block_rows != 0 || options.block_cols != 0) refuse_blocks(options);
}

void check_rank(const tnr_view& dense) {
  if (dense.rank != 2 && dense.rank != 3) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "dense.rank is %" PRIu32 " but must be 2, or 3 of a batch of matrices", dense.rank);
  }
}

void check_mask(const tnr_view& mask, const tnr_view& dense, const tnr_device& device) {
  check_view(mask, "attributes->mask", device);
  if (mask.rank != dense.rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->mask.rank is %" PRIu32 " but must be %" PRIu32 ", as of dense", mask.rank,
         dense.rank);
  }
  require_dtype(mask, "attributes->mask", TNR_DTYPE_BOOL8, "must be");
  for (std::uint32_t axis = 0; axis < dense.rank; ++axis) {
    if (mask.shape[axis] != dense.shape[axis]) {
      fail(TNR_STATUS_INVALID_ARGUMENT,
           "attributes->mask.shape[%" PRIu32 "] is %" PRId64 " but dense.shape[%" PRIu32
           "] is %" PRId64,
           axis, mask.shape[axis], axis, dense.shape[axis]);
    }
  }
}

// Where there are no elements all offsets are 0.
SparseToken without_entries(SparseBuilder& builder) {
  const SparseShape& shape = builder.shape();
  const std::int64_t matrices = shape.is_batch() ? shape.batches : 1;
  if (shape.has_offsets()) {
    const std::int64_t count = matrices * (shape.row_count() + 1);
    std::fill_n(builder.major(), static_cast<std::size_t>(count) * element_size(shape.index_dtype),
                Byte{0});  // of none there is no memory, which memset would not take
  }
  if (shape.is_batch()) std::fill_n(builder.batch_offsets(), matrices + 1, 0);
  builder.allocate_entries(0);
  return builder.finish(EntryOrder::rising());
}

// Splits the rows of all matrices into matrices, one after the other. `offsets` are those of all
// rows together, stored where the matrices' own are to begin, if they have any. Narrow offsets and
// row indices hold the low 32 bits, which is enough for differences.
template <class I>
void cut_batch(const Context& context, const I* offsets, SparseBuilder& builder) {
  using Unsigned = std::make_unsigned_t<I>;
  const SparseShape& shape = builder.shape();
  const std::int64_t rows = shape.row_count();
  const auto less = [](I a, I b) {
    return static_cast<I>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
  };
  std::int64_t* const begins = builder.batch_offsets();
  begins[0] = 0;
  for (std::int64_t i = 0; i < shape.batches; ++i) {
    const I* const first = offsets + i * rows;
    begins[i + 1] =
        begins[i] + static_cast<std::int64_t>(static_cast<Unsigned>(less(first[rows], first[0])));
    builder.require_matrix_fit(i, begins[i + 1] - begins[i]);
  }
  if (begins[shape.batches] != builder.entry_count()) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a matrix of the result has more entries than 32 bits count: use i64 indices");
  }
  if (!shape.has_offsets()) {
    I* const row_indices = reinterpret_cast<I*>(builder.major());
    const std::int64_t slices = std::clamp<std::int64_t>(
        slice_count_of(context, builder.entry_count() * 8), 1, shape.batches);
    return for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
      const std::int64_t end = slice_begin(shape.batches, slices, slice + 1);
      for (std::int64_t i = slice_begin(shape.batches, slices, slice); i < end; ++i) {
        const I first_row = static_cast<I>(i * rows);
        for (std::int64_t k = begins[i]; k < begins[i + 1]; ++k) {
          row_indices[k] = less(row_indices[k], first_row);
        }
      }
    });
  }
  // From the last on: each matrix's offsets move further back, over offsets that have been moved.
  I* const own = reinterpret_cast<I*>(builder.major());
  for (std::int64_t i = shape.batches; i-- > 0;) {
    I* const to = own + i * (rows + 1);
    const I first = offsets[i * rows];
    std::memmove(to, offsets + i * rows, static_cast<std::size_t>(rows + 1) * sizeof(I));
    for (std::int64_t row = 0; row <= rows; ++row) to[row] = less(to[row], first);
  }
}

template <class Searcher>
void search(const Context& context, const typename Searcher::Search& search,
            std::int64_t dense_bytes, SparseBuilder& builder) {
  const SparseShape& shape = builder.shape();
  const auto index_bytes = static_cast<std::int64_t>(element_size(shape.index_dtype));
  const bool is_coo_batch = shape.is_batch() && !shape.has_offsets();
  // Coordinates do not tell where a matrix ends.
  const Scratch rows(is_coo_batch ? shape.batches * shape.row_count() + 1 : 0, index_bytes);
  Byte* const offsets = is_coo_batch ? rows.data() : builder.major();
  if (offsets != nullptr) std::memset(offsets, 0, static_cast<std::size_t>(index_bytes));
  search_entries<Searcher>(context, search, dense_bytes, builder, offsets);
  if (!shape.is_batch()) return;
  if (shape.index_dtype == TNR_DTYPE_I32) {
    cut_batch(context, reinterpret_cast<const std::int32_t*>(offsets), builder);
  } else {
    cut_batch(context, reinterpret_cast<const std::int64_t*>(offsets), builder);
  }
}

// Whether panels of columns are faster than to transpose chunk by chunk. Measured, 8192^2 f32: with
// 1 % of entries 4 times, 10 % 2.7 times, 25 % 1.8 times, 45 % 1.15 times; and in a cache they are
// not.
bool is_faster_by_columns(const ColumnSearch& search, const DenseSearch& transposed,
                          std::int64_t bytes) {
  if (!search.is_possible()) return false;
  if (!DenseSearcher::fetches_columns(transposed)) return true;
  return bytes >= kOncePassBytes &&
         expected_count<ColumnSearcher>(search) <= search.entry_count() / 2;
}

}  // namespace

SparseToken sparse_from_dense(const Context& context, const tnr_view& dense,
                              const SparseOptions& options) {
  const DeviceQueue* const queue = queue_on_device(context, dense, "dense");
  const tnr_device device = device_of(queue);
  check_view(dense, "dense", device);
  check_rank(dense);
  check_format(options, dense);
  const tnr_dtype index = checked_index_dtype(options.index_dtype);
  const kernels::Predicate predicate = predicate_of(options, dense.dtype);
  const bool has_mask = options.predicate == TNR_SPARSE_PREDICATE_MASK;
  if (has_mask) check_mask(options.mask, dense, device);
  if (width_index(dense.dtype) > static_cast<unsigned>(kernels::Width::k8)) {
    fail(TNR_STATUS_UNSUPPORTED, "from dense does not take %s", dtype_name(dense.dtype));
  }
  Pins pins;
  pins.add(dense, "dense");
  if (has_mask) pins.add(options.mask, "attributes->mask");
  if (queue != nullptr) {
    return from_dense_on(context, *queue,
                         {.dense = dense,
                          .options = options,
                          .index_dtype = index,
                          .predicate = predicate,
                          .has_mask = has_mask,
                          .pins = pins});
  }

  const bool is_batch = dense.rank == 3;
  const bool is_bsr = options.format == TNR_SPARSE_FORMAT_BSR;
  SparseBuilder builder(context, {.format = options.format,
                                  .rows = dense.shape[dense.rank - 2],
                                  .cols = dense.shape[dense.rank - 1],
                                  .block_rows = is_bsr ? options.block_rows : 1,
                                  .block_cols = is_bsr ? options.block_cols : 1,
                                  .index_dtype = index,
                                  .value_dtype = dense.dtype,
                                  .batches = is_batch ? dense.shape[0] : SparseShape::kNoBatch});
  if (is_empty(dense)) {
    return count_made(TNR_OPERATION_SPARSE_FROM_DENSE, 0, without_entries(builder));
  }
  // CSC is the CSR of the transpose.
  const bool is_csc = options.format == TNR_SPARSE_FORMAT_CSC;
  const auto oriented = [is_csc](const tnr_view& view) {
    return is_csc ? transpose(view, view.rank - 2, view.rank - 1) : view;
  };
  const auto search_of = [&](const tnr_view& matrix, const DenseElements& mask) {
    return DenseSearch{.rows = matrix.shape[matrix.rank - 2] * (is_batch ? matrix.shape[0] : 1),
                       .columns = matrix.shape[matrix.rank - 1],
                       .elements = DenseElements(matrix),
                       .mask = has_mask ? &mask : nullptr,
                       .predicate = predicate,
                       .index_type = index_type(index)};
  };
  const DenseElements mask = has_mask ? DenseElements(oriented(options.mask)) : DenseElements();
  const DenseElements mask_as_is = has_mask ? DenseElements(options.mask) : DenseElements();
  const DenseSearch rows = search_of(oriented(dense), mask);
  const BlockSearch blocks = {rows, builder.shape().block_rows, builder.shape().block_cols};
  const ColumnSearch columns(search_of(dense, mask_as_is));
  const std::int64_t bytes = rows.entry_count() * rows.elements.width();
  if (is_bsr) {
    search<BlockSearcher>(context, blocks, bytes, builder);
  } else if (is_csc && !is_batch && is_faster_by_columns(columns, rows, bytes)) {
    search<ColumnSearcher>(context, columns, bytes, builder);
  } else {
    search<DenseSearcher>(context, rows, bytes, builder);
  }
  const std::uint64_t mask_bytes = has_mask ? element_bytes(options.mask) : 0;
  return count_made(TNR_OPERATION_SPARSE_FROM_DENSE, element_bytes(dense) + mask_bytes,
                    builder.finish(EntryOrder::rising()));
}

}  // namespace tenure
