// Makes a tensor and a handle, and discards both.
//   g++ 11 -std=c++20 -O0: ignoring return value.*declared with attribute.*-Wunused-result
//   clang++ 16 -std=c++20 -O0: ignoring return value.*-Wunused-result
#include <tenure/tenure.hpp>

void dropped_tensor() {
  tnr::Tensor<float>::zeros({3});
  tnr::owned(tnr_blob_alloc(nullptr, 64));
}
