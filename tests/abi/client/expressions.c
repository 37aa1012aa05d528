/* Several operations at once. */
#include "client.h"

static const float numbers[4] = {1, -2, 3, -4};

static tnr_node node(uint32_t code, uint32_t a, uint32_t b) {
  tnr_node result;
  memset(&result, 0, sizeof result);
  result.code = code;
  result.dtype = TNR_DTYPE_F32;
  result.operands[0] = a;
  result.operands[1] = b;
  result.operands[2] = TNR_OPERAND_NONE;
  return result;
}

/* relu(a * 2 + a), and the shape of its result. */
int check_expressions(void) {
  float got[4] = {0, 0, 0, 0};
  tnr_view a;
  tnr_view_mut out;
  const tnr_view* views[1];
  tnr_node nodes[3];
  tnr_scalar two = scalar(2);
  tnr_expression expression;
  tnr_dtype dtype = 0;
  uint32_t rank = 9;
  int64_t shape[TNR_MAX_RANK];
  nodes[0] = node(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, TNR_OPERAND_VIEW, TNR_OPERAND_SCALAR);
  nodes[1] = node(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, 0, TNR_OPERAND_VIEW);
  nodes[2] = node(TNR_NODE_UNARY + TNR_UNARY_OP_RELU, 1, TNR_OPERAND_NONE);
  views[0] = &a;
  memset(&expression, 0, sizeof expression);
  expression.struct_size = sizeof expression;
  expression.nodes = nodes;
  expression.node_count = 3;
  expression.views = views;
  expression.view_count = 1;
  expression.scalars = &two;
  expression.scalar_count = 1;
  OK(lend(numbers, 2, 2, &a));
  OK(lend_mut(got, 2, 2, &out));

  OK(tnr_expression_shape(&expression, &dtype, &rank, shape));
  CHECK(rank == 2 && shape[0] == 2 && shape[1] == 2 && dtype == TNR_DTYPE_F32);
  OK(tnr_evaluate(NULL, &expression, NULL, &out));
  CHECK(got[0] == 3 && got[1] == 0 && got[2] == 9 && got[3] == 0);
  return 0;
}
