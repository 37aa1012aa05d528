/* The smallest program that computes: for static_link_test.cmake. */
#include <stdio.h>

#include "tenure/tenure.h"

int main(void) {
  float a[] = {1, 2, 3};
  const float b[] = {4, 5, 6};
  const int64_t count = 3;
  tnr_view in;
  tnr_view_mut out;
  if (tnr_view_lend(b, sizeof b, 0, TNR_DTYPE_F32, 1, &count, NULL, &in) != TNR_STATUS_OK ||
      tnr_view_lend_mut(a, sizeof a, 0, TNR_DTYPE_F32, 1, &count, NULL, &out) != TNR_STATUS_OK ||
      tnr_binary(NULL, TNR_BINARY_OP_ADD, &out.view, &in, NULL, &out) != TNR_STATUS_OK) {
    fprintf(stderr, "%s\n", tnr_last_error()->message);
    return 1;
  }
  return a[0] == 5 && a[1] == 7 && a[2] == 9 ? 0 : 1;
}
