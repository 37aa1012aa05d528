#include "client.h"

static const float numbers[4] = {3, 1, 2, 1};

static tnr_status lend_counts(int64_t* data, int64_t count, tnr_view_mut* out) {
  return tnr_view_lend_mut(data, (size_t)count * sizeof *data, 0, TNR_DTYPE_I64, 1, &count, NULL,
                           out);
}

int check_ordering(void) {
  const double half = 0.5;
  float got[4];
  int64_t places[4];
  tnr_histogram_attributes range;
  tnr_view a, value;
  tnr_view_mut out, indices, counts;
  tnr_blob* blob;
  OK(lend(numbers, 4, 0, &a));
  OK(lend_mut(got, 4, 0, &out));
  OK(lend_counts(places, 4, &indices));
  OK(tnr_sort(NULL, &a, 0, NULL, &indices, &out));
  CHECK(got[0] == 1 && got[3] == 3 && places[0] == 1 && places[1] == 3);
  OK(lend(got, 4, 0, &a));
  OK(lend(numbers + 2, 1, 0, &value));
  OK(lend_counts(places, 1, &indices));
  OK(tnr_searchsorted(NULL, &a, &value, NULL, &indices));
  CHECK(places[0] == 2);
  OK(lend_counts(places + 1, 3, &counts));
  OK(tnr_bincount(NULL, &indices.view, NULL, &counts));
  CHECK(places[1] == 0 && places[3] == 1);
  OK(lend(numbers, 4, 0, &a));
  OK(tnr_partition(NULL, &a, 0, 2, NULL, NULL, &out));
  CHECK(got[2] == 2 && got[3] == 3);
  OK(lend_mut(got, 1, 0, &out));
  OK(tnr_top_k(NULL, &a, 0, NULL, NULL, &out));
  CHECK(got[0] == 3);
  OK(tnr_quantile(NULL, &a, 1, &half, 1, NULL, &out));
  CHECK(got[0] == 1.5f);
  memset(&range, 0, sizeof range);
  range.struct_size = sizeof range;
  range.low = 1;
  range.high = 4;
  OK(tnr_histogram(NULL, &a, NULL, &range, &counts));
  CHECK(places[1] == 2 && places[2] == 1 && places[3] == 1);
  blob = tnr_unique(NULL, &a, NULL, NULL, &counts, &out);
  CHECK(blob != NULL && out.view.shape[0] == 3 && counts.view.shape[0] == 3);
  OK(tnr_blob_release(blob));
  return 0;
}
