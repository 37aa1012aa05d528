/* Releases a handle twice.
 *   gcc 12 -O2: pointer 'blob' used after .*'tnr_blob_release'.*-Wuse-after-free
 *   run: the second release is STALE_HANDLE
 */
#include <tenure/tenure.h>

int main(void) {
  tnr_blob* blob = tnr_blob_alloc(NULL, 64);
  if (blob == NULL) return 1;
  tnr_blob_release(blob);
  return tnr_blob_release(blob) == TNR_STATUS_STALE_HANDLE ? 0 : 2;
}
