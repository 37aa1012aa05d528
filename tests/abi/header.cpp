// A C++ program that includes only the C header.
#include <tenure/tenure.h>

int main() { return 0; }
