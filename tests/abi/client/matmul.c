/* Products of dense matrices. */
#include "client.h"

static const float numbers[4] = {1, -2, 3, -4};

/* Packed once, for many products. */
static int check_factor(const tnr_view* a, const float* got, const tnr_view_mut* out) {
  const tnr_scalar one = scalar(1);
  const tnr_scalar zero = scalar(0);
  tnr_factor_info info;
  tnr_factor* factor = tnr_factor_create(NULL, a, NULL);
  tnr_factor* again = tnr_factor_retain(factor);
  CHECK(factor != NULL && again != NULL);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(tnr_factor_describe(factor, &info));
  CHECK(info.dtype == TNR_DTYPE_F32 && info.rows == 2 && info.cols == 2);
  OK(tnr_factor_release(again));
  OK(tnr_factor_matmul(NULL, &one, a, factor, &zero, NULL, out));
  CHECK(got[0] == -5 && got[1] == 6 && got[2] == -9 && got[3] == 10);
  OK(tnr_factor_release(factor));
  return 0;
}

/* Columns as integers with scales, back again, and as a right factor. */
static int check_quantized(const tnr_view* a, const float* got, const tnr_view_mut* out) {
  signed char integers[4];
  float scale[2];
  tnr_view_mut values = *out;
  tnr_view_mut scales = *out;
  tnr_factor* factor;
  values.view.dtype = TNR_DTYPE_I8;
  values.view.base = values.view.data = integers;
  values.view.size_bytes = sizeof integers;
  scales.view.base = scales.view.data = scale;
  scales.view.size_bytes = sizeof scale;
  scales.view.shape[0] = 1;
  OK(tnr_quantize_dynamic(NULL, a, NULL, &scales, NULL, &values));
  CHECK(integers[2] == 127 && integers[3] == -127);
  OK(tnr_quantize(NULL, a, &scales.view, NULL, NULL, &values));
  CHECK(integers[2] == 127 && integers[3] == -127);
  OK(tnr_dequantize(NULL, &values.view, &scales.view, NULL, NULL, out));
  CHECK(got[2] > 2.99f && got[2] < 3.01f && got[3] > -4.01f && got[3] < -3.99f);
  OK(tnr_quantized_matmul(NULL, a, NULL, NULL, &values.view, &scales.view, NULL, NULL, out));
  CHECK(got[0] > -5.1f && got[0] < -4.9f && got[3] > 9.9f && got[3] < 10.1f);
  factor = tnr_factor_create(NULL, &values.view, NULL);
  CHECK(factor != NULL);
  OK(tnr_factor_quantized_matmul(NULL, a, NULL, NULL, factor, &scales.view, NULL, NULL, out));
  CHECK(got[0] > -5.1f && got[0] < -4.9f && got[3] > 9.9f && got[3] < 10.1f);
  OK(tnr_factor_release(factor));
  return 0;
}

/* [-5 6; -9 10]; its positive elements become entries. */
static int check_rectified(const tnr_view* a) {
  const tnr_scalar one = scalar(1);
  tnr_sparse_from_matmul_attributes with;
  tnr_sparse_view view;
  tnr_sparse* matrix;
  memset(&with, 0, sizeof with);
  with.struct_size = sizeof with;
  with.activation = TNR_UNARY_OP_RELU;
  matrix = tnr_sparse_from_matmul(NULL, &one, a, a, &with);
  CHECK(matrix != NULL);
  memset(&view, 0, sizeof view);
  view.struct_size = sizeof view;
  OK(tnr_sparse_view_of(matrix, &view));
  CHECK(view.minor.shape[0] == 2);
  CHECK(((const float*)view.values.data)[0] == 6 && ((const float*)view.values.data)[1] == 10);
  OK(tnr_sparse_release(matrix));
  return 0;
}

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
  return check_factor(&a, got, &out) + check_quantized(&a, got, &out) + check_rectified(&a);
}
