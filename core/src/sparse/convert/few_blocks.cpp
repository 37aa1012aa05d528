// Few entries of very many rows to BSR: blocks are put in order themselves, as offsets of the rows
// would be larger than all of them.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "memory/scratch.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/order.hpp"
#include "sparse/convert/steps.hpp"
#include "sparse/index_array.hpp"
#include "tenure/view.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

// `coo` is in the order of rows and columns.
void require_no_duplicates(const tnr_sparse_view& coo) {
  const IndexReader rows(coo.major);
  const IndexReader cols(coo.minor);
  for (std::int64_t k = 1; k < coo.minor.shape[0]; ++k) {
    if (rows[k] == rows[k - 1] && cols[k] == cols[k - 1]) refuse_duplicate(rows[k], cols[k]);
  }
}

// The entries by the rows and columns of their blocks, with their numbers for values.
SparseToken numbered_blocks(const Context& context, const tnr_sparse_view& coo,
                            const SparseTarget& target) {
  const std::int64_t count = coo.minor.shape[0];
  const IndexType type = index_type(coo.minor.dtype);
  const Scratch rows(count, index_width(type));
  const Scratch cols(count, index_width(type));
  const Scratch numbers(count, 8);
  for (std::int64_t k = 0; k < count; ++k) {
    put_index(rows.data(), type, k, index_at(coo.major, k) / target.block_rows);
    put_index(cols.data(), type, k, index_at(coo.minor, k) / target.block_cols);
    numbers.numbers()[k] = k;
  }
  const auto vector = [&](const Scratch& of, tnr_dtype dtype) {
    return make_view(of.data(), of.size_bytes(), 0, dtype, 1, &count, nullptr);
  };
  tnr_sparse_view blocks = coo;
  blocks.flags = 0;
  blocks.rows /= target.block_rows;
  blocks.cols /= target.block_cols;
  blocks.major = vector(rows, coo.major.dtype);
  blocks.minor = vector(cols, coo.minor.dtype);
  blocks.values = vector(numbers, TNR_DTYPE_I64);
  return ordered_entries(context, blocks,
                         {.format = TNR_SPARSE_FORMAT_COO, .index_dtype = coo.minor.dtype});
}

}  // namespace

SparseToken few_blocks_of(const Context& context, const tnr_sparse_view& coo,
                          const SparseTarget& target) {
  require_no_duplicates(coo);
  const OwnMatrix ordered(numbered_blocks(context, coo, target));
  const IndexReader rows(ordered.view().major);
  const IndexReader cols(ordered.view().minor);
  const auto* const numbers = static_cast<const std::int64_t*>(ordered.view().values.data);
  const std::int64_t count = coo.minor.shape[0];
  const auto begins = [&](std::int64_t k) {
    return k == 0 || rows[k] != rows[k - 1] || cols[k] != cols[k - 1];
  };
  std::int64_t block_count = 0;
  for (std::int64_t k = 0; k < count; ++k) block_count += begins(k) ? 1 : 0;
  SparseBuilder builder(context, shape_of(coo, target));
  builder.allocate_entries(block_count);
  const IndexType type = index_type(target.index_dtype);
  const std::int64_t width = value_bytes_of(coo);
  const std::int64_t elements = target.block_rows * target.block_cols;
  if (count != 0) {
    std::memset(builder.values(), 0, static_cast<std::size_t>(block_count * elements * width));
  }
  OffsetRuns runs(builder.major(), type, 0);
  std::int64_t block = -1;
  for (std::int64_t k = 0; k < count; ++k) {
    if (begins(k)) {
      put_index(builder.minor(), type, ++block, cols[k]);
      runs.add(rows[k], block);
    }
    const std::int64_t row = index_at(coo.major, numbers[k]) % target.block_rows;
    const std::int64_t col = index_at(coo.minor, numbers[k]) % target.block_cols;
    std::memcpy(builder.values() + (block * elements + row * target.block_cols + col) * width,
                static_cast<const Byte*>(coo.values.data) + numbers[k] * width,
                static_cast<std::size_t>(width));
  }
  runs.add(builder.shape().row_count(), block_count);
  return builder.finish(EntryOrder::rising());
}

}  // namespace tenure
