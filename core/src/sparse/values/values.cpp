// Operations that keep the pattern of a matrix and compute new values: functions, scaling, row
// softmax.
#include <algorithm>
#include <cinttypes>

#include "cpu/dispatch.hpp"
#include "cpu/operations.hpp"
#include "dense/loops/strip_runner.hpp"
#include "sparse/entries.hpp"
#include "sparse/traffic.hpp"
#include "sparse/values/value_runs.hpp"
#include "tenure/ops.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"
#include "view/operand_checks.hpp"

namespace tenure {
namespace {

// Takes a reference of each part of a matrix that is not its values, or none.
void share_indices(const tnr_sparse_view& matrix) {
  const BlobToken parts[] = {matrix.major.owner, matrix.minor.owner, matrix.batch_offsets.owner};
  const unsigned count = is_batch(matrix) ? 3 : 2;
  unsigned held = 0;
  try {
    for (; held < count; ++held) blob_retain(parts[held]);
  } catch (...) {
    while (held != 0) blob_drop(parts[--held]);
    throw;
  }
}

void require_function_of_zero(tnr_unary_op op, tnr_dtype dtype) {
  const auto row = static_cast<std::uint32_t>(op) - 1;
  if (row >= kernels::kUnaryCount) refuse_code("unary", op);
  const char* const name = kernels::kUnaryRows[row].name;
  const tnr_dtype given = result_dtype(kernels::kUnaryRows[row].gives, dtype);
  if (given != dtype) {
    fail(TNR_STATUS_UNSUPPORTED, "%s of %s gives %s but the result has the values' dtype", name,
         dtype_name(dtype), dtype_name(given));
  }
  if (kernels::kUnaryRows[row].keeps_zero) return;
  fail(TNR_STATUS_UNSUPPORTED,
       "%s(0) is not 0, so that %s of a sparse matrix is dense: convert it to dense", name, name);
}

template <class T>
void scale_rows(const Context& context, const SparseOperand& a, const tnr_view& factors,
                T* values) {
  const IndexReader offsets(a.view().major);
  const T* const factor = static_cast<const T*>(factors.data);
  const std::int64_t step = stride_of(factors, 0);
  for_each_row_run(context, a, 2 * a.value_bytes(),
                   [&](std::int64_t begin, std::int64_t end) noexcept {
                     std::int64_t first = offsets[begin];
                     for (std::int64_t row = begin; row < end; ++row) {
                       const std::int64_t last = offsets[row + 1];
                       const T by = factor[row * step];
                       for (std::int64_t k = first; k < last; ++k) {
                         values[k] = wrapping_mul(values[k], by);
                       }
                       first = last;
                     }
                   });
}

template <class T, class I>
void scale_columns(const Context& context, const SparseOperand& a, const tnr_view& factors,
                   T* values) {
  const IndexReader offsets(a.view().major);
  const I* const columns = static_cast<const I*>(a.view().minor.data);
  const T* const factor = static_cast<const T*>(factors.data);
  const std::int64_t step = stride_of(factors, 0);
  for_each_row_run(context, a, 2 * a.value_bytes(),
                   [&](std::int64_t begin, std::int64_t end) noexcept {
                     const std::int64_t last = offsets[end];
                     for (std::int64_t k = offsets[begin]; k < last; ++k) {
                       values[k] = wrapping_mul(values[k], factor[columns[k] * step]);
                     }
                   });
}

template <class T>
void scale(const Context& context, const SparseOperand& a, bool by_row, const tnr_view& factors,
           T* values) {
  if (by_row) return scale_rows(context, a, factors, values);
  if (a.view().minor.dtype == TNR_DTYPE_I32) {
    return scale_columns<T, std::int32_t>(context, a, factors, values);
  }
  scale_columns<T, std::int64_t>(context, a, factors, values);
}

// Each row less its largest, which is NaN if any is, so that no exponential overflows.
template <class T>
void subtract_largest(T* row, std::int64_t count) noexcept {
  const T largest = fold_extremes<Largest<T>>(row, count);
  for (std::int64_t k = 0; k < count; ++k) row[k] -= largest;
}

template <class T>
void divide_by_sum(T* row, std::int64_t count) noexcept {
  const T factor = static_cast<T>(1 / fold_run<AddUp<T>>(row, count));
  for (std::int64_t k = 0; k < count; ++k) row[k] *= factor;
}

// Rows that have some entries together: one call computes all their exponentials, in a near cache.
template <class T>
void softmax(const Context& context, const SparseOperand& a, T* values) {
  constexpr std::int64_t kTogether = 2048;
  const IndexReader offsets(a.view().major);
  const kernels::StripKernel exp =
      kernels::unary_kernels()[TNR_UNARY_OP_EXP - 1][type_index(a.view().values.dtype)].kernel;
  const auto for_each_row = [&](std::int64_t begin, std::int64_t end, const auto& body) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t count = offsets[row + 1] - offsets[row];
      if (count != 0) body(values + offsets[row], count);
    }
  };
  for_each_row_run(context, a, 2 * a.value_bytes(),
                   [&](std::int64_t begin, std::int64_t end) noexcept {
                     while (begin < end) {
                       const std::int64_t first = offsets[begin];
                       std::int64_t last_row = begin + 1;
                       while (last_row < end && offsets[last_row + 1] - first <= kTogether)
                         ++last_row;
                       for_each_row(begin, last_row, subtract_largest<T>);
                       constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
                       auto* const bytes = reinterpret_cast<kernels::Byte*>(values + first);
                       const kernels::StripInput source[] = {{bytes, kWidth, kWidth}};
                       exp(dense_strip(offsets[last_row] - first, bytes, kWidth, source));
                       for_each_row(begin, last_row, divide_by_sum<T>);
                       begin = last_row;
                     }
                   });
}

}  // namespace

SparseToken sparse_unary(const Context& context, tnr_unary_op op, const tnr_sparse_view& a) {
  const SparseUse use(a.owner, "a");
  if (use.whole() == nullptr) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a.owner is 0 but must be a matrix, whose indices the result shares: of lent arrays "
         "a.values alone is what changes");
  }
  // The whole, whatever part of it the view is of.
  tnr_sparse_view result = *use.whole();
  if (a.rows != result.rows || a.cols != result.cols || a.major.data != result.major.data ||
      a.batch_offsets.data != result.batch_offsets.data ||
      (is_batch(result) && a.batch_offsets.shape[0] != result.batch_offsets.shape[0])) {
    fail(TNR_STATUS_INVALID_ARGUMENT,
         "a has rows of its owner but must be all of it, whose indices the result shares");
  }
  require_function_of_zero(op, result.values.dtype);
  const tnr_view& values = result.values;
  const BlobToken made = blob_allocate(context, static_cast<std::size_t>(element_bytes(values)));
  tnr_view out = make_view(blob_memory(made).data, static_cast<std::size_t>(element_bytes(values)),
                           0, values.dtype, values.rank, values.shape, nullptr);
  out.owner = made;
  try {
    unary(context, op, values, {out});
    share_indices(result);
  } catch (...) {
    blob_drop(made);
    throw;
  }
  result.values = out;
  return sparse_open(result);
}

void sparse_scale(const Context& context, const tnr_view& factors, std::uint32_t axis,
                  const tnr_sparse_view_mut& a) {
  const SparseOperand operand(a, "a");
  require_compressed(a.view, "a");
  check_view(factors, "factors");
  if (axis > 1) fail(TNR_STATUS_INVALID_ARGUMENT, "axis is %" PRIu32 " but must be 0 or 1", axis);
  require_length(factors, "factors", axis == 0 ? a.view.rows : a.view.cols,
                 axis == 0 ? "a.rows" : "a.cols");
  require_dtype(factors, "factors", a.view.values.dtype, "a.values.dtype is");
  Pins pins;
  pins.add(factors, "factors");
  require_alias(a.view.values, factors, "factors", SameView::kRefused);
  const bool by_row = (axis == 0) == (a.view.format == TNR_SPARSE_FORMAT_CSR);
  auto* const values = writable(tnr_view_mut{a.view.values});
  with_number("scale", factors.dtype, [&]<class T>(T) {
    scale(context, operand, by_row, factors, reinterpret_cast<T*>(values));
  });
  count_call(TNR_OPERATION_SPARSE_SCALE, matrix_bytes(a.view) + element_bytes(factors),
             value_bytes(a.view));
}

void sparse_softmax(const Context& context, const tnr_sparse_view_mut& a) {
  const SparseOperand operand(a, "a");
  if (a.view.format != TNR_SPARSE_FORMAT_CSR) {
    fail(TNR_STATUS_UNSUPPORTED,
         "a.format is %" PRId32 " but must be CSR (2), which has rows: convert it", a.view.format);
  }
  auto* const values = writable(tnr_view_mut{a.view.values});
  with_float("softmax", a.view.values.dtype,
             [&]<class T>(T) { softmax(context, operand, reinterpret_cast<T*>(values)); });
  count_call(TNR_OPERATION_SPARSE_SOFTMAX, matrix_bytes(a.view), value_bytes(a.view));
}

}  // namespace tenure
