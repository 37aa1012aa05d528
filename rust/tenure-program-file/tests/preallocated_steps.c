/* Runs the training step of the demo, preallocated, with the allocations of the process counted and
 * each step timed; and checks what the functions refuse.
 *
 * preallocated_steps STEP.tnrp STEPS */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenure/program_file.h"

/* The names by which the GNU C library's own functions are called once these are replaced. */
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

static unsigned long allocations;

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == NULL;
}

enum { kBatch = 32, kPixels = 64 };

static int failed(const char* operation) {
  const char* const of_file = tnr_program_file_error();
  fprintf(stderr, "%s: %s\n", operation, *of_file ? of_file : tnr_last_error()->message);
  return EXIT_FAILURE;
}

/* Whether the last call said why it failed. */
static int said(const char* words) { return strstr(tnr_program_file_error(), words) != NULL; }

static int refuses(tnr_program_file* step) {
  const char* name;
  tnr_view_mut view;
  return tnr_program_file_input(step, "image", TNR_DTYPE_U8, 1) == NULL &&
         said("image is none of the names images, labels, rate, step, rows, columns, 6.0") &&
         tnr_program_file_input(step, NULL, TNR_DTYPE_U8, 1) == NULL && said("the name is NULL") &&
         tnr_program_file_input(step, "labels", TNR_DTYPE_I64, 31) == NULL &&
         said("labels has 32 elements of dtype") &&
         tnr_program_file_input(step, "labels", TNR_DTYPE_I32, 32) == NULL &&
         said("labels has 32 elements of dtype") &&
         tnr_program_file_output(step, "1", TNR_DTYPE_F32, 1) == NULL &&
         said("1 is none of the names 0") &&
         tnr_program_file_describe_input(step, 999, &name, &view) == TNR_STATUS_INVALID_ARGUMENT &&
         said("index is 999 but the program has ") &&
         tnr_program_file_input(NULL, "labels", TNR_DTYPE_I64, 32) == NULL &&
         said("the program is NULL") &&
         tnr_program_file_run(NULL, NULL) == TNR_STATUS_INVALID_ARGUMENT &&
         tnr_program_file_open(NULL, 0) == NULL && said("the path is NULL");
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

int main(int argument_count, char** arguments) {
  const long count = argument_count == 3 ? atol(arguments[2]) : 0;
  if (count < 1) return EXIT_FAILURE;
  tnr_program_file* const step = tnr_program_file_open(arguments[1], TNR_BOUND_PREALLOCATED);
  if (step == NULL) return failed(arguments[1]);
  if (!refuses(step)) return failed("a refusal");
  unsigned char* const x = tnr_program_file_input(step, "images", TNR_DTYPE_U8, kBatch * kPixels);
  int64_t* const y = tnr_program_file_input(step, "labels", TNR_DTYPE_I64, kBatch);
  float* const rate = tnr_program_file_input(step, "rate", TNR_DTYPE_F32, 1);
  uint64_t* const number = tnr_program_file_input(step, "step", TNR_DTYPE_U64, 1);
  float* const weights = tnr_program_file_input(step, "6.4", TNR_DTYPE_F32, 512 * 10);
  double* const times = malloc((size_t)count * sizeof *times);
  if (!x || !y || !rate || !number || !weights || !times) return failed("an input");
  for (int i = 0; i < kBatch * kPixels; ++i) x[i] = (unsigned char)(i * 7 % 17);
  for (int i = 0; i < kBatch; ++i) y[i] = i % 10;
  *rate = 1e-3f;
  if (tnr_program_file_run(NULL, step)) return failed("the first step");

  const unsigned long before = allocations;
  for (long i = 0; i < count; ++i) {
    const double start = now();
    *number = (uint64_t)i;
    if (tnr_program_file_run(NULL, step)) return failed("a step");
    times[i] = now() - start;
  }
  const unsigned long asked = allocations - before;

  /* A label that is no class is refused before anything is updated. */
  const float weight = weights[0];
  y[7] = 10;
  if (tnr_program_file_run(NULL, step) != TNR_STATUS_INVALID_ARGUMENT || weights[0] != weight ||
      strstr(tnr_last_error()->message, "indices[7, 0] is 10") == NULL)
    return failed("a label that is no class");

  qsort(times, (size_t)count, sizeof *times, by_size);
  printf("%ld steps, %lu allocations; microseconds: median %.1f, 99.9 %% below %.1f, most %.1f\n",
         count, asked, times[count / 2], times[count - 1 - count / 1000], times[count - 1]);
  free(times);
  tnr_program_file_release(step);
  return EXIT_SUCCESS;
}
