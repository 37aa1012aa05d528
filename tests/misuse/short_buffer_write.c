/* Lends more bytes to write to than there are.
 *   gcc 11 -O2: 'tnr_view_lend_mut' expecting 16 bytes in a region of size 4.*-Wstringop-overread
 */
#include <tenure/tenure.h>

tnr_status short_buffer_write(tnr_view_mut* out) {
  static char memory[4];
  const int64_t shape[] = {16};
  return tnr_view_lend_mut(memory, 16, 0, TNR_DTYPE_U8, 1, shape, NULL, out);
}
