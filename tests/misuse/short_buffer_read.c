/* Borrows more bytes than there are.
 *   gcc 11 -O2: 'tnr_blob_borrow' reading 16 bytes from a region of size 4.*-Wstringop-overread
 */
#include <tenure/tenure.h>

tnr_blob* short_buffer_read(void) {
  static const char memory[4] = {1, 2, 3, 4};
  return tnr_blob_borrow(memory, 16);
}
