#include "client.h"

tnr_scalar scalar(float value) {
  tnr_scalar result;
  memset(&result, 0, sizeof result);
  result.dtype = TNR_DTYPE_F32;
  memcpy(result.bytes, &value, sizeof value);
  return result;
}

tnr_status lend(const float* data, int64_t rows, int64_t cols, tnr_view* out) {
  const int64_t shape[2] = {rows, cols};
  const size_t count = (size_t)(cols == 0 ? rows : rows * cols);
  return tnr_view_lend(data, count * sizeof *data, 0, TNR_DTYPE_F32, cols == 0 ? 1 : 2, shape, NULL,
                       out);
}

tnr_status lend_mut(float* data, int64_t rows, int64_t cols, tnr_view_mut* out) {
  const int64_t shape[2] = {rows, cols};
  const size_t count = (size_t)(cols == 0 ? rows : rows * cols);
  return tnr_view_lend_mut(data, count * sizeof *data, 0, TNR_DTYPE_F32, cols == 0 ? 1 : 2, shape,
                           NULL, out);
}

int main(void) {
  int failed = check_library() + check_contexts() + check_blobs() + check_views();
  failed += check_operations();
  failed += check_devices() + check_arrays() + check_exchange() + check_sparse() +
            check_sparse_operations() + check_packed() + check_matmul() + check_conv2d() +
            check_quantized_conv2d() + check_einsum() + check_layers() + check_movement() +
            check_ordering() + check_normalizations() + check_expressions() + check_programs();
  printf("compiled for ABI %d.%d, asked for %d; ran with %u.%u\n", TNR_ABI_MAJOR, TNR_ABI_MINOR,
         TNR_WANT_MINOR, tnr_abi_version() >> 16, tnr_abi_version() & 0xffff);
  return failed != 0;
}
