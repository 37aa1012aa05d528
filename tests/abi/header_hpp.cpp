// The header alone, as the first and only thing a C++ program includes.
#include <tenure/tenure.hpp>

int main() { return 0; }
