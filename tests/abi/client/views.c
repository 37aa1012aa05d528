/* Shapes over six numbers: the elements that each makes of [[1, 2, 3], [4, 5, 6]]. */
#include "client.h"

static const float numbers[6] = {1, 2, 3, 4, 5, 6};

/* The element at an index of two axes, or of one. */
static float at(const tnr_view* view, int64_t i, int64_t j) {
  const int64_t along = view->rank > 1 ? j * view->strides[1] : 0;
  return ((const float*)view->data)[i * view->strides[0] + along];
}

static int check_axes(const tnr_view* view) {
  const uint32_t swapped[2] = {1, 0};
  tnr_view out;
  OK(tnr_view_permute(view, 2, swapped, &out));
  CHECK(out.shape[0] == 3 && out.shape[1] == 2 && at(&out, 2, 1) == 6);
  OK(tnr_view_transpose(view, 0, 1, &out));
  CHECK(out.shape[0] == 3 && at(&out, 1, 1) == 5);
  OK(tnr_view_unsqueeze(view, 1, &out));
  CHECK(out.rank == 3 && out.shape[1] == 1);
  OK(tnr_view_squeeze(&out, 1, &out));
  CHECK(out.rank == 2 && out.shape[1] == 3);
  OK(tnr_view_flip(view, 1, &out));
  CHECK(at(&out, 0, 0) == 3 && at(&out, 1, 2) == 4);
  return 0;
}

static int check_shapes(const tnr_view* view) {
  const int64_t other[2] = {3, 2}, wide[2] = {2, 3};
  tnr_view out, row;
  OK(tnr_view_reshape(view, 2, other, &out));
  CHECK(at(&out, 2, 0) == 5);
  OK(tnr_view_flatten(view, &out));
  CHECK(out.rank == 1 && out.shape[0] == 6 && at(&out, 5, 0) == 6);
  OK(tnr_view_index(view, 0, 1, &row));
  CHECK(row.rank == 1 && at(&row, 0, 0) == 4);
  OK(tnr_view_broadcast(&row, 2, wide, &out));
  CHECK(out.strides[0] == 0 && at(&out, 1, 2) == 6);
  return 0;
}

int check_views(void) {
  tnr_view view, out, low, high;
  OK(lend(numbers, 2, 3, &view));
  OK(tnr_view_check(&view));
  CHECK(view.base == numbers && view.size_bytes == sizeof numbers && view.owner == 0);
  CHECK(check_axes(&view) == 0 && check_shapes(&view) == 0);

  OK(tnr_view_slice(&view, 1, 2, -1, -2, &out));
  CHECK(out.shape[1] == 2 && at(&out, 0, 0) == 3 && at(&out, 0, 1) == 1);
  OK(tnr_view_split(&view, 1, 1, &low, &high));
  CHECK(low.shape[1] == 1 && high.shape[1] == 2 && at(&high, 1, 0) == 5);
  OK(tnr_view_chunk(&view, 1, 2, 1, &out));
  CHECK(out.shape[1] == 1 && at(&out, 0, 0) == 3);
  OK(tnr_view_windows(&view, 1, 2, 1, &out));
  CHECK(out.rank == 3 && out.shape[1] == 2 && out.shape[2] == 2);
  return 0;
}
