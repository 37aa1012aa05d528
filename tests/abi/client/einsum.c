/* Sums of products by Einstein's convention. */
#include "client.h"

static const float numbers[4] = {1, -2, 3, -4};

/* [1 -2; 3 -4] times itself, transposed; and the shape of its trace. */
int check_einsum(void) {
  float got[4];
  tnr_view operands[2];
  tnr_view_mut out;
  uint32_t rank = 9;
  int64_t shape[TNR_MAX_RANK];
  OK(lend(numbers, 2, 2, &operands[0]));
  operands[1] = operands[0];
  OK(lend_mut(got, 2, 2, &out));
  OK(tnr_einsum(NULL, "ij,jk->ki", operands, 2, NULL, &out));
  CHECK(got[0] == -5 && got[1] == -9 && got[2] == 6 && got[3] == 10);
  OK(tnr_einsum_shape("ii", operands, 1, &rank, shape));
  CHECK(rank == 0 && shape[0] == 0 && shape[7] == 0);
  out.view.rank = rank;
  OK(tnr_einsum(NULL, "ii", operands, 1, NULL, &out));
  CHECK(got[0] == -3);
  return 0;
}
