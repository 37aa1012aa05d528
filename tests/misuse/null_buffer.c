/* Borrows 16 bytes at NULL.
 *   gcc 11 -O2: argument 1 is null but the corresponding size argument 2 value is 16.*-Wnonnull
 *   run: NULL and INVALID_ARGUMENT
 */
#include <tenure/tenure.h>

int main(void) {
  tnr_blob* blob = tnr_blob_borrow(NULL, 16);
  if (blob != NULL) return 1;
  return tnr_last_error()->status == TNR_STATUS_INVALID_ARGUMENT ? 0 : 2;
}
