/* Builds a graph, saves it, loads it from the file that is mapped, and runs both. */
#include <stdio.h>
#include <string.h>

#include "tenure/program_file.h"

#define REQUIRE(condition)                                                                      \
  do {                                                                                          \
    if (!(condition)) {                                                                         \
      fprintf(stderr, "line %d: %s; %s; %s\n", __LINE__, #condition, tnr_last_error()->message, \
              tnr_program_file_error());                                                        \
      return 1;                                                                                 \
    }                                                                                           \
  } while (0)

static tnr_status infer(void* context, const tnr_view* operands, uint32_t operand_count,
                        const int64_t* numbers, uint32_t number_count, tnr_dtype* dtype,
                        uint32_t* rank, int64_t* shape) {
  (void)context, (void)operand_count, (void)numbers, (void)number_count;
  *dtype = operands[0].dtype;
  *rank = operands[0].rank;
  memcpy(shape, operands[0].shape, *rank * sizeof *shape);
  return TNR_STATUS_OK;
}

static tnr_status negate(void* context, const tnr_view* operands, uint32_t operand_count,
                         const int64_t* numbers, uint32_t number_count, const tnr_view_mut* out) {
  (void)context, (void)operand_count, (void)numbers, (void)number_count;
  for (int64_t i = 0; i < operands[0].shape[0]; ++i) {
    ((float*)out->view.data)[i] = -((const float*)operands[0].data)[i];
  }
  return TNR_STATUS_OK;
}

static int released = 0;
static void count_release(void* context) {
  (void)context;
  ++released;
}

static int run(const tnr_graph* graph, float* results) {
  float elements[4] = {1, 2, 3, 4};
  const int64_t shape[] = {4};
  tnr_view input;
  tnr_view_mut output;
  tnr_program* program = tnr_program_create(NULL, graph, NULL);
  REQUIRE(program != NULL);
  REQUIRE(tnr_view_lend(elements, sizeof elements, 0, TNR_DTYPE_F32, 1, shape, NULL, &input) ==
          TNR_STATUS_OK);
  REQUIRE(tnr_view_lend(results, sizeof elements, 0, TNR_DTYPE_F32, 1, shape, NULL, &output.view) ==
          TNR_STATUS_OK);
  const tnr_view* inputs[] = {&input};
  const tnr_view_mut* outputs[] = {&output};
  REQUIRE(tnr_program_run(NULL, program, inputs, 1, NULL, outputs, 1) == TNR_STATUS_OK);
  REQUIRE(tnr_program_release(program) == TNR_STATUS_OK);
  return 0;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  const char* path = argv[1];
  const char* names[] = {"negate"};
  tnr_custom_operation operation = {0};
  operation.struct_size = sizeof operation;
  operation.name = names[0];
  operation.infer = infer;
  operation.compute = negate;
  operation.release = count_release;
  operation.operand_count = 1;
  const tnr_custom_operation* operations[] = {&operation};

  tnr_graph* graph = tnr_graph_create();
  const int64_t shape[] = {4};
  const float weights[] = {0.5f, 0.25f, 2, 3};
  uint32_t index, operands[2], value;
  tnr_view constant;
  REQUIRE(tnr_view_lend(weights, sizeof weights, 0, TNR_DTYPE_F32, 1, shape, NULL, &constant) ==
          TNR_STATUS_OK);
  REQUIRE(tnr_graph_add_input(graph, TNR_DTYPE_F32, 1, shape, &operands[0]) == TNR_STATUS_OK);
  REQUIRE(tnr_graph_add_constant(graph, &constant, &operands[1]) == TNR_STATUS_OK);
  REQUIRE(tnr_graph_add_custom(graph, &operation, &index) == TNR_STATUS_OK);
  tnr_graph_node node = {0};
  node.struct_size = sizeof node;
  node.code = TNR_NODE_BINARY + TNR_BINARY_OP_MUL;
  node.operands = operands;
  node.operand_count = 2;
  REQUIRE(tnr_graph_add_node(graph, &node, &value) == TNR_STATUS_OK);
  node.code = TNR_NODE_CUSTOM + index;
  operands[0] = value;
  node.operand_count = 1;
  REQUIRE(tnr_graph_add_node(graph, &node, &value) == TNR_STATUS_OK);
  REQUIRE(tnr_graph_add_output(graph, value, TNR_OPERAND_NONE) == TNR_STATUS_OK);

  REQUIRE(tnr_program_file_save(graph, path, NULL, 0) == TNR_STATUS_INVALID_ARGUMENT);
  REQUIRE(strlen(tnr_program_file_error()) > 8);
  REQUIRE(tnr_program_file_save(graph, path, names, 1) == TNR_STATUS_OK);
  REQUIRE(strlen(tnr_program_file_error()) == 0);

  REQUIRE(tnr_program_file_load(path, NULL, 0) == NULL);
  REQUIRE(strstr(tnr_program_file_error(), "'negate'") != NULL);
  REQUIRE(tnr_program_file_load("/nowhere/at all", operations, 1) == NULL);
  REQUIRE(strstr(tnr_program_file_error(), "/nowhere/at all: ") != NULL);
  REQUIRE(released == 1);
  tnr_graph* loaded = tnr_program_file_load(path, operations, 1);
  REQUIRE(loaded != NULL);

  float expected[4], results[4];
  if (run(graph, expected) != 0 || run(loaded, results) != 0) return 1;
  REQUIRE(memcmp(expected, results, sizeof results) == 0);
  REQUIRE(results[3] == -12);
  REQUIRE(tnr_graph_release(graph) == TNR_STATUS_OK);
  REQUIRE(tnr_graph_release(loaded) == TNR_STATUS_OK);
  REQUIRE(released == 3);
  /* The library takes any number for a handle, and this one is nobody's. */
  const tnr_graph* nobodys = (const tnr_graph*)(uintptr_t)64;
  REQUIRE(tnr_program_file_save(nobodys, path, names, 1) == TNR_STATUS_STALE_HANDLE);
  puts("saved, loaded and run");
  return 0;
}
