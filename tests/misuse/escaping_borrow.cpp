// Returns a borrow of memory that ends with the function.
//   clang++ 16 -O0: address of stack memory .*'memory' returned.*-Wreturn-stack-address
#include <tenure/tenure.h>

tnr_blob* escaping_borrow() {
  char memory[16] = {};
  return tnr_blob_borrow_mut(memory, sizeof memory);
}
