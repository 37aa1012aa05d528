/* A C program that includes only the header. */
#include <tenure/tenure.h>

int main(void) { return 0; }
