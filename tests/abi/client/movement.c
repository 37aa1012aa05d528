/* Movement of elements. */
#include "client.h"

static const float numbers[4] = {1, 0, 3, 0};
static const int64_t chosen[2] = {1, 0};

/* Rows of [1 0; 3 0] by their indices, and elements by theirs. */
static int check_indices(void) {
  const int64_t shape[1] = {2};
  float got[4];
  tnr_view a, line, indices;
  tnr_view_mut out, out_line;
  OK(lend(numbers, 2, 2, &a));
  OK(lend(numbers, 2, 0, &line));
  OK(tnr_view_lend(chosen, sizeof chosen, 0, TNR_DTYPE_I64, 1, shape, NULL, &indices));
  OK(lend_mut(got, 2, 2, &out));
  OK(lend_mut(got, 2, 0, &out_line));
  OK(tnr_take(NULL, &a, 0, &indices, NULL, &out));
  CHECK(got[0] == 3 && got[2] == 1);
  OK(tnr_gather(NULL, &line, 0, &indices, NULL, &out_line));
  CHECK(got[0] == 0 && got[1] == 1);
  OK(tnr_put(NULL, 0, &a, 0, &indices, NULL, &out));
  CHECK(got[0] == 3 && got[2] == 1);
  OK(tnr_scatter(NULL, TNR_BINARY_OP_ADD, &line, 0, &indices, NULL, &out_line));
  CHECK(got[0] == 3 && got[1] == 1);
  return 0;
}

/* That matrix twice, and with a column before it; and its upper triangle. */
static int check_boxes(void) {
  float got[8];
  tnr_view parts[2];
  tnr_view_mut out;
  tnr_pad_attributes around;
  tnr_triangle_attributes above;
  OK(lend(numbers, 2, 2, &parts[0]));
  parts[1] = parts[0];
  OK(lend_mut(got, 2, 4, &out));
  OK(tnr_concat(NULL, parts, 2, 1, NULL, &out));
  CHECK(got[2] == 1 && got[6] == 3);
  memset(&around, 0, sizeof around);
  around.struct_size = sizeof around;
  around.before[1] = 1;
  around.value = scalar(7);
  OK(tnr_pad(NULL, TNR_PAD_MODE_CONSTANT, parts, &around, &out));
  CHECK(got[0] == 7 && got[1] == 1 && got[3] == 7);
  memset(&above, 0, sizeof above);
  above.struct_size = sizeof above;
  OK(lend_mut(got, 2, 2, &out));
  OK(tnr_triangular(NULL, TNR_TRIANGLE_UPPER, parts, &above, &out));
  CHECK(got[0] == 1 && got[2] == 0);
  return 0;
}

/* The places of its elements that are not 0, and the elements that a mask names. */
static int check_found(void) {
  static const uint8_t truth[4] = {0, 0, 1, 0};
  const int64_t shape[2] = {2, 2};
  tnr_view a, mask;
  tnr_view_mut found;
  tnr_blob* blob;
  OK(lend(numbers, 2, 2, &a));
  OK(tnr_view_lend(truth, sizeof truth, 0, TNR_DTYPE_BOOL8, 2, shape, NULL, &mask));
  blob = tnr_nonzero(NULL, &a, NULL, &found);
  CHECK(blob != NULL && found.view.shape[0] == 2 && found.view.shape[1] == 2);
  CHECK(((const int64_t*)found.view.data)[2] == 1);
  OK(tnr_blob_release(blob));
  blob = tnr_masked_select(NULL, &a, &mask, NULL, &found);
  CHECK(blob != NULL && found.view.shape[0] == 1 && *(const float*)found.view.data == 3);
  OK(tnr_blob_release(blob));
  return 0;
}

int check_movement(void) { return check_indices() + check_boxes() + check_found(); }
