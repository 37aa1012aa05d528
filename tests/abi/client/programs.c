/* Graphs and programs: built, listed, run, with an operation of the client's own. */
#include "client.h"

static const float numbers[4] = {1, -2, 3, -4};
static const float added[2] = {10, 20};
static int releases;

#ifdef __cplusplus
extern "C" {
#endif
static tnr_status same_shape(void* context, const tnr_view* operands, uint32_t count,
                             const int64_t* given, uint32_t given_count, tnr_dtype* dtype,
                             uint32_t* rank, int64_t* shape) {
  (void)context, (void)given;
  if (count != 1 || given_count != 0) return TNR_STATUS_INVALID_ARGUMENT;
  *dtype = operands[0].dtype;
  *rank = operands[0].rank;
  memcpy(shape, operands[0].shape, sizeof operands[0].shape);
  return TNR_STATUS_OK;
}
static tnr_status negate(void* context, const tnr_view* operands, uint32_t count,
                         const int64_t* given, uint32_t given_count, const tnr_view_mut* out) {
  (void)context, (void)count, (void)given, (void)given_count;
  return tnr_unary(NULL, TNR_UNARY_OP_NEG, &operands[0], NULL, out);
}
static void count_release(void* context) { ++*(int*)context; }
#ifdef __cplusplus
}
#endif

static tnr_graph_node graph_node(uint32_t code, const uint32_t* operands, uint32_t count) {
  tnr_graph_node node;
  memset(&node, 0, sizeof node);
  node.struct_size = sizeof node;
  node.code = code;
  node.operands = operands;
  node.operand_count = count;
  return node;
}

static int check_list(const tnr_graph* graph) {
  tnr_graph_info info;
  tnr_extent_info extent;
  tnr_value_info value;
  tnr_graph_node node;
  tnr_custom_info custom;
  tnr_view constant;
  tnr_scalar number;
  uint32_t of = 9, updates = 9;
  memset(&info, 0, sizeof info);
  memset(&extent, 0, sizeof extent);
  memset(&value, 0, sizeof value);
  memset(&node, 0, sizeof node);
  info.struct_size = sizeof info;
  extent.struct_size = sizeof extent;
  value.struct_size = sizeof value;
  node.struct_size = sizeof node;
  OK(tnr_graph_describe(graph, &info));
  CHECK(info.value_count == 6 && info.input_count == 1 && info.constant_count == 1);
  CHECK(info.scalar_count == 1 && info.node_count == 3 && info.output_count == 1);
  CHECK(info.extent_count == 2 && info.custom_count == 1);
  OK(tnr_graph_describe_extent(graph, 0, &extent));
  CHECK(extent.op == 0 && extent.a == 8 && strcmp(extent.name, "rows") == 0);
  OK(tnr_graph_describe_value(graph, 0, &value));
  CHECK(value.source == TNR_VALUE_SOURCE_INPUT && value.rank == 2 && value.shape[0] == 8);
  CHECK(value.numbers[0] == TNR_EXTENT && value.numbers[1] == 2);
  OK(tnr_graph_describe_node(graph, 0, &node));
  CHECK(node.code == TNR_NODE_BINARY + TNR_BINARY_OP_MUL && node.operand_count == 2);
  memset(&custom, 0, sizeof custom);
  custom.struct_size = sizeof custom;
  OK(tnr_graph_describe_custom(graph, 0, &custom));
  CHECK(custom.operand_count == 1 && custom.number_count == 0 && custom.name[0] != 0);
  OK(tnr_graph_describe_constant(graph, 0, &constant));
  CHECK(constant.rank == 1 && ((const float*)constant.data)[1] == 20);
  OK(tnr_graph_describe_scalar(graph, 0, &number));
  CHECK(number.dtype != 0);
  OK(tnr_graph_describe_output(graph, 0, &of, &updates));
  CHECK(of == 5 && updates == TNR_OPERAND_NONE);
  return 0;
}

/* -(a * 2 + constant), of any number of rows. */
int check_programs(void) {
  uint8_t reads[3] = {9, 9, 9};
  float got[4] = {0, 0, 0, 0};
  int64_t shape[TNR_MAX_RANK] = {0, 2};
  int64_t axes[TNR_MAX_RANK];
  int64_t twice = 0, rows = 0;
  uint32_t a, constant, two, product, sum, negated, gradient, lowered, custom = 9, subgraph = 9;
  uint32_t quantizable_count = 9;
  tnr_quantizable quantizable;
  uint32_t operands[2];
  uint32_t rank = 9;
  tnr_dtype dtype = 0;
  tnr_view view, vector;
  tnr_view_mut out;
  const tnr_view* inputs[1];
  const tnr_view_mut* outputs[1];
  tnr_scalar factor = scalar(2);
  tnr_custom_operation operation;
  tnr_graph_node node;
  tnr_memory_plan plan;
  tnr_step_info step;
  tnr_pass_info pass;
  tnr_program *program, *again;
  tnr_program_attributes attributes;
  tnr_view_mut packed;
  tnr_blob* image;
  tnr_bound *bound, *preallocated;
  tnr_bound_attributes binding;
  tnr_graph *body, *copy;
  tnr_graph* graph = tnr_graph_create();
  CHECK(graph != NULL);
  OK(lend(numbers, 2, 2, &view));
  OK(lend(added, 2, 0, &vector));
  OK(lend_mut(got, 2, 2, &out));
  inputs[0] = &view;
  outputs[0] = &out;

  OK(tnr_graph_add_extent(graph, "rows", 8, &shape[0]));
  OK(tnr_graph_combine_extents(graph, TNR_EXTENT_OP_MUL, shape[0], 2, &twice));
  CHECK(twice == TNR_EXTENT + 1);
  OK(tnr_graph_add_input(graph, TNR_DTYPE_F32, 2, shape, &a));
  OK(tnr_graph_add_constant(graph, &vector, &constant));
  OK(tnr_graph_add_scalar(graph, &factor, &two));
  operands[0] = a;
  operands[1] = two;
  node = graph_node(TNR_NODE_BINARY + TNR_BINARY_OP_MUL, operands, 2);
  OK(tnr_graph_add_node(graph, &node, &product));
  operands[0] = product;
  operands[1] = constant;
  node = graph_node(TNR_NODE_BINARY + TNR_BINARY_OP_ADD, operands, 2);
  OK(tnr_graph_add_node(graph, &node, &sum));
  memset(&operation, 0, sizeof operation);
  operation.struct_size = sizeof operation;
  operation.name = "negate";
  operation.infer = same_shape;
  operation.compute = negate;
  operation.user_context = &releases;
  operation.release = count_release;
  operation.operand_count = 1;
  OK(tnr_graph_add_custom(graph, &operation, &custom));
  operands[0] = sum;
  node = graph_node(TNR_NODE_CUSTOM + custom, operands, 1);
  OK(tnr_graph_add_node(graph, &node, &negated));
  OK(tnr_graph_add_output(graph, negated, TNR_OPERAND_NONE));
  if (check_list(graph) != 0) return 1;

  body = tnr_graph_create();
  CHECK(body != NULL);
  OK(tnr_graph_add_extent(body, "rows", 8, &rows));
  OK(tnr_graph_add_subgraph(body, graph, &subgraph));
  CHECK(subgraph == 0);
  copy = tnr_graph_copy_subgraph(body, subgraph);
  CHECK(copy != NULL && check_list(copy) == 0);
  OK(tnr_graph_release(copy));
  OK(tnr_graph_release(body));
  OK(tnr_graph_mark(graph, 0, 1, TNR_MARK_KEEP));
  OK(tnr_graph_describe_shape(graph, sum, axes));
  CHECK(axes[0] == shape[0] && axes[1] == 2);
  OK(tnr_graph_add_gradients(graph, sum, sum, &a, 1, NULL, &gradient));
  CHECK(gradient != TNR_OPERAND_NONE);
  OK(tnr_graph_add_mixed_precision(graph, &sum, 1, TNR_DTYPE_BF16, NULL, &lowered));
  CHECK(lowered != TNR_OPERAND_NONE);
  /* Without a product. */
  CHECK(tnr_graph_quantize(graph, &sum, 1, NULL, &lowered) == TNR_STATUS_INVALID_ARGUMENT);
  OK(tnr_graph_quantizable(graph, &sum, 1, NULL, 1, &quantizable, &quantizable_count));
  CHECK(quantizable_count == 0);

  program = tnr_program_create(NULL, graph, NULL);
  CHECK(program != NULL);
  image = tnr_blob_copy_packed(NULL, program, &packed);
  CHECK(image != NULL);
  memset(&attributes, 0, sizeof attributes);
  attributes.struct_size = sizeof attributes;
  attributes.enabled_passes = TNR_PASS_PACKING;
  attributes.packed = &packed.view;
  again = tnr_program_create(NULL, graph, &attributes);
  CHECK(again != NULL);
  OK(tnr_blob_release(image));
  OK(tnr_program_release(again));
  OK(tnr_graph_release(graph));
  again = tnr_program_retain(program);
  CHECK(again != NULL);
  OK(tnr_program_release(again));
  OK(tnr_program_output_shape(program, inputs, 1, 0, &dtype, &rank, shape));
  CHECK(dtype == TNR_DTYPE_F32 && rank == 2 && shape[0] == 2 && shape[1] == 2);
  memset(&plan, 0, sizeof plan);
  plan.struct_size = sizeof plan;
  OK(tnr_program_memory(program, inputs, 1, &plan));
  CHECK(plan.step_count == 2 && plan.live_bytes == sizeof got);
  memset(&step, 0, sizeof step);
  step.struct_size = sizeof step;
  OK(tnr_program_describe_step(program, inputs, 1, 0, &step));
  CHECK(step.kind == TNR_STEP_KIND_EXPRESSION && strcmp(step.name, "mul add") == 0);
  OK(tnr_program_describe_reads(program, inputs, 1, 1, reads, sizeof reads));
  memset(&pass, 0, sizeof pass);
  pass.struct_size = sizeof pass;
  for (rank = 0; pass.pass != TNR_PASS_FUSION; ++rank) {
    OK(tnr_program_describe_pass(program, inputs, 1, rank, &pass));
  }
  CHECK(pass.count == 1 && pass.is_on == 1 && strcmp(pass.name, "fusion") == 0);
  CHECK(reads[0] == 1 && reads[1] == 0 && reads[2] == 0);
  OK(tnr_program_run(NULL, program, inputs, 1, NULL, outputs, 1));
  CHECK(got[0] == -12 && got[1] == -16 && got[2] == -16 && got[3] == -12);
  /* Runs are captured on devices, which few machines have. */
  memset(&binding, 0, sizeof binding);
  binding.struct_size = sizeof binding;
  binding.flags = TNR_BOUND_CAPTURED;
  CHECK(tnr_bound_create(NULL, program, inputs, 1, &binding, outputs, 1) == NULL);
  CHECK(tnr_bound_run(NULL, NULL, NULL, 0, NULL, NULL, 0) == TNR_STATUS_STALE_HANDLE);
  OK(tnr_bound_release(NULL));
  bound = tnr_bound_create(NULL, program, inputs, 1, NULL, outputs, 1);
  CHECK(bound != NULL);
  binding.flags = TNR_BOUND_PREALLOCATED;
  preallocated = tnr_bound_create(NULL, program, inputs, 1, &binding, outputs, 1);
  CHECK(preallocated != NULL);
  OK(tnr_program_release(program));
  OK(tnr_bound_memory(preallocated, &plan));
  CHECK(plan.step_count == 2);
  memset(got, 0, sizeof got);
  OK(tnr_bound_run(NULL, preallocated, inputs, 1, NULL, outputs, 1));
  CHECK(got[0] == -12 && got[1] == -16 && got[2] == -16 && got[3] == -12);
  memset(got, 0, sizeof got);
  OK(tnr_bound_run(NULL, bound, inputs, 1, NULL, outputs, 1));
  CHECK(got[0] == -12 && got[1] == -16 && got[2] == -16 && got[3] == -12);
  OK(tnr_bound_release(preallocated));
  OK(tnr_bound_release(bound));
  CHECK(releases == 1);
  CHECK(tnr_plugin_check(NULL) == NULL);
  CHECK(tnr_set_last_error(TNR_STATUS_BUSY, "away") == TNR_STATUS_BUSY);
  return 0;
}
