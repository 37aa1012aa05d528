/* Drops the handle that a retain returns, so that it is never released.
 *   gcc 11 -O0: ignoring return value of 'tnr_blob_retain'.*-Wunused-result
 *   clang 16 -O0: ignoring return value of function declared with .*-Wunused-result
 */
#include <tenure/tenure.h>

void ignored_handle(tnr_blob* blob) { tnr_blob_retain(blob); }
