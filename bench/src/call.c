/* The cost of a call to a C program: the loop is C, so that nothing of Rust is in the figure. */
#include <tenure/tenure.h>

tnr_status tenure_bench_add(const tnr_view* a, const tnr_view* b, const tnr_view_mut* out,
                            uint64_t count) {
  tnr_status status = TNR_STATUS_OK;
  for (uint64_t i = 0; i < count && status == TNR_STATUS_OK; ++i) {
    status = tnr_binary(NULL, TNR_BINARY_OP_ADD, a, b, NULL, out);
  }
  return status;
}

/* The smallest call there is. Returns the sum of what the calls return. */
uint64_t tenure_bench_empty(uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) sum += tnr_abi_version();
  return sum;
}
