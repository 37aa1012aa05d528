/* Products of dense matrices. */
#include "client.h"

#if TNR_WANT_MINOR >= 2
static const float numbers[4] = {1, -2, 3, -4};

/* [1 -2; 3 -4] times itself, and times its transpose. */
int check_matmul(void) {
  const tnr_scalar one = scalar(1);
  const tnr_scalar zero = scalar(0);
  float got[4];
  tnr_view a, b;
  tnr_view_mut out;
  OK(lend(numbers, 2, 2, &a));
  OK(lend_mut(got, 2, 2, &out));
  OK(tnr_matmul(NULL, &one, &a, &a, &zero, NULL, &out));
  CHECK(got[0] == -5 && got[1] == 6 && got[2] == -9 && got[3] == 10);
  OK(tnr_view_transpose(&a, 0, 1, &b));
  OK(tnr_matmul(NULL, &one, &a, &b, &one, NULL, &out));
  CHECK(got[0] == 0 && got[1] == 17 && got[2] == 2 && got[3] == 35);
  return 0;
}
#endif
