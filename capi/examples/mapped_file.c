/* A mapped file: shared with the library, which unmaps it with the last handle. No byte is copied,
 * and pages are read as they are used.
 *
 * A file that another process shortens while it is mapped ends this one with SIGBUS: docs/files.md
 * says when a mapping is safe, and what to do when it is not. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <tenure/tenure.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  return EXIT_FAILURE;
}

struct mapping {
  void* begin;
  size_t size_bytes;
};

static void unmap(void* context) {
  struct mapping* const mapping = context;
  munmap(mapping->begin, mapping->size_bytes);
  puts("unmapped");
}

int main(void) {
  enum { kCount = 1 << 20 };
  static int32_t numbers[kCount];
  static struct mapping mapping = {NULL, sizeof numbers};
  const int64_t count = kCount;
  FILE* const file = tmpfile();
  int64_t expected = 0, sum = 0;
  tnr_view view;
  tnr_view_mut out;
  tnr_blob *blob, *second;
  for (int i = 0; i < kCount; ++i) {
    numbers[i] = i % 7;
    expected += numbers[i];
  }
  if (file == NULL || fwrite(numbers, sizeof numbers, 1, file) != 1 || fflush(file) != 0) {
    perror("a temporary file");
    return EXIT_FAILURE;
  }
  mapping.begin = mmap(NULL, mapping.size_bytes, PROT_READ, MAP_SHARED, fileno(file), 0);
  fclose(file);
  if (mapping.begin == MAP_FAILED) {
    perror("mmap");
    return EXIT_FAILURE;
  }

  /* Nobody writes shared memory; each handle is a share of it. */
  blob = tnr_blob_share(mapping.begin, mapping.size_bytes, unmap, &mapping);
  if (blob == NULL) {
    unmap(&mapping); /* a failed share takes nothing */
    return failed("share");
  }
  second = tnr_blob_retain(blob);
  tnr_blob_release(blob);
  if (second == NULL) return failed("retain");

  /* Sums of integers are 64 bits wide. */
  if (tnr_blob_view(second, 0, TNR_DTYPE_I32, 1, &count, NULL, &view) ||
      tnr_view_lend_mut(&sum, sizeof sum, 0, TNR_DTYPE_I64, 0, NULL, NULL, &out) ||
      tnr_reduce(NULL, TNR_REDUCE_OP_SUM, &view, 1u << 0, NULL, &out)) {
    return failed("sum");
  }
  printf("the sum is %lld\n", (long long)sum);
  return tnr_blob_release(second) == TNR_STATUS_OK && sum == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
