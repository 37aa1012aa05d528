/* k-means: points in three clusters, by the operations of the library on arrays of the program. */
#include <stdio.h>
#include <stdlib.h>
#include <tenure/tenure.h>

enum { kPoints = 600, kClusters = 3, kAxes = 2, kRounds = 10 };

/* All of an array in its own order, to be read or written. */
static tnr_view_mut whole(void* array, size_t size_bytes, tnr_dtype dtype, int64_t rows,
                          int64_t cols) {
  const int64_t shape[] = {rows, cols};
  tnr_view_mut view;
  if (tnr_view_lend_mut(array, size_bytes, 0, dtype, 2, shape, NULL, &view)) abort();
  return view;
}

static tnr_view transposed(tnr_view_mut view) {
  tnr_view out;
  if (tnr_view_transpose(&view.view, 0, 1, &out)) abort();
  return out;
}

int main(void) {
  static float points[kPoints][kAxes], distances[kPoints][kClusters], of[kClusters][kPoints];
  static int64_t nearest[kPoints];
  static uint8_t is_of[kClusters][kPoints];
  float centers[kClusters][kAxes] = {{0, 0}, {1, 0}, {0, 1}}, squares[kClusters][kAxes];
  float norms[kClusters], counts[kClusters];
  int64_t names[kClusters] = {0, 1, 2};
  for (int i = 0; i < kPoints; ++i) { /* around (4, 0), (-4, 3) and (0, -5) */
    const float middles[kClusters][kAxes] = {{4, 0}, {-4, 3}, {0, -5}};
    points[i][0] = middles[i % 3][0] + (float)(i % 11 - 5) / 5;
    points[i][1] = middles[i % 3][1] + (float)(i % 7 - 3) / 5;
  }

  const tnr_dtype f32 = TNR_DTYPE_F32, i64 = TNR_DTYPE_I64;
  const tnr_view_mut x = whole(points, sizeof points, f32, kPoints, kAxes);
  const tnr_view_mut c = whole(centers, sizeof centers, f32, kClusters, kAxes);
  const tnr_view_mut c2 = whole(squares, sizeof squares, f32, kClusters, kAxes);
  const tnr_view_mut norm = whole(norms, sizeof norms, f32, 1, kClusters);
  const tnr_view_mut count = whole(counts, sizeof counts, f32, kClusters, 1);
  const tnr_view_mut d = whole(distances, sizeof distances, f32, kPoints, kClusters);
  const tnr_view_mut label = whole(nearest, sizeof nearest, i64, 1, kPoints);
  const tnr_view_mut name = whole(names, sizeof names, i64, kClusters, 1);
  const tnr_view_mut mask = whole(is_of, sizeof is_of, TNR_DTYPE_BOOL8, kClusters, kPoints);
  const tnr_view_mut members = whole(of, sizeof of, f32, kClusters, kPoints);
  const tnr_view ct = transposed(c), c2t = transposed(c2), dt = transposed(d);
  const tnr_scalar zero = tnr_scalar_f64(0), one = tnr_scalar_f64(1),
                   minus_two = tnr_scalar_f64(-2);

  /* |x - c|^2 is least where |c|^2 - 2 x.c is. */
  for (int round = 0; round < kRounds; ++round) {
    if (tnr_matmul(NULL, &minus_two, &x.view, &ct, &zero, NULL, &d) ||
        tnr_binary(NULL, TNR_BINARY_OP_MUL, &c.view, &c.view, NULL, &c2) ||
        tnr_reduce(NULL, TNR_REDUCE_OP_SUM, &c2t, 1u << 0, NULL, &norm) ||
        tnr_binary(NULL, TNR_BINARY_OP_ADD, &d.view, &norm.view, NULL, &d) ||
        tnr_reduce(NULL, TNR_REDUCE_OP_ARGMIN, &dt, 1u << 0, NULL, &label) ||
        tnr_compare(NULL, TNR_COMPARE_OP_EQ, &name.view, &label.view, NULL, &mask) ||
        tnr_cast(NULL, &mask.view, NULL, &members) ||
        tnr_reduce(NULL, TNR_REDUCE_OP_SUM, &members.view, 1u << 1, NULL, &count) ||
        tnr_matmul(NULL, &one, &members.view, &x.view, &zero, NULL, &c) ||
        tnr_binary(NULL, TNR_BINARY_OP_DIV, &c.view, &count.view, NULL, &c)) {
      fprintf(stderr, "%s\n", tnr_last_error()->message);
      return EXIT_FAILURE;
    }
  }
  for (int k = 0; k < kClusters; ++k) {
    printf("%g points around (%.2f, %.2f)\n", counts[k], centers[k][0], centers[k][1]);
  }
  return counts[0] == 200 && counts[1] == 200 ? EXIT_SUCCESS : EXIT_FAILURE;
}
