// Uses tenure.hpp as it is meant to be used: no compiler may warn about any of it.
//   g++ 11 -std=c++20 -O2: nothing
//   clang++ 16 -std=c++20 -O2: nothing
#include <tenure/tenure.hpp>

// Views of the caller's memory.
tnr::View<const float> of_argument(const std::vector<float>& numbers) {
  return tnr::View(numbers, {3});
}
tnr::View<float> of_span(std::span<float> numbers) { return tnr::View(numbers, {3}); }
tnr::View<const float> of_pointer(const float* numbers) {
  return {std::span<const float>(numbers, 3), {3}};
}

// A temporary that lasts for the call.
float for_the_call() {
  float sum = 0;
  tnr::check(tnr_reduce(nullptr, TNR_REDUCE_OP_SUM,
                        tnr::View<const float>(std::vector<float>{1, 2, 3}, {3}), 1, nullptr,
                        tnr::View<float>(std::span<float>(&sum, 1), tnr::Shape{})));
  return sum;
}

std::vector<float> there_and_back(std::vector<float> numbers) {
  auto tensor = tnr::Tensor<float>::adopt(std::move(numbers), {3});
  tensor.view().at(0) = 1;
  return std::move(tensor).into_vector();
}
