/* Forgets to release on one of two ways out.
 *   gcc 11 -O0 -fanalyzer: leak of 'blob'.*-Wanalyzer-malloc-leak
 */
#include <tenure/tenure.h>

int leaked_handle(int early) {
  tnr_blob* blob = tnr_blob_alloc(NULL, 64);
  if (blob == NULL) return 1;
  if (early) return 2;
  tnr_blob_release(blob);
  return 0;
}
