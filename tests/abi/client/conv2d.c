/* Convolutions of images. */
#include "client.h"

static const float numbers[4] = {1, -2, 3, -4};

/* One image and one filter, each of one channel and two rows. */
static void as_image(tnr_view* view) {
  view->rank = 4;
  view->shape[2] = view->shape[3] = 2;
  view->strides[2] = 2;
  view->strides[3] = 1;
  view->shape[0] = view->shape[1] = 1;
}

/* [1 -2; 3 -4] by itself: where it is, and then moved right by one, with a bias and relu. */
int check_conv2d(void) {
  tnr_conv2d_attributes attributes;
  float got[4];
  tnr_view a, bias;
  tnr_view_mut out;
  OK(lend(numbers, 2, 2, &a));
  as_image(&a);
  OK(lend(numbers, 1, 0, &bias));
  OK(lend_mut(got, 2, 2, &out));
  as_image(&out.view);
  out.view.shape[2] = out.view.shape[3] = 1;
  OK(tnr_conv2d(NULL, &a, &a, NULL, NULL, &out));
  CHECK(got[0] == 30);
  memset(&attributes, 0, sizeof attributes);
  attributes.struct_size = sizeof attributes;
  attributes.padding[3] = 1;
  attributes.activation = TNR_UNARY_OP_RELU;
  out.view.shape[3] = 2;
  OK(tnr_conv2d(NULL, &a, &a, &bias, &attributes, &out));
  CHECK(got[0] == 31 && got[1] == 0);
  return 0;
}

/* Pools the 2x2 image by mean and by maximum, and takes the gradient of the latter. Then one
 * element, convolved and normalized, and the gradient of its filter. */
int check_layers(void) {
  static const float two[1] = {2};
  tnr_pool2d_attributes windows;
  tnr_batch_norm_attributes with;
  float got[4];
  tnr_view a, g, var;
  tnr_view_mut out;
  OK(lend(numbers, 2, 2, &a));
  as_image(&a);
  OK(lend(two, 1, 1, &g));
  as_image(&g);
  g.shape[2] = g.shape[3] = 1;
  OK(lend_mut(got, 2, 2, &out));
  as_image(&out.view);
  OK(tnr_pool2d_gradient(NULL, TNR_REDUCE_OP_MAX, &a, &g, NULL, &out));
  CHECK(got[0] + got[1] + got[2] + got[3] == 2);
  memset(&windows, 0, sizeof windows);
  windows.struct_size = sizeof windows;
  windows.kernel[0] = windows.kernel[1] = 1;
  OK(tnr_pool2d(NULL, TNR_REDUCE_OP_MEAN, &a, &windows, &out));
  CHECK(got[0] == 1 && got[3] == -4);
  out.view.shape[2] = out.view.shape[3] = 1;
  OK(tnr_pool2d(NULL, TNR_REDUCE_OP_MAX, &a, NULL, &out));
  CHECK(got[0] == 3);
  a.shape[2] = a.shape[3] = 1;
  OK(tnr_conv2d_transposed(NULL, &a, &a, NULL, NULL, &out));
  CHECK(got[0] == 1);
  OK(tnr_conv2d_filters(NULL, &a, &g, NULL, &out));
  CHECK(got[0] == 2);
  OK(lend(numbers, 1, 0, &var));
  memset(&with, 0, sizeof with);
  with.struct_size = sizeof with;
  with.eps = 3;
  OK(tnr_batch_norm(NULL, &a, NULL, &var, NULL, NULL, &with, &out));
  CHECK(got[0] == 0.5f);
  return 0;
}

/* One row of three pixels, less a zero point of 1, by itself. */
int check_quantized_conv2d(void) {
  static const signed char bytes[3] = {1, 2, 4};
  static const signed char one[1] = {1};
  tnr_view a, scale, zero;
  tnr_view_mut out;
  float got[1];
  OK(lend(numbers, 1, 0, &scale));
  a = scale;
  a.base = a.data = bytes;
  a.dtype = TNR_DTYPE_I8;
  a.size_bytes = sizeof bytes;
  as_image(&a);
  a.shape[2] = 1;
  a.shape[3] = 3;
  zero = scale;
  zero.base = zero.data = one;
  zero.dtype = TNR_DTYPE_I8;
  zero.size_bytes = sizeof one;
  OK(lend_mut(got, 1, 0, &out));
  as_image(&out.view);
  out.view.shape[2] = out.view.shape[3] = 1;
  OK(tnr_quantized_conv2d(NULL, &a, &scale, &zero, &a, &scale, NULL, NULL, &out));
  CHECK(got[0] == 14);
  return 0;
}

/* Along rows. */
int check_normalizations(void) {
  tnr_normalize_attributes with;
  float got[4];
  tnr_view a;
  tnr_view_mut mean, out;
  OK(lend(numbers, 2, 2, &a));
  OK(lend_mut(got, 2, 2, &out));
  memset(&with, 0, sizeof with);
  with.struct_size = sizeof with;
  OK(tnr_normalize(NULL, TNR_NORMALIZE_OP_LAYER_NORM, &a, 2, &with, &out));
  CHECK(got[0] == -got[1] && got[2] == -got[3]);
  OK(tnr_scan(NULL, TNR_SCAN_OP_SUM, &a, 1, NULL, &out));
  CHECK(got[0] == numbers[0] && got[1] == numbers[0] + numbers[1]);
  OK(lend_mut(got, 2, 0, &out));
  OK(lend_mut(got + 2, 2, 0, &mean));
  OK(tnr_moments(NULL, &a, 2, NULL, &mean, &out));
  CHECK(got[2] == (numbers[0] + numbers[1]) / 2);
  return 0;
}
