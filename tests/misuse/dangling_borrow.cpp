// Borrows from a temporary that ends with the statement.
//   clang++ 16 -O0: temporary .* will be destroyed at the end of the full-expression.*-Wdangling
#include <tenure/tenure.h>

struct Numbers {
  char bytes[16] = {};
};

tnr_status dangling_borrow() {
  tnr_blob* blob = tnr_blob_borrow(static_cast<const Numbers&>(Numbers{}).bytes, 16);
  return tnr_blob_release(blob);
}
