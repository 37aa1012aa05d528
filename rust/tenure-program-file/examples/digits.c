/* Runs a program that was traced and saved in Rust (examples/program.rs of the crate `tenure`) on a
 * mapped file of handwritten digits: says how many it knows, and what each step of it did.
 *
 * digits FILE.tnrp DIGITS.npy LABELS.npy */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenure/program_file.h"

/* The first ones were learned. */
enum { kPixels = 64, kLearned = 1500, kMostSteps = 64, kRuns = 20 };

struct mapping {
  const uint8_t* bytes;
  size_t size_bytes;
};

static int map_file(const char* path, struct mapping* out) {
  const int file = open(path, O_RDONLY);
  struct stat about;
  void* begin = MAP_FAILED;
  if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
    begin = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  }
  if (begin == MAP_FAILED) perror(path);
  if (file >= 0) close(file);
  if (begin == MAP_FAILED) return 0;
  out->bytes = begin;
  out->size_bytes = (size_t)about.st_size;
  return 1;
}

/* Where the elements of a .npy file of version 1 begin. Anything else than bytes is refused by
 * what the file says of them, and a file that is too short by the lending. */
static size_t elements_of(const struct mapping* file) {
  static const char kMagic[] = "\x93NUMPY\x01";
  if (file->size_bytes < 10 || memcmp(file->bytes, kMagic, sizeof kMagic - 1) != 0) return 0;
  const size_t length = file->bytes[8] | (size_t)file->bytes[9] << 8;
  const char* const header = (const char*)file->bytes + 10;
  static const char kBytes[] = "{'descr': '|u1', 'fortran_order': False";
  if (length < sizeof kBytes || file->size_bytes - 10 < length) return 0;
  return memcmp(header, kBytes, sizeof kBytes - 1) == 0 ? 10 + length : 0;
}

static int failed(const char* operation) {
  const char* const of_file = tnr_program_file_error();
  fprintf(stderr, "%s: %s\n", operation, *of_file ? of_file : tnr_last_error()->message);
  return EXIT_FAILURE;
}

static void print_shape(const tnr_step_info* step) {
  char text[64] = "";
  int end = 0;
  for (uint32_t axis = 0; axis < step->rank && end < (int)sizeof text - 1; ++axis) {
    const int room = (int)sizeof text - end;
    end += snprintf(text + end, (size_t)room, axis ? "x%" PRId64 : "%" PRId64, step->shape[axis]);
  }
  printf(" %-14s", text);
}

/* A line for each step: the best time of the runs. */
static int print_report(const tnr_program* program, const tnr_view* const* inputs,
                        const tnr_memory_plan* memory, const uint64_t* nanoseconds) {
  uint64_t total = 0;
  printf("%-36s %-14s %9s %9s %9s %7s %8s\n", "step", "result", "MFLOP", "KiB read", "written",
         "us", "GFLOP/s");
  for (uint32_t i = 0; i < memory->step_count; ++i) {
    tnr_step_info step = {0};
    step.struct_size = sizeof step;
    if (tnr_program_describe_step(program, inputs, 1, i, &step)) return failed("a step");
    printf("%-36.36s", step.name);
    print_shape(&step);
    printf(" %9.3f %9.1f %9.1f %7.1f %8.1f\n", (double)step.flops / 1e6,
           (double)step.read_bytes / 1024, (double)step.written_bytes / 1024,
           (double)nanoseconds[i] / 1e3,
           nanoseconds[i] ? (double)step.flops / (double)nanoseconds[i] : 0);
    total += nanoseconds[i];
  }
  printf("%u steps, %.1f us; %.0f KiB for values between them, which would be %.0f KiB apart\n",
         memory->step_count, (double)total / 1e3, (double)memory->peak_bytes / 1024,
         (double)memory->total_bytes / 1024);
  return EXIT_SUCCESS;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s FILE.tnrp DIGITS.npy LABELS.npy\n", argv[0]);
    return EXIT_FAILURE;
  }
  struct mapping pixels, labels;
  if (!map_file(argv[2], &pixels) || !map_file(argv[3], &labels)) return EXIT_FAILURE;
  const size_t first_pixel = elements_of(&pixels), first_label = elements_of(&labels);
  if (first_pixel == 0 || first_label == 0 || labels.size_bytes - first_label <= kLearned) {
    fprintf(stderr, "no .npy files of bytes\n");
    return EXIT_FAILURE;
  }

  /* The graph lends its constants from the file, and the program keeps them. */
  tnr_graph* const graph = tnr_program_file_load(argv[1], NULL, 0);
  if (graph == NULL) return failed(argv[1]);
  tnr_program* const program = tnr_program_create(NULL, graph, NULL);
  if (tnr_graph_release(graph) || program == NULL) return failed("the program");

  /* Digits that the network has not seen, where they lie in the file. */
  const int64_t count = (int64_t)(labels.size_bytes - first_label - kLearned);
  const int64_t shape[] = {count, kPixels};
  const size_t offset = first_pixel + (size_t)kLearned * kPixels;
  int64_t* const classes = malloc((size_t)count * sizeof *classes);
  tnr_view images;
  tnr_view_mut out;
  if (classes == NULL ||
      tnr_view_lend(pixels.bytes, pixels.size_bytes, offset, TNR_DTYPE_U8, 2, shape, NULL,
                    &images) ||
      tnr_view_lend_mut(classes, (uint64_t)count * sizeof *classes, 0, TNR_DTYPE_I64, 1, shape,
                        NULL, &out)) {
    return failed("the images");
  }
  const tnr_view* const inputs[] = {&images};
  const tnr_view_mut* const outputs[] = {&out};
  tnr_memory_plan memory = {0};
  memory.struct_size = sizeof memory;
  if (tnr_program_memory(program, inputs, 1, &memory)) return failed("the memory");

  uint64_t nanoseconds[kMostSteps], best[kMostSteps];
  if (memory.step_count > kMostSteps) return failed("a longer program");
  tnr_program_run_attributes attributes = {0};
  attributes.struct_size = sizeof attributes;
  attributes.step_nanoseconds = nanoseconds;
  attributes.step_count = memory.step_count;
  for (int run = 0; run < kRuns; ++run) {
    if (tnr_program_run(NULL, program, inputs, 1, &attributes, outputs, 1)) return failed("a run");
    for (uint32_t i = 0; i < memory.step_count; ++i) {
      if (run == 0 || nanoseconds[i] < best[i]) best[i] = nanoseconds[i];
    }
  }

  int64_t right = 0;
  for (int64_t i = 0; i < count; ++i) {
    right += classes[i] == labels.bytes[first_label + kLearned + (size_t)i];
  }
  const int code = print_report(program, inputs, &memory, best);
  printf("%.1f %% of %" PRId64 " digits that it has not seen\n",
         100.0 * (double)right / (double)count, count);
  free(classes);
  munmap((void*)pixels.bytes, pixels.size_bytes);
  munmap((void*)labels.bytes, labels.size_bytes);
  if (tnr_program_release(program)) return failed("the end");
  return code;
}
