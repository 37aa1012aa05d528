// Entries of sparse operands for what needs no kernel of its own: of each format, in order, with
// indices of either width.
#pragma once

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sparse/index_array.hpp"
#include "sparse/operand.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {

// Throws UNSUPPORTED for COO and BSR.
inline void require_compressed(const tnr_sparse_view& view, const char* name) {
  if (view.format == TNR_SPARSE_FORMAT_CSR || view.format == TNR_SPARSE_FORMAT_CSC) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "%s.format is %" PRId32 " but must be CSR (2) or CSC (3): convert it", name, view.format);
}

// Calls body(T{}) with a number of the dtype: f64, f32, i64 or i32. Throws UNSUPPORTED for others.
template <class Body>
void with_number(const char* operation, tnr_dtype dtype, const Body& body) {
  switch (dtype) {
    case TNR_DTYPE_F64: return body(double{});
    case TNR_DTYPE_F32: return body(float{});
    case TNR_DTYPE_I64: return body(std::int64_t{});
    case TNR_DTYPE_I32: return body(std::int32_t{});
    default: refuse_dtype(operation, dtype);
  }
}
// Calls body(T{}) like with_number(), for f64 and f32.
template <class Body>
void with_float(const char* operation, tnr_dtype dtype, const Body& body) {
  switch (dtype) {
    case TNR_DTYPE_F64: return body(double{});
    case TNR_DTYPE_F32: return body(float{});
    default: refuse_dtype(operation, dtype);
  }
}

// Sums and products that wrap where the numbers are integers.
template <class T>
T wrapping_add(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}
template <class T>
T wrapping_mul(T a, T b) noexcept {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
  } else {
    return a * b;
  }
}

// Calls body(first row, end row) for all rows as `major` sees them, shared by threads, each run of
// rows once its indices are known to be right. Throws INVALID_ARGUMENT if one was wrong. An entry
// moves about `entry_bytes` bytes.
template <class Body>
void for_each_row_run(const Context& context, const SparseOperand& a, std::int64_t entry_bytes,
                      const Body& body) {
  const std::int64_t rows = major_count(a.view());
  const std::int64_t bytes = a.entry_count() * entry_bytes;
  const std::int64_t slices =
      std::max<std::int64_t>(1, std::min(slice_count_of(context, bytes), rows));
  for_each_slice(context, slices, [&](std::int64_t slice) noexcept {
    a.for_each_run(slice_begin(rows, slices, slice), slice_begin(rows, slices, slice + 1), body);
  });
  a.require_valid();
}

// A dense output of an operation with a sparse operand: pinned, and apart from its parts.
class DenseResult {
 public:
  // Throws what a malformed output deserves, and ALIASED. `out` outlives the call.
  DenseResult(const tnr_view_mut& out, const tnr_sparse_view& a) {
    check_view_mut(out, "out");
    pins_.add_mut(out, "out");
    require_alias(out.view, a.major, "a.major", SameView::kRefused);
    require_alias(out.view, a.minor, "a.minor", SameView::kRefused);
    require_alias(out.view, a.values, "a.values", SameView::kRefused);
  }

 private:
  Pins pins_;
};

// Throws INVALID_ARGUMENT unless `out` has the shape of a matrix, or of a batch of them.
inline void require_dense_shape(const tnr_view& out, const tnr_sparse_view& a) {
  const std::uint32_t rank = is_batch(a) ? 3 : 2;
  if (out.rank != rank) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "out.rank is %" PRIu32 " but must be %" PRIu32 "%s", out.rank,
         rank, is_batch(a) ? ", as a is a batch" : "");
  }
  const std::pair<std::int64_t, const char*> shape[] = {
      {is_batch(a) ? batch_count(a) : 1, "the number of matrices of a"},
      {a.rows, "a.rows"},
      {a.cols, "a.cols"}};
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    const auto& [extent, name] = shape[3 - rank + axis];
    if (out.shape[axis] != extent) {
      fail(TNR_STATUS_INVALID_ARGUMENT, "out.shape[%" PRIu32 "] is %" PRId64 " but %s is %" PRId64,
           axis, out.shape[axis], name, extent);
    }
  }
}

// Throws INVALID_ARGUMENT unless the view has rank 1 and `length` elements.
inline void require_length(const tnr_view& view, const char* name, std::int64_t length,
                           const char* of) {
  if (view.rank != 1) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.rank is %" PRIu32 " but must be 1", name, view.rank);
  }
  if (view.shape[0] != length) {
    fail(TNR_STATUS_INVALID_ARGUMENT, "%s.shape[0] is %" PRId64 " but %s is %" PRId64, name,
         view.shape[0], of, length);
  }
}

}  // namespace tenure
