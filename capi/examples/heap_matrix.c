/* A matrix from malloc, lent for a call as it is, and then handed over for longer than a call.
 *
 * Lent: a view is a plain value, and the memory stays the program's. Handed over: the library frees
 * it with the last handle, or gives it back when asked while nobody else holds it. */
#include <stdio.h>
#include <stdlib.h>
#include <tenure/tenure.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  return EXIT_FAILURE;
}

int main(void) {
  enum { kRows = 1000, kCols = 64 };
  const int64_t shape[] = {kRows, kCols};
  const size_t size_bytes = sizeof(float) * kRows * kCols;
  float* const matrix = malloc(size_bytes);
  float means[kCols];
  tnr_view rows;
  tnr_view_mut out, centred;
  tnr_blob* blob;
  if (matrix == NULL) return EXIT_FAILURE;
  for (int i = 0; i < kRows * kCols; ++i) matrix[i] = (float)(i % kCols);

  /* Lent to read: the mean of each column. */
  if (tnr_view_lend(matrix, size_bytes, 0, TNR_DTYPE_F32, 2, shape, NULL, &rows) ||
      tnr_view_lend_mut(means, sizeof means, 0, TNR_DTYPE_F32, 1, &shape[1], NULL, &out) ||
      tnr_reduce(NULL, TNR_REDUCE_OP_MEAN, &rows, 1u << 0, NULL, &out)) {
    free(matrix);
    return failed("mean");
  }

  /* Handed over: from here the blob's holders decide how long it lasts. */
  blob = tnr_blob_adopt(matrix, size_bytes, free, matrix);
  if (blob == NULL) {
    free(matrix); /* a failed adopt takes nothing */
    return failed("adopt");
  }
  if (tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 2, shape, NULL, &centred) ||
      tnr_binary(NULL, TNR_BINARY_OP_SUB, &centred.view, &out.view, NULL, &centred)) {
    tnr_blob_release(blob);
    return failed("subtract");
  }

  /* Taken back: the same pointer, and free() is the program's again. */
  if (tnr_blob_reclaim(blob, matrix) != TNR_STATUS_OK) {
    tnr_blob_release(blob);
    return failed("reclaim");
  }
  printf("column 5 had the mean %g; its first element is now %g\n", means[5], matrix[5]);
  free(matrix);
  return EXIT_SUCCESS;
}
