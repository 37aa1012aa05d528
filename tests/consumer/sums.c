/* README.md shows this program: change both together. */
#include <stdio.h>
#include <stdlib.h>
#include <tenure/tenure.h>

/* Every call that can fail leaves its reason with the calling thread. */
static void check(tnr_status status) {
  if (status != TNR_STATUS_OK) {
    fprintf(stderr, "%s: %s\n", tnr_status_name(status), tnr_last_error()->message);
    exit(EXIT_FAILURE);
  }
}

int main(void) {
  /* Lend arrays of our own: a view is a plain value, with no copy and nothing to free. */
  const float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
  const float row[3] = {10, 20, 30};
  float sums[2];
  const int64_t shape[] = {2, 3};
  tnr_view table_view, row_view;
  tnr_view_mut sums_view;
  check(tnr_view_lend(table, sizeof table, 0, TNR_DTYPE_F32, 2, shape, NULL, &table_view));
  check(tnr_view_lend(row, sizeof row, 0, TNR_DTYPE_F32, 1, &shape[1], NULL, &row_view));
  check(tnr_view_lend_mut(sums, sizeof sums, 0, TNR_DTYPE_F32, 1, &shape[0], NULL, &sums_view));

  /* Hand memory over: the library calls free(buffer) when the last handle is released. */
  float* buffer = malloc(sizeof table);
  if (buffer == NULL) return EXIT_FAILURE;
  tnr_blob* blob = tnr_blob_adopt(buffer, sizeof table, free, buffer);
  if (blob == NULL) {
    free(buffer); /* a failed adopt takes nothing */
    check(tnr_last_error()->status);
    return EXIT_FAILURE;
  }
  tnr_view_mut shifted;
  check(tnr_blob_view_mut(blob, 0, TNR_DTYPE_F32, 2, shape, NULL, &shifted));

  /* shifted = table + row, with row broadcast; then sums = the sum of shifted over axis 1. */
  check(tnr_binary(NULL, TNR_BINARY_OP_ADD, &table_view, &row_view, NULL, &shifted));
  check(tnr_reduce(NULL, TNR_REDUCE_OP_SUM, &shifted.view, 1u << 1, NULL, &sums_view));
  check(tnr_blob_release(blob));

  printf("%s\nsums: %g %g\n", tnr_build_info(), sums[0], sums[1]);
  return EXIT_SUCCESS;
}
