/* Copies uninitialized memory.
 *   gcc 11 -O2: 'memory' is used uninitialized.*-Wuninitialized
 */
#include <tenure/tenure.h>

tnr_blob* uninitialized_buffer(void) {
  char memory[16];
  return tnr_blob_copy(NULL, memory, sizeof memory);
}
