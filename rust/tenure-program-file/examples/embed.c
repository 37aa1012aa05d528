/* Runs a sentence encoder that was saved in Rust (`embed --save`, rust/encoder) on the ids of one
 * text, and prints its vector, a component on a line. The weights are lent by the mapped file.
 *
 * embed FILE.tnrp ID... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tenure/program_file.h"

static int failed(const char* operation) {
  const char* const of_file = tnr_program_file_error();
  fprintf(stderr, "%s: %s\n", operation, *of_file ? of_file : tnr_last_error()->message);
  return EXIT_FAILURE;
}

static int print_vector(const tnr_program* program, const int64_t* ids, int64_t count) {
  const int64_t shape[] = {1, count};
  const uint64_t size_bytes = (uint64_t)count * sizeof *ids;
  tnr_view tokens, counts;
  if (tnr_view_lend(ids, size_bytes, 0, TNR_DTYPE_I64, 2, shape, NULL, &tokens) ||
      tnr_view_lend(&count, sizeof count, 0, TNR_DTYPE_I64, 1, shape, NULL, &counts)) {
    return failed("the ids");
  }
  const tnr_view* const inputs[] = {&tokens, &counts};
  int64_t extents[TNR_MAX_RANK] = {0};
  tnr_dtype dtype;
  uint32_t rank;
  if (tnr_program_output_shape(program, inputs, 2, 0, &dtype, &rank, extents)) {
    return failed("the shape");
  }
  if (rank != 2 || dtype != TNR_DTYPE_F32) return failed("another program");

  const uint64_t vector_bytes = (uint64_t)extents[1] * sizeof(float);
  float* const vector = malloc((size_t)vector_bytes);
  tnr_view_mut out;
  if (vector == NULL ||
      tnr_view_lend_mut(vector, vector_bytes, 0, TNR_DTYPE_F32, 2, extents, NULL, &out)) {
    free(vector);
    return failed("the vector");
  }
  const tnr_view_mut* const outputs[] = {&out};
  const tnr_status status = tnr_program_run(NULL, program, inputs, 2, NULL, outputs, 1);
  for (int64_t i = 0; status == TNR_STATUS_OK && i < extents[1]; ++i) {
    printf("%.9g\n", (double)vector[i]);
  }
  free(vector);
  return status ? failed("the run") : EXIT_SUCCESS;
}

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: %s FILE.tnrp ID...\n", argv[0]);
    return EXIT_FAILURE;
  }
  /* The graph lends its constants from the file, and the program keeps them. */
  tnr_graph* const graph = tnr_program_file_load(argv[1], NULL, 0);
  if (graph == NULL) return failed(argv[1]);
  tnr_program* const program = tnr_program_create(NULL, graph, NULL);
  if (tnr_graph_release(graph) || program == NULL) return failed("the program");

  const int64_t count = argc - 2;
  int64_t* const ids = malloc((size_t)count * sizeof *ids);
  if (ids == NULL) return EXIT_FAILURE;
  for (int64_t i = 0; i < count; ++i) ids[i] = strtoll(argv[i + 2], NULL, 10);
  const int code = print_vector(program, ids, count);
  free(ids);
  if (tnr_program_release(program)) return failed("the end");
  return code;
}
