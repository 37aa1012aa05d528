/* Retains, and then releases the old handle twice instead of each of the two once.
 *   gcc 12 -O2: pointer 'blob' .*used after .*'tnr_blob_release'.*-Wuse-after-free
 *   run: the release after the last one is STALE_HANDLE
 */
#include <tenure/tenure.h>

int main(void) {
  tnr_blob* blob = tnr_blob_alloc(NULL, 64);
  tnr_blob* second = blob == NULL ? NULL : tnr_blob_retain(blob);
  if (second == NULL) return 1;
  /* The library cannot tell one handle of a blob from another, so this takes the other's share. */
  if (tnr_blob_release(blob) != TNR_STATUS_OK) return 2;
  if (tnr_blob_release(blob) != TNR_STATUS_OK) return 3;
  return tnr_blob_release(second) == TNR_STATUS_STALE_HANDLE ? 0 : 4;
}
