/* Asks for the memory of a handle that it has released.
 *   gcc 12 -O2: pointer 'blob' used after .*'tnr_blob_release'.*-Wuse-after-free
 *   run: the answer is NULL and STALE_HANDLE
 */
#include <tenure/tenure.h>

int main(void) {
  tnr_blob* blob = tnr_blob_alloc(NULL, 64);
  if (blob == NULL) return 1;
  tnr_blob_release(blob);
  if (tnr_blob_data_mut(blob) != NULL) return 2;
  return tnr_last_error()->status == TNR_STATUS_STALE_HANDLE ? 0 : 3;
}
