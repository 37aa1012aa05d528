/* Trains a network for handwritten digits by a step that Rust traced and saved, with its gradients
 * and its optimiser (the program `program` of the demo). Training itself needs no Rust. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenure/program_file.h"

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

/* Normal numbers for the weights (He et al., 2015), which are the inputs 6.0 to 6.5. */
static tnr_status initialize(tnr_program_file* step) {
  const char* name;
  tnr_view_mut weights;
  tnr_status status = TNR_STATUS_OK;
  for (uint32_t i = 0; !status && !tnr_program_file_describe_input(step, i, &name, &weights); ++i) {
    if (strncmp(name, "6.", 2) != 0 || weights.view.rank < 2) continue;
    const int64_t first = weights.view.shape[0], count = tnr_view_count(&weights.view);
    tnr_random_attributes normal = {.struct_size = sizeof normal};
    normal.deviation = sqrt(2.0 / (double)(weights.view.rank == 2 ? first : count / first));
    status = tnr_random(NULL, TNR_RANDOM_DISTRIBUTION_NORMAL, i, 0, &normal, &weights);
  }
  return status;
}

int main(int argument_count, char** arguments) {
  static unsigned char pixels[kLearned * kPixels], labels[kLearned];
  if (argument_count != 4 || !read_npy(arguments[2], pixels, sizeof pixels, kTried * kPixels) ||
      !read_npy(arguments[3], labels, sizeof labels, kTried)) {
    fprintf(stderr, "usage: train_digits STEP.tnrp DIGITS.npy LABELS.npy\n");
    return EXIT_FAILURE;
  }
  tnr_program_file* const step = tnr_program_file_open(arguments[1], TNR_BOUND_PREALLOCATED);
  if (step == NULL) return failed(arguments[1]);
  unsigned char* const x = tnr_program_file_input(step, "images", TNR_DTYPE_U8, kBatch * kPixels);
  int64_t* const y = tnr_program_file_input(step, "labels", TNR_DTYPE_I64, kBatch);
  int64_t* const rows = tnr_program_file_input(step, "rows", TNR_DTYPE_I64, 8);
  int64_t* const columns = tnr_program_file_input(step, "columns", TNR_DTYPE_I64, 8);
  float* const rate = tnr_program_file_input(step, "rate", TNR_DTYPE_F32, 1);
  uint64_t* const number = tnr_program_file_input(step, "step", TNR_DTYPE_U64, 1);
  const float* const loss = tnr_program_file_output(step, "0", TNR_DTYPE_F32, 1);
  if (!x || !y || !rows || !columns || !rate || !number || !loss || initialize(step))
    return failed("an input");

  float first = 0, sum = 0;
  for (*number = 0; *number < kSteps; ++*number) {
    for (uint64_t i = 0; i < kBatch; ++i) {
      const uint64_t sample = (*number * kBatch + i) * 7919 % kLearned; /* each once, in no order */
      memcpy(x + i * kPixels, pixels + sample * kPixels, kPixels);
      y[i] = labels[sample];
    }
    for (int i = 0; i < 8; ++i) rows[i] = i + (int64_t)(*number % 3);
    for (int i = 0; i < 8; ++i) columns[i] = i + (int64_t)(*number / 3 % 3);
    *rate = 3e-3f * (1 - (float)*number / kSteps);
    if (tnr_program_file_run(NULL, step)) return failed("a step");
    if (*number == 0) first = *loss;
    if (*number >= kSteps - 100) sum += *loss;
  }
  printf("%d steps: loss %.3f, then %.3f\n", kSteps, first, sum / 100);
  tnr_program_file_release(step);
  return sum < 20 ? EXIT_SUCCESS : EXIT_FAILURE;
}
