// What devices take of sparse matrices. Offsets even of no rows are an element, so that no call is
// tried.
#include "program/device/calls.hpp"
#include "tenure/dtype.hpp"

namespace tenure {
namespace {

tnr_sparse_format format_of(const GraphNode& node) noexcept {
  const tnr_sparse_format given = node.attributes.sparse.format;
  return given == 0 ? TNR_SPARSE_FORMAT_CSR : given;
}
[[noreturn]] void refuse_format(const Context& context, const char* taken) {
  fail(TNR_STATUS_UNSUPPORTED, "takes %s on %s, and others only on the CPU", taken,
       device_name(context).text);
}
void require_sparse_dtype(const Context& context, tnr_dtype dtype, bool is_taken) {
  if (is_taken) return;
  fail(TNR_STATUS_UNSUPPORTED, "takes %s only on the CPU, not on %s", dtype_name(dtype),
       device_name(context).text);
}
bool is_real_float(tnr_dtype dtype) noexcept {
  return dtype == TNR_DTYPE_F64 || dtype == TNR_DTYPE_F32 || dtype == TNR_DTYPE_F16 ||
         dtype == TNR_DTYPE_BF16;
}

}  // namespace

void try_device_sparse_matmul(const Context& context, const GraphNode& node, const OperandType*,
                              tnr_dtype result) {
  const bool is_transposed = node.attributes.sparse.orientation == TNR_ORIENTATION_TRANSPOSED;
  if (format_of(node) != (is_transposed ? TNR_SPARSE_FORMAT_CSC : TNR_SPARSE_FORMAT_CSR)) {
    refuse_format(context, "CSR and CSC that is transposed");
  }
  require_sparse_dtype(context, result, is_real_float(result));
}

void try_device_sparse_sddmm(const Context& context, const GraphNode& node, const OperandType*,
                             tnr_dtype result) {
  if (format_of(node) != TNR_SPARSE_FORMAT_CSR && format_of(node) != TNR_SPARSE_FORMAT_CSC) {
    refuse_format(context, "CSR and CSC");
  }
  require_sparse_dtype(context, result, is_real_float(result));
}

void try_device_sparse_to_dense(const Context& context, const GraphNode& node, const OperandType*,
                                tnr_dtype result) {
  if (format_of(node) != TNR_SPARSE_FORMAT_CSR && format_of(node) != TNR_SPARSE_FORMAT_CSC) {
    refuse_format(context, "CSR and CSC");
  }
  // Sums of entries at one position are not rounded as the CPU's.
  const bool is_narrow_float = result == TNR_DTYPE_F16 || result == TNR_DTYPE_BF16;
  const bool is_unique = (node.attributes.sparse.flags & TNR_SPARSE_UNIQUE) != 0;
  require_sparse_dtype(context, result,
                       element_size(result) <= 8 && (is_unique || !is_narrow_float));
}

}  // namespace tenure
