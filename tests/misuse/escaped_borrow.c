/* Ends a borrow while another handle still holds the memory.
 *   run: BORROW_ESCAPED until the other handle is released, and no new use meanwhile
 */
#include <tenure/tenure.h>

int main(void) {
  const char memory[16] = {0};
  const int64_t shape[] = {16};
  tnr_view view;
  tnr_blob* blob = tnr_blob_borrow(memory, sizeof memory);
  tnr_blob* other = blob == NULL ? NULL : tnr_blob_retain(blob);
  if (other == NULL) return 1;
  if (tnr_blob_view(blob, 0, TNR_DTYPE_U8, 1, shape, NULL, &view) != TNR_STATUS_OK) return 2;
  if (tnr_blob_end_borrow(blob) != TNR_STATUS_BORROW_ESCAPED) return 3;
  if (tnr_view_check(&view) != TNR_STATUS_STALE_VIEW) return 4;
  if (tnr_blob_release(other) != TNR_STATUS_OK) return 5;
  if (tnr_blob_end_borrow(blob) != TNR_STATUS_OK) return 6;
  return tnr_blob_release(blob) == TNR_STATUS_OK ? 0 : 7;
}
