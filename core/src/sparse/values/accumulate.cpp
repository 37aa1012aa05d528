// Entries added to dense memory.
#include "sparse/entries.hpp"
#include "sparse/traffic.hpp"
#include "tenure/shape.hpp"
#include "tenure/sparse.hpp"
#include "threads/parallel.hpp"

namespace tenure {
namespace {

// Rows of the matrix, as `major` sees them, are added by one thread each: no two threads add to the
// same element, and each element takes its entries in their order.
template <class T>
void accumulate(const Context& context, const SparseOperand& a, const tnr_view_mut& out_view) {
  const tnr_sparse_view& view = a.view();
  const IndexReader offsets(view.major);
  const IndexReader columns(view.minor);
  const T* const values = static_cast<const T*>(view.values.data);
  T* const out = reinterpret_cast<T*>(writable(out_view));
  const bool is_csr = view.format == TNR_SPARSE_FORMAT_CSR;
  const std::int64_t row_step = stride_of(out_view.view, is_csr ? 0 : 1);
  const std::int64_t column_step = stride_of(out_view.view, is_csr ? 1 : 0);
  constexpr std::int64_t kEntryBytes = 128;  // mostly a line of its own, read and written
  for_each_row_run(context, a, kEntryBytes, [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t row = begin; row < end; ++row) {
      T* const to = out + row * row_step;
      const std::int64_t row_end = offsets[row + 1];
      for (std::int64_t k = offsets[row]; k < row_end; ++k) {
        T& element = to[columns[k] * column_step];
        element = wrapping_add(element, values[k]);
      }
    }
  });
}

}  // namespace

void sparse_accumulate(const Context& context, const tnr_sparse_view& a, const tnr_view_mut& out) {
  const SparseOperand operand(a, "a");
  const DenseResult result(out, a);
  require_compressed(a, "a");
  require_dense_shape(out.view, a);
  require_dtype(out.view, "out", a.values.dtype, "a.values.dtype is");
  with_number("accumulate", a.values.dtype,
              [&]<class T>(T) { accumulate<T>(context, operand, out); });
  const std::uint64_t dense_bytes = element_bytes(out.view);
  count_call(TNR_OPERATION_SPARSE_ACCUMULATE, matrix_bytes(a) + dense_bytes, dense_bytes);
}

}  // namespace tenure
