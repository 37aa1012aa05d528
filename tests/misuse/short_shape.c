/* Gives a rank of 3 with a shape of 2 extents.
 *   gcc 11 -O2: 'tnr_view_reshape' reading 24 bytes from a region of size 16.*-Wstringop-overread
 */
#include <tenure/tenure.h>

tnr_status short_shape(const tnr_view* view, tnr_view* out) {
  const int64_t shape[] = {3, 4};
  return tnr_view_reshape(view, 3, shape, out);
}
