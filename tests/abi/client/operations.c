/* Dense operations on [1, -2, 3, -4]. */
#include "client.h"

static const float numbers[4] = {1, -2, 3, -4};

static int check_arithmetic(const tnr_view* a, const float* got, const tnr_view_mut* out) {
  const tnr_scalar two = scalar(2);
  OK(tnr_copy(NULL, a, NULL, out));
  CHECK(memcmp(got, numbers, sizeof numbers) == 0);
  OK(tnr_unary(NULL, TNR_UNARY_OP_ABS, a, NULL, out));
  CHECK(got[1] == 2 && got[3] == 4);
  OK(tnr_binary(NULL, TNR_BINARY_OP_MUL, a, a, NULL, out));
  CHECK(got[1] == 4 && got[3] == 16);
  OK(tnr_binary_scalar(NULL, TNR_BINARY_OP_SUB, a, &two, NULL, out));
  CHECK(got[0] == -1 && got[3] == -6);
  OK(tnr_scalar_binary(NULL, TNR_BINARY_OP_DIV, &two, a, NULL, out));
  CHECK(got[0] == 2 && got[3] == -0.5f);
  OK(tnr_ternary(NULL, TNR_TERNARY_OP_FMA, a, a, a, NULL, out));
  CHECK(got[0] == 2 && got[3] == 12);
  OK(tnr_fill(NULL, &two, NULL, out));
  CHECK(got[0] == 2 && got[3] == 2);
  return 0;
}

static int check_truth(const tnr_view* a, const float* got, const tnr_view_mut* out) {
  unsigned char truth[4];
  const int64_t four = 4;
  const tnr_scalar zero = scalar(0);
  tnr_view_mut mask;
  tnr_view other;
  OK(tnr_view_lend_mut(truth, 4, 0, TNR_DTYPE_BOOL8, 1, &four, NULL, &mask));
  OK(tnr_compare(NULL, TNR_COMPARE_OP_NE, a, a, NULL, &mask));
  CHECK(truth[0] == 0 && truth[3] == 0);
  OK(tnr_compare_scalar(NULL, TNR_COMPARE_OP_LT, a, &zero, NULL, &mask));
  CHECK(truth[0] == 0 && truth[1] == 1);
  OK(lend(numbers + 3, 1, 0, &other));
  OK(tnr_select(NULL, &mask.view, &other, a, NULL, out));
  CHECK(got[0] == 1 && got[1] == -4 && got[2] == 3 && got[3] == -4);
  return 0;
}

static int check_casts(const tnr_view* a) {
  tnr_reduce_attributes with_ddof;
  int32_t whole[4];
  double sum;
  const int64_t four = 4;
  float got;
  tnr_view_mut out;
  memset(&with_ddof, 0, sizeof with_ddof);
  with_ddof.struct_size = sizeof with_ddof;
  with_ddof.ddof = 1;
  OK(tnr_view_lend_mut(whole, sizeof whole, 0, TNR_DTYPE_I32, 1, &four, NULL, &out));
  OK(tnr_cast(NULL, a, NULL, &out));
  CHECK(whole[0] == 1 && whole[3] == -4);
  OK(tnr_view_lend_mut(&got, sizeof got, 0, TNR_DTYPE_F32, 0, NULL, NULL, &out));
  OK(tnr_reduce(NULL, TNR_REDUCE_OP_SUM, a, 1, NULL, &out));
  sum = got;
  CHECK(sum == -2);
  OK(tnr_reduce(NULL, TNR_REDUCE_OP_VAR, a, 1, &with_ddof, &out));
  CHECK(got > 9.66f && got < 9.67f);
  return 0;
}

static int check_random(float* got, const tnr_view_mut* out) {
  int32_t order[4];
  const int64_t four = 4;
  tnr_view_mut numbers_out;
  OK(tnr_random(NULL, TNR_RANDOM_DISTRIBUTION_UNIFORM, 0, 0, NULL, out));
  /* The first word of a block whose key and counter are 0 is 0x6627e8d5. */
  CHECK(got[0] == (float)0x6627e8 / 16777216);
  OK(tnr_view_lend_mut(order, sizeof order, 0, TNR_DTYPE_I32, 1, &four, NULL, &numbers_out));
  OK(tnr_random_permutation(NULL, 1, 0, NULL, &numbers_out));
  CHECK(order[0] + order[1] + order[2] + order[3] == 6);
  return 0;
}

int check_operations(void) {
  float got[4];
  tnr_view a;
  tnr_view_mut out;
  OK(lend(numbers, 4, 0, &a));
  OK(lend_mut(got, 4, 0, &out));
  OK(check_random(got, &out));
  return check_arithmetic(&a, got, &out) + check_truth(&a, got, &out) + check_casts(&a);
}
