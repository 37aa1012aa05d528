// The product of two sparse matrices.
#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "cpu/dispatch.hpp"
#include "sparse/builder.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/operand.hpp"
#include "sparse/row_chunks.hpp"
#include "sparse/traffic.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::RowProducts;
using kernels::RowSums;
using kernels::SparseProduct;
using kernels::SparseRows;

// Rows and entries of `a` in a chunk: some thousand products at least. Threads wait for each
// other's counts, and share the lines at the ends of a chunk's result.
constexpr std::int64_t kChunkWeight = 1024;

// Work of build_rows().
template <class I>
class Multiplication {
 public:
  using Scratch = RowSums;

  Multiplication(const Context& context, const SparseProduct& product, const RowProducts& kernels,
                 std::int64_t value_bytes)
      : product_(product),
        kernels_(kernels),
        chunks_(product.a.rows, kChunkWeight, Weight{a_offsets()}),
        most_(has_slot_per_column(product, value_bytes) ? product.b.cols : most_products(context)) {
  }

  [[nodiscard]] const auto& chunks() const noexcept { return chunks_; }

  [[nodiscard]] RowBound bound(std::int64_t begin, std::int64_t end,
                               std::int64_t limit) const noexcept {
    std::int64_t entries = 0;
    for (std::int64_t row = begin; (row = first_filled_row(a_offsets(), row, end)) < end; ++row) {
      const std::int64_t more = std::min(products(row), product_.b.cols);
      if (more > limit - entries) return {entries, row};
      entries += more;
    }
    return {entries, end};
  }

  [[nodiscard]] std::int64_t scratch_bytes() const noexcept {
    return kernels_.scratch_bytes(product_.b.cols, most_);
  }
  [[nodiscard]] RowSums scratch(Byte* memory) const noexcept {
    return kernels_.start(memory, product_.b.cols, most_);
  }

  std::int64_t count(RowSums& sums, std::int64_t begin, std::int64_t end) const noexcept {
    if (has_many_entries(begin, end)) return kernels_.count(product_, sums, begin, end);
    std::int64_t entries = 0;
    for (std::int64_t row = begin; (row = first_filled_row(a_offsets(), row, end)) < end; ++row) {
      entries += kernels_.count(product_, sums, row, row + 1);
    }
    return entries;
  }
  std::int64_t fill(RowSums& sums, std::int64_t begin, std::int64_t end,
                    const SparseRows& out) const noexcept {
    if (has_many_entries(begin, end)) return kernels_.fill(product_, sums, begin, end, out);
    I* const offsets = reinterpret_cast<I*>(out.offsets);
    SparseRows next = out;
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t filled = first_filled_row(a_offsets(), row, end);
      put_empty_rows(offsets, row, filled, end, next.position);
      row = filled;
      if (row == end) break;
      next.position += kernels_.fill(product_, sums, row, row + 1, next);
    }
    return next.position - out.position;
  }

 private:
  // Whether a call for each row with entries would cost more than the calls for empty rows do.
  [[nodiscard]] bool has_many_entries(std::int64_t begin, std::int64_t end) const noexcept {
    return a_offsets()[end] - a_offsets()[begin] >= (end - begin) / 4;
  }
  // Rows and entries before a row.
  struct Weight {
    const I* offsets;
    std::int64_t operator()(std::int64_t row) const noexcept {
      return row + (std::int64_t{offsets[row]} - offsets[0]);
    }
  };

  [[nodiscard]] const I* a_offsets() const noexcept {
    return reinterpret_cast<const I*>(product_.a.offsets);
  }
  [[nodiscard]] std::int64_t products(std::int64_t row) const noexcept {
    const I* const a_columns = reinterpret_cast<const I*>(product_.a.indices);
    const I* const b_offsets = reinterpret_cast<const I*>(product_.b.offsets);
    std::int64_t count = 0;
    for (std::int64_t k = a_offsets()[row]; k < a_offsets()[row + 1]; ++k) {
      const I column = a_columns[k];
      count += b_offsets[column + 1] - b_offsets[column];
    }
    return count;
  }
  // Whether it makes no difference how long rows are.
  static bool has_slot_per_column(const SparseProduct& product, std::int64_t value_bytes) noexcept {
    return product.b.cols <= kernels::kColumnSumsBytes / value_bytes;
  }
  // Products of the row that has most.
  [[nodiscard]] std::int64_t most_products(const Context& context) const {
    constexpr std::int64_t kTogether = 64;
    const std::int64_t parts = (chunks_.count() + kTogether - 1) / kTogether;
    std::atomic<std::int64_t> most{0};
    for_each_slice(context, parts, [&](std::int64_t part) noexcept {
      std::int64_t own = 0;
      const std::int64_t end = chunks_.begin(std::min(chunks_.count(), (part + 1) * kTogether));
      for (std::int64_t row = chunks_.begin(part * kTogether);
           (row = first_filled_row(a_offsets(), row, end)) < end; ++row) {
        own = std::max(own, products(row));
      }
      std::int64_t found = most.load(std::memory_order_relaxed);
      while (found < own && !most.compare_exchange_weak(found, own, std::memory_order_relaxed)) {
      }
    });
    return most.load(std::memory_order_relaxed);
  }

  const SparseProduct& product_;
  const RowProducts& kernels_;
  WeightedChunks<Weight> chunks_;
  std::int64_t most_;
};

template <class I>
void spgemm(const Context& context, const SparseProduct& product, const RowProducts& kernels,
            SparseBuilder& builder) {
  const auto value_bytes = static_cast<std::int64_t>(element_size(builder.shape().value_dtype));
  const Multiplication<I> work(context, product, kernels, value_bytes);
  build_rows(context, AnyRowWork(work), builder);
}

// ---- arguments ----

void check_pair(const tnr_sparse_view& a, const tnr_sparse_view& b) {
  if (a.format != b.format ||
      (a.format != TNR_SPARSE_FORMAT_CSR && a.format != TNR_SPARSE_FORMAT_CSC)) {
    fail(TNR_STATUS_UNSUPPORTED,
         "a.format is %" PRId32 " and b.format %" PRId32
         " but products are of two CSR or two CSC: convert them",
         a.format, b.format);
  }
  if (a.cols != b.rows) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "a.cols is %" PRId64 " but b.rows is %" PRId64, a.cols,
         b.rows);
  }
  require_dtype(b.values, "b.values", a.values.dtype, "a.values.dtype is");
  require_dtype(b.minor, "b's indices", a.minor.dtype, "of those of a it is");
}

const RowProducts& kernels_for(const tnr_sparse_view& a) {
  const unsigned type = type_index(a.values.dtype);
  if (type >= kernels::kProductTypeCount) refuse_dtype("product", a.values.dtype);
  return kernels::row_product_kernels()[static_cast<unsigned>(index_type(a.minor.dtype))][type];
}

}  // namespace

SparseToken sparse_product(const Context& context, const tnr_sparse_view& a,
                           const tnr_sparse_view& b) {
  SparseOperand a_operand(a, "a");
  SparseOperand b_operand(b, "b");
  check_pair(a, b);
  const RowProducts& kernels = kernels_for(a);
  a_operand.check_all();
  b_operand.check_all();
  // (A B)^T is B^T A^T, and CSC is the CSR of the transpose.
  const bool is_csc = a.format == TNR_SPARSE_FORMAT_CSC;
  const SparseOperand& left = is_csc ? b_operand : a_operand;
  const SparseOperand& right = is_csc ? a_operand : b_operand;
  constexpr std::uint32_t kCoalesced = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  const SparseProduct product = {left.compressed(), right.compressed(),
                                 (right.view().flags & kCoalesced) == kCoalesced};
  SparseBuilder builder(context, {.format = a.format,
                                  .rows = a.rows,
                                  .cols = b.cols,
                                  .index_dtype = a.minor.dtype,
                                  .value_dtype = a.values.dtype});
  std::memset(builder.major(), 0, element_size(a.minor.dtype));
  if (product.a.index_type == kernels::IndexType::kI32) {
    spgemm<std::int32_t>(context, product, kernels, builder);
  } else {
    spgemm<std::int64_t>(context, product, kernels, builder);
  }
  return count_made(TNR_OPERATION_SPARSE_PRODUCT, matrix_bytes(a) + matrix_bytes(b),
                    builder.finish(EntryOrder::rising()));
}

}  // namespace tenure
