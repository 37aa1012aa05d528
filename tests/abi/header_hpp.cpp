// A C++ program that includes only the C++ header.
#include <tenure/tenure.hpp>

int main() { return 0; }
