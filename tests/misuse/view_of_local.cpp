// Returns views of what ends with the function.
//   clang++ 16 -std=c++20 -O0: address of stack memory associated with local variable .*-Wreturn-stack-address
#include <tenure/tenure.hpp>

tnr::View<const float> of_vector() {
  const std::vector<float> numbers{1, 2, 3};
  return tnr::View(numbers, {3});
}

tnr::View<float> of_array() {
  float numbers[3] = {1, 2, 3};
  return {numbers, {3}};
}

tnr::View<float> of_tensor() {
  auto tensor = tnr::Tensor<float>::zeros({3});
  return tensor.view();
}

tnr::SparseView of_parts() {
  const std::vector<std::int32_t> offsets{0, 1}, columns{0};
  const std::vector<float> values{1};
  return tnr::SparseView::csr<std::int32_t, float>(1, 1, offsets, columns, values);
}
