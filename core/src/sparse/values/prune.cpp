// Fewer entries: those that satisfy a predicate, or the largest of each row. The values are treated
// as one dense row; the positions found then select the indices, and count the entries of each row.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <functional>
#include <limits>

#include "memory/scratch.hpp"
#include "sparse/builder.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/empty_rows.hpp"
#include "sparse/from_dense/order_key.hpp"
#include "sparse/from_dense/predicate.hpp"
#include "sparse/index_array.hpp"
#include "sparse/kernel_view.hpp"
#include "sparse/operand.hpp"
#include "sparse/traffic.hpp"
#include "tenure/ops.hpp"
#include "tenure/view.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

using kernels::Byte;
using kernels::IndexType;

tnr_view row_view(const void* data, std::int64_t count, tnr_dtype dtype) {
  const std::int64_t shape[2] = {1, count};
  return make_view(data, static_cast<std::size_t>(count) * element_size(dtype), 0, dtype, 2, shape,
                   nullptr);
}

// The entries of `a` that stand at the columns of `kept`, a matrix of one row with their values.
class Thinning {
 public:
  Thinning(const Context& context, const tnr_sparse_view& a, const tnr_sparse_view& kept)
      : context_(context),
        a_(a),
        kept_(kept),
        range_(entry_range(a)),
        type_(index_type(a.minor.dtype)),
        count_(kept.minor.shape[0]) {}

  SparseToken run() const {
    SparseBuilder builder(context_, {.format = a_.format,
                                     .rows = a_.rows,
                                     .cols = a_.cols,
                                     .index_dtype = a_.minor.dtype,
                                     .value_dtype = a_.values.dtype});
    builder.allocate_entries(count_);
    gather(a_.minor, builder.minor());
    if (a_.format == TNR_SPARSE_FORMAT_COO) {
      gather(a_.major, builder.major());
    } else {
      bound(builder.major());
    }
    const auto bytes = static_cast<std::size_t>(count_) * element_size(a_.values.dtype);
    if (bytes != 0) std::memcpy(builder.values(), kept_.values.data, bytes);
    return builder.finish(EntryOrder::of(a_));
  }

 private:
  // Position in `a` of entry k of the result.
  template <class Number>
  struct Positions {
    const Number* positions;
    std::int64_t first;
    std::int64_t operator[](std::int64_t k) const noexcept { return first + positions[k]; }
  };

  // Calls body(index of a, Positions).
  template <class Body>
  void with_positions(const Body& body) const noexcept {
    const auto with_index = [&]<class Number>(const Number* positions) {
      const Positions<Number> found{positions, range_.first};
      if (type_ == IndexType::kI32) {
        body(std::int32_t{}, found);
      } else {
        body(std::int64_t{}, found);
      }
    };
    if (kept_.minor.dtype == TNR_DTYPE_I32) {
      with_index(static_cast<const std::int32_t*>(kept_.minor.data));
    } else {
      with_index(static_cast<const std::int64_t*>(kept_.minor.data));
    }
  }

  void gather(const tnr_view& from, Byte* to) const noexcept {
    const std::int64_t slices = slice_count_of(context_, 2 * count_ * index_width(type_));
    with_positions([&]<class I>(I, const auto& positions) {
      const I* const indices = static_cast<const I*>(from.data);
      I* const out = reinterpret_cast<I*>(to);
      for_each_slice(context_, slices, [&](std::int64_t slice) {
        const std::int64_t end = slice_begin(count_, slices, slice + 1);
        for (std::int64_t k = slice_begin(count_, slices, slice); k < end; ++k) {
          out[k] = indices[positions[k]];
        }
      });
    });
  }

  // The number kept in front of each row.
  void bound(Byte* to) const noexcept {
    with_positions([&]<class I>(I, const auto& positions) {
      const I* const ends = static_cast<const I*>(a_.major.data) + 1;
      I* const offsets = reinterpret_cast<I*>(to);
      const I* const begins = ends - 1;
      const std::int64_t rows = major_count(a_);
      std::int64_t k = 0;
      offsets[0] = 0;
      for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t filled = first_filled_row(begins, row, rows);
        std::fill(offsets + row + 1, offsets + filled + 1, static_cast<I>(k));
        row = filled;
        if (row == rows) break;
        const std::int64_t end = ends[row];
        while (k < count_ && positions[k] < end) ++k;
        offsets[row + 1] = static_cast<I>(k);
      }
    });
  }

  const Context& context_;
  const tnr_sparse_view& a_;
  const tnr_sparse_view& kept_;
  EntryRange range_;
  IndexType type_;
  std::int64_t count_;
};

SparseToken thinned(const Context& context, const tnr_sparse_view& a, SparseOptions options) {
  const EntryRange range = entry_range(a);
  const std::int64_t count = range.last - range.first;
  const auto width = static_cast<std::int64_t>(element_size(a.values.dtype));
  options.format = TNR_SPARSE_FORMAT_CSR;
  options.index_dtype =
      count <= std::numeric_limits<std::int32_t>::max() ? TNR_DTYPE_I32 : TNR_DTYPE_I64;
  const auto* const values = static_cast<const Byte*>(a.values.data) + range.first * width;
  const OwnMatrix kept(
      sparse_from_dense(context, row_view(values, count, a.values.dtype), options));
  return Thinning(context, a, kept.view()).run();
}

void require_elements(const tnr_sparse_view& a) {
  if (a.format == TNR_SPARSE_FORMAT_BSR) {
    fail(TNR_STATUS_UNSUPPORTED, "prune does not take BSR: convert it to CSR first");
  }
}

// ---- the largest of each row ----

// Marks the k largest of keys[0, count), of equals the first. `work` is as long, and written.
void mark_largest(const std::int64_t* keys, std::int64_t count, std::int64_t k, std::int64_t* work,
                  Byte* marks) noexcept {
  if (count <= k) {
    std::fill_n(marks, count, Byte{1});
    return;
  }
  if (k == 0) {
    std::fill_n(marks, count, Byte{0});
    return;
  }
  std::copy_n(keys, count, work);
  std::nth_element(work, work + k - 1, work + count, std::greater<>());
  const std::int64_t least = work[k - 1];
  std::int64_t equals =
      k - std::count_if(work, work + k - 1, [&](std::int64_t key) { return key > least; });
  for (std::int64_t i = 0; i < count; ++i) {
    const bool is_equal = keys[i] == least && equals > 0;
    equals -= is_equal ? 1 : 0;
    marks[i] = static_cast<Byte>(keys[i] > least || is_equal);
  }
}

tnr_view flat_view(const void* data, std::int64_t count, tnr_dtype dtype) {
  return make_view(data, static_cast<std::size_t>(count) * element_size(dtype), 0, dtype, 1, &count,
                   nullptr);
}

}  // namespace

void check_top_k(std::int64_t k, std::int64_t cols, const char* of, tnr_sparse_order order,
                 tnr_dtype dtype) {
  if (k < 0 || k > cols) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "k is %" PRId64 " but must be at least 0 and at most %s, which is %" PRId64, k, of, cols);
  }
  if (order != TNR_SPARSE_ORDER_VALUE && order != TNR_SPARSE_ORDER_MAGNITUDE) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "order is %" PRId32 ", which names no order", order);
  }
  if (type_index(dtype) == kNoType || dtype == TNR_DTYPE_I64 || dtype == TNR_DTYPE_U64 ||
      dtype == TNR_DTYPE_BOOL8) {
    fail(TNR_STATUS_UNSUPPORTED, "top k does not take values of %s", dtype_name(dtype));
  }
}

SparseToken sparse_prune(const Context& context, const tnr_sparse_view& a,
                         const SparseOptions& options) {
  SparseOperand operand(a, "a");
  require_elements(a);
  if (options.predicate == TNR_SPARSE_PREDICATE_MASK) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "attributes->predicate is MASK, but a mask is for a dense matrix");
  }
  (void)predicate_of(options, a.values.dtype);
  operand.check_all();
  return count_made(TNR_OPERATION_SPARSE_PRUNE, matrix_bytes(a), thinned(context, a, options));
}

SparseToken sparse_top_k(const Context& context, const tnr_sparse_view& a, std::int64_t k,
                         tnr_sparse_order order) {
  SparseOperand operand(a, "a");
  if (a.format != TNR_SPARSE_FORMAT_CSR) {
    fail(TNR_STATUS_UNSUPPORTED, "top k takes CSR alone: convert a to it first");
  }
  check_top_k(k, a.cols, "a.cols", order, a.values.dtype);
  operand.check_all();
  const EntryRange range = entry_range(a);
  const std::int64_t count = range.last - range.first;
  const Scratch numbers(count, sizeof(double));
  const Scratch keys(count, sizeof(std::int64_t));
  const Scratch marks(count, 1);
  const auto width = static_cast<std::int64_t>(element_size(a.values.dtype));
  const auto* const values = static_cast<const Byte*>(a.values.data) + range.first * width;
  // Exact: wider integers are refused.
  cast(context, flat_view(values, count, a.values.dtype),
       {flat_view(numbers.data(), count, TNR_DTYPE_F64)});
  const std::int64_t slices =
      std::min(slice_count_of(context, 16 * count), std::max<std::int64_t>(1, a.rows));
  for_each_slice(context, slices, [&](std::int64_t slice) {
    const std::int64_t end = slice_begin(a.rows, slices, slice + 1);
    const IndexReader offsets(a.major);
    for (std::int64_t row = slice_begin(a.rows, slices, slice);
         (row = first_filled_row(offsets, row, end)) < end; ++row) {
      const std::int64_t first = index_at(a.major, row) - range.first;
      const std::int64_t last = index_at(a.major, row + 1) - range.first;
      for (std::int64_t i = first; i < last; ++i) {
        double value;
        std::memcpy(&value, numbers.data() + i * 8, sizeof value);
        keys.numbers()[i] = order_key(value, order);
      }
      // The numbers have become keys, so their memory is free.
      mark_largest(keys.numbers() + first, last - first, k, numbers.numbers() + first,
                   marks.data() + first);
    }
  });
  SparseOptions options;
  options.predicate = TNR_SPARSE_PREDICATE_MASK;
  options.mask = row_view(marks.data(), count, TNR_DTYPE_BOOL8);
  return count_made(TNR_OPERATION_SPARSE_PRUNE, matrix_bytes(a), thinned(context, a, options));
}

}  // namespace tenure
