/* Gives a handle to free().
 *   gcc 11 -O2: 'free' called on pointer returned from a mismatched .*-Wmismatched-dealloc
 */
#include <stdlib.h>
#include <tenure/tenure.h>

void free_handle(void) {
  tnr_blob* blob = tnr_blob_alloc(NULL, 64);
  free(blob);
}
