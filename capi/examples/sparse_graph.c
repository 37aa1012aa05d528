/* A sparse matrix over three arrays from malloc: lent for a call, handed over, and taken back.
 *
 * Lent: the arrays stay the program's, and each call checks the indices that it uses. Handed over:
 * they are checked once, and while the matrix lives nobody can get a view to write indices. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenure/tenure.h>

enum { kNodes = 4, kEdges = 5 };

/* Row i lists who node i leads to, and with which weight: 0 -> 1, 2; 1 -> 2; 2 -> 0; 3 -> 2. */
static const int32_t kOffsets[kNodes + 1] = {0, 2, 3, 4, 5};
static const int32_t kColumns[kEdges] = {1, 2, 2, 0, 2};
static const float kWeights[kEdges] = {0.5f, 0.5f, 1, 1, 1};

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, tnr_last_error()->message);
  return EXIT_FAILURE;
}

static void* copy_of(const void* data, size_t size_bytes) {
  void* const copy = malloc(size_bytes);
  if (copy == NULL) abort();
  return memcpy(copy, data, size_bytes);
}

/* out = the transpose of the matrix times x: what each node is led to with. */
static tnr_status follow(const tnr_sparse_view* graph, const float* x, float* out) {
  const int64_t nodes = kNodes;
  const tnr_scalar one = tnr_scalar_f64(1), zero = tnr_scalar_f64(0);
  tnr_view b;
  tnr_view_mut sums;
  tnr_status status;
  status = tnr_view_lend(x, sizeof(float) * kNodes, 0, TNR_DTYPE_F32, 1, &nodes, NULL, &b);
  if (status != TNR_STATUS_OK) return status;
  status = tnr_view_lend_mut(out, sizeof(float) * kNodes, 0, TNR_DTYPE_F32, 1, &nodes, NULL, &sums);
  if (status != TNR_STATUS_OK) return status;
  return tnr_sparse_matmul(NULL, TNR_ORIENTATION_TRANSPOSED, &one, graph, &b, &zero, NULL, &sums);
}

int main(void) {
  const int64_t offset_count = kNodes + 1, edges = kEdges;
  int32_t* const offsets = copy_of(kOffsets, sizeof kOffsets);
  int32_t* const columns = copy_of(kColumns, sizeof kColumns);
  float* const weights = copy_of(kWeights, sizeof kWeights);
  const float start[kNodes] = {1, 1, 1, 1};
  float led_to[kNodes], again[kNodes];
  tnr_blob *offset_blob, *column_blob, *weight_blob;
  tnr_sparse *graph, *by_columns;
  tnr_sparse_view view;
  tnr_view_mut refused;

  /* Lent: the library has how many entries there are from the sizes. */
  view.struct_size = sizeof view;
  if (tnr_sparse_lend(TNR_SPARSE_FORMAT_CSR, kNodes, kNodes, TNR_DTYPE_I32, offsets,
                      sizeof kOffsets, columns, sizeof kColumns, TNR_DTYPE_F32, weights,
                      sizeof kWeights, &view) ||
      follow(&view, start, led_to)) {
    return failed("a product of what is lent");
  }
  columns[3] = kNodes; /* nobody is there */
  if (follow(&view, start, again) != TNR_STATUS_INVALID_ARGUMENT) return EXIT_FAILURE;
  printf("refused: %s\n", tnr_last_error()->message);
  columns[3] = kColumns[3];

  /* Handed over: the matrix holds on to the three blobs. */
  offset_blob = tnr_blob_adopt(offsets, sizeof kOffsets, free, offsets);
  column_blob = tnr_blob_adopt(columns, sizeof kColumns, free, columns);
  weight_blob = tnr_blob_adopt(weights, sizeof kWeights, free, weights);
  if (offset_blob == NULL || column_blob == NULL || weight_blob == NULL) return failed("adopt");
  if (tnr_blob_view(offset_blob, 0, TNR_DTYPE_I32, 1, &offset_count, NULL, &view.major) ||
      tnr_blob_view(column_blob, 0, TNR_DTYPE_I32, 1, &edges, NULL, &view.minor) ||
      tnr_blob_view(weight_blob, 0, TNR_DTYPE_F32, 1, &edges, NULL, &view.values)) {
    return failed("views of blobs");
  }
  graph = tnr_sparse_create(&view);
  if (graph == NULL) return failed("create");
  if (tnr_blob_view_mut(column_blob, 0, TNR_DTYPE_I32, 1, &edges, NULL, &refused) ==
      TNR_STATUS_OK) {
    return EXIT_FAILURE; /* the indices are sealed while the matrix lives */
  }

  /* Operations return matrices that the library holds; their views are trusted. */
  by_columns = tnr_sparse_convert(NULL, TNR_SPARSE_FORMAT_CSC, &view, NULL);
  if (by_columns == NULL) return failed("convert");
  view.struct_size = sizeof view;
  if (tnr_sparse_view_of(by_columns, &view) || follow(&view, start, again)) {
    return failed("a product of what is held");
  }
  tnr_sparse_release(by_columns);

  /* Taken back: with the last release of the matrix the blobs are the program's alone. */
  tnr_sparse_release(graph);
  if (tnr_blob_reclaim(offset_blob, offsets) || tnr_blob_reclaim(column_blob, columns) ||
      tnr_blob_reclaim(weight_blob, weights)) {
    return failed("reclaim");
  }
  free(offsets);
  free(columns);
  free(weights);
  printf("led to with: %g %g %g %g\n", again[0], again[1], again[2], again[3]);
  return memcmp(again, led_to, sizeof again) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
