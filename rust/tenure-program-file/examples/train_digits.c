/* Trains a network for handwritten digits by a step that Rust traced and saved, with its gradients
 * and its optimiser (the program `program` of the demo). Training itself needs no Rust.
 *
 * train_digits STEP.tnrp DIGITS.npy LABELS.npy */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tenure/program_file.h"

/* The inputs of the step; the states of the optimiser follow the weights. */
enum { kX, kLabels, kRate, kNumber, kRows, kColumns, kWeights, kStates = kWeights + 6, kMost = 32 };
enum { kPixels = 64, kLearned = 1500, kTried = 297, kBatch = 32, kSteps = 1000 };

static int failed(const char* operation) {
  const char* const of_file = tnr_program_file_error();
  fprintf(stderr, "%s: %s\n", operation, *of_file ? of_file : tnr_last_error()->message);
  return EXIT_FAILURE;
}

/* Reads bytes of a .npy file, which are followed by `behind` others. */
static int read_npy(const char* path, unsigned char* to, long count, long behind) {
  FILE* const file = fopen(path, "rb");
  if (file == NULL) return 0;
  const int is_read = fseek(file, -count - behind, SEEK_END) == 0 &&
                      fread(to, 1, (size_t)count, file) == (size_t)count;
  return fclose(file) == 0 && is_read;
}

int main(int argument_count, char** arguments) {
  static unsigned char pixels[kLearned * kPixels], labels[kLearned];
  if (argument_count != 4 || !read_npy(arguments[2], pixels, sizeof pixels, kTried * kPixels) ||
      !read_npy(arguments[3], labels, sizeof labels, kTried)) {
    fprintf(stderr, "usage: train_digits STEP.tnrp DIGITS.npy LABELS.npy\n");
    return EXIT_FAILURE;
  }
  tnr_graph* const graph = tnr_program_file_load(arguments[1], NULL, 0);
  tnr_graph_info info = {.struct_size = sizeof info};
  if (graph == NULL || tnr_graph_describe(graph, &info)) return failed(arguments[1]);

  /* Memory for each input: zeros, and normal numbers for the weights (He et al., 2015). */
  tnr_view_mut views[kMost];
  void* memory[kMost];
  uint32_t count = 0, values[kMost];
  for (uint32_t value = 0; value < info.value_count; ++value) {
    tnr_value_info of = {.struct_size = sizeof of};
    if (tnr_graph_describe_value(graph, value, &of)) return failed("a value");
    if (of.source != TNR_VALUE_SOURCE_INPUT || count == kMost) continue;
    size_t elements = 1;
    for (uint32_t axis = 0; axis < of.rank; ++axis) elements *= (size_t)of.shape[axis];
    const size_t bytes = elements * tnr_dtype_size_bytes(of.dtype);
    tnr_view_mut* const view = &views[count];
    memory[count] = calloc(1, bytes);
    if (tnr_view_lend_mut(memory[count], bytes, 0, of.dtype, of.rank, of.shape, NULL, view))
      return failed("an input");
    if (count >= kWeights && count < kStates && of.rank > 1) {
      const int64_t inputs = of.rank == 2 ? of.shape[0] : (int64_t)elements / of.shape[0];
      tnr_random_attributes normal = {.struct_size = sizeof normal};
      normal.deviation = sqrt(2.0 / (double)inputs);
      if (tnr_random(NULL, TNR_RANDOM_DISTRIBUTION_NORMAL, count, 0, &normal, view))
        return failed("the weights");
    }
    values[count++] = value;
  }

  /* The loss, and the inputs that are updated. */
  float loss = 0, first = 0, sum = 0;
  tnr_view_mut loss_view;
  if (tnr_view_lend_mut(&loss, sizeof loss, 0, TNR_DTYPE_F32, 0, NULL, NULL, &loss_view))
    return failed("the loss");
  const tnr_view* inputs[kMost];
  const tnr_view_mut* outputs[kMost] = {&loss_view};
  for (uint32_t i = 0; i < count; ++i) inputs[i] = &views[i].view;
  for (uint32_t i = 1; i < info.output_count; ++i) {
    uint32_t value, updates, place = 0;
    if (tnr_graph_describe_output(graph, i, &value, &updates)) return failed("an output");
    while (values[place] != updates) ++place;
    outputs[i] = &views[place];
  }
  tnr_program* const program = tnr_program_create(NULL, graph, NULL);
  if (tnr_graph_release(graph) || program == NULL) return failed("the program");

  for (uint64_t step = 0; step < kSteps; ++step) {
    for (uint64_t i = 0; i < kBatch; ++i) {
      const uint64_t sample = (step * kBatch + i) * 7919 % kLearned; /* each once, in no order */
      for (int j = 0; j < kPixels; ++j)
        ((unsigned char*)memory[kX])[i * kPixels + j] = pixels[sample * kPixels + j];
      ((int64_t*)memory[kLabels])[i] = labels[sample];
    }
    for (int i = 0; i < 8; ++i) {
      ((int64_t*)memory[kRows])[i] = i + (int64_t)(step % 3);
      ((int64_t*)memory[kColumns])[i] = i + (int64_t)(step / 3 % 3);
    }
    *(float*)memory[kRate] = 3e-3f * (1 - (float)step / kSteps);
    *(uint64_t*)memory[kNumber] = step;
    if (tnr_program_run(NULL, program, inputs, count, NULL, outputs, info.output_count))
      return failed("a step");
    if (step == 0) first = loss;
    if (step >= kSteps - 100) sum += loss;
  }
  printf("%d steps: loss %.3f, then %.3f\n", kSteps, first, sum / 100);
  for (uint32_t i = 0; i < count; ++i) free(memory[i]);
  return tnr_program_release(program) || sum > 20 ? failed("the end") : EXIT_SUCCESS;
}
