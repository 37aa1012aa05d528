/* Sparse matrices, from [[0, 1, 0], [2, 0, 3], [0, 0, 4]] to others of their kind. */
#include "client.h"

static const int32_t offsets[4] = {0, 1, 3, 4};
static const int32_t columns[4] = {1, 0, 2, 2};
static float values[4] = {1, 2, 3, 4};
static const float dense[9] = {0, 1, 0, 2, 0, 3, 0, 0, 4};

static tnr_status lend_matrix(tnr_sparse_view_mut* out) {
  tnr_status status;
  out->view.struct_size = sizeof out->view;
  status =
      tnr_sparse_lend(TNR_SPARSE_FORMAT_CSR, 3, 3, TNR_DTYPE_I32, offsets, sizeof offsets, columns,
                      sizeof columns, TNR_DTYPE_F32, values, sizeof values, &out->view);
  if (status != TNR_STATUS_OK) return status;
  out->view.flags = TNR_SPARSE_SORTED | TNR_SPARSE_UNIQUE;
  return TNR_STATUS_OK;
}

/* Whether a new matrix, which is released, is what 9 numbers say. */
static int is(tnr_sparse* matrix, const float* expected) {
  float got[9];
  tnr_sparse_view view;
  tnr_view_mut out;
  CHECK(matrix != NULL);
  memset(&view, 0, sizeof view);
  view.struct_size = sizeof view;
  OK(tnr_sparse_view_of(matrix, &view));
  CHECK(view.struct_size == sizeof view && view.owner != 0);
  OK(lend_mut(got, 3, 3, &out));
  OK(tnr_sparse_to_dense(NULL, &view, NULL, &out));
  CHECK(memcmp(got, expected, sizeof got) == 0);
  OK(tnr_sparse_release(matrix));
  return 0;
}

static int check_made(const tnr_sparse_view* a) {
  const tnr_sparse_top_k_attributes largest = {sizeof largest, TNR_DTYPE_I64, 0};
  const tnr_sparse_dropout_attributes dropout = {sizeof dropout, TNR_DTYPE_I32, 0};
  const float half[9] = {0, 0, 0, 0, 0, 3, 0, 0, 4}, top[9] = {0, 1, 0, 0, 0, 3, 0, 0, 4};
  const tnr_sparse_convert_attributes sorted = {sizeof sorted, 0, TNR_CONVERT_SORT, 0, 0};
  tnr_sparse_from_dense_attributes wide;
  tnr_sparse_prune_attributes above;
  tnr_sparse_view kept;
  tnr_view full;
  tnr_sparse* matrix;
  CHECK(is(tnr_sparse_convert(NULL, TNR_SPARSE_FORMAT_CSC, a, NULL), dense) == 0);
  CHECK(is(tnr_sparse_convert(NULL, TNR_SPARSE_FORMAT_COO, a, &sorted), dense) == 0);
  CHECK(is(tnr_sparse_coalesce(NULL, TNR_SPARSE_COMBINE_SUM, a, NULL), dense) == 0);
  CHECK(is(tnr_sparse_top_k(NULL, TNR_SPARSE_ORDER_VALUE, a, 1, NULL), top) == 0);
  memset(&above, 0, sizeof above);
  above.struct_size = sizeof above;
  above.predicate = TNR_SPARSE_PREDICATE_GREATER;
  above.threshold = scalar(2);
  CHECK(is(tnr_sparse_prune(NULL, a, &above), half) == 0);
  CHECK(is(tnr_sparse_prune(NULL, a, NULL), dense) == 0);

  OK(lend(dense, 3, 3, &full));
  memset(&wide, 0, sizeof wide);
  wide.struct_size = sizeof wide;
  wide.index_dtype = TNR_DTYPE_I64;
  CHECK(is(tnr_sparse_from_dense(NULL, TNR_SPARSE_FORMAT_CSR, &full, &wide), dense) == 0);
  CHECK(is(tnr_sparse_from_dense_dropout(NULL, &full, 0, 1, &dropout), dense) == 0);
  matrix = tnr_sparse_from_dense_top_k(NULL, TNR_SPARSE_ORDER_MAGNITUDE, &full, 1, &largest);
  CHECK(is(matrix, top) == 0);

  matrix = tnr_sparse_from_dense(NULL, TNR_SPARSE_FORMAT_COO, &full, NULL);
  CHECK(matrix != NULL);
  memset(&kept, 0, sizeof kept);
  kept.struct_size = sizeof kept;
  OK(tnr_sparse_view_of(matrix, &kept));
  CHECK(is(tnr_sparse_unary(NULL, TNR_UNARY_OP_ABS, &kept, NULL), dense) == 0);
  OK(tnr_sparse_release(matrix));
  return 0;
}

/* Two rows over the third; a column times a row. */
static int check_joined(const tnr_sparse_view* a) {
  const float column_by_row[9] = {0, 0, 0, 4, 0, 6, 0, 0, 0};
  tnr_sparse *upper = tnr_sparse_slice(NULL, a, 0, 2, 0, 3, NULL),
             *lower = tnr_sparse_slice(NULL, a, 2, 1, 0, 3, NULL),
             *column = tnr_sparse_slice(NULL, a, 0, 3, 0, 1, NULL),
             *row = tnr_sparse_slice(NULL, a, 1, 1, 0, 3, NULL);
  tnr_sparse_view views[4];
  const tnr_sparse_view* parts[2];
  memset(views, 0, sizeof views);
  views[0].struct_size = views[1].struct_size = sizeof *views;
  views[2].struct_size = views[3].struct_size = sizeof *views;
  OK(tnr_sparse_view_of(upper, &views[0]));
  OK(tnr_sparse_view_of(lower, &views[1]));
  OK(tnr_sparse_view_of(column, &views[2]));
  OK(tnr_sparse_view_of(row, &views[3]));
  parts[0] = &views[0];
  parts[1] = &views[1];
  CHECK(is(tnr_sparse_concat(NULL, TNR_SPARSE_JOIN_ROWS, parts, 2, NULL), dense) == 0);
  CHECK(is(tnr_sparse_kron(NULL, &views[2], &views[3], NULL), column_by_row) == 0);
  OK(tnr_sparse_release(upper));
  OK(tnr_sparse_release(lower));
  OK(tnr_sparse_release(column));
  OK(tnr_sparse_release(row));
  return 0;
}

static int check_parts(const tnr_sparse_view* a) {
  const float block[9] = {2, 0, 3, 0, 0, 4, 0, 1, 0};
  const float lower[9] = {0, 0, 0, 2, 0, 0, 0, 0, 0};
  const tnr_triangle_attributes below = {sizeof below, -1};
  const int32_t rows[3] = {1, 2, 0};
  const int64_t three = 3;
  tnr_view list;
  tnr_sparse *matrix = tnr_sparse_convert(NULL, TNR_SPARSE_FORMAT_CSR, a, NULL), *again;
  tnr_sparse_view view;
  tnr_blob *major = NULL, *minor = NULL, *entries = NULL;
  CHECK(matrix != NULL);
  again = tnr_sparse_retain(matrix);
  CHECK(again != NULL);
  OK(tnr_sparse_parts(matrix, &major, &minor, &entries));
  CHECK(memcmp(tnr_blob_data(entries), values, sizeof values) == 0);
  OK(tnr_blob_release(major));
  OK(tnr_blob_release(minor));
  OK(tnr_blob_release(entries));
  OK(tnr_sparse_release(again));
  OK(tnr_sparse_release(matrix));

  OK(tnr_view_lend(rows, sizeof rows, 0, TNR_DTYPE_I32, 1, &three, NULL, &list));
  CHECK(is(tnr_sparse_select(NULL, a, &list, NULL, NULL), block) == 0);
  CHECK(is(tnr_sparse_slice(NULL, a, 0, 3, 0, 3, NULL), dense) == 0);
  CHECK(is(tnr_sparse_triangular(NULL, TNR_TRIANGLE_LOWER, a, &below), lower) == 0);
  CHECK(check_joined(a) == 0);
  memset(&view, 0, sizeof view);
  view.struct_size = sizeof view;
  matrix = tnr_sparse_slice(NULL, a, 1, 2, 1, 2, NULL);
  CHECK(matrix != NULL);
  OK(tnr_sparse_view_of(matrix, &view));
  CHECK(view.rows == 2 && view.cols == 2);
  OK(tnr_sparse_release(matrix));
  return 0;
}

static int check_batch(void) {
  float two[18];
  const int64_t shape[3] = {2, 3, 3};
  tnr_view stack;
  tnr_view_mut out;
  tnr_sparse_view batch, one;
  tnr_blob* starts = NULL;
  tnr_sparse* matrix;
  memcpy(two, dense, sizeof dense);
  memcpy(two + 9, dense, sizeof dense);
  OK(tnr_view_lend(two, sizeof two, 0, TNR_DTYPE_F32, 3, shape, NULL, &stack));
  matrix = tnr_sparse_from_dense(NULL, TNR_SPARSE_FORMAT_CSR, &stack, NULL);
  CHECK(matrix != NULL);
  memset(&batch, 0, sizeof batch);
  batch.struct_size = sizeof batch;
  one = batch;
  OK(tnr_sparse_view_of(matrix, &batch));
  OK(tnr_sparse_batch_at(&batch, 1, &one));
  OK(lend_mut(two, 3, 3, &out));
  OK(tnr_sparse_to_dense(NULL, &one, NULL, &out));
  CHECK(memcmp(two, dense, sizeof dense) == 0);
  OK(tnr_sparse_batch_offsets(matrix, &starts));
  CHECK(starts != NULL);
  OK(tnr_blob_release(starts));
  OK(tnr_sparse_release(matrix));
  return 0;
}

int check_sparse(void) {
  tnr_sparse_view_mut a;
  tnr_sparse* refused;
  OK(lend_matrix(&a));
  OK(tnr_sparse_check(&a.view));
  OK(tnr_sparse_check_mut(&a));
  refused = tnr_sparse_create(&a.view); /* nothing holds what is only lent */
  CHECK(refused == NULL && tnr_last_error()->status == TNR_STATUS_INVALID_ARGUMENT);
  return check_made(&a.view) + check_parts(&a.view) + check_batch();
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static int check_products(const tnr_sparse_view* a) {
  const tnr_sparse_sddmm_attributes times_values = {sizeof times_values, TNR_SDDMM_TIMES_VALUES, 0};
  const float square[9] = {2, 0, 3, 0, 2, 12, 0, 0, 16}, masked[9] = {0, 0, 0, 0, 0, 12, 0, 0, 16};
  const float sum[9] = {0, 2, 0, 4, 0, 6, 0, 0, 8}, x[3] = {1, 10, 100};
  const tnr_scalar one = scalar(1), zero = scalar(0);
  float got[4];
  tnr_view b, left, right;
  tnr_view_mut out;
  tnr_sparse* product;
  CHECK(is(tnr_sparse_product(NULL, a, a, NULL), square) == 0);
  product = tnr_sparse_product_masked(NULL, a, a, a, NULL);
  CHECK(is(product, masked) == 0);
  CHECK(is(tnr_sparse_binary(NULL, TNR_BINARY_OP_ADD, a, a, NULL), sum) == 0);
  OK(lend(x, 3, 0, &b));
  OK(lend_mut(got, 3, 0, &out));
  OK(tnr_sparse_matmul(NULL, TNR_ORIENTATION_TRANSPOSED, &one, a, &b, &zero, NULL, &out));
  CHECK(got[0] == 20 && got[1] == 1 && got[2] == 430);
  OK(lend(x, 3, 1, &left));
  OK(lend(x, 1, 3, &right));
  OK(lend_mut(got, 4, 0, &out));
  OK(tnr_sparse_sddmm(NULL, &one, a, &left, &right, &times_values, &out));
  CHECK(got[0] == 10 && got[1] == 20 && got[2] == 3000 && got[3] == 40000);
  return 0;
}

static int check_numbers(const tnr_sparse_view* a) {
  float got[9] = {0};
  double norm = 0;
  tnr_view_mut out;
  OK(lend_mut(got, 3, 0, &out));
  OK(tnr_sparse_reduce(NULL, TNR_REDUCE_OP_SUM, a, 1, NULL, &out));
  CHECK(got[0] == 2 && got[1] == 1 && got[2] == 7);
  OK(tnr_sparse_diagonal(NULL, a, NULL, &out));
  CHECK(got[0] == 0 && got[1] == 0 && got[2] == 4);
  OK(tnr_sparse_norm(NULL, TNR_SPARSE_NORM_KIND_ONE, a, NULL, &norm));
  CHECK(norm == 7);
  memset(got, 0, sizeof got);
  OK(lend_mut(got, 3, 3, &out));
  OK(tnr_sparse_accumulate(NULL, a, NULL, &out));
  OK(tnr_sparse_accumulate(NULL, a, NULL, &out));
  CHECK(got[1] == 2 && got[8] == 8);
  return 0;
}

static int check_in_place(const tnr_sparse_view_mut* a) {
  const tnr_sparse_solve_attributes upper_unit = {sizeof upper_unit,
                                                  TNR_SOLVE_UPPER | TNR_SOLVE_UNIT_DIAGONAL, 0};
  const float factors[3] = {1, 2, 0.5f}, b[3] = {1, 1, 1};
  float x[3];
  tnr_view by, right;
  tnr_view_mut out;
  OK(lend(factors, 3, 0, &by));
  OK(tnr_sparse_scale(NULL, &by, 0, NULL, a));
  CHECK(values[0] == 1 && values[1] == 4 && values[2] == 6 && values[3] == 2);
  OK(lend(b, 3, 0, &right));
  OK(lend_mut(x, 3, 0, &out));
  OK(tnr_sparse_solve(NULL, &a->view, &right, &upper_unit, &out));
  CHECK(x[2] == 1 && x[1] == -5 && x[0] == 6);
  OK(tnr_sparse_softmax(NULL, NULL, a));
  CHECK(values[0] == 1 && values[1] + values[2] > 0.99f && values[3] == 1);
  return 0;
}

int check_sparse_operations(void) {
  tnr_sparse_view_mut a;
  OK(lend_matrix(&a));
  return check_products(&a.view) + check_numbers(&a.view) + check_in_place(&a);
}
