/* Uses handles as they are meant to be used: no compiler may warn about any of it.
 *   gcc 11 -O2: nothing
 *   gcc 11 -O0 -fanalyzer: nothing
 *   gcc 11 -O2 -fanalyzer: nothing
 *   g++ 11 -O2 -x c++: nothing
 *   clang 16 -O2: nothing
 *   clang++ 16 -O2 -x c++: nothing
 *   run: every call is OK
 */
#include <stdlib.h>
#include <string.h>
#include <tenure/tenure.h>

/* Each holder releases the handle that it was given, in either order. */
static int retain_and_release(void) {
  tnr_blob* blob = tnr_blob_alloc(NULL, 64);
  tnr_blob* second;
  void* data;
  if (blob == NULL) return 10;
  second = tnr_blob_retain(blob);
  if (second == NULL) {
    tnr_blob_release(blob);
    return 11;
  }
  tnr_blob_release(blob);
  data = tnr_blob_data_mut(second);
  if (data != NULL) memset(data, 1, 64);
  return tnr_blob_release(second) == TNR_STATUS_OK ? 0 : 12;
}

/* The memory of a borrow stays until end_borrow is OK; only then is the handle released. */
static int borrow_until_ended(void) {
  char memory[64]; /* not initialised: it is lent to be written */
  tnr_blob* blob = tnr_blob_borrow_mut(memory, sizeof memory);
  if (blob == NULL) return 20;
  while (tnr_blob_end_borrow(blob) != TNR_STATUS_OK) {
    if (tnr_last_error()->status == TNR_STATUS_STALE_HANDLE) return 21;
  }
  return tnr_blob_release(blob) == TNR_STATUS_OK ? 0 : 22;
}

/* A handle that a reclaim has ended is not released; one that it left is. */
static int reclaim_or_release(int with_wrong_context) {
  int other_context = 0;
  char* memory = (char*)malloc(64);
  tnr_blob* blob;
  if (memory == NULL) return 30;
  blob = tnr_blob_adopt(memory, 64, free, memory);
  if (blob == NULL) {
    free(memory); /* a failed adopt takes nothing */
    return 31;
  }
  if (tnr_blob_reclaim(blob, with_wrong_context ? (void*)&other_context : memory) !=
      TNR_STATUS_OK) {
    return tnr_blob_release(blob) == TNR_STATUS_OK ? 0 : 32;
  }
  memory[0] = 1;
  free(memory);
  return 0;
}

/* Memory that is written before and read after a call that only spans it. */
static int write_through_a_view(void) {
  const int64_t shape[] = {2, 3};
  float numbers[6] = {1, 2, 3, 4, 5, 6};
  float out[6];
  tnr_view view;
  tnr_view_mut out_view;
  /* NULL strides mean row-major, whatever the rank is. */
  if (tnr_view_lend(numbers, sizeof numbers, 0, TNR_DTYPE_F32, 2, shape, NULL, &view)) return 40;
  if (tnr_view_lend_mut(out, sizeof out, 0, TNR_DTYPE_F32, 2, shape, NULL, &out_view)) return 41;
  if (tnr_view_transpose(&view, 0, 1, &view)) return 42;
  if (tnr_view_transpose(&out_view.view, 0, 1, &out_view.view)) return 43;
  if (tnr_copy(NULL, &view, NULL, &out_view)) return 44;
  return out[0] == 1 && out[5] == 6 ? 0 : 45;
}

/* Empty memory is at NULL, and rank 0 has no shape. */
static int nothing_at_all(void) {
  int64_t number = 7;
  tnr_view view;
  tnr_blob* blob;
  if (tnr_view_lend(&number, sizeof number, 0, TNR_DTYPE_I64, 0, NULL, NULL, &view)) return 50;
  if (tnr_blob_release(NULL) != TNR_STATUS_OK) return 51;
  blob = tnr_blob_copy(NULL, NULL, 0);
  if (blob == NULL) return 52;
  return tnr_blob_release(blob) == TNR_STATUS_OK ? 0 : 53;
}

int main(void) {
  int code = retain_and_release();
  if (code == 0) code = borrow_until_ended();
  if (code == 0) code = reclaim_or_release(0);
  if (code == 0) code = reclaim_or_release(1);
  if (code == 0) code = write_through_a_view();
  if (code == 0) code = nothing_at_all();
  return code;
}
