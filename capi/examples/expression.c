/* Rows standardized and scaled by one call: the nodes of (x - mean) * rsqrt(var + eps) * scale,
 * with a mean and a variance for each row. No tensor between them is written. */
#include <stdio.h>
#include <stdlib.h>
#include <tenure/tenure.h>

enum { kRows = 3, kCols = 4, kBatches = 2 };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  return EXIT_FAILURE;
}

static tnr_node binary(tnr_binary_op op, uint32_t a, uint32_t b) {
  const tnr_node node = {
      TNR_NODE_BINARY + (uint32_t)op, TNR_DTYPE_F32, {a, b, TNR_OPERAND_NONE}, 0, 0, 0};
  return node;
}

/* One for each row: of the last axis, which stays with the extent 1. */
static tnr_node of_rows(tnr_reduce_op op, uint32_t a) {
  const tnr_node node = {TNR_NODE_REDUCE + (uint32_t)op,
                         TNR_DTYPE_F32,
                         {a, TNR_OPERAND_NONE, TNR_OPERAND_NONE},
                         0,
                         1u << 1 | TNR_NODE_KEEP_AXES,
                         0};
  return node;
}

int main(void) {
  const float batches[kBatches][kRows * kCols] = {{1, 2, 3, 4, 10, 10, 20, 20, -1, 0, 0, 1},
                                                  {4, 3, 2, 1, 5, 5, 5, 6, 0, 0, 1, 7}};
  const float scale[kCols] = {1, 1, 2, 2};
  const int64_t shape[] = {kRows, kCols};
  const uint32_t x = TNR_OPERAND_VIEW, scales = TNR_OPERAND_VIEW + 1, eps = TNR_OPERAND_SCALAR;
  const tnr_node rsqrt = {TNR_NODE_UNARY + TNR_UNARY_OP_RSQRT,
                          TNR_DTYPE_F32,
                          {4, TNR_OPERAND_NONE, TNR_OPERAND_NONE},
                          0,
                          0,
                          0};
  const tnr_node nodes[] = {
      of_rows(TNR_REDUCE_OP_MEAN, x),    binary(TNR_BINARY_OP_SUB, x, 0),
      binary(TNR_BINARY_OP_MUL, 1, 1),   of_rows(TNR_REDUCE_OP_MEAN, 2),
      binary(TNR_BINARY_OP_ADD, 3, eps), rsqrt,
      binary(TNR_BINARY_OP_MUL, 1, 5),   binary(TNR_BINARY_OP_MUL, 6, scales)};
  const tnr_scalar scalars[] = {tnr_scalar_f64(1e-5)};
  float result[kRows * kCols];
  tnr_view batch, scale_view;
  tnr_view_mut out;
  const tnr_view* const views[] = {&batch, &scale_view};
  tnr_expression expression = {sizeof expression, nodes, views, scalars, NULL, 8, 2, 1, 0};

  if (tnr_view_lend(batches[0], sizeof batches[0], 0, TNR_DTYPE_F32, 2, shape, NULL, &batch) ||
      tnr_view_lend(scale, sizeof scale, 0, TNR_DTYPE_F32, 1, &shape[1], NULL, &scale_view) ||
      tnr_view_lend_mut(result, sizeof result, 0, TNR_DTYPE_F32, 2, shape, NULL, &out)) {
    return failed("lend");
  }
  for (int i = 0; i < kBatches; ++i) {
    if (tnr_view_lend(batches[i], sizeof batches[i], 0, TNR_DTYPE_F32, 2, shape, NULL, &batch) ||
        tnr_evaluate(NULL, &expression, NULL, &out)) {
      return failed("evaluate");
    }
    printf("batch %d, row 0: %.3f %.3f %.3f %.3f\n", i, result[0], result[1], result[2], result[3]);
  }
  return EXIT_SUCCESS;
}
