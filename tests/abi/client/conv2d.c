/* Convolutions of images. */
#include "client.h"

#if TNR_WANT_MINOR >= 2
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
#endif
