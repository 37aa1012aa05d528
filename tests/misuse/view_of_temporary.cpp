// Keeps a view of a vector that ends with the statement.
//   clang++ 16 -std=c++20 -O0: temporary .* will be destroyed at the end of the full-expression.*-Wdangling
#include <tenure/tenure.hpp>

float view_of_temporary() {
  const tnr::View<const float> view(std::vector<float>{1, 2, 3}, {3});
  return view.at(0);
}
