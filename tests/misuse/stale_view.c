/* Uses a view after the last handle of its blob is gone. A view is a plain value, so that no
 * compiler knows its origin.
 *   run: STALE_VIEW, and the output is untouched
 */
#include <tenure/tenure.h>

int main(void) {
  const int64_t shape[] = {4};
  const int32_t numbers[4] = {1, 2, 3, 4};
  int32_t out[4] = {9, 9, 9, 9};
  tnr_view view;
  tnr_view_mut out_view;
  tnr_blob* blob = tnr_blob_copy(NULL, numbers, sizeof numbers);
  if (blob == NULL) return 1;
  if (tnr_blob_view(blob, 0, TNR_DTYPE_I32, 1, shape, NULL, &view) != TNR_STATUS_OK) return 2;
  if (tnr_view_lend_mut(out, sizeof out, 0, TNR_DTYPE_I32, 1, shape, NULL, &out_view) !=
      TNR_STATUS_OK) {
    return 3;
  }
  tnr_blob_release(blob);
  if (tnr_view_check(&view) != TNR_STATUS_STALE_VIEW) return 4;
  if (tnr_copy(NULL, &view, NULL, &out_view) != TNR_STATUS_STALE_VIEW) return 5;
  return out[0] == 9 && out[3] == 9 ? 0 : 6;
}
