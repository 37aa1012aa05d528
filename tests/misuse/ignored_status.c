/* Does not look whether a borrow has ended before its memory is gone.
 *   gcc 11 -O0: ignoring return value of 'tnr_blob_end_borrow'.*-Wunused-result
 *   clang 16 -O0: ignoring return value of function declared with .*-Wunused-result
 */
#include <tenure/tenure.h>

void ignored_status(tnr_blob* blob) { tnr_blob_end_borrow(blob); }
