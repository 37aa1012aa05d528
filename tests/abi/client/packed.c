/* A packed matrix: the diagonal of 1, 2, 3, 4. */
#include "client.h"

int check_packed(void) {
  const tnr_packed_attributes narrow = {sizeof narrow, TNR_PACKED_LAYOUT_NARROW, 0};
  const int32_t offsets[5] = {0, 1, 2, 3, 4};
  const int64_t four = 4, five = 5;
  const float values[4] = {1, 2, 3, 4};
  const tnr_scalar one = scalar(1), zero = scalar(0);
  float got[4];
  tnr_sparse_view a;
  tnr_packed_info info;
  tnr_packed *packed, *again;
  tnr_view b;
  tnr_view_mut out;
  memset(&a, 0, sizeof a);
  a.struct_size = sizeof a;
  a.format = TNR_SPARSE_FORMAT_CSR;
  a.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  a.rows = a.cols = 4;
  a.block_rows = a.block_cols = 1;
  OK(tnr_view_lend(offsets, sizeof offsets, 0, TNR_DTYPE_I32, 1, &five, NULL, &a.major));
  OK(tnr_view_lend(offsets, sizeof offsets, 0, TNR_DTYPE_I32, 1, &four, NULL, &a.minor));
  OK(lend(values, 4, 0, &a.values));

  packed = tnr_packed_create(NULL, &a, &narrow);
  CHECK(packed != NULL);
  again = tnr_packed_retain(packed);
  CHECK(again != NULL);
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  OK(tnr_packed_describe(packed, &info));
  CHECK(info.struct_size == sizeof info && info.layout == TNR_PACKED_LAYOUT_NARROW);
  CHECK(info.dtype == TNR_DTYPE_F32 && info.rows == 4 && info.cols == 4 && info.nnz == 4);
  CHECK(info.block_rows == 1 && info.block_cols == 1);
  OK(tnr_packed_release(again));
  OK(lend(values, 4, 0, &b));
  OK(lend_mut(got, 4, 0, &out));
  OK(tnr_packed_matmul(NULL, &one, packed, &b, &zero, NULL, &out));
  CHECK(got[0] == 1 && got[1] == 4 && got[2] == 9 && got[3] == 16);
  OK(tnr_packed_release(packed));
  return 0;
}
