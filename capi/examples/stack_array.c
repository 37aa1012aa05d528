/* Arrays on the stack, and a part of one: strides say which elements, and nothing is copied.
 *
 * The views are good while the function is in its block; a handle that could outlive it is a
 * borrow, which ends before the array does. */
#include <stdio.h>
#include <stdlib.h>
#include <tenure/tenure.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  return EXIT_FAILURE;
}

struct sample {
  float time;
  float left;
  float right;
};

int main(void) {
  const struct sample samples[4] = {{0, 1, -1}, {1, 2, -2}, {2, 3, -3}, {3, 4, -4}};
  const int64_t count = 4;
  const int64_t step = sizeof(struct sample) / sizeof(float);
  float sums[4], loudest;
  tnr_view left, right;
  tnr_view_mut out, max;
  tnr_blob* blob;

  /* One field of each struct: an offset and a stride. */
  if (tnr_view_lend(samples, sizeof samples, offsetof(struct sample, left), TNR_DTYPE_F32, 1,
                    &count, &step, &left) ||
      tnr_view_lend(samples, sizeof samples, offsetof(struct sample, right), TNR_DTYPE_F32, 1,
                    &count, &step, &right) ||
      tnr_view_lend_mut(sums, sizeof sums, 0, TNR_DTYPE_F32, 1, &count, NULL, &out) ||
      tnr_binary(NULL, TNR_BINARY_OP_SUB, &left, &right, NULL, &out)) {
    return failed("subtract");
  }

  /* A borrow can be handed around as any blob can; the array outlives it, or end_borrow says who
   * still has it. */
  blob = tnr_blob_borrow(sums, sizeof sums);
  if (blob == NULL) return failed("borrow");
  if (tnr_blob_view(blob, 0, TNR_DTYPE_F32, 1, &count, NULL, &left) ||
      tnr_view_lend_mut(&loudest, sizeof loudest, 0, TNR_DTYPE_F32, 0, NULL, NULL, &max) ||
      tnr_reduce(NULL, TNR_REDUCE_OP_MAX, &left, 1u << 0, NULL, &max)) {
    return failed("max");
  }
  if (tnr_blob_end_borrow(blob) != TNR_STATUS_OK) return failed("end of the borrow");
  tnr_blob_release(blob);
  printf("the loudest sample is %g\n", loudest);
  return loudest == 8 ? EXIT_SUCCESS : EXIT_FAILURE;
}
